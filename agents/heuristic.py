"""A hand-written player for each family of games: a weighted sum of what a textbook looks at.

Each side is described by some two dozen terms (`terms.py`), in its own numbering. A position is worth the weighted sum
of the terms of the side to act less that of the side that waits, squashed into the range of the game's scores. A lone
checker is in more danger on the side that waits, so the two sides have weights of their own. There is a set of weights
for the beginning of a game and one for its end, mixed by how many pips are left, and one for the race after it. The
weights (`heuristic_weights.py`) are the same for all games of a kind; which kind a game is follows from its switches.
A kind that nobody has tuned (`experiments/tune.py`) has the weights of its family.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import States, ValueBot
from nardy_rl.agents.heuristic_weights import WEIGHTS
from nardy_rl.agents.terms import (
    COLUMNS,
    EARLY,
    ESCAPE_CHANCES,
    HIT_CHANCES,
    LATE,
    PHASES,
    RACE,
    SIZE,
    TERMS,
    TO_ACT,
    TO_PLAY,
    how_early,
    is_race,
    pips_owed,
    side_terms,
)
from nardy_rl.board import copy_into
from nardy_rl.jit import inlined, kernel
from nardy_rl.variant import Variant

KINDS = ("short", "few", "first-hit", "long", "split", "split-left", "runner", "progression", "plakoto")


def kind_of(variant: Variant) -> str:
    """Which of the KINDS a game is, by its switches."""
    if variant.family == "short":
        return "first-hit" if variant.hit_wins else "few" if variant.checkers < 15 else "short"
    if variant.family == "plakoto":
        return "plakoto"
    if variant.head == "runner":
        return "runner"
    if max(variant.layouts[0]) < variant.checkers:
        return "split-left" if variant.score == "left" else "split"
    return "progression" if variant.doubles == "progression" else "long"


@inlined
def mixed(rules, family, row, weights, out):
    """The weights f32[COLUMNS] that hold in a state, into `out`; weights: f32[PHASES, COLUMNS]."""
    if is_race(rules, family, row):
        copy_into(out, weights[RACE])
        return
    early = how_early(family, row)
    for k in range(COLUMNS):
        out[k] = early * weights[EARLY, k] + (np.float32(1) - early) * weights[LATE, k]


@kernel
def heuristic_values(rules, states, family, weights, scale, hits, escapes, values):
    """Values f32[N] of states uint32[N, 16] for each state's player; weights: f32[PHASES, COLUMNS]."""
    terms, w = np.zeros(SIZE, np.float32), np.zeros(COLUMNS, np.float32)
    for i in range(len(states)):
        mixed(rules, family, states[i], weights, w)
        total = w[TO_ACT] + w[TO_PLAY] * pips_owed(states[i])
        side_terms(family, states[i], 0, hits, escapes, terms)
        for k in range(SIZE):
            total += w[k] * terms[k]
        side_terms(family, states[i], 4, hits, escapes, terms)
        for k in range(SIZE):
            total -= w[SIZE + k] * terms[k]
        values[i] = scale * np.tanh(total)


def read_weights(family: str, table: str) -> NDArray[np.float32]:
    """Weights f32[PHASES, COLUMNS] of a table: a line a term, its name first, then by phase to act and waiting."""
    weights = np.zeros((PHASES, COLUMNS), np.float32)
    lines = {line.split()[0]: np.array(line.split()[1:], np.float32) for line in table.strip().splitlines()}
    for k, name in enumerate(TERMS[family]):
        weights[:, k], weights[:, SIZE + k] = lines[name][0::2], lines[name][1::2]
    weights[:, TO_ACT], weights[:, TO_PLAY] = lines["to-act"], lines["owed"]
    return weights


def write_weights(family: str, weights: NDArray[np.float32]) -> str:
    """The table of weights, to two decimals; `read_weights` reads it back."""
    lines = [
        f"{name:<16}" + "".join(f"{w:8.2f}" for phase in weights for w in (phase[k], phase[SIZE + k]))
        for k, name in enumerate(TERMS[family])
    ]
    lines.append(f"{'to-act':<16}" + "".join(f"{phase[TO_ACT]:8.2f}" for phase in weights))
    lines.append(f"{'owed':<16}" + "".join(f"{phase[TO_PLAY]:8.2f}" for phase in weights))
    return "\n".join(line.rstrip() for line in lines)


@lru_cache
def weights_of(family: str, kind: str) -> NDArray[np.float32]:
    """The weights of a kind of game."""
    return read_weights(family, WEIGHTS.get(kind, WEIGHTS[family]))


class HeuristicBot(ValueBot):
    """The hand-written player of the variant's family, with the weights of its kind or others of the same shape."""

    def __init__(self, variant: Variant, weights: NDArray[np.float32] | None = None) -> None:
        super().__init__(variant, "heuristic")
        self.family = ("short", "long", "plakoto").index(variant.family)
        self.weights = weights_of(variant.family, kind_of(variant)) if weights is None else weights
        self.scale = np.float32(self.table[:32].max())

    def estimate(self, states: States) -> NDArray[np.float32]:
        """See `ValueBot.estimate`."""
        values = np.empty(len(states), np.float32)
        heuristic_values(self.rules, states, self.family, self.weights, self.scale, HIT_CHANCES, ESCAPE_CHANCES, values)
        return values
