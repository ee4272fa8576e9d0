"""A test that stops a duel as soon as it is decided: is bot a at least `high` points a game better, or at most `low`?

The test is Wald's sequential probability ratio test with normal pairs of games and an estimated variance (chess engine
testers call it GSPRT): after n pairs with mean m and variance v

    llr = n * (high - low) * (m - (low + high) / 2) / v

and the duel stops when llr is above log((1 - e) / e), for `high`, or below minus that, for `low`, where e is the error
asked for. If the truth is `low` or less, the verdict `high` comes with probability e at most, and the other way round;
between the two either may come. Pairs are adjusted for luck with a multiple that only earlier pairs have decided, so
that looking again and again costs nothing.

The mean of a duel that was stopped by its own result is too extreme. `interval` is one that holds at every look at
once, whenever the duel stops: the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas
(Time-uniform central limit theory and asymptotic confidence sequences, Annals of Statistics 2024, theorem 2.2).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nardy_rl.errors import BadOption
from nardy_rl.experiments.luck import FEW, Floats

LOOK = 25  # pairs between two looks
FIRST = 100  # pairs before the first look: the variance must be known
ERROR = 0.05


@dataclass
class SequentialTest:
    """The state of a test; `add` pairs in the order of their numbers until it returns True.

    low, high: points a game. error: of each kind. Raises BadOption unless low < high and 0 < error < 0.5.
    """

    low: float
    high: float
    error: float = ERROR
    verdict: str | None = None
    """"high" or "low" once it is decided."""
    llr: float = 0.0
    pairs: int = 0
    """How many were looked at."""
    mean: float = 0.0
    """Of those pairs, adjusted for luck, in points a game; too extreme once the test is decided."""
    variance: float = 0.0
    """Of a pair, adjusted for luck."""

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise BadOption(f"sequential bounds {self.low:g},{self.high:g}: the first must be below the second")
        if not 0 < self.error < 0.5:
            raise BadOption(f"error={self.error:g} of a sequential test must be between 0 and 0.5")
        self._waiting = np.zeros((2, 0))  # points and luck of pairs that do not fill a look
        self._seen = np.zeros(5)  # sums of points, luck, luck squared, points times luck; number

    @property
    def bound(self) -> float:
        """The log likelihood ratio at which the test ends."""
        return math.log((1 - self.error) / self.error)

    @property
    def se(self) -> float:
        """Standard error of the mean."""
        return math.sqrt(self.variance / self.pairs) if self.pairs else math.nan

    def add(self, points: Floats, luck: Floats) -> bool:
        """Further pairs: points and luck of bot a, f64[P]; is it decided? Pairs after that look do not count."""
        waiting = np.concatenate([self._waiting, np.stack([points, luck])], axis=1)
        while self.verdict is None and waiting.shape[1] >= LOOK:
            self._look(*waiting[:, :LOOK])
            waiting = waiting[:, LOOK:]
        self._waiting = waiting
        return self.verdict is not None

    def _look(self, points: Floats, luck: Floats) -> None:
        values = points - self._multiple() * luck
        self._seen += (points.sum(), luck.sum(), (luck**2).sum(), (points * luck).sum(), len(points))
        n, new = self.pairs, len(values)
        step = float(values.mean()) - self.mean
        spread = n * self.variance + new * float(values.var()) + step**2 * n * new / (n + new)
        self.pairs, self.mean, self.variance = n + new, self.mean + step * new / (n + new), spread / (n + new)
        if self.pairs < FIRST or self.variance == 0:
            return
        middle = (self.low + self.high) / 2
        self.llr = self.pairs * (self.high - self.low) * (self.mean - middle) / self.variance
        if abs(self.llr) >= self.bound:
            self.verdict = "high" if self.llr > 0 else "low"

    def _multiple(self) -> float:
        """The multiple of the luck that would have left the least variance in the pairs seen so far."""
        points, luck, square, both, n = self._seen
        spread = square - luck**2 / n if n >= FEW else 0.0
        return float((both - points * luck / n) / spread) if spread > 0 else 1.0

    def interval(self) -> tuple[float, float] | None:
        """Bounds in points a game that hold at all looks together with probability 1 - error; None before the first."""
        if self.pairs < FIRST:
            return None
        half = sequence_width(self.pairs, math.sqrt(self.variance), self.error)
        return self.mean - half, self.mean + half

    def as_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        between = self.interval()
        return asdict(self) | {"bound": self.bound, "interval": None if between is None else list(between)}


def sequence_width(n: int, deviation: float, error: float, narrowest: int = 1000) -> float:
    """Half the width of the confidence sequence after n observations; `narrowest`: where it is tightest."""
    log = -2 * math.log(error)
    rho2 = (log + math.log(log) + 1) / narrowest
    x = n * rho2 + 1
    return deviation * math.sqrt(2 * x / (n * n * rho2) * math.log(math.sqrt(x) / error))


def read_test(text: str) -> SequentialTest:
    """The test that a text such as `-0.01,0.01` asks for; raises BadOption with what it should be."""
    low, comma, high = text.partition(",")
    try:
        return SequentialTest(float(low), float(high))
    except ValueError as error:
        if isinstance(error, BadOption):
            raise
        raise BadOption(f"--sequential {text} must be two numbers of points a game, as in -0.01,0.01") from None
