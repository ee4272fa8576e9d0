"""Results: the outcome of a finished game as a small number, and the one table that turns it into points.

A kernel writes an outcome code into the state; the winner is the state's player. What a code is worth is the
score table of the variant, so no kernel, environment or trainer knows about scoring.

| code | meaning |
|---|---|
| 0..31 | the winner bore off all: bits 0-3 the loser's checkers not borne off, bit 4 a loser's checker on 19..24 or the bar |
| 32 | the first hit decided |
| 33 | the loser's mother is lost |
| 34 | draw |
"""  # noqa: E501

from __future__ import annotations

import numpy as np

from nardy_rl.board import FAR_MASK, count, occupied
from nardy_rl.jit import inlined, inner, popcount
from nardy_rl.variant import Variant

FAR, WON_BY_HIT, WON_BY_MOTHER, DRAW, OUTCOMES = 16, 32, 33, 34, 35


@inlined
def checkers_left(row, side):
    """Checkers of a side (0 mine, 4 theirs) that are not borne off."""
    total = 0
    for k in range(4):
        total += popcount(np.int64(row[side + k]) & ~np.int64(1)) << k
    return total


@inner
def borne_off_outcome(row, loser):
    """Outcome when the other side has borne off its last checker; loser is 0 (mine) or 4 (theirs)."""
    code = checkers_left(row, loser)
    if occupied(row, loser) & FAR_MASK:
        code |= FAR
    return code


@inlined
def has_borne_off(row, side):
    """Has a side borne off at least one checker."""
    return count(row, side, 0) > 0


def score_table(variant: Variant) -> np.ndarray:
    """Points of the winner for each outcome code, int8[35]; the draw is worth 0 (rules page, section 7)."""
    table = np.ones(OUTCOMES, dtype=np.int8)
    table[DRAW] = 0
    table[WON_BY_MOTHER] = 2
    for code in range(32):
        left, far = code & 15, code & FAR
        none_off = left == variant.checkers
        if variant.score == "left":
            table[code] = max(left, 1)
        elif variant.score != "one" and none_off:
            table[code] = 2
            if far and (variant.score == "bg" or variant.koks):
                table[code] = 3
    return table


def score_levels(variant: Variant) -> tuple[int, ...]:
    """The different scores by which a game of this variant can be won, ascending."""
    table = score_table(variant)
    codes = [n | far for n in range(1, variant.checkers + 1) for far in (0, FAR)]
    codes += [WON_BY_HIT] * variant.hit_wins + [WON_BY_MOTHER] * variant.mother
    return tuple(sorted({int(table[c]) for c in codes}))


def can_draw(variant: Variant) -> bool:
    """Can a game of this variant end without a winner."""
    return variant.mother or variant.last_throw
