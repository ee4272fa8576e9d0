"""What a player observes: four kinds, always in the view of the player who has to act.

| kind | array |
|---|---|
| `packed` | uint32[16], the state itself (`nardy_rl/board.py`) |
| `board` | int8[125], every fact of the state as a number of its own: `BOARD` is the table |
| `features` | float32[221], the classical numbers of the position, and the turn: `FEATURES` is the table |
| `plays` | float32[bound, 221], the same of every afterstate, in their order; zeros beyond the last |

`packed` and `board` hold everything that can matter to later play. Within a play of the checker form the state is
the one after the moves made so far, with what is left of the stage in word OWED and the head count in word TURN;
its words 14 and 15, otherwise zero, are the masks of my bound checkers and of those among them that hide (rules
page, caucasian).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.board import (
    EXTRA,
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
    THEIR_PINS,
    THROWS,
    TURN,
    WORDS,
    copy_into,
    count,
    swap_view,
)
from nardy_rl.encoding import MAX_ACTIVE, plain_rows
from nardy_rl.envs.actions import afterstate_bound
from nardy_rl.errors import BadOption, did_you_mean
from nardy_rl.jit import inlined, inner, kernel
from nardy_rl.results import score_table
from nardy_rl.variant import Variant

KINDS = ("packed", "board", "features", "plays")
"""The kinds of observation, as the argument `observation` of every environment names them."""

BOUND, HIDDEN = 14, 15  # words of a state within a play of the checker form
MOST_THROWS = 127  # of which `board` tells the exact number


class Entry(NamedTuple):
    """Some successive numbers of an observation."""

    name: str
    size: int
    high: float  # the largest value; the smallest is 0 where `low` does not say otherwise
    meaning: str
    low: float = 0


TURN_ENTRIES = (
    Entry("dice", 2, 6, "the throw being played: larger die, smaller die; 0 before a throw"),
    Entry("stage", 1, 6, "of a double: the value that is being played"),
    Entry("moves", 1, 4, "checker moves left in the stage"),
    Entry("last", 1, 6, "of a double: the value of the throw's last stage"),
    Entry("owed", 2, 1, "of two different dice: is the larger, is the smaller still to be played"),
    Entry("throws", 2, MOST_THROWS, f"throws in this game: mine, theirs; {MOST_THROWS} stands for that many or more"),
    Entry("heads", 2, 15, "checkers taken off the head in the present allowance: mine, theirs"),
    Entry("thrower", 1, 1, "is it my throw that is being played"),
    Entry("starter", 1, 1, "did I start the game"),
    Entry("handed", 1, 1, "has part of the throw been handed over"),
    Entry("extra", 1, 1, "is it an extra throw"),
    Entry("grace", 1, 1, "is the stage the last one by the grace rule"),
    Entry("idle", 1, 3, "hand-overs in succession made by an empty play"),
    Entry(
        "bound",
        6,
        3,
        "my bound checkers on points 1..6, within a play of the checker form: 0 none, 1 bound, 3 and hiding",
    ),
)
"""What `board` and `features` have in common; `board` in whole numbers, `features` divided by the largest value."""

BOARD = (
    Entry("mine", 26, 15, "my checkers: off, on my points 1..24, on the bar"),
    Entry("theirs", 26, 15, "the opponent's checkers, in the opponent's own numbering"),
    Entry("my pins", 24, 1, "is a checker of mine pinned on my point 1..24"),
    Entry("their pins", 24, 1, "the same of the opponent, in the opponent's own numbering"),
    *TURN_ENTRIES,
    Entry("player", 1, 1, "my player number"),
    Entry(
        "outcome", 1, 35, "0 while the game goes on, else 1 + the outcome of nardy_rl/results.py, seen by the winner"
    ),
)
"""The numbers of a `board` observation, in their order."""

FEATURES = (
    Entry("plain", 196, 7.5, "side (mine, theirs) x [point 1..24 x (>=1, >=2, >=3, (n-3)/2), bar n/2, off n/15]"),
    *(entry._replace(high=1, meaning=f"{entry.meaning}; divided by {entry.high:g}") for entry in TURN_ENTRIES),
    Entry("acts", 1, 1, "have I to act next"),
    Entry("points", 1, 15, "of a finished game the points that I win by it, else 0", -15),
)
"""The numbers of a `features` observation, in their order."""

BOARD_SIZE = sum(entry.size for entry in BOARD)
FEATURES_SIZE = sum(entry.size for entry in FEATURES)
_TURN_AT_BOARD = 100
_TURN_AT_FEATURES = 196
_PLAIN_SCALE = [1, 1, 1, 1 / 2] * 24 + [1 / 2, 1 / 15]  # of a side: points 1..24, bar, off
_SCALE = np.array(
    [*_PLAIN_SCALE, *_PLAIN_SCALE, *(1 / entry.high for entry in TURN_ENTRIES for _ in range(entry.size))], np.float32
)


# ---------------------------------------------------------------------------------------------- kernels


@inlined
def _turn_into(row, out, at):
    """Write what TURN_ENTRIES says into out[at:]; returns the place after it."""
    turn, owed, throws = np.int64(row[TURN]), np.int64(row[OWED]), np.int64(row[THROWS])
    out[at] = owed & 7
    out[at + 1] = owed >> 3 & 7
    out[at + 2] = owed >> 6 & 7
    out[at + 3] = owed >> 9 & 7
    out[at + 4] = owed >> 12 & 7
    out[at + 5] = 1 if owed & LARGER_OWED else 0
    out[at + 6] = 1 if owed & SMALLER_OWED else 0
    out[at + 7] = min(throws & 0xFFFF, MOST_THROWS)
    out[at + 8] = min(throws >> 16, MOST_THROWS)
    out[at + 9] = turn >> HEAD_SHIFT & 15
    out[at + 10] = turn >> HEAD_SHIFT_THEIRS & 15
    out[at + 11] = 1 if (turn & PLAYER) == (turn >> 1 & 1) else 0
    out[at + 12] = 1 if (turn & PLAYER) == (turn >> 2 & 1) else 0
    out[at + 13] = 1 if turn & HANDED else 0
    out[at + 14] = 1 if turn & EXTRA else 0
    out[at + 15] = 1 if turn & GRACE else 0
    out[at + 16] = turn >> IDLE_SHIFT & 3
    bound, hidden = np.int64(row[BOUND]), np.int64(row[HIDDEN])
    for point in range(1, 7):
        out[at + 16 + point] = (bound >> point & 1) | (hidden >> point & 1) << 1
    return at + 23


@kernel
def board_into(row, out):
    """The `board` observation of a state uint32[16], into out int8[125]."""
    for point in range(26):
        out[point] = count(row, 0, point)
        out[26 + point] = count(row, 4, point)
    mine, theirs = np.int64(row[MY_PINS]), np.int64(row[THEIR_PINS])
    for point in range(1, 25):
        out[51 + point] = mine >> point & 1
        out[75 + point] = theirs >> point & 1
    at = _turn_into(row, out, _TURN_AT_BOARD)
    out[at] = np.int64(row[TURN]) & PLAYER
    out[at + 1] = np.int64(row[OUTCOME])


@kernel
def turn_round(row):
    """Turn a state uint32[16] round in place, into the view of the other player."""
    swap_view(row)


@kernel
def boards_into(rows, out):
    """`board_into` for many states: rows uint32[N, 16], out int8[N, 125]."""
    for i in range(len(rows)):
        board_into(rows[i], out[i])


@inner
def _features_of(points, scale, row, player, index, out):
    """The features of a state in the view of one player, into out float32[221]; the row may be turned round.

    points: see `score_table`; scale: `_SCALE`; index: int32[MAX_ACTIVE], working memory.
    """
    acts = (np.int64(row[TURN]) & PLAYER) == player
    if not acts:
        swap_view(row)
    for k in range(FEATURES_SIZE):
        out[k] = np.float32(0)
    n = plain_rows(row, 0, index, 0)
    n = plain_rows(row, 1, index, n)
    for k in range(n):
        out[index[k]] += np.float32(1)
    at = _turn_into(row, out, _TURN_AT_FEATURES)
    for k in range(len(scale)):
        out[k] *= scale[k]
    out[at] = np.float32(acts)
    if row[OUTCOME]:
        won = np.float32(points[np.int64(row[OUTCOME]) - 1])
        out[at + 1] = won if acts else -won


@kernel
def features_into(points, scale, rows, players, out):
    """The features of states uint32[N, 16], each in the view of a player int64[N], into out float32[N, 221].

    See `_features_of` for the other arguments.
    """
    index = np.empty(MAX_ACTIVE, np.int32)
    row = np.empty(WORDS, np.uint32)
    for i in range(len(rows)):
        copy_into(row, rows[i])
        _features_of(points, scale, row, players[i], index, out[i])


@kernel
def features_of_plays_into(points, scale, room, first, counts, players, out):
    """The features of afterstates room[first[i] : first[i] + counts[i]], of game i, into out float32[N, bound, 221].

    Each in the view of a player int64[N]; rows of `out` beyond them stay as they are. See `_features_of`.
    """
    index = np.empty(MAX_ACTIVE, np.int32)
    row = np.empty(WORDS, np.uint32)
    for i in range(len(out)):
        for k in range(min(counts[i], out.shape[1])):
            copy_into(row, room[first[i] + k])
            _features_of(points, scale, row, players[i], index, out[i, k])


# ---------------------------------------------------------------------------------------------- the face


class Observer:
    """Makes the observations of one kind for one game.

    Attributes: `kind`; `shape` and `dtype` of an observation; `low` and `high`, its least and greatest values, each one
    number or an array that fits the shape.
    """

    shape: tuple[int, ...]
    dtype: type[Any]
    low: Any = 0
    high: Any

    def __init__(self, variant: Variant, kind: str = "board") -> None:
        """Raises BadOption for an unknown kind."""
        if kind not in KINDS:
            raise BadOption(f"observation={kind!r}{did_you_mean(str(kind), KINDS)}: the kinds are {', '.join(KINDS)}")
        self.kind = kind
        self._points = score_table(variant)
        if kind == "packed":
            self.shape, self.dtype, self.high = (WORDS,), np.uint32, 0xFFFFFFFF
        elif kind == "board":
            self.shape, self.dtype = (BOARD_SIZE,), np.int8
            self.high = np.repeat([int(e.high) for e in BOARD], [e.size for e in BOARD]).astype(np.int8)
        else:
            rows = (afterstate_bound(variant),) if kind == "plays" else ()
            self.shape, self.dtype = (*rows, FEATURES_SIZE), np.float32
            sizes = [e.size for e in FEATURES]
            self.low = np.broadcast_to(np.repeat([e.low for e in FEATURES], sizes).astype(np.float32), self.shape)
            self.high = np.broadcast_to(np.repeat([e.high for e in FEATURES], sizes).astype(np.float32), self.shape)

    def of(self, state: NDArray[np.uint32], plays: NDArray[np.uint32], player: int | None = None) -> NDArray[Any]:
        """A new array: what a player observes of a state uint32[16]; plays: its afterstates uint32[n, 16].

        player: who observes, the player of the state unless given. The other sees no plays, and no bound checkers.
        """
        if player is not None and player != int(state[TURN]) & PLAYER:
            return self._of_other(state, np.int64(player))
        if self.kind == "packed":
            return state.copy()
        if self.kind == "board":
            board = np.empty(BOARD_SIZE, np.int8)
            board_into(state, board)
            return board
        acts = np.int64(state[TURN]) & PLAYER
        if self.kind == "features":
            return self._features(state[None], acts, np.empty((1, FEATURES_SIZE), np.float32))[0]
        return self._features(plays, acts, np.zeros(self.shape, np.float32))

    def _of_other(self, state: NDArray[np.uint32], player: np.int64) -> NDArray[Any]:
        row = state.copy()
        row[BOUND] = row[HIDDEN] = 0
        if self.kind == "plays":
            return np.zeros(self.shape, np.float32)
        if self.kind == "features":
            return self._features(row[None], player, np.empty((1, FEATURES_SIZE), np.float32))[0]
        turn_round(row)
        return self.of(row, row[None])

    def _features(self, rows: NDArray[np.uint32], player: np.int64, out: NDArray[np.float32]) -> NDArray[np.float32]:
        players = np.full(len(rows), player)
        features_into(self._points, _SCALE, rows, players, out)
        return out

    def of_games(
        self,
        states: NDArray[np.uint32],
        room: NDArray[np.uint32],
        first: NDArray[np.int64],
        counts: NDArray[np.int64],
    ) -> NDArray[Any]:
        """A new array: what the players observe who act in states uint32[N, 16]; `of` for many games at once.

        room: uint32[M, 16], where the afterstates of game i are room[first[i] : first[i] + counts[i]].
        """
        if self.kind == "packed":
            return states.copy()
        if self.kind == "board":
            boards = np.empty((len(states), BOARD_SIZE), np.int8)
            boards_into(states, boards)
            return boards
        players = (states[:, TURN] & np.uint32(PLAYER)).astype(np.int64)
        if self.kind == "features":
            features = np.empty((len(states), FEATURES_SIZE), np.float32)
            features_into(self._points, _SCALE, states, players, features)
            return features
        of_plays = np.zeros((len(states), *self.shape), np.float32)
        features_of_plays_into(self._points, _SCALE, room, first, counts, players, of_plays)
        return of_plays
