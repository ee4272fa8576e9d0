"""Duels: two bots play many pairs of games, and what came of it, adjusted for luck, with its error.

How the games are paired: `paired.py`. What the adjustment is and why it has no bias: `luck.py`. Standard errors are
taken over pairs. Two equal bots that draw no lots score exactly 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, ValueBot
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.experiments.games_file import GamesFile, game_lines
from nardy_rl.experiments.luck import Floats, adjusted, choose_evaluator, pair_means, quick_evaluator
from nardy_rl.experiments.matches import Matches
from nardy_rl.experiments.paired import BATCH, CAP, Duellists, Evaluator, Played, play_pairs
from nardy_rl.experiments.regret import Regret, regret_of
from nardy_rl.experiments.sequential import SequentialTest
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant, variant_text


class Pairs(NamedTuple):
    """The pairs of a duel, f64[P] each: points a game of a, adjusted, and games won by a, a draw half a game."""

    points: Floats
    wins: Floats


@dataclass(frozen=True)
class DuelResult:
    """What a duel came to, for bot a, in points a game; `se` and `se_raw` are standard errors over pairs.

    ppg is adjusted for luck where `adjusted_by` names an evaluator, with `multiple` times the luck taken off, else
    equal to ppg_raw. `wins` are games won by a. Unfinished games count 0 points. `sequential` is what a sequential
    test came to (`sequential.py`); a duel that it stopped counts only the games up to that look. `match` is what came
    of the games as matches, or for money with the cube (`matches.py`). `regret` is what one bot's choices lose where
    the other is the solution of the game (`regret.py`), in games without matches or the cube.
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
    sequential: dict[str, Any] | None = None
    match: dict[str, Any] | None = None
    regret: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()
    pairs: Pairs | None = field(default=None, repr=False, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """As plain data for JSON, without the single pairs."""
        data = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "pairs"}
        return data | {"notes": list(self.notes)}


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
    sequential: SequentialTest | None = None,
    save_games: str | Path | None = None,
    match: int = 0,
    cube: bool | None = None,
) -> DuelResult:
    """Bot a against bot b over `games` games, two a pair (an odd number is rounded up, and said in `notes`).

    threads: None takes the processors there are; one where a bot allows no more. evaluator: for the luck
    adjustment; None chooses one (`luck.choose_evaluator`), "none" takes none. cap: plays after which a game counts as
    unfinished. progress: called with (games finished, games in all) now and then. batch: games in lockstep in one
    thread; it changes the speed, never the result. sequential: a test that may end the duel before all games are
    played. save_games: a file for all games as text (`games_file.py`). match: points of the matches that the games are
    to be taken for; 0 for none. cube: play with the doubling cube, matches or for money (then not adjusted for luck);
    left out: matches of games that have one.

    Raises BadBot if a bot was loaded for another game, BadOption for numbers out of range or a file that cannot be
    written.
    """
    total = games + games % 2
    limit = 1 if threads is None else threads
    who = checked_duellists(variant, a, b, seed, cap, games=games, batch=batch, threads=limit)
    if a.parallel and b.parallel:  # kernels: compile them before the clock starts
        for _ in play_pairs(replace(who, cap=2), 2, 1):
            pass
    stakes = Matches(a, b, match, cube) if match or cube else None
    money = stakes is not None and not match
    who, judge_name = with_evaluator(who, "none" if money else evaluator, total, threads)
    regret = regret_of(a, b) if stakes is None else None
    begun = time.perf_counter()
    points, luck, finished = _play(who, total, threads, batch, progress, sequential, save_games, stakes, regret)
    seconds = time.perf_counter() - begun
    notes = [f"{games} is odd: {total} games were played, two a pair"] if total != games else []
    unfinished = int((~finished).sum())
    if unfinished:
        notes.append(f"{unfinished} of {len(points)} games were unfinished after {cap} plays and count 0")
    raw = points.reshape(-1, 2).mean(axis=1)
    multiple, values = None, raw
    ppg, se = ppg_raw, se_raw = mean_and_error(raw)
    if sequential is not None and sequential.verdict:
        ppg, se = sequential.mean, sequential.se
        notes.append("the duel was stopped by its own result, which is therefore too extreme; see the interval")
    elif who.evaluator is not None:
        values, multiple = adjusted(raw, luck.reshape(-1, 2).mean(axis=1))
        ppg, se = mean_and_error(values)
    return DuelResult(
        variant=variant_text(who.variant),
        a=a.name,
        b=b.name,
        games=len(points),
        ppg=ppg,
        se=se,
        ppg_raw=ppg_raw,
        se_raw=se_raw,
        wins=int((points > 0).sum()),
        unfinished=unfinished,
        games_per_s=len(points) / seconds,
        seed=seed,
        adjusted_by=judge_name,
        multiple=multiple,
        sequential=None if sequential is None else sequential.as_dict(),
        match=None if stakes is None else stakes.summary(),
        regret=None if regret is None else regret.summary(len(points)),
        notes=tuple(notes),
        pairs=Pairs(values, ((np.sign(points) + 1) / 2).reshape(-1, 2).sum(axis=1)),
    )


def _play(
    who: Duellists,
    total: int,
    threads: int | None,
    batch: int,
    progress: Callable[[int, int], None] | None,
    sequential: SequentialTest | None,
    save_games: str | Path | None,
    stakes: Matches | None,
    regret: Regret | None,
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Points and luck of bot a by game, f64[N] each, and whether it was finished, as far as they count."""
    parts: list[Played] = []
    keep = save_games is not None or regret is not None or (stakes is not None and bool(stakes.new.cube))
    with GamesFile(save_games) if save_games is not None else nullcontext() as file:
        for part in play_pairs(who, total, threads, batch, progress, keep):
            if file is not None:
                file.write(game_lines(who, part))
            if regret is not None:
                regret.add(part)
            if stakes is not None:
                part = stakes.add(part)
            parts.append(replace(part, plays=[]))
            if sequential is not None and sequential.add(*pair_means([part])):
                break
    counted = 2 * sequential.pairs if sequential is not None and sequential.verdict else total
    points, luck, finished = (
        np.concatenate([getattr(part, name) for part in parts])[:counted] for name in ("points", "luck", "finished")
    )
    return points, luck, finished


def mean_and_error(pairs: Floats) -> tuple[float, float]:
    """Mean of independent pairs f64[P] and its standard error; NaN for one pair."""
    error = pairs.std(ddof=1) / np.sqrt(len(pairs)) if len(pairs) > 1 else np.nan
    return float(pairs.mean()), float(error)
