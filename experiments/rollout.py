"""Rollouts: what positions are worth when a bot plays both sides to the end, or for some throws, many times.

Each trial is adjusted for luck by the values of a bot (see `luck.py`), so that a few dozen trials tell what thousands
of plain ones would. The trials of all positions have the same dice, which makes differences between the plays of a
position more exact than their values; the first throw takes all 36 rolls in turn.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import States, ValueBot, all_plays
from nardy_rl.board import OUTCOME, OWED, PLAYER, TURN
from nardy_rl.dice import ROLL_WEIGHTS, roll, stream
from nardy_rl.errors import BadOption
from nardy_rl.experiments.luck import Floats
from nardy_rl.experiments.paired import Evaluator, checked_choices
from nardy_rl.jit import kernel
from nardy_rl.lockstep import draw_all, stream_all
from nardy_rl.results import score_table
from nardy_rl.turns import owes, throw

BLOCK = 2048  # trials side by side in one thread
CAP = 4000  # plays after which a trial counts what the bot's value says
_LOTS = np.uint64(0x6C6F7473)


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


def _gains(evaluator: Evaluator, states: States, rolled: NDArray[np.int64]) -> Floats:
    """What the rolls gained for the players of states that awaited a throw."""
    values = evaluator.roll_values(states).astype(np.float64)
    return values[np.arange(len(states)), rolled] - values @ ROLL_WEIGHTS


def _block(
    bot: ValueBot, evaluator: Evaluator, rows: States, trials: NDArray[np.int64], seed: np.uint64, throws: int
) -> Floats:
    """The adjusted result f64[N] of one trial in each row, for the row's player."""
    table = score_table(bot.variant)
    players = rows[:, TURN] & np.uint32(PLAYER)
    size = len(rows)
    values, place, thrown = np.zeros(size), np.arange(size), np.zeros(size, np.int64)
    lots, rolled = np.zeros(int(trials.max()) + 1, np.uint64), np.zeros(size, np.int64)
    stream_all(seed ^ _LOTS, np.uint64(0), lots)
    lots = lots[trials]

    def mine(some: States, which: NDArray[np.int64]) -> Floats:
        return np.where((some[:, TURN] & np.uint32(PLAYER)) == players[which], 1.0, -1.0)

    for play in range(CAP + 1):
        over = rows[:, OUTCOME] != 0
        values[place[over]] += mine(rows[over], place[over]) * table[rows[over, OUTCOME].astype(np.int64) - 1]
        waits = (rows[:, OWED] == 0) & ~over
        cut = (waits & (thrown >= throws)) if throws else np.zeros(len(rows), np.bool_)
        if play == CAP:
            cut = ~over
        values[place[cut]] += mine(rows[cut], place[cut]) * bot.values(rows[cut])
        going = ~over & ~cut
        rows, place, thrown, trials, lots = rows[going], place[going], thrown[going], trials[going], lots[going]
        if not len(rows):
            break
        waiting = np.flatnonzero(rows[:, OWED] == 0)
        before = rows[waiting]
        _throw_trials(bot.rules, rows, trials, thrown, seed, rolled)
        if len(waiting):
            values[place[waiting]] -= mine(before, place[waiting]) * _gains(evaluator, before, rolled[waiting])
        plays, first = all_plays(bot.rules, rows)
        draws = np.empty(len(rows), np.uint64)
        draw_all(lots, draws)
        rows = plays[checked_choices(bot, bot.pick(rows, plays, first, draws), first)]
    return values


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
    size = max(1, BLOCK // trials)
    blocks = [states[i : i + size] for i in range(0, len(states), size)]
    key = np.uint64(seed & 0xFFFFFFFFFFFFFFFF)

    def play(block: States) -> Floats:
        rows, numbers = np.repeat(block, trials, axis=0), np.tile(np.arange(trials), len(block))
        return _block(bot, evaluator, rows, numbers, key, throws).reshape(-1, trials)

    with ThreadPoolExecutor((threads or os.cpu_count() or 1) if bot.parallel else 1) as pool:
        results = np.concatenate(list(pool.map(play, blocks))) if blocks else np.zeros((0, trials))
    return Rollout(results.mean(axis=1), results.std(axis=1, ddof=1) / np.sqrt(trials))
