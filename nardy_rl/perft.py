"""perft: how many plays there are, by depth, from the start of a game over all 21 rolls.

A known count is the quickest test of a move generator. Depth counts plays; a state that still owes something
is played on without a throw. The opening rule is left aside: the start is expanded over all 21 rolls.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.batch import States, plays
from nardy_rl.board import MY_PINS, OUTCOME, OWED, THEIR_PINS, TURN, WORDS
from nardy_rl.dice import ROLLS, mixed
from nardy_rl.errors import NardyError
from nardy_rl.jit import inlined, kernel
from nardy_rl.lockstep import own_scratch
from nardy_rl.options import with_options
from nardy_rl.plays import plays as stage_plays
from nardy_rl.position import Position
from nardy_rl.rules import rules_of
from nardy_rl.turns import throw
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant, variant_text

LARGEST_TABLE = 1 << 28  # fingerprints of distinct positions: 2 GB, half of it filled
MOST_STATES = 1 << 23  # states expanded further: 512 MB
_CHUNK = 1 << 13


@inlined
def _fingerprint(row):
    """64 bits, not all zero, of the position, its pins, what is owed and who acts.

    Of a hundred million distinct positions two have the same with a chance of one in two thousand.
    """
    owed = np.int64(row[OWED])
    if owed & 7 == owed >> 3 & 7:
        owed &= ~0x3F  # of a double count the stages that are owed, not the number that was thrown
    h = np.uint64(1)
    for k in range(0, 8, 2):
        h = mixed(h ^ (np.uint64(row[k]) << np.uint64(32) | np.uint64(row[k + 1])))
    h = mixed(h ^ (np.uint64(row[MY_PINS]) << np.uint64(32) | np.uint64(row[THEIR_PINS])))
    last = np.uint64(owed) << np.uint64(32) | np.uint64(row[TURN] & 3) << np.uint64(16) | np.uint64(row[OUTCOME])
    return mixed(h ^ last) | np.uint64(1 << 63)


@inlined
def _add(table, mark):
    """Is this fingerprint new? table: uint64[2^k], open addressing, zero where empty."""
    mask = np.uint64(len(table) - 1)
    i = mark & mask
    while table[i]:
        if table[i] == mark:
            return False
        i = (i + np.uint64(1)) & mask
    table[i] = mark
    return True


@kernel
def _count_leaves(rules, states, weights, rolls, scr, table, done, totals, unique):
    """Count the plays of states uint32[N, 16] over all rolls and add them to the table of distinct ones.

    weights: int64[N, C], on how many ways each state is reached, one column per root roll; totals: int64[C],
    added to; unique: int64[1], added to. Starts at state `done` and stops when the table might become too
    full; returns how many states are done.
    """
    row = np.empty(WORDS, np.uint32)
    room = len(table) // 2
    while done < len(states):
        if unique[0] + 21 * len(scr.plays) > room:
            break
        thrown = np.int64(states[done, OWED]) == 0
        n = np.int64(0)
        for r in range(len(rolls) if thrown else 1):
            row[:] = states[done]
            if thrown:
                throw(rules, row, rolls[r, 0], rolls[r, 1])
            m = stage_plays(rules, row, scr)
            n += m
            for i in range(m):
                unique[0] += _add(table, _fingerprint(scr.plays[i]))
        for c in range(len(totals)):
            totals[c] += n * weights[done, c]
        done += 1
    return done


@kernel
def _grown(table, larger):
    """Move all fingerprints into an empty larger table."""
    for i in range(len(table)):
        if table[i]:
            _add(larger, table[i])


def _root(variant: Variant, seed: int | None) -> Position:
    if variant.start_other and variant.sides == "coin":
        variant = with_options(variant, {"sides": "first"})
    return Position.start(variant, seed=seed or 0)


def _expanded(variant: Variant, states: States, weights: NDArray[np.int64]) -> tuple[States, NDArray[np.int64]]:
    """The distinct states one play on, and on how many ways each is reached; finished ones do not go on."""
    found, ways = [], []
    live = states[:, OUTCOME] == 0
    states, weights = states[live], weights[live]
    for a in range(0, len(states), _CHUNK):
        chunk, number = states[a : a + _CHUNK], weights[a : a + _CHUNK]
        times = np.where(chunk[:, OWED] == 0, len(ROLLS), 1)
        rows = np.repeat(chunk, times, axis=0)
        which = np.concatenate([np.arange(t) for t in times])
        after, first = plays(variant, rows, ROLLS[which])
        reached = np.repeat(np.repeat(number, times, axis=0), np.diff(first), axis=0)
        f, w = _distinct(after, reached)
        found.append(f)
        ways.append(w)
        if sum(map(len, found)) > MOST_STATES:
            raise NardyError(
                f"perft of {variant_text(variant)} meets more than {MOST_STATES:,} positions to go on from; "
                "use a smaller depth"
            )
    return _distinct(np.concatenate(found), np.concatenate(ways))


def _distinct(states: States, weights: NDArray[np.int64]) -> tuple[States, NDArray[np.int64]]:
    """Equal states once, their numbers of ways added."""
    rows = np.ascontiguousarray(states).view(f"V{4 * WORDS}").ravel()
    _, index, inverse = np.unique(rows, return_index=True, return_inverse=True)
    sums = np.zeros((len(index), weights.shape[1]), np.int64)
    np.add.at(sums, inverse.ravel(), weights)
    return states[index], sums


def _leaves(variant: Variant, states: States, weights: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Plays one further on from each state: how many (by column of weights), and how many are distinct."""
    live = states[:, OUTCOME] == 0
    states, weights = np.ascontiguousarray(states[live]), np.ascontiguousarray(weights[live])
    rules, scr = rules_of(variant), own_scratch()
    totals, unique = np.zeros(weights.shape[1], np.int64), np.zeros(1, np.int64)
    table = np.zeros(1 << 19, np.uint64)
    done = 0
    while done < len(states):
        done = _count_leaves(rules, states, weights, ROLLS, scr, table, done, totals, unique)
        if done < len(states):
            if 2 * len(table) > LARGEST_TABLE:
                raise NardyError(
                    f"perft of {variant_text(variant)} meets more than {LARGEST_TABLE // 2:,} "
                    "distinct positions; use a smaller depth"
                )
            larger = np.zeros(2 * len(table), np.uint64)
            _grown(table, larger)
            table = larger
    return totals, int(unique[0])


