"""Bear-off positions: their numbers, the plays in them, and what of a game's rules counts there.

When both sides have all their checkers home or off, neither can touch the other any more, in any of the families. A
side is then six counts, and one table serves all games whose `Model` is the same. With at most 15 checkers a side has
54,264 positions.

Positions are numbered so that a move always leads to a smaller number: with s(p) checkers on the p highest points of
the home, the number is the sum over p = 1..6 of C(s(p) + p - 1, p). So number 0 is the empty board, and the positions
of up to n checkers are the first C(n + 6, 6).
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.board import OUTSIDE, count, occupied
from nardy_rl.errors import BadOption
from nardy_rl.jit import inner, kernel
from nardy_rl.variant import Variant
from nardy_rl.variants import variant_text

POINTS = 6
MOST = 15  # checkers of a side
BINOMIAL = np.array([[comb(n, k) for k in range(POINTS + 1)] for n in range(MOST + POINTS + 1)], np.int64)
MOST_PLAYS = 256  # more than a roll has: 126 sets of four of six points, 72 pairs in either order

Numbers = NDArray[np.int64]
Successors = NDArray[np.int32]
"""int32[N, 6, 6]: the position after the move of die d + 1 from point s + 1, at [position, d, s]; -1: no such move."""


class Model(NamedTuple):
    """What of the rules counts when both sides are home: the games with the same model share their tables."""

    exact: bool  # a checker is borne off only by the die of its point
    frozen: bool  # nothing moves inside the home
    extra: str  # none, once, unlimited: does a double, played in full, earn another throw

    @property
    def name(self) -> str:
        """The model in a word, for names of files."""
        return f"{'exact' if self.exact else 'standard'}-{'frozen' if self.frozen else 'free'}-{self.extra}"

    @property
    def again(self) -> Numbers:
        """By kind of throw, the kind of the throw that a double played in full earns, or -1: int64[kinds].

        Kind 0 is a player's ordinary throw, kind 1 an extra throw that earns no other.
        """
        return np.array({"none": [-1], "once": [1, -1], "unlimited": [0]}[self.extra], np.int64)


def model_of(variant: Variant) -> Model:
    """The model of a game's bear-off; raises BadOption, with the reason, where independent sides are not exact."""
    frozen = variant.freeze != "never"
    reason = None
    if variant.completion != "none" and (frozen or variant.bearoff == "exact"):
        reason = "a throw that cannot be played in full at home passes on to the other player"
    elif variant.last_throw:
        reason = "a player who is behind has a last throw"
    if reason:
        raise BadOption(f"{variant_text(variant)} has no bear-off table: {reason}")
    return Model(variant.bearoff == "exact", frozen, variant.extra)


def positions_of(checkers: int) -> int:
    """How many positions a side of up to so many checkers has, the empty board included."""
    return comb(checkers + POINTS, POINTS)


def number_of(counts: NDArray[np.int_] | list[int]) -> int:
    """The number of a position, given by its checkers on points 1..6."""
    standing, number = 0, 0
    for p in range(1, POINTS + 1):
        standing += int(counts[POINTS - p])
        number += comb(standing + p - 1, p)
    return number


# ---------------------------------------------------------------------------------------------- kernels


@inner
def is_home(row, side):
    """Has a side (0 mine, 4 theirs) all its checkers home or off."""
    return (occupied(row, side) & OUTSIDE) == 0


@inner
def home_number(row, side):
    """The number of the position of a side (0 mine, 4 theirs) that is all home."""
    standing, number = np.int64(0), np.int64(0)
    for p in range(1, POINTS + 1):
        standing += count(row, side, POINTS + 1 - p)
        number += BINOMIAL[standing + p - 1, p]
    return number


