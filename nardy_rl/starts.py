"""Start positions: fixed, random (randgammon) and with two different sides (snake)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nardy_rl.board import TURN, WORDS, pack
from nardy_rl.dice import below, opening_roll
from nardy_rl.jit import inner, kernel
from nardy_rl.turns import throw
from nardy_rl.variant import Variant


class Start(NamedTuple):
    """What a kernel needs to set up a game: planes of the two sides, and how they are drawn."""

    planes: np.ndarray  # uint32[2, 4]: the standard side and the other
    random_stack: int  # smallest stack of a random start, 0 for a fixed one
    sides: int  # who has the standard side: 0 a coin decides, 1 the starter, 2 the player who does not start


def start_of(variant: Variant) -> Start:
    """The kernel's view of a variant's start."""
    first, other = variant.layouts
    return Start(
        planes=np.stack([pack(np.array(first)), pack(np.array(other))]),
        random_stack=variant.random_start,
        sides=("coin", "first", "second").index(variant.sides) if variant.start_other else 1,
    )


@inner
def _random_layout(rng, smallest, counts, pairs, cuts):
    """One random layout into counts int64[26] (rules page, randgammon): k points of k different pairs {D, 25 - D}.

    pairs: int64[12] and cuts: int64[15] are working memory.
    """
    while True:
        for point in range(26):
            counts[point] = 0
        k = below(rng, 7) + 4 if smallest == 1 else below(rng, 5) + 3
        for i in range(12):
            pairs[i] = i + 1
        for i in range(k):  # a random choice of k pairs, one point of each
            j = i + below(rng, 12 - i)
            pairs[i], pairs[j] = pairs[j], pairs[i]
        for i in range(15):  # a uniform composition of the spare checkers' places into k parts
            cuts[i] = 0
        spare = 15 - k * (smallest - 1)
        chosen = 0
        while chosen < k - 1:
            c = below(rng, spare - 1) + 1
            if not cuts[c]:
                cuts[c] = 1
                chosen += 1
        part, size = 0, 0
        for place in range(spare):
            if place > 0 and cuts[place]:
                part, size = part + 1, 0
            size += 1
            point = pairs[part] if place == 0 or size == 1 else np.int64(0)
            if point and below(rng, 2):
                pairs[part] = 25 - pairs[part]
            counts[pairs[part]] = size + smallest - 1
        rear = 24
        while not counts[rear]:
            rear -= 1
        if rear > 12:
            return


@kernel
def begin(rules, start, rng, row):
    """Set up a new game in `row`: layout, starter and his first throw. rng: uint64[1], changed in place."""
    for k in range(WORDS):
        row[k] = 0
    starter, die1, die2 = opening_roll(rules, rng)
    mine = start.sides - 1 if start.sides else starter ^ below(rng, 2)  # the side that the starter has
    for k in range(4):
        row[k] = start.planes[mine, k]
        row[4 + k] = start.planes[1 - mine, k]
    if start.random_stack:
        counts = np.zeros(26, np.int64)
        _random_layout(rng, start.random_stack, counts, np.empty(12, np.int64), np.empty(15, np.int64))
        for k in range(4):
            plane = np.int64(0)
            for point in range(26):
                plane |= (counts[point] >> k & 1) << point
            row[k] = row[4 + k] = np.uint32(plane)
    row[TURN] = np.uint32(starter | starter << 1 | starter << 2)
    throw(rules, row, die1, die2)


def blank_rows(n: int) -> np.ndarray:
    """Room for n states, uint32[n, 16]."""
    return np.zeros((n, WORDS), dtype=np.uint32)
