"""How a bot treats the cube and a resignation in `nardy play`: one simple rule for all bots.

The rule looks at what a bot expects to win of the present game, in points before the cube and without regard to
the cube and the score. A bot that gives chances of outcomes, as a trained policy does, says that itself. For other bots
it is taken from the race: a lead of a tenth of one's own pips counts half a point, at most one.

* It doubles from half a point to one: below it waits, above it plays on for a gammon. It does not turn a cube
  that already wins it the match.
* It takes down to minus half a point, where in the simplest case it wins one game in four. It never beavers.
* It accepts a resignation that offers at least what it expects.
"""

from __future__ import annotations

import numpy as np

from nardy_rl.agents import Bot, ValueBot
from nardy_rl.cube import GameState
from nardy_rl.position import Position

HALF = 0.5
_PER_LEAD = 5.0  # points for a lead as large as one's own pip count


def expected(bot: Bot, position: Position, player: int) -> float:
    """Points that a player may expect of a game that is not over, before the cube; of a throw, by the best play."""
    if isinstance(bot, ValueBot) and bot.meaning is not None:
        ahead = position.plays() if position.owes else [position]
        values = bot.values(np.stack([after.state for after in ahead]))
        best = max(v if after.player == position.player else -v for v, after in zip(values, ahead, strict=True))
        return float(best) if position.player == player else -float(best)
    pips = [sum(point * int(n) for point, n in enumerate(side)) for side in position.counts]
    lead = (pips[1 - player] - pips[player]) / max(1, pips[player])
    return max(-1.0, min(1.0, _PER_LEAD * lead))


def doubles(bot: Bot, game: GameState) -> bool:
    """Does the bot double, where it may."""
    needs = game.match.needs
    dead = needs is not None and game.stake >= needs[game.player]
    return not dead and HALF <= expected(bot, game.position, game.player) <= 1


def takes(bot: Bot, game: GameState) -> bool:
    """Does the bot take the double or the beaver that it has to answer."""
    return expected(bot, game.position, game.player) >= -HALF


def accepts(bot: Bot, game: GameState) -> bool:
    """Does the bot accept the resignation that it has to answer."""
    assert game.offer is not None
    return game.offer.level >= expected(bot, game.position, game.player)
