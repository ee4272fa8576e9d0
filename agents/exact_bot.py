"""The bot `exact`: plays a solved game by the table of its solution (`solution.py`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import States, ValueBot, all_plays, best_plays
from nardy_rl.agents.net import outputs_of
from nardy_rl.agents.solution import Solution, read_solution
from nardy_rl.agents.solvable import number_of
from nardy_rl.board import OUTCOME, OWED
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.jit import kernel
from nardy_rl.variant import Variant
from nardy_rl.variants import variant_text


@kernel
def look_up(number, equity, scores, rows, values):
    """Values f32[M] of states uint32[M, 16] for each state's player; those that owe something are left as they are."""
    for i in range(rows.shape[0]):
        if rows[i, OUTCOME]:
            values[i] = scores[np.int64(rows[i, OUTCOME]) - 1]
        elif not rows[i, OWED]:
            values[i] = equity[number_of(number, rows[i], 0), number_of(number, rows[i], 4)]


class ExactBot(ValueBot):
    """Knows the value of every position. Of equal plays it takes the first.

    In a game of plain wins and losses its outputs are the chance to win; in others it knows values only.
    """

    def __init__(self, variant: Variant, solution: Solution, name: str = "exact") -> None:
        super().__init__(variant, name)
        self.solution = solution
        meaning = outputs_of(variant)
        self.meaning = meaning if len(meaning.points) == 1 else None

    def estimate(self, states: States) -> NDArray[np.float32]:
        """See `ValueBot.estimate`; exact to 32 bits, where something is owed by the best play."""
        rows = np.ascontiguousarray(states, dtype=np.uint32)
        values = np.empty(len(rows), np.float32)
        look_up(self.solution.positions.number, self.solution.equity, self.table.astype(np.float32), rows, values)
        owing = np.flatnonzero((rows[:, OWED] != 0) & (rows[:, OUTCOME] == 0))
        if len(owing):
            plays, first = all_plays(self.rules, rows[owing])
            best = np.empty(len(owing), np.float32)
            best_plays(rows[owing], plays, first, self.estimate(plays), np.empty(len(owing), np.int64), best)
            values[owing] = best
        return values

    def evaluations(self, states: States) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """See `ValueBot.evaluations`."""
        values = self.values(states)
        if self.meaning is None:
            return np.empty((len(values), 0), np.float32), values
        outputs = (values - np.float32(self.meaning.constant)) / self.meaning.points
        return outputs[:, None], values


def exact_bot(variant: Variant) -> ExactBot:
    """The bot of a solved game; raises BadBot with what to do if it has not been solved, or never can be."""
    try:
        solution = read_solution(variant)
    except BadOption as error:
        raise BadBot(f"bot 'exact': {error}") from None
    if solution is None:
        raise BadBot(
            f"bot 'exact': {variant_text(variant)} has not been solved on this machine: run  nardy solve "
            f"{variant_text(variant)}  first, which takes minutes"
        )
    return ExactBot(variant, solution)
