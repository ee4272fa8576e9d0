"""How fast the engine is, beside others in the same run.

Nothing is timed before its results are found equal: the number of plays of every benchmark position must be
the one stored with it and, with rivals, theirs. Then ours and the rival's run in alternating rounds on one
pinned core; times are CPU seconds of this process, the figure is the median round, with the slowest and
fastest beside it. Compilation is measured apart.

The benchmark positions are files of this package (`data/bench/ID.npz`): decisions met in games of random
play, dice thrown, with the number of plays of each. `python -m nardy_rl.experiments.bench FOLDER` writes them
anew.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nardy_rl.experiments.peers as rivals
from nardy_rl.batch import plays
from nardy_rl.board import OUTCOME, OWED, unpack
from nardy_rl.dice import below, roll, stream
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.experiments.paired import CAP
from nardy_rl.experiments.runs import cpu_name
from nardy_rl.jit import kernel
from nardy_rl.lockstep import own_scratch
from nardy_rl.plays import plays as plays_of_row
from nardy_rl.rules import rules_of
from nardy_rl.starts import begin, start_of
from nardy_rl.turns import is_over, owes, throw
from nardy_rl.variant import BACKGAMMON_START, Variant
from nardy_rl.variants import VARIANTS, parse_variant, variant_text

ROUNDS = 5
INPUTS = 2000  # benchmark positions of a game
INPUT_SEED = 1
FOLDER = Path(__file__).parent / "data" / "bench"
GAMES_AT_ONCE = 50  # random games between two looks at the clock


# ---------------------------------------------------------------------------------------------- kernels


@kernel
def count_plays(rules, rows, scr, counts):
    """Make all plays of states uint32[N, 16] that owe a stage; counts int64[N] of them, and their sum."""
    total = 0
    for i in range(len(rows)):
        counts[i] = plays_of_row(rules, rows[i], scr)
        total += counts[i]
    return total


@kernel
def random_games(rules, start, seed, first_game, games, cap, scr):
    """Play games to their end or to `cap` plays, each drawn from the distinct ones; returns the plays made."""
    rng = np.zeros(1, np.uint64)
    row = np.zeros(16, np.uint32)
    made = 0
    for game in range(first_game, first_game + games):
        stream(seed, game, rng)
        begin(rules, start, rng, row)
        last = made + cap
        while not is_over(row) and made < last:
            if not owes(row):
                die1, die2 = roll(rng)
                throw(rules, row, die1, die2)
            n = plays_of_row(rules, row, scr)
            row[:] = scr.plays[below(rng, n)]
            made += 1
    return made


# ---------------------------------------------------------------------------------------------- timing


@dataclass(frozen=True)
class Rate:
    """Something a second: the median of some rounds, the slowest and the fastest."""

    value: float
    low: float
    high: float


@dataclass
class Comparison:
    """Rates of ours and, if there is a rival, of the rival, measured in turns."""

    ours: Rate
    rival: Rate | None = None

    @property
    def ratio(self) -> float | None:
        """How many times the rival's rate ours is."""
        return None if self.rival is None else self.ours.value / self.rival.value


def rate_of(rounds: Sequence[float]) -> Rate:
    """The median round with its neighbours."""
    return Rate(statistics.median(rounds), min(rounds), max(rounds))


def alternate(ours: Callable[[], float], rival: Callable[[], float] | None = None, rounds: int = ROUNDS) -> Comparison:
    """Measure in turns, so that a slower spell of the machine meets both. Each function returns a rate."""
    mine: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):
        mine.append(ours())
        if rival is not None:
            theirs.append(rival())
    return Comparison(rate_of(mine), rate_of(theirs) if theirs else None)


def per_cpu_second(work: Callable[[], int], seconds: float) -> float:
    """How much a second: repeats `work`, which returns how much it did, for about that much CPU time."""
    done = 0
    begun = time.process_time()
    while (spent := time.process_time() - begun) < seconds or not done:
        done += work()
    return done / spent


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Pin this process to one core where the system can, and let it loose again afterwards."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def machine() -> dict[str, Any]:
    """The processor's name and how busy the machine is (mean number of running programs in the last minute)."""
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    return {"cpu": cpu_name(), "load": load}


def result(
    variant: Variant, metric: str, measured: Comparison, unit: str, peer: str | None = None, **more: Any
) -> dict[str, Any]:
    """One line of a benchmark as plain data: COMMANDS' keys, the spread of both, and the machine."""
    line: dict[str, Any] = {
        "variant": variant_text(variant),
        "metric": metric,
        "value": measured.ours.value,
        "unit": unit,
        "peer": peer if measured.rival else None,
        "peer_value": measured.rival.value if measured.rival else None,
        "ratio": measured.ratio,
        "low": measured.ours.low,
        "high": measured.ours.high,
        "peer_low": measured.rival.low if measured.rival else None,
        "peer_high": measured.rival.high if measured.rival else None,
        "rounds": ROUNDS,
    }
    return line | machine() | more


