"""Duels: two bots play many games at once, with paired dice and, if there is an evaluator, adjusted for luck.

Games 2i and 2i + 1 are a pair: the bots change seats, and both games see the same start, the same opening and
the same dice at the k-th throw, whoever makes it. Much of the luck cancels, and two equal bots that draw no
lots score exactly 0. Standard errors are taken over pairs.

Luck adjustment: at every throw the thrower is lucky by what the best reply to this roll is worth more than
to the mean roll, by a fixed evaluator. That difference has mean zero whatever the evaluator, so the result
less all signed lucks has the same expectation as the result, and a smaller variance the better the evaluator.

The games of a duel depend on the seed alone, not on the number of threads or the size of a batch.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, States, all_plays
from nardy_rl.board import OUTCOME, OWED, PLAYER, THROWS, TURN
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS, next_random, roll, stream
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.jit import inner, kernel
from nardy_rl.results import score_table
from nardy_rl.rules import Rules, rules_of
from nardy_rl.starts import Start, begin, blank_rows, start_of
from nardy_rl.turns import owes, throw
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant, variant_text

BATCH = 512  # games in lockstep in one thread: their plays fit the cache
CAP = 4000  # plays after which a game counts as unfinished (rules page, section 7)
_LOTS = np.uint64(0x6C6F7473)  # the bots' random bits come from another stream than the dice

# Opening dice are one of the fifteen unequal rolls, all alike; a starter who throws anew may throw any.
OPENING_WEIGHTS = np.where(ROLLS[:, 0] == ROLLS[:, 1], 0.0, 1.0 / 15.0)


class Evaluator(Protocol):
    """What the luck adjustment needs: fixed values of positions."""

    def roll_values(self, states: States) -> NDArray[np.float32]:
        """Value f32[N, 21], for each state's player, of his best reply to each roll of `dice.ROLLS`."""


@dataclass(frozen=True)
class DuelResult:
    """What a duel came to, for bot a, in points a game; `se` and `se_raw` are standard errors over pairs.

    ppg is adjusted for luck where `adjusted_by` names an evaluator, else equal to ppg_raw. `wins` are games
    won by a. Unfinished games count 0 points.
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
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return asdict(self) | {"notes": list(self.notes)}


# ---------------------------------------------------------------------------------------------- kernels


@inner
def _pair_dice(base, k, rng):
    """The dice of throw number k in the games of a pair whose stream starts at `base`."""
    stream(base, k, rng)
    return roll(rng)


@inner
def _roll_index(die1, die2):
    """Where a roll stands in `dice.ROLLS`."""
    high, low = max(die1, die2), min(die1, die2)
    return high * (high - 1) // 2 + low - 1


@kernel
def _open(rules, start, seed, games, rows, bases, lots):
    """Set up the games (int64[N], their numbers): rows with the opening throw made, dice and lot streams."""
    rng = np.zeros(1, np.uint64)
    for i in range(len(games)):
        stream(seed, games[i] >> 1, rng)
        bases[i] = rng[0]
        begin(rules, start, rng, rows[i])
        stream(seed ^ _LOTS, games[i], rng)
        lots[i] = rng[0]


@kernel
def _awaiting(rows, order):
    """Which rows await a throw: their indices into order, and how many."""
    n = 0
    for i in range(len(rows)):
        if not owes(rows[i]):
            order[n] = i
            n += 1
    return n


@kernel
def _throw_all(rules, rows, bases, rolled):
    """Throw in every row that awaits it; rolled[i] = the roll's place in ROLLS (of rows that threw)."""
    rng = np.zeros(1, np.uint64)
    for i in range(len(rows)):
        if not owes(rows[i]):
            throws = np.int64(rows[i, THROWS])
            die1, die2 = _pair_dice(bases[i], (throws & 0xFFFF) + (throws >> 16), rng)
            throw(rules, rows[i], die1, die2)
            rolled[i] = _roll_index(die1, die2)


@kernel
def _opening_rolls(rows, before, rolled):
    """Undo the opening throw into `before`; rolled[i] = its place in ROLLS."""
    for i in range(len(rows)):
        owed = np.int64(rows[i, OWED])
        rolled[i] = _roll_index(owed & 7, owed >> 3 & 7)
        before[i] = rows[i]
        before[i, OWED] = 0
        before[i, THROWS] = 0


