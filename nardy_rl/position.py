"""`Position`: one state of a game for people and scripts, immutable, with text, picture and plays.

The text of a position is one line:

    backgammon 24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0 throws=1,0 dice=31

The game (with its options), the layout of player 0, that of player 1, each in its owner's own numbering, and the
context. A layout lists POINT:NUMBER, the points 24..1, `bar` and `off`; `^` after it marks a pinned checker that
stands there. The context has, in this order and only where it differs from what is in brackets:

| word | meaning |
|---|---|
| `turn=P` | the player who acts; of a finished game the winner (always written) |
| `thrower=P` | whose throw is played [the player who acts] |
| `starter=P` | who started the game [0] |
| `throws=A,B` | throws that players 0 and 1 have made, the present one included [0,0] |
| `dice=31` | the present throw, the larger die first; absent before a throw |
| `owed=...` | what of it is still to be played: `owed=5` the five of a 5-3, `owed=3x2,4x4` two threes, then four fours [both dice; four moves of a double] |
| `head=A,B` | checkers that players 0 and 1 have taken off the head in the present allowance [0,0] |
| `handed` | part of this throw has been passed on |
| `idle=N` | hand-overs in succession made by an empty play [0] |
| `extra` | the present throw is an extra throw, or the coming one will be |
| `grace` | the present stage is the last one, by the grace rule |
| `over=HOW` | the game is over: `off` (all borne off), `hit`, `mother` or `draw` |
"""  # noqa: E501

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.board import (
    BAR,
    EXTRA,
    FAR_MASK,
    GRACE,
    HANDED,
    HEAD_SHIFT,
    HEAD_SHIFT_THEIRS,
    IDLE_SHIFT,
    LARGER_OWED,
    MY_PINS,
    OUTCOME,
    OWED,
    PLAYER,
    SMALLER_OWED,
    STARTER,
    THEIR_PINS,
    THROWER,
    THROWS,
    TURN,
    WORDS,
    pack,
    unpack,
)
from nardy_rl.dice import stream
from nardy_rl.errors import BadOption, BadPosition, IllegalPlay, UnknownVariant, did_you_mean
from nardy_rl.lockstep import own_scratch
from nardy_rl.plays import plays as stage_plays
from nardy_rl.results import DRAW, FAR, WON_BY_HIT, WON_BY_MOTHER, score_table
from nardy_rl.rules import Rules, rules_of
from nardy_rl.starts import Start, begin, start_of
from nardy_rl.turns import throw
from nardy_rl.variant import Variant, layout_text, parse_layout
from nardy_rl.variants import parse_variant, variant_definition, variant_text

State = NDArray[np.uint32]
Queue = tuple[tuple[int, int], ...]

_ENDINGS = {"off": -1, "hit": WON_BY_HIT, "mother": WON_BY_MOTHER, "draw": DRAW}


@lru_cache(maxsize=256)
def _kernel_view(variant: Variant) -> tuple[Rules, Start, NDArray[np.int8]]:
    return rules_of(variant), start_of(variant), score_table(variant)


# ------------------------------------------------------------------------------------------ words of a state


def crossed(point: int, parallel: bool) -> int:
    """A point 1..24 in the other side's numbering (rules page, section 1)."""
    if not parallel:
        return 25 - point
    return point - 12 if point > 12 else point + 12


def points_of(mask: int) -> tuple[int, ...]:
    """The points of a mask, ascending."""
    return tuple(d for d in range(26) if int(mask) >> d & 1)


def queue_of(owed: int) -> Queue:
    """What a state's word OWED says is still to be played, as (die, moves) in order; see `word_of_queue`."""
    larger, smaller = owed & 7, owed >> 3 & 7
    if larger != smaller:
        return tuple((die, 1) for die, bit in ((larger, LARGER_OWED), (smaller, SMALLER_OWED)) if owed & bit)
    if not owed:
        return ()
    value, last = owed >> 6 & 7, owed >> 12 & 7
    return ((value, owed >> 9 & 7), *((stage, 4) for stage in range(value + 1, last + 1)))


