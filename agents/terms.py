"""What a hand-written player looks at: a side of a position as some two dozen numbers, by family of games.

All numbers are in the side's own numbering and about as large as 1. `TERMS` names them in order; the names are those of
the table of weights (`agents/heuristic_weights.py`), where each is explained.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.baselines import pips
from nardy_rl.board import (
    BAR,
    FAR_MASK,
    HEAD,
    HOME_MASK,
    MY_PINS,
    ON_BOARD,
    OWED,
    POINTS_MASK,
    across,
    count,
    made,
    occupied,
)
from nardy_rl.encoding import has_contact, hitting_rolls
from nardy_rl.jit import highest, inlined, kernel, lowest, popcount

SHORT, LONG, PLAKOTO = 0, 1, 2
EARLY, LATE, RACE, PHASES = 0, 1, 2, 3  # of a game, with weights of their own
SIZE = 28  # room for the terms of a side
TO_ACT, TO_PLAY = 2 * SIZE, 2 * SIZE + 1  # after the terms of both sides: being to act, and pips owed of a throw
COLUMNS = 2 * SIZE + 2

_RACE = ("pips", "off", "outside", "deep", "gaps")
TERMS: dict[str, tuple[str, ...]] = {
    "short": (
        *_RACE, "shots", "cost", "shots*board", "bar", "bar*board", "point-6", "point-5", "point-4", "point-7",
        "points-8-11", "points-1-3", "points-12-17", "anchor-20-21", "anchor-18-19", "anchor-22-24", "prime", "back",
        "back*board", "blocked", "escape", "stacks", "dead", "blots",
    ),
    "long": (
        *_RACE, "head", "points-19-23", "points-13-18", "points-7-12", "stuck-dice", "narrow-dice", "moves", "prime",
        "prime-of-5", "in-front", "ahead-of-head", "towers", "rear", "single", "ahead", "home-stacks", "trapped",
        "on-13-18", "on-7-12", "run", "tallest", "stuck-six", "stuck-five",
    ),
    "plakoto": (
        *_RACE, "risk-1-6", "risk-7-12", "risk-13-18", "risk-19-24", "pinned-1-6", "pinned-7-12", "pinned-13-18",
        "pinned-19-24", "mother-pinned", "lone-mother", "head", "walls-1-6", "walls-7-12", "walls-13-23", "prime",
        "mother-risk", "blots", "stuck-dice", "moves", "in-front", "on-19-24", "pins*walls", "tallest",
    ),
}  # fmt: skip


def _hit_chances() -> NDArray[np.float32]:
    """Chance of a roll that hits, f32[4096]: bit d - 1 of the index says that an enemy stands d pips away."""
    chances = np.zeros(4096, np.float32)
    masks = np.arange(4096)
    for a in range(1, 7):
        for b in range(1, 7):
            reached = {a, b, a + b} if a != b else {a, 2 * a, 3 * a, 4 * a}
            wanted = sum(1 << (d - 1) for d in reached if d <= 12)
            chances += (masks & wanted != 0).astype(np.float32) / np.float32(36)
    return chances


def _escape_chances() -> NDArray[np.float32]:
    """Chance of a roll that takes a checker seven pips or more: bit d - 1 of the index: d pips ahead it is closed."""
    chances = np.zeros(4096, np.float32)
    for mask in range(4096):
        shut = [False, *(mask >> d & 1 == 1 for d in range(12))]
        for a in range(1, 7):
            for b in range(1, 7):
                ways = [(a, b), (b, a)] if a != b else [(a,) * 4]
                for way in ways:
                    place = 0
                    for step in way:
                        if place + step <= 12 and shut[place + step]:
                            break
                        place += step
                    if place >= 7:
                        chances[mask] += np.float32(1 / 36)
                        break
    return chances


HIT_CHANCES, ESCAPE_CHANCES = _hit_chances(), _escape_chances()


# ---------------------------------------------------------------------------------------------- parts


@inlined
def between(mask, low, high):
    """Number of points low..high in a mask."""
    return np.float32(popcount(mask >> low & ((np.int64(1) << (high - low + 1)) - 1)))


@inlined
def checkers_in(row, side, mask):
    """Number of a side's checkers on the points of a mask."""
    total = np.int64(0)
    for k in range(4):
        total += popcount(np.int64(row[side + k]) & mask) << k
    return np.float32(total)


