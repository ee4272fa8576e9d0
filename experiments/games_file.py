"""Games as text: a file with a line of JSON for each, to be read by people and programs and played again by the rules.

    {"game": 0, "variant": "hyper", "bots": ["pips", "random"], "start": "hyper 24:1 ... dice=31",
     "plays": ["31: 24/20", "52: 24/17", ...], "end": "hyper off:3 ... over=off", "points": [1, -1], "finished": true}

`game` is its number in the duel: 2i and 2i + 1 are a pair. `bots` and `points` are by player number. `start` and `end`
are positions (`nardy_rl/position.py`), the start with the opening throw made. Each play has its throw before it; a play
that goes on with a throw, as completions and progressions do, has none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

import numpy as np

from nardy_rl.agents.bot import States
from nardy_rl.errors import BadOption, BadPosition, IllegalPlay, NardyError
from nardy_rl.experiments.paired import Duellists, Played
from nardy_rl.position import Position
from nardy_rl.variant import Variant
from nardy_rl.variants import variant_text


@dataclass(frozen=True)
class SavedGame:
    """One game of a file; `where` names file and line."""

    game: int
    variant: str
    bots: tuple[str, str]
    start: str
    plays: tuple[str, ...]
    end: str
    points: tuple[int, int]
    finished: bool
    where: str

    def positions(self, variant: Variant | None = None) -> Iterator[Position]:
        """The game played again: the start, then the position after each throw and each play.

        variant: for a game from a user's own file, which its name cannot tell. Raises BadPosition or IllegalPlay, with
        file and line, where the rules do not allow what is written.
        """
        try:
            position = Position.from_text(self.start, variant)
            yield position
            for i, text in enumerate(self.plays):
                dice, colon, moves = text.partition(":")
                if not colon:
                    dice, moves = "", text
                if i and dice:
                    position = _thrown(position, dice)
                    yield position
                elif dice and position.dice != _dice(dice):
                    raise BadPosition(f"the first play is for {dice}, but {self.start!r} has other dice")
                position = position.after(moves.strip())
                yield position
            if position.text != self.end:
                raise BadPosition(f"the game ends in {position.text!r}, not in {self.end!r}")
            score = (position.score(0), position.score(1)) if position.over else (0, 0)
            if position.over != self.finished or score != self.points:
                raise BadPosition(f"the game came to {score}, not to {self.points}")
        except (BadPosition, IllegalPlay) as error:
            raise type(error)(f"{self.where}: {error}") from None


def _dice(text: str) -> tuple[int, ...]:
    if len(text) != 2 or not set(text) <= set("123456"):
        raise BadPosition(f"{text!r} is no throw: write the larger die first, as in 31")
    return int(text[0]), int(text[1])


def _thrown(position: Position, text: str) -> Position:
    if position.over or position.owes:
        raise BadPosition(f"{text} cannot be thrown in {position.text!r}")
    return position.throw(*_dice(text))


def read_games(path: str | Path) -> Iterator[SavedGame]:
    """The games of a file, in its order; raises BadPosition, with the line, for what is no saved game."""
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadPosition(f"cannot read the games in {str(path)!r}: {error}") from None
    for number, line in enumerate(lines, 1):
        where = f"{path}, line {number}"
        try:
            data = json.loads(line)
            yield SavedGame(
                game=int(data["game"]),
                variant=str(data["variant"]),
                bots=(str(data["bots"][0]), str(data["bots"][1])),
                start=str(data["start"]),
                plays=tuple(map(str, data["plays"])),
                end=str(data["end"]),
                points=(int(data["points"][0]), int(data["points"][1])),
                finished=bool(data["finished"]),
                where=where,
            )
        except (ValueError, KeyError, TypeError, IndexError) as error:
            if isinstance(error, NardyError):
                raise
            raise BadPosition(f"{where} is no saved game ({type(error).__name__}: {error})") from None


def _play_texts(variant: Variant, states: list[np.ndarray], afterstates: list[np.ndarray]) -> Iterator[str]:
    """`31: 8/5 6/5` for each play of a game."""
    last: np.ndarray | None = None
    for state, after in zip(states, afterstates, strict=True):
        before = Position._trusted(variant, state)
        moves = before.move_text(Position._trusted(variant, after))
        goes_on = last is not None and (last == state).all()
        yield moves if goes_on else f"{before.dice[0]}{before.dice[1]}: {moves}"
        last = after


def game_lines(duel: Duellists, played: Played) -> Iterator[str]:
    """The lines of the games of a batch whose plays were kept, in the order of their numbers."""
    numbers = np.concatenate([step.games for step in played.plays])
    order = np.argsort(numbers, kind="stable")
    states: States = np.concatenate([step.states for step in played.plays])[order]
    afterstates: States = np.concatenate([step.afterstates for step in played.plays])[order]
    ends = np.cumsum(np.bincount(numbers - played.first, minlength=len(played.points)))
    for i, (begin, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        game = played.first + i
        points = int(played.points[i]) * (-1 if game & 1 else 1)  # of player 0
        yield json.dumps(
            {
                "game": game,
                "variant": variant_text(duel.variant),
                "bots": [duel.b.name, duel.a.name] if game & 1 else [duel.a.name, duel.b.name],
                "start": Position._trusted(duel.variant, states[begin]).text,
                "plays": list(_play_texts(duel.variant, list(states[begin:end]), list(afterstates[begin:end]))),
                "end": Position._trusted(duel.variant, afterstates[end - 1]).text,
                "points": [points, -points],
                "finished": bool(played.finished[i]),
            },
            ensure_ascii=False,
        )


class GamesFile:
    """Writes games as they are finished, beside the file's place; moves it there at the end, and leaves nothing else.

    Raises BadOption if the file cannot be written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._beside = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        self._file: TextIO | None = None

    def __enter__(self) -> GamesFile:
        try:
            self._file = self._beside.open("w", encoding="utf-8")
        except OSError as error:
            raise BadOption(f"cannot write the games to {str(self.path)!r}: {error.strerror}") from None
        return self

    def write(self, lines: Iterable[str]) -> None:
        """Add games."""
        assert self._file is not None
        self._file.writelines(f"{line}\n" for line in lines)

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        assert self._file is not None
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        if kind is None:
            self._beside.replace(self.path)
        else:
            self._beside.unlink(missing_ok=True)
