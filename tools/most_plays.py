"""Search every game for positions with as many plays as possible, and compare with the proven bound.

    python tools/most_plays.py [--seconds 5] [GAME...]

For every game and double it sets the checkers of both sides anywhere on the board (never both on one point, no
forbidden block) and moves them about by simulated annealing, for so many seconds a double; games with the same rules
and number of checkers are searched once. Prints Markdown: the game, the most plays found, the bound of
`nardy_rl.envs.actions.afterstate_bound`, and the position. No play of a game ever exceeds the bound, so the search
says how close it is.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from nardy_rl import VARIANTS, Position, Variant, parse_variant
from nardy_rl.board import ON_BOARD, OWED, POINTS_MASK, THROWS, WORDS, across, occupied
from nardy_rl.dice import below, stream, uniform
from nardy_rl.envs.actions import afterstate_bound
from nardy_rl.jit import kernel
from nardy_rl.plays import is_permitted, plays, scratch
from nardy_rl.position import word_of_queue
from nardy_rl.rules import HIT, rules_of

STEPS = 400  # tries of one call of the kernel
CHAINS = 4  # searches begun anew, of which the best counts


@kernel
def pack_counts(counts, side, row):
    """Planes of the counts int64[26] into row[side : side + 4]."""
    for k in range(4):
        plane = np.int64(0)
        for point in range(26):
            plane |= (counts[point] >> k & 1) << point
        row[side + k] = np.uint32(plane)


@kernel
def may_stand(rules, row):
    """Do the sides not share a point, and is no block of the player's forbidden?"""
    mine, theirs = occupied(row, 0), occupied(row, 4)
    if mine & across(theirs & POINTS_MASK, rules.parallel) & POINTS_MASK:
        return False
    return is_permitted(rules, row, mine & ON_BOARD, np.int64(0))


@kernel
def anneal(rules, row, counts, scr, rng, steps, heat):
    """Move checkers of both sides in `steps` tries; returns the most plays, whose position is left in the arrays.

    counts: int64[2, 26], row: uint32[16], scr: Scratch, rng: uint64[1]. A try that loses k plays is kept with
    probability exp(-k / heat).
    """
    trial, row_of_trial = counts.copy(), row.copy()
    now = plays(rules, row_of_trial, scr)
    best, best_counts = now, counts.copy()
    at = counts.copy()
    for _ in range(steps):
        for side in range(2):
            for point in range(26):
                trial[side, point] = at[side, point]
        for _ in range(1 + below(rng, 3)):
            side = np.int64(below(rng, 4) == 0)
            source, target = below(rng, 26), below(rng, 25 + (rules.contact == HIT and side == 1))
            if trial[side, source]:
                trial[side, source] -= 1
                trial[side, target] += 1
        if trial[0, 0] == trial[0].sum() or trial[1, 0] == trial[1].sum():
            continue
        pack_counts(trial[0], 0, row_of_trial)
        pack_counts(trial[1], 4, row_of_trial)
        if not may_stand(rules, row_of_trial):
            continue
        found = plays(rules, row_of_trial, scr)
        if found >= now or uniform(rng) < np.exp((found - now) / heat):
            now = found
            for side in range(2):
                for point in range(26):
                    at[side, point] = trial[side, point]
            if found > best:
                best = found
                for side in range(2):
                    for point in range(26):
                        best_counts[side, point] = trial[side, point]
    for side in range(2):
        for point in range(26):
            counts[side, point] = best_counts[side, point]
        pack_counts(counts[side], 4 * side, row)
    return best


def search(variant: Variant, die: int, seconds: float, seed: int) -> tuple[int, np.ndarray[Any, Any]]:
    """The most plays found with this double, and the state uint32[16]."""
    rules, scr, rng = rules_of(variant), scratch(), np.zeros(1, np.uint64)
    last = 6 if variant.doubles == "progression" else die
    owed = word_of_queue((die, die), tuple((value, 4) for value in range(die, last + 1)))
    best, best_row = 0, np.zeros(WORDS, np.uint32)
    for chain in range(CHAINS):
        stream(np.uint64(seed), np.uint64(chain), rng)
        counts = np.zeros((2, 26), np.int64)
        for checker in range(variant.checkers):
            counts[0, 24 - checker] += 1  # a checker a point
        counts[1, 13 if variant.parallel else 24] = variant.checkers  # all on the player's point 1
        row = np.zeros(WORDS, np.uint32)
        row[OWED], row[THROWS] = owed, 20 | 20 << 16
        pack_counts(counts[0], 0, row)
        pack_counts(counts[1], 4, row)
        end, begun = time.monotonic() + seconds / CHAINS, time.monotonic()
        while (now := time.monotonic()) < end:
            heat = max(0.5, 30 * (end - now) / (end - begun))
            found = int(anneal(rules, row, counts, scr, rng, STEPS, heat))
            if found > best:
                best, best_row = found, row.copy()
    return best, best_row


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("games", nargs="*", metavar="GAME", help="games to search; all by default")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each double of each game")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    known: dict[Any, tuple[int, str]] = {}
    print("| game | most plays found | bound | position |\n|---|---|---|---|")
    for name in given.games or VARIANTS:
        variant = parse_variant(name)
        key = (rules_of(variant), variant.checkers)
        if key not in known:
            most, row = max(
                (search(variant, die, given.seconds, given.seed) for die in range(1, 7)), key=lambda f: f[0]
            )
            known[key] = most, Position(variant, row).text
            assert len(Position.from_text(known[key][1], variant).plays()) == most
        most, text = known[key]
        print(f"| `{name}` | {most:,} | {afterstate_bound(variant):,} | `{text}` |", flush=True)


if __name__ == "__main__":
    main()
