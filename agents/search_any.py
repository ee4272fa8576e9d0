"""Looking some throws ahead with any bot that values positions: the search of `search_net.py`, many states at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import nardy_rl.batch as batch
from nardy_rl.agents.bot import States, ValueBot, thrown
from nardy_rl.agents.net import Outputs
from nardy_rl.agents.search_net import Kept
from nardy_rl.board import OUTCOME, OWED, PLAYER, TURN, WORDS
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS

CHUNK = 24  # states that await a throw and are looked into together: some 10,000 plays

Floats = NDArray[np.float32]
Evaluations = tuple[Floats, Floats]
"""Outputs f32[N, K] and values f32[N], each for the state's player; K is 0 for a bot that knows values only."""


def turned(meaning: Outputs | None, outputs: Floats, other: NDArray[np.bool_]) -> Floats:
    """Outputs f32[N, K], those marked in the view of the other player."""
    if meaning is None or not other.any():
        return outputs
    result = outputs.copy()
    result[other] = outputs[other][:, meaning.flip_from]
    if not meaning.draws:
        result[other, 0] = 1 - result[other, 0]
    return result


def groups(first: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of the state int64[M] that each of the plays first[i] .. first[i + 1] - 1 belongs to."""
    return np.repeat(np.arange(len(first) - 1), np.diff(first))


def ranks(first: NDArray[np.int64], *scores: NDArray[Any]) -> NDArray[np.int64]:
    """The place int64[M] of each play in its group, 0 for the best, of equals the first. The last of the scores counts
    first, as in `numpy.lexsort`."""
    group = groups(first)
    order = np.lexsort((*(-score for score in scores), group))
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - first[group[order]]
    return rank


def kept_plays(kept: Kept, values: Floats, first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which plays of each state are looked into, as int64[L] in their order; values f32[M] are for the mover."""
    group = groups(first)
    rank = ranks(first, values)
    top = np.maximum.reduceat(values, first[:-1])[group]
    near = (rank < kept.most) & (values >= top - np.float32(kept.margin))
    return np.flatnonzero(near | (rank < kept.least))


def of_movers(meaning: Outputs | None, movers: States, after: States, found: Evaluations) -> Evaluations:
    """Evaluations of states `after`, in the view of the players of the states `movers` (uint32[N, 16] both)."""
    outputs, values = found
    other = ((movers[:, TURN] ^ after[:, TURN]) & np.uint32(PLAYER)) != 0
    return turned(meaning, outputs, other), np.where(other, -values, values)


def ahead(bot: ValueBot, states: States, depth: int, kept: Kept) -> Evaluations:
    """Evaluations of states uint32[N, 16], so many throws ahead; see `search_net.py` for what that means."""
    size = 0 if bot.meaning is None else len(bot.meaning.points)
    outputs, values = np.empty((len(states), size), np.float32), np.empty(len(states), np.float32)
    owing = states[:, OWED] != 0
    waiting = ~owing & (states[:, OUTCOME] == 0) & (depth > 0)
    for which, look, chunk in (
        (owing, _replies, CHUNK * len(ROLLS)),
        (waiting, _rolls, CHUNK),
        (~(owing | waiting), _static, len(states)),
    ):
        numbers = np.flatnonzero(which)
        for begin in range(0, len(numbers), chunk):
            some = numbers[begin : begin + chunk]
            outputs[some], values[some] = look(bot, states[some], depth, kept)
    return outputs, values


def _static(bot: ValueBot, states: States, depth: int, kept: Kept) -> Evaluations:
    return bot.evaluations(states)


def _rolls(bot: ValueBot, states: States, depth: int, kept: Kept) -> Evaluations:
    """States that await a throw: the mean over the rolls."""
    size = len(ROLLS)
    rows = np.empty((len(states) * size, WORDS), np.uint32)
    thrown(bot.rules, states, ROLLS, rows)
    outputs, values = ahead(bot, rows, depth - 1, kept)
    shape = (len(states), size)
    mean, value = np.zeros((len(states), outputs.shape[1]), np.float32), np.zeros(len(states), np.float32)
    for r, weight in enumerate(ROLL_WEIGHTS.astype(np.float32)):  # in this order whatever the number of states
        mean += weight * outputs.reshape(*shape, outputs.shape[1])[:, r]
        value += weight * values.reshape(shape)[:, r]
    return mean, value


def _replies(bot: ValueBot, states: States, depth: int, kept: Kept) -> Evaluations:
    """States that owe something of a throw: the best of the plays that are kept."""
    plays, first = batch.plays(bot.variant, states)
    movers = states[groups(first)]
    values = of_movers(bot.meaning, movers, plays, bot.evaluations(plays))[1]
    chosen = kept_plays(kept, values, first)
    movers, after = movers[chosen], plays[chosen]
    outputs, values = of_movers(bot.meaning, movers, after, ahead(bot, after, depth, kept))
    begins = np.searchsorted(chosen, first)
    best = np.flatnonzero(ranks(begins, values) == 0)
    return outputs[best], values[best]
