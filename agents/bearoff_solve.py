"""Solving bear-off positions: how many turns a side needs, and what a game is worth while few checkers are left.

*One-sided*: for every position the distribution of the number of turns until all checkers are off, and until the first
is, each with the plays that make the mean least. Two such distributions give the chances of a race. They are exact for
these plays; a player who looks at what the other does can do a little better.

*Two-sided*: for every pair of positions the equity with best play on both sides, exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bearoff import (
    MOST,
    MOST_PLAYS,
    POINTS,
    Model,
    Successors,
    fill_counts,
    fill_successors,
    plays_of,
    positions_of,
)
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.jit import inner, kernel

TURNS = 32  # length of a distribution with standard bear-off, where three pips a turn are the least
TURNS_EXACT = 160  # and where one may wait for a die; what takes longer, less than 1e-6, counts as 159 turns
SMALL = 6  # checkers of a side in the two-sided tables

Table = NDArray[np.float32]


# ---------------------------------------------------------------------------------------------- one side


@inner
def _best_of(n, found, key, position, total, first):
    """Of n plays the one of the least key; 0 where all, or with `first` one, is borne off by it."""
    best, at = np.inf, np.int64(position)
    for i in range(n):
        after = np.int64(found[i])
        if after == 0 or (first and total[after] < total[position]):
            return np.int64(0)
        if key[after] < best:
            best, at = key[after], after
    return at


@inner
def _solve_position(successors, total, again, first, position, kind, turns, mean, found, stack, chosen, now):
    """One position and kind of throw of `solve_one_sided`; chosen int64[21] and now int64[21] are room."""
    waiting, mean_of_rest = 0.0, 0.0
    for r in range(ROLLS.shape[0]):
        larger, smaller = ROLLS[r, 0], ROLLS[r, 1]
        n, moves = plays_of(successors, position, larger, smaller, found, stack)
        now[r] = again[kind] if larger == smaller and moves == 4 else np.int64(-1)
        key = mean[max(now[r], np.int64(0))]
        if n == 1 and np.int64(found[0]) == position:
            chosen[r] = position
            if kind == 0:
                waiting += ROLL_WEIGHTS[r]
                continue
        else:
            chosen[r] = _best_of(n, found, key, position, total, first)
        if chosen[r] == 0:
            now[r] = -1
        mean_of_rest += ROLL_WEIGHTS[r] * (key[chosen[r]] - 1.0 * (now[r] >= 0))
    mean[kind, position] = (1.0 + mean_of_rest) / (1.0 - waiting)
    last = turns.shape[2] - 1
    whole = 0.0
    for t in range(1, last + 1):
        share = 0.0
        for r in range(ROLLS.shape[0]):
            if now[r] >= 0:  # goes on in the same turn
                share += ROLL_WEIGHTS[r] * turns[now[r], chosen[r], t]
            else:
                share += ROLL_WEIGHTS[r] * turns[0, chosen[r], t - 1]
        turns[kind, position, t] = share
        whole += share
    turns[kind, position, last] += 1.0 - whole


@kernel
def solve_one_sided(successors, total, again, first, turns, mean):
    """Distributions of the number of turns, into turns float32[kinds, N, T] and their means float64[kinds, N].

    total: int8[N], checkers of each position; again: see `Model`; first: until the first checker is off, not the last.
    """
    found, stack = np.zeros(MOST_PLAYS, np.int32), np.zeros((4, 2), np.int64)
    chosen, now = np.zeros(ROLLS.shape[0], np.int64), np.zeros(ROLLS.shape[0], np.int64)
    for kind in range(again.shape[0]):
        turns[kind, 0, 0] = np.float32(1)
        mean[kind, 0] = 0.0
    for position in range(1, successors.shape[0]):
        for kind in range(again.shape[0]):
            _solve_position(
                successors, total, again, first, np.int64(position), np.int64(kind), turns, mean, found, stack,
                chosen, now,
            )  # fmt: skip


# ---------------------------------------------------------------------------------------------- two sides


@kernel
def list_plays(successors, first, moves, listed):
    """The distinct plays of every position and roll: of number i = 21 position + roll from first[i] to first[i + 1].

    Fills first int64[21 N + 1], moves int8[21 N] and, as far as it has room, listed int32[M]; returns the M needed.
    """
    found, stack = np.zeros(MOST_PLAYS, np.int32), np.zeros((4, 2), np.int64)
    at = np.int64(0)
    for i in range(moves.shape[0]):
        roll = i % ROLLS.shape[0]
        position = np.int64(i // ROLLS.shape[0])
        n, made = plays_of(successors, position, ROLLS[roll, 0], ROLLS[roll, 1], found, stack)
        moves[i] = made
        for j in range(n):
            seen = False
            for k in range(j):
                seen = seen or found[k] == found[j]
            if not seen:
                if at < listed.shape[0]:
                    listed[at] = found[j]
                at += 1
        first[i + 1] = at
    return at


@inner
def _equity_of_moves(plays, total, again, scores, equity, mine, theirs, kind):
    """What the throws in which something moves are worth to the player who throws, and the weight of the others."""
    first, moves, listed = plays
    worth, waiting = 0.0, 0.0
    for r in range(ROLLS.shape[0]):
        i = mine * ROLLS.shape[0] + r
        if moves[i] == 0:
            waiting += ROLL_WEIGHTS[r]
            continue
        goes_on = again[kind] if ROLLS[r, 0] == ROLLS[r, 1] and moves[i] == 4 else np.int64(-1)
        best = -np.inf
        for j in range(first[i], first[i + 1]):
            after = np.int64(listed[j])
            if after == 0:
                value = scores[total[theirs]]
            elif goes_on >= 0:
                value = np.float64(equity[goes_on, after, theirs])
            else:
                value = -np.float64(equity[0, theirs, after])
            best = max(best, value)
        worth += ROLL_WEIGHTS[r] * best
    return worth, waiting


@kernel
def solve_two_sided(plays, total, again, scores, equity):
    """Equities of the player who throws, float32[kinds, M, M] at [kind, his position, the other's].

    plays: first, moves and listed of `list_plays`; total: int8[M], checkers of each position; scores: float64[16],
    points of a win by the loser's checkers left. Where neither can move, each waits for the other: two equations.
    """
    size = equity.shape[1]
    for both in range(2, 2 * size - 1):
        for low in range(max(1, both - size + 1), both // 2 + 1):
            a, b = np.int64(low), np.int64(both - low)
            of_a, wait_a = _equity_of_moves(plays, total, again, scores, equity, a, b, np.int64(0))
            of_b, wait_b = _equity_of_moves(plays, total, again, scores, equity, b, a, np.int64(0))
            equity[0, a, b] = (of_a - wait_a * of_b) / (1.0 - wait_a * wait_b)
            equity[0, b, a] = (of_b - wait_b * of_a) / (1.0 - wait_a * wait_b)
            for k in range(1, again.shape[0]):
                of_a, wait_a = _equity_of_moves(plays, total, again, scores, equity, a, b, np.int64(k))
                of_b, wait_b = _equity_of_moves(plays, total, again, scores, equity, b, a, np.int64(k))
                equity[k, a, b] = of_a - wait_a * equity[0, b, a]
                equity[k, b, a] = of_b - wait_b * equity[0, a, b]


# ---------------------------------------------------------------------------------------------- whole tables


def positions_and_moves(model: Model, checkers: int) -> tuple[NDArray[np.int8], Successors]:
    """The checkers int8[N] of every position of up to so many checkers, and its single moves."""
    counts = np.zeros((positions_of(checkers), POINTS), np.int8)
    fill_counts(counts)
    successors = np.zeros((len(counts), POINTS, POINTS), np.int32)
    fill_successors(counts, model.exact, model.frozen, successors)
    return counts.sum(axis=1).astype(np.int8), successors


def one_sided(model: Model, checkers: int = MOST) -> dict[str, Table]:
    """`off` and `first`: float32[kinds, N, T], chances that the last or the first checker is off after t turns."""
    total, successors = positions_and_moves(model, checkers)
    length = TURNS_EXACT if model.exact or model.frozen else TURNS
    tables = {}
    for name, first in (("off", False), ("first", True)):
        turns = np.zeros((len(model.again), len(total), length), np.float32)
        solve_one_sided(successors, total, model.again, first, turns, np.zeros(turns.shape[:2]))
        tables[name] = turns
    return tables


def two_sided(model: Model, scores: tuple[int, ...], checkers: int = SMALL) -> Table:
    """Equities float32[kinds, M, M] of positions of up to so many checkers; scores: by the loser's checkers left."""
    total, successors = positions_and_moves(model, checkers)
    first, moves = np.zeros(len(ROLLS) * len(total) + 1, np.int64), np.zeros(len(ROLLS) * len(total), np.int8)
    listed = np.zeros(list_plays(successors, first, moves, np.zeros(0, np.int32)), np.int32)
    list_plays(successors, first, moves, listed)
    equity = np.zeros((len(model.again), len(total), len(total)), np.float32)
    solve_two_sided((first, moves, listed), total, model.again, np.array(scores, np.float64), equity)
    return equity
