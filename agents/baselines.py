"""Two players to measure others by: one plays at random, the other runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, States, ValueBot
from nardy_rl.board import ON_BOARD
from nardy_rl.jit import inlined, kernel, lowest, popcount
from nardy_rl.variant import Variant

PIP_VALUE = np.float32(0.01)  # points for a pip; any positive number gives the same plays
_TIE = np.float32(1e-6)  # what a square of a distance counts among plays of equal pips

# sum of the point numbers in a mask is computed bit by bit of the number: points whose number has bit k set
_BITS = np.array([sum(1 << d for d in range(1, 26) if d >> k & 1) for k in range(5)], dtype=np.int64)


@kernel
def draw_plays(first, draws, chosen):
    """One play of each state, all equally likely: chosen int64[N] from draws uint64[N]."""
    for i in range(len(draws)):
        n = first[i + 1] - first[i]
        chosen[i] = first[i] + np.int64(((draws[i] >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@inlined
def pips(row, side):
    """Pips that a side (0 mine, 4 theirs) has to go; a checker on the bar counts 25."""
    total = np.int64(0)
    for plane in range(4):
        mask = np.int64(row[side + plane])
        for k in range(5):
            total += popcount(mask & _BITS[k]) << (k + plane)
    return total


@inlined
def squares(row, side):
    """Sum over the checkers of a side of the squares of their distances."""
    total = np.int64(0)
    for plane in range(4):
        mask = np.int64(row[side + plane]) & ON_BOARD
        while mask:
            point = lowest(mask)
            mask &= mask - 1
            total += (point * point) << plane
    return total


@kernel
def race_values(states, tie, values):
    """How far each state's player is ahead in the race, in PIP_VALUE a pip, and by squares of distances."""
    for i in range(len(states)):
        lead = np.float32(pips(states[i], 4) - pips(states[i], 0)) * PIP_VALUE
        values[i] = lead + np.float32(squares(states[i], 4) - squares(states[i], 0)) * tie


class RandomBot(Bot):
    """Takes each distinct play with the same chance."""

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, "random")

    def pick(
        self, states: States, plays: States, first: NDArray[np.int64], draws: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Bot.pick`."""
        chosen = np.empty(len(states), np.int64)
        draw_plays(first, draws, chosen)
        return chosen


class PipsBot(ValueBot):
    """A greedy race: takes the play after which he leads most in pips, so hits count by what they cost.

    Most plays are equal in pips. Of equals he brings up the rear where nobody can be hit, else he leaves it
    where it is.
    """

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, "pips")
        self.tie = _TIE if variant.contact != "hit" else -_TIE

    def estimate(self, states: States) -> NDArray[np.float32]:
        """See `ValueBot.estimate`: the lead in pips, not calibrated in points."""
        values = np.empty(len(states), np.float32)
        race_values(states, self.tie, values)
        return values
