"""Move generation: every distinct legal play of a stage, as the state that follows it (rules page, 2, 5 and 6).

Two generators share the rules below. `ordered_plays` enumerates each play once, without a table: for equal dice
the sources are taken in non-increasing order, for different dice pairs are remembered in masks. That is exact
as long as the order of the moves does not matter. Where it does (a freeze that begins inside the play, a runner,
bound checkers, a game that can end inside the play, ...), `free_plays` walks all orders level by level and merges
equal nodes by hash. `order_matters` decides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nardy_rl.board import (
    BAR,
    FAR_MASK,
    HEAD,
    HOME_MASK,
    LARGER_OWED,
    MY_PINS,
    ON_BOARD,
    OUTSIDE,
    OWED,
    PLAYER,
    POINTS_MASK,
    SMALLER_OWED,
    STARTER,
    THEIR_PINS,
    THROWS,
    TURN,
    WORDS,
    across,
    copy_into,
    count,
    hit_planes,
    made,
    occupied,
    put,
    take,
)
from nardy_rl.jit import highest, inlined, inner, kernel, lowest, popcount
from nardy_rl.results import checkers_left, has_borne_off
from nardy_rl.rules import (
    ALWAYS,
    BEAROFF,
    FEVGA,
    GRACE_STOP,
    HIT,
    NO_BLOCK,
    NO_CONTACT,
    PIN,
    RUNNER,
    SPORT,
)
from nardy_rl.turns import (
    BY_DRAW,
    BY_HIT,
    BY_MOTHER,
    HOME_WITH_LAST,
    MOVES_MASK,
    USED_LARGER,
    USED_SMALLER,
    head_allowance,
    is_over,
    owes,
    settle,
)

# Fifteen checkers share at most four moves of one value: C(15 + 4 - 1, 4) = 3,060 plays, and at most 15 * 15 * 2
# of two dice. Flags (bound checkers, a fourth move that came home) can at most double the nodes met on the way.
MAX_PLAYS = 8192
# At most 680 * 2 nodes have one move left, and at most 15 points to move it from.
_MAX_EDGES = 1 << 15
_TABLE = 1 << 14
_HEAD_BIT = 1 << HEAD
_BAR_BIT = 1 << BAR

# words of a node of `free_plays`
_HITS, _BOUND, _HIDDEN, _DEEDS, _NODE_WORDS = 4, 5, 6, 7, 8
_ENDED = BY_HIT | BY_MOTHER | BY_DRAW
_BOUND_OFF = 1 << 9  # among the deeds: a bound checker was borne off
_EMPTY = 1 << 10  # among the deeds: nothing left on the board


class Scratch(NamedTuple):
    """Working memory of the generator, one for each thread."""

    plays: np.ndarray  # uint32[MAX_PLAYS, 16]  the states after each play
    deeds: np.ndarray  # int64[MAX_PLAYS]       what each play did
    nodes: np.ndarray  # int64[5, MAX_PLAYS, 8] positions inside a play, by number of moves made
    edges: np.ndarray  # int32[4, _MAX_EDGES, 4] moves from the nodes of a level: node, source, die, node of the next
    edge_sizes: np.ndarray  # int64[4]          how many they are
    leaf: np.ndarray  # int64[5, MAX_PLAYS]     the play that ends at a node, or -1
    table: np.ndarray  # int64[_TABLE, 2]       hash table: stamp and node
    stamp: np.ndarray  # int64[1]
    more: np.ndarray  # uint32[6, MAX_PLAYS, 16] plays of later stages (full_move=whole)
    made: np.ndarray  # int64[6, MAX_PLAYS]     moves made on the way to them
    size: np.ndarray  # int64[6]                how many they are
    at: np.ndarray  # int64[6]                  how many of them are done
    longest: np.ndarray  # int64[MAX_PLAYS]     most moves from each play of the first stage
    sizes: np.ndarray  # int64[5]               nodes on each level
    seen: np.ndarray  # int64[26]               second sources by first source, for two dice
    stack: np.ndarray  # int64[5, 7]            planes, sources left, hits, head allowance by depth, for doubles


def scratch() -> Scratch:
    """Fresh working memory; pages are touched only when used."""
    return Scratch(
        plays=np.empty((MAX_PLAYS, WORDS), np.uint32),
        deeds=np.empty(MAX_PLAYS, np.int64),
        nodes=np.empty((5, MAX_PLAYS, _NODE_WORDS), np.int64),
        edges=np.empty((4, _MAX_EDGES, 4), np.int32),
        edge_sizes=np.zeros(4, np.int64),
        leaf=np.empty((5, MAX_PLAYS), np.int64),
        table=np.zeros((_TABLE, 2), np.int64),
        stamp=np.zeros(1, np.int64),
        more=np.empty((6, MAX_PLAYS, WORDS), np.uint32),
        made=np.empty((6, MAX_PLAYS), np.int64),
        size=np.zeros(6, np.int64),
        at=np.zeros(6, np.int64),
        longest=np.empty(MAX_PLAYS, np.int64),
        sizes=np.zeros(5, np.int64),
        seen=np.zeros(26, np.int64),
        stack=np.zeros((5, 7), np.int64),
    )


# ---------------------------------------------------------------------------------------------- single moves


@inlined
def closed_points(rules, row):
    """Points where no checker of the player may land, in his numbering; they stay so during a stage."""
    if rules.contact == NO_CONTACT:
        return across(occupied(row, 4), rules.parallel)
    closed = across(made(row, 4), rules.parallel)
    if rules.contact == PIN:
        closed |= np.int64(row[MY_PINS])
    return closed


@inlined
def lone_points(rules, row):
    """Points with a lone enemy checker that may be hit or pinned, in the player's numbering."""
    if rules.contact == NO_CONTACT:
        return np.int64(0)
    lone = occupied(row, 4) & ~made(row, 4) & POINTS_MASK
    return across(lone, rules.parallel) & ~np.int64(row[MY_PINS])


