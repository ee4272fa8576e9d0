"""The line protocol: a bot as a program that other programs drive, a line at a time (docs/bots.md).

Every line that is not empty gets exactly one line in answer, its first word what it is: `error SENTENCE` for anything
that cannot be done, after which all is as before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import BinaryIO

from nardy_rl.agents import Bot, load_bot
from nardy_rl.cube import GameState
from nardy_rl.errors import BadOption, BadPosition, IllegalPlay, NardyError, did_you_mean
from nardy_rl.experiments.choices import chosen, cube_action, value_of
from nardy_rl.forms import read_state
from nardy_rl.ids import state_of
from nardy_rl.position import Position
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS, parse_variant

VERSION = 1
LONGEST = 4096  # bytes of a line that is read


class Session:
    """What has been said so far: the game, its bot and the present state. `answer` is one step of the protocol."""

    def __init__(self, bot: str) -> None:
        self.name = bot
        self.bots: dict[Variant, Bot] = {}
        self.game: GameState | None = None
        self.commands: dict[str, Callable[[str], str]] = {
            "nardy": self._nardy,
            "newgame": self._newgame,
            "position": self._position,
            "dice": self._dice,
            "go": self._go,
            "plays": self._plays,
            "play": self._play,
            "value": self._value,
            "cube": self._cube,
            "board": self._board,
            "help": self._help,
        }

    def answer(self, line: str) -> str:
        """The answer to one line, itself one line; a user's mistake is an `error`."""
        word, _, rest = line.strip().partition(" ")
        try:
            if word not in self.commands:
                near = did_you_mean(word, self.commands) or f"; there are {', '.join(self.commands)} and quit"
                raise BadOption(f"unknown command {word[:40]!r}{near}")
            return " ".join(self.commands[word](rest.strip()).split())
        except NardyError as error:
            return "error " + " ".join(str(error).split())

    # ------------------------------------------------------------------------------------ commands

    def _nardy(self, rest: str) -> str:
        return f"nardy protocol {VERSION} program nardy-rl {version('nardy-rl')} bot {self.name}"

    def _help(self, rest: str) -> str:
        return f"help {' '.join(self.commands)} quit"

    def _newgame(self, rest: str) -> str:
        found = re.fullmatch(r"(\S+)(?: ([01])(?: (\d{1,18}))?)?", rest)
        if found is None:
            raise BadOption(f"{rest[:60]!r} is no game, starter (0 or 1) and seed, as in  newgame backgammon 1 7")
        variant = parse_variant(self._in_table(found[1]))
        self._bot_for(variant)
        return self._now(state_of(Position.start(variant, int(found[2] or 0), int(found[3] or 0))))

    def _position(self, rest: str) -> str:
        if "|" in rest:
            name = self._in_table(rest.split()[0])
            own = {self.game.variant.id: self.game.variant} if self.game else {}  # one in no table says its id only
            game = GameState.from_text(rest, None if name in VARIANTS else own.get(name))
        else:
            game = read_state(self._state().variant, rest)[1]
        self._bot_for(game.variant)
        return self._now(game)

    def _dice(self, rest: str) -> str:
        if not re.fullmatch(r"[1-6][ -]?[1-6]", rest):
            raise BadOption(f"dice {rest[:40]!r} must be two numbers from 1 to 6, as in  dice 31")
        return self._now(self._state().throw(int(rest[0]), int(rest[-1])))

    def _go(self, rest: str) -> str:
        game = self._state()
        if "after" not in game.actions:
            raise IllegalPlay(f"there is nothing to play: give dice, or another position than {game.text}")
        after = chosen(self._bot(), game.position)
        return f"best {self._written(after, game.position.player)} {game.position.move_text(after)}"

    def _plays(self, rest: str) -> str:
        position = self._state().position
        return "plays " + "; ".join(position.move_text(after) for after in position.plays())

    def _play(self, rest: str) -> str:
        return self._now(self._state().after(rest))

    def _value(self, rest: str) -> str:
        position = self._state().position
        return f"value {self._written(position, position.player)}"

    def _cube(self, rest: str) -> str:
        return f"cube {cube_action(self._bot(), self._state())}"

    def _board(self, rest: str) -> str:
        return f"position {self._state().text}"

    # ------------------------------------------------------------------------------------ what they need

    def _in_table(self, name: str) -> str:
        """The name of a game, which may not be a file: whoever sends lines need not be who owns the files."""
        if name.partition(":")[0].endswith(".toml") or not name:
            raise BadOption(f"a game is named by its id, as in  newgame backgammon, not {name[:40]!r}")
        return name

    def _bot_for(self, game: Variant) -> Bot:
        if game not in self.bots:
            self.bots = {game: load_bot(game, self.name)}
        return self.bots[game]

    def _bot(self) -> Bot:
        return self._bot_for(self._state().variant)

    def _state(self) -> GameState:
        if self.game is None:
            raise BadPosition("there is no position yet: send  newgame backgammon  or  position TEXT")
        return self.game

    def _now(self, game: GameState) -> str:
        self.game = game
        return f"position {game.text}"

    def _written(self, position: Position, player: int) -> str:
        """What the bot says a position is worth to a player, in points; - if it has no values."""
        value = value_of(self._bot(), position, player)
        return "-" if value is None else f"{value:+.4f}"


def lines_of(stream: BinaryIO) -> Iterator[str | None]:
    """The lines of a stream, without their ends; None for one longer than LONGEST bytes, whose rest is skipped."""
    while line := stream.readline(LONGEST + 1):
        if len(line) <= LONGEST:
            yield line.decode("utf-8", "replace").strip()
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(LONGEST + 1)
        yield None


def serve_lines(bot: str, inputs: BinaryIO, outputs: BinaryIO) -> None:
    """Answer lines until `quit` or the end of the input."""
    session = Session(bot)
    for line in lines_of(inputs):
        if line == "":
            continue
        if line == "quit":
            outputs.write(b"bye\n")
            outputs.flush()
            return
        answer = f"error a line may have {LONGEST} bytes" if line is None else session.answer(line)
        outputs.write(answer.encode() + b"\n")
        outputs.flush()
