"""A person against a bot in the terminal; also works with its input piped in."""

from __future__ import annotations

import secrets
import sys
from typing import Any, TextIO

import numpy as np

from nardy_rl import dice
from nardy_rl.agents import ValueBot, load_bot
from nardy_rl.errors import NardyError
from nardy_rl.experiments.rules_text import rules_text
from nardy_rl.experiments.screen import getting_ready, messages
from nardy_rl.position import Position
from nardy_rl.variant import Variant
from nardy_rl.variants import variant_text

HELP = """\
  24/18 13/11   a play: from/to for each move; a hit may be marked with *, bar and off are words
  3             the third play of the list
  ?             lists your plays
  hint          what the bot would play
  board         shows the board again
  rules         the rules of this game
  resign        gives the game up
  quit          leaves"""
LISTED, HINTS = 60, 5
_DICE_STREAM = 1  # number of the random stream of throws; the opening is drawn from stream 0


class _Left(Exception):
    """The person left or resigned."""


def play_game(
    variant: Variant, bot_name: str | None, seed: int | None, seat: int, to_stderr: bool = False
) -> dict[str, Any]:
    """Play one game; `seat` is the person's player number. Returns what happened, for JSON.

    Raises NardyError for a bot that does not exist. The end of the input leaves the game.
    """
    with getting_ready(messages()):
        bot = load_bot(variant, bot_name) if bot_name else best_bot(variant)
        bot.choose(Position.opening(variant, seed=0))
    seed = secrets.randbelow(1_000_000) if seed is None else seed
    table = _Table(variant, bot, seed, seat, sys.stderr if to_stderr else sys.stdout)
    table.play()
    return table.report()


def best_bot(variant: Variant) -> Any:
    """The strongest bot shipped for this game: a trained policy, else the hand-written one."""
    from nardy_rl.agents.policy import pretrained_path

    return load_bot(variant, "pretrained" if pretrained_path(variant) else "heuristic")


class _Table:
    """One game between a person and a bot."""

    def __init__(self, variant: Variant, bot: Any, seed: int, seat: int, stream: TextIO) -> None:
        self.variant, self.bot, self.seed, self.seat, self.stream = variant, bot, seed, seat, stream
        self.position = Position.opening(variant, seed)
        self.rng = np.zeros(1, dtype=np.uint64)
        dice.stream(seed, _DICE_STREAM, self.rng)
        self.plays: list[dict[str, Any]] = []
        self.resigned = False

    def show(self, text: str) -> None:
        """Print something for the person."""
        print(text, file=self.stream, flush=True)

    def play(self) -> None:
        """Play to the end, or until the person leaves."""
        mine, its = "OX"[self.seat], "XO"[self.seat]
        self.show(f"{self.variant.name}, seed {self.seed}: you are {mine}, the bot {self.bot.name} is {its}.")
        self.show(f"The numbers in the rows marked {mine} are yours. Type help for the commands.\n")
        self.show(f"{'You begin' if self.position.starter == self.seat else 'The bot begins'}.")
        try:
            while not self.position.over:
                self._step()
        except _Left:
            return
        score = self.position.score(self.seat)
        self.show(self.position.picture())
        points = f"{abs(score):g} point{'' if abs(score) == 1 else 's'}"
        self.show("A draw." if score == 0 else f"You {'win' if score > 0 else 'lose'} {points}.")

    def report(self) -> dict[str, Any]:
        """What happened: score is the person's, null for a game that was left."""
        over = self.position.over
        return {
            "variant": variant_text(self.variant), "bot": self.bot.name, "seed": self.seed, "seat": self.seat,
            "finished": over, "resigned": self.resigned,
            "score": self.position.score(self.seat) if over else None, "plays": self.plays,
        }  # fmt: skip

    def _step(self) -> None:
        if not self.position.owes:
            self.position = self.position.throw(*dice.roll(self.rng))
        before = self.position
        mine = before.player == self.seat
        choices = before.plays()
        first, second = before.dice
        thrown = f"{'your' if before.thrower == self.seat else 'the bot’s'} {first}-{second}"
        if before.owed[0][0] != first or before.player != before.thrower:
            thrown += ", " + " and ".join(
                f"{moves} × {die}" for die, moves in before.owed[: 2 if first != second else 1]
            )
        if mine:
            self.show(f"\n{before.picture()}")
        if len(choices) == 1 and not before.move_text(choices[0]).strip():
            after, text = choices[0], "(nothing)"
            self.show(f"{thrown}: {'you' if mine else 'the bot'} cannot move.")
        elif mine:
            after = self._ask(before, choices, thrown)
            text = before.move_text(after)
        else:
            after = self.bot.choose(before)
            text = before.move_text(after)
            self.show(f"{thrown}: the bot plays {text}")
        self.plays.append({"player": before.player, "dice": [first, second], "play": text})
        self.position = after

    def _ask(self, position: Position, choices: list[Position], thrown: str) -> Position:
        while True:
            try:
                line = self._read(f"{thrown}> ")
            except EOFError:
                self.show("\nThe input has ended; the game is left.")
                raise _Left from None
            word = line.lower()
            if word in ("quit", "exit", "q"):
                self.show("The game is left.")
                raise _Left
            if word == "resign":
                self.resigned = True
                self.show("You resign.")
                raise _Left
            if word == "rules":
                self.show(rules_text(self.variant))
            elif word == "help":
                self.show(HELP)
            elif word == "board":
                self.show(position.picture())
            elif word == "?":
                self._list(position, choices)
            elif word == "hint":
                self._hint(position, choices)
            elif word.isdecimal():
                if 1 <= int(word) <= len(choices):
                    return choices[int(word) - 1]
                self.show(f"There is no play {word}: ? lists {len(choices)}.")
            elif line:
                try:
                    return position.after(line)
                except NardyError as error:
                    self.show(f"{error}. Type ? for your plays.")

    def _read(self, prompt: str) -> str:
        """A line of the person's; raises EOFError at the end of the input."""
        if sys.stdin.isatty() and self.stream is sys.stdout:
            return input(prompt).strip()
        print(prompt, end="", file=self.stream, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        if not sys.stdin.isatty():
            self.show(line.rstrip())  # so that a record of the game can be read
        return line.strip()

    def _list(self, position: Position, choices: list[Position]) -> None:
        for number, after in enumerate(choices[:LISTED], 1):
            self.show(f"{number:5}  {position.move_text(after)}")
        if len(choices) > LISTED:
            self.show(f"       and {len(choices) - LISTED} more, by number or in the notation")

    def _hint(self, position: Position, choices: list[Position]) -> None:
        if not isinstance(self.bot, ValueBot):
            self.show(f"The bot would play {position.move_text(self.bot.choose(position))}")
            return
        values = self.bot.values(np.stack([after.state for after in choices]))
        mine = [v if after.player == position.player else -v for v, after in zip(values, choices, strict=True)]
        for i in np.argsort(mine, kind="stable")[::-1][:HINTS]:
            self.show(f"{mine[i]:+8.3f}  {position.move_text(choices[i])}")