@inlined
def longest_run(mask):
    """Length of the longest run of neighbouring points in a mask."""
    n = 0
    while mask:
        mask &= mask >> 1
        n += 1
    return np.float32(n)


@inlined
def blockade(mine, enemy):
    """How much the longest run of my points with an enemy still behind it exceeds two; both masks in my numbering."""
    if not enemy:
        return np.float32(0)
    return max(longest_run(mine & ~((np.int64(2) << lowest(enemy)) - 1)) - np.float32(2), np.float32(0))


@inlined
def tallest(row, side):
    """Checkers on the largest stack, of fifteen."""
    mask, most = occupied(row, side), np.int64(0)
    while mask:
        point = lowest(mask)
        mask &= mask - 1
        most = max(most, count(row, side, point))
    return np.float32(most) / np.float32(15)


@inlined
def six_ahead(mask, point):
    """How many of the six points in front of a point are in the mask."""
    return np.float32(popcount((mask & ((np.int64(1) << point) - 1) & ON_BOARD) >> max(point - 6, 0)))


@inlined
def mobility(occ, closed, terms, at):
    """Dice that nothing can move by, dice that one point only can, and all moves of single checkers (in tens)."""
    stuck, narrow, moves = np.float32(0), np.float32(0), np.float32(0)
    for die in range(1, 7):
        src = occ & ~(closed << die) & (np.int64(-2) << die)
        if not src:
            stuck += np.float32(1)
        elif not src & (src - 1):
            narrow += np.float32(1)
        moves += np.float32(popcount(src))
    terms[at], terms[at + 1], terms[at + 2] = stuck, narrow, moves / np.float32(10)


@inlined
def race_terms(row, side, terms):
    """Terms 0-4, which all families have."""
    terms[0] = np.float32(pips(row, side)) / np.float32(100)
    terms[1] = np.float32(count(row, side, 0)) / np.float32(15)
    terms[2] = checkers_in(row, side, ON_BOARD & ~HOME_MASK) / np.float32(15)
    terms[3] = checkers_in(row, side, 6) / np.float32(15)
    terms[4] = np.float32(6) - between(occupied(row, side), 1, 6)


# ---------------------------------------------------------------------------------------------- families


@inlined
def short_terms(row, side, hits, escapes, terms):
    """Terms of one side of a game with hits."""
    race_terms(row, side, terms)
    other = 4 - side
    occ, points = occupied(row, side), made(row, side) & POINTS_MASK
    enemy, enemy_points = occupied(row, other), made(row, other) & POINTS_MASK
    board = between(enemy_points, 1, 6)
    blots = occ & ~points & POINTS_MASK
    shots = np.float32(hitting_rolls(enemy, count(row, other, BAR), across(points, 0), across(blots, 0)))
    shots /= np.float32(36)
    cost, mask = np.float32(0), blots
    while mask:
        p = lowest(mask)
        mask &= mask - 1
        cost += hits[enemy >> (26 - p) & 0xFFF] * np.float32(25 - p)
    on_bar = np.float32(count(row, side, BAR))
    back = checkers_in(row, side, FAR_MASK)
    enemy_here = across(enemy, 0) | (enemy >> BAR & 1)  # in my numbering; 0 is his bar
    rear = highest(occ | 1)
    walls = across(enemy_points, 0)
    terms[5], terms[6], terms[7] = shots, cost / np.float32(25), shots * board
    terms[8], terms[9] = on_bar, on_bar * board
    terms[10], terms[11], terms[12] = between(points, 6, 6), between(points, 5, 5), between(points, 4, 4)
    terms[13], terms[14], terms[15] = between(points, 7, 7), between(points, 8, 11), between(points, 1, 3)
    terms[16], terms[17], terms[18] = between(points, 12, 17), between(points, 20, 21), between(points, 18, 19)
    terms[19] = between(points, 22, 24)
    terms[20] = blockade(points, enemy_here)
    terms[21], terms[22] = back, back * board
    terms[23] = six_ahead(walls, rear)
    ahead = (walls & ((np.int64(1) << rear) - 1)) << 12 >> rear  # the twelve points in front of the rear, nearest last
    nearest = np.int64(0)
    for d in range(12):
        nearest |= (ahead >> (11 - d) & 1) << d
    terms[24] = escapes[nearest] if rear > 18 else np.float32(1)
    terms[25] = np.float32(popcount((np.int64(row[side + 2]) | np.int64(row[side + 3])) & ON_BOARD))
    dead = np.float32(0)
    for p in range(1, 4):
        dead += np.float32(max(count(row, side, p) - 3, 0))
    terms[26] = dead
    terms[27] = np.float32(popcount(blots))