@inlined
def sources(rules, occ, pinned, closed, die):
    """Points from which one checker may move by this die, the head and the runner apart.

    occ: the player's points and bar; pinned: his pinned checkers' points; closed: see `closed_points`.
    """
    if occ & _BAR_BIT:
        return _BAR_BIT & ~(closed << die)
    movable = occ & ~pinned
    src = movable & ~(closed << die) & (np.int64(-2) << die)
    if rules.freeze == ALWAYS:
        src &= ~HOME_MASK
    if not occ & OUTSIDE:
        if rules.freeze == BEAROFF:
            src &= ~HOME_MASK
        if occ >> die & 1:
            src |= movable & (np.int64(1) << die)
        elif not rules.exact and occ and not occ >> die:
            src |= movable & (np.int64(1) << highest(occ))
    return src


# ---------------------------------------------------------------------------------------------- blocks


@inlined
def six_runs(points):
    """Bit q set where the six points q..q+5 (of 1..24) are all in the mask."""
    run = points & points >> 1
    run &= run >> 2
    return run & points >> 4 & points >> 5 & POINTS_MASK


@inlined
def is_blind_block(occ, enemy, enemy_off, parallel):
    """Does the player hold a block of six with no enemy checker in front of it or borne off?"""
    if enemy_off:
        return False
    runs = six_runs(across(occ, parallel))
    return runs != 0 and (enemy == 0 or lowest(runs) <= lowest(enemy))


@inlined
def locks_in(occ, enemy, parallel):
    """All enemy checkers stand on one point and the player holds the six in front of it (fevga, rule b)."""
    if enemy & (enemy - 1):
        return False
    q = lowest(enemy)
    return q >= 7 and (six_runs(across(occ, parallel)) >> (q - 6) & 1) != 0


@inlined
def fills_start(occ):
    """The player holds all six points 24..19 (fevga, rule a)."""
    return occ & (FAR_MASK & POINTS_MASK) == FAR_MASK & POINTS_MASK


@inlined
def is_permitted(rules, row, occ, may_lock):
    """Does the shape after a play obey the block rule of the game?"""
    if rules.block == NO_BLOCK:
        return True
    enemy = occupied(row, 4)
    if rules.block == FEVGA:
        if fills_start(occ):
            return False
        return may_lock or has_borne_off(row, 4) or not locks_in(occ, enemy, rules.parallel)
    return not is_blind_block(occ, enemy, has_borne_off(row, 4), rules.parallel)


