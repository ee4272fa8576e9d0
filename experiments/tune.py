"""Weights of the hand-written players, found by their own play: `python -m nardy_rl.experiments.tune KIND`.

In each generation the player plays itself in all games of a kind, with a little noise in its values; its weights are
fitted anew to how the games ended: least squares of the points against the squashed sum. Prints the table for
`agents/heuristic_weights.py`, and how the player does against `pips` in the first game.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.baselines import PipsBot
from nardy_rl.agents.bot import States, ValueBot
from nardy_rl.agents.heuristic import KINDS, HeuristicBot, kind_of, write_weights
from nardy_rl.agents.terms import COLUMNS, ESCAPE_CHANCES, HIT_CHANCES, PHASES, RACE, SIZE, list_terms
from nardy_rl.board import OUTCOME, PLAYER, TURN
from nardy_rl.experiments.duel import duel
from nardy_rl.experiments.paired import Duellists, Played, play_pairs
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS

Floats = NDArray[np.float32]

NOISE = 0.03  # of the values in play, of the highest score
SHARE = 0.5  # of the states met are learned from
WINDOW = 4  # generations whose games are learned from: the last ones
CAP = 1000  # plays after which a game is left aside
BATCH, PASSES, STEP = 4096, 8, 0.02
DECAY = 1e-4


class Noisy(ValueBot):
    """A bot whose values are off by a random amount, so that it meets more than one way to play."""

    parallel = False

    def __init__(self, bot: HeuristicBot, rng: np.random.Generator) -> None:
        super().__init__(bot.variant, "noisy")
        self.bot, self.rng = bot, rng

    def estimate(self, states: States) -> Floats:
        """See `ValueBot.estimate`."""
        noise = self.rng.normal(0, NOISE * self.bot.scale, len(states))
        return self.bot.estimate(states) + noise.astype(np.float32)


class Samples(NamedTuple):
    """States met in play: columns and how early (`terms.list_terms`), and how their games ended (1: highest score)."""

    columns: Floats  # [N, COLUMNS]
    early: Floats  # [N]: how early, -1 in a race
    results: Floats  # [N]


def samples(part: Played, bot: HeuristicBot, rng: np.random.Generator) -> Samples:
    """Samples of a batch of games."""
    states = np.concatenate([step.afterstates for step in part.plays])
    games = np.concatenate([step.games for step in part.plays])
    kept = (states[:, OUTCOME] == 0) & part.finished[games - part.first] & (rng.random(len(games)) < SHARE)
    states, games = np.ascontiguousarray(states[kept]), games[kept]
    of_a = (states[:, TURN] & np.uint32(PLAYER)) == (games & 1)
    results = part.points[games - part.first] * np.where(of_a, 1, -1) / bot.scale
    columns, early = np.zeros((len(states), COLUMNS), np.float32), np.zeros(len(states), np.float32)
    list_terms(bot.rules, bot.family, states, HIT_CHANCES, ESCAPE_CHANCES, columns, early)
    return Samples(columns, early, results.astype(np.float32))


def fit(columns: Floats, results: Floats, weights: Floats, rng: np.random.Generator) -> Floats:
    """Weights f32[K] that bring the squashed sum of columns f32[N, K] nearest to the results, from others on: Adam."""
    scale = np.maximum(columns.std(axis=0), 0.05)
    w = weights * scale
    m, v, step = np.zeros_like(w), np.zeros_like(w), 0
    steps = PASSES * -(-len(results) // BATCH)
    for _ in range(PASSES):
        order = rng.permutation(len(results))
        for begin in range(0, len(order), BATCH):
            some = order[begin : begin + BATCH]
            x = columns[some] / scale
            y = np.tanh(x @ w)
            gradient = x.T @ ((y - results[some]) * (1 - y * y)) / len(some) + DECAY * w
            step += 1
            m, v = 0.9 * m + 0.1 * gradient, 0.99 * v + 0.01 * gradient * gradient
            rate = STEP * 0.5 * (1 + np.cos(np.pi * step / steps))
            w = w - rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.99**step)) + 1e-8)
    return (w / scale).astype(np.float32)


def play(games: Sequence[Variant], weights: Floats, number: int, seed: int) -> Samples:
    """Samples of `number` games of self-play in each game."""
    rng = np.random.default_rng(seed)
    parts = []
    for variant in games:
        bot = HeuristicBot(variant, weights)
        noisy = Noisy(bot, rng)
        for part in play_pairs(Duellists(variant, noisy, noisy, seed, cap=CAP), number, 1, keep_plays=True):
            parts.append(samples(part, bot, rng))
    return joined(parts)


def joined(parts: Sequence[Samples]) -> Samples:
    """Samples of several batches as one."""
    return Samples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def refit(some: Samples, weights: Floats, seed: int) -> tuple[Floats, float]:
    """New weights f32[PHASES, COLUMNS] and the error of their fit, of the highest score."""
    rng = np.random.default_rng(seed)
    new, error = weights.copy(), 0.0
    for race in (False, True):
        here = (some.early < 0) == race
        x, y = some.columns[here], some.results[here]
        if len(y) < BATCH:
            continue
        if race:
            before = weights[RACE]
        else:  # the early and the late weights together: the sum is linear in both
            early = some.early[here][:, None]
            x, before = np.hstack([early * x, (1 - early) * x]), weights[:RACE].ravel()
        found = fit(x, y, before, rng)
        error += float(((np.tanh(x @ found) - y) ** 2).sum())
        if race:
            new[RACE] = found
        else:
            new[:RACE] = found.reshape(RACE, COLUMNS)
    return new, (error / len(some.results)) ** 0.5


def first_weights() -> Floats:
    """Weights of a player that runs."""
    weights = np.zeros((PHASES, COLUMNS), np.float32)
    weights[:, 0] = weights[:, SIZE] = -1
    return weights


def tune(kind: str, games: int, generations: int, seed: int, anew: bool) -> Floats:
    """Tune one kind, telling how it goes on standard error; returns the weights f32[PHASES, COLUMNS]."""
    variants = [variant for variant in VARIANTS.values() if kind_of(variant) == kind]
    weights = first_weights() if anew else HeuristicBot(variants[0]).weights
    window: list[Samples] = []
    fits: list[Floats] = []
    for i in range(generations):
        window = [*window[1 - WINDOW :], play(variants, weights, games, seed + i)]
        new, error = refit(joined(window), weights, seed + i)
        fits = [*fits[1 - WINDOW :], new]
        weights = np.mean(fits, axis=0, dtype=np.float32)  # play swings less from one generation to the next
        rival = PipsBot(variants[0])
        won = duel(variants[0], HeuristicBot(variants[0], weights), rival, 400, seed, 1, "none")
        print(f"{kind} {i + 1}: error {error:.4f}, against pips {won.ppg:+.3f} ± {won.se:.3f}", file=sys.stderr)
    return weights


def main() -> None:
    """The command line of this module."""
    parser = argparse.ArgumentParser(prog="python -m nardy_rl.experiments.tune", description=__doc__)
    parser.add_argument("kinds", nargs="+", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--games", type=int, default=4000, help="of self-play in each game and generation")
    parser.add_argument("--generations", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--anew", action="store_true", help="start from a player that runs, not from the present one")
    given = parser.parse_args()
    for kind in given.kinds:
        family = next(v.family for v in VARIANTS.values() if kind_of(v) == kind)
        table = write_weights(family, tune(kind, given.games, given.generations, given.seed, given.anew))
        print(f'    "{kind}": """\n{table}\n""",', flush=True)


if __name__ == "__main__":
    main()