@inlined
def long_terms(row, side, terms):
    """Terms of one side of a game in which both go the same way and nobody is hit."""
    race_terms(row, side, terms)
    other = 4 - side
    occ, enemy = occupied(row, side), occupied(row, other)
    closed = across(enemy, 1)
    terms[5] = np.float32(count(row, side, HEAD)) / np.float32(15)
    terms[6], terms[7], terms[8] = between(occ, 19, 23), between(occ, 13, 18), between(occ, 7, 12)
    mobility(occ, closed, terms, 9)
    rear = highest(enemy | 1)
    mine_there = across(occ, 1) & ((np.int64(1) << rear) - 1)  # my points in front of his last checker
    run = longest_run(mine_there)
    terms[12] = max(run - np.float32(2), np.float32(0))
    terms[13] = np.float32(run >= 5)
    terms[14] = six_ahead(mine_there, rear)
    terms[15] = between(mine_there, 12, 23)
    towers = np.int64(row[side + 2]) | np.int64(row[side + 3])
    terms[16] = np.float32(popcount(towers & POINTS_MASK & ~HOME_MASK))
    terms[17] = np.float32(highest(occ | 1)) / np.float32(24)
    terms[18] = between(occ & ~made(row, side), 7, 24)
    terms[19] = np.float32(popcount(mine_there)) / np.float32(10)
    stacks, trapped, mask = np.float32(0), np.float32(0), occ
    while mask:
        p = lowest(mask)
        mask &= mask - 1
        n = np.float32(count(row, side, p))
        if p <= 6:
            stacks += max(n - np.float32(3), np.float32(0))
        elif six_ahead(closed, p) >= 4:
            trapped += n
    terms[20], terms[21] = stacks / np.float32(5), trapped / np.float32(15)
    terms[22] = checkers_in(row, side, 0x7E000) / np.float32(15)  # 13..18
    terms[23] = checkers_in(row, side, 0x1F80) / np.float32(15)  # 7..12
    terms[24] = longest_run(occ & POINTS_MASK) / np.float32(6)
    terms[25] = tallest(row, side)
    terms[26] = np.float32(not occ & ~(closed << 6) & (np.int64(-2) << 6))
    terms[27] = np.float32(not occ & ~(closed << 5) & (np.int64(-2) << 5))


