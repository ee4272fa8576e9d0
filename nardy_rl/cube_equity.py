"""What a position is worth with the doubling cube, from the chances of its outcomes: Janowski's model.

Rick Janowski, "Take-points in money games" (1993): between a dead cube, which nobody will turn again, and a live one,
which is turned exactly when the other side is on the point of dropping, a position is worth

    (1 - x) * dead + x * live

with the cube's efficiency x. Both are made of straight lines in the chance of winning p, the shares of gammons among
wins and among losses held fixed. The dead value is one line, from all losses at p = 0 to all wins at p = 1. The live
value has a knot more for each side that may turn the cube: there that side cashes the stake. Such a drop point follows
from the drop point of the other side at twice the stake, and so on until the cube is at its cap or does its owner no
good. So the same few lines serve money (where they give Janowski's closed formulas), the Jacoby rule and match play,
where an outcome is worth the chance to win the match after it (`match_table.py`).

Everything is seen by the player on roll, and many positions are treated at once, a row each. Owners of the cube are
MINE, THEIRS or None, in the middle.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MINE, THEIRS = 0, 1
NO_DOUBLE, DOUBLE, TOO_GOOD = "no double", "double", "too good"
TAKE, DROP, BEAVER = "take", "drop", "beaver"
ANSWERS = (TAKE, DROP, BEAVER)


@dataclass(frozen=True, eq=False)
class Chances:
    """Chances of how a game ends, for the player on roll; the rows of both arrays sum up to 1 together."""

    levels: tuple[int, ...]
    """Scores by which the game can be won, ascending: in backgammon 1, 2, 3."""
    wins: Floats
    """f64[N, L]: chance to win by exactly each level."""
    losses: Floats
    """f64[N, L]: chance to lose by exactly each level."""
    _drop_points: dict[tuple[Terms, int], Floats] = field(default_factory=dict, repr=False)

    @cached_property
    def winning(self) -> Floats:
        """Chance to win f64[N]."""
        total: Floats = self.wins.sum(axis=1)
        return total

    @cached_property
    def won(self) -> Floats:
        """The share f64[N, L] of the wins that is won by each level; plain where there are none."""
        plain = np.eye(1, len(self.levels))
        some = self.winning[:, None] > 0
        return np.where(some, self.wins / np.where(some, self.winning[:, None], 1.0), plain)

    @cached_property
    def other(self) -> Chances:
        """The same for the other player."""
        made = Chances(self.levels, self.losses, self.wins)
        made.__dict__["other"] = self  # so that what either has found is found once
        return made

    @property
    def points(self) -> Floats:
        """Expected points f64[N] before the cube: the cubeless equity."""
        total: Floats = (self.wins - self.losses) @ np.array(self.levels, dtype=float)
        return total

    def rows(self, chosen: Any) -> Chances:
        """Some of the positions: a mask, their numbers or a slice."""
        return Chances(self.levels, self.wins[chosen], self.losses[chosen])

    def drop_point(self, terms: Terms, stake: int) -> Floats:
        """See `drop_point`; each is found once."""
        key = terms, stake
        if key not in self._drop_points:
            self._drop_points[key] = drop_point(self, terms, stake)
        return self._drop_points[key]


class Terms(ABC):
    """What is played for, seen by one player: what it is worth to him to win or lose points."""

    cap: int
    jacoby = False

    @abstractmethod
    def worth(self, points: int) -> float:
        """The worth to this player of winning so many points (negative: losing them), the cube counted in."""

    @property
    @abstractmethod
    def other(self) -> Terms:
        """The same, seen by the other player."""

    @abstractmethod
    def gains(self, stake: int) -> bool:
        """May this player turn a cube at `stake`, and can it do him any good."""

    def free(self, stake: int) -> bool:
        """Does turning a cube at `stake` cost this player nothing, whatever happens."""
        return self.gains(stake) and self.worth(-stake) == self.worth(-2 * stake)

    def ends(self, chances: Chances, stake: int) -> tuple[Floats, Floats]:
        """Mean worth f64[N] of the losses, and of the wins, at a stake."""
        points = [min(level, 1) if self.jacoby and stake == 1 else level for level in chances.levels]
        lost = np.array([self.worth(-n * stake) for n in points])
        won = np.array([self.worth(n * stake) for n in points])
        return chances.other.won @ lost, chances.won @ won

    def gammon_price(self, stake: int) -> float:
        """What winning a gammon adds to a plain win at a stake, as a share of what a win adds to a loss; money 1/2."""
        single = self.worth(stake)
        return (self.worth(2 * stake) - single) / (single - self.worth(-stake))

    def per_cube(self, worth: Floats, stake: int) -> Floats:
        """A worth in points of the cube: 1 is to win the stake, -1 to lose it; in matches gnubg's normalised equity."""
        low, high = self.worth(-stake), self.worth(stake)
        return (2 * worth - low - high) / (high - low)


@dataclass(frozen=True)
class Money(Terms):
    """Play for money: a point is a point."""

    jacoby: bool = False
    cap: int = 64

    def worth(self, points: int) -> float:
        """See `Terms.worth`."""
        return float(points)

    @property
    def other(self) -> Money:
        """See `Terms.other`."""
        return self

    def gains(self, stake: int) -> bool:
        """See `Terms.gains`."""
        return 2 * stake <= self.cap


