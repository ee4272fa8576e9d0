"""Many positions at once, as arrays: the public face of the engine for research, without Position objects.

    states = starts("backgammon", 1000, seed=1)          # uint32[1000, 16], the opening dice thrown
    after, first = plays("backgammon", states)           # every legal play of every state
    after[first[i] : first[i + 1]]                       # ... of states[i]
    states = throw("backgammon", after[first[:-1]], rolls(dice))

A state is sixteen 32-bit words (`nardy_rl/board.py`), always in the view of the player who acts next. The words
are opaque: make states with `starts`, `throw` and `plays` here, or with `Position`, and look into them with the
functions below. Shape, type and dice are checked, and whether a state can be played; its words are not.

| function | gives |
|---|---|
| `starts` | the openings of games of a seed |
| `streams`, `rolls` | random streams, one a game; two dice from each |
| `throw` | states with the dice thrown |
| `plays` | every legal play of every state |
| `owing`, `over`, `acting` | is there something to play, is the game over, who acts next |
| `outcomes`, `scores` | how finished games ended, and what each player wins |
| `unpack` | checkers and pins |
| `inputs`, `encode`, `encode_sparse` | the table of a net's inputs; the inputs of states, dense or as lists |
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_rl import encoding
from nardy_rl.board import MY_PINS, OUTCOME, OWED, PLAYER, THEIR_PINS, TURN, WORDS
from nardy_rl.board import unpack as counts_of
from nardy_rl.errors import BadOption, BadPosition
from nardy_rl.lockstep import States as States
from nardy_rl.lockstep import begin_all, own_scratch, plays_into, roll_all, stream_all, throw_all
from nardy_rl.plays import MAX_PLAYS
from nardy_rl.results import score_table
from nardy_rl.rules import rules_of
from nardy_rl.starts import start_of
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant

_A_GUESS = 24  # plays of a position, on average, with a margin
_DICE = 0x64696365  # the dice of `streams` are others than those that `starts` draws with, under the same seed


# ---------------------------------------------------------------------------------------------- what is checked


def _game(variant: Variant | str) -> Variant:
    return parse_variant(variant) if isinstance(variant, str) else variant


def _number(name: str, value: int, least: int = 0, below: int = 1 << 63) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value < below:
        raise BadOption(f"{name}={value!r} must be a whole number from {least} to {below - 1}")
    return int(value)


def checked_states(states: ArrayLike) -> States:
    """The states as a contiguous uint32[N, 16]; raises BadPosition for any other shape or type."""
    array = np.asarray(states)
    if array.dtype != np.uint32 or array.ndim != 2 or array.shape[1] != WORDS:
        raise BadPosition(
            f"states must be uint32[N, {WORDS}], not {array.dtype}{list(array.shape)}; "
            "Position.state is one row of them"
        )
    return np.ascontiguousarray(array)


def checked_dice(dice: ArrayLike, n: int) -> NDArray[np.int64]:
    """Dice as int64[n, 2]; raises BadPosition for another shape or a number that is on no die."""
    array = np.asarray(dice)
    if array.shape != (n, 2) or array.dtype.kind not in "iu":
        raise BadPosition(f"dice must be whole numbers [{n}, 2], not {array.dtype}{list(array.shape)}")
    wrong = np.flatnonzero(((array < 1) | (array > 6)).any(axis=1))
    if len(wrong):
        i = int(wrong[0])
        raise BadPosition(f"dice[{i}] = {array[i].tolist()}: a die shows 1 to 6")
    return np.ascontiguousarray(array, dtype=np.int64)


# ---------------------------------------------------------------------------------------------- games and dice


def starts(variant: Variant | str, n: int, seed: int = 0, *, first: int = 0, thrown: bool = True) -> States:
    """The openings of `n` games, uint32[n, 16]: start and starter are drawn, and his first throw is made.

    variant: a Variant or its text, such as `classic:block=sport`. Row i is `Position.opening(variant, seed,
    game=first + i).state`, whatever n. thrown: False takes the first throw back, so that the starter has still to
    throw (games whose opening dice are played never begin with a double; `throw` does not know that). Raises
    BadOption for numbers that are negative or too large.
    """
    game = _game(variant)
    states = np.zeros((_number("n", n, below=1 << 31), WORDS), np.uint32)
    args = (np.uint64(_number("seed", seed)), np.uint64(_number("first", first)), np.int64(bool(thrown)))
    begin_all(rules_of(game), start_of(game), *args, states)
    return states


def streams(n: int, seed: int = 0, *, first: int = 0) -> NDArray[np.uint64]:
    """Random streams for the dice of `n` games, uint64[n], to be given to `rolls`.

    Stream i depends on the seed and on first + i alone: a game gets the same dice in whatever batch it is, as
    long as its own stream goes with it. They are independent of the openings of `starts`.
    """
    made = np.zeros(_number("n", n, below=1 << 31), np.uint64)
    stream_all(np.uint64(_number("seed", seed)) ^ np.uint64(_DICE), np.uint64(_number("first", first)), made)
    return made


def rolls(dice_streams: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Two dice from each stream, int64[N, 2]; the streams, uint64[N], move on in place.

    Raises BadPosition if they are no writable uint64[N] in one piece.
    """
    given = dice_streams
    if not isinstance(given, np.ndarray) or given.dtype != np.uint64 or given.ndim != 1:
        raise BadPosition("dice are drawn from streams uint64[N], such as streams(n, seed) gives")
    if not (given.flags.writeable and given.flags.c_contiguous):
        raise BadPosition("streams move on as dice are drawn: give a writable array in one piece, as .copy() makes it")
    dice = np.empty((len(given), 2), np.int64)
    roll_all(given, dice)
    return dice