@kernel
def fill_counts(counts):
    """The checkers on points 1..6 of the first N positions: int8[N, 6]."""
    for number in range(counts.shape[0]):
        rest, above = np.int64(number), np.int64(0)
        for p in range(POINTS, 0, -1):  # s(6), the number of all checkers, down to s(1), those on point 6
            standing = np.int64(0)
            while BINOMIAL[standing + p, p] <= rest:
                standing += 1
            rest -= BINOMIAL[standing + p - 1, p]
            if p < POINTS:
                counts[number, POINTS - 1 - p] = above - standing
            above = standing
        counts[number, POINTS - 1] = above


@kernel
def fill_successors(counts, exact, frozen, successors):
    """The single moves of the first N positions, from their counts int8[N, 6]: see `Successors`."""
    own = np.zeros(POINTS, np.int64)
    for number in range(counts.shape[0]):
        highest = np.int64(0)
        for s in range(POINTS):
            own[s] = counts[number, s]
            if own[s]:
                highest = np.int64(s + 1)
        for die in range(1, POINTS + 1):
            for point in range(1, POINTS + 1):
                successors[number, die - 1, point - 1] = -1
                off = point == die or (point < die and point == highest and not exact)
                if not own[point - 1] or not (off or (point > die and not frozen)):
                    continue
                standing, after = np.int64(0), np.int64(0)
                for p in range(1, POINTS + 1):
                    at = POINTS + 1 - p
                    standing += own[at - 1] - (at == point) + (at == point - die)
                    after += BINOMIAL[standing + p - 1, p]
                successors[number, die - 1, point - 1] = after


@inner
def plays_of_two(successors, position, larger, smaller, found):
    """`plays_of` a roll of two different dice."""
    n = np.int64(0)
    for larger_first in (True, False):
        die, other = (larger, smaller) if larger_first else (smaller, larger)
        for s in range(POINTS):
            middle = successors[position, die - 1, s]
            if middle == 0:
                found[0] = 0
                return np.int64(1), np.int64(1)
            if middle < 0:
                continue
            for t in range(POINTS):
                after = successors[middle, other - 1, t]
                if after == 0:
                    found[0] = 0
                    return np.int64(1), np.int64(2)
                if after > 0:
                    found[n] = after
                    n += 1
    if n:
        return n, np.int64(2)
    for die in (larger, smaller):
        for s in range(POINTS):
            after = successors[position, die - 1, s]
            if after > 0:
                found[n] = after
                n += 1
        if n:
            return n, np.int64(1)
    found[0] = position
    return np.int64(1), np.int64(0)


@inner
def plays_of_double(successors, position, die, found, stack):
    """`plays_of` a double: sources from the highest point down, so that each set of moves is found once."""
    n, best, depth = np.int64(0), np.int64(0), np.int64(0)
    stack[0, 0], stack[0, 1] = position, POINTS - 1
    found[0] = position
    while depth >= 0:
        s = stack[depth, 1]
        if s < 0:  # the moves made so far are a play, if none is longer
            if depth > 0 and depth >= best:
                if depth > best:
                    n, best = np.int64(0), depth
                found[n] = stack[depth, 0]
                n += 1
            depth -= 1
            continue
        stack[depth, 1] = s - 1
        after = successors[stack[depth, 0], die - 1, s]
        if after == 0:
            found[0] = 0
            return np.int64(1), depth + 1
        if after < 0:
            continue
        if depth == 3:
            if best < 4:
                n, best = np.int64(0), np.int64(4)
            found[n] = after
            n += 1
        else:
            depth += 1
            stack[depth, 0], stack[depth, 1] = after, s
    return max(n, np.int64(1)), best


@inner
def plays_of(successors, position, larger, smaller, found, stack):
    """The positions after the legal plays of a roll, into found int32[MOST_PLAYS], and how many moves they make.

    A position may be listed twice. Where a play bears off all, only that one is given: nothing can be better. stack:
    int64[4, 2], room. Returns the number of plays, at least 1, and the number of moves.
    """
    if larger == smaller:
        return plays_of_double(successors, position, larger, found, stack)
    return plays_of_two(successors, position, larger, smaller, found)