# ---------------------------------------------------------------------------------------------- writing plays


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
    """The state after a play that uses up a plain throw: the opponent is to throw."""
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
def emit(rules, row, scr, n, m0, m1, m2, m3, hits, deeds):
    """Write play number n; returns n + 1."""
    if rules.plain:
        write_passed(rules, row, scr.plays[n], m0, m1, m2, m3, hits)
    else:
        write_play(rules, row, scr.plays[n], m0, m1, m2, m3, hits)
        scr.deeds[n] = deeds
    return n + 1


# ---------------------------------------------------------------------------------------------- order is free


@inlined
def landings(movable, closed, owed):
    """Points that a checker may come to land on in this stage, other restrictions apart."""
    larger, smaller = owed & 7, owed >> 3 & 7
    if larger != smaller:
        first, second = movable >> larger & ~closed, movable >> smaller & ~closed
        return first | second | (first >> smaller | second >> larger) & ~closed
    value, step, reached = owed >> 6 & 7, movable, np.int64(0)
    for _ in range(owed >> 9 & 7):
        step = step >> value & ~closed
        reached |= step
    return reached


@inlined
def order_matters(rules, row):
    """May the order of the moves decide what is legal or what follows, so that all orders must be tried?"""
    owed = np.int64(row[OWED])
    moves = owed >> 9 & 7
    occ = occupied(row, 0)
    if checkers_left(row, 0) <= moves:
        return True  # the game can end inside the play
    if rules.head == RUNNER and count(row, 0, HEAD) >= checkers_left(row, 0) + count(row, 0, 0) - 1:
        return True  # all on the head but one at most: the runner's rule is in force
    if rules.stop == GRACE_STOP or rules.freeze == BEAROFF:
        outside = np.int64(0)
        for k in range(4):
            outside += popcount(np.int64(row[k]) & OUTSIDE) << k
        if 0 < outside <= moves:
            return True  # the last checker may come home inside the play
    if rules.block == SPORT and not has_borne_off(row, 4) and lowest(occupied(row, 4)) >= 7:
        return True  # a transient blind block may arise
    if rules.block == FEVGA and not has_borne_off(row, 4):
        enemy = occupied(row, 4)
        if not enemy & (enemy - 1):
            return True  # all on one point: a lock may stand that must be opened
    if rules.hit_wins or rules.bound:
        lone = lone_points(rules, row) & landings(occ, closed_points(rules, row), owed)
        if (rules.hit_wins and lone) or lone & HOME_MASK:
            return True  # the game may end with a hit, or a checker be bound
    if rules.mother and count(row, 4, HEAD) == 1 and count(row, 0, HEAD) <= moves:
        reached = landings(occ & ~np.int64(row[MY_PINS]), closed_points(rules, row), owed)
        return ((occ | reached) & 2) != 0  # the opponent's mother is or may be pinned
    return False


@inlined
def single_plays(rules, row, scr, die, deeds):
    """Plays of one checker by one die."""
    n = np.int64(0)
    m0, m1, m2, m3 = np.int64(row[0]), np.int64(row[1]), np.int64(row[2]), np.int64(row[3])
    occ = (m0 | m1 | m2 | m3) & ON_BOARD
    lone = lone_points(rules, row) if rules.contact == HIT else np.int64(0)
    src = sources(rules, occ, np.int64(row[MY_PINS]), closed_points(rules, row), die)
    if head_allowance(rules, row) <= 0:
        src &= ~_HEAD_BIT
    while src:
        s = lowest(src)
        src &= src - 1
        a0, a1, a2, a3 = take(m0, m1, m2, m3, np.int64(1) << s)
        landing = np.int64(1) << max(s - die, 0)
        a0, a1, a2, a3 = put(a0, a1, a2, a3, landing)
        if is_permitted(rules, row, (a0 | a1 | a2 | a3) & ON_BOARD, np.int64(0)):
            n = emit(rules, row, scr, n, a0, a1, a2, a3, landing & lone, deeds)
    return n