@kernel
def _by_seat(rows, games, order):
    """Sort the rows by who acts: indices with bot a to act first, then bot b; returns how many are a's.

    Bot a is player 0 in even games and player 1 in odd ones.
    """
    n, m = 0, len(rows)
    for i in range(len(rows)):
        if np.int64(rows[i, TURN] & np.uint32(PLAYER)) == games[i] & 1:
            order[n] = i
            n += 1
        else:
            m -= 1
            order[m] = i
    return n


@kernel
def _draw(lots, order, draws):
    """Fresh random bits for the games `order`, from each game's own stream."""
    for i in range(len(order)):
        draws[i] = next_random(lots[order[i] : order[i] + 1])


@kernel
def _finish(rows, games, table, first_game, points, active):
    """Write the points that bot a made in finished games; list the rest in `active`; returns their number."""
    n = 0
    for i in range(len(rows)):
        outcome = np.int64(rows[i, OUTCOME])
        if outcome:
            won = np.int64(rows[i, TURN] & np.uint32(PLAYER)) == games[i] & 1
            points[games[i] - first_game] = table[outcome - 1] if won else -table[outcome - 1]
        else:
            active[n] = i
            n += 1
    return n


@kernel
def _gather(rows, order, out):
    """out[i] = rows[order[i]]."""
    for i in range(len(order)):
        for w in range(16):
            out[i, w] = rows[order[i], w]


@kernel
def _play(rows, order, plays, chosen):
    """rows[order[i]] = plays[chosen[i]]."""
    for i in range(len(order)):
        for w in range(16):
            rows[order[i], w] = plays[chosen[i], w]


# ---------------------------------------------------------------------------------------------- playing


@dataclass
class _Table:
    """What all batches of a duel share."""

    rules: Rules
    start: Start
    table: NDArray[np.int8]
    opening_weights: NDArray[np.float64]
    a: Bot
    b: Bot
    seed: np.uint64
    evaluator: Evaluator | None
    cap: int
    finished: int = 0
    stopped: bool = False


