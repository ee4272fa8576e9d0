"""What a bot does with a whole state, for the protocols that serve one: its play, what it thinks of it, the cube."""

from __future__ import annotations

import numpy as np

from nardy_rl.agents import Bot, ValueBot
from nardy_rl.agents.doubling import accepts, answer_to_double, doubles
from nardy_rl.cube import RESIGN, GameState
from nardy_rl.errors import IllegalPlay
from nardy_rl.position import Position


def chosen(bot: Bot, position: Position) -> Position:
    """The position after the bot's play; where there is only one, the bot is not asked."""
    plays = position.plays()
    return plays[0] if len(plays) == 1 else bot.choose(position)


def value_of(bot: Bot, position: Position, player: int) -> float | None:
    """Points that a player may expect by the bot's values; of a throw, by the best play. None if it has no values."""
    if not isinstance(bot, ValueBot):
        return None
    ahead = position.plays() if position.owes else [position]
    values = bot.values(np.stack([after.state for after in ahead]))
    mine = [float(v) if after.player == position.player else -float(v) for v, after in zip(values, ahead, strict=True)]
    return max(mine) if position.player == player else -max(mine)


def cube_action(bot: Bot, game: GameState) -> str:
    """What the bot does where it has to decide on the cube: a method of `GameState`, by its name.

    `throw` or `double` before a throw, `take`, `drop` or `beaver` of an offer, `accept` or `refuse` of a resignation.
    Raises IllegalPlay where there is nothing of the kind to decide.
    """
    if game.offer is not None:
        if game.offer.kind == RESIGN:
            return "accept" if accepts(bot, game) else "refuse"
        return answer_to_double(bot, game)
    if "throw" not in game.actions:
        raise IllegalPlay(f"there is no decision on the cube to take in {game.text}")
    return "double" if "double" in game.actions and doubles(bot, game) else "throw"
