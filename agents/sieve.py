"""What every roll is worth, quickly: the values of the best replies to all 21 rolls with a tenth of the evaluations.

A *sieve* is a linear function of what a play changes on the board. It is fitted to the values that a bot gives to all
the plays of some hundred positions, so that it ranks the plays of a roll much as the bot does, in some hundredths of a
microsecond a play. `Sifted` lets the few best of every roll through it, and only those are valued by the bot; where
the first of each roll shows that no roll matters much, not even all of those.

The result is a fixed function of position and roll, close to the bot's own `roll_values`. The adjustment for luck
(`nardy_rl.experiments.luck`) asks for no more: it stays free of bias whatever the sieve lets slip.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import nardy_rl.batch as batch
from nardy_rl.agents.baselines import pips
from nardy_rl.agents.bot import ROLL_CHUNK, States, ValueBot, thrown
from nardy_rl.agents.visited import visited
from nardy_rl.board import BAR, MY_PINS, OFF, OWED, PLAYER, THEIR_PINS, TURN, WORDS, copy_into, count, made, occupied
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.jit import inlined, inner, kernel, lowest
from nardy_rl.lockstep import own_scratch
from nardy_rl.plays import plays as stage_plays
from nardy_rl.rules import HIT, NO_CONTACT
from nardy_rl.turns import throw

KEEP = 8  # plays of a roll that the sieve lets through
FITTED = 600  # positions that it is fitted to
STEPS = 40  # of the conjugate gradients
RIDGE = 1.0
SOFTNESS = 2.0  # a play that is behind the best by this times the spread of the rolls weighs 1/e
QUIET = 0.3  # the rolls of a position hardly matter if their spread is below this times the usual one

# Features of a position: side (mover, other) x point x checkers; side x window of six points x mask of strong
# points; side x point of a pinned checker; does the mover act again x moves that are owed; and where there are hits,
# point of a lone checker of the mover x mask of enemies within six pips.
_COUNTS, _WINDOWS, _PINS, _OWING, _BLOTS, FEATURES = 0, 416, 1312, 1364, 1374, 2910
_CHANGES = 96  # more than any play makes


class Sieve(NamedTuple):
    """Weights by phase: a feature gained, then (with the opposite sign) one lost."""

    weights: np.ndarray  # float32[2, 2 * FEATURES]
    cut: int  # positions with more pips than this, of both sides together, are of phase 0


def no_sieve() -> Sieve:
    """A sieve that knows no play from another."""
    return Sieve(np.zeros((2, 2 * FEATURES), np.float32), 0)


class Ranked(NamedTuple):
    """Room for the plays of a roll that a sieve ranks first."""

    at: np.ndarray  # int64[K]: their numbers
    total: np.ndarray  # float32[K]: what the sieve gives them
    changes: np.ndarray  # int32[_CHANGES]


def new_ranked(keep: int) -> Ranked:
    """Room for so many plays of a roll."""
    return Ranked(np.zeros(keep, np.int64), np.zeros(keep, np.float32), np.zeros(_CHANGES, np.int32))


# ---------------------------------------------------------------------------------------------- what a play changes


@inlined
def _phase(row, cut):
    return np.int64(pips(row, 0) + pips(row, 4) <= cut)


@inlined
def _pair(gained, lost, index, n):
    """List a feature gained and one lost."""
    index[n] = gained
    index[n + 1] = FEATURES + lost
    return n + 2


@inlined
def _blot(row, side, point, hunters, shift, index, n):
    """List a lone checker with the enemies in front of it; hunters: the enemy's points, in his numbering."""
    if count(row, side, point) == 1 and OFF < point < BAR:
        index[n] = _BLOTS + 64 * (point - 1) + (hunters >> (26 - point) & 63) + shift
        n += 1
    return n


