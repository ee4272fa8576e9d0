"""Solving a small game: the equity of every position with best play on both sides, by value iteration.

V(m, t) is what a position is worth, in points, to the player who is about to throw, with his side at number m and the
other at t:

    V(m, t) = sum over the rolls of weight * max over the plays of -V(t', m'),

where m' and t' are the two sides after the play; where m' is all off, V(t', m') is the loss. A sweep goes through the
pairs by the larger of the two numbers, so that only hits and throws that cannot be played lead to values of the sweep
before: a race is solved in one sweep, and what is left shrinks by the chance of another hit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.solvable import Positions, can_be, win_points
from nardy_rl.agents.solve_plays import AFTER_BITS, AFTER_MASK, Plays
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.jit import inlined, kernel
from nardy_rl.variant import Variant

SETTLED = 1e-8  # points: a solution is done when a sweep changes no value by more; 32 bits round by up to 3e-8
PORTION = 64  # numbers between two reports

Equities = NDArray[np.float64]
"""f64[N, N] at [his number who is about to throw, the other's]; NaN for what cannot be, or where nobody throws."""


class Sweep(NamedTuple):
    """How far a sweep is."""

    number: int  # from 1
    done: float  # from 0 to 1
    change: float  # the most that it has changed a value so far, in points


@inlined
def _worth(positions, plays, m, t, table, turned):
    """V of a pair from the values of the positions after its plays; turned: the table has the other side first."""
    size, rolls = positions.places.shape[0], ROLLS.shape[0]
    b0, b1, b2 = (
        np.int64(positions.blots[t, 0]) + AFTER_BITS,
        np.int64(positions.blots[t, 1]) + AFTER_BITS,
        np.int64(positions.blots[t, 2]) + AFTER_BITS,
    )
    at = (np.int64(positions.made[t]) * size + m) * rolls
    worth = 0.0
    for r in range(rolls):
        least = np.inf
        for i in range(plays.first[at + r], plays.first[at + r + 1]):
            play = plays.listed[i]
            landed, after = play & ~AFTER_MASK, play & AFTER_MASK  # nobody lands on point 0, which is no blot
            other = np.int64(positions.hit[t, (landed >> b0 & 1) | (landed >> b1 & 1) << 1 | (landed >> b2 & 1) << 2])
            least = min(least, table[after, other] if turned else table[other, after])
        worth -= ROLL_WEIGHTS[r] * least
    return worth


@kernel
def sweep_part(positions, plays, equity, turned, begin, end):
    """Renew the values of all pairs whose larger number is from `begin` to `end` - 1; returns the largest change.

    turned: `equity` with its axes exchanged, so that both values of a pair are made from neighbours in memory.
    """
    change = 0.0
    for high in range(begin, end):
        for low in range(1, high + 1):
            if not can_be(positions, high, low):
                continue
            worth = _worth(positions, plays, np.int64(high), np.int64(low), turned, True)
            change = max(change, abs(worth - equity[high, low]))
            equity[high, low] = turned[low, high] = worth
            worth = _worth(positions, plays, np.int64(low), np.int64(high), equity, False)
            change = max(change, abs(worth - equity[low, high]))
            equity[low, high] = turned[high, low] = worth
    return change


@kernel
def put_start(positions, loss, equity):
    """The values before the first sweep: the loss where the other side is off, 0 elsewhere, NaN where none can be."""
    for m in range(equity.shape[0]):
        for t in range(equity.shape[1]):
            if t == 0:
                equity[m, t] = loss[m] if m else np.nan
            else:
                equity[m, t] = 0.0 if m and can_be(positions, m, t) else np.nan


def start_equities(variant: Variant, positions: Positions) -> Equities:
    """The values before the first sweep."""
    size = len(positions.places)
    equity = np.empty((size, size))
    put_start(positions, -win_points(variant, positions), equity)
    return equity


def sweep(
    positions: Positions,
    plays: Plays,
    equity: Equities,
    turned: Equities,
    number: int,
    report: Callable[[Sweep], None] | None = None,
) -> float:
    """One sweep over all pairs, in place; returns the largest change in points. turned: see `sweep_part`."""
    size, change = len(equity), 0.0
    for begin in range(1, size, PORTION):
        end = min(begin + PORTION, size)
        part = sweep_part(positions, plays, equity, turned, np.int64(begin), np.int64(end))
        change = max(change, part)
        if report is not None:
            report(Sweep(number, (end / size) ** 2, change))
    return change
