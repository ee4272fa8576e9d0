"""Match files (.mat, the text format that Jellyfish brought up), both ways: whole matches as lines of text.

     3 point match

     Game 1
     Ann : 0                        Bob : 0
      1) 31: 8/5 6/5                 62: 24/18 13/11
      2)  Doubles => 2                Takes
      ...
          Wins 2 points

Player 0 is on the left. Each line has an action of his and one of player 1's: a throw with its moves, or a cube
action. 25 is the bar, 0 is off, and each die is a move of its own. For money the length is 0. Lines that begin
with `;` hold tags. We write and read `Variant` (the game with its options, as `nardy` takes it), and what gnubg
reads: `Variation`, `Crawford`, `Jacoby`, `Beaver` and `CubeLimit`.

What the format does not have is not kept: a throw that is not played yet, a resignation that was refused, the
answer to a beaver (the next throw implies the take), and how a game that was resigned stood in dice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nardy_rl.board import BAR, OFF
from nardy_rl.cube import BEAVER, DOUBLE, GameState
from nardy_rl.errors import BadMatch, NardyError
from nardy_rl.match import Match
from nardy_rl.options import options_of, with_options
from nardy_rl.position import Position
from nardy_rl.results import score_levels
from nardy_rl.variant import BACKGAMMON_START, Variant
from nardy_rl.variants import parse_variant, variant_definition, variant_text


@dataclass(frozen=True)
class Record:
    """A match or session as it was played: for each game its states in order, the last game perhaps unfinished.

    A state follows the one before it by one action of `GameState`.
    """

    games: tuple[tuple[GameState, ...], ...]
    names: tuple[str, str] = ("Player 0", "Player 1")


def held(variant: Variant) -> Variant:
    """The variant, if match files can hold its games; raises BadMatch saying why not."""
    reason = None
    if variant.random_start or variant.start_other:
        reason = "its start is drawn anew for each game, and a match file has no place for it"
    elif variant.doubles != "plain" or variant.completion != "none" or variant.extra != "none":
        reason = "a match file has one play for each throw"
    if reason:
        raise BadMatch(f"a match file cannot hold games of {variant_text(variant)}: {reason}")
    return variant


# ------------------------------------------------------------------------------------------ writing

_LEFT, _RIGHT = 27, 33  # width of the left column; where the right one begins
_VARIATIONS = {  # gnubg's names of games, by start layout
    BACKGAMMON_START: "Backgammon",
    "24:2 23:2 13:4 8:3 6:4": "NackGammon",
    "24:1 23:1 22:1": "HyperGammon (3)",
}
_TAGS = {"crawford": "Crawford", "jacoby": "Jacoby", "beavers": "Beaver", "cube_cap": "CubeLimit"}


def match_text(record: Record) -> str:
    """The text of a match file; raises BadMatch for what the format cannot hold.

    A running match is written up to its last finished action.
    """
    if not record.games or not all(record.games):
        raise BadMatch("a match file needs a game, and each game a state")
    first = record.games[0][0].match
    variant = held(first.variant)
    for name in record.names:
        if name != " ".join(name.split()) or not name or len(name) > _LEFT or ":" in name:
            raise BadMatch(f"the name {name!r} cannot stand in a match file: 1 to {_LEFT} characters, no colon")
    lines = [*_tags(variant), "", f" {first.length} point match"]
    match: Match | None = first
    for number, states in enumerate(record.games, 1):
        if match is None or states[0].match != match:
            raise BadMatch(f"game {number} does not follow from the games before it")
        lines += ["", f" Game {number}", " " + _columns(*map(_score, record.names, match.score)), *_rows(states)]
        match = states[-1].next_match if states[-1].over else None
    return "\n".join(lines) + "\n"


def _score(name: str, points: int) -> str:
    return f"{name} : {points}"


def _columns(left: str, right: str) -> str:
    return f"{left:<{_LEFT + 3}} {right}".rstrip()


def _tags(variant: Variant) -> list[str]:
    tags = {"Variant": variant_definition(variant)}
    variation = _VARIATIONS.get(variant.start) if not variant.parallel and variant.contact == "hit" else None
    if variation:
        tags["Variation"] = variation
    options = options_of(variant)
    for option, tag in _TAGS.items():
        if option in options:
            value = options[option]
            tags[tag] = {True: "On", False: "Off"}[value] if isinstance(value, bool) else str(value)
    return [f'; [{tag} "{value}"]' for tag, value in tags.items()]


def _rows(states: Sequence[GameState]) -> Iterator[str]:
    """The numbered lines of a game, and who won it."""
    first = states[0].position
    start = Position.start(first.variant, first.starter)
    if (first.counts != start.counts).any() or sum(first.throws) != int(first.owes):
        raise BadMatch(f"a match file holds games from their start, and this one begins later: {states[0].text}")
    left, number = "", 0
    for player, action in _actions(states):
        if player == 0:
            left = action
            continue
        number += 1
        yield f"{number:3}) {left:<{_LEFT}} {action}".rstrip()
        left = ""
    result = states[-1].result
    wins = "" if result is None else " Draw" if result.winner is None else f" Wins {_points(result.points)}"
    if left and result is not None and result.how == "drop":
        left, wins = f"{left:<{_LEFT}} {wins}", ""
    if left:
        yield f"{number + 1:3}) {left}".rstrip()
    if wins and result is not None:
        yield f"{'':{_RIGHT if result.winner else 5}}{wins}"


def _points(number: int) -> str:
    return f"{number} point{'s' * (number != 1)}"


def _actions(states: Sequence[GameState]) -> Iterator[tuple[int, str]]:
    """Who did what between the states of a game, as a match file has it."""
    for before, after in pairwise(states):
        offer = after.offer
        if before.position != after.position:
            if before.position.owes:
                first, second = before.position.dice
                yield before.player, f"{first}{second}: {_steps(before.position.move_text(after.position))}"
        elif offer is not None and offer.kind in (DOUBLE, BEAVER):
            times, word = (2, "Doubles") if offer.kind == DOUBLE else (4, "Beavers")
            yield offer.player, f" {word} => {times * after.cube.value}"
        elif before.offer is not None and after.conceded is not None and after.conceded.how == "drop":
            yield before.player, " Drops"
        elif before.offer is not None and before.offer.kind == DOUBLE and offer is None:
            yield before.player, " Takes"


def _steps(moves: str) -> str:
    """`bar/22 13/7*/4(2)` as a match file has it: `25/22 13/7* 7/4 13/7 7/4`."""
    words = []
    for word in moves.split() if moves != "pass" else []:
        way, _, number = word.partition("(")
        places = way.replace("bar", str(BAR)).replace("off", str(OFF)).split("/")
        steps = [f"{start.rstrip('*^')}/{end}" for start, end in pairwise(places)]
        words += steps
        words += [step.rstrip("*^") for step in steps] * (int(number.rstrip(")") or 1) - 1)
    return " ".join(words)


# ------------------------------------------------------------------------------------------ reading

_LINE_LIMIT = 1000  # characters; no line of a match file comes near
_HEADER = re.compile(r'\s*;\s*\[\s*([^"\]]+?)\s*"([^"]*)"\s*\]?')
_LENGTH = re.compile(r"\s*(\d{1,5})\s+point\s+match\b.*", re.IGNORECASE)
_GAME = re.compile(r"\s*Game\s+(\d{1,5})\s*", re.IGNORECASE)
_SCORES = re.compile(r"\s*(\S.*?)\s*:\s*(\d{1,5})\s+(\S.*?)\s*:\s*(\d{1,5})\s*")
_ROW = re.compile(r"\s*\d{1,4}\)")
_ACTION = re.compile(
    r"(?P<dice>[1-6][1-6]):(?!\d)|\b(?P<answer>takes|drops|draw)\b"
    r"|\b(?P<raise>doubles|beavers|wins)\b(?:[ =>]{0,9}(?P<number>\d{1,6}))?",
    re.IGNORECASE,
)
_AFTER_WINS = re.compile(r"\s*points?(\s+and\s+the\s+match)?\.?\s*", re.IGNORECASE)
_CANNOT_MOVE = re.compile(r"\(?\s*(cannot\s+move|can't\s+move|no\s+move)\s*\)?\.?", re.IGNORECASE)


def read_match(text: str, variant: Variant | str | None = None) -> Record:
    """The match of a match file's text, replayed under our rules.

    variant: the game, where the file has no tag `Variant`. Tags for Crawford, Jacoby, beavers and the cube's
    limit set the options of that name. Raises BadMatch naming the line and what is wrong with it: an illegal
    play, a cube action that is not allowed, a score that does not follow.
    """
    reader = _Reader(parse_variant(variant) if isinstance(variant, str) else variant)
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if len(line) > _LINE_LIMIT:
                raise BadMatch(f"the line has {len(line)} characters, more than {_LINE_LIMIT}")
            reader.read(line.expandtabs())
        except NardyError as error:
            raise BadMatch(f"line {number}: {error}") from None
    return reader.record()


class _Reader:
    """Reads a match file line by line."""

    def __init__(self, variant: Variant | None) -> None:
        self.variant = variant
        self.tags: dict[str, str] = {}
        self.length: int | None = None
        self.names: tuple[str, str] | None = None
        self.match: Match | None = None  # before the game that is read, or between two games
        self.games: list[list[GameState]] = []
        self.number = 0  # of the game whose line of scores comes next; 0: none
        self.started = False  # has a game begun that is not over

    def read(self, line: str) -> None:
        """Read one line."""
        if not line.strip():
            return
        if line.lstrip().startswith(";"):
            tag = _HEADER.match(line)
            if tag:
                self.tags[tag[1].lower()] = tag[2]
        elif self.length is None:
            self._read_length(line)
        elif match := _GAME.fullmatch(line):
            self._begin_game(int(match[1]))
        elif self.number:
            self._read_scores(line)
        elif self.match is None:
            raise BadMatch(f"{line.strip()!r} is not 'Game 1'")
        else:
            self._read_row(line)

    def record(self) -> Record:
        """What was read; raises BadMatch for a file without a game."""
        if self.names is None:
            raise BadMatch(
                "this is no match file: it has no line such as '7 point match', 'Game 1' and 'Ann : 0  Bob : 0'"
            )
        return Record(tuple(tuple(states) for states in self.games), self.names)

    # ------------------------------------------------------------------------------------ before the plays

    def _read_length(self, line: str) -> None:
        match = _LENGTH.fullmatch(line)
        if match is None:
            raise BadMatch(f"{line.strip()[:60]!r} is not the length, as in '7 point match' (0 for money)")
        self.length = int(match[1])
        if "variant" in self.tags:
            said = parse_variant(self.tags["variant"])
            if self.variant is not None and self.variant != said:
                raise BadMatch(f"the file is of {variant_text(said)}, not of {variant_text(self.variant)}")
            self.variant = said
        if self.variant is None:
            raise BadMatch("the file does not name its game: say which it is, as in read_match(text, 'backgammon')")
        self.variant = held(_tagged(self.variant, self.tags))

    def _begin_game(self, number: int) -> None:
        if self.games and not self.games[-1][-1].over:
            raise BadMatch(f"game {number} begins, but the game before it is not over")
        self.number = number

    def _read_scores(self, line: str) -> None:
        match = _SCORES.fullmatch(line)
        if match is None:
            raise BadMatch(f"{line.strip()[:60]!r} is not the two names with their points, as in 'Ann : 0  Bob : 0'")
        names, score = (match[1], match[3]), (int(match[2]), int(match[4]))
        assert self.variant is not None and self.length is not None
        if self.match is None:
            self.names, self.match = names, Match(self.variant, self.length, score)
        else:
            self.match = self.games[-1][-1].next_match
        if self.match.over:
            raise BadMatch(f"game {self.number} begins, but the match is over at {self.match}")
        if self.match.score != score:
            raise BadMatch(f"the score is {score[0]}-{score[1]} here, but by the games before it is {self.match}")
        self.number, self.started = 0, False
        self.games.append([GameState(self.match, Position.start(self.variant))])

    # ------------------------------------------------------------------------------------ plays

    def _read_row(self, line: str) -> None:
        row = _ROW.match(line)
        begin = row.end() if row else 0
        found = list(_ACTION.finditer(line, begin))
        if not found or line[begin : found[0].start()].strip():
            raise BadMatch(f"{line[begin:].strip()[:60]!r} is neither a throw such as '31: 8/5 6/5' nor a cube action")
        ends = [action.start() for action in found[1:]] + [len(line)]
        for number, (action, end) in enumerate(zip(found, ends, strict=True)):
            player = number if len(found) > 1 else int(action.start() - begin > _LEFT // 2)
            if number > 1:
                raise BadMatch("more than two actions on one line")
            self._act(player, action, line[action.end() : end].strip())

    def _act(self, player: int, action: re.Match[str], rest: str) -> None:
        word = (action["answer"] or action["raise"] or "").lower()
        if word != "wins" and (_CANNOT_MOVE.fullmatch(rest) or not rest):
            rest = ""
        if word in ("wins", "draw"):
            self._end(None if word == "draw" else player, action["number"], rest)
        elif action["dice"]:
            self._throw(player, int(action["dice"][0]), int(action["dice"][1]), rest)
        elif rest:
            raise BadMatch(f"{rest[:60]!r} after {action[0]!r}")
        else:
            self._turn_cube(player, word, action["number"])

    @property
    def _now(self) -> GameState:
        return self.games[-1][-1]

    def _add(self, state: GameState) -> None:
        self.games[-1].append(state)

    def _check_turn(self, player: int) -> None:
        if self._now.over:
            raise BadMatch("the game is over already")
        if self._now.player != player and self._now.position.owes:
            raise BadMatch(f"player {self._now.player} has not played his throw, though he can")
        if self._now.player != player:
            raise BadMatch(f"an action of player {player}, but it is player {self._now.player}'s turn")

    def _throw(self, player: int, die1: int, die2: int, moves: str) -> None:
        if not self.started:
            variant = self._now.variant
            if variant.opening == "dice" and die1 == die2:
                raise BadMatch(f"{die1}{die2}: the opening dice of {variant.id} are never a double")
            self.games[-1] = [GameState(self._now.match, Position.start(variant, player))]
            self.started = True
        if self._now.offer is not None and self._now.offer.kind == BEAVER:
            self._check_turn(player)
            self._add(self._now.take())
        self._check_turn(player)
        self._add(self._now.throw(die1, die2))
        if moves or self._must_pass():
            self._add(self._now.after(moves or "pass"))

    def _must_pass(self) -> bool:
        position = self._now.position
        plays = position.plays()
        return len(plays) == 1 and position.move_text(plays[0]) == "pass"

    def _turn_cube(self, player: int, word: str, value: str | None) -> None:
        self._check_turn(player)
        state = self._now
        after = {"doubles": state.double, "beavers": state.beaver, "takes": state.take, "drops": state.drop}[word]()
        if value is not None and word in ("doubles", "beavers"):
            turned = state.cube.value * (2 if word == "doubles" else 4)
            if int(value) != turned:
                raise BadMatch(f"{word} to {value}, but from {state.cube.value} it is to {turned}")
        self._add(after)

    def _end(self, winner: int | None, number: str | None, rest: str) -> None:
        """The line that says who has won the game; a win that no play explains is a resignation."""
        if winner is not None and (number is None or not _AFTER_WINS.fullmatch(rest)):
            raise BadMatch("a win is written as 'Wins 2 points'")
        points = int(number or 0)
        if not self._now.over and winner is not None:
            self._resign(winner, points)
        result = self._now.result
        if result is None:
            raise BadMatch("a draw is written, but the game is not over")
        if (result.winner, result.points) != (winner, points):
            said = "a draw is" if winner is None else f"a win of {_points(points)} for player {winner} is"
            real = "nobody wins" if result.winner is None else f"player {result.winner} wins {_points(result.points)}"
            raise BadMatch(f"{said} written, but {real}{self._perhaps(result.points)}")

    def _perhaps(self, points: int) -> str:
        state = self._now
        jacoby = state.match.money and state.cube.value == 1 and state.variant.score == "bg" and points > 1
        return " (if Jacoby was played, read the file as of a variant with jacoby=true)" if jacoby else ""

    def _resign(self, winner: int, points: int) -> None:
        """The loser gave the game up: the format shows it by a win that no play explains."""
        state = self._now
        if not self.started:
            raise BadMatch("the game is won before it has begun")
        if state.offer is not None:
            raise BadMatch(f"the game is won, but the {state.offer.kind} is not answered")
        levels = [level for level in score_levels(state.variant) if state.points(level) == points]
        if not levels:
            raise BadMatch(f"a win of {_points(points)} with the cube at {state.cube.value}: no game is worth that")
        self._add(state.resign(levels[0], 1 - winner))
        self._add(self._now.accept())


def _tagged(variant: Variant, tags: dict[str, str]) -> Variant:
    """The variant with the options that a file's tags name, where the game has them."""
    wanted: dict[str, object] = {}
    for option, tag in _TAGS.items():
        value = tags.get(tag.lower())
        if value is None or option not in options_of(variant):
            continue
        if option == "cube_cap":
            if not value.isdecimal():
                raise BadMatch(f'{tag} "{value}" must be a number')
            wanted[option] = min(int(value), variant.cube_cap)
        else:
            if value.lower() not in ("on", "off"):
                raise BadMatch(f'{tag} "{value}" must be On or Off')
            wanted[option] = value.lower() == "on"
    changed = {name: value for name, value in wanted.items() if value != getattr(variant, name)}
    return with_options(variant, changed) if changed else variant
