"""Match equity table: the chance to win a match from every score, computed from a model of a single game.

The model: before a game each player wins it with chance 1/2; of the games won a fixed share is won by each score
(gammons, backgammons); the cube has a fixed efficiency. The worth of an outcome is the chance to win the match at the
score that it leads to, and the worth of the game before it begins is that of Janowski's model with the cube in the
middle (`cube_equity.py`). So the table is filled from the end of the match on. The recursion over scores is the usual
one; see Tom Keith, "How to Compute a Match Equity Table" (bkgm.com/articles/met.html), and Norman Zadeh, "On doubling
in tournament backgammon", Management Science 23 (1977).

* The Crawford game has no cube.
* After it the player behind doubles before his first throw: he has nothing to lose. The leader drops when that is
  better, which it is at an even score when the opening has gone against him. By then the chance to win is
  1/2 + SPREAD or 1/2 - SPREAD, each half of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nardy_rl.cube_equity import Chances, Terms, dead_equity, equity
from nardy_rl.errors import BadMatch

LONGEST = 64
"""Points away up to which tables are computed."""
EFFICIENCY = 0.68
SPREAD = 0.025
LEVELS, SHARES = (1, 2, 3), (0.74, 0.25, 0.01)
"""Scores of a game of backgammon, and the share of the games won that is won by each."""


@dataclass(frozen=True, eq=False)
class MatchTable:
    """Chances to win a match. `match_table` makes one."""

    levels: tuple[int, ...]
    shares: tuple[float, ...]
    before: NDArray[np.float64]
    """f64[n + 1, n + 1]: chance of a player who needs the first number of points, his opponent the second, before or in
    the Crawford game; [0, :] is 1, [:, 0] is 0."""
    after: NDArray[np.float64]
    """f64[n + 1]: chance of the player behind, who needs so many points, after the Crawford game."""

    @property
    def length(self) -> int:
        """The most points away that it has."""
        return len(self.after) - 1

    def chance(self, mine: int, theirs: int, over: bool = False) -> float:
        """Chance of a player who needs `mine` points; `over`: the Crawford game is behind, or there is none."""
        if mine <= 0 or theirs <= 0:
            return float(mine <= 0)
        if over and mine == 1:
            return 1.0 - float(self.after[theirs])
        return float(self.after[mine] if over and theirs == 1 else self.before[mine, theirs])


@dataclass(frozen=True)
class MatchTerms(Terms):
    """What points are worth at a score of a match: the chance to win it after them."""

    table: MatchTable
    needs: tuple[int, int]
    """Points that this player needs before the game, and the other one."""
    cube: bool = True
    """May the cube be turned in this game."""
    cap: int = 64

    def worth(self, points: int) -> float:
        """See `Terms.worth`."""
        mine, theirs = self.needs
        return self.table.chance(mine - max(points, 0), theirs - max(-points, 0), over=1 in self.needs)

    @property
    def other(self) -> MatchTerms:
        """See `Terms.other`."""
        return MatchTerms(self.table, self.needs[::-1], self.cube, self.cap)

    def gains(self, stake: int) -> bool:
        """See `Terms.gains`: not if the stake wins the match for this player as it is."""
        return self.cube and 2 * stake <= self.cap and stake < self.needs[0]


@lru_cache(maxsize=16)
def match_table(
    length: int,
    levels: tuple[int, ...] = LEVELS,
    shares: tuple[float, ...] = SHARES,
    *,
    efficiency: float = EFFICIENCY,
    spread: float = SPREAD,
    crawford: bool = True,
    cube: bool = True,
    cap: int = 64,
) -> MatchTable:
    """The table up to `length` points away.

    levels, shares: scores of a game, and the share of the games won by each. efficiency: of the cube. spread: see the
    module's page. crawford: are matches played by that rule. cube: are they played with the cube. Raises BadMatch for
    numbers that make no sense.
    """
    if not 1 <= length <= LONGEST:
        raise BadMatch(f"a match equity table for {length} points: it can have 1 to {LONGEST}")
    if len(shares) != len(levels) or min(shares) < 0 or abs(sum(shares) - 1) > 1e-6:
        raise BadMatch(f"shares {shares} of games won by {levels}: as many numbers from 0 on that sum up to 1")
    if not 0 <= efficiency <= 1 or not 0 <= spread < 0.5:
        raise BadMatch(f"efficiency {efficiency} must be from 0 to 1, spread {spread} from 0 to below 0.5")
    table = MatchTable(levels, shares, np.zeros((length + 1, length + 1)), np.zeros(length + 1))
    before, after = table.before, table.after
    before[0, :] = after[0] = 1.0
    won = np.array(shares)[None]
    even = Chances(levels, won / 2, won / 2)
    for n in range(1, length + 1):
        after[n] = _after_crawford(table, n, even, spread, cube and 2 <= cap)
    before[1, 1] = 0.5
    for n in range(2, length + 1):
        before[1, n] = float(dead_equity(even, MatchTerms(table, (1, n)), 1)[0]) if crawford else 1 - after[n]
        before[n, 1] = 1 - before[1, n]
    for mine in range(2, length + 1):
        before[mine, mine] = 0.5
        for theirs in range(mine + 1, length + 1):
            terms = MatchTerms(table, (mine, theirs), cube=cube, cap=cap)
            before[mine, theirs] = float(equity(even, terms, 1, None, efficiency)[0])
            before[theirs, mine] = 1 - before[mine, theirs]
    return table


def _after_crawford(table: MatchTable, n: int, even: Chances, spread: float, cube: bool) -> float:
    """Chance of the player behind who needs n points while the other one needs 1, after the Crawford game."""
    if n == 1:
        return 0.5
    terms = MatchTerms(table, (n, 1))
    if not cube:
        return float(dead_equity(even, terms, 1)[0])
    lose, win = (float(end[0]) for end in terms.ends(even, 2))
    taken = [lose + (win - lose) * p for p in (0.5 + spread, 0.5 - spread)]
    return sum(min(value, terms.worth(1)) for value in taken) / 2