# --------------------------------------------------------------------------------------------- the model


def drop_point(chances: Chances, terms: Terms, stake: int) -> Floats:
    """Chance to win f64[N] of the player on roll from which on the other one drops his double of a live cube.

    There the other one wins as much by taking. He then owns a live cube at twice the stake.
    """
    low, high = terms.ends(chances, 2 * stake)
    start = np.zeros_like(low)
    if terms.other.gains(2 * stake):
        start = 1 - chances.other.drop_point(terms.other, 2 * stake)
        low = np.full_like(low, terms.worth(-2 * stake))
    part = (terms.worth(stake) - low) / (high - low)
    return np.clip(start + (1 - start) * part, 0.0, 1.0)


def dead_drop_point(chances: Chances, terms: Terms, stake: int) -> Floats:
    """The same f64[N] if the cube is dead once it is taken."""
    low, high = terms.ends(chances, 2 * stake)
    return np.clip((terms.worth(stake) - low) / (high - low), 0.0, 1.0)


def take_point(chances: Chances, terms: Terms, stake: int) -> Floats:
    """Chance to win f64[N] that the player on roll needs to take a double of a live cube from `stake`."""
    return 1 - drop_point(chances.other, terms.other, stake)


def dead_equity(chances: Chances, terms: Terms, stake: int) -> Floats:
    """Worth f64[N] if the cube is never turned again."""
    low, high = terms.ends(chances, stake)
    return low + (high - low) * chances.winning


def live_equity(chances: Chances, terms: Terms, stake: int, owner: int | None) -> Floats:
    """Worth f64[N] if whoever may turns the cube exactly at his drop point."""
    p = chances.winning
    low, high = terms.ends(chances, stake)
    knots: list[tuple[Floats, Floats]] = [(np.zeros_like(p), low)]
    last = np.ones_like(p)
    if owner != THEIRS and terms.gains(stake):
        last = chances.drop_point(terms, stake)
    if owner != MINE and terms.other.gains(stake):
        first = np.minimum(1 - chances.other.drop_point(terms.other, stake), last)
        knots.append((first, np.full_like(p, terms.worth(-stake))))
    if owner != THEIRS and terms.gains(stake):
        knots.append((last, np.full_like(p, terms.worth(stake))))
    knots.append((np.ones_like(p), high))
    result = low.copy()
    for (left, at_left), (right, at_right) in zip(knots, knots[1:], strict=False):
        width = right - left
        wide = width > 0
        slope = np.where(wide, (at_right - at_left) / np.where(wide, width, 1.0), 0.0)
        result = np.where((p >= left) & wide, at_left + slope * (p - left), result)
    return result


def equity(chances: Chances, terms: Terms, stake: int, owner: int | None, x: Floats | float) -> Floats:
    """Worth f64[N] to the player on roll, who does not double now. x: the cube's efficiency, one or f64[N].

    Where the other player can turn the cube at no cost he will do it at his next turn, so that the game is played for
    the doubled stake: at match point after the Crawford game, or when a cube is taken that wins the match.
    """
    certain = owner != MINE and terms.other.free(stake)
    dead = dead_equity(chances, terms, 2 * stake if certain else stake)
    return (1 - np.asarray(x)) * dead + x * live_equity(chances, terms, stake, owner)


# --------------------------------------------------------------------------------------------- decisions


class CubeEquities(NamedTuple):
    """What the possible cube actions are worth to the player on roll, f64[N] each, as `Terms.worth` counts."""

    no_double: Floats
    take: Floats
    drop: Floats
    beaver: Floats | None = None

    @property
    def answered(self) -> tuple[NDArray[np.int64], Floats]:
        """The best answer to a double (number in ANSWERS) and what the double is then worth; a take if it is equal."""
        answers = [self.take, self.drop, *([] if self.beaver is None else [self.beaver])]
        together = np.stack(answers)
        return together.argmin(axis=0), together.min(axis=0)

    @property
    def doubles(self) -> NDArray[np.bool_]:
        """Is it right to double: does it gain something against the best answer, or at least cost nothing."""
        return np.asarray(self.answered[1] >= self.no_double)

    @property
    def best(self) -> Floats:
        """Worth of the right action against the right answer."""
        return np.maximum(self.no_double, self.answered[1])

    def names(self, row: int = 0) -> tuple[str, str]:
        """The right action (NO_DOUBLE, DOUBLE, TOO_GOOD) and the right answer to a double in one position."""
        answer = ANSWERS[int(self.answered[0][row])]
        if self.doubles[row]:
            return DOUBLE, answer
        return (TOO_GOOD if answer == DROP else NO_DOUBLE), answer


def cube_equities(
    chances: Chances, terms: Terms, stake: int, owner: int | None, x: Floats | float, beavers: bool = False
) -> CubeEquities:
    """What the cube actions of a player on roll who may double are worth, by the model."""
    return CubeEquities(
        equity(chances, terms, stake, owner, x),
        equity(chances, terms, 2 * stake, THEIRS, x),
        np.full(len(chances.wins), terms.worth(stake)),
        equity(chances, terms, 4 * stake, THEIRS, x) if beavers and 4 * stake <= terms.cap else None,
    )
