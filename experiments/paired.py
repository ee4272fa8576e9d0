"""Paired games: two bots play many games side by side, each pair with the same start and dice and swapped seats.

Games 2i and 2i + 1 are a pair. Bot a is player 0 in the first and player 1 in the second; both see the same start,
the same starter and the same dice at the k-th throw, whoever makes it. Where the two sides start differently, swapping
seats swaps the sides as well. What happens depends on the seed alone, not on the threads or the size of a batch.

As long as the two games of a pair are in the same position, as they are at the opening throw, what a throw gains for
one bot in one game it gains for the other in the other. Such luck cancels within the pair and is not looked at.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, States, all_plays
from nardy_rl.board import OUTCOME, PLAYER, THROWS, TURN, WORDS
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS, roll, stream
from nardy_rl.errors import BadBot
from nardy_rl.jit import inlined, kernel
from nardy_rl.lockstep import draw_all
from nardy_rl.machine import cores
from nardy_rl.results import score_table
from nardy_rl.rules import rules_of
from nardy_rl.starts import begin, blank_rows, start_of
from nardy_rl.turns import owes, throw
from nardy_rl.variant import Variant

BATCH = 512  # games in lockstep in one thread: their plays fit the cache
CAP = 4000  # plays after which a game counts as unfinished (rules page, section 7)
_LOTS = np.uint64(0x6C6F7473)  # the bots' random bits come from another stream than the dice


class Evaluator(Protocol):
    """What the adjustment for luck needs: fixed values of positions."""

    def roll_values(self, states: States) -> NDArray[np.float32]:
        """Value f32[N, 21], for each state's player, of his best reply to each roll of `dice.ROLLS`."""


@dataclass(frozen=True)
class Duellists:
    """Who plays what: two bots loaded for the variant, the seed of the dice, and the evaluator of luck, if any."""

    variant: Variant
    a: Bot
    b: Bot
    seed: int
    evaluator: Evaluator | None = None
    cap: int = CAP


class Step(NamedTuple):
    """Plays made at the same time in some of the games."""

    games: NDArray[np.int64]  # [K]: their numbers
    states: States  # [K, 16]
    afterstates: States  # [K, 16]


@dataclass(frozen=True)
class Played:
    """What came of games number first .. first + len(points) - 1, for bot a; `first` is even."""

    first: int
    points: NDArray[np.float64]  # [N]; 0 for an unfinished game
    luck: NDArray[np.float64]  # [N]: points that a gained by the throws, less those of b; equal luck of a pair left out
    finished: NDArray[np.bool_]  # [N]
    plays: list[Step] = field(default_factory=list)  # in the order in which they were made, if they were to be kept


# ---------------------------------------------------------------------------------------------- kernels


@inlined
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
def _throw_all(rules, rows, bases, rolled):
    """Throw in every row that awaits it; rolled[i] = the roll's place in ROLLS (of rows that threw)."""
    rng = np.zeros(1, np.uint64)
    for i in range(len(rows)):
        if not owes(rows[i]):
            throws = np.int64(rows[i, THROWS])
            stream(bases[i], (throws & 0xFFFF) + (throws >> 16), rng)
            die1, die2 = roll(rng)
            throw(rules, rows[i], die1, die2)
            rolled[i] = _roll_index(die1, die2)


@inlined
def _same(row, other):
    for k in range(WORDS):
        if row[k] != other[k]:
            return False
    return True


@kernel
def _apart(rows, games, order):
    """Rows that await a throw and are not in the same position as the other game of their pair: indices; their number.

    The two games of a pair are neighbours as long as both go on.
    """
    n, i = 0, 0
    while i < len(rows):
        both = i + 1 < len(rows) and games[i] ^ 1 == games[i + 1]
        if both and _same(rows[i], rows[i + 1]):
            i += 2
            continue
        for j in range(i, i + 2 if both else i + 1):
            if not owes(rows[j]):
                order[n] = j
                n += 1
        i += 2 if both else 1
    return n


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
def _finish(rows, games, table, first_game, points, finished, active):
    """Write the points that bot a made in finished games; list the rest in `active`; returns their number."""
    n = 0
    for i in range(len(rows)):
        outcome = np.int64(rows[i, OUTCOME])
        if outcome:
            won = np.int64(rows[i, TURN] & np.uint32(PLAYER)) == games[i] & 1
            points[games[i] - first_game] = table[outcome - 1] if won else -table[outcome - 1]
            finished[games[i] - first_game] = True
        else:
            active[n] = i
            n += 1
    return n


# ---------------------------------------------------------------------------------------------- one batch


