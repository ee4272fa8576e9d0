"""Other people's engines, which find plays themselves: `gnubg` (package gnubg-nn) and `opensage` (package bgsage)."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, States
from nardy_rl.agents.outside import check_playable, gnubg_nn
from nardy_rl.board import OUTCOME, OWED, PLAYER, TURN, pack, unpack
from nardy_rl.errors import BadBot, MissingExtra
from nardy_rl.position import Position
from nardy_rl.variant import Variant

MOST_PLIES = 2

Side = Sequence[int]  # 25 counts: own points 1 to 24, bar


class EngineBot(Bot):
    """An engine that is asked one position at a time and answers by a board. One thread at a time."""

    parallel = False
    fewer = False  # as in `check_playable`

    def __init__(self, variant: Variant, plies: int, name: str) -> None:
        check_playable(variant, name, own_plays=True, fewer=self.fewer)
        if plies > MOST_PLIES:
            raise BadBot(f"bot {name!r}: it searches 0 to {MOST_PLIES} plies here: end its name with @{MOST_PLIES}ply")
        super().__init__(variant, name)
        self.plies = plies

    def best(self, mine: Side, theirs: Side, die1: int, die2: int) -> tuple[Side, Side]:
        """The engine's play: both sides after it, the mover's first."""
        raise NotImplementedError

    def pick(
        self, states: States, plays: States, first: NDArray[np.int64], draws: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Bot.pick`."""
        mine, theirs = unpack(states[:, 0:4]), unpack(states[:, 4:8])
        chosen = first[:-1].copy()
        owed = states[:, OWED].astype(np.int64)
        for i in range(len(states)):
            if first[i + 1] - first[i] == 1:
                continue
            after = self.best(mine[i, 1:].tolist(), theirs[i, 1:].tolist(), int(owed[i] & 7), int(owed[i] >> 3 & 7))
            chosen[i] = first[i] + self._find(states[i], plays[first[i] : first[i + 1]], after)
        return chosen

    def _find(self, state: NDArray[np.uint32], plays: States, after: tuple[Side, Side]) -> int:
        """Which of the plays leads to the engine's board; raises BadBot if none does."""
        wanted = [pack(np.array((self.variant.checkers - sum(side), *side))) for side in after]
        same = (plays[:, TURN] & PLAYER) == (state[TURN] & PLAYER)  # still the mover's view: he won
        own = np.where(same[:, None], plays[:, 0:4], plays[:, 4:8])
        other = np.where(same[:, None], plays[:, 4:8], plays[:, 0:4])
        found = (own == wanted[0]).all(axis=1) & (other == wanted[1]).all(axis=1)
        if not found.any():
            place = Position(self.variant, state).text
            raise BadBot(
                f"{self.name} chose a play that is not legal at {place}: leave it out, and report the position"
            )
        return int(found.argmax())


class GnubgBot(EngineBot):
    """GNU Backgammon's nets with a search of some plies, cubeless money play.

    Missing checkers are borne off to it, so that it knows no gammons in games of fewer. About 10,000 choices a second
    at 0 plies, 100 at 1, 10 at 2.
    """

    fewer = True

    def __init__(self, variant: Variant, plies: int = 0, name: str = "gnubg") -> None:
        super().__init__(variant, plies, name)
        self.gnubg = gnubg_nn()

    def best(self, mine: Side, theirs: Side, die1: int, die2: int) -> tuple[Side, Side]:
        """See `EngineBot.best`."""
        key = self.gnubg.best_move([theirs, mine], die1, die2, n=self.plies, b=1)[1]
        own, other = self.gnubg.board_from_position_key(key)  # row 0 is who has just moved
        return own, other

    def outputs(self, states: States) -> NDArray[np.float32]:
        """Cumulative probabilities f32[M, 5] of the outcomes for each state's player, who is to throw."""
        mine, theirs = unpack(states[:, 0:4]), unpack(states[:, 4:8])
        found = np.zeros((len(states), 5), np.float32)
        for i in np.flatnonzero(states[:, OUTCOME] == 0):
            found[i] = self.gnubg.probabilities([theirs[i, 1:].tolist(), mine[i, 1:].tolist()], self.plies)
        return found


class OpenSageBot(EngineBot):
    """Open Sage's nets and bear-off table, as they come with it, with a search of some plies, cubeless money play.

    Its own names for 0, 1 and 2 plies are 1ply, 2ply and 3ply. Some hundred choices a second at 0 plies.
    """

    def __init__(self, variant: Variant, plies: int = 0, name: str = "opensage") -> None:
        super().__init__(variant, plies, name)
        try:
            package: Any = importlib.import_module("bgsage")
        except ImportError as error:
            raise MissingExtra("bgsage", "bgsage") from error
        self.analyzer = package.BgBotAnalyzer(eval_level=f"{plies + 1}ply", cubeful=False, parallel_threads=1)

    def best(self, mine: Side, theirs: Side, die1: int, die2: int) -> tuple[Side, Side]:
        """See `EngineBot.best`. Its boards: the other side's bar, the mover's points (minus: the other's), his bar."""
        board = [theirs[24], *(mine[i] - theirs[23 - i] for i in range(24)), mine[24]]
        after = self.analyzer.checker_play(board, die1, die2).moves[0].board
        points = after[1:25]
        return [*(max(n, 0) for n in points), after[25]], [*(max(-n, 0) for n in reversed(points)), after[0]]
