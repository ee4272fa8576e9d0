"""What a game is like, by play of a bot against itself: branching, length, the starter's edge, how games end.

Games are played in lockstep. Each has its own streams of dice and of lots, so the figures depend on the seed alone,
not on the number of threads. All counts are whole numbers, so nothing depends on the order of addition either.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, all_plays
from nardy_rl.board import OUTCOME, PLAYER, STARTER, THROWS, TURN
from nardy_rl.errors import BadOption
from nardy_rl.experiments.paired import CAP, checked_choices
from nardy_rl.jit import inlined, kernel
from nardy_rl.lockstep import begin_all, draw_all, roll_all, stream_all, throw_all
from nardy_rl.machine import cores
from nardy_rl.plays import MAX_PLAYS
from nardy_rl.results import DRAW, FAR, OUTCOMES, WON_BY_HIT, WON_BY_MOTHER, can_draw, score_table
from nardy_rl.rules import rules_of
from nardy_rl.starts import blank_rows, start_of
from nardy_rl.variant import Variant
from nardy_rl.variants import variant_text

QUANTILES = (5, 25, 50, 75, 95)  # per cent
_BATCH = 512  # games in lockstep in one thread
_DICE, _LOTS = np.uint64(0x64696365), np.uint64(0x6C6F7473)  # other streams than that of the openings
_DECISIONS, _FORCED, _PASSES = range(3)


@inlined
def _moved(before, after):
    """Did the player of `before` move a checker in the play that leads to `after`?"""
    mine = 4 if (before[TURN] ^ after[TURN]) & PLAYER else 0
    for k in range(4):
        if before[k] != after[mine + k]:
            return True
    return False


@kernel
def _count_decisions(states, plays, first, branching, tally):
    """Count the decisions of states uint32[N, 16]: how many plays each has, which have one only, which are passes."""
    for i in range(len(states)):
        n = first[i + 1] - first[i]
        branching[n] += 1
        tally[_DECISIONS] += 1
        if n == 1:
            tally[_FORCED] += 1
            if not _moved(states[i], plays[first[i]]):
                tally[_PASSES] += 1


@dataclass
class _Played:
    """What was counted in some games. The arrays have an entry a finished game, in the order of their numbers."""

    branching: NDArray[np.int64]  # [MAX_PLAYS + 1]: decisions by number of plays
    tally: NDArray[np.int64]  # [3]: decisions, forced ones, passes
    plies: NDArray[np.int64]
    throws: NDArray[np.int64]
    points: NDArray[np.int64]  # of the starter
    outcomes: NDArray[np.int64]
    standard: NDArray[np.int64]  # 1 if the starter had the first of the two layouts, else -1
    unfinished: int


@dataclass
class _Shared:
    """What the batches of one bot share."""

    variant: Variant
    bot: Bot
    seed: np.uint64
    cap: int
    finished: dict[int, int] = field(default_factory=dict)  # by first game of a batch
    stopped: bool = False


def _play_batch(shared: _Shared, first_game: int, size: int) -> _Played:
    """Play games number first_game .. first_game + size - 1 to their end."""
    variant, bot, first = shared.variant, shared.bot, np.uint64(first_game)
    rules, start, table = rules_of(variant), start_of(variant), score_table(variant).astype(np.int64)
    rows, dice, lots = blank_rows(size), np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    begin_all(rules, start, shared.seed, first, np.int64(1), rows)
    stream_all(shared.seed ^ _DICE, first, dice)
    stream_all(shared.seed ^ _LOTS, first, lots)
    standard = np.where((rows[:, :4] == start.planes[0]).all(axis=1), 1, -1)
    branching, tally = np.zeros(MAX_PLAYS + 1, np.int64), np.zeros(3, np.int64)
    plies, throws, points = (np.zeros(size, np.int64) for _ in range(3))
    outcomes = np.full(size, -1, np.int64)
    games = np.arange(size)
    rolled, bits = np.zeros((size, 2), np.int64), np.zeros(size, np.uint64)
    for step in range(1, shared.cap + 1):
        n = len(rows)
        roll_all(dice, rolled[:n])
        throw_all(rules, rows, rolled[:n])
        plays, index = all_plays(rules, rows)
        draw_all(lots, bits[:n])
        chosen = checked_choices(bot, bot.pick(rows, plays, index, bits[:n]), index)
        _count_decisions(rows, plays, index, branching, tally)
        rows = plays[chosen]
        over = rows[:, OUTCOME] != 0
        if over.any():
            ended, which = rows[over], games[over]
            outcomes[which] = ended[:, OUTCOME].astype(np.int64) - 1
            plies[which] = step
            throws[which] = (ended[:, THROWS] & np.uint32(0xFFFF)) + (ended[:, THROWS] >> np.uint32(16))
            turn = ended[:, TURN].astype(np.int64)
            by_starter = (turn & PLAYER != 0) == (turn & STARTER != 0)
            points[which] = np.where(by_starter, 1, -1) * table[outcomes[which]]
            rows, dice, lots, games = rows[~over], dice[~over], lots[~over], games[~over]
            shared.finished[first_game] = size - len(rows)
        if not len(rows) or shared.stopped:
            break
    done = outcomes >= 0
    return _Played(
        branching, tally, plies[done], throws[done], points[done], outcomes[done], standard[done], int((~done).sum())
    )


def _play_all(shared: _Shared, games: int, workers: int, progress: Callable[[int, int], None] | None) -> list[_Played]:
    """All games in batches over threads, in the order of their numbers."""
    size = max(1, min(_BATCH, -(-games // workers)))
    with ThreadPoolExecutor(workers) as pool:
        jobs = [pool.submit(_play_batch, shared, begin, min(size, games - begin)) for begin in range(0, games, size)]
        left = set(jobs)
        try:
            while left:
                _, left = wait(left, timeout=0.1, return_when=FIRST_COMPLETED)
                if progress is not None:
                    progress(sum(shared.finished.copy().values()), games)
        except BaseException:
            shared.stopped = True  # the threads stop at their next step
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [job.result() for job in jobs]


# ---------------------------------------------------------------------------------------------- figures


def result_names(variant: Variant) -> dict[int, str]:
    """What each possible outcome code of a game is called: the kinds of result, in ascending points."""
    by_points = {
        "bg": {1: "single", 2: "gammon", 3: "backgammon"},
        "oin/mars": {1: "oin", 2: "mars", 3: "koks"},
        "plakoto": {1: "single", 2: "mars"},
        "one": {1: "borne off" if variant.hit_wins else "win"},
        "left": {n: f"{n} left" for n in range(1, 16)},
    }[variant.score]
    table = score_table(variant)
    codes = [n | far for n in range(1, variant.checkers + 1) for far in (0, FAR)]
    names = {code: by_points[int(table[code])] for code in sorted(codes, key=lambda code: int(table[code]))}
    if variant.hit_wins:
        names[WON_BY_HIT] = "hit"
    if variant.mother:
        names[WON_BY_MOTHER] = "mother"
    if can_draw(variant):
        names[DRAW] = "draw"
    return names


def _spread(values: NDArray[np.int64]) -> dict[str, Any]:
    """Mean with its standard error, quantiles and the largest of some whole numbers; None where there are none."""
    if not len(values):
        return {"mean": None, "se": None, "quantiles": {str(q): None for q in QUANTILES}, "longest": None}
    cuts = np.percentile(values, QUANTILES, method="lower")
    return {
        "mean": float(values.mean()),
        "se": _error(values),
        "quantiles": {str(q): int(cut) for q, cut in zip(QUANTILES, cuts, strict=True)},
        "longest": int(values.max()),
    }


def _error(values: NDArray[np.int64]) -> float | None:
    """Standard error of the mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None


