"""The plays of a stage where the order of its moves matters: all orders are walked, and equal positions merged.

The search goes level by level, a level for each checker move. A position on the way is a *node*, four 64-bit
words of two 32-bit halves each:

| word | low half | high half |
|---|---|---|
| 0, 1 | planes 0 and 2 of the mover | planes 1 and 3 |
| 2 | points where he has hit | points of bound checkers |
| 3 | points of bound checkers that hide | deeds (`turns.py`, and `_BOUND_OFF`) |

An *edge* is a move from a node to one of the next level, in one word: from 16-bit fields the number of the next
node, that of the first, the source and the die.
"""

from __future__ import annotations

import numpy as np

from nardy_rl.afterstates import MAX_EDGES, MAX_PLAYS, NODE_WORDS, TABLE, emit, settle_plays
from nardy_rl.board import (
    HEAD,
    HOME_MASK,
    LARGER_OWED,
    MY_PINS,
    ON_BOARD,
    OUTSIDE,
    OWED,
    PLAYER,
    SMALLER_OWED,
    TURN,
    count,
    occupied,
    put,
    take,
)
from nardy_rl.jit import inlined, inner, lowest, product64
from nardy_rl.moves import HEAD_BIT, closed_points, is_permitted, locks_in, lone_points, sources
from nardy_rl.results import checkers_left, has_borne_off
from nardy_rl.rules import FEVGA, GRACE_STOP, HIT, RUNNER, SPORT
from nardy_rl.turns import (
    BY_DRAW,
    BY_HIT,
    BY_MOTHER,
    EMPTIED,
    ENDS_PLAY,
    HOME_WITH_LAST,
    USED_LARGER,
    head_allowance,
    surely_ends,
)

_BOUND_OFF = 1 << 10  # among the deeds: a bound checker was borne off
_LOW = 0xFFFFFFFF
_PRIME = np.uint64(0x100000001B3)
_SHIFT = np.uint64(29)


# ---------------------------------------------------------------------------------------------- nodes and edges


@inlined
def _planes(node):
    """The mover's planes at a node."""
    return node[0] & _LOW, node[0] >> 32, node[1] & _LOW, node[1] >> 32


@inlined
def _occupied(node):
    """The mover's points and bar at a node."""
    m0, m1, m2, m3 = _planes(node)
    return (m0 | m1 | m2 | m3) & ON_BOARD


@inlined
def _deeds(node):
    """What was done on the way to a node."""
    return node[3] >> 32


@inlined
def _slot(scr, level, n):
    """Number of the node equal to the one written at `nodes[level, n]`: n itself, put into the table, if it is new."""
    node = scr.nodes[level, n]
    h = np.uint64(0x345678)
    for k in range(NODE_WORDS):
        h = product64(h ^ np.uint64(node[k]), _PRIME)
        h ^= h >> _SHIFT
    i = np.int64(h & np.uint64(TABLE - 1))
    while scr.table[i] >> 16 == scr.stamp[0]:
        m = scr.table[i] & 0xFFFF
        other = scr.nodes[level, m]
        if other[0] == node[0] and other[1] == node[1] and other[2] == node[2] and other[3] == node[3]:
            return m
        i = (i + 1) & (TABLE - 1)
    scr.table[i] = scr.stamp[0] << 16 | n
    return n


@inlined
def _add_edge(scr, level, index, source, die, slot):
    """Note the move by which a node of this level leads to one of the next."""
    edge = scr.edge_sizes[level]
    scr.edges[level, edge] = slot | index << 16 | source << 32 | die << 48
    scr.edge_sizes[level] = edge + 1
    if slot + 1 >= MAX_PLAYS or edge + 1 >= MAX_EDGES:
        raise OverflowError("more plays in one stage than the generator has room for")


@inner
def first_edge_to(scr, level, slot):
    """The first move from a node of this level to node `slot` of the next: that node, the source and the die."""
    i = 0
    while scr.edges[level, i] & 0xFFFF != slot:
        i += 1
    edge = scr.edges[level, i]
    return edge >> 16 & 0xFFFF, edge >> 32 & 0xFFFF, edge >> 48


# ---------------------------------------------------------------------------------------------- one move


@inlined
def _mother_verdict(row, a0, a1, a2, a3):
    """What the mothers decide after a checker move of the player: a deed bit, or 0 (rules page, 6)."""
    if count(row, 4, HEAD) != 1 or not (a0 | a1 | a2 | a3) >> 1 & 1 or np.int64(row[MY_PINS]) >> 1 & 1:
        return 0
    if not (a0 | a1 | a2 | a3) >> HEAD & 1:
        return BY_MOTHER
    if np.int64(row[MY_PINS]) >> HEAD & 1:
        return BY_DRAW
    return 0