def _luck(
    evaluator: Evaluator, states: States, rolled: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Luck of each state's player at a throw that came out as `rolled`."""
    values = evaluator.roll_values(states).astype(np.float64)
    luck = values[np.arange(len(states)), rolled]
    for k in range(len(ROLLS)):  # in this order whatever the number of states: the same bits in every batch
        luck -= weights[k] * values[:, k]
    return luck


def _play_batch(shared: _Table, first_game: int, size: int, lock: threading.Lock) -> tuple[Any, Any, int]:
    """`size` games from number first_game on: points and luck of a, f64[size] each, and the unfinished."""
    rules, evaluator = shared.rules, shared.evaluator
    games = np.arange(first_game, first_game + size)
    rows, bases, lots = blank_rows(size), np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    _open(rules, shared.start, shared.seed, games, rows, bases, lots)
    points, luck = np.zeros(size), np.zeros(size)
    rolled, order, active = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    room, draws = blank_rows(size), np.zeros(size, np.uint64)

    def count_luck(states: States, which: Any, weights: NDArray[np.float64]) -> None:
        assert evaluator is not None
        sign = np.where((states[:, TURN] & PLAYER) == (games[which] & 1), 1.0, -1.0)
        luck[games[which] - first_game] += sign * _luck(evaluator, states, rolled[which], weights)

    if evaluator is not None:
        _opening_rolls(rows, room, rolled)
        count_luck(room, np.arange(size), shared.opening_weights)
    for step in range(shared.cap):
        n = len(rows)
        if step:
            if evaluator is not None:
                waiting = order[: _awaiting(rows, order)].copy()
                before = rows[waiting]
            _throw_all(rules, rows, bases, rolled)
            if evaluator is not None and len(waiting):
                count_luck(before, waiting, ROLL_WEIGHTS)
        split = _by_seat(rows, games, order[:n])
        for bot, mine in ((shared.a, order[:split]), (shared.b, order[split:n])):
            if not len(mine):
                continue
            states, bits = room[: len(mine)], draws[: len(mine)]
            _gather(rows, mine, states)
            _draw(lots, mine, bits)
            plays, first = all_plays(rules, states)
            _play(rows, mine, plays, checked_choices(bot, bot.pick(states, plays, first, bits), first))
        left = _finish(rows, games, shared.table, first_game, points, active)
        if left < n:
            keep = active[:left]
            rows, games, bases, lots = rows[keep], games[keep], bases[keep], lots[keep]
            with lock:
                shared.finished += n - left
        if not left or shared.stopped:
            break
    return points, luck, len(rows)


def checked_choices(bot: Bot, chosen: Any, first: NDArray[np.int64]) -> NDArray[np.int64]:
    """A bot's choices, which must be plays of their states."""
    chosen = np.asarray(chosen, dtype=np.int64)
    if chosen.shape != (len(first) - 1,) or ((chosen < first[:-1]) | (chosen >= first[1:])).any():
        raise BadBot(
            f"the bot {bot.name!r} picked something that is no play: pick() must return, for state i, an "
            f"index from first[i] to first[i + 1] - 1"
        )
    return chosen


def _default_evaluator(variant: Variant) -> tuple[Evaluator | None, str | None]:
    """The shipped policy, if there is one that can play the game."""
    from nardy_rl.agents.policy import pretrained_for

    policy = pretrained_for(variant)
    return (None, None) if policy is None else (policy, "pretrained")


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
    adjustment; None takes the shipped policy of the game if there is one, "none" takes none. cap: plays after
    which a game counts as unfinished. progress: called with (games finished, games in all) now and then.
    batch: games in lockstep in one thread; it changes the speed, never the result.

    Raises BadBot if a bot was loaded for another game, BadOption for numbers out of range.
    """
    if isinstance(variant, str):
        variant = parse_variant(variant)
    numbers = {"games": games, "cap": cap, "batch": batch, "threads": 1 if threads is None else threads}
    for name, number in numbers.items():
        if number < 1:
            raise BadOption(f"{name}={number} must be at least 1")
    for bot in (a, b):
        if bot.variant != variant:
            raise BadBot(
                f"the bot {bot.name!r} was loaded for {variant_text(bot.variant)} and cannot play "
                f"{variant_text(variant)}: load it for that game"
            )
    total = games + games % 2
    notes = [f"{games} is odd: {total} games were played, two a pair"] if total != games else []
    judge: Evaluator | None
    if evaluator is None:
        judge, judge_name = _default_evaluator(variant)
    elif isinstance(evaluator, str):
        if evaluator != "none":
            raise BadOption(f"evaluator={evaluator!r} must be 'none' or an object with roll_values")
        judge, judge_name = None, None
    else:
        judge, judge_name = evaluator, getattr(evaluator, "name", type(evaluator).__name__)
    shared = _Table(
        rules=rules_of(variant),
        start=start_of(variant),
        table=score_table(variant),
        opening_weights=OPENING_WEIGHTS if variant.opening == "dice" else ROLL_WEIGHTS,
        a=a,
        b=b,
        seed=np.uint64(seed & 0xFFFFFFFFFFFFFFFF),
        evaluator=judge,
        cap=cap,
    )
    workers = (threads or os.cpu_count() or 1) if a.parallel and b.parallel else 1
    size = max(2, min(batch, -(-total // workers)) // 2 * 2)
    if a.parallel and b.parallel:  # kernels: compile them before the clock starts
        _play_batch(replace(shared, cap=2), 0, 2, threading.Lock())
    begun = time.perf_counter()
    points, luck, unfinished = _play_batches(shared, total, size, workers, progress)
    seconds = time.perf_counter() - begun
    if unfinished:
        notes.append(f"{unfinished} of {total} games were unfinished after {cap} plays and count 0")
    ppg_raw, se_raw = _mean(points)
    ppg, se = _mean(points - luck)
    return DuelResult(
        variant=variant_text(variant),
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
        notes=tuple(notes),
    )


def _play_batches(
    shared: _Table, total: int, size: int, workers: int, progress: Callable[[int, int], None] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """All games in batches over threads: points and luck f64[total] of bot a, and the number unfinished."""
    points, luck = np.zeros(total), np.zeros(total)
    unfinished = 0
    lock = threading.Lock()
    with ThreadPoolExecutor(workers) as pool:
        jobs = {
            pool.submit(_play_batch, shared, begin, min(size, total - begin), lock): begin
            for begin in range(0, total, size)
        }
        left = set(jobs)
        try:
            while left:
                done, left = wait(left, timeout=0.1, return_when=FIRST_COMPLETED)
                for job in done:
                    some, lucks, lost = job.result()
                    span = slice(jobs[job], jobs[job] + len(some))
                    points[span], luck[span] = some, lucks
                    unfinished += lost
                if progress is not None:
                    progress(shared.finished, total)
        except BaseException:
            shared.stopped = True  # the threads stop at their next step
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return points, luck, unfinished


def _mean(points: NDArray[np.float64]) -> tuple[float, float]:
    """Mean a game and its standard error over the independent pairs of games."""
    pairs = points.reshape(-1, 2).mean(axis=1)
    error = pairs.std(ddof=1) / np.sqrt(len(pairs)) if len(pairs) > 1 else np.nan
    return float(points.mean()), float(error)