def word_of_queue(dice: tuple[int, ...], queue: Queue) -> int:
    """The word OWED of a throw and what is still owed of it; raises BadPosition if the two do not fit.

    dice: two numbers, the larger first, or () before a throw. queue: (die, moves) as in `queue_of`.
    """
    if not dice:
        if queue:
            raise BadPosition(f"{_owed_text(queue)} is owed although no dice are thrown")
        return 0
    if len(dice) != 2 or not all(1 <= die <= 6 for die in dice) or dice[0] < dice[1]:
        raise BadPosition(f"dice {'-'.join(map(str, dice))}: it takes two numbers from 1 to 6, the larger first")
    larger, smaller = dice
    if larger != smaller:
        if queue not in (((larger, 1), (smaller, 1)), ((larger, 1),), ((smaller, 1),)):
            raise BadPosition(f"{_owed_text(queue) or 'nothing'} cannot be owed of a throw of {larger}-{smaller}")
        bits = sum(LARGER_OWED if die == larger else SMALLER_OWED for die, _ in queue)
        return larger | smaller << 3 | len(queue) << 9 | bits
    if (
        not queue
        or not larger <= queue[0][0] <= 6
        or not 1 <= queue[0][1] <= 4
        or queue[1:] != tuple((queue[0][0] + i, 4) for i in range(1, len(queue)))
        or queue[-1][0] > 6
    ):
        raise BadPosition(
            f"{_owed_text(queue) or 'nothing'} cannot be owed of a throw of {larger}-{larger}: "
            "stages follow one another and all but the first owe four moves"
        )
    return larger | larger << 3 | queue[0][0] << 6 | queue[0][1] << 9 | queue[-1][0] << 12


def _owed_text(queue: Queue) -> str:
    """`5,3` or `3x2,4x4`: a queue as the text of a position has it."""
    return ",".join(str(die) if moves == 1 else f"{die}x{moves}" for die, moves in queue)


def _layouts(row: State) -> NDArray[np.int8]:
    """Counts int8[2, 26] of a state, axis 0: the player who acts, his opponent."""
    return unpack(np.stack([row[0:4], row[4:8]]))


def outcome_off(counts: NDArray[np.int8], loser: int) -> int:
    """The outcome code of a game in which the other side has borne off all (see `results.py`)."""
    side = counts[loser]
    far = any(side[d] for d in range(26) if FAR_MASK >> d & 1)
    return int(side[1:].sum()) | (FAR if far else 0)


def check_state(variant: Variant, row: State) -> None:
    """Raise BadPosition, with the reason in one sentence, if a state uint32[16] cannot stand in a game.

    What is examined: the number of checkers, who shares a point with whom, pins, the bar, the throw and what
    is owed of it, and whether context is given that the game does not have. Whether play can lead there is
    not.
    """
    if row.shape != (WORDS,) or row.dtype != np.uint32:
        raise BadPosition(f"a state must be uint32[{WORDS}], not {row.dtype}{list(row.shape)}")
    player = int(row[TURN]) & PLAYER
    counts = _layouts(row)
    _check_boards(variant, row, counts, player)
    _check_throw(variant, row)
    _check_context(variant, row)
    _check_ending(variant, row, counts)
    if any(int(word) >> 26 for word in row[:8]) or row[14] or row[15]:
        raise BadPosition("a state has bits set that mean nothing; make states with Position, not by hand")