@inlined
def two_dice_plays(rules, row, scr, larger, smaller):
    """Plays that use both dice of a non-double.

    A play is the pair (source of the larger die, source of the smaller). Pairs found with the larger die first are
    kept in `seen`; the second pass skips them. Two different pairs lead to the same position only when one checker
    makes both moves by either landing without a hit on the way (`chains`), or when both dice bear off.
    """
    n = np.int64(0)
    m0, m1, m2, m3 = np.int64(row[0]), np.int64(row[1]), np.int64(row[2]), np.int64(row[3])
    occ = (m0 | m1 | m2 | m3) & ON_BOARD
    pinned = np.int64(row[MY_PINS])
    closed = closed_points(rules, row)
    lone = lone_points(rules, row) if rules.contact == HIT else np.int64(0)
    allowance = head_allowance(rules, row)
    checked = rules.block != NO_BLOCK
    seen = scr.seen
    for point in range(26):
        seen[point] = 0
    chains = np.int64(0)
    for larger_first in (True, False):
        die, other = (larger, smaller) if larger_first else (smaller, larger)
        first = sources(rules, occ, pinned, closed, die)
        if allowance <= 0:
            first &= ~_HEAD_BIT
        while first:
            s = lowest(first)
            first &= first - 1
            bit = np.int64(1) << s
            landing = np.int64(1) << max(s - die, 0)
            a0, a1, a2, a3 = take(m0, m1, m2, m3, bit)
            a0, a1, a2, a3 = put(a0, a1, a2, a3, landing)
            second = sources(rules, (a0 | a1 | a2 | a3) & ON_BOARD, pinned, closed, other)
            if allowance - (s == HEAD) <= 0:
                second &= ~_HEAD_BIT
            if larger_first:
                seen[s] = second
            else:
                if s <= smaller:  # bears off: then the pair with the dice exchanged is the same play
                    second &= ~(seen[s] & ((np.int64(2) << smaller) - 1))
            while second:
                t = lowest(second)
                second &= second - 1
                u, v = (s, t) if larger_first else (t, s)  # sources of the larger and of the smaller die
                if not larger_first and seen[u] >> v & 1:
                    continue
                if v == u - larger or u == v - smaller:
                    middle, end = (v, u) if v == u - larger else (u, v)
                    if not lone >> middle & 1:
                        if chains >> end & 1:
                            continue
                        chains |= np.int64(1) << end
                landing2 = np.int64(1) << max(t - other, 0)
                b0, b1, b2, b3 = take(a0, a1, a2, a3, np.int64(1) << t)
                b0, b1, b2, b3 = put(b0, b1, b2, b3, landing2)
                if checked and not is_permitted(rules, row, (b0 | b1 | b2 | b3) & ON_BOARD, np.int64(0)):
                    continue
                n = emit(
                    rules,
                    row,
                    scr,
                    n,
                    b0,
                    b1,
                    b2,
                    b3,
                    (landing | landing2) & lone,
                    2 | USED_LARGER | USED_SMALLER,
                )
    return n


@inlined
def double_plays(rules, row, scr, die, moves):
    """Plays of up to `moves` checkers by one die: the longest that there are, each set of sources once."""
    stack = scr.stack
    for k in range(4):
        stack[0, k] = np.int64(row[k])
    occ = occupied(row, 0)
    pinned = np.int64(row[MY_PINS])
    closed = closed_points(rules, row)
    lone = lone_points(rules, row) if rules.contact == HIT else np.int64(0)
    allowance = head_allowance(rules, row)
    first = sources(rules, occ, pinned, closed, die)
    if allowance <= 0:
        first &= ~_HEAD_BIT
    stack[0, 4], stack[0, 5], stack[0, 6] = first, 0, allowance
    depth, best, n = 0, 0, np.int64(0)
    while depth >= 0:
        at = stack[depth]
        if at[4]:
            s = highest(at[4])
            bit = np.int64(1) << s
            at[4] ^= bit
            landing = np.int64(1) << max(s - die, 0)
            a0, a1, a2, a3 = take(at[0], at[1], at[2], at[3], bit)
            a0, a1, a2, a3 = put(a0, a1, a2, a3, landing)
            hits = at[5] | landing & lone
            if depth + 1 == moves:
                if is_permitted(rules, row, (a0 | a1 | a2 | a3) & ON_BOARD, np.int64(0)):
                    if best < moves:
                        best, n = moves, np.int64(0)
                    n = emit(rules, row, scr, n, a0, a1, a2, a3, hits, moves)
                continue
            allowance = at[6] - (s == HEAD)
            src = sources(rules, (a0 | a1 | a2 | a3) & ON_BOARD, pinned, closed, die) & (bit | (bit - 1))
            if allowance <= 0:
                src &= ~_HEAD_BIT
            depth += 1
            at = stack[depth]
            at[0], at[1], at[2], at[3], at[4], at[5], at[6] = a0, a1, a2, a3, src, hits, allowance
        else:  # every continuation is tried: is the play that ends here among the longest?
            if depth > 0 and depth >= best:
                if is_permitted(rules, row, (at[0] | at[1] | at[2] | at[3]) & ON_BOARD, np.int64(0)):
                    if depth > best:
                        best, n = depth, np.int64(0)
                    n = emit(rules, row, scr, n, at[0], at[1], at[2], at[3], at[5], depth)
            depth -= 1
    return n


