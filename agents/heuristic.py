"""A hand-written player for each family of games: a weighted sum of what a textbook looks at.

Each side is described by a few terms (`short_terms`, `long_terms`, `plakoto_terms`), in its own numbering.
A position is worth the weighted sum for the side to act less that for the side that waits, squashed into the
range of the game's scores. A lone checker is in more danger on the side that waits, so the two sides have
weights of their own; and each family has one set of weights while the sides can still meet and one for the
race after.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.baselines import pips
from nardy_rl.agents.bot import States, ValueBot
from nardy_rl.board import BAR, HEAD, HOME_MASK, MY_PINS, ON_BOARD, POINTS_MASK, across, count, made, occupied
from nardy_rl.jit import highest, inlined, kernel, lowest, popcount
from nardy_rl.variant import Variant

TERMS = 20  # room for the terms of a side
SHORT, LONG, PLAKOTO = 0, 1, 2


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


HIT_CHANCES = _hit_chances()


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
def can_meet(row):
    """Is some checker of one side still in front of one of the other (contrary movement)?"""
    return highest(occupied(row, 0) | 1) + highest(occupied(row, 4) | 1) >= 25


@inlined
def race_terms(row, side, terms):
    """Terms 0-4, those of a race: pips, off, outside the home, on points 1-2, empty home points."""
    terms[0] = np.float32(pips(row, side)) / np.float32(100)
    terms[1] = np.float32(count(row, side, 0)) / np.float32(15)
    terms[2] = checkers_in(row, side, ON_BOARD & ~HOME_MASK) / np.float32(15)
    terms[3] = checkers_in(row, side, 6) / np.float32(15)
    terms[4] = np.float32(6) - between(occupied(row, side), 1, 6)


@inlined
def blockade(mine, enemy):
    """The longest run of my points with an enemy still behind it; both masks in my numbering."""
    if not enemy:
        return np.float32(0)
    return longest_run(mine & ~((np.int64(2) << lowest(enemy)) - 1))


@inlined
def short_terms(row, side, chances, terms):
    """Terms of one side of a game with hits."""
    race_terms(row, side, terms)
    other = 4 - side
    occ, points = occupied(row, side), made(row, side) & POINTS_MASK
    enemy, enemy_points = occupied(row, other), made(row, other) & POINTS_MASK
    their_home = between(enemy_points, 1, 6)
    risk, cost = np.float32(0), np.float32(0)
    blots = occ & ~points & POINTS_MASK
    while blots:
        p = lowest(blots)
        blots &= blots - 1
        chance = chances[enemy >> (26 - p) & 0xFFF]
        risk += chance
        cost += chance * np.float32(25 - p)
    on_bar = np.float32(count(row, side, BAR))
    enemy_here = across(enemy, 0) | (enemy >> 25 & 1)  # in my numbering; 0 is his bar
    terms[5] = risk
    terms[6] = cost / np.float32(25)
    terms[7] = risk * their_home
    terms[8] = on_bar
    terms[9] = on_bar * their_home
    terms[10] = between(points, 4, 6)
    terms[11] = between(points, 1, 3)
    terms[12] = between(points, 7, 9)
    terms[13] = between(points, 20, 21)
    terms[14] = between(points, 18, 19) + between(points, 22, 24)
    run = blockade(points, enemy_here)
    terms[15] = max(run - np.float32(2), np.float32(0))
    rear = highest(occ | 1)
    ahead = across(enemy_points, 0) & ((np.int64(1) << rear) - 1)
    terms[16] = np.float32(popcount(ahead >> max(rear - 6, 0)))  # his points in the six in front of my rear
    terms[17] = checkers_in(row, side, np.int64(0x1F80000))  # 19..24
    stacked = np.int64(row[side + 2]) | np.int64(row[side + 3])  # four or more
    terms[18] = np.float32(popcount(stacked & ON_BOARD))
    terms[19] = np.float32(popcount(np.int64(row[side + 3]) & ON_BOARD))


@inlined
def long_terms(row, side, terms):
    """Terms of one side of a game in which both go the same way and nobody is hit."""
    race_terms(row, side, terms)
    other = 4 - side
    occ, enemy = occupied(row, side), occupied(row, other)
    closed = across(enemy, 1)
    terms[5] = np.float32(count(row, side, HEAD)) / np.float32(15)
    terms[6] = between(occ, 19, 23)
    terms[7] = between(occ, 13, 18)
    terms[8] = between(occ, 7, 12)
    stuck, narrow, moves = np.float32(0), np.float32(0), np.float32(0)
    for die in range(1, 7):  # dice by which nothing, or only one point's checkers, can move
        src = occ & ~(closed << die) & (np.int64(-2) << die)
        if not src:
            stuck += np.float32(1)
        elif not src & (src - 1):
            narrow += np.float32(1)
        moves += np.float32(popcount(src))
    terms[9] = stuck
    terms[10] = narrow
    terms[11] = moves / np.float32(10)
    rear = highest(enemy | 1)
    mine_there = across(occ, 1) & ((np.int64(1) << rear) - 1)  # my points in front of his last checker
    run = longest_run(mine_there)
    terms[12] = max(run - np.float32(2), np.float32(0))
    terms[13] = np.float32(run >= 5)
    terms[14] = np.float32(popcount(mine_there >> max(rear - 6, 0)))
    terms[15] = between(mine_there, 12, 23)
    towers = np.int64(row[side + 2]) | np.int64(row[side + 3])
    terms[16] = np.float32(popcount(towers & POINTS_MASK & ~HOME_MASK))
    terms[17] = np.float32(highest(occ | 1)) / np.float32(24)
    pairs = made(row, side)
    terms[18] = between(occ & ~pairs, 7, 24)
    terms[19] = np.float32(popcount(mine_there)) / np.float32(10)


@inlined
def plakoto_terms(row, side, chances, terms):
    """Terms of one side of a game with pins."""
    race_terms(row, side, terms)
    other = 4 - side
    my_pins = np.int64(row[MY_PINS + (1 if side else 0)])
    their_pins = np.int64(row[MY_PINS + (0 if side else 1)])
    occ = occupied(row, side)
    points = made(row, side)
    hunters = occupied(row, other) & ~their_pins
    for k in range(5, 9):
        terms[k] = np.float32(0)
    blots = occ & ~points & POINTS_MASK & ~my_pins
    while blots:
        p = lowest(blots)
        blots &= blots - 1
        terms[5 + (p - 1) // 6] += chances[hunters >> (26 - p) & 0xFFF]
    for k in range(4):  # my pinned checkers by quarter: 9 in my home, 12 in his
        terms[9 + k] = between(my_pins, 6 * k + 1, 6 * k + 6)
    lone_mother = count(row, side, HEAD) == 1
    terms[13] = np.float32(lone_mother and my_pins >> HEAD & 1)
    terms[14] = np.float32(lone_mother and not my_pins >> HEAD & 1)
    terms[15] = np.float32(count(row, side, HEAD)) / np.float32(15)
    walls = points | (occ & across(their_pins, 0))
    terms[16] = between(walls, 1, 6)
    terms[17] = between(walls, 7, 12)
    terms[18] = between(walls, 13, 23)
    terms[19] = max(blockade(walls, across(hunters, 0)) - np.float32(2), np.float32(0))


@inlined
def family_terms(family, row, side, chances, terms):
    """Terms f32[TERMS] of one side (0 the player who acts, 4 the other)."""
    if family == SHORT:
        short_terms(row, side, chances, terms)
    elif family == LONG:
        long_terms(row, side, terms)
    else:
        plakoto_terms(row, side, chances, terms)


@inlined
def phase(family, row):
    """Which weights hold: 0 while the sides can meet, 1 in the race after that."""
    if family == LONG:
        return np.int64(highest(occupied(row, 0) | 1) <= 12 and highest(occupied(row, 4) | 1) <= 12)
    if family == PLAKOTO and (row[MY_PINS] or row[MY_PINS + 1]):
        return np.int64(0)
    return np.int64(not can_meet(row))


@kernel
def heuristic_values(states, family, weights, scale, chances, values):
    """Values f32[N] of states uint32[N, 16] for each state's player.

    weights: f32[2, 2, TERMS + 1]: by phase, by side (to act, waiting); the last one is for being to act.
    """
    terms = np.zeros(TERMS, np.float32)
    for i in range(len(states)):
        row = states[i]
        w = weights[phase(family, row)]
        total = w[0, TERMS]
        family_terms(family, row, 0, chances, terms)
        for k in range(TERMS):
            total += w[0, k] * terms[k]
        family_terms(family, row, 4, chances, terms)
        for k in range(TERMS):
            total -= w[1, k] * terms[k]
        values[i] = scale * total / (np.float32(1) + abs(total))


def _weights(rows: str) -> NDArray[np.float32]:
    """Weights f32[2, 2, TERMS + 1] of a table: a line a term, its name first."""
    weights = np.zeros((2, 2, TERMS + 1), np.float32)
    for k, line in enumerate(rows.strip().splitlines()):
        weights[:, :, k] = np.array(line.split()[-4:], np.float32).reshape(2, 2)
    return weights


# By judgement. In the small, a weight of 0.1 is a tenth of the highest score. Columns: while the sides can
# meet (to act, waiting), then in the race (to act, waiting).
WEIGHTS: dict[str, NDArray[np.float32]] = {
    "short": _weights("""
        pips/100               -0.4   -0.4    -1.5   -1.5
        off                     0.3    0.3     0.5    0.5
        outside                -0.1   -0.1    -0.3   -0.3
        on-1-2                 -0.3   -0.3    -0.1   -0.1
        empty-home-points       0      0      -0.02  -0.02
        risk                    0     -0.02    0      0
        risk*pips              -0.03  -0.2     0      0
        risk*their-home        -0.005 -0.03    0      0
        bar                    -0.08  -0.08    0      0
        bar*their-home         -0.03  -0.03    0      0
        made-4-6                0.06   0.06    0      0
        made-1-3                0.02   0.02    0      0
        made-7-9                0.035  0.035   0      0
        made-20-21              0.06   0.06    0      0
        made-18-24              0.03   0.03    0      0
        prime                   0.05   0.05    0      0
        blocked                -0.02  -0.02    0      0
        back                   -0.03  -0.03    0      0
        stacks-of-4            -0.02  -0.02    0      0
        stacks-of-8            -0.05  -0.05    0      0
        to-act                  0.05   0       0.1    0
    """),
    "long": _weights("""
        pips/100               -0.6   -0.6    -1.5   -1.5
        off                     0.5    0.5     0.5    0.5
        outside                -0.1   -0.1    -0.3   -0.3
        on-1-2                  0      0       0      0
        empty-home-points       0      0      -0.02  -0.02
        head                   -0.3   -0.3     0      0
        points-19-23            0.03   0.03    0      0
        points-13-18            0.03   0.03    0      0
        points-7-12             0.03   0.03    0      0
        stuck-dice             -0.05  -0.05    0      0
        narrow-dice            -0.02  -0.02    0      0
        moves/10                0.05   0.05    0      0
        prime                   0.06   0.06    0      0
        prime-of-5              0.1    0.1     0      0
        in-front                0.03   0.03    0      0
        ahead-of-head           0.02   0.02    0      0
        towers                 -0.02  -0.02    0      0
        rear/24                -0.1   -0.1     0      0
        single                  0      0       0      0
        ahead/10                0.1    0.1     0      0
        to-act                  0.05   0       0.1    0
    """),
    "plakoto": _weights("""
        pips/100               -0.5   -0.5    -1.5   -1.5
        off                     0.5    0.5     0.5    0.5
        outside                -0.1   -0.1    -0.3   -0.3
        on-1-2                  0      0       0      0
        empty-home-points       0      0      -0.02  -0.02
        risk-1-6                0     -0.1     0      0
        risk-7-12              -0.02  -0.1     0      0
        risk-13-18             -0.03  -0.2     0      0
        risk-19-24             -0.03  -0.3     0      0
        pinned-1-6             -0.25  -0.25    0      0
        pinned-7-12            -0.25  -0.25    0      0
        pinned-13-18           -0.4   -0.4     0      0
        pinned-19-24           -0.6   -0.6     0      0
        mother-pinned          -0.8   -0.8     0      0
        lone-mother            -0.05  -0.05    0      0
        head                    0.05   0.05    0      0
        walls-1-6               0.03   0.03    0      0
        walls-7-12              0.04   0.04    0      0
        walls-13-23             0.04   0.04    0      0
        prime                   0.05   0.05    0      0
        to-act                  0.05   0       0.1    0
    """),
}


class HeuristicBot(ValueBot):
    """The hand-written player of the variant's family."""

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, "heuristic")
        self.family = ("short", "long", "plakoto").index(variant.family)
        self.weights = WEIGHTS[variant.family]
        self.scale = np.float32(self.table[:32].max())

    def estimate(self, states: States) -> NDArray[np.float32]:
        """See `ValueBot.estimate`."""
        values = np.empty(len(states), np.float32)
        heuristic_values(states, self.family, self.weights, self.scale, HIT_CHANCES, values)
        return values