@inlined
def _without_bound_moves(rules, node, occ, src, die):
    """The sources less those from which only a bound checker could move, and may not (rules page, caucasian).

    A bound checker that shares its point is covered: the one that leaves is a free one.
    """
    lone_bound = src & node[2] >> 32 & ~(node[0] >> 32 | node[1] | node[1] >> 32)
    bears_off = lone_bound & ((np.int64(2) << die) - 1)
    if not rules.bound_hide_end:
        src &= ~(lone_bound & ~bears_off & (occ << die))
    if not rules.bound_off_play and src & ~bears_off:
        src &= ~bears_off
    return src


@inlined
def _node_sources(rules, row, node, occ, closed, die, allowance):
    """Points from which one checker may move by a die at a node of the search."""
    src = sources(rules, occ, np.int64(row[MY_PINS]), closed, die)
    heads = node[0] >> HEAD & 1 | (node[0] >> (HEAD + 32) & 1) << 1
    heads |= (node[1] >> HEAD & 1) << 2 | (node[1] >> (HEAD + 32) & 1) << 3
    if rules.head == RUNNER:
        away = occ & ~HEAD_BIT
        rest = checkers_left(row, 0) + count(row, 0, 0) - heads
        if rest == 1 and away and lowest(away) >= 12:
            src &= ~HEAD_BIT  # only the first checker may move until it is past the opponent's head
    elif allowance - (count(row, 0, HEAD) - heads) <= 0:
        src &= ~HEAD_BIT
    if rules.bound and node[2] >> 32:
        src = _without_bound_moves(rules, node, occ, src, die)
    return src


@inlined
def _can_have_grace(row):
    """Are there later stages, and is it the thrower who plays, so that it may matter which move came home last?"""
    owed, turn = np.int64(row[OWED]), np.int64(row[TURN])
    return (owed >> 12 & 7) > (owed >> 6 & 7) and (turn & PLAYER) == (turn >> 1 & 1)


@inlined
def _move_deeds(rules, row, occ, after, a0, a1, a2, a3, is_last, hit):
    """Deed bits that one checker move adds."""
    deeds = np.int64(0)
    if not after:
        deeds |= EMPTIED
    elif rules.stop == GRACE_STOP and is_last and occ & OUTSIDE and not after & OUTSIDE and _can_have_grace(row):
        deeds |= HOME_WITH_LAST
    if rules.hit_wins and hit:
        deeds |= BY_HIT
    if rules.mother:
        deeds |= _mother_verdict(row, a0, a1, a2, a3)
    return deeds


@inlined
def _expand(rules, row, scr, level, index, die, used, moves, closed, lone, allowance, n):
    """Add the positions after one checker move by `die` from a node to the next level; returns its new size."""
    node = scr.nodes[level, index]
    m0, m1, m2, m3 = _planes(node)
    occ = (m0 | m1 | m2 | m3) & ON_BOARD
    src = _node_sources(rules, row, node, occ, closed, die, allowance)
    while src:
        s = lowest(src)
        src &= src - 1
        bit = np.int64(1) << s
        landing = np.int64(1) << max(s - die, 0)
        a0, a1, a2, a3 = take(m0, m1, m2, m3, bit)
        shared = (a0 | a1 | a2 | a3) & landing & ON_BOARD
        a0, a1, a2, a3 = put(a0, a1, a2, a3, landing)
        after = (a0 | a1 | a2 | a3) & ON_BOARD
        hit = landing & lone & ~node[2] if rules.contact == HIT else np.int64(0)
        deeds = _move_deeds(rules, row, occ, after, a0, a1, a2, a3, level + 1 == moves, hit)
        if rules.block == SPORT and not deeds & EMPTIED and not is_permitted(rules, row, after, np.int64(0)):
            continue
        bound, hidden = np.int64(0), np.int64(0)
        if rules.bound:
            bound, hidden = node[2] >> 32, node[3] & _LOW
            if bound & bit and not (m1 | m2 | m3) & bit:
                bound = bound & ~bit | landing & ON_BOARD  # the bound checker itself moves on
                hidden |= shared
                if landing == 1:
                    deeds |= _BOUND_OFF
            elif hidden & bit and not (a1 | a2 | a3) & bit:
                hidden &= ~bit
            if hit & HOME_MASK:
                bound |= hit
        child = scr.nodes[level + 1, n]
        child[0], child[1] = a0 | a1 << 32, a2 | a3 << 32
        child[2] = node[2] & _LOW | hit | bound << 32
        child[3] = hidden | ((node[3] >> 32 | deeds | used) + 1) << 32
        slot = _slot(scr, level + 1, n)
        _add_edge(scr, level, index, s, die, slot)
        if slot == n:
            n += 1
    return n


# ---------------------------------------------------------------------------------------------- which are plays


@inlined
def _passes_tests(rules, row, node, may_lock):
    """Does a node obey the restrictions on positions at the end of a play?"""
    return not node[3] & _LOW and is_permitted(rules, row, _occupied(node), may_lock)


