"""True regret: what a bot's choices in a duel lose against best play, where the other side is the solution of the game.

A choice loses the value of the best play less that of the play that was made, both by the table of the bot `exact`.
Only decisions count in which there are two different plays or more. The errors are over pairs of games, as in duels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nardy_rl.agents.bot import Bot, States, all_plays
from nardy_rl.agents.exact_bot import ExactBot
from nardy_rl.board import PLAYER, TURN
from nardy_rl.experiments.luck import Floats
from nardy_rl.experiments.paired import Played

ROUNDING = 1e-6  # points below which a choice loses nothing: the table is of 32-bit numbers
MILLI = 1000.0


class Regret:
    """What one bot's choices lose, game by game."""

    def __init__(self, judge: ExactBot, of: Bot, is_a: bool) -> None:
        self.judge, self.of, self.is_a = judge, of, is_a
        self.parts: list[Floats] = []  # f64[N, 3] each: lost, decisions, decisions without loss, of each game

    def add(self, part: Played) -> None:
        """Count some games, whose plays were kept."""
        counted = np.zeros((len(part.points), 3))
        for games, states, afterstates in part.plays:
            by_a = (states[:, TURN] & np.uint32(PLAYER)) == (games & 1)
            ours = by_a if self.is_a else ~by_a
            if ours.any():
                lost, free = self._lost(states[ours], afterstates[ours])
                at = games[ours] - part.first
                counted[at] += np.stack([lost, free, free & (lost < ROUNDING)], axis=1)
        self.parts.append(counted)

    def _lost(self, states: States, afterstates: States) -> tuple[Floats, np.ndarray]:
        """Points that the plays made lose, f64[K], and whether there was a choice, bool[K]."""
        plays, first = all_plays(self.judge.rules, states)
        movers = states[:, TURN] & np.uint32(PLAYER)
        numbers = np.diff(first)
        best = np.maximum.reduceat(self._values(plays, np.repeat(movers, numbers)), first[:-1])
        return best - self._values(afterstates, movers), numbers > 1

    def _values(self, plays: States, movers: np.ndarray) -> Floats:
        """Values of plays for those who made them."""
        values = self.judge.values(plays).astype(np.float64)
        return np.where((plays[:, TURN] & np.uint32(PLAYER)) == movers, values, -values)

    def summary(self, games: int) -> dict[str, Any]:
        """What the first so many games come to; keys as under `evaluate` in docs/cli.md."""
        pairs = np.concatenate(self.parts)[:games].reshape(-1, 2, 3).mean(axis=1)
        lost, decisions, without = pairs.T
        mean = max(float(decisions.mean()), 1e-9)
        each = lost.mean() / mean
        several = len(pairs) > 1
        rest = lost - each * decisions  # the error of a ratio, to first order
        return {
            "of": self.of.name,
            "decisions": int(2 * decisions.sum()),
            "millipoints": MILLI * float(each),
            "se": MILLI * float(rest.std(ddof=1) / np.sqrt(len(pairs)) / mean) if several else None,
            "millipoints_a_game": MILLI * float(lost.mean()),
            "se_a_game": MILLI * float(lost.std(ddof=1) / np.sqrt(len(pairs))) if several else None,
            "best": float(without.mean() / mean),
        }


def regret_of(a: Bot, b: Bot) -> Regret | None:
    """For the duel of a and b: the regret of the one whose opponent is `exact`, of a if both are; None if none is."""
    if isinstance(b, ExactBot):
        return Regret(b, a, True)
    return Regret(a, b, False) if isinstance(a, ExactBot) else None