def throw(variant: Variant | str, states: ArrayLike, dice: ArrayLike) -> States:
    """The states after dice[i] were thrown in states[i]: a new array uint32[N, 16].

    states: uint32[N, 16]; dice: whole numbers [N, 2] from 1 to 6. A state that still owes part of an earlier
    throw, or is finished, stays as it is and its dice are left aside. Raises BadPosition for arrays of another
    shape or type and for wrong dice.
    """
    rows = checked_states(states).copy()
    throw_all(rules_of(_game(variant)), rows, checked_dice(dice, len(rows)))
    return rows


def plays(variant: Variant | str, states: ArrayLike, dice: ArrayLike | None = None) -> tuple[States, NDArray[np.int64]]:
    """Every distinct legal play of many positions (rules page, sections 2 to 6).

    variant: a Variant or its text. states: uint32[N, 16]. dice: whole numbers [N, 2] from 1 to 6, thrown where a
    state owes nothing and left aside where it still owes part of an earlier throw; None if every state owes
    something. Returns `afterstates` uint32[M, 16] and `first` int64[N + 1]: the plays of state i are
    afterstates[first[i]:first[i + 1]], at least one (the pass). Each afterstate is in the view of the player who
    acts next, or is finished in the view of the winner. The states themselves are not changed and the order of the
    plays is always the same. Raises BadPosition for arrays of another shape or type, wrong dice, a finished state,
    and without dice for a state that owes nothing.
    """
    rules = rules_of(_game(variant))
    rows = checked_states(states)
    n = len(rows)
    finished = np.flatnonzero(rows[:, OUTCOME])
    if len(finished):
        raise BadPosition(f"states[{finished[0]}] is finished: nobody can play in it")
    if dice is not None:
        rows = rows.copy()
        throw_all(rules, rows, checked_dice(dice, n))
    else:
        idle = np.flatnonzero(rows[:, OWED] == 0)
        if len(idle):
            raise BadPosition(f"states[{idle[0]}] owes nothing: give the dice that are thrown in it")
    out = np.empty((_A_GUESS * n + 64, WORDS), np.uint32)
    first = np.zeros(n + 1, np.int64)
    done = plays_into(rules, rows, own_scratch(), out, first, 0)
    while done < n:
        used = int(first[done])
        larger = np.empty((2 * used + MAX_PLAYS, WORDS), np.uint32)
        larger[:used] = out[:used]
        out = larger
        done = plays_into(rules, rows, own_scratch(), out, first, done)
    return out[: first[n]], first


# ---------------------------------------------------------------------------------------------- looking into states


def owing(states: ArrayLike) -> NDArray[np.bool_]:
    """Is there something of a throw to be played now, bool[N]; else the player throws, or the game is over."""
    return np.not_equal(checked_states(states)[:, OWED], 0)


def over(states: ArrayLike) -> NDArray[np.bool_]:
    """Is the game over, bool[N]."""
    return np.not_equal(checked_states(states)[:, OUTCOME], 0)


def acting(states: ArrayLike) -> NDArray[np.int8]:
    """The number, 0 or 1, of the player who acts next, int8[N]; of a finished game the winner."""
    return (checked_states(states)[:, TURN] & np.uint32(PLAYER)).astype(np.int8)


