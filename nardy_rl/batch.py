"""Many positions at once: the public `plays`, and the kernel under it for those who bring their own memory.

afterstates, first = plays("backgammon", states, dice)
afterstates[first[i] : first[i + 1]]      # every legal play of states[i] with dice[i]
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_rl.board import OUTCOME, OWED, WORDS
from nardy_rl.errors import BadPosition
from nardy_rl.jit import kernel
from nardy_rl.plays import MAX_PLAYS, Scratch, scratch
from nardy_rl.plays import plays as stage_plays
from nardy_rl.rules import rules_of
from nardy_rl.turns import throw
from nardy_rl.variant import Variant

States = NDArray[np.uint32]
"""States uint32[N, 16], laid out as in `nardy_rl/board.py`."""

_A_GUESS = 24  # plays of a position, on average, with a margin
_own = threading.local()


def own_scratch() -> Scratch:
    """The generator's working memory of this thread."""
    if not hasattr(_own, "scratch"):
        _own.scratch = scratch()
    memory: Scratch = _own.scratch
    return memory


@kernel
def throw_all(rules, states, dice):
    """Throw dice[i] where states[i] owes nothing, in place. states uint32[N, 16], dice int64[N, 2]."""
    for i in range(len(states)):
        if not np.int64(states[i, OWED]):
            throw(rules, states[i], dice[i, 0], dice[i, 1])


@kernel
def plays_into(rules, states, scr, out, first, done):
    """Plays of states uint32[N, 16] that all owe a stage, one after the other into out uint32[M, 16].

    Starts at state number `done`, whose plays go to out[first[done]:], and fills first int64[N + 1] on the
    way. Stops before a state whose plays have no room; returns how many states are done. Call again from
    there with a larger `out` that keeps out[:first[done]]. An `out` with MAX_PLAYS free rows always has room
    for one more state.
    """
    at = first[done]
    while done < len(states):
        n = stage_plays(rules, states[done], scr)
        if at + n > len(out):
            break
        for i in range(n):
            for k in range(WORDS):
                out[at + i, k] = scr.plays[i, k]
        at += n
        done += 1
        first[done] = at
    return done


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


def plays(variant: Variant | str, states: ArrayLike, dice: ArrayLike | None = None) -> tuple[States, NDArray[np.int64]]:
    """Every distinct legal play of many positions (rules page, sections 2 to 6).

    variant: a Variant or its text, such as `classic:block=sport`. states: uint32[N, 16]. dice: whole numbers
    [N, 2] from 1 to 6, thrown where a state owes nothing and left aside where it still owes part of an
    earlier throw; None if every state owes something. Returns `afterstates` uint32[M, 16] and `first` int64[N
    + 1]: the plays of state i are afterstates[first[i]:first[i + 1]], at least one (the pass). Each
    afterstate is in the view of the player who acts next, or is finished in the view of the winner. The
    states themselves are not changed and the order of the plays is always the same. Raises BadPosition for
    arrays of another shape or type, wrong dice, a finished state, and without dice for a state that owes
    nothing. The words of a state are not examined further.
    """
    if isinstance(variant, str):
        from nardy_rl.variants import parse_variant

        variant = parse_variant(variant)
    rules = rules_of(variant)
    rows = checked_states(states)
    n = len(rows)
    over = np.flatnonzero(rows[:, OUTCOME])
    if len(over):
        raise BadPosition(f"states[{over[0]}] is finished: nobody can play in it")
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
