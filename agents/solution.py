"""Solutions of small games as tables on disk: made sweep by sweep, read by the bot, checked by the rules' own kernels.

The table of a game is 32-bit, N x N: 43 MB for three checkers. While it is solved, the values so far are kept in 64
bits after every sweep, so that a killed run goes on and ends with the same table. How it is solved: `solve.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.solvable import Model, Positions, can_be, model_of, number_of, positions_with, put_position
from nardy_rl.agents.solve import SETTLED, Equities, Sweep, start_equities, sweep
from nardy_rl.agents.solve_plays import all_plays
from nardy_rl.agents.table_files import Tables, keep, path_of, read_kept
from nardy_rl.board import OUTCOME, TURN, WORDS, copy_into
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.jit import kernel
from nardy_rl.lockstep import own_scratch
from nardy_rl.machine import cores
from nardy_rl.plays import plays
from nardy_rl.results import score_table
from nardy_rl.rules import rules_of
from nardy_rl.turns import throw
from nardy_rl.variant import Variant

CHECKED = 16  # numbers that a thread checks at a time


class Solution(NamedTuple):
    """A solved game."""

    positions: Positions
    equity: NDArray[np.float32]  # [N, N], as `solve.Equities`
    sweeps: int
    change: float  # the most that the last sweep changed a value, in points
    seconds: float  # that solving took, compilation not counted


class Residuals(NamedTuple):
    """How far the values of a table are from what the plays in each position give, in points."""

    positions: int  # that await a throw
    largest: float
    mean: float


def name_of(model: Model) -> str:
    """The name of a model's table."""
    return f"solved-{model.name}"


def _unfinished(model: Model) -> str:
    return f"{name_of(model)}-unfinished"


def read_solution(variant: Variant) -> Solution | None:
    """The solution of a game, if it has been solved on this machine; raises BadOption if it never can be.

    Its table is memory-mapped: processes that read it share one copy.
    """
    model = model_of(variant)
    tables = read_kept(name_of(model), mapped=True)
    return None if tables is None else _solution(model, tables)


def _solution(model: Model, tables: Tables) -> Solution:
    sweeps, change, seconds = tables["record"]
    return Solution(positions_with(model.checkers), tables["equity"], int(sweeps), float(change), float(seconds))


def solve(variant: Variant, report: Callable[[Sweep], None] | None = None) -> Solution:
    """Solve a game, or go on where an earlier run was stopped; the table is kept in the user's cache folder.

    report: called during each sweep with how far it is. Raises BadOption if the game cannot be solved, OSError if the
    folder cannot be written.
    """
    model = model_of(variant)
    positions = positions_with(model.checkers)
    listed = all_plays(positions, model.exact)
    begun = read_kept(_unfinished(model))
    equity: Equities = start_equities(variant, positions) if begun is None else begun["equity"].copy()
    turned = np.ascontiguousarray(equity.T)
    record = np.array([0.0, np.inf, 0.0]) if begun is None else begun["record"].copy()
    while record[1] > SETTLED:
        since = time.perf_counter()
        record[1] = sweep(positions, listed, equity, turned, int(record[0]) + 1, report)
        record[0] += 1
        record[2] += time.perf_counter() - since
        keep(_unfinished(model), {"equity": equity, "record": record})
    tables: Tables = {"equity": equity.astype(np.float32), "record": record}
    keep(name_of(model), tables)
    path_of(_unfinished(model)).unlink(missing_ok=True)
    return _solution(model, tables)


# ---------------------------------------------------------------------------------------------- the check


@kernel
def check_part(rules, positions, checkers, scores, equity, scr, begin, end):
    """Largest and summed residuals, and the number, of the positions with my number from `begin` to `end` - 1.

    The plays are those of the turn machine, not those that the solver has listed.
    """
    row, thrown = np.zeros(WORDS, np.uint32), np.zeros(WORDS, np.uint32)
    largest, total, pairs = 0.0, 0.0, np.int64(0)
    for m in range(max(begin, 1), end):
        for t in range(1, equity.shape[0]):
            if not can_be(positions, m, t):
                continue
            put_position(positions.places, checkers, m, row, 0)
            put_position(positions.places, checkers, t, row, 4)
            row[TURN] = np.uint32(0)
            worth = 0.0
            for r in range(ROLLS.shape[0]):
                copy_into(thrown, row)
                throw(rules, thrown, ROLLS[r, 0], ROLLS[r, 1])
                best = -np.inf
                for i in range(plays(rules, thrown, scr)):
                    after = scr.plays[i]
                    if after[OUTCOME]:
                        value = scores[np.int64(after[OUTCOME]) - 1]
                    else:
                        mine, theirs = number_of(positions.number, after, 4), number_of(positions.number, after, 0)
                        value = -np.float64(equity[theirs, mine])
                    best = max(best, value)
                worth += ROLL_WEIGHTS[r] * best
            off = abs(worth - np.float64(equity[m, t]))
            if not off <= largest:  # not a number is not right either
                largest = off
            total += off
            pairs += 1
    return largest, total, pairs


def check(
    variant: Variant, solution: Solution, threads: int | None = None, report: Callable[[int, int], None] | None = None
) -> Residuals:
    """Does a solution satisfy the Bellman equation: its residuals over all positions.

    threads: by default all cores. report: called with (numbers done, numbers in all). The result does not depend on
    the threads but for the last bits of the mean.
    """
    rules, scores = rules_of(variant), score_table(variant).astype(np.float64)
    size, checkers = len(solution.equity), np.int64(variant.checkers)

    def part(begin: int) -> tuple[float, float, int]:
        end = np.int64(min(begin + CHECKED, size))
        found: tuple[float, float, int] = check_part(
            rules, solution.positions, checkers, scores, solution.equity, own_scratch(), np.int64(begin), end
        )
        return found

    parts = []
    with ThreadPoolExecutor(threads or cores()) as pool:
        for number, found in enumerate(pool.map(part, range(0, size, CHECKED)), 1):
            parts.append(found)
            if report is not None:
                report(min(number * CHECKED, size), size)
    largest, totals, pairs = (np.array(one) for one in zip(*parts, strict=True))
    return Residuals(int(pairs.sum()), float(largest.max()), float(totals.sum() / pairs.sum()))
