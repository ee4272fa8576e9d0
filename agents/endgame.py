"""Kernels: values of endgames, for bots and as labels, looked up in tables (`endgame_tables.py`).

A state is in the tables when both sides are all home or off and the next to act throws. With up to 6 checkers a side
its equity is that of best play on both sides. With more it is that of a race in which each side plays to be off in the
fewest turns on average, and its gammon is that of a loser who plays for his first checker off.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nardy_rl.agents.bearoff import home_number, is_home
from nardy_rl.board import EXTRA, OUTCOME, OWED, TURN
from nardy_rl.jit import inner, kernel
from nardy_rl.results import checkers_left


class Endgame(NamedTuple):
    """A game's tables and what they are worth in it, for kernels. A table that there is not has no positions."""

    off: np.ndarray  # float32[kinds, N, T]: chance that the last checker is off after t turns
    first: np.ndarray  # float32[kinds, N, T]: and the first
    equity: np.ndarray  # float32[kinds, M, M]: with best play, at [kind, who throws, the other], in points
    checkers: int  # of a side
    gammon: int  # points that a win counts more if the loser has borne off none
    plain: int  # 1: every win of the two-sided table is a point, so that its equity says the chance to win
    more: int  # number of the net's output `win 2`; -1 if there is none
    lose_more: int  # that of `lose 2`
    lose: int  # that of `lose`, where games can be drawn; else -1


@inner
def _in_two_sided(endgame, mine, theirs):
    """Are two positions, by their numbers, in the two-sided table."""
    return mine < endgame.equity.shape[1] and theirs < endgame.equity.shape[1]


@inner
def in_endgame(endgame, row):
    """Is the value of a state in the tables."""
    if row[OUTCOME] or row[OWED] or not (is_home(row, 0) and is_home(row, 4)):
        return False
    if endgame.off.shape[1]:
        return True
    return _in_two_sided(endgame, home_number(row, 0), home_number(row, 4))


@inner
def _kind_of_throw(endgame, row):
    """Does the player throw by his turn (0), or does he have an extra throw that earns no other (1)."""
    return np.int64(1) if endgame.equity.shape[0] > 1 and np.int64(row[TURN]) & EXTRA else np.int64(0)


@inner
def race_chance(mine, other, wait):
    """The chance that I am done before the other, from distributions of the number of turns float32[T].

    wait: 0 if I throw first, 1 if he does.
    """
    chance, later = 0.0, 1.0  # later: that the other is not done yet when it is my turn t
    for t in range(1, mine.shape[0]):
        later -= np.float64(other[t - 1 + wait])
        chance += np.float64(mine[t]) * later
    return min(max(chance, 0.0), 1.0)  # the distributions are rounded


@inner
def _gammon_chances(endgame, mine, theirs, kind, row):
    """Chances that the player of the row wins a gammon and loses one; nothing where nobody can."""
    wins, loses = 0.0, 0.0
    if checkers_left(row, 4) == endgame.checkers:
        wins = race_chance(endgame.off[kind, mine], endgame.first[0, theirs], 0)
    if checkers_left(row, 0) == endgame.checkers:
        loses = race_chance(endgame.off[0, theirs], endgame.first[kind, mine], 1)
    return wins, loses


@inner
def endgame_value(endgame, row):
    """Equity in points, for its player, of a state that is `in_endgame`."""
    mine, theirs, kind = home_number(row, 0), home_number(row, 4), _kind_of_throw(endgame, row)
    if _in_two_sided(endgame, mine, theirs):
        return np.float64(endgame.equity[kind, mine, theirs])
    value = 2 * race_chance(endgame.off[kind, mine], endgame.off[0, theirs], 0) - 1
    if endgame.gammon:
        wins, loses = _gammon_chances(endgame, mine, theirs, kind, row)
        value += endgame.gammon * (wins - loses)
    return value


@inner
def endgame_outputs(endgame, row, out):
    """Chances of the outcomes of a state that is `in_endgame`, as a net gives them (`net.output_names`): float32[K].

    Returns False, and leaves `out`, where the tables do not say them: there is no one-sided one.
    """
    if not endgame.off.shape[1]:
        return False
    mine, theirs, kind = home_number(row, 0), home_number(row, 4), _kind_of_throw(endgame, row)
    for k in range(out.shape[0]):
        out[k] = np.float32(0)
    if endgame.plain and _in_two_sided(endgame, mine, theirs):
        win = (np.float64(endgame.equity[kind, mine, theirs]) + 1) / 2
    else:
        win = race_chance(endgame.off[kind, mine], endgame.off[0, theirs], 0)
    out[0] = win
    if endgame.lose >= 0:
        out[endgame.lose] = 1 - win
    if endgame.gammon:
        out[endgame.more], out[endgame.lose_more] = _gammon_chances(endgame, mine, theirs, kind, row)
    return True


@kernel
def put_values(endgame, rows, values):
    """Put the value, for its player, of every state uint32[N, 16] that is in the tables into values float32[N].

    Returns how many there are.
    """
    known = 0
    for i in range(len(rows)):
        if in_endgame(endgame, rows[i]):
            values[i] = endgame_value(endgame, rows[i])
            known += 1
    return known


@kernel
def put_outputs(endgame, rows, known, outputs):
    """The same with the chances of outcomes float32[N, K]; known bool[N] says which states are in the tables."""
    for i in range(len(rows)):
        known[i] = in_endgame(endgame, rows[i]) and endgame_outputs(endgame, rows[i], outputs[i])


@kernel
def mark_near(rows, near):
    """In which states uint32[N, 16] a play may lead into the tables: the opponent is all home. near: bool[N]."""
    for i in range(len(rows)):
        near[i] = is_home(rows[i], 4)
