"""The plays of a stage where the order of its moves does not matter: each is enumerated once, without a table.

For equal dice the sources are taken in non-increasing order; for different dice pairs of sources are remembered
in masks. `order_matters` in `plays.py` says where that is exact.
"""

from __future__ import annotations

import numpy as np

from nardy_rl.afterstates import emit, settle_plays
from nardy_rl.board import HEAD, HOME_MASK, LARGER_OWED, MY_PINS, ON_BOARD, OWED, SMALLER_OWED, occupied, put, take
from nardy_rl.jit import highest, inlined, lowest
from nardy_rl.moves import HEAD_BIT, closed_points, is_permitted, lone_points, sources
from nardy_rl.rules import HIT, NO_BLOCK
from nardy_rl.turns import BY_HIT, USED_LARGER, USED_SMALLER, head_allowance, surely_ends


@inlined
def single_plays(rules, row, scr, n, die, deeds, ends, hits_only):
    """Add plays of one checker by one die to the n there are, all or those that hit; returns their number."""
    m0, m1, m2, m3 = np.int64(row[0]), np.int64(row[1]), np.int64(row[2]), np.int64(row[3])
    occ = (m0 | m1 | m2 | m3) & ON_BOARD
    lone = lone_points(rules, row) if rules.contact == HIT else np.int64(0)
    src = sources(rules, occ, np.int64(row[MY_PINS]), closed_points(rules, row), die)
    if head_allowance(rules, row) <= 0:
        src &= ~HEAD_BIT
    if hits_only:
        src &= lone << die
    while src:
        s = lowest(src)
        src &= src - 1
        a0, a1, a2, a3 = take(m0, m1, m2, m3, np.int64(1) << s)
        landing = np.int64(1) << max(s - die, 0)
        a0, a1, a2, a3 = put(a0, a1, a2, a3, landing)
        if is_permitted(rules, row, (a0 | a1 | a2 | a3) & ON_BOARD, np.int64(0)):
            hit = landing & lone
            over = BY_HIT if rules.hit_wins and hit else 0
            n = emit(rules, row, scr, n, a0, a1, a2, a3, hit, deeds | over, ends)
    return n


@inlined
def without_bound(src, landing, occ, die):
    """The sources of the second die after the first has bound the checker on `landing` (rules page, caucasian).

    It stands there alone, for there was an enemy checker.
    """
    if not src & landing:
        return src
    if landing >> die > 1:  # it stays on the board: not where others of its side stand
        return src & ~landing if landing >> die & occ else src
    return src & ~landing if src & ~landing else src


@inlined
def two_dice_plays(rules, row, scr, larger, smaller, ends):
    """Plays that use both dice of a non-double.

    A play is the pair (source of the larger die, source of the smaller). Pairs found with the larger die first are
    kept in `seen`; the second pass skips them. Two different pairs lead to the same position only when one checker
    makes both moves by either landing without a hit on the way (`chains`), or when both dice bear off. Where a hit
    wins, the first die must not hit.
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
            first &= ~HEAD_BIT
        if rules.hit_wins:
            first &= ~(lone << die)
        while first:
            s = lowest(first)
            first &= first - 1
            bit = np.int64(1) << s
            landing = np.int64(1) << max(s - die, 0)
            a0, a1, a2, a3 = take(m0, m1, m2, m3, bit)
            a0, a1, a2, a3 = put(a0, a1, a2, a3, landing)
            moved = (a0 | a1 | a2 | a3) & ON_BOARD
            second = sources(rules, moved, pinned, closed, other)
            if allowance - (s == HEAD) <= 0:
                second &= ~HEAD_BIT
            if rules.bound and landing & lone & HOME_MASK:
                second = without_bound(second, landing, moved, other)
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
                hits = (landing | landing2) & lone
                deeds = 2 | USED_LARGER | USED_SMALLER
                if rules.hit_wins and hits:
                    deeds |= BY_HIT
                n = emit(rules, row, scr, n, b0, b1, b2, b3, hits, deeds, ends)
    return n


@inlined
def double_plays(rules, row, scr, die, moves, full_ends, short_ends):
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
        first &= ~HEAD_BIT
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
                    n = emit(rules, row, scr, n, a0, a1, a2, a3, hits, moves, full_ends)
                continue
            allowance = at[6] - (s == HEAD)
            src = sources(rules, (a0 | a1 | a2 | a3) & ON_BOARD, pinned, closed, die) & (bit | (bit - 1))
            if allowance <= 0:
                src &= ~HEAD_BIT
            depth += 1
            at = stack[depth]
            at[0], at[1], at[2], at[3], at[4], at[5], at[6] = a0, a1, a2, a3, src, hits, allowance
        else:  # every continuation is tried: is the play that ends here among the longest?
            if depth > 0 and depth >= best:
                if is_permitted(rules, row, (at[0] | at[1] | at[2] | at[3]) & ON_BOARD, np.int64(0)):
                    if depth > best:
                        best, n = depth, np.int64(0)
                    n = emit(rules, row, scr, n, at[0], at[1], at[2], at[3], at[5], depth, short_ends)
            depth -= 1
    return n


@inlined
def ordered_plays(rules, row, scr):
    """All plays of the stage, as next states, where the order of moves does not matter.

    Returns their number (0: only a pass).
    """
    owed = np.int64(row[OWED])
    larger, smaller = owed & 7, owed >> 3 & 7
    full_ends, short_ends = surely_ends(rules, row, True), surely_ends(rules, row, False)
    n = np.int64(0)
    if larger == smaller:
        n = double_plays(rules, row, scr, owed >> 6 & 7, owed >> 9 & 7, full_ends, short_ends)
    else:
        if owed & LARGER_OWED and owed & SMALLER_OWED:
            n = two_dice_plays(rules, row, scr, larger, smaller, full_ends)
        else:
            short_ends = full_ends
        # one die alone: if not both can be used, or if its hit ends the game
        if owed & LARGER_OWED and (n == 0 or rules.hit_wins):
            n = single_plays(rules, row, scr, n, larger, 1 | USED_LARGER, short_ends, n > 0)
        if owed & SMALLER_OWED and (n == 0 or rules.hit_wins):
            n = single_plays(rules, row, scr, n, smaller, 1 | USED_SMALLER, short_ends, n > 0)
    settle_plays(rules, row, scr, n)
    return n