def _check_boards(variant: Variant, row: State, counts: NDArray[np.int8], player: int) -> None:
    names = {0: player, 1: 1 - player}
    for side in (0, 1):
        total = int(counts[side].sum())
        if total != variant.checkers:
            raise BadPosition(
                f"player {names[side]} has {total} checkers; in {variant.id} a side has {variant.checkers}"
            )
        if counts[side, BAR] and variant.contact != "hit":
            raise BadPosition(f"player {names[side]} has a checker on the bar, but {variant.id} has no bar")
    pins = (int(row[MY_PINS]), int(row[THEIR_PINS]))
    shared = [d for d in range(1, 25) if counts[0, d] and counts[1, crossed(d, variant.parallel)]]
    for side in (0, 1):
        if pins[side] and variant.contact != "pin":
            raise BadPosition(f"a pinned checker is given, but {variant.id} knows no pins")
        for d in points_of(pins[side]):
            if not 1 <= d <= 24 or counts[side, d] != 1 or not counts[1 - side, crossed(d, variant.parallel)]:
                raise BadPosition(
                    f"player {names[side]} is pinned on {d}: it takes a lone checker and one of the other's"
                )
    for d in shared:
        other = crossed(d, variant.parallel)
        if not (pins[0] >> d ^ pins[1] >> other) & 1:
            both = "both are pinned" if pins[0] >> d & 1 else "neither is pinned"
            reason = both if variant.contact == "pin" else f"{variant.id} does not allow that"
            raise BadPosition(f"both players stand on player {names[0]}'s {d}, player {names[1]}'s {other}: {reason}")


def _check_throw(variant: Variant, row: State) -> None:
    word = int(row[OWED])
    if not word:
        return
    queue = queue_of(word)
    if word_of_queue((word & 7, word >> 3 & 7), queue) != word:
        raise BadPosition("what the throw owes contradicts itself; make states with Position, not by hand")
    if (word & 7) == (word >> 3 & 7) and variant.doubles != "progression":
        if len(queue) > 1 or queue[0][0] != word & 7:
            raise BadPosition(f"{_owed_text(queue)} is owed, but {variant.id} has no progressions")


def _check_context(variant: Variant, row: State) -> None:
    turn, owed = int(row[TURN]), int(row[OWED])
    idle = turn >> IDLE_SHIFT & 3
    heads = (turn >> HEAD_SHIFT & 15, turn >> HEAD_SHIFT_THEIRS & 15)
    completing = (turn & PLAYER) != turn >> 1 & 1
    if turn >> 16:
        raise BadPosition("a state has bits set that mean nothing; make states with Position, not by hand")
    for given, word, possible in (
        (completing, "thrower", variant.completion != "none"),
        (turn & HANDED, "handed", variant.completion != "none"),
        (idle, "idle", variant.completion == "ping-pong"),
        (turn & GRACE, "grace", variant.stop == "grace"),
        (any(heads), "head", variant.head in ("turn", "stage")),
        (turn & EXTRA, "extra", variant.extra != "none"),
    ):
        if given and not possible:
            raise BadPosition(f"{word!r} is given, but {variant_text(variant)} has nothing of the kind")
        if given and not owed and word != "extra":
            raise BadPosition(f"{word!r} is given, but no throw is being played")
    if completing and not turn & HANDED:
        raise BadPosition("thrower and player differ, but nothing is handed")
    if idle > 1:
        raise BadPosition(f"idle={idle}: after two empty hand-overs the throw is over")


def _check_ending(variant: Variant, row: State, counts: NDArray[np.int8]) -> None:
    turn = int(row[TURN])
    gone = [counts[side, 0] == variant.checkers for side in (0, 1)]
    starter_is_mine = (turn >> 2 & 1) == (turn & PLAYER)
    if not row[OUTCOME]:
        if gone[0] or (gone[1] and (not variant.last_throw or starter_is_mine)):
            raise BadPosition("all checkers of a player are off, but the game is not said to be over")
        return
    code = int(row[OUTCOME]) - 1
    if row[OWED] or turn & ~STARTER not in (0, PLAYER | THROWER):
        raise BadPosition("the game is over, but a turn is still being played")
    fits = {
        WON_BY_HIT: variant.hit_wins and counts[1, BAR] > 0,
        WON_BY_MOTHER: variant.mother,
        DRAW: variant.mother or (variant.last_throw and all(gone)),
    }
    if not fits.get(code, gone[0] and not gone[1] and code == outcome_off(counts, 1)):
        raise BadPosition(f"the game cannot be over in this way (outcome {code}) in {variant_text(variant)}")


# ------------------------------------------------------------------------------------------ the face