@inlined
def _side_changes(rules, before, after, old, new, side, hunters, index, n):
    """Changes of one side, 0 the mover, 1 the other; its planes begin at `old` in the state before, at `new` after.

    hunters: the enemy's points in his numbering, for the mover where there are hits; else 0.
    """
    changed = np.int64(0)
    for k in range(4):
        changed |= np.int64(before[old + k] ^ after[new + k])
    if changed:
        mask = changed
        while mask:
            point = lowest(mask)
            mask &= mask - 1
            at = _COUNTS + 208 * side + 8 * point
            n = _pair(at + min(count(after, new, point), 7), at + min(count(before, old, point), 7), index, n)
            if hunters:
                n = _blot(after, new, point, hunters, 0, index, n)
                n = _blot(before, old, point, hunters, FEATURES, index, n)
        if rules.contact == NO_CONTACT:
            was, now = occupied(before, old), occupied(after, new)
        else:
            was, now = made(before, old), made(after, new)
        if was != now:
            for w in range(7):
                a, b = was >> (1 + 3 * w) & 63, now >> (1 + 3 * w) & 63
                if a != b:
                    at = _WINDOWS + 448 * side + 64 * w
                    n = _pair(at + b, at + a, index, n)
    return n


@inlined
def _pin_changes(was, now, side, index, n):
    mask = was ^ now
    while mask:
        point = lowest(mask)
        mask &= mask - 1
        index[n] = _PINS + 26 * side + point + (0 if now >> point & 1 else FEATURES)
        n += 1
    return n


@inlined
def changes(rules, before, after, index):
    """Features that the play from `before` to `after` gained, and FEATURES more than those lost; returns their number.

    index: int32[_CHANGES]. Both in the view of the player of `before`, the mover.
    """
    hunters = occupied(before, 4) if rules.contact == HIT else np.int64(0)
    turned = ((np.int64(before[TURN]) ^ np.int64(after[TURN])) & PLAYER) * 4
    n = _side_changes(rules, before, after, 0, turned, 0, hunters, index, 0)
    n = _side_changes(rules, before, after, 4, 4 - turned, 1, np.int64(0), index, n)
    mine, theirs = MY_PINS + (turned >> 2), THEIR_PINS - (turned >> 2)
    if before[MY_PINS] != after[mine] or before[THEIR_PINS] != after[theirs]:
        n = _pin_changes(np.int64(before[MY_PINS]), np.int64(after[mine]), 0, index, n)
        n = _pin_changes(np.int64(before[THEIR_PINS]), np.int64(after[theirs]), 1, index, n)
    owed = np.int64(after[OWED]) >> 9 & 7
    if owed or not turned:
        index[n] = _OWING + 5 * (turned == 0) + owed
        n += 1
    return n


# ---------------------------------------------------------------------------------------------- fitting


@kernel
def _list_changes(rules, rows, plays, first, index, at):
    """`changes` of all plays, one after the other into index int16[M]; at: int64[P + 1] where each begins.

    An empty index leaves it at counting.
    """
    room = np.zeros(_CHANGES, np.int32)
    for i in range(len(rows)):
        for j in range(first[i], first[i + 1]):
            n = changes(rules, rows[i], plays[j], room)
            if len(index):
                for k in range(n):
                    index[at[j] + k] = room[k]
            at[j + 1] = at[j] + n


@kernel
def _phases(rows, cut, phases):
    for i in range(len(rows)):
        phases[i] = _phase(rows[i], cut)


@kernel
def _pip_sums(rows, sums):
    for i in range(len(rows)):
        sums[i] = pips(rows[i], 0) + pips(rows[i], 4)


@inner
def _spread_back(first, index, at, weight, residual, phases, phase, gradient):
    """gradient = sum over plays of weight * (residual less its mean in the group) * features."""
    for k in range(FEATURES):
        gradient[k] = 0.0
    for g in range(len(first) - 1):
        if phases[g] != phase:
            continue
        total, mass = 0.0, 0.0
        for j in range(first[g], first[g + 1]):
            total += weight[j] * residual[j]
            mass += weight[j]
        mean = total / mass
        for j in range(first[g], first[g + 1]):
            c = weight[j] * (residual[j] - mean)
            for k in range(at[j], at[j + 1]):
                f = np.int64(index[k])
                if f < FEATURES:
                    gradient[f] += c
                else:
                    gradient[f - FEATURES] -= c


@inner
def _predict(first, index, at, u, phases, phase, out):
    for g in range(len(first) - 1):
        if phases[g] == phase:
            for j in range(first[g], first[g + 1]):
                total = 0.0
                for k in range(at[j], at[j + 1]):
                    f = np.int64(index[k])
                    total += u[f] if f < FEATURES else -u[f - FEATURES]
                out[j] = total


