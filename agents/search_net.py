"""Kernels: looking some throws ahead with the built-in net, and the table in which values are kept.

The value of a state `depth` throws ahead is

    the net's                                                    where a throw is next and depth is 0,
    the mean over the 21 rolls of the state with the roll        where a throw is next, depth - 1 ahead,
    the best of the plays that are kept, for whoever acts        where something of a throw is owed,

exact where the game is over. Kept are the plays that the net itself thinks best (`Kept`). Stages and completions
belong to one throw: they use up no depth, whoever plays them. Values are carried as the net's outputs, always in the
view of the player of the state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nardy_rl.agents.labels import Notes, follow, new_notes, turn_outputs
from nardy_rl.agents.net import Outputs, other_player
from nardy_rl.agents.quick import quick_best, quick_value
from nardy_rl.board import OUTCOME, WORDS, copy_into
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.jit import inlined, inner, kernel, product64, sum64
from nardy_rl.plays import plays
from nardy_rl.turns import is_over, owes, throw

PARTS = 56  # plays that one throw can have, one after the other: every one but two in succession moves a checker
KEY = OUTCOME + 1  # words of a state that its value depends on
_MIX, _FINISH = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_S29, _S32 = np.uint64(29), np.uint64(32)


class Kept(NamedTuple):
    """How many plays of a position are looked into: the best, and others up to `most` that are hardly worse."""

    least: int  # so many of the best in any case
    most: int
    margin: float  # points behind the best up to which others are kept


class Table(NamedTuple):
    """Values that were found, by state and depth: a newer one takes the place of an older. Its size never changes."""

    keys: np.ndarray  # uint32[size, KEY]
    depth: np.ndarray  # int8[size]; 0: the place is free
    outputs: np.ndarray  # float32[size, K]


class Room(NamedTuple):
    """Memory of one thread's search: level by level what is being looked into, the state itself on level 0."""

    rows: np.ndarray  # uint32[levels, most, 16]: the plays that are kept
    order: np.ndarray  # int64[most]: their numbers
    state: np.ndarray  # uint32[levels + 1, 16]
    depth: np.ndarray  # int64[levels + 1]: throws that are left to look ahead
    parts: np.ndarray  # int64[levels + 1]: plays, or rolls, that it leads on to
    done: np.ndarray  # int64[levels + 1]: how many of them are looked into
    value: np.ndarray  # float32[levels + 1]
    out: np.ndarray  # float32[levels + 1, K]
    notes: Notes


def new_table(outputs: Outputs, megabytes: float) -> Table:
    """An empty table of at most so many megabytes; its size is a power of two, at least 1."""
    size = len(outputs.points)
    places = max(1, int(megabytes * 1e6 / (4 * KEY + 1 + 4 * size)))
    places = 1 << (places.bit_length() - 1)
    return Table(
        np.zeros((places, KEY), np.uint32), np.zeros(places, np.int8), np.zeros((places, size), np.float32)
    )  # fmt: skip


def new_room(outputs: Outputs, depth: int, most: int) -> Room:
    """Memory for searches of up to `depth` throws that keep up to `most` plays; pages are touched only when used."""
    levels, size = (PARTS + 1) * (depth + 1), len(outputs.points)
    return Room(
        rows=np.empty((levels, most, WORDS), np.uint32),
        order=np.empty(most, np.int64),
        state=np.empty((levels + 1, WORDS), np.uint32),
        depth=np.empty(levels + 1, np.int64),
        parts=np.empty(levels + 1, np.int64),
        done=np.empty(levels + 1, np.int64),
        value=np.empty(levels + 1, np.float32),
        out=np.empty((levels + 1, size), np.float32),
        notes=new_notes(outputs, 0),
    )


# ---------------------------------------------------------------------------------------------- the table


@inlined
def _place(table, row, depth):
    """Where the value of a state is kept."""
    h = np.uint64(depth)
    for k in range(KEY):
        h = product64(sum64(h, np.uint64(row[k])), _MIX)
        h ^= h >> _S32
    h = product64(h, _FINISH)
    return np.int64((h ^ h >> _S29) & np.uint64(len(table.depth) - 1))


@inlined
def _is_kept(table, place, row, depth):
    if table.depth[place] != depth:
        return False
    for k in range(KEY):
        if table.keys[place, k] != row[k]:
            return False
    return True


@inlined
def _keep(table, place, row, depth, out):
    table.depth[place] = depth
    for k in range(KEY):
        table.keys[place, k] = row[k]
    for k in range(out.shape[0]):
        table.outputs[place, k] = out[k]


# ---------------------------------------------------------------------------------------------- the search