@inlined
def ordered_plays(rules, row, scr):
    """All plays of the stage where the order of moves does not matter. Returns their number (0: only a pass)."""
    owed = np.int64(row[OWED])
    larger, smaller = owed & 7, owed >> 3 & 7
    if larger == smaller:
        return double_plays(rules, row, scr, owed >> 6 & 7, owed >> 9 & 7)
    n = np.int64(0)
    if owed & LARGER_OWED and owed & SMALLER_OWED:
        n = two_dice_plays(rules, row, scr, larger, smaller)
    if n == 0 and owed & LARGER_OWED:
        n = single_plays(rules, row, scr, larger, 1 | USED_LARGER)
    if n == 0 and owed & SMALLER_OWED:
        n = single_plays(rules, row, scr, smaller, 1 | USED_SMALLER)
    return n


# ---------------------------------------------------------------------------------------------- order matters


@inlined
def node_slot(scr, level, n):
    """Number of the node equal to the one written at `nodes[level, n]`: n itself, put into the table, if it is new."""
    node = scr.nodes[level, n]
    h = np.int64(0x345678)
    for k in range(_NODE_WORDS):
        h = (h ^ node[k]) * np.int64(0x100000001B3)
        h ^= h >> 29
    i = h & (_TABLE - 1)
    while scr.table[i, 0] == scr.stamp[0]:
        other = scr.nodes[level, scr.table[i, 1]]
        same = True
        for k in range(_NODE_WORDS):
            same = same and other[k] == node[k]
        if same:
            return scr.table[i, 1]
        i = (i + 1) & (_TABLE - 1)
    scr.table[i, 0] = scr.stamp[0]
    scr.table[i, 1] = n
    return n


@inlined
def mother_verdict(rules, row, a0, a1, a2, a3):
    """What the mothers decide after a checker move of the player: a deed bit, or 0 (rules page, 6)."""
    if count(row, 4, HEAD) != 1 or not (a0 | a1 | a2 | a3) >> 1 & 1 or np.int64(row[MY_PINS]) >> 1 & 1:
        return 0
    if not (a0 | a1 | a2 | a3) >> HEAD & 1:
        return BY_MOTHER
    if np.int64(row[MY_PINS]) >> HEAD & 1:
        return BY_DRAW
    return 0


@inlined
def without_bound_moves(rules, node, occ, src, die):
    """The sources less those from which only a bound checker could move, and may not (rules page, caucasian).

    A bound checker that shares its point is covered: the one that leaves is a free one.
    """
    lone_bound = src & node[_BOUND] & ~(node[1] | node[2] | node[3])
    bears_off = lone_bound & ((np.int64(2) << die) - 1)
    if not rules.bound_hide_end:
        src &= ~(lone_bound & ~bears_off & (occ << die))
    if not rules.bound_off_play and src & ~bears_off:
        src &= ~bears_off
    return src


