"""Who plays the other seat of an environment: any object with `choose`, or a bot by its name.

This package may not import the bots (they stand above it), so a name is looked up through the entry point group
`nardy_rl.bot_loader`, whose entry `default` is `nardy_rl.agents:load_bot`.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.answers import ask
from nardy_rl.dice import next_random
from nardy_rl.envs.game import Game
from nardy_rl.errors import BadBot
from nardy_rl.jit import kernel
from nardy_rl.variant import Variant

LOADERS = "nardy_rl.bot_loader"


@kernel
def _draw(rng, draws):
    """Fresh random bits into draws uint64[1] from the stream rng uint64[1]."""
    draws[0] = next_random(rng)


def load(variant: Variant, name: str) -> Any:
    """The bot that a name means; raises BadBot if there is none, or if nothing is installed that knows bots."""
    found = {entry.name: entry for entry in entry_points(group=LOADERS)}
    if "default" not in found:
        raise BadBot(
            f"opponent={name!r}: no bots are installed (entry point {LOADERS!r}): install nardy-rl anew, or give an "
            "object with a method choose(position)"
        )
    return found["default"].load()(variant, name)


class Opponent:
    """Chooses the plays of the other seat.

    given: the name of a bot, or an object. An object with `pick`, such as a `nardy_rl.agents.Bot`, is given random bits
    that follow from the game's seed; of any other, `choose(position)` must answer a Position, an index into
    `position.plays()`, or move text. Raises BadBot for anything else.
    """

    def __init__(self, variant: Variant, given: Any) -> None:
        self.bot = load(variant, given) if isinstance(given, str) else given
        self.name = getattr(self.bot, "name", None) or type(self.bot).__name__
        if not callable(getattr(self.bot, "choose", None)):
            raise BadBot(f"opponent={given!r}: give a bot's name, or an object with a method choose(position)")
        made_for = getattr(self.bot, "variant", variant)
        if made_for != variant:
            raise BadBot(f"opponent={given!r} plays another game: load it for {variant.id} with the same options")
        self._draws = np.zeros(1, np.uint64)

    def play(self, game: Game, rng: NDArray[np.uint64]) -> int:
        """The number of its play in `game.plays`; rng: uint64[1], a random stream. Raises BadBot for a wrong answer."""
        if not hasattr(self.bot, "pick"):
            return ask(self.bot, self.name, game.position)
        _draw(rng, self._draws)
        first = np.array([0, game.n], np.int64)
        return int(self.bot.pick(game.state[None], game.plays, first, self._draws)[0])
