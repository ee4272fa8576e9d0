"""Weaker players of all strengths: a bot with values that are blurred by noise, as `pretrained:club`.

To the value of every play the level adds a normal deviate of its own, drawn from the game's random bits, so that the
same seed gives the same games. Small errors are common and large ones rare, as with people. What each level loses by it
is measured (docs/bots.md).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, States, ValueBot, best_plays
from nardy_rl.board import OUTCOME
from nardy_rl.dice import next_random, uniform
from nardy_rl.errors import BadBot
from nardy_rl.jit import kernel

LEVELS = {"beginner": 0.08, "club": 0.03, "master": 0.01}
"""Levels, and the standard deviation of their noise as a share of the highest score of a game."""


@kernel
def blur(states, plays, first, draws, size, values):
    """Add noise of a standard deviation to the values float32[M] of plays, for each state's player; not to results.

    draws: uint64[N], random bits of each state, from which the deviates of its plays are drawn in their order.
    """
    rng = np.zeros(1, np.uint64)
    for i in range(len(states)):
        rng[0] = draws[i]
        next_random(rng)
        for j in range(first[i], first[i + 1]):
            radius = math.sqrt(-2.0 * math.log(1.0 - uniform(rng)))
            deviate = radius * math.cos(2.0 * math.pi * uniform(rng))
            if plays[j, OUTCOME] == 0:
                values[j] += np.float32(size * deviate)


class LevelBot(ValueBot):
    """Plays as `inner` would if its values were blurred by noise; `values` are those of `inner`."""

    def __init__(self, inner: ValueBot, size: float, name: str) -> None:
        """size: the noise's standard deviation in points."""
        super().__init__(inner.variant, name)
        self.inner, self.size = inner, size
        self.parallel, self.meaning = inner.parallel, inner.meaning

    def estimate(self, states: States) -> NDArray[np.float32]:
        """See `ValueBot.estimate`; without noise."""
        return self.inner.estimate(states)

    def evaluations(self, states: States) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """See `ValueBot.evaluations`; without noise."""
        return self.inner.evaluations(states)

    def roll_values(self, states: States) -> NDArray[np.float32]:
        """See `ValueBot.roll_values`; without noise."""
        return self.inner.roll_values(states)

    def pick(
        self, states: States, plays: States, first: NDArray[np.int64], draws: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Bot.pick`."""
        values = self.inner.values(plays).astype(np.float32)
        blur(states, plays, first, draws, self.size, values)
        chosen, best = np.empty(len(states), np.int64), np.empty(len(states), np.float32)
        best_plays(states, plays, first, values, chosen, best)
        return chosen


def at_level(bot: Bot, level: str, name: str) -> LevelBot:
    """The bot at a level; raises BadBot if it has one already, or no values that could be blurred."""
    if isinstance(bot, LevelBot):
        raise BadBot(f"bot {name!r}: {bot.name} has a level already: name one level")
    if not isinstance(bot, ValueBot):
        raise BadBot(f"bot {name!r}: {bot.name} has no values to blur: name a policy, as pretrained:{level}")
    return LevelBot(bot, LEVELS[level] * float(bot.table.max()), name)
