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
    """Memory of one thread's search."""

    rows: np.ndarray  # uint32[levels, most, 16]: the plays that are kept on each level
    order: np.ndarray  # int64[most]: their numbers
    here: np.ndarray  # uint32[levels + 1, 16]: the state of a level, with a roll thrown
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
        here=np.empty((levels + 1, WORDS), np.uint32),
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


@inner
def ahead(rules, encoding, quick, outputs, work, scr, room, table, kept, row, depth, level):
    """Outputs of a state `depth` throws ahead into room.out[level]; returns its value. Levels below are overwritten."""
    out = room.out[level]
    if is_over(row) or (depth == 0 and not owes(row)):
        value = quick_value(rules, encoding, quick, outputs, work, row)
        copy_into(out, work.out)
        return value
    here = room.here[level]
    if owes(row):
        if depth == 0 and kept.most == 1:
            copy_into(here, row)
            follow(rules, encoding, quick, outputs, work, scr, room.notes, here, out)
            return points_of(outputs, out)
        n = plays(rules, row, scr)
        quick_best(rules, encoding, quick, outputs, work, scr, row, n)
        m = _best_kept(room.order, work.values, n, kept)
        for i in range(m):
            copy_into(room.rows[level, i], scr.plays[room.order[i]])
        top = np.float32(-np.inf)
        for i in range(m):
            after = room.rows[level, i]
            value = ahead(
                rules, encoding, quick, outputs, work, scr, room, table, kept, after, depth, level + 1
            )  # fmt: skip
            other = other_player(row, after)
            if other:
                value = -value
            if value > top:
                top = value
                below = room.out[level + 1]
                for k in range(out.shape[0]):
                    out[k] = turn_outputs(outputs, below, k) if other else below[k]
        return top
    place = _place(table, row, depth)
    if _is_kept(table, place, row, depth):
        copy_into(out, table.outputs[place])
        return points_of(outputs, out)
    for k in range(out.shape[0]):
        out[k] = np.float32(0)
    for r in range(ROLLS.shape[0]):
        copy_into(here, row)
        throw(rules, here, ROLLS[r, 0], ROLLS[r, 1])
        ahead(rules, encoding, quick, outputs, work, scr, room, table, kept, here, depth - 1, level + 1)
        weight = np.float32(ROLL_WEIGHTS[r])
        for k in range(out.shape[0]):
            out[k] += weight * room.out[level + 1, k]
    _keep(table, place, row, depth, out)
    return points_of(outputs, out)


@kernel
def ahead_batch(rules, encoding, quick, outputs, work, scr, room, table, kept, rows, depth, out, values):
    """Outputs float32[N, K] and values float32[N] of states uint32[N, 16], so many throws ahead."""
    for i in range(len(rows)):
        values[i] = ahead(
            rules, encoding, quick, outputs, work, scr, room, table, kept, rows[i], depth, np.int64(0)
        )  # fmt: skip
        copy_into(out[i], room.out[0])
