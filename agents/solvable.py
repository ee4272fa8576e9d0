"""Games that are small enough to be solved: the positions of a side as numbers, and what of the rules counts.

With up to three checkers a side has few positions: 26, 351 or 3,276 of one, two or three checkers on 24 points, the
bar and off. If a throw is one stage, nothing is handed over and only hits link the two sides, then a game that awaits
a throw is a pair of numbers, and its value a table of them.

With checkers on a >= b >= c (0 off, 25 the bar), a position is number C(a+2, 3) + C(b+1, 2) + c, and likewise with
fewer checkers. So number 0 is all off, and a move always leads to a smaller number.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.board import BAR, FAR_MASK, count, occupied
from nardy_rl.errors import BadOption
from nardy_rl.jit import inlined, kernel, lowest
from nardy_rl.results import FAR, score_table
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS, variant_text

MOST = 3  # checkers of a side: four would need a table of 564 million pairs
PLACES = 26  # of a checker: off, 24 points, the bar

Numbers = NDArray[np.int64]


class Positions(NamedTuple):
    """All positions of a side of up to three checkers."""

    places: NDArray[np.int8]  # [N, 3]: of each checker, the farthest first; 0 for those that the game has not
    number: NDArray[np.int16]  # [26, 26, 26]: by the places, the farthest first; -1 where there is no such position
    made: NDArray[np.int8]  # [N]: the point with two checkers or more as the *other* side counts it, 0 for none
    blots: NDArray[np.int8]  # [N, 3]: points with one checker as the other side counts them, 0 for none
    hit: NDArray[np.int16]  # [N, 8]: the position with some of the blots on the bar; bit k of the column is blot k


class Model(NamedTuple):
    """What of a game's rules decides its solution; games with the same model share it."""

    checkers: int
    exact: bool  # a checker is borne off only by the die of its point
    score: str  # the switches `score` and `koks`, in a word

    @property
    def name(self) -> str:
        """The model in a word, for names of files."""
        return f"{self.checkers}-{'exact' if self.exact else 'standard'}-{self.score.replace('/', '-')}"


def positions_of(checkers: int) -> int:
    """How many positions a side of so many checkers has."""
    return comb(checkers + PLACES - 1, checkers)


def _reason(variant: Variant) -> str | None:
    """Why a game cannot be solved, or None if it can."""
    if variant.checkers > MOST:
        return f"it has {variant.checkers} checkers a side, and more than {MOST} make too many positions"
    if variant.contact != "hit" or variant.parallel or variant.head != "free":
        return "only games in which a lone checker is hit are solved"
    if variant.hit_wins or variant.bound:
        return "a hit does more in it than send a checker to the bar"
    if variant.doubles != "plain" or variant.completes:
        return "a throw in it may take more than one play"
    return None


def solvable() -> list[str]:
    """The games of the table that can be solved."""
    return [name for name, variant in VARIANTS.items() if _reason(variant) is None]


def model_of(variant: Variant) -> Model:
    """The model of a game; raises BadOption with the reason if it is not one that can be solved."""
    reason = _reason(variant)
    if reason is not None:
        raise BadOption(
            f"{variant_text(variant)} cannot be solved: {reason}; games that can are {', '.join(solvable())} and your "
            f"own of up to {MOST} checkers"
        )
    return Model(variant.checkers, variant.bearoff == "exact", variant.score + "-koks" * variant.koks)


def win_points(variant: Variant, positions: Positions) -> NDArray[np.float64]:
    """Points f64[N] of a win by the position of the loser; meaningless where the loser has borne off all."""
    table = score_table(variant)
    left = (positions.places > 0).sum(axis=1)
    far = (FAR_MASK >> positions.places.astype(np.int64) & 1).any(axis=1)
    return table[left | np.where(far, FAR, 0)].astype(np.float64)


# ---------------------------------------------------------------------------------------------- numbers


def positions_with(checkers: int) -> Positions:
    """The positions of so many checkers, in the order of their numbers."""
    listed = sorted(tuple(reversed(places)) for places in combinations_with_replacement(range(PLACES), checkers))
    places = np.zeros((len(listed), MOST), np.int8)
    places[:, :checkers] = listed
    number = np.full((PLACES, PLACES, PLACES), -1, np.int16)
    number[tuple(places.T.astype(np.int64))] = np.arange(len(places))
    made, blots = np.zeros(len(places), np.int8), np.zeros((len(places), MOST), np.int8)
    hit = np.zeros((len(places), 1 << MOST), np.int16)
    fill_contact(places, number, made, blots, hit)
    return Positions(places, number, made, blots, hit)


@inlined
def number_at(number, x, y, z):
    """The number of the position with checkers on x, y, z, in any order."""
    if x < y:
        x, y = y, x
    if y < z:
        y, z = z, y
    if x < y:
        x, y = y, x
    return np.int64(number[x, y, z])


@kernel
def fill_contact(places, number, made, blots, hit):
    """What a side offers the other: the points it has made, its blots, its positions after hits: see `Positions`."""
    for i in range(places.shape[0]):
        for k in range(3):
            here = np.int64(places[i, k])
            if here == 0 or here == BAR:
                continue
            others = (places[i, (k + 1) % 3] == here) + (places[i, (k + 2) % 3] == here)
            if others:
                made[i] = 25 - here
            else:
                blots[i, k] = 25 - here
        for some in range(8):
            x, y, z = np.int64(places[i, 0]), np.int64(places[i, 1]), np.int64(places[i, 2])
            if some & 1 and blots[i, 0]:
                x = np.int64(BAR)
            if some & 2 and blots[i, 1]:
                y = np.int64(BAR)
            if some & 4 and blots[i, 2]:
                z = np.int64(BAR)
            hit[i, some] = number_at(number, x, y, z)


@inlined
def number_of(number, row, side):
    """The number of the position of a side (0 mine, 4 theirs) of a state."""
    x, y, z = np.int64(0), np.int64(0), np.int64(0)
    here = occupied(row, side)
    while here:
        point = lowest(here)
        here &= here - 1
        for _ in range(count(row, side, point)):
            x, y, z = point, x, y
    return np.int64(number[x, y, z])


@kernel
def numbers_of(number, rows, found):
    """The numbers of both sides of states uint32[M, 16], mine first, into found int64[M, 2]."""
    for i in range(rows.shape[0]):
        found[i, 0], found[i, 1] = number_of(number, rows[i], 0), number_of(number, rows[i], 4)


@inlined
def put_position(places, checkers, number, row, side):
    """Set a side (0 mine, 4 theirs) of a state to a position: its four planes."""
    for plane in range(4):
        row[side + plane] = np.uint32(0)
    for k in range(checkers):
        bit, plane = np.uint32(1) << np.uint32(places[number, k]), np.int64(0)
        while row[side + plane] & bit:  # a carry
            row[side + plane] ^= bit
            plane += 1
        row[side + plane] ^= bit


@inlined
def can_be(positions, mine, theirs):
    """Can two positions stand on one board: is no point held by both?"""
    for k in range(3):
        here = np.int64(positions.places[mine, k])
        if here == 0 or here == BAR:
            continue
        for j in range(3):
            if positions.places[theirs, j] == 25 - here:
                return False
    return True
