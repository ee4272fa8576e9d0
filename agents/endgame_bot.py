"""A value bot that knows endgames: `pretrained+bearoff` and the like."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, States, ValueBot
from nardy_rl.agents.endgame import mark_near, put_outputs, put_values
from nardy_rl.agents.endgame_tables import endgame_of
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.variants import variant_text


class EndgameBot(ValueBot):
    """Values positions as `inner` does, but by the tables of `endgame.py` where both sides are all home or off."""

    def __init__(self, inner: ValueBot, name: str) -> None:
        """Raises BadOption for a game that has no tables, with the reason; they are made here when they are missing."""
        super().__init__(inner.variant, name)
        self.inner = inner
        self.parallel, self.meaning = inner.parallel, inner.meaning
        self.endgame = endgame_of(inner.variant)

    def estimate(self, states: States) -> NDArray[np.float32]:
        """See `ValueBot.estimate`."""
        values = self.inner.estimate(states)
        put_values(self.endgame, np.ascontiguousarray(states, dtype=np.uint32), values)
        return values

    def evaluations(self, states: States) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """See `ValueBot.evaluations`."""
        outputs, values = self.inner.evaluations(states)
        rows = np.ascontiguousarray(states, dtype=np.uint32)
        put_values(self.endgame, rows, values)
        if outputs.shape[1]:
            put_outputs(self.endgame, rows, np.zeros(len(rows), np.bool_), outputs)
        return outputs, values

    def roll_values(self, states: States) -> NDArray[np.float32]:
        """See `ValueBot.roll_values`; of positions from which no play leads into the tables, in the inner bot's way."""
        near = np.zeros(len(states), np.bool_)
        mark_near(np.ascontiguousarray(states, dtype=np.uint32), near)
        if not near.any():
            return self.inner.roll_values(states)
        result = np.empty((len(states), 21), np.float32)
        result[near] = super().roll_values(states[near])
        if not near.all():
            result[~near] = self.inner.roll_values(states[~near])
        return result


def with_endgame(bot: Bot, name: str) -> EndgameBot:
    """The bot with the tables; raises BadBot where it has no values, or its game no tables."""
    if not isinstance(bot, ValueBot):
        raise BadBot(f"bot {name!r}: {bot.name} has no values for the tables to replace: name a policy, as pretrained")
    try:
        return EndgameBot(bot, name)
    except BadOption as error:
        raise BadBot(f"bot {name!r}: {error}; name {bot.name} alone for {variant_text(bot.variant)}") from None
