"""Rolling out a position for a person: its best plays, or the position itself, until the best play is decided.

Trials come in portions. After each, plays that are behind the leader by more than chance explains are set aside, and
the rollout ends when one play is left or the trials are used up. The trials of all plays have the same dice, so that
what counts is the error of the differences, trial by trial.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import ValueBot
from nardy_rl.agents.search import without_search
from nardy_rl.cube import GameState
from nardy_rl.errors import BadOption
from nardy_rl.experiments.analyse import analyse, outcome_titles
from nardy_rl.experiments.luck import Floats
from nardy_rl.experiments.outcome_measure import Outcomes, outcome_names
from nardy_rl.experiments.rollout import trial_results
from nardy_rl.position import Position
from nardy_rl.variant import Variant
from nardy_rl.variants import variant_text

PORTION = 72  # trials: in these the first throw takes every roll of two dice twice


@dataclass(frozen=True)
class RolloutSettings:
    """How a position is rolled out. Raises BadOption for what makes no sense."""

    trials: int = 1296
    """Of each play, at most."""
    throws: int = 0
    """Throws after which a trial is cut off and the bot's value taken; 0: it is played to the end."""
    most: int = 5
    """Plays that are rolled out: the best by the bot itself."""
    until: float | None = None
    """Confidence at which a play is set aside; None rolls out all to the end."""
    confidence: float = 0.95
    """Of the intervals."""
    seed: int = 1

    def __post_init__(self) -> None:
        if self.trials < 2 or self.throws < 0 or self.most < 1:
            raise BadOption(
                f"trials={self.trials}, throws={self.throws}, most={self.most}: a rollout takes two trials or more, no "
                "negative throws and at least one play"
            )
        for name, value in (("until", self.until), ("confidence", self.confidence)):
            if value is not None and not 0.5 < value < 1:
                raise BadOption(f"{name}={value} must be between 0.5 and 1, such as 0.95")


def roll_out(
    bot: ValueBot, game: GameState, settings: RolloutSettings, threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Roll out a state that is not over: the keys of `nardy rollout --json` (docs/cli.md).

    Luck is adjusted for by the bot, without its search. progress: called with (trials done, trials in all at most).
    """
    position = game.position
    candidates = _candidates(bot, game, settings.most)
    measure = Outcomes(bot, without_search(bot))
    after_plays = [after for _, after in candidates]
    results, decided = _trials(bot, measure, after_plays, position.player, settings, threads, progress)
    lines = []
    for (play, after), columns in zip(candidates, results, strict=True):
        columns = measure.turned(columns, np.full(len(columns), after.player != position.player))
        lines.append(
            {"play": play} | _summary(outcome_names(bot.variant), columns, settings) | {"position": after.text}
        )
    order = sorted(range(len(lines)), key=lambda i: -lines[i]["equity"])
    plays = []
    for rank, i in enumerate(order, 1):
        ahead = lines[i]["equity"] - lines[order[0]]["equity"]
        plays.append({"rank": rank, **lines[i], "difference": ahead})
    best = plays[0]
    return {
        "variant": variant_text(game.variant),
        "position": game.text,
        "bot": bot.name,
        "player": position.player,
        "dice": list(position.dice) or None,
        "seed": settings.seed,
        "throws": settings.throws,
        "confidence": settings.confidence,
        "decided": decided if position.owes and settings.until else None,
        **{key: best[key] for key in ("equity", "se", "interval", "outcomes", "outcome_se", "trials")},
        "plays": plays if position.owes else None,
    }


def _candidates(bot: ValueBot, game: GameState, most: int) -> list[tuple[str | None, Position]]:
    """What is rolled out: the best plays with their text, or the position itself."""
    position = game.position
    if not position.owes:
        return [(None, position)]
    ranked = analyse(bot, game)["plays"][:most]
    return [(one["play"], Position.from_text(one["position"], game.variant)) for one in ranked]


def _trials(
    bot: ValueBot, measure: Outcomes, positions: list[Position], mover: int, settings: RolloutSettings,
    threads: int | None, progress: Callable[[int, int], None] | None,
) -> tuple[list[Floats], bool]:  # fmt: skip
    """The columns f64[T, C] of each position's trials, for its player, and whether only one was left.

    T is fewer where a position was set aside.
    """
    states = np.stack([p.state for p in positions])
    signs = [1.0 if p.player == mover else -1.0 for p in positions]
    found: list[list[Floats]] = [[] for _ in positions]
    active = np.arange(len(positions))
    for begin in range(0, settings.trials, PORTION):
        numbers = range(begin, min(begin + PORTION, settings.trials))
        results = trial_results(bot, measure, states[active], numbers, settings.seed, settings.throws, threads)
        for i, columns in zip(active, results, strict=True):
            found[i].append(columns)
        if progress is not None:
            progress(numbers.stop, settings.trials)
        if settings.until and len(positions) > 1:
            points = np.stack([signs[i] * np.concatenate(found[i])[:, 0] for i in active.tolist()])
            active = active[still_open(points, settings.until)]
            if len(active) == 1:
                break
    return [np.concatenate(parts) for parts in found], len(active) == 1


def still_open(points: Floats, confidence: float) -> NDArray[np.int64]:
    """Which plays may be the best by their points f64[P, T], with the same dice in each trial; the leader always.

    A play is out if it is behind the leader by more than chance explains at this confidence, which is shared between
    the rivals (Bonferroni). It holds for each look.
    """
    leader = int(points.mean(axis=1).argmax())
    behind = points[leader] - points
    error = behind.std(axis=1, ddof=1) / np.sqrt(points.shape[1])
    wanted = NormalDist().inv_cdf(1 - (1 - confidence) / max(1, len(points) - 1))
    is_open = behind.mean(axis=1) <= wanted * error
    is_open[leader] = True
    return np.flatnonzero(is_open)


def _summary(names: list[str], columns: Floats, settings: RolloutSettings) -> dict[str, Any]:
    """Means and errors of the trials f64[T, C] of one play."""
    mean, error = columns.mean(axis=0), columns.std(axis=0, ddof=1) / np.sqrt(len(columns))
    half = NormalDist().inv_cdf(0.5 + settings.confidence / 2) * error[0]
    known = not np.isnan(mean[1:]).any()
    return {
        "equity": float(mean[0]),
        "se": float(error[0]),
        "interval": [float(mean[0] - half), float(mean[0] + half)],
        "outcomes": dict(zip(names, mean[1:].tolist(), strict=True)) if known else None,
        "outcome_se": dict(zip(names, error[1:].tolist(), strict=True)) if known else None,
        "trials": len(columns),
    }


def rollout_rows(variant: Variant, data: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a rollout, as `screen.table` takes them."""
    titles = outcome_titles(variant) if data["outcomes"] is not None else {}
    rows = []
    for one in data["plays"] or [{**data, "rank": 1, "play": "", "difference": 0.0}]:
        chances = [f"{one['outcomes'][name]:.1%} ± {one['outcome_se'][name]:.1%}" for name in titles]
        low, high = one["interval"]
        rows.append(
            [str(one["rank"]), one["play"], f"{one['equity']:+.3f} ± {one['se']:.3f}", f"{low:+.3f} to {high:+.3f}"]
            + ["" if one["rank"] == 1 else f"{one['difference']:+.3f}", f"{one['trials']:,}", *chances]
        )
    interval = f">{data['confidence']:.0%}"
    return [">", "play", ">equity", interval, ">difference", ">trials", *(f">{t}" for t in titles.values())], rows