@inlined
def plakoto_terms(row, side, hits, terms):
    """Terms of one side of a game with pins."""
    race_terms(row, side, terms)
    other = 4 - side
    my_pins = np.int64(row[MY_PINS + (1 if side else 0)])
    their_pins = np.int64(row[MY_PINS + (0 if side else 1)])
    occ, points = occupied(row, side), made(row, side)
    hunters = occupied(row, other) & ~their_pins
    for k in range(5, 9):
        terms[k] = np.float32(0)
    blots = occ & ~points & POINTS_MASK & ~my_pins
    lone_mother = count(row, side, HEAD) == 1 and not my_pins >> HEAD & 1
    terms[20] = hits[hunters >> (26 - HEAD) & 0xFFF] if lone_mother else np.float32(0)
    terms[21] = np.float32(popcount(blots))
    while blots:
        p = lowest(blots)
        blots &= blots - 1
        terms[5 + (p - 1) // 6] += hits[hunters >> (26 - p) & 0xFFF]
    for k in range(4):  # my pinned checkers by quarter: 9 in my home, 12 in his
        terms[9 + k] = between(my_pins, 6 * k + 1, 6 * k + 6)
    terms[13] = np.float32(count(row, side, HEAD) == 1 and my_pins >> HEAD & 1)
    terms[14] = np.float32(lone_mother)
    terms[15] = np.float32(count(row, side, HEAD)) / np.float32(15)
    walls = points | (occ & across(their_pins, 0))
    closed = across(made(row, other) | (occupied(row, other) & across(my_pins, 0)), 0)
    terms[16], terms[17], terms[18] = between(walls, 1, 6), between(walls, 7, 12), between(walls, 13, 23)
    terms[19] = blockade(walls, across(hunters, 0))
    mobility(occ & ~my_pins, closed, terms, 22)
    terms[23] = terms[24]  # the dice that only one point can play say little here
    terms[24] = six_ahead(closed, highest(occ | 1))
    terms[25] = checkers_in(row, side, FAR_MASK & POINTS_MASK) / np.float32(15)
    terms[26] = np.float32(popcount(their_pins)) * between(walls, 1, 12)
    terms[27] = tallest(row, side)


@inlined
def side_terms(family, row, side, hits, escapes, terms):
    """Terms f32[SIZE] of one side (0 the player who acts, 4 the other)."""
    if family == SHORT:
        short_terms(row, side, hits, escapes, terms)
    elif family == LONG:
        long_terms(row, side, terms)
    else:
        plakoto_terms(row, side, hits, terms)


@inlined
def is_race(rules, family, row):
    """Have the sides nothing more to do with each other (in the long games: have all checkers passed the middle)?"""
    if family == LONG:
        return highest(occupied(row, 0) | 1) <= 12 and highest(occupied(row, 4) | 1) <= 12
    return not has_contact(rules, row)


@inlined
def how_early(family, row):
    """How much of the way both sides have still to go, 0 to 1: the share of the early weights before a race."""
    left = np.float32(pips(row, 0) + pips(row, 4))
    return min(left / np.float32(334 if family == SHORT else 720), np.float32(1))


@inlined
def pips_owed(row):
    """Pips of what is still to be played of a throw, in dozens."""
    owed = np.int64(row[OWED])
    moves, value, last = owed >> 9 & 7, owed >> 6 & 7, owed >> 12 & 7
    if not moves:
        return np.float32(0)
    if not value:
        return np.float32((owed & 7) * (owed >> 15 & 1) + (owed >> 3 & 7) * (owed >> 16 & 1)) / np.float32(12)
    total = value * moves
    for stage in range(value + 1, last + 1):
        total += 4 * stage
    return np.float32(total) / np.float32(12)


@kernel
def list_terms(rules, family, states, hits, escapes, out, early):
    """Columns f32[N, COLUMNS] of states uint32[N, 16] - those of the side that waits negative.

    early: f32[N], `how_early` they are, -1 in a race.
    """
    for i in range(len(states)):
        side_terms(family, states[i], 0, hits, escapes, out[i, :SIZE])
        side_terms(family, states[i], 4, hits, escapes, out[i, SIZE:TO_ACT])
        for k in range(SIZE, TO_ACT):
            out[i, k] = -out[i, k]
        out[i, TO_ACT] = np.float32(1)
        out[i, TO_PLAY] = pips_owed(states[i])
        early[i] = np.float32(-1) if is_race(rules, family, states[i]) else how_early(family, states[i])