@inlined
def node_sources(rules, row, node, occ, closed, die, allowance):
    """Points from which one checker may move by a die at a node of the search."""
    src = sources(rules, occ, np.int64(row[MY_PINS]), closed, die)
    heads = node[0] >> HEAD & 1 | (node[1] >> HEAD & 1) << 1 | (node[2] >> HEAD & 1) << 2 | (node[3] >> HEAD & 1) << 3
    if rules.head == RUNNER:
        away = occ & ~_HEAD_BIT
        rest = checkers_left(row, 0) + count(row, 0, 0) - heads
        if rest == 1 and away and lowest(away) >= 12:
            src &= ~_HEAD_BIT  # only the first checker may move until it is past the opponent's head
    elif allowance - (count(row, 0, HEAD) - heads) <= 0:
        src &= ~_HEAD_BIT
    if rules.bound and node[_BOUND]:
        src = without_bound_moves(rules, node, occ, src, die)
    return src


@inlined
def can_have_grace(row):
    """Are there later stages, and is it the thrower who plays, so that it may matter which move came home last?"""
    owed, turn = np.int64(row[OWED]), np.int64(row[TURN])
    return (owed >> 12 & 7) > (owed >> 6 & 7) and (turn & PLAYER) == (turn >> 1 & 1)


@inlined
def move_deeds(rules, row, occ, after, a0, a1, a2, a3, is_last, hit):
    """Deed bits that one checker move adds."""
    deeds = np.int64(0)
    if not after:
        deeds |= _EMPTY
    elif rules.stop == GRACE_STOP and is_last and occ & OUTSIDE and not after & OUTSIDE and can_have_grace(row):
        deeds |= HOME_WITH_LAST
    if rules.hit_wins and hit:
        deeds |= BY_HIT
    if rules.mother:
        deeds |= mother_verdict(rules, row, a0, a1, a2, a3)
    return deeds


@inlined
def expand(rules, row, scr, level, index, die, used, moves, closed, lone, allowance, n):
    """Add the positions after one checker move by `die` from a node to the next level; returns its new size."""
    node = scr.nodes[level, index]
    occ = (node[0] | node[1] | node[2] | node[3]) & ON_BOARD
    src = node_sources(rules, row, node, occ, closed, die, allowance)
    while src:
        s = lowest(src)
        src &= src - 1
        bit = np.int64(1) << s
        landing = np.int64(1) << max(s - die, 0)
        a0, a1, a2, a3 = take(node[0], node[1], node[2], node[3], bit)
        shared = (a0 | a1 | a2 | a3) & landing & ON_BOARD
        a0, a1, a2, a3 = put(a0, a1, a2, a3, landing)
        after = (a0 | a1 | a2 | a3) & ON_BOARD
        hit = landing & lone & ~node[_HITS] if rules.contact == HIT else np.int64(0)
        deeds = move_deeds(rules, row, occ, after, a0, a1, a2, a3, level + 1 == moves, hit)
        if rules.block == SPORT and not deeds & _EMPTY and not is_permitted(rules, row, after, np.int64(0)):
            continue
        bound, hidden = node[_BOUND], node[_HIDDEN]
        if rules.bound:
            if bound & bit and not node[1] & bit and not node[2] & bit and not node[3] & bit:
                bound = bound & ~bit | landing & ON_BOARD  # the bound checker itself moves on
                hidden |= shared
                if landing == 1:
                    deeds |= _BOUND_OFF
            elif hidden & bit and not (a1 | a2 | a3) & bit:
                hidden &= ~bit
            if hit & HOME_MASK:
                bound |= hit
        child = scr.nodes[level + 1, n]
        child[0], child[1], child[2], child[3] = a0, a1, a2, a3
        child[_HITS] = node[_HITS] | hit
        child[_BOUND], child[_HIDDEN] = bound, hidden
        child[_DEEDS] = (node[_DEEDS] | deeds | used) + 1
        slot = node_slot(scr, level + 1, n)
        edge = scr.edge_sizes[level]
        scr.edges[level, edge, 0], scr.edges[level, edge, 1] = index, s
        scr.edges[level, edge, 2], scr.edges[level, edge, 3] = die, slot
        scr.edge_sizes[level] = edge + 1
        if slot == n:
            n += 1
        if n >= MAX_PLAYS or edge + 1 >= _MAX_EDGES:
            raise OverflowError("more plays in one stage than the generator has room for")
    return n