def outcomes(states: ArrayLike) -> NDArray[np.int8]:
    """How games ended, int8[N]: a code of the table in `nardy_rl/results.py`, or -1 while the game goes on."""
    return (checked_states(states)[:, OUTCOME].astype(np.int64) - 1).astype(np.int8)


def scores(variant: Variant | str, states: ArrayLike) -> NDArray[np.float32]:
    """Points that players 0 and 1 win by each game, float32[N, 2], before any cube (rules page, section 7).

    A row sums to zero; it is 0, 0 for a draw and for a game that is not over, which `over` tells apart.
    """
    rows = checked_states(states)
    points = np.append(score_table(_game(variant)), 0)[outcomes(rows)]  # -1, not over, takes the last: 0
    of_first = np.where(acting(rows) == 0, points, -points)
    return np.stack([of_first, -of_first], axis=1).astype(np.float32) + np.float32(0)  # no negative zeros


class Boards(NamedTuple):
    """What stands where, by player number, each in his own numbering: 0 off, 1..24 the points, 25 the bar."""

    checkers: NDArray[np.int8]  # [N, 2, 26]
    pinned: NDArray[np.bool_]  # [N, 2, 26]: is the player's lone checker on that point pinned


def unpack(states: ArrayLike, *, by: str = "player") -> Boards:
    """The checkers and pins of states uint32[N, 16], as `Boards`.

    by: `player` puts players 0 and 1 on axis 1; `turn` the player who acts next (of a finished game the winner) and
    his opponent, as a net sees it. Raises BadOption for another word.
    """
    if by not in ("player", "turn"):
        raise BadOption(f"by={by!r} must be 'player' or 'turn'")
    rows = checked_states(states)
    checkers = counts_of(rows[:, :8].reshape(-1, 2, 4))
    pinned = (rows[:, [MY_PINS, THEIR_PINS], None] >> np.arange(26, dtype=np.uint32) & np.uint32(1)).astype(np.bool_)
    if by == "player":
        turned = acting(rows) == 1
        checkers[turned] = checkers[turned][:, ::-1]
        pinned[turned] = pinned[turned][:, ::-1]
    return Boards(checkers, pinned)


# ---------------------------------------------------------------------------------------------- inputs of a net


class InputBlock(NamedTuple):
    """Some of a net's inputs that belong together: columns first .. first + size - 1 of `encode`."""

    name: str
    first: int
    size: int
    meaning: str


class SparseInputs(NamedTuple):
    """Inputs that are not zero, state after state: of state i the entries first[i] .. first[i + 1] - 1.

    An input that is 3 has three entries.
    """

    column: NDArray[np.int32]  # [K]: which input
    first: NDArray[np.int64]  # [N + 1]
    size: int  # number of inputs, the F of `encode`


def inputs(variant: Variant | str, kind: str = "patterns") -> list[InputBlock]:
    """The table of a game's inputs, in the order of the columns of `encode`.

    kind: `plain` (the 196 classical ones, with pins and what is owed), `patterns` or `rich` (`encoding.py`). Which
    blocks a game has follows from its switches. *mine* and *theirs* are the player who acts next and his opponent,
    each in his own numbering. The meaning lists the axes from the outermost to the innermost. Raises BadOption for
    another kind.
    """
    blocks, first = [], 0
    for _, name, size, meaning in encoding.layout(_game(variant), kind):
        blocks.append(InputBlock(name, first, size, meaning))
        first += size
    return blocks


def encode_sparse(variant: Variant | str, states: ArrayLike, kind: str = "patterns") -> SparseInputs:
    """Inputs of states uint32[N, 16] as lists of those that are not zero: 20 to 60 of some thousands.

    Fits torch.nn.EmbeddingBag (column, first[:-1], mode="sum"). Raises as `encode` does.
    """
    game, rows = _game(variant), checked_states(states)
    index, given = encoding.listed(game, rows, kind)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(given.sum(axis=1))])
    return SparseInputs(index[given], first, encoding.encoding_of(game, kind).size)


def encode(variant: Variant | str, states: ArrayLike, kind: str = "patterns") -> NDArray[np.float32]:
    """Inputs of states uint32[N, 16], each in the view of the player who acts next, as float32[N, F].

    `inputs` says what the F columns mean. Finished states are encoded too, though no net is asked about them:
    `scores` is exact. Raises BadPosition for arrays of another shape or type, BadOption for an unknown kind.
    """
    listed = encode_sparse(variant, states, kind)
    n = len(listed.first) - 1
    dense = np.zeros((n, listed.size), np.float32)
    np.add.at(dense, (np.repeat(np.arange(n), np.diff(listed.first)), listed.column), 1)
    return dense
