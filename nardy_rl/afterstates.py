"""The generators' working memory, and writing the state that follows a play into it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nardy_rl.board import (
    MY_PINS,
    ON_BOARD,
    OWED,
    PLAYER,
    STARTER,
    THEIR_PINS,
    THROWS,
    TURN,
    WORDS,
    across,
    hit_planes,
    occupied,
)
from nardy_rl.jit import inlined, inner
from nardy_rl.rules import PIN
from nardy_rl.turns import ENDS_PLAY, settle

# Fifteen checkers share at most four moves of one value: C(15 + 4 - 1, 4) = 3,060 plays, and at most 15 * 15 * 2
# of two dice. Flags (bound checkers, a fourth move that came home) can at most double the nodes met on the way.
MAX_PLAYS = 8192
MAX_EDGES = 1 << 15  # at most 680 * 2 nodes have one move left, and at most 15 points to move it from
TABLE = 1 << 14
KNOWN = 1 << 17
NODE_WORDS = 4
_SETTLED = 1 << 11  # among the deeds: the play is written as the next state


class Scratch(NamedTuple):
    """Working memory of the generator, one for each thread."""

    plays: np.ndarray  # uint32[MAX_PLAYS, 16]  the states after each play
    deeds: np.ndarray  # int64[MAX_PLAYS]       what each play did
    nodes: np.ndarray  # int64[5, MAX_PLAYS, 4] positions inside a play, by number of moves made; see `free.py`
    edges: np.ndarray  # int64[4, MAX_EDGES]    moves from the nodes of a level to those of the next
    edge_sizes: np.ndarray  # int64[4]          how many they are
    leaf: np.ndarray  # int64[5, MAX_PLAYS]     the play that ends at a node, or -1
    table: np.ndarray  # int64[TABLE]           hash table of nodes: stamp << 16 | node
    stamp: np.ndarray  # int64[2]               of the present level of nodes, of the present search of a progression
    sizes: np.ndarray  # int64[5]               nodes on each level
    seen: np.ndarray  # int64[26]               second sources by first source, for two dice
    stack: np.ndarray  # int64[5, 7]            planes, sources left, hits, head allowance by depth, for doubles
    more: np.ndarray  # uint32[6, MAX_PLAYS, 16] plays of the present stage and of later ones (full_move=whole)
    made: np.ndarray  # int64[6, MAX_PLAYS]     moves of each of them
    size: np.ndarray  # int64[6]                how many they are
    at: np.ndarray  # int64[6]                  how many of them are looked through
    longest: np.ndarray  # int64[6, 2]          most moves found from the stage on, and the most there can be
    known: np.ndarray  # uint32[KNOWN, 16]      states looked through: 12 words, moves that can be made, stamp


def scratch() -> Scratch:
    """Fresh working memory; pages are touched only when used."""
    return Scratch(
        plays=np.empty((MAX_PLAYS, WORDS), np.uint32),
        deeds=np.empty(MAX_PLAYS, np.int64),
        nodes=np.empty((5, MAX_PLAYS, NODE_WORDS), np.int64),
        edges=np.empty((4, MAX_EDGES), np.int64),
        edge_sizes=np.zeros(4, np.int64),
        leaf=np.empty((5, MAX_PLAYS), np.int64),
        table=np.zeros(TABLE, np.int64),
        stamp=np.zeros(2, np.int64),
        sizes=np.zeros(5, np.int64),
        seen=np.zeros(26, np.int64),
        stack=np.zeros((5, 7), np.int64),
        more=np.empty((6, MAX_PLAYS, WORDS), np.uint32),
        made=np.empty((6, MAX_PLAYS), np.int64),
        size=np.zeros(6, np.int64),
        at=np.zeros(6, np.int64),
        longest=np.zeros((6, 2), np.int64),
        known=np.zeros((KNOWN, WORDS), np.uint32),
    )


@inlined
def write_play(rules, row, out, m0, m1, m2, m3, hits):
    """The state after a bare play into `out`, in the mover's view: position and pins new, all else as before."""
    out[0], out[1], out[2], out[3] = np.uint32(m0), np.uint32(m1), np.uint32(m2), np.uint32(m3)
    for i in range(4, WORDS):
        out[i] = row[i]
    write_theirs(rules, row, out, 4, (m0 | m1 | m2 | m3) & ON_BOARD, hits)


@inlined
def write_theirs(rules, row, out, side, occ, hits):
    """What a play does to the opponent, into `out` where his planes begin at `side`: hits and pins."""
    if hits:
        o0, o1, o2, o3 = hit_planes(
            np.int64(row[4]),
            np.int64(row[5]),
            np.int64(row[6]),
            np.int64(row[7]),
            across(hits, rules.parallel),
        )
        out[side], out[side + 1] = np.uint32(o0), np.uint32(o1)
        out[side + 2], out[side + 3] = np.uint32(o2), np.uint32(o3)
    elif rules.contact == PIN:
        both = across(occ & ~np.int64(row[MY_PINS]), rules.parallel) & occupied(row, 4)
        out[THEIR_PINS if side == 4 else MY_PINS] = np.uint32(both)


@inlined
def write_passed(rules, row, out, m0, m1, m2, m3, hits):
    """The state after a play that ends its player's throw: the opponent is to throw."""
    for i in range(4):
        out[i] = row[i + 4]
    out[4], out[5], out[6], out[7] = np.uint32(m0), np.uint32(m1), np.uint32(m2), np.uint32(m3)
    out[MY_PINS], out[THEIR_PINS] = row[THEIR_PINS], row[MY_PINS]
    turn = np.int64(row[TURN])
    player = turn & PLAYER ^ 1
    out[TURN] = np.uint32(player | player << 1 | turn & STARTER)
    out[OWED] = np.uint32(0)
    throws = np.int64(row[THROWS])
    out[THROWS] = np.uint32((throws & 0xFFFF) << 16 | throws >> 16)
    for i in range(THROWS + 1, WORDS):
        out[i] = np.uint32(0)
    write_theirs(rules, row, out, 0, (m0 | m1 | m2 | m3) & ON_BOARD, hits)


@inlined
def emit(rules, row, scr, n, m0, m1, m2, m3, hits, deeds, ends):
    """Write play number n; returns n + 1. `settle_plays` must follow when all are written.

    ends: does the play end the throw (`surely_ends`); then the next state is written at once.
    """
    if ends and not deeds & ENDS_PLAY:
        write_passed(rules, row, scr.plays[n], m0, m1, m2, m3, hits)
        scr.deeds[n] = deeds | _SETTLED
    else:
        write_play(rules, row, scr.plays[n], m0, m1, m2, m3, hits)
        scr.deeds[n] = deeds
    return n + 1


@inner
def settle_plays(rules, row, scr, n):
    """Turn the first n plays into next states, where they are not yet."""
    for i in range(n):
        if not scr.deeds[i] & _SETTLED:
            settle(rules, row, scr.plays[i], scr.deeds[i])