class Position:
    """One state of a game: what stands where, whose turn it is, and what the throw still owes. Immutable.

    `variant` is the game and `state` a read-only uint32[16] in the view of the player who acts next, as
    kernels take it (`nardy_rl/board.py`). Positions are equal when both agree. The constructor raises
    BadPosition for a state that cannot stand in a game; see `start`, `opening` and `from_text` for other ways
    to make one.
    """

    __slots__ = ("_plays", "state", "variant")
    variant: Variant
    state: State

    def __init__(self, variant: Variant | str, state: State) -> None:
        if isinstance(variant, str):
            variant = parse_variant(variant)
        row = np.array(state)
        check_state(variant, row)
        self._fill(variant, row)

    def _fill(self, variant: Variant, row: State) -> None:
        row.flags.writeable = False
        object.__setattr__(self, "variant", variant)
        object.__setattr__(self, "state", row)
        object.__setattr__(self, "_plays", None)

    @classmethod
    def _trusted(cls, variant: Variant, row: State) -> Position:
        """A position of a state that the engine made; the row becomes its own."""
        position = cls.__new__(cls)
        position._fill(variant, row)
        return position

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a position cannot be changed (tried to set {name!r}); make another one")

    def __reduce__(self) -> tuple[Any, ...]:
        return Position, (self.variant, np.array(self.state))

    def __copy__(self) -> Position:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Position:
        return self

    @classmethod
    def start(cls, variant: Variant | str, starter: int = 0, seed: int = 0) -> Position:
        """The start of a game before the first throw, `starter` (0 or 1) to throw.

        The seed matters only where the start is drawn: random layouts, and a coin for two different sides.
        """
        if isinstance(variant, str):
            variant = parse_variant(variant)
        if starter not in (0, 1):
            raise BadPosition(f"starter={starter}: the players are 0 and 1")
        row = np.array(cls.opening(variant, seed).state)
        drawn = int(row[TURN]) & PLAYER
        if drawn != starter and variant.sides == "coin":  # who has which side was drawn for the players
            row[0:4], row[4:8] = row[4:8].copy(), row[0:4].copy()
        row[8:] = 0
        row[TURN] = starter * (PLAYER | THROWER | STARTER)
        return cls._trusted(variant, row)

    @classmethod
    def opening(cls, variant: Variant | str, seed: int, game: int = 0) -> Position:
        """Game number `game` of a seed: start and starter are drawn and his first throw is made."""
        if isinstance(variant, str):
            variant = parse_variant(variant)
        if not (0 <= seed < 1 << 63 and 0 <= game < 1 << 63):
            raise BadPosition(f"seed={seed}, game={game}: both must be from 0 to 2^63 - 1")
        rules, start, _ = _kernel_view(variant)
        rng, row = np.zeros(1, np.uint64), np.zeros(WORDS, np.uint32)
        stream(np.uint64(seed), np.uint64(game), rng)
        begin(rules, start, rng, row)
        return cls._trusted(variant, row)

    @classmethod
    def from_text(cls, text: str, variant: Variant | None = None) -> Position:
        """The position that a text describes (see above); raises BadPosition saying what is wrong.

        variant: needed for a game that is not in the table; its id must be the first word of the text.
        """
        return _parse(text, variant)

    # ------------------------------------------------------------------------------------ what is where

    @property
    def text(self) -> str:
        """The position on one line; `Position.from_text` reads it back."""
        return _write(self)

    def __repr__(self) -> str:
        return f"Position({self.text!r})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self.variant == other.variant and self.state.tobytes() == other.state.tobytes()

    def __hash__(self) -> int:
        return hash((self.variant, self.state.tobytes()))

    @property
    def player(self) -> int:
        """Who acts next, 0 or 1; of a finished game the winner."""
        return int(self.state[TURN]) & PLAYER

    @property
    def thrower(self) -> int:
        """Whose throw is being played; differs from `player` while he completes it for the other."""
        return int(self.state[TURN]) >> 1 & 1

    @property
    def starter(self) -> int:
        """Who started the game."""
        return int(self.state[TURN]) >> 2 & 1

    @property
    def dice(self) -> tuple[int, ...]:
        """The present throw, the larger die first; () before a throw."""
        owed = int(self.state[OWED])
        return (owed & 7, owed >> 3 & 7) if owed else ()

    @property
    def owes(self) -> bool:
        """Is something of a throw to be played now; else the player throws, or the game is over."""
        return bool(self.state[OWED])

    @property
    def owed(self) -> Queue:
        """What is still to be played of the throw, as (die, moves); for a double one entry per stage."""
        return queue_of(int(self.state[OWED]))

    @property
    def over(self) -> bool:
        """Has the game ended."""
        return bool(self.state[OUTCOME])

    def score(self, player: int) -> float:
        """Points that a player wins by this finished game (negative: loses), before any cube."""
        if player not in (0, 1):
            raise BadPosition(f"player {player}: the players are 0 and 1")
        if not self.over:
            raise BadPosition(f"the game is not over, so nobody has a score yet: {self.text}")
        points = float(_kernel_view(self.variant)[2][int(self.state[OUTCOME]) - 1])
        return points if player == self.player or not points else -points

    @property
    def counts(self) -> NDArray[np.int8]:
        """Checkers int8[2, 26] by player number, each in his own numbering: 0 off, 1..24 points, 25 bar."""
        sides = _layouts(self.state)
        return sides if self.player == 0 else sides[::-1].copy()

    @property
    def pins(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """For each player the points, in his own numbering, of his pinned checkers."""
        mine, theirs = points_of(int(self.state[MY_PINS])), points_of(int(self.state[THEIR_PINS]))
        return (mine, theirs) if self.player == 0 else (theirs, mine)

    @property
    def throws(self) -> tuple[int, int]:
        """How many throws each player has made in this game, the present one included."""
        word = int(self.state[THROWS])
        return self._by_player(word & 0xFFFF, word >> 16)

    @property
    def heads(self) -> tuple[int, int]:
        """Checkers that each player has taken off his head in the present allowance."""
        turn = int(self.state[TURN])
        return self._by_player(turn >> HEAD_SHIFT & 15, turn >> HEAD_SHIFT_THEIRS & 15)

    def _by_player(self, mine: int, theirs: int) -> tuple[int, int]:
        return (mine, theirs) if self.player == 0 else (theirs, mine)

    def picture(self) -> str:
        """The board as text, from player 0's side; see `nardy_rl/picture.py`."""
        from nardy_rl.picture import picture

        return picture(self)

    # ------------------------------------------------------------------------------------ how it goes on

    def throw(self, die1: int, die2: int) -> Position:
        """The position after the player has thrown these dice; raises IllegalPlay if he may not throw."""
        if self.over:
            raise IllegalPlay(f"the game is over, nobody throws any more: {self.text}")
        if self.owes:
            raise IllegalPlay(f"player {self.player} still has to play {_owed_text(self.owed)}: {self.text}")
        if not all(isinstance(die, int | np.integer) and 1 <= die <= 6 for die in (die1, die2)):
            raise IllegalPlay(f"a throw of {die1} and {die2}: a die shows a whole number from 1 to 6")
        row = np.array(self.state)
        throw(_kernel_view(self.variant)[0], row, int(die1), int(die2))
        return Position._trusted(self.variant, row)

    def plays(self) -> list[Position]:
        """The positions after each legal play of the present stage, at least one (the pass).

        Raises IllegalPlay if there is nothing to play: a throw is missing, or the game is over.
        """
        found = self._plays
        if found is None:
            found = self._find_plays()
            object.__setattr__(self, "_plays", found)
        return list(found)

    _plays: tuple[Position, ...] | None

    def _find_plays(self) -> tuple[Position, ...]:
        if self.over:
            raise IllegalPlay(f"the game is over, nobody plays any more: {self.text}")
        if not self.owes:
            raise IllegalPlay(f"player {self.player} has to throw before he can play: {self.text}")
        scr = own_scratch()
        n = stage_plays(_kernel_view(self.variant)[0], np.array(self.state), scr)
        return tuple(Position._trusted(self.variant, scr.plays[i].copy()) for i in range(n))

    def move_text(self, after: Position) -> str:
        """The moves of the play that leads to `after`, as `24/18/13*`; raises IllegalPlay if none does."""
        from nardy_rl.notation import move_text

        return move_text(self, after)

    def after(self, moves: str) -> Position:
        """The position after a play written like `24/18 13/11`; raises IllegalPlay with the reason."""
        from nardy_rl.notation import find_play

        return find_play(self, moves)


# ------------------------------------------------------------------------------------------ text


def _layout_words(counts: NDArray[np.int8], pins: tuple[int, ...]) -> str:
    words = layout_text(tuple(int(c) for c in counts)).split()
    return " ".join(word + "^" * (word.partition(":")[0] in map(str, pins)) for word in words)


def _write(p: Position) -> str:
    turn = int(p.state[TURN])
    words = [f"turn={p.player}"]
    if p.thrower != p.player:
        words.append(f"thrower={p.thrower}")
    if p.starter:
        words.append(f"starter={p.starter}")
    if any(p.throws):
        words.append(f"throws={p.throws[0]},{p.throws[1]}")
    if p.dice:
        words.append(f"dice={p.dice[0]}{p.dice[1]}")
        if p.owed != _whole_throw(p.dice):
            words.append(f"owed={_owed_text(p.owed)}")
    if any(p.heads):
        words.append(f"head={p.heads[0]},{p.heads[1]}")
    if turn & HANDED:
        words.append("handed")
    if turn >> IDLE_SHIFT & 3:
        words.append(f"idle={turn >> IDLE_SHIFT & 3}")
    words += [name for name, bit in (("extra", EXTRA), ("grace", GRACE)) if turn & bit]
    if p.over:
        code = int(p.state[OUTCOME]) - 1
        words.append("over=" + next((name for name, c in _ENDINGS.items() if c == code), "off"))
    sides = [_layout_words(p.counts[player], p.pins[player]) for player in (0, 1)]
    return f"{variant_text(p.variant)} {sides[0]} | {sides[1]} | {' '.join(words)}"


def _whole_throw(dice: tuple[int, ...]) -> Queue:
    """What a plain throw owes: what the text of a position leaves out."""
    return ((dice[0], 4),) if dice[0] == dice[1] else ((dice[0], 1), (dice[1], 1))


_PAIR = (r"(\d{1,5}),(\d{1,5})", "two numbers, as in 3,2")
_SIDE = (r"([01])", "0 or 1")
_WORDS = {
    "turn": _SIDE,
    "thrower": _SIDE,
    "starter": _SIDE,
    "throws": _PAIR,
    "dice": (r"([1-6])([1-6])", "two digits from 1 to 6, as in 31"),
    "owed": (r"([1-6](?:x[1-4])?(?:,[1-6](?:x[1-4])?)*)", "such as 5 or 3x2,4x4"),
    "head": (r"(\d{1,2}),(\d{1,2})", "two numbers, as in 1,0"),
    "handed": (r"()", ""),
    "idle": (r"(\d)", "a digit"),
    "extra": (r"()", ""),
    "grace": (r"()", ""),
    "over": (rf"({'|'.join(_ENDINGS)})", "one of " + ", ".join(_ENDINGS)),
}


Words = dict[str, tuple[str, str]]
"""Words that a text may have: the form of the value, and what is needed in words; a word without is alone."""


def read_words(text: str, line: str, known: Words) -> dict[str, tuple[str, ...]]:
    """The words NAME or NAME=VALUE of a text, each with its parts; BadPosition, naming the line, for others."""
    found: dict[str, tuple[str, ...]] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if name not in known:
            raise BadPosition(f"unknown word {word!r}{did_you_mean(name, known)} in position {line!r}")
        pattern, wanted = known[name]
        match = re.fullmatch(pattern, value)
        if match is None or bool(equals) is not bool(wanted):
            form = f"{name}= needs {wanted}" if wanted else f"{name!r} stands alone"
            raise BadPosition(f"{word!r}: {form}, in position {line!r}")
        if name in found:
            raise BadPosition(f"{name!r} is given twice in position {line!r}")
        found[name] = match.groups()
    return found


def _context(text: str, line: str) -> dict[str, tuple[str, ...]]:
    """The words of a position's context, each with its parts."""
    found = read_words(text, line, _WORDS)
    if "turn" not in found:
        raise BadPosition(f"turn=0 or turn=1 is missing in position {line!r}")
    return found


def _side(text: str, line: str) -> tuple[NDArray[np.int64], int]:
    """Counts int64[26] and the mask of pinned checkers of a layout in a position's text."""
    words, pins = [], 0
    for word in text.split():
        bare = word.removesuffix("^")
        point = bare.partition(":")[0]
        if bare != word:
            if not point.isdecimal() or not 1 <= int(point) <= 24:
                raise BadPosition(f"{word!r}: only a checker on a point can be pinned, in position {line!r}")
            pins |= 1 << int(point)
        words.append(bare)
    try:
        return np.array(parse_layout(" ".join(words)), dtype=np.int64), pins
    except BadOption as error:
        raise BadPosition(f"{error}, in position {line!r}") from None


def _parse(text: str, variant: Variant | None) -> Position:
    if not isinstance(text, str):
        raise BadPosition(f"a position is read from a text, not from {type(text).__name__}")
    line = " ".join(text.split())
    parts = line.split("|")
    name, _, first = parts[0].strip().partition(" ")
    if len(parts) != 3 or not first:
        raise BadPosition(
            f"position {line!r} is not GAME LAYOUT | LAYOUT | CONTEXT, as in {Position.start('hyper').text!r}"
        )
    if variant is None:
        try:
            if name.endswith(".toml"):
                raise UnknownVariant(f"a position names its game, not the file {name!r}")
            variant = parse_variant(name)
        except (UnknownVariant, BadOption) as error:
            raise BadPosition(f"{error}, in position {line!r}") from None
    elif name not in (variant_text(variant), variant_definition(variant)):
        raise BadPosition(f"position {line!r} is one of {name!r}, not of {variant_text(variant)!r}")
    sides = [_side(first, line), _side(parts[1], line)]
    context = _context(parts[2], line)
    try:
        row = _row(sides, context)
        check_state(variant, row)
    except BadPosition as error:
        raise BadPosition(f"{error}, in position {line!r}") from None
    return Position._trusted(variant, row)


def _queue(text: str) -> Queue:
    return tuple((int(word[0]), int(word[2:] or 1)) for word in text.split(","))


def _row(sides: list[tuple[NDArray[np.int64], int]], context: dict[str, tuple[str, ...]]) -> State:
    """The state of two sides, by player number, and a context."""
    player = int(context["turn"][0])
    thrower = int(context.get("thrower", context["turn"])[0])
    row = np.zeros(WORDS, np.uint32)
    for i, side in enumerate((player, 1 - player)):
        counts, pins = sides[side]
        row[4 * i : 4 * i + 4] = pack(counts)
        row[MY_PINS + i] = pins
    heads = [int(n) for n in context.get("head", ("0", "0"))]
    throws = [int(n) for n in context.get("throws", ("0", "0"))]
    if max(heads) > 15 or max(throws) > 0xFFFF:
        raise BadPosition(f"head={heads[0]},{heads[1]} throws={throws[0]},{throws[1]}: too many to be kept")
    flags = sum(bit for name, bit in (("handed", HANDED), ("extra", EXTRA), ("grace", GRACE)) if name in context)
    idle = int(context.get("idle", ("0",))[0])
    if idle > 3:
        raise BadPosition(f"idle={idle}: after two empty hand-overs the throw is over")
    row[TURN] = (
        player
        | thrower << 1
        | int(context.get("starter", ("0",))[0]) << 2
        | flags
        | idle << IDLE_SHIFT
        | heads[player] << HEAD_SHIFT
        | heads[1 - player] << HEAD_SHIFT_THEIRS
    )
    row[THROWS] = throws[player] | throws[1 - player] << 16
    dice = tuple(int(die) for die in context.get("dice", ()))
    queue = _queue(context["owed"][0]) if "owed" in context else _whole_throw(dice) if dice else ()
    row[OWED] = word_of_queue(dice, queue)
    if "over" in context:
        code = _ENDINGS[context["over"][0]]
        row[OUTCOME] = 1 + (outcome_off(_layouts(row), 1) if code < 0 else code)
    return row
