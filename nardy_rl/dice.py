"""Dice: the 21 rolls and their weights, and a random state that is passed in.

The random state is one 64-bit counter of the splitmix64 generator. A game's stream is made from a seed and the
game's number, so that game i of a batch is the same game alone, whatever the batch size or number of threads.
"""

from __future__ import annotations

import numpy as np

from nardy_rl.jit import inner, kernel, product64, sum64

ROLLS = np.array([(a, b) for a in range(1, 7) for b in range(1, a + 1)], dtype=np.int64)  # larger die first
ROLL_WEIGHTS = np.array([1.0 if a == b else 2.0 for a, b in ROLLS]) / 36.0

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@inner
def mixed(x):
    """A uint64 of which every bit depends on every bit of x, one to one (the last step of splitmix64)."""
    x = product64(x ^ (x >> _S30), _MIX1)
    x = product64(x ^ (x >> _S27), _MIX2)
    return x ^ (x >> _S31)


@inner
def next_random(rng):
    """The next 64 random bits; rng is uint64[1], changed in place."""
    rng[0] = sum64(rng[0], _GOLDEN)
    return mixed(rng[0])


@inner
def below(rng, n):
    """A random whole number 0..n-1, for n up to 2^31 (multiply-and-shift; bias below 2^-32)."""
    return np.int64(((next_random(rng) >> _S32) * np.uint64(n)) >> _S32)


@inner
def uniform(rng):
    """A random float in [0, 1)."""
    return np.float64(next_random(rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def stream(seed, number, rng):
    """Start the random stream of game `number` under a seed: rng is uint64[1], set in place."""
    of_seed = mixed(sum64(np.uint64(seed), _GOLDEN))
    rng[0] = mixed(sum64(sum64(of_seed, product64(np.uint64(number), _MIX1)), _GOLDEN))


@kernel
def roll(rng):
    """Two dice."""
    return below(rng, 6) + 1, below(rng, 6) + 1


@kernel
def opening_roll(rules, rng):
    """The draw for the start: who starts, and the two dice of his first throw (rules page, section 3)."""
    first = below(rng, 6) + 1
    second = below(rng, 6) + 1
    while first == second:
        first = below(rng, 6) + 1
        second = below(rng, 6) + 1
    starter = np.int64(0) if first > second else np.int64(1)
    if rules.opening_reroll:
        first, second = below(rng, 6) + 1, below(rng, 6) + 1
    return starter, max(first, second), min(first, second)