def _edge(points: NDArray[np.int64]) -> dict[str, Any]:
    """Points a game with their standard error, and the share of games won."""
    if not len(points):
        return {"ppg": None, "se": None, "wins": None}
    return {"ppg": float(points.mean()), "se": _error(points), "wins": float((points > 0).mean())}


def _results(variant: Variant, outcomes: NDArray[np.int64]) -> list[dict[str, Any]]:
    table, seen = score_table(variant), np.bincount(outcomes, minlength=OUTCOMES)
    kinds: dict[str, dict[str, Any]] = {}
    for code, name in result_names(variant).items():
        kind = kinds.setdefault(name, {"result": name, "points": int(table[code]), "games": 0, "share": None})
        kind["games"] += int(seen[code])
    for kind in kinds.values():
        kind["share"] = kind["games"] / len(outcomes) if len(outcomes) else None
    return list(kinds.values())


def stats(
    variant: Variant,
    bot: Bot,
    games: int = 1000,
    seed: int = 1,
    threads: int | None = None,
    cap: int = CAP,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Play `games` games of a bot against itself and say what they were like.

    threads: None takes the processors there are; one where the bot allows no more. cap: plays after which a game
    counts as unfinished; its decisions are counted, but it has no length and no result. progress: called with
    (games finished, games in all) now and then. The keys of the answer are those of `bots` in docs/cli.md, under
    `nardy stats`. Raises BadOption for numbers below 1.
    """
    for name, number in {"games": games, "cap": cap, "threads": 1 if threads is None else threads}.items():
        if number < 1:
            raise BadOption(f"{name}={number} must be at least 1")
    shared = _Shared(variant, bot, np.uint64(seed & 0xFFFFFFFFFFFFFFFF), cap)
    workers = (threads or cores()) if bot.parallel else 1
    if bot.parallel:  # kernels: compile them before the clock starts
        _play_batch(_Shared(variant, bot, shared.seed, 2), 0, 2)
    begun = time.perf_counter()
    parts = _play_all(shared, games, workers, progress)
    seconds = time.perf_counter() - begun
    branching = np.sum([part.branching for part in parts], axis=0)
    decisions, forced, passes = (int(n) for n in np.sum([part.tally for part in parts], axis=0))
    plies, throws, points, outcomes, standard = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("plies", "throws", "points", "outcomes", "standard")
    )
    seen = np.flatnonzero(branching)
    return {
        "bot": bot.name,
        "games": games,
        "unfinished": sum(part.unfinished for part in parts),
        "decisions": decisions,
        "branching": {
            "mean": float((branching * np.arange(len(branching))).sum() / decisions),
            "median": int(np.searchsorted(np.cumsum(branching), (decisions + 1) // 2)),
            "max": int(seen[-1]),
        },
        "forced": forced / decisions,
        "passes": passes / decisions,
        "plies": _spread(plies),
        "throws": _spread(throws),
        "starter": _edge(points),
        "standard_side": _edge(points * standard) if variant.start_other else None,
        "results": _results(variant, outcomes),
        "games_per_s": games / seconds,
    }


# ---------------------------------------------------------------------------------------------- as a table


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _signed(edge: Mapping[str, Any]) -> str:
    if edge["ppg"] is None:
        return "–"
    return f"{edge['ppg']:+.3f}" + ("" if edge["se"] is None else f" ± {edge['se']:.3f}")


def _length(title: str, of: Callable[[Mapping[str, Any]], Mapping[str, Any]], bots: Any) -> Iterator[list[str]]:
    def cuts(spread: Mapping[str, Any], *which: int) -> str:
        return " to ".join(str(spread["quantiles"][str(q)]) for q in which)

    spreads = [of(b) for b in bots]
    yield [f"{title} a game, mean", *(_mean(s["mean"]) for s in spreads)]
    yield ["  nine games of ten", *("–" if s["mean"] is None else cuts(s, 5, 95) for s in spreads)]
    yield ["  longest", *("–" if s["mean"] is None else f"{s['longest']:,}" for s in spreads)]


def _result_rows(results: Sequence[Sequence[Mapping[str, Any]]]) -> Iterator[list[str]]:
    """How games ended: a row for each kind of result, or for four kinds together where there are many."""
    kinds = results[0]
    step = 1 if len(kinds) <= 6 else 4
    for i in range(0, len(kinds), step):
        first, last = kinds[i], kinds[min(i + step, len(kinds)) - 1]
        worth = f"{first['points']} to {last['points']}" if step > 1 else f"{first['points']}"
        name = first["result"] if step == 1 else f"{first['result']} to {last['result']}"
        shares = [[kind["share"] for kind in one[i : i + step]] for one in results]
        yield [f"{name} ({worth})", *("–" if None in some else _share(sum(some)) for some in shares)]
    won = [[kind for kind in one if kind["points"]] for one in results]
    games = [sum(kind["games"] for kind in one) for one in won]
    sums = [sum(kind["games"] * kind["points"] for kind in one) for one in won]
    yield ["points a win, mean", *(f"{s / n:.2f}" if n else "–" for s, n in zip(sums, games, strict=True))]


def stats_rows(bots: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The figures of some bots as rows of a table: what is measured, then a cell for each bot."""
    rows = [
        ["distinct plays, mean", *(_mean(b["branching"]["mean"]) for b in bots)],
        ["  median", *(str(b["branching"]["median"]) for b in bots)],
        ["  most", *(f"{b['branching']['max']:,}" for b in bots)],
        ["only one play", *(_share(b["forced"]) for b in bots)],
        ["nothing to move", *(_share(b["passes"]) for b in bots)],
        *_length("plays", lambda b: b["plies"], bots),
    ]
    if any(b["plies"]["mean"] != b["throws"]["mean"] for b in bots):
        rows += _length("throws", lambda b: b["throws"], bots)
    rows += [
        ["starter's points a game", *(_signed(b["starter"]) for b in bots)],
        ["starter wins", *(_share(b["starter"]["wins"]) for b in bots)],
    ]
    if any(b["standard_side"] for b in bots):
        rows += [
            ["standard side's points a game", *(_signed(b["standard_side"]) for b in bots)],
            ["standard side wins", *(_share(b["standard_side"]["wins"]) for b in bots)],
        ]
    rows += _result_rows([b["results"] for b in bots])
    if any(b["unfinished"] for b in bots):
        rows.append(["unfinished games", *(f"{b['unfinished']:,}" for b in bots)])
    return rows


def summary(variant: Variant, bots: Sequence[Mapping[str, Any]], seed: int, cap: int = CAP) -> dict[str, Any]:
    """The answer of `nardy stats --json`."""
    return {"variant": variant_text(variant), "seed": seed, "cap": cap, "bots": list(bots)}
