"""Duels: two bots play many pairs of games, and what came of it, adjusted for luck, with its error.

How the games are paired: `paired.py`. What the adjustment is and why it has no bias: `luck.py`. Standard errors are
taken over pairs. Two equal bots that draw no lots score exactly 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from nardy_rl.agents.bot import Bot, ValueBot
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.experiments.luck import Floats, adjusted, choose_evaluator, quick_evaluator
from nardy_rl.experiments.paired import BATCH, CAP, Duellists, Evaluator, play_pairs
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant, variant_text


@dataclass(frozen=True)
class DuelResult:
    """What a duel came to, for bot a, in points a game; `se` and `se_raw` are standard errors over pairs.

    ppg is adjusted for luck where `adjusted_by` names an evaluator, with `multiple` times the luck taken off, else
    equal to ppg_raw. `wins` are games won by a. Unfinished games count 0 points.
    """

    variant: str
    a: str
    b: str
    games: int
    ppg: float
    se: float
    ppg_raw: float
    se_raw: float
    wins: int
    unfinished: int
    games_per_s: float
    seed: int
    adjusted_by: str | None
    multiple: float | None
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return asdict(self) | {"notes": list(self.notes)}


def checked_duellists(variant: str | Variant, a: Bot, b: Bot, seed: int, cap: int = CAP, **numbers: int) -> Duellists:
    """Who plays what, without an evaluator yet.

    Raises BadBot if a bot was loaded for another game, BadOption if one of the numbers is not at least 1.
    """
    if isinstance(variant, str):
        variant = parse_variant(variant)
    for name, number in {"cap": cap, **numbers}.items():
        if number < 1:
            raise BadOption(f"{name}={number} must be at least 1")
    for bot in (a, b):
        if bot.variant != variant:
            raise BadBot(
                f"the bot {bot.name!r} was loaded for {variant_text(bot.variant)} and cannot play "
                f"{variant_text(variant)}: load it for that game"
            )
    return Duellists(variant, a, b, seed, None, cap)


def with_evaluator(
    duel: Duellists, evaluator: Evaluator | str | None, games: int, threads: int | None
) -> tuple[Duellists, str | None]:
    """The duel with the evaluator that was asked for (see `duel`), and its name."""
    if evaluator is None:
        judge, name = choose_evaluator(duel, games, threads)
    elif isinstance(evaluator, str):
        if evaluator != "none":
            raise BadOption(f"evaluator={evaluator!r} must be 'none' or an object with roll_values")
        judge, name = None, None
    else:
        name = getattr(evaluator, "name", type(evaluator).__name__)
        judge = quick_evaluator(evaluator, games) if isinstance(evaluator, ValueBot) else evaluator
    return replace(duel, evaluator=judge), name


def duel(
    variant: str | Variant,
    a: Bot,
    b: Bot,
    games: int = 1000,
    seed: int = 1,
    threads: int | None = None,
    evaluator: Evaluator | str | None = None,
    cap: int = CAP,
    progress: Callable[[int, int], None] | None = None,
    batch: int = BATCH,
) -> DuelResult:
    """Bot a against bot b over `games` games, two a pair (an odd number is rounded up, and said in `notes`).

    threads: None takes the processors there are; one where a bot allows no more. evaluator: for the luck
    adjustment; None chooses one (`luck.choose_evaluator`), "none" takes none. cap: plays after which a game counts as
    unfinished. progress: called with (games finished, games in all) now and then. batch: games in lockstep in one
    thread; it changes the speed, never the result.

    Raises BadBot if a bot was loaded for another game, BadOption for numbers out of range.
    """
    total = games + games % 2
    limit = 1 if threads is None else threads
    who = checked_duellists(variant, a, b, seed, cap, games=games, batch=batch, threads=limit)
    if a.parallel and b.parallel:  # kernels: compile them before the clock starts
        for _ in play_pairs(replace(who, cap=2), 2, 1):
            pass
    who, judge_name = with_evaluator(who, evaluator, total, threads)
    begun = time.perf_counter()
    played = list(play_pairs(who, total, threads, batch, progress))
    seconds = time.perf_counter() - begun
    points = np.concatenate([part.points for part in played])
    luck = np.concatenate([part.luck for part in played])
    unfinished = int(total - sum(part.finished.sum() for part in played))
    notes = [f"{games} is odd: {total} games were played, two a pair"] if total != games else []
    if unfinished:
        notes.append(f"{unfinished} of {total} games were unfinished after {cap} plays and count 0")
    raw = points.reshape(-1, 2).mean(axis=1)
    values, multiple = adjusted(raw, luck.reshape(-1, 2).mean(axis=1)) if who.evaluator is not None else (raw, None)
    ppg, se = mean_and_error(values)
    ppg_raw, se_raw = mean_and_error(raw)
    return DuelResult(
        variant=variant_text(who.variant),
        a=a.name,
        b=b.name,
        games=total,
        ppg=ppg,
        se=se,
        ppg_raw=ppg_raw,
        se_raw=se_raw,
        wins=int((points > 0).sum()),
        unfinished=unfinished,
        games_per_s=total / seconds,
        seed=seed,
        adjusted_by=judge_name,
        multiple=multiple,
        notes=tuple(notes),
    )


def mean_and_error(pairs: Floats) -> tuple[float, float]:
    """Mean of independent pairs f64[P] and its standard error; NaN for one pair."""
    error = pairs.std(ddof=1) / np.sqrt(len(pairs)) if len(pairs) > 1 else np.nan
    return float(pairs.mean()), float(error)