def checked_choices(bot: Bot, chosen: Any, first: NDArray[np.int64]) -> NDArray[np.int64]:
    """A bot's choices, which must be plays of their states."""
    chosen = np.asarray(chosen, dtype=np.int64)
    if chosen.shape != (len(first) - 1,) or ((chosen < first[:-1]) | (chosen >= first[1:])).any():
        raise BadBot(
            f"the bot {bot.name!r} picked something that is no play: pick() must return, for state i, an "
            f"index from first[i] to first[i + 1] - 1"
        )
    return chosen


def _luck(evaluator: Evaluator, states: States, rolled: NDArray[np.int64]) -> NDArray[np.float64]:
    """Luck of each state's player at a throw that came out as `rolled`."""
    values = evaluator.roll_values(states).astype(np.float64)
    luck: NDArray[np.float64] = values[np.arange(len(states)), rolled]
    for k in range(len(ROLLS)):  # in this order whatever the number of states: the same bits in every batch
        luck -= ROLL_WEIGHTS[k] * values[:, k]
    return luck


@dataclass
class _Shared:
    """What the batches of a duel share: how far they are, and whether to stop."""

    finished: int = 0
    stopped: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


def _play_batch(duel: Duellists, first_game: int, size: int, shared: _Shared, keep_plays: bool) -> Played:
    """`size` games from number first_game on."""
    rules, start, table = rules_of(duel.variant), start_of(duel.variant), score_table(duel.variant)
    seed = np.uint64(duel.seed & 0xFFFFFFFFFFFFFFFF)
    games = np.arange(first_game, first_game + size)
    rows, bases, lots = blank_rows(size), np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    _open(rules, start, seed, games, rows, bases, lots)
    points, luck, finished = np.zeros(size), np.zeros(size), np.zeros(size, np.bool_)
    rolled, order, active = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    draws = np.zeros(size, np.uint64)
    kept: list[Step] = []
    for step in range(duel.cap):
        n = len(rows)
        if step:  # at the opening throw both games of a pair are in the same position
            apart = order[: _apart(rows, games, order) if duel.evaluator is not None else 0].copy()
            before = rows[apart]
            _throw_all(rules, rows, bases, rolled)
            if duel.evaluator is not None and len(apart):
                sign = np.where((before[:, TURN] & np.uint32(PLAYER)) == (games[apart] & 1), 1.0, -1.0)
                luck[games[apart] - first_game] += sign * _luck(duel.evaluator, before, rolled[apart])
        split = _by_seat(rows, games, order[:n])
        draw_all(lots, draws[:n])
        for bot, mine in ((duel.a, order[:split]), (duel.b, order[split:n])):
            if len(mine):
                states = rows[mine]
                plays, first = all_plays(rules, states)
                after = plays[checked_choices(bot, bot.pick(states, plays, first, draws[mine]), first)]
                if keep_plays:
                    kept.append(Step(games[mine], states, after))
                rows[mine] = after
        left = _finish(rows, games, table, first_game, points, finished, active)
        if left < n:
            keep = active[:left]
            rows, games, bases, lots = rows[keep], games[keep], bases[keep], lots[keep]
            with shared.lock:
                shared.finished += n - left
        if not left or shared.stopped:
            break
    return Played(first_game, points, luck, finished, kept)


# ---------------------------------------------------------------------------------------------- all of them


def threads_for(duel: Duellists, threads: int | None) -> int:
    """How many threads may play: those asked for, or all cores; one where a bot allows no more."""
    return (threads or cores()) if duel.a.parallel and duel.b.parallel else 1


def play_pairs(
    duel: Duellists,
    games: int,
    threads: int | None = None,
    batch: int = BATCH,
    progress: Callable[[int, int], None] | None = None,
    keep_plays: bool = False,
) -> Iterator[Played]:
    """Games number 0 .. games - 1 (an even number), in batches, in the order of their numbers.

    threads: see `threads_for`. batch: games in lockstep in one thread; it changes the speed, never the result.
    progress: called with (games finished, games in all) now and then. keep_plays: see `Played.plays`. Leaving the
    iterator early stops the games that are under way.
    """
    workers = threads_for(duel, threads)
    size = max(2, min(batch, -(-games // workers)) // 2 * 2)
    shared = _Shared()
    with ThreadPoolExecutor(workers) as pool:
        waiting: list[Future[Played]] = []
        begun = 0
        try:
            while waiting or begun < games:
                while begun < games and len(waiting) < 2 * workers:  # no further ahead: the caller may have enough
                    some = min(size, games - begun)
                    waiting.append(pool.submit(_play_batch, duel, begun, some, shared, keep_plays))
                    begun += some
                wait(waiting[:1], timeout=0.1)
                if progress is not None:
                    progress(shared.finished, games)
                if waiting[0].done():
                    yield waiting.pop(0).result()
                for job in waiting:
                    if job.done() and job.exception() is not None:
                        job.result()
        finally:
            shared.stopped = True  # the threads stop at their next step
            pool.shutdown(wait=False, cancel_futures=True)
