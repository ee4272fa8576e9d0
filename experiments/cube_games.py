"""The games of a duel with the cube.

The bots of a duel choose their plays without a look at cube and score. So a game with the cube is the game without it,
of which the doubles, takes and drops on its way decide how far it is played, and for how much. Each bot judges the cube
by its own chances of the outcomes and its own match equity table (`agents/doubling.py`), without looking ahead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot
from nardy_rl.agents.doubling import chances_of, efficiency, terms_of
from nardy_rl.board import OUTCOME, OWED, PLAYER, TURN
from nardy_rl.cube_equity import BEAVER, DROP, MINE, THEIRS, Chances, CubeEquities, Floats, cube_equities
from nardy_rl.experiments.paired import Played
from nardy_rl.match import Match, Result

A, B = 0, 1  # the bots of a duel: the players of its matches


@dataclass(frozen=True)
class Course:
    """What matters for the cube in a game: the positions before its throws but the first, in order, T of them."""

    movers: NDArray[np.int64]  # A or B: who is to throw
    chances: tuple[Chances, Chances]  # of who is to throw, as bot a and as bot b see them
    x: Floats  # efficiency of the cube
    points: int  # of bot a without the cube; 0 for a draw or an unfinished game


class CubeGames:
    """Games of two bots with the cube."""

    def __init__(self, a: Bot, b: Bot) -> None:
        self.bots = a, b

    def courses(self, part: Played) -> list[Course]:
        """The games of a part of a duel, whose plays were kept."""
        games = np.concatenate([step.games for step in part.plays])
        states = np.concatenate([step.afterstates for step in part.plays])
        waits = (states[:, OUTCOME] == 0) & (states[:, OWED] == 0)
        games, states = games[waits], states[waits]
        order = np.argsort(games, kind="stable")
        games, states = games[order], states[order]
        movers = (states[:, TURN] & PLAYER).astype(np.int64) ^ (games & 1)
        seen = [chances_of(bot, states) for bot in self.bots]
        x = efficiency(self.bots[A].variant, states)
        ends = np.searchsorted(games, part.first + np.arange(len(part.points) + 1))
        return [
            Course(movers[i:j], (seen[A].rows(slice(i, j)), seen[B].rows(slice(i, j))), x[i:j], int(points))
            for i, j, points in zip(ends[:-1], ends[1:], part.points, strict=True)
        ]

    def result(self, course: Course, match: Match) -> Result:
        """How the game ends with the cube, at this score of a match of bot a (player 0) and bot b, or for money."""
        stake, owner = 1, None
        at = 0
        while True:
            found = self._next_double(course, match, at, stake, owner)
            if found is None:
                return _played_out(course, match, stake)
            at, doubler = found
            taker = 1 - doubler
            values = self._values(taker, course, [at], match, doubler, stake, owner)
            answer = values.names()[1]
            if answer == DROP:
                return Result(doubler, stake, "drop")
            if answer == BEAVER:
                own = self._values(doubler, course, [at], match, doubler, stake, owner)
                if own.beaver is not None and own.beaver[0] < -2 * stake:
                    return Result(taker, 2 * stake, "drop")
            stake, owner = stake * (4 if answer == BEAVER else 2), taker

    def _values(
        self, judge: int, course: Course, rows: Any, match: Match, mover: int, stake: int, owner: int | None
    ) -> CubeEquities:
        """What a bot thinks that cube actions are worth to the mover, in positions in which that one is to throw."""
        terms = terms_of(self.bots[judge], match, mover)
        seen = None if owner is None else MINE if owner == mover else THEIRS
        beavers = bool(match.money and match.variant.beavers)
        return cube_equities(course.chances[judge].rows(rows), terms, stake, seen, course.x[rows], beavers)

    def _next_double(
        self, course: Course, match: Match, start: int, stake: int, owner: int | None
    ) -> tuple[int, int] | None:
        """Where, from a position on, the next double is made, and by whom; None if nobody doubles any more."""
        first: list[tuple[int, int]] = []
        for player in (A, B):
            if owner in (None, player) and terms_of(self.bots[player], match, player).gains(stake):
                rows = start + np.flatnonzero(course.movers[start:] == player)
                wants = self._values(player, course, rows, match, player, stake, owner).doubles
                if wants.any():
                    first.append((int(rows[wants.argmax()]), player))
        return min(first, default=None)


def _played_out(course: Course, match: Match, stake: int) -> Result:
    level = abs(course.points)
    if match.money and match.cube and match.variant.jacoby and stake == 1:
        level = min(level, 1)
    if not level:
        return Result(None, 0, "play")
    return Result(A if course.points > 0 else B, level * stake, "play")