@inlined
def _emit_node(rules, row, scr, n, node, ends):
    """The number of the play that ends at a node: n, and it is written, unless it is there already by another way."""
    m0, m1, m2, m3 = _planes(node)
    hits, deeds = node[2] & _LOW, _deeds(node)
    over = deeds & ENDS_PLAY
    if rules.bound or over:  # else nodes are plays of their own
        key = scr.nodes[0, n]  # level 0, the root, has served its purpose
        key[0], key[1], key[2] = node[0], node[1], hits
        key[3] = (over if over else deeds & ~_BOUND_OFF) << 32
        slot = _slot(scr, 0, n)
        if slot != n:
            return slot
    emit(rules, row, scr, n, m0, m1, m2, m3, hits, deeds, ends)
    return n


@inlined
def _wanted_deeds(rules, row, scr, level, size, may_lock):
    """Which nodes of the deepest level are plays: deed bits they must have, and bits they must not have."""
    must, must_not = 0, 0
    if level == 1 and np.int64(row[OWED]) & LARGER_OWED and np.int64(row[OWED]) & SMALLER_OWED:
        for i in range(size):
            node = scr.nodes[level, i]
            if _deeds(node) & USED_LARGER and (_deeds(node) & ENDS_PLAY or _passes_tests(rules, row, node, may_lock)):
                must = USED_LARGER
    if rules.bound_off_play:
        for i in range(size):
            node = scr.nodes[level, i]
            if not _deeds(node) & _BOUND_OFF and _deeds(node) & must == must and not node[3] & _LOW:
                must_not = _BOUND_OFF
    return must, must_not


@inlined
def _deepest_play(rules, row, scr, moves, may_lock):
    """The most moves that any legal play makes; 0 if there is none but the empty play."""
    for level in range(moves, 0, -1):
        for i in range(scr.sizes[level]):
            node = scr.nodes[level, i]
            if _deeds(node) & ENDS_PLAY or _passes_tests(rules, row, node, may_lock):
                return level
    return 0


@inner
def _choose_plays(rules, row, scr, moves):
    """Write the plays among the nodes: of those that end the game all, of the others the longest."""
    sizes = scr.sizes
    must_open = (
        rules.block == FEVGA
        and not has_borne_off(row, 4)
        and locks_in(occupied(row, 0), occupied(row, 4), rules.parallel)
    )
    may_lock = np.int64(0)
    best = _deepest_play(rules, row, scr, moves, may_lock)
    if must_open and best == 0:  # no play opens the lock: any that keeps the start open will do
        may_lock += 1
        best = _deepest_play(rules, row, scr, moves, may_lock)
    n = np.int64(0)
    scr.stamp[0] += 1
    for level in range(1, moves + 1):
        must, must_not = _wanted_deeds(rules, row, scr, level, sizes[level], may_lock)
        ends = surely_ends(rules, row, level == moves)
        for i in range(sizes[level]):
            node = scr.nodes[level, i]
            deeds = _deeds(node)
            is_play = deeds & ENDS_PLAY != 0
            if not is_play and level == best and deeds & must == must and not deeds & must_not:
                is_play = _passes_tests(rules, row, node, may_lock)
            scr.leaf[level, i] = -1
            if is_play:
                scr.leaf[level, i] = _emit_node(rules, row, scr, n, node, ends)
                n = max(n, scr.leaf[level, i] + 1)
    return n


@inner
def free_plays(rules, row, scr):
    """All plays of the stage, as next states, by trying every order. Returns their number (0: only a pass).

    Leaves in `scr` the moves between the nodes (`edges`) and the play that ends at each node (`leaf`).
    """
    owed = np.int64(row[OWED])
    larger, smaller, moves = owed & 7, owed >> 3 & 7, owed >> 9 & 7
    closed, lone = closed_points(rules, row), lone_points(rules, row)
    allowance = head_allowance(rules, row)
    root = scr.nodes[0, 0]
    root[0], root[1] = np.int64(row[0]) | np.int64(row[1]) << 32, np.int64(row[2]) | np.int64(row[3]) << 32
    root[2] = root[3] = 0
    sizes = scr.sizes
    sizes[0] = 1
    for level in range(moves):
        n = np.int64(0)
        scr.stamp[0] += 1
        scr.edge_sizes[level] = 0
        for i in range(sizes[level]):
            deeds = _deeds(scr.nodes[level, i])
            if deeds & ENDS_PLAY:
                continue
            for which in range(2):  # the larger and the smaller die; one value if they are equal
                die, owing, using = owed >> 6 & 7, np.int64(0), np.int64(0)
                if larger != smaller:
                    die = smaller if which else larger
                    owing = LARGER_OWED << which
                    using = USED_LARGER << which
                if owed & owing == owing and not deeds & using and (using or not which):
                    n = _expand(rules, row, scr, level, i, die, using, moves, closed, lone, allowance, n)
        sizes[level + 1] = n
    n = _choose_plays(rules, row, scr, moves)
    settle_plays(rules, row, scr, n)
    return n