@inlined
def passes_tests(rules, row, node, may_lock):
    """Does a node obey the restrictions on positions at the end of a play?"""
    if node[_HIDDEN]:
        return False
    return is_permitted(rules, row, (node[0] | node[1] | node[2] | node[3]) & ON_BOARD, may_lock)


@inlined
def emit_node(rules, row, scr, n, node):
    """The number of the play that ends at a node: n, and it is written, unless it is there already by another way."""
    key = scr.nodes[0, n]  # level 0, the root, has served its purpose
    for k in range(_BOUND):
        key[k] = node[k]
    ended = node[_DEEDS] & (_ENDED | _EMPTY)
    key[_BOUND], key[_HIDDEN] = 0, 0
    key[_DEEDS] = ended if ended else node[_DEEDS] & ~_BOUND_OFF
    slot = node_slot(scr, 0, n)
    if slot == n:
        write_play(rules, row, scr.plays[n], node[0], node[1], node[2], node[3], node[_HITS])
        scr.deeds[n] = node[_DEEDS]
    return slot


@inlined
def wanted_deeds(rules, row, scr, level, size, may_lock):
    """Which nodes of the deepest level are plays: deed bits they must have, and bits they must not have."""
    must, must_not = 0, 0
    if level == 1 and np.int64(row[OWED]) & LARGER_OWED and np.int64(row[OWED]) & SMALLER_OWED:
        for i in range(size):
            node = scr.nodes[level, i]
            if node[_DEEDS] & USED_LARGER and (
                node[_DEEDS] & (_ENDED | _EMPTY) or passes_tests(rules, row, node, may_lock)
            ):
                must = USED_LARGER
    if rules.bound_off_play:
        for i in range(size):
            node = scr.nodes[level, i]
            if not node[_DEEDS] & _BOUND_OFF and node[_DEEDS] & must == must and not node[_HIDDEN]:
                must_not = _BOUND_OFF
    return must, must_not


@inlined
def deepest_play(rules, row, scr, moves, may_lock):
    """The most moves that any legal play makes; 0 if there is none but the empty play."""
    for level in range(moves, 0, -1):
        for i in range(scr.sizes[level]):
            node = scr.nodes[level, i]
            if node[_DEEDS] & (_ENDED | _EMPTY) or passes_tests(rules, row, node, may_lock):
                return level
    return 0


@inner
def free_plays(rules, row, scr):
    """All plays of the stage by trying every order. Returns their number (0: only a pass).

    Leaves in `scr` the nodes with the moves between them (`edges`) and the play that ends at each (`leaf`); only
    the root, node 0 of level 0, is overwritten.
    """
    owed = np.int64(row[OWED])
    larger, smaller, moves = owed & 7, owed >> 3 & 7, owed >> 9 & 7
    closed, lone = closed_points(rules, row), lone_points(rules, row)
    allowance = head_allowance(rules, row)
    root = scr.nodes[0, 0]
    for k in range(4):
        root[k] = np.int64(row[k])
    for k in range(_HITS, _NODE_WORDS):
        root[k] = 0
    sizes = scr.sizes
    sizes[0] = 1
    for level in range(moves):
        n = np.int64(0)
        scr.stamp[0] += 1
        scr.edge_sizes[level] = 0
        for i in range(sizes[level]):
            deeds = scr.nodes[level, i, _DEEDS]
            if deeds & (_ENDED | _EMPTY):
                continue
            for which in range(2):  # the larger and the smaller die; one value if they are equal
                die, owing, using = owed >> 6 & 7, np.int64(0), np.int64(0)
                if larger != smaller:
                    die = smaller if which else larger
                    owing = LARGER_OWED << which
                    using = USED_LARGER << which
                if owed & owing == owing and not deeds & using and (using or not which):
                    n = expand(rules, row, scr, level, i, die, using, moves, closed, lone, allowance, n)
        sizes[level + 1] = n
    return choose_plays(rules, row, scr, moves)


