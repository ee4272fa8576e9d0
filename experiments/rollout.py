"""Rollouts: what positions are worth when a bot plays both sides to the end, or for some throws, many times.

Each trial is adjusted for luck by the values of a bot (see `luck.py`), so that a few dozen trials tell what thousands
of plain ones would. The trials of all positions have the same dice, which makes differences between the plays of a
position more exact than their values; the first throw takes all 36 rolls in turn.

What is counted is a *measure*, columns of numbers: points alone (`Points`), or points and outcomes
(`outcome_measure.py`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, States, ValueBot, all_plays
from nardy_rl.board import OUTCOME, OWED, PLAYER, TURN
from nardy_rl.dice import ROLL_WEIGHTS, roll, stream
from nardy_rl.errors import BadOption
from nardy_rl.experiments.luck import Floats
from nardy_rl.experiments.paired import Evaluator, checked_choices
from nardy_rl.jit import kernel
from nardy_rl.lockstep import draw_all, stream_all
from nardy_rl.machine import cores
from nardy_rl.results import score_table
from nardy_rl.turns import owes, throw

BLOCK = 2048  # trials side by side in one thread
CAP = 4000  # plays after which a trial counts what the bot's value says
_LOTS = np.uint64(0x6C6F7473)


class Measure(Protocol):
    """What is counted of a trial: C columns, each for the player of a state."""

    def final(self, states: States) -> Floats:
        """Columns f64[N, C] of finished states, exact."""

    def estimate(self, states: States) -> Floats:
        """Columns f64[N, C] of states at which trials are cut off."""

    def by_roll(self, states: States) -> Floats:
        """Columns f64[N, 21, C] of the best reply to each roll of `dice.ROLLS`; the states await a throw."""

    def turned(self, columns: Floats, other: NDArray[np.bool_]) -> Floats:
        """Columns [N, C], or differences of them, in the view of the other player where it is marked."""


class Points:
    """Points alone: of the bot where a trial is cut off, of the evaluator for the luck."""

    def __init__(self, bot: ValueBot, evaluator: Evaluator) -> None:
        self.bot, self.evaluator = bot, evaluator
        self.table = score_table(bot.variant).astype(np.float64)

    def final(self, states: States) -> Floats:
        """See `Measure.final`."""
        return self.table[states[:, OUTCOME].astype(np.int64) - 1][:, None]

    def estimate(self, states: States) -> Floats:
        """See `Measure.estimate`."""
        return self.bot.values(states).astype(np.float64)[:, None]

    def by_roll(self, states: States) -> Floats:
        """See `Measure.by_roll`."""
        return self.evaluator.roll_values(states).astype(np.float64)[:, :, None]

    def turned(self, columns: Floats, other: NDArray[np.bool_]) -> Floats:
        """See `Measure.turned`."""
        return np.where(other[:, None], -columns, columns)


class Rollout(NamedTuple):
    """Points f64[N] for each position's player, and their standard errors over the trials."""

    points: Floats
    error: Floats


@kernel
def _throw_trials(rules, rows, trials, thrown, seed, rolled):
    """Throw in rows that await it: throw number thrown[i] of trial trials[i]; rolled[i] = its place in ROLLS."""
    rng = np.zeros(1, np.uint64)
    for i in range(len(rows)):
        if owes(rows[i]):
            continue
        if thrown[i] == 0:
            die1, die2 = trials[i] % 36 // 6 + 1, trials[i] % 6 + 1
        else:
            stream(seed, trials[i], rng)
            stream(rng[0], thrown[i], rng)
            die1, die2 = roll(rng)
        throw(rules, rows[i], die1, die2)
        high, low = max(die1, die2), min(die1, die2)
        rolled[i] = high * (high - 1) // 2 + low - 1
        thrown[i] += 1


def _gains(measure: Measure, states: States, rolled: NDArray[np.int64]) -> Floats:
    """What the rolls gained for the players of states that awaited a throw, f64[N, C]."""
    columns = measure.by_roll(states)
    mean = np.einsum("nrc,r->nc", columns, ROLL_WEIGHTS)
    gains: Floats = columns[np.arange(len(states)), rolled] - mean
    return gains


