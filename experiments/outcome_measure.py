"""Points and outcomes of a game as columns: what a rollout for people counts.

The columns are points, then the probabilities to win at least s1 points, s2 points, ... (the scores of the game,
ascending), then those to lose as much. In the view of the other player points turn their sign, and wins and losses
change places, so that differences are turned like the columns themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import States, ValueBot, thrown
from nardy_rl.agents.net import outputs_of
from nardy_rl.agents.search import SearchBot
from nardy_rl.board import OUTCOME, WORDS
from nardy_rl.dice import ROLLS
from nardy_rl.experiments.luck import Floats
from nardy_rl.results import can_draw, score_levels, score_table
from nardy_rl.variant import Variant


def outcome_names(variant: Variant) -> list[str]:
    """Names of the columns but the first: `win`, `win 2` (by 2 points or more), ..., `lose`, `lose 2`, ..."""
    levels = score_levels(variant)
    return [side if i == 0 else f"{side} {level}" for side in ("win", "lose") for i, level in enumerate(levels)]


def both_sides(variant: Variant, outputs: NDArray[np.float32]) -> NDArray[np.float32]:
    """Probabilities f32[N, 2 L] of the outcomes as `outcome_names` has them, of outputs f32[N, K] of a net."""
    wins = len(score_levels(variant))
    lose = outputs[:, wins:] if can_draw(variant) else np.column_stack([1 - outputs[:, 0], outputs[:, wins:]])
    return np.column_stack([outputs[:, :wins], lose])


class Outcomes:
    """Points and outcomes of a bot's play, the luck by the replies of a judge that does not search itself.

    A bot that values positions only knows no outcomes: they are then counted at the end of games, not adjusted for
    luck, and NaN where a trial is cut off.
    """

    def __init__(self, bot: ValueBot, judge: ValueBot) -> None:
        self.bot = bot
        self.replies = SearchBot(judge, 1)
        self.levels = len(score_levels(bot.variant))
        points = score_table(bot.variant).astype(np.float64)
        self.exact = np.column_stack([points, both_sides(bot.variant, outputs_of(bot.variant).exact)])

    def _columns(self, outputs: NDArray[np.float32], values: NDArray[np.float32], unknown: float) -> Floats:
        if outputs.shape[1]:
            sides = both_sides(self.bot.variant, outputs)
        else:
            sides = np.full((len(values), 2 * self.levels), unknown, np.float32)
        return np.column_stack([values, sides]).astype(np.float64)

    def final(self, states: States) -> Floats:
        """See `Measure.final`."""
        return self.exact[states[:, OUTCOME].astype(np.int64) - 1]

    def estimate(self, states: States) -> Floats:
        """See `Measure.estimate`."""
        return self._columns(*self.bot.evaluations(states), np.nan)

    def by_roll(self, states: States) -> Floats:
        """See `Measure.by_roll`."""
        rows = np.empty((len(states) * len(ROLLS), WORDS), np.uint32)
        thrown(self.bot.rules, states, ROLLS, rows)
        return self._columns(*self.replies.ahead(rows, 0), 0.0).reshape(len(states), len(ROLLS), -1)

    def turned(self, columns: Floats, other: NDArray[np.bool_]) -> Floats:
        """See `Measure.turned`."""
        wins, result = self.levels, columns.copy()
        result[other, 0] = -columns[other, 0]
        result[other, 1 : 1 + wins] = columns[other, 1 + wins :]
        result[other, 1 + wins :] = columns[other, 1 : 1 + wins]
        return result