@inner
def choose_plays(rules, row, scr, moves):
    """Write the plays among the nodes: of those that end the game all, of the others the longest."""
    sizes = scr.sizes
    must_open = (
        rules.block == FEVGA
        and not has_borne_off(row, 4)
        and locks_in(occupied(row, 0), occupied(row, 4), rules.parallel)
    )
    may_lock = np.int64(0)
    best = deepest_play(rules, row, scr, moves, may_lock)
    if must_open and best == 0:  # no play opens the lock: any that keeps the start open will do
        may_lock += 1
        best = deepest_play(rules, row, scr, moves, may_lock)
    n = np.int64(0)
    scr.stamp[0] += 1
    for level in range(1, moves + 1):
        must, must_not = wanted_deeds(rules, row, scr, level, sizes[level], may_lock)
        for i in range(sizes[level]):
            node = scr.nodes[level, i]
            deeds = node[_DEEDS]
            is_play = deeds & (_ENDED | _EMPTY) != 0
            if not is_play and level == best and deeds & must == must and not deeds & must_not:
                is_play = passes_tests(rules, row, node, may_lock)
            scr.leaf[level, i] = -1
            if is_play:
                scr.leaf[level, i] = emit_node(rules, row, scr, n, node)
                n = max(n, scr.leaf[level, i] + 1)
    return n


# ---------------------------------------------------------------------------------------------- whole plays


@inner
def stage_plays(rules, row, scr):
    """Every distinct legal play of the stage, as next states in `scr.plays`; returns their number, at least 1."""
    if order_matters(rules, row):
        n = free_plays(rules, row, scr)
        settled = False
    else:
        n = ordered_plays(rules, row, scr)
        settled = rules.plain == 1
    if n == 0:
        write_play(
            rules,
            row,
            scr.plays[0],
            np.int64(row[0]),
            np.int64(row[1]),
            np.int64(row[2]),
            np.int64(row[3]),
            np.int64(0),
        )
        scr.deeds[0] = 0
        settled = False
        n = 1
    if not settled:
        for i in range(n):
            settle(rules, row, scr.plays[i], scr.deeds[i])
    return n


@inner
def goes_on(row, after):
    """Is a state after a play still the same player's turn to play stages of the same throw?"""
    return not is_over(after) and owes(after) and not (np.int64(row[TURN]) ^ np.int64(after[TURN])) & PLAYER


@inner
def longest_wholes(rules, row, scr, n):
    """Keep, of the n plays of a stage, those from which the most moves of the progression can be made.

    Walks the stages that the player goes on with depth first; `scr.more[d]` holds the plays at depth d, of which
    `made` moves were made on the way to each, and `origin` is the play of the first stage that is being followed.
    """
    more = scr.more
    size, at, made, longest = scr.size, scr.at, scr.made, scr.longest
    for i in range(n):
        copy_into(more[0, i], scr.plays[i])
        made[0, i] = scr.deeds[i] & MOVES_MASK
        longest[i] = 0
    size[0], at[0] = n, 0
    depth = 0
    while depth >= 0:
        if at[depth] == size[depth]:
            depth -= 1
            continue
        i = at[depth]
        at[depth] += 1
        longest[at[0] - 1] = max(longest[at[0] - 1], made[depth, i])
        after = more[depth, i]
        if goes_on(row, after) and depth < 5:
            found = stage_plays(rules, after, scr)
            depth += 1
            size[depth], at[depth] = found, 0
            for k in range(found):
                copy_into(more[depth, k], scr.plays[k])
                made[depth, k] = made[depth - 1, i] + (scr.deeds[k] & MOVES_MASK)
    most, kept = np.int64(0), 0
    for i in range(n):
        most = max(most, longest[i])
    for i in range(n):
        if longest[i] == most or is_over(more[0, i]):
            copy_into(scr.plays[kept], more[0, i])
            kept += 1
    return kept


@kernel
def plays(rules, row, scr):
    """Every distinct legal play of a state that owes a stage, as next states in `scr.plays`.

    rules: Rules; row: uint32[16] with something owed; scr: Scratch of this thread. Returns the number of plays, at
    least 1 (the pass). Each next state is in the view of the player who then acts, or finished.
    """
    n = stage_plays(rules, row, scr)
    if rules.whole and (np.int64(row[OWED]) >> 12 & 7) > (np.int64(row[OWED]) >> 6 & 7):
        n = longest_wholes(rules, row, scr, n)
    return n