@kernel
def _least_squares(first, index, at, weight, value, phases, phase, steps, ridge, solution):
    """Weights float64[FEATURES] whose sums rank the plays of each group like their values: conjugate gradients.

    first: int64[G + 1], the plays of group g are first[g]..first[g + 1] - 1; groups of another phase are left aside.
    """
    room = np.zeros(len(value))
    r, q, p = np.zeros(FEATURES), np.zeros(FEATURES), np.zeros(FEATURES)
    _spread_back(first, index, at, weight, value, phases, phase, r)
    for k in range(FEATURES):
        p[k] = r[k]
        solution[k] = 0.0
    size = 0.0
    for k in range(FEATURES):
        size += r[k] * r[k]
    for _ in range(steps):
        if size < 1e-12:
            break
        _predict(first, index, at, p, phases, phase, room)
        _spread_back(first, index, at, weight, room, phases, phase, q)
        bend = 0.0
        for k in range(FEATURES):
            q[k] += ridge * p[k]
            bend += p[k] * q[k]
        step, new_size = size / bend, 0.0
        for k in range(FEATURES):
            solution[k] += step * p[k]
            r[k] -= step * q[k]
            new_size += r[k] * r[k]
        for k in range(FEATURES):
            p[k] = r[k] + new_size / size * p[k]
        size = new_size


def fit(bot: ValueBot, number: int, seed: int) -> tuple[Sieve, float]:
    """A sieve that ranks plays as a bot does, and the spread of a position's rolls below which they hardly matter.

    number: positions, from the bot's play against itself. Of the plays of a roll, the better ones weigh more.
    """
    states = visited(bot, number, seed)
    rows = np.empty((len(states) * len(ROLLS), WORDS), np.uint32)
    thrown(bot.rules, states, ROLLS, rows)
    plays, first = batch.plays(bot.variant, rows)
    group = np.repeat(np.arange(len(rows)), np.diff(first))
    values = of_player(bot, plays, (rows[:, TURN] & np.uint32(PLAYER))[group]).astype(np.float64)
    best = np.maximum.reduceat(values, first[:-1])
    spread = float(np.sqrt((_spread(best.reshape(-1, len(ROLLS))) ** 2).mean()))
    behind = (values - best[group]) / max(SOFTNESS * spread, 1e-6)
    weight = np.tile(ROLL_WEIGHTS, len(states))[group] * np.exp(behind)
    at = np.zeros(len(plays) + 1, np.int64)
    _list_changes(bot.rules, rows, plays, first, np.zeros(0, np.int16), at)
    index = np.zeros(at[-1], np.int16)
    _list_changes(bot.rules, rows, plays, first, index, at)
    sums, phases = np.zeros(len(states), np.int64), np.zeros(len(rows), np.int64)
    _pip_sums(states, sums)
    cut = int(np.median(sums))
    _phases(rows, cut, phases)
    weights = np.zeros((2, 2 * FEATURES), np.float32)
    for phase in range(2):
        solution = np.zeros(FEATURES)
        _least_squares(first, index, at, weight, values, phases, phase, STEPS, RIDGE, solution)
        weights[phase] = np.concatenate([solution, -solution])
    return Sieve(weights, cut), QUIET * spread


def of_player(bot: ValueBot, plays: States, player: NDArray[np.uint32]) -> NDArray[np.float32]:
    """Values f32[M] of plays for the players uint32[M] of the states in which they were made."""
    values = bot.values(plays)
    return np.where((plays[:, TURN] & np.uint32(PLAYER)) == player, values, -values)


# ---------------------------------------------------------------------------------------------- sifting


@inner
def first_ranked(rules, sieve, before, scr, n, keep, ranked):
    """Which of the n plays in `scr.plays` of a state the sieve ranks first: their numbers into ranked.at, best first.

    keep: how many at most; returns how many.
    """
    weights = sieve.weights[_phase(before, sieve.cut)]
    best, at = ranked.total, ranked.at
    kept = np.int64(0)
    for j in range(n):
        total = np.float32(0)
        if n > 1:
            for f in range(changes(rules, before, scr.plays[j], ranked.changes)):
                total += weights[ranked.changes[f]]
        if kept < keep:
            kept += 1
        elif total <= best[keep - 1]:
            continue
        place = kept - 1
        while place > 0 and best[place - 1] < total:
            best[place], at[place] = best[place - 1], at[place - 1]
            place -= 1
        best[place], at[place] = total, j
    return kept