def perft(variant: Variant | str, depth: int, divide: bool = False, seed: int | None = None) -> dict[str, Any]:
    """Count the plays of a game by depth from its start.

    Returns `variant`, `depth`, `total` (sequences of that many plays, every roll counted once), `unique`
    (distinct positions they lead to, with pins, who acts and what is owed) and, with `divide`, the total by
    the first roll as {"21": n, ...}. `seed` draws a random start; two different sides stand with the standard
    one on throw. Raises NardyError for a depth below 1 or one that needs too much memory.
    """
    if isinstance(variant, str):
        variant = parse_variant(variant)
    if not 1 <= depth <= 20:
        raise NardyError(f"depth={depth}: perft counts to a depth of 1 or more, and more than 4 takes hours")
    root = _root(variant, seed)
    states = np.tile(root.state, (len(ROLLS), 1))
    rules = rules_of(variant)
    for state, (die1, die2) in zip(states, ROLLS, strict=True):
        throw(rules, state, die1, die2)
    weights = np.eye(len(ROLLS), dtype=np.int64) if divide else np.ones((len(ROLLS), 1), np.int64)
    for _ in range(depth - 1):
        states, weights = _expanded(variant, states, weights)
    totals, unique = _leaves(variant, states, weights)
    result = {
        "variant": variant_text(variant),
        "depth": depth,
        "total": int(totals.sum()),
        "unique": unique,
    }
    if divide:
        result["divide"] = {f"{a}{b}": int(n) for (a, b), n in zip(ROLLS, totals, strict=True)}
    return result
