"""Matches to a number of points, and play for money with the cube, made of the games of a duel.

A match takes games in the order of their numbers until a player has the points. Matches come in pairs as games do: one
takes the first games of the pairs, the other the second ones, with the same dice and swapped seats; the next two begin
when both are over.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nardy_rl.agents.bot import Bot
from nardy_rl.errors import BadOption
from nardy_rl.experiments.cube_games import A, CubeGames
from nardy_rl.experiments.paired import Played
from nardy_rl.match import Match, Result
from nardy_rl.variants import variant_text


class Matches:
    """Pairs of matches between two bots, or games for money with the cube, made of games in order.

    length: points of a match; 0 for money. cube: with it or without; left out, as the game has it.
    """

    def __init__(self, a: Bot, b: Bot, length: int, cube: bool | None = None) -> None:
        if cube and not a.variant.cube:
            raise BadOption(f"{variant_text(a.variant)} has no doubling cube: leave --cube out")
        self.new = Match(a.variant, length, cube=cube)
        self.games = CubeGames(a, b)
        self.pair = [self.new, self.new]  # bot a is player 0 in both
        self.won: list[list[bool]] = []
        self.used = self.drops = 0

    def add(self, part: Played) -> Played:
        """Play the next games, whose plays were kept where the cube is in play; the part as it was scored.

        Money changes its points to those with the cube. Matches leave them, as each game has a stake of its own.
        """
        results = self._results(part)
        if not self.new.money:
            return part
        signed = [0 if r.winner is None else r.points if r.winner == A else -r.points for r in results]
        return replace(part, points=np.array(signed, dtype=float))

    def _results(self, part: Played) -> list[Result]:
        courses = self.games.courses(part) if self.new.cube else None
        results = []
        for i, points in enumerate(part.points):
            match = self.pair[i % 2]
            if not match.over:
                if courses is not None and not match.crawford:
                    result = self.games.result(courses[i], match)
                else:
                    result = Result(None if points == 0 else int(points < 0), abs(int(points)), "play")
                results.append(result)
                self.drops += result.how == "drop"
                self.pair[i % 2] = self.new if self.new.money else match.after(result)
            if i % 2 and all(match.over for match in self.pair):
                self.won.append([match.winner == A for match in self.pair])
                self.pair, self.used = [self.new, self.new], part.first + i + 1
        return results

    def summary(self) -> dict[str, Any]:
        """Of matches: `length`, `cube` (were they played with it), `matches` (an even number; games left over make no
        match), `games` used, `drops`, `wins` of bot a, `share` of them and its standard error `se` over pairs of
        matches; None where there are no or too few matches. Of money: `length` 0, `cube` and `drops`."""
        told: dict[str, Any] = {"length": self.new.length, "cube": bool(self.new.cube), "drops": self.drops}
        if self.new.money:
            return told
        shares = np.array(self.won, dtype=float).reshape(-1, 2).mean(axis=1)
        n = len(shares)
        return told | {
            "matches": 2 * n,
            "games": self.used,
            "wins": int(2 * shares.sum()),
            "share": float(shares.mean()) if n else None,
            "se": float(shares.std(ddof=1) / np.sqrt(n)) if n > 1 else None,
        }