@inner
def bring_forward(rules, sieve, before, scr, n, keep, ranked):
    """Put the plays that the sieve ranks first at the front of `scr.plays`, in the order they had; returns how many."""
    kept = first_ranked(rules, sieve, before, scr, n, keep, ranked)
    at = ranked.at
    for j in range(1, kept):  # by their numbers, so that none is overwritten before it is moved
        number, place = at[j], j
        while place > 0 and at[place - 1] > number:
            at[place] = at[place - 1]
            place -= 1
        at[place] = number
    for j in range(kept):
        if at[j] != j:
            copy_into(scr.plays[j], scr.plays[at[j]])
    return kept


@kernel
def sift(rules, sieve, rolls, scr, ranked, states, out, number):
    """The plays of every state for every roll that the sieve ranks first.

    states: uint32[N, 16], awaiting a throw; rolls: int64[R, 2]; out: uint32[K, N * R, 16], the best of each first;
    number: int64[N * R], how many there are, at most K.
    """
    row = np.zeros(WORDS, np.uint32)
    for i in range(len(states)):
        for k in range(len(rolls)):
            copy_into(row, states[i])
            throw(rules, row, rolls[k, 0], rolls[k, 1])
            n = stage_plays(rules, row, scr)
            kept = first_ranked(rules, sieve, row, scr, n, out.shape[0], ranked)
            number[i * len(rolls) + k] = kept
            for j in range(kept):
                copy_into(out[j, i * len(rolls) + k], scr.plays[ranked.at[j]])


class Sifted:
    """A bot's values of all 21 rolls, nearly, at a fraction of the cost; threads may share it.

    `name` is the bot's. Fitting takes a second or two, when it is made, and is a function of bot and seed.
    """

    def __init__(self, bot: ValueBot, keep: int = KEEP, fitted: int = FITTED, seed: int = 1) -> None:
        self.bot = bot
        self.name = bot.name
        self.keep = keep
        self.sieve, self.quiet = fit(bot, fitted, seed)
        self._own = threading.local()

    def _room(self) -> States:
        if not hasattr(self._own, "room"):
            self._own.room = np.empty((self.keep, ROLL_CHUNK * len(ROLLS), WORDS), np.uint32)
        room: States = self._own.room
        return room

    def roll_values(self, states: States) -> NDArray[np.float32]:
        """Values f32[N, 21] of nearly the best reply to each roll of `dice.ROLLS`, for the player of each state.

        states: uint32[N, 16], each awaiting a throw.
        """
        values = np.empty((len(states), len(ROLLS)), np.float32)
        for begin in range(0, len(states), ROLL_CHUNK):
            some = states[begin : begin + ROLL_CHUNK]
            values[begin : begin + len(some)] = self._some_values(some)
        return values

    def _some_values(self, states: States) -> NDArray[np.float32]:
        rolls = len(ROLLS)
        size = len(states) * rolls
        kept, number = self._room()[:, :size], np.zeros(size, np.int64)
        sift(self.bot.rules, self.sieve, ROLLS, own_scratch(), new_ranked(self.keep), states, kept, number)
        player = np.repeat(states[:, TURN] & np.uint32(PLAYER), rolls)
        best = of_player(self.bot, kept[0], player)
        spread = _spread(best.reshape(-1, rolls))
        loud = np.repeat(spread > self.quiet, rolls)
        for rank in range(1, self.keep):
            which = np.flatnonzero(loud & (number > rank))
            best[which] = np.maximum(best[which], of_player(self.bot, kept[rank][which], player[which]))
        return best.reshape(-1, rolls)


def _spread(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Standard deviation f64[N] over the rolls of values f32[N, 21]."""
    mean, square = np.zeros(len(values)), np.zeros(len(values))
    for k, weight in enumerate(ROLL_WEIGHTS):  # in this order whatever the number of states: the same bits
        mean += weight * values[:, k]
        square += weight * values[:, k].astype(np.float64) ** 2
    return np.sqrt(np.maximum(square - mean**2, 0.0))
