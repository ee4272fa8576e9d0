"""How fast training by self-play is: against a rival's trainer of the same size, and over threads.

Before anything is timed, the trained net's outputs are compared with a plain NumPy evaluation of the same weights.
Every measurement starts from random weights and plays the same number of games, since the first games of an untrained
net are the longest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import nardy_rl.experiments.peers as rivals
from nardy_rl.batch import encode
from nardy_rl.encoding import usual_kind
from nardy_rl.experiments.bench import (
    ROUNDS,
    Comparison,
    alternate,
    chosen_variants,
    has_package,
    is_usual_backgammon,
    one_core,
    rate_of,
    read_inputs,
    result,
)
from nardy_rl.experiments.config import TrainConfig
from nardy_rl.experiments.trainer import Trainer
from nardy_rl.machine import cores
from nardy_rl.variant import Variant
from nardy_rl.variants import variant_text

PLAIN = {"inputs": "plain", "hidden": 80, "hidden2": 0, "trace": 0.0, "final_step_size": 0.001}
TD_ONLY = {"generation": 0}  # what is timed are games of TD
GAMES_A_SECOND = 600  # of a round: how many games fill about one second


def numpy_outputs(trainer: Trainer, states: np.ndarray) -> np.ndarray:
    """Outputs of the trainer's net by plain matrix products, float64[N, K]: what the kernels must agree with."""
    net = [w.astype(np.float64) for w in trainer.first.net]
    x = encode(trainer.variant, states, trainer.kind).astype(np.float64)
    x = np.maximum(x @ net[0] + net[1], 0)
    if len(net[3]):
        x = np.maximum(x @ net[2].T + net[3], 0)
    outputs: np.ndarray = 1 / (1 + np.exp(-(x @ net[4].T + net[5])))
    return outputs


def _trainer(variant: Variant, threads: int, games: int, settings: dict[str, Any]) -> Trainer:
    values = {"variant": variant_text(variant), "threads": threads, "games": games, **TD_ONLY, **settings}
    return Trainer(TrainConfig(**values), Path())


def _train(variant: Variant, threads: int, games: int, settings: dict[str, Any]) -> tuple[float, float, Trainer]:
    """Train from scratch: CPU seconds, wall seconds, and the trainer."""
    trainer = _trainer(variant, threads, games, settings)
    trainer.make_buffers()
    with ThreadPoolExecutor(threads) as pool:
        cpu, wall = time.process_time(), time.perf_counter()
        while trainer.done < 1:
            trainer.round(pool)
        return time.process_time() - cpu, time.perf_counter() - wall, trainer


def _assert_equal(trainer: Trainer) -> None:
    """Raise AssertionError unless the kernels give the outputs that NumPy gives."""
    states = read_inputs(trainer.variant).states[:200].copy()
    worst = np.abs(trainer.policy().outputs(states) - numpy_outputs(trainer, states)).max()
    assert worst < 1e-5, f"{trainer.config.variant}: outputs differ from NumPy's by {worst:.2e}"


def bench_train(
    variants: Sequence[Variant | str] | None = None,
    peers: bool = False,
    seconds: float = 2.0,
    say: Callable[[str], None] | None = None,
) -> list[dict[str, Any]]:
    """Games of self-play training a second: the plain net beside a rival's, the default recipe, and two threads.

    variants: None for one of each family. peers: time Open Sage's TD(0) trainer in the same rounds (in the
    game it knows). seconds: about how long a round lasts. Returns the lines of `nardy bench`.
    """
    say = say or (lambda text: None)
    lines = []
    for variant in chosen_variants(variants):
        games = max(256, int(seconds * GAMES_A_SECOND))
        say(f"{variant_text(variant)}: compiling")
        _assert_equal(_train(variant, 1, 256, PLAIN)[2])
        _assert_equal(_train(variant, 1, 256, {})[2])
        lines += _bench_one_core(variant, games, peers, say)
        lines.append(_bench_threads(variant, games, say))
    return lines


def _bench_one_core(variant: Variant, games: int, peers: bool, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """The plain net, beside the rival of the same size, and the default recipe, each on one core."""
    sage = peers and is_usual_backgammon(variant) and has_package("bgbot_cpp")
    with one_core():
        say(f"{variant_text(variant)}: timing TD(0), 196 plain inputs, 80 hidden")
        plain = alternate(
            lambda: games / _train(variant, 1, games, PLAIN)[0],
            (lambda: rivals.bgsage_td_games_per_s(games, hidden=80)) if sage else None,
        )
        say(f"{variant_text(variant)}: timing the default recipe")
        recipe = alternate(lambda: games / _train(variant, 1, games, {})[0])
    defaults = TrainConfig(games=1)
    what = f"{usual_kind(variant)} {defaults.hidden}-{defaults.hidden2}, TD({defaults.trace:g})"
    return [
        result(variant, "training_games_per_s", plain, "games/s", "bgsage", net="plain 80, TD(0)", games=games),
        result(variant, "training_games_per_s", recipe, "games/s", net=what, games=games),
    ]


def _bench_threads(variant: Variant, games: int, say: Callable[[str], None]) -> dict[str, Any]:
    """How many times faster two threads train than one, by the wall clock, in alternating rounds."""
    say(f"{variant_text(variant)}: timing one thread against two")
    factors = []
    for _ in range(ROUNDS):
        one = _train(variant, 1, games, {})[1]
        two = _train(variant, 2, games, {})[1]
        factors.append(one / two)
    return result(variant, "thread_scaling", Comparison(rate_of(factors)), "x", threads=2, cores=cores(), games=games)
