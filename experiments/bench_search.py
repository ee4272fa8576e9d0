"""How long a decision takes at 0, 1 and 2 plies, beside gnubg in the same run.

First the search's kernel must find what the slower search of any bot finds (`search_any.py`). Then a number of
decisions are timed one by one, in CPU seconds of this process on one pinned core, with empty tables; a round's figure
is the median over the decisions, in milliseconds. Rounds of ours and the rival's alternate. The decisions are benchmark
positions of the package (`bench.py`) with two plays or more.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nardy_rl.experiments.peers as rivals
from nardy_rl.agents.bot import Bot, States, ValueBot, load_bot
from nardy_rl.agents.search import SearchBot
from nardy_rl.agents.search_any import ahead
from nardy_rl.batch import plays
from nardy_rl.errors import BadOption
from nardy_rl.experiments.analyse import best_shipped
from nardy_rl.experiments.bench import (
    Inputs,
    alternate,
    chosen_variants,
    has_package,
    is_usual_backgammon,
    one_core,
    read_inputs,
    result,
)
from nardy_rl.variant import Variant
from nardy_rl.variants import variant_text

DEPTHS = (0, 1, 2)
DECISIONS = 100  # of a round at most
CHECKED = 6  # states whose values are compared first
CLOSE = 1e-5


def bench_search(
    variants: Sequence[Variant | str] | None = None,
    peers: bool = False,
    seconds: float = 2.0,
    say: Callable[[str], None] | None = None,
) -> list[dict[str, Any]]:
    """Median milliseconds of a decision of the best shipped player (`best_shipped`), by depth.

    variants: None for one of each family. peers: measure gnubg in the same rounds, in games that it knows.
    seconds: CPU time of one round. say: called with a line on what is being done. Returns lines as `bench_engine` does.

    Raises AssertionError if the search finds other values than the slower one, BadOption for a time that is not
    positive.
    """
    if not seconds > 0:
        raise BadOption(f"seconds={seconds} must be more than 0")
    lines: list[dict[str, Any]] = []
    with one_core():
        for variant in chosen_variants(variants):
            lines += _bench_game(variant, peers, seconds, say or (lambda text: None))
    return lines


def _bench_game(variant: Variant, peers: bool, seconds: float, say: Callable[[str], None]) -> list[dict[str, Any]]:
    say(f"{variant_text(variant)}: compiling, comparing values")
    begun = time.perf_counter()
    bot = load_bot(variant, best_shipped(variant))
    assert isinstance(bot, ValueBot)
    inputs = read_inputs(variant)
    after, first = plays(variant, inputs.states)
    free = np.flatnonzero(np.diff(first) > 1)
    some = np.random.default_rng(1).permutation(free)[:DECISIONS]  # from all stages, however many there is time for
    inputs = Inputs(variant, inputs.states[some], inputs.counts[some])
    check_values(bot, after[first[:-1]][:: len(first) // CHECKED])
    compile_s = round(time.perf_counter() - begun, 2)
    rival = peers and is_usual_backgammon(variant) and has_package("gnubg_nn")
    lines = []
    for depth in DEPTHS:
        say(f"{variant_text(variant)}: timing decisions at {depth} plies")
        measured = alternate(
            partial(_decision_ms, bot, depth, inputs.states, seconds),
            partial(_gnubg_ms, inputs, depth, seconds) if rival else None,
        )
        lines.append(
            result(
                variant,
                f"decision_ms_{depth}ply",
                measured,
                "ms",
                "gnubg-nn",
                bot=bot.name,
                compile_s=compile_s,
                positions=len(inputs.states),
            )  # fmt: skip
        )
    return lines


def check_values(bot: ValueBot, states: States) -> None:
    """Raise AssertionError unless the search finds the values of the slower search of any bot, one ply ahead."""
    search = SearchBot(bot, 1)
    for ours, slow in zip(search.evaluations(states), ahead(bot, states, 1, search.replies), strict=True):
        if not np.allclose(ours, slow, atol=CLOSE):
            raise AssertionError(f"{bot.variant.id}: the search is off by {np.abs(ours - slow).max():.1e}")


def _decision_ms(bot: ValueBot, depth: int, states: States, seconds: float) -> float:
    """Median CPU milliseconds of one choice among the plays of a position, in about so many seconds."""
    player: Bot = SearchBot(bot, depth) if depth else bot
    draws = np.zeros(1, np.uint64)

    def choose(after: States, first: NDArray[np.int64], i: int) -> None:
        player.pick(states[i : i + 1], after, first, draws)

    made = [plays(bot.variant, states[i : i + 1]) for i in range(len(states))]
    choose(*made[0], 0)  # memory is made
    if depth:
        player = SearchBot(bot, depth)
    return median_ms(lambda i: choose(*made[i], i), len(states), seconds)


def _gnubg_ms(inputs: Inputs, depth: int, seconds: float) -> float:
    """The same of gnubg."""
    with rivals.gnubg_chooser(inputs.boards, inputs.dice, depth) as choose:
        return median_ms(choose, len(inputs.states), seconds)


def median_ms(work: Callable[[int], object], number: int, seconds: float) -> float:
    """Median CPU milliseconds of work(0), work(1), ..., as many as there is time for, at least one."""
    spent: list[float] = []
    for i in range(number):
        begun = time.process_time()
        work(i)
        spent.append(time.process_time() - begun)
        if sum(spent) > seconds:
            break
    return 1e3 * statistics.median(spent)