@inlined
def points_of(outputs, out):
    """The value of outputs, in points."""
    value = np.float32(outputs.constant)
    for k in range(out.shape[0]):
        value += outputs.points[k] * out[k]
    return value


@inlined
def _best_kept(order, values, n, kept):
    """Numbers of the plays that are kept of n, the best first, of equals the first, into `order`; returns how many."""
    m = np.int64(0)
    for i in range(n):
        if m == order.shape[0] or m == kept.most:
            if values[i] <= values[order[m - 1]]:
                continue
            m -= 1
        at = m
        while at > 0 and values[order[at - 1]] < values[i]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i
        m += 1
    top = values[order[0]]
    while m > kept.least and values[order[m - 1]] < top - np.float32(kept.margin):
        m -= 1
    return m


@inlined
def _part(rules, room, level):
    """Put what the state of a level leads on to next, a play or a roll, on the level below."""
    below, k = room.state[level + 1], room.done[level]
    if owes(room.state[level]):
        copy_into(below, room.rows[level, k])
        room.depth[level + 1] = room.depth[level]
    else:
        copy_into(below, room.state[level])
        throw(rules, below, ROLLS[k, 0], ROLLS[k, 1])
        room.depth[level + 1] = room.depth[level] - 1


@inlined
def _add_part(outputs, room, level):
    """Count in what was found of the part on the level below: the better play, or a roll's share of the mean."""
    out, found = room.out[level], room.out[level + 1]
    if not owes(room.state[level]):
        weight = np.float32(ROLL_WEIGHTS[room.done[level]])
        for k in range(out.shape[0]):
            out[k] += weight * found[k]
        return
    other, value = other_player(room.state[level], room.state[level + 1]), room.value[level + 1]
    if other:
        value = -value
    if value > room.value[level]:
        room.value[level] = value
        for k in range(out.shape[0]):
            out[k] = turn_outputs(outputs, found, k) if other else found[k]


@inner
def _enter(rules, encoding, quick, outputs, work, scr, room, table, kept, level):
    """Begin with the state of a level. If its value is known at once it has no parts, and `out` and `value` are set."""
    row, depth, out = room.state[level], room.depth[level], room.out[level]
    room.parts[level], room.done[level] = 0, 0
    if is_over(row) or (depth == 0 and not owes(row)):
        room.value[level] = quick_value(rules, encoding, quick, outputs, work, row)
        copy_into(out, work.out)
    elif not owes(row):
        place = _place(table, row, depth)
        if _is_kept(table, place, row, depth):
            copy_into(out, table.outputs[place])
            room.value[level] = points_of(outputs, out)
        else:
            room.parts[level] = ROLLS.shape[0]
            for k in range(out.shape[0]):
                out[k] = np.float32(0)
    elif depth == 0 and kept.most == 1:
        below = room.state[level + 1]
        copy_into(below, row)
        follow(rules, encoding, quick, outputs, work, scr, room.notes, below, out)
        room.value[level] = points_of(outputs, out)
    else:
        n = plays(rules, row, scr)
        quick_best(rules, encoding, quick, outputs, work, scr, row, n)
        m = _best_kept(room.order, work.values, n, kept)
        for i in range(m):
            copy_into(room.rows[level, i], scr.plays[room.order[i]])
        room.parts[level] = m
        room.value[level] = np.float32(-np.inf)


@inner
def ahead(rules, encoding, quick, outputs, work, scr, room, table, kept, row, depth):
    """Outputs of a state `depth` throws ahead into room.out[0]; returns its value.

    It goes down and up the levels in a loop: the compiler's cache cannot keep a function that calls itself.
    """
    copy_into(room.state[0], row)
    room.depth[0] = depth
    level = np.int64(0)
    _enter(rules, encoding, quick, outputs, work, scr, room, table, kept, level)
    while True:
        if room.done[level] < room.parts[level]:
            _part(rules, room, level)
            level += 1
            _enter(rules, encoding, quick, outputs, work, scr, room, table, kept, level)
            continue
        if room.parts[level] and not owes(room.state[level]):
            state, out = room.state[level], room.out[level]
            room.value[level] = points_of(outputs, out)
            _keep(table, _place(table, state, room.depth[level]), state, room.depth[level], out)
        if level == 0:
            return room.value[0]
        level -= 1
        _add_part(outputs, room, level)
        room.done[level] += 1


@kernel
def ahead_batch(rules, encoding, quick, outputs, work, scr, room, table, kept, rows, depth, out, values):
    """Outputs float32[N, K] and values float32[N] of states uint32[N, 16], so many throws ahead."""
    for i in range(len(rows)):
        values[i] = ahead(rules, encoding, quick, outputs, work, scr, room, table, kept, rows[i], depth)
        copy_into(out[i], room.out[0])