# ---------------------------------------------------------------------------------------------- inputs


@dataclass
class Inputs:
    """Benchmark positions: states uint32[N, 16] that owe a stage, and how many plays each has, int64[N]."""

    variant: Variant
    states: NDArray[np.uint32]
    counts: NDArray[np.int64]
    boards: NDArray[np.int8] = field(init=False)
    dice: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.boards = np.stack([unpack(self.states[:, 0:4]), unpack(self.states[:, 4:8])], axis=1)
        owed = self.states[:, OWED].astype(np.int64)
        self.dice = np.stack([owed & 7, owed >> 3 & 7], axis=1)


def make_inputs(variant: Variant, n: int = INPUTS, seed: int = INPUT_SEED) -> Inputs:
    """Benchmark positions, drawn from ten times as many decisions of random games; a function of the seed."""
    from nardy_rl.experiments.compare import random_decisions

    met = random_decisions(variant, 10 * n, seed)
    chosen = np.sort(np.random.default_rng(seed).choice(len(met), size=n, replace=False))
    states = np.ascontiguousarray(met[chosen])
    return Inputs(variant, states, np.diff(plays(variant, states)[1]))


def write_inputs(inputs: Inputs, folder: Path) -> Path:
    """Keep benchmark positions as a file of this package."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{inputs.variant.id}.npz"
    np.savez_compressed(path, states=inputs.states, counts=inputs.counts.astype(np.int16))
    return path


def read_inputs(variant: Variant) -> Inputs:
    """The benchmark positions of a game; made afresh for a game, or options, that have none of their own."""
    path = FOLDER / f"{variant.id}.npz"
    if variant != VARIANTS.get(variant.id) or not path.is_file():
        return make_inputs(variant)
    with np.load(path, allow_pickle=False) as data:
        return Inputs(variant, data["states"], data["counts"].astype(np.int64))


def assert_equal_counts(inputs: Inputs, ours: NDArray[np.int64], peers: bool) -> int:
    """Raise AssertionError unless every position has the stored number of plays and, with peers, gnubg's.

    Returns how many positions differ from gnubg's count because we know plays that end the game at once,
    where gnubg insists on the most dice (rules page, section 2.5).
    """
    wrong = np.flatnonzero(ours != inputs.counts)
    if len(wrong):
        i = int(wrong[0])
        raise AssertionError(
            f"{inputs.variant.id}: benchmark position {i} has {ours[i]} plays instead of {inputs.counts[i]}"
        )
    if not peers:
        return 0
    theirs = np.array(rivals.gnubg_moves_count(inputs.boards, inputs.dice))
    differ = np.flatnonzero(theirs != ours)
    for k in differ.tolist():
        after, _ = plays(inputs.variant, inputs.states[k : k + 1])
        if not after[:, OUTCOME].any():
            raise AssertionError(f"{inputs.variant.id}: position {k}: {ours[k]} plays, gnubg has {theirs[k]}")
    return len(differ)


# ---------------------------------------------------------------------------------------------- the engine


def has_package(module: str) -> bool:
    """Is an optional package installed."""
    return importlib.util.find_spec(module) is not None


def _gnubg_plays(variant: Variant) -> bool:
    """Does gnubg know this game."""
    from nardy_rl.agents.outside import check_playable

    try:
        check_playable(variant, "gnubg", own_plays=True)
    except BadBot:
        return False
    return True


def is_usual_backgammon(variant: Variant) -> bool:
    """Is this the one game that OpenSpiel and Open Sage know: gnubg's rules from the usual start."""
    plain = not (variant.start_other or variant.random_start) and variant.opening == "dice"
    return plain and variant.start == BACKGAMMON_START and _gnubg_plays(variant)


def chosen_variants(variants: Sequence[Variant | str] | None) -> list[Variant]:
    """The games to measure; if none is named, the first of each family."""
    families = {v.family: v for v in reversed(VARIANTS.values())}
    return [parse_variant(v) if isinstance(v, str) else v for v in variants or reversed(families.values())]


def bench_engine(
    variants: Sequence[Variant | str] | None = None,
    peers: bool = False,
    seconds: float = 2.0,
    say: Callable[[str], None] | None = None,
) -> list[dict[str, Any]]:
    """Speed of the engine in some games: positions, afterstates, random games, evaluations a second.

    variants: None for one of each family. peers: measure the installed rivals in the same rounds.
    seconds: CPU time of one round of one thing. say: called with a line on what is being done. Returns the
    lines of COMMANDS' `results`; positions_per_s also has `of_first`, the rate as a part of the first game's.

    Raises AssertionError if a count is wrong, BadOption for a time that is not positive.
    """
    if not seconds > 0:
        raise BadOption(f"seconds={seconds} must be more than 0")
    chosen = chosen_variants(variants)
    lines: list[dict[str, Any]] = []
    with one_core():
        for variant in chosen:
            lines += _bench_game(variant, peers, seconds, say or (lambda text: None))
    rates = [line for line in lines if line["metric"] == "positions_per_s"]
    for line in rates:
        line["of_first"] = line["value"] / rates[0]["value"]
    return lines