def _block(bot: Bot, measure: Measure, rows: States, trials: NDArray[np.int64], seed: np.uint64, throws: int) -> Floats:
    """The adjusted columns f64[N, C] of one trial in each row, for the row's player."""
    players = rows[:, TURN] & np.uint32(PLAYER)
    size = len(rows)
    values = np.zeros((size, measure.final(rows[:0]).shape[1]))
    place, thrown = np.arange(size), np.zeros(size, np.int64)
    lots, rolled = np.zeros(int(trials.max()) + 1, np.uint64), np.zeros(size, np.int64)
    stream_all(seed ^ _LOTS, np.uint64(0), lots)
    lots = lots[trials]

    def mine(columns: Floats, some: States, which: NDArray[np.int64]) -> Floats:
        return measure.turned(columns, (some[:, TURN] & np.uint32(PLAYER)) != players[which])

    for play in range(CAP + 1):
        over = rows[:, OUTCOME] != 0
        values[place[over]] += mine(measure.final(rows[over]), rows[over], place[over])
        waits = (rows[:, OWED] == 0) & ~over
        cut = (waits & (thrown >= throws)) if throws else np.zeros(len(rows), np.bool_)
        if play == CAP:
            cut = ~over
        if cut.any():
            values[place[cut]] += mine(measure.estimate(rows[cut]), rows[cut], place[cut])
        going = ~over & ~cut
        rows, place, thrown, trials, lots = rows[going], place[going], thrown[going], trials[going], lots[going]
        if not len(rows):
            break
        waiting = np.flatnonzero(rows[:, OWED] == 0)
        before = rows[waiting]
        _throw_trials(bot.rules, rows, trials, thrown, seed, rolled)
        if len(waiting):
            values[place[waiting]] -= mine(_gains(measure, before, rolled[waiting]), before, place[waiting])
        plays, first = all_plays(bot.rules, rows)
        draws = np.empty(len(rows), np.uint64)
        draw_all(lots, draws)
        rows = plays[checked_choices(bot, bot.pick(rows, plays, first, draws), first)]
    return values


def trial_results(
    bot: Bot, measure: Measure, states: States, trials: range, seed: int = 1, throws: int = 0,
    threads: int | None = None,
) -> Floats:  # fmt: skip
    """The adjusted columns f64[N, T, C] of trials with these numbers from states uint32[N, 16], by state and trial.

    The states may be finished or owe something of a throw. throws: a trial ends after so many; 0 plays to the end.
    A trial is the same whatever others there are, and whatever the threads.
    """
    key, numbers = np.uint64(seed & 0xFFFFFFFFFFFFFFFF), np.arange(trials.start, trials.stop)
    workers = (threads or cores()) if bot.parallel else 1
    total = len(states) * len(numbers)
    size = min(BLOCK, -(-total // workers))

    def play(begin: int) -> Floats:
        which = np.arange(begin, min(begin + size, total))
        rows = states[which // len(numbers)]
        return _block(bot, measure, rows, numbers[which % len(numbers)], key, throws)

    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(play, range(0, total, size))) if total else [measure.final(states[:0])]
    return np.concatenate(parts).reshape(len(states), len(numbers), -1)


def rollout(
    bot: ValueBot, evaluator: Evaluator, states: States, trials: int, seed: int = 1, throws: int = 0,
    threads: int | None = None,
) -> Rollout:  # fmt: skip
    """Roll out states uint32[N, 16], finished or not, owing something of a throw or not, `trials` times each.

    evaluator: whose values adjust for luck. throws: a trial ends after so many throws with the bot's value of the
    position; 0 plays to the end. The result does not depend on the threads. Raises BadOption for fewer than two trials.
    """
    if trials < 2 or throws < 0:
        raise BadOption(f"trials={trials}, throws={throws}: a rollout needs two trials or more, and no negative throws")
    results = trial_results(bot, Points(bot, evaluator), states, range(trials), seed, throws, threads)[:, :, 0]
    return Rollout(results.mean(axis=1), results.std(axis=1, ddof=1) / np.sqrt(trials))
