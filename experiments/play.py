"""A person against a bot in the terminal: a game, a game for money, or a match; also with its input piped in."""

from __future__ import annotations

import secrets
import sys
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np

from nardy_rl import dice
from nardy_rl.agents import ValueBot, doubling, load_bot
from nardy_rl.cube import DOUBLE, RESIGN, GameState
from nardy_rl.errors import BadOption, NardyError
from nardy_rl.experiments.rules_text import rules_text
from nardy_rl.experiments.screen import getting_ready, messages
from nardy_rl.match import Match
from nardy_rl.match_file import Record
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
  resign        gives the game up{resign}
  quit          leaves"""
RESIGN_HELP = "; resign 2 offers a double game, and so on"
CUBE_HELP = """
  throw         throws the dice (or just Enter), where you might double
  double        offers to double the stake
  take, drop    accepts a double, refuses it{beaver}"""
BEAVER_HELP = "\n  beaver        accepts, doubles again at once and keeps the cube"
LISTED, HINTS = 60, 5
_DICE_STREAM = 1  # number of the random stream of throws; openings are drawn from the other ones


class _Left(Exception):
    """The person left, or gave up a game that is played for nothing."""


@dataclass(frozen=True)
class Stakes:
    """What is played for: one game for nothing, one for money with the cube, or a match."""

    length: int | None = None  # None for nothing, 0 for money, else the match's length

    def match(self, variant: Variant) -> Match:
        """The match before its first game; raises BadOption for money without a cube."""
        if self.length == 0 and not variant.cube:
            raise BadOption(f"--money needs a game with a cube, and {variant_text(variant)} has none: take --match N")
        return Match(variant, self.length or 0, cube=None if self.length is not None else False)


def play_game(
    variant: Variant,
    bot_name: str | None,
    seed: int | None,
    seat: int,
    to_stderr: bool = False,
    stakes: Stakes = Stakes(),
) -> _Table:
    """Play; `seat` is the person's player number. Returns the table, which says what happened.

    Raises NardyError for a bot that does not exist. The end of the input leaves the game.
    """
    match = stakes.match(variant)
    with getting_ready(messages()):
        bot = load_bot(variant, bot_name) if bot_name else best_bot(variant)
        bot.choose(Position.opening(variant, seed=0))
    seed = secrets.randbelow(1_000_000) if seed is None else seed
    table = _Table(match, stakes.length is not None, bot, seed, seat, sys.stderr if to_stderr else sys.stdout)
    table.play()
    return table


def best_bot(variant: Variant) -> Any:
    """The best bot that comes with the package for a game, without search."""
    from nardy_rl.experiments.analyse import best_shipped

    return load_bot(variant, best_shipped(variant))


class _Table:
    """A person and a bot, playing a game or a match."""

    def __init__(self, match: Match, staked: bool, bot: Any, seed: int, seat: int, stream: TextIO) -> None:
        self.match, self.staked = match, staked
        self.bot, self.seed, self.seat, self.stream = bot, seed, seat, stream
        self.variant = match.variant
        self.rng = np.zeros(1, dtype=np.uint64)
        dice.stream(seed, _DICE_STREAM, self.rng)
        self.games: list[list[GameState]] = []
        self.plays: list[dict[str, Any]] = []
        self.resigned = False

    def show(self, text: str) -> None:
        """Print something for the person."""
        print(text, file=self.stream, flush=True)

    # ------------------------------------------------------------------------------------ the whole

    def play(self) -> None:
        """Play to the end, or until the person leaves."""
        mine, its = "OX"[self.seat], "XO"[self.seat]
        self.show(f"{self.variant.name}, seed {self.seed}: you are {mine}, the bot {self.bot.name} is {its}.")
        self.show(f"The numbers in the rows marked {mine} are yours. Type help for the commands.\n")
        try:
            while not self._finished:
                self._play_game()
        except _Left:
            return
        if self.match.length:
            ours, its_points = self._points
            self.show(f"You {'win' if ours > its_points else 'lose'} the match, {ours}-{its_points}.")

    @property
    def _finished(self) -> bool:
        return self.match.over if self.match.length else bool(self.games) and self._now.over

    @property
    def _points(self) -> tuple[int, int]:
        """The person's points in the match, and the bot's."""
        return self.match.score[self.seat], self.match.score[1 - self.seat]

    def report(self) -> dict[str, Any]:
        """What happened: score is the person's, null for a game or match that was left."""
        score: float | None = None
        if self._finished:
            score = float(self._points[0] - self._points[1])
        said = {
            "variant": variant_text(self.variant), "bot": self.bot.name, "seed": self.seed, "seat": self.seat,
            "finished": self._finished, "resigned": self.resigned, "score": score, "plays": self.plays,
        }  # fmt: skip
        if self.staked:
            results = [states[-1].result for states in self.games]
            said |= {
                "match": self.match.length,
                "points": self.match.score,
                "games": [result._asdict() for result in results if result is not None],
            }
        return said

    def record(self) -> Record:
        """The games as a match file holds them."""
        names = ("You", "Bot") if self.seat == 0 else ("Bot", "You")
        return Record(tuple(tuple(states) for states in self.games), names)

    # ------------------------------------------------------------------------------------ a game

    @property
    def _now(self) -> GameState:
        return self.games[-1][-1]

    def _go(self, state: GameState) -> None:
        self.games[-1].append(state)

    def _play_game(self) -> None:
        number = len(self.games)
        opening = Position.opening(self.variant, self.seed, number + (number >= _DICE_STREAM))
        self.games.append([GameState(self.match, opening)])
        if self.match.length:
            self.show(f"\nGame {number + 1}. {self._now.standing}")
        self.show(f"{'You begin' if opening.starter == self.seat else 'The bot begins'}.")
        while not self._now.over:
            self._step()
        self.match = self._now.next_match
        self._tell_result()

    def _tell_result(self) -> None:
        result = self._now.result
        assert result is not None
        if result.how == "play":
            self.show(self._now.position.picture())
        points = f"{result.points} point{'s' * (result.points != 1)}"
        self.show(
            "A draw." if not result.points else f"You {'win' if result.winner == self.seat else 'lose'} {points}."
        )

    def _step(self) -> None:
        game = self._now
        if game.offer is not None:
            self._go(self._person_answers() if game.player == self.seat else self._bot_answers())
        elif game.position.owes:
            self._play()
        elif DOUBLE in game.actions and self._doubles():
            self._note(DOUBLE, game.player)
            self._go(game.double())
        elif self._now is game:  # he may have resigned instead
            self._go(game.throw(*dice.roll(self.rng)))

    def _note(self, act: str, player: int, thrown: tuple[int, ...] = ()) -> None:
        self.plays.append({"game": len(self.games) - 1, "player": player, "dice": list(thrown), "play": act})

    # ------------------------------------------------------------------------------------ plays

    def _play(self) -> None:
        before = self._now.position
        mine = before.player == self.seat
        choices = before.plays()
        first, second = before.dice
        thrown = f"{'your' if before.thrower == self.seat else 'the bot’s'} {first}-{second}"
        if before.owed[0][0] != first or before.player != before.thrower:
            thrown += ", " + " and ".join(
                f"{moves} × {die}" for die, moves in before.owed[: 2 if first != second else 1]
            )
        if mine:
            self._show_board()
        if len(choices) == 1 and before.move_text(choices[0]).startswith("pass"):
            self.show(f"{thrown}: {'you' if mine else 'the bot'} cannot move.")
            after: Position | None = choices[0]
        elif mine:
            after = self._person_plays(before, choices, thrown)
        else:
            after = self.bot.choose(before)
            self.show(f"{thrown}: the bot plays {before.move_text(after)}")
        if after is not None:
            self._note(before.move_text(after), before.player, before.dice)
            self._go(self._now.after(after))

    def _person_plays(self, position: Position, choices: list[Position], thrown: str) -> Position | None:
        """The person's play, or None if he has resigned."""
        while True:
            line = self._line(f"{thrown}> ")
            word = line.lower()
            if word.split()[:1] == [RESIGN]:
                if self._resigns(word):
                    return None
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

    # ------------------------------------------------------------------------------------ the cube, and resigning

    def _doubles(self) -> bool:
        """Does the player who may double do so; a person may also resign instead of throwing."""
        game = self._now
        if game.player != self.seat:
            doubled = doubling.doubles(self.bot, game)
            if doubled:
                self.show(f"The bot doubles to {2 * game.stake}.")
            return doubled
        self._show_board()
        while True:
            word = self._line("throw or double> ").lower()
            if word in ("", "throw", "roll", "t", DOUBLE, "d"):
                return word in (DOUBLE, "d")
            if word.split()[:1] == [RESIGN]:
                if self._resigns(word):
                    return False
            else:
                self.show(f"{word!r} is not possible now: throw (or just Enter), double or resign.")

    def _person_answers(self) -> GameState:
        game = self._now
        self._show_board()
        actions = game.actions
        while True:
            word = self._line(f"{', '.join(actions[:-1])} or {actions[-1]}> ").lower()
            if word in actions:
                self._note(word, game.player)
                after: GameState = getattr(game, word)()
                return after
            if word:
                self.show(f"{word!r} is no answer to a double: {' or '.join(actions)}.")

    def _bot_answers(self) -> GameState:
        game = self._now
        assert game.offer is not None
        if game.offer.kind == RESIGN:
            accepted = doubling.accepts(self.bot, game)
            self.show("The bot accepts." if accepted else "The bot does not accept so little and plays on.")
            self.resigned = accepted
            return game.accept() if accepted else game.refuse()
        answer = doubling.answer_to_double(self.bot, game)
        self.show(f"The bot {answer}s.")
        self._note(answer, game.player)
        after: GameState = getattr(game, answer)()
        return after

    def _resigns(self, line: str) -> bool:
        """Offer what a line such as `resign 2` says; False if it says nothing that can be offered."""
        if not self.staked:
            self.resigned = True
            self.show("You resign.")
            raise _Left
        level = line.split()[1] if line != RESIGN else "1"
        try:
            if not level.isdecimal() or len(line.split()) > 2:
                raise BadOption("resign is followed by the points of the game before the cube, as in  resign 2")
            offered = self._now.resign(int(level), self.seat)
        except NardyError as error:
            self.show(f"{error}.")
            return False
        self._note(line, self.seat)
        self._go(offered)
        return True

    # ------------------------------------------------------------------------------------ the terminal

    def _show_board(self) -> None:
        self.show(f"\n{self._now.picture() if self.staked else self._now.position.picture()}")

    def _line(self, prompt: str) -> str:
        """The next line of the person's that is about the game; raises _Left when he leaves."""
        while True:
            try:
                line = self._read(prompt)
            except EOFError:
                self.show("\nThe input has ended; the game is left.")
                raise _Left from None
            word = line.lower()
            if word in ("quit", "exit", "q"):
                self.show("The game is left.")
                raise _Left
            if word == "rules":
                self.show(rules_text(self.variant))
            elif word == "help":
                self._help()
            elif word == "board":
                self._show_board()
            else:
                return line

    def _help(self) -> None:
        beaver = BEAVER_HELP if self.match.money and self.variant.beavers else ""
        cube = CUBE_HELP.format(beaver=beaver) if self.match.cube else ""
        self.show(HELP.format(resign=RESIGN_HELP if self.staked else "") + cube)

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