def _bench_game(variant: Variant, peers: bool, seconds: float, say: Callable[[str], None]) -> list[dict[str, Any]]:
    rules, start, scr = rules_of(variant), start_of(variant), own_scratch()
    say(f"{variant_text(variant)}: compiling")
    begun = time.perf_counter()
    inputs = read_inputs(variant)
    n = len(inputs.states)
    counts = np.zeros(n, np.int64)
    count_plays(rules, inputs.states, scr, counts)
    random_games(rules, start, np.uint64(1), 0, 1, CAP, scr)
    compile_s = round(time.perf_counter() - begun, 2)

    gnubg = peers and _gnubg_plays(variant) and has_package("gnubg_nn")
    openspiel = peers and is_usual_backgammon(variant) and has_package("pyspiel")
    say(f"{variant_text(variant)}: comparing the plays of {n:,} positions")
    ending = assert_equal_counts(inputs, counts, gnubg)
    gboards = rivals.gnubg_boards(inputs.boards) if gnubg else []

    say(f"{variant_text(variant)}: timing plays")

    def positions() -> float:
        return per_cpu_second(lambda: n if count_plays(rules, inputs.states, scr, counts) else 0, seconds)

    def gnubg_positions() -> float:
        def once() -> int:
            rivals.time_gnubg_moves(gboards, inputs.dice)
            return n

        return per_cpu_second(once, seconds)

    measured = alternate(positions, gnubg_positions if gnubg else None)
    mean = counts.mean()
    shared = {"compile_s": compile_s, "positions": n}
    extra = {"game_ending_differences": ending} if gnubg else {}
    lines = [
        result(variant, "positions_per_s", measured, "positions/s", "gnubg-nn", **shared, **extra),
        result(variant, "afterstates_per_s", scaled(measured, mean), "afterstates/s", "gnubg-nn", **shared),
    ]

    say(f"{variant_text(variant)}: timing random games")
    played = [0]

    def some_games() -> int:
        random_games(rules, start, np.uint64(1), played[0], GAMES_AT_ONCE, CAP, scr)
        played[0] += GAMES_AT_ONCE
        return GAMES_AT_ONCE

    measured = alternate(
        lambda: per_cpu_second(some_games, seconds),
        (lambda: rivals.openspiel_random_games_per_s(seconds)) if openspiel else None,
    )
    lines.append(result(variant, "random_games_per_s", measured, "games/s", "openspiel", compile_s=compile_s))
    return lines + _bench_evaluations(variant, inputs, gboards, seconds, say)


def scaled(measured: Comparison, factor: float) -> Comparison:
    """The same measurement in another unit."""

    def times(rate: Rate) -> Rate:
        return Rate(rate.value * factor, rate.low * factor, rate.high * factor)

    return Comparison(times(measured.ours), times(measured.rival) if measured.rival else None)


def _bench_evaluations(
    variant: Variant, inputs: Inputs, gboards: list[Any], seconds: float, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Static values a second of the bots that have them, on the positions after the benchmark's plays."""
    from nardy_rl.agents.bot import ValueBot, load_bot
    from nardy_rl.agents.policy import pretrained_for

    after = np.ascontiguousarray(plays(variant, inputs.states)[0][::8])  # an eighth: they are near-copies
    lines = []
    for name in ("heuristic", "pretrained"):
        if name == "pretrained" and pretrained_for(variant) is None:
            continue
        say(f"{variant_text(variant)}: timing evaluations of {name}")
        begun = time.perf_counter()
        bot = load_bot(variant, name)
        assert isinstance(bot, ValueBot)
        bot.values(after[:2])
        compile_s = round(time.perf_counter() - begun, 2)
        rival = None
        if gboards and name == "pretrained":

            def rival() -> float:
                return rivals.gnubg_evaluations_per_s(gboards)

        def ours(bot: ValueBot = bot) -> float:
            return per_cpu_second(lambda: len(bot.values(after)), seconds)

        measured = alternate(ours, rival)
        lines.append(
            result(variant, "evaluations_per_s", measured, "evaluations/s", "gnubg-nn", bot=name, compile_s=compile_s)
        )
    return lines


def bench_train(
    variants: Sequence[Variant | str] | None = None,
    peers: bool = False,
    seconds: float = 2.0,
    say: Callable[[str], None] | None = None,
) -> list[dict[str, Any]]:
    """Speed of training by self-play; see `bench_train.py`."""
    import nardy_rl.experiments.bench_train as training

    return training.bench_train(variants, peers, seconds, say)


def main(folder: str) -> int:
    """Write the benchmark positions of all games into a folder."""
    for variant in VARIANTS.values():
        print(write_inputs(make_inputs(variant), Path(folder)))
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m nardy_rl.experiments.bench FOLDER")
    raise SystemExit(main(sys.argv[1]))
