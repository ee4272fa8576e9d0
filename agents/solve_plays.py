"""The plays of a side of up to three checkers, listed for every position, roll and point that the other side has made.

What a side can play depends on the other by nothing else: three checkers make one point at most, and a blot stops
nobody. A listed play is one whole number, the position after it and the points that its checkers come to stand on, on
the way too, where they hit a blot. The plays are those of `nardy_rl/plays.py`, which the tests compare.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.solvable import Positions, number_at
from nardy_rl.board import BAR
from nardy_rl.dice import ROLLS
from nardy_rl.jit import inlined, inner, kernel

AFTER_BITS = 12  # of a listed play: the number of my position after it; above them a bit a point that it lands on
AFTER_MASK = (1 << AFTER_BITS) - 1
BLOCKS = 25  # the other side's made point as I count it: 0 none, 1..24
MOST_NODES = 256  # positions on the way of one roll: 1 + 3 + 9 + 27 + 81 for a double, 2 * 13 for two dice

# Of a node: the places of its checkers, five bits each, then the points landed on; and what was done on the way.
_LAND = 15
_MOVES, _LARGER, _ENDS = 7, 8, 16


class Plays(NamedTuple):
    """Plays of number m with roll r against a made point q: first[i] to first[i + 1] for i = (q * N + m) * 21 + r."""

    first: NDArray[np.int64]  # [25 * N * 21 + 1]
    listed: NDArray[np.int64]  # [M]


class Room(NamedTuple):
    """Working memory for the plays of one roll."""

    nodes: NDArray[np.int64]  # [MOST_NODES]
    deeds: NDArray[np.int64]  # [MOST_NODES]
    ends: NDArray[np.int64]  # [MOST_NODES]: nodes at which a play may end
    found: NDArray[np.int64]  # [MOST_NODES]: the plays


def new_room() -> Room:
    """Fresh working memory."""
    return Room(*(np.zeros(MOST_NODES, np.int64) for _ in Room._fields))


@inlined
def _landing(x, y, z, here, die, block, exact):
    """Where a checker on `here`, one of those on x, y, z, comes to by a die, or -1 if it may not move."""
    highest = max(x, y, z)
    if here == 0 or (highest == BAR and here != BAR):
        return np.int64(-1)
    if here > die:
        return np.int64(-1) if here - die == block else here - die
    if highest > 6 or (here < die and (exact or here < highest)):
        return np.int64(-1)
    return np.int64(0)


@inner
def _walk(room, start, first_die, die, moves, first_deed, block, exact, ends):
    """All ways to make moves from a node: one by `first_die`, the others by `die`; returns the new number of ends.

    A way ends where it cannot go on, has made all moves, or has borne off the last checker. first_deed: what the first
    move counts besides.
    """
    room.nodes[0], room.deeds[0] = start, 0
    begin, end = np.int64(0), np.int64(1)
    for move in range(moves + 1):
        last = end
        for i in range(begin, end):
            node, deeds = room.nodes[i], room.deeds[i]
            x, y, z = node & 31, node >> 5 & 31, node >> 10 & 31
            stuck = True
            if move < moves and not deeds & _ENDS:
                for k in range(3):
                    here = node >> 5 * k & 31
                    to = _landing(x, y, z, here, first_die if move == 0 else die, block, exact)
                    if to < 0:
                        continue
                    stuck = False
                    after = node ^ (here ^ to) << 5 * k | (np.int64(1) << (_LAND + to) if to else np.int64(0))
                    room.nodes[last] = after
                    room.deeds[last] = deeds + 1 + (first_deed if move == 0 else 0)
                    if after & 0x7FFF == 0:
                        room.deeds[last] |= _ENDS
                    last += 1
            if stuck:
                room.ends[ends], room.found[ends] = node, deeds
                ends += 1
        begin, end = end, last
    return ends


@inner
def plays_of(positions, m, larger, smaller, block, exact, room):
    """The distinct plays of number m with a roll, as listed, into room.found; returns how many, at least 1."""
    start = np.int64(0)
    for k in range(3):
        start |= np.int64(positions.places[m, k]) << 5 * k
    double = larger == smaller
    if double:
        ends = _walk(room, start, larger, larger, np.int64(4), np.int64(0), block, exact, np.int64(0))
    else:
        ends = _walk(room, start, larger, smaller, np.int64(2), np.int64(_LARGER), block, exact, np.int64(0))
        ends = _walk(room, start, smaller, larger, np.int64(2), np.int64(0), block, exact, ends)
    most, larger_used = np.int64(0), np.int64(0)
    for i in range(ends):
        most = max(most, room.found[i] & _MOVES)
        larger_used |= room.found[i] & _LARGER
    bound = not double and most == 1 and larger_used != 0  # one die only: it must be the larger
    n = np.int64(0)
    for i in range(ends):
        node, deeds = room.ends[i], room.found[i]
        full = deeds & _MOVES == most and not (bound and not deeds & _LARGER)
        if not full and not deeds & _ENDS:
            continue
        after = number_at(positions.number, node & 31, node >> 5 & 31, node >> 10 & 31)
        play, known = after | node >> _LAND << AFTER_BITS, False
        for j in range(n):
            known = known or room.nodes[j] == play
        if not known:
            room.nodes[n] = play
            n += 1
    for i in range(n):
        room.found[i] = room.nodes[i]
    return n


@kernel
def list_plays(positions, exact, room, first, listed):
    """Fill `Plays`: first int64[25 * N * 21 + 1] and, as far as it has room, listed int64[M]; returns the M needed."""
    size, rolls = positions.places.shape[0], ROLLS.shape[0]
    at = np.int64(0)
    for i in range(first.shape[0] - 1):
        block, m, r = np.int64(i // (size * rolls)), np.int64(i // rolls % size), i % rolls
        stands = False  # a point that I hold, the other side has not made
        for k in range(3):
            stands = stands or (block > 0 and positions.places[m, k] == block)
        if m > 0 and not stands:
            n = plays_of(positions, m, ROLLS[r, 0], ROLLS[r, 1], block, exact, room)
            for j in range(n):
                if at < listed.shape[0]:
                    listed[at] = room.found[j]
                at += 1
        first[i + 1] = at
    return at


def all_plays(positions: Positions, exact: bool) -> Plays:
    """The plays of all positions."""
    first = np.zeros(BLOCKS * len(positions.places) * len(ROLLS) + 1, np.int64)
    listed = np.zeros(list_plays(positions, exact, new_room(), first, np.zeros(0, np.int64)), np.int64)
    list_plays(positions, exact, new_room(), first, listed)
    return Plays(first, listed)
