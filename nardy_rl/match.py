"""Matches and money play: the score, who has won, and whether the Crawford rule forbids the cube.

A `Match` is what stands between two games. `Match(variant, 7)` is a match to seven points, `Match(variant)` play
for money, which never ends. Games without a cube are played to a number of points in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nardy_rl.errors import BadMatch
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant, variant_text

MOST_POINTS = 32767
"""The longest match and the highest score: what a Match ID has room for."""


class Result(NamedTuple):
    """How a game of a match ended."""

    winner: int | None  # the winner's player number; None for a draw
    points: int  # what he wins, the cube counted in; 0 for a draw
    how: str  # "play", "drop" (of a double) or "resign"


@dataclass(frozen=True)
class Match:
    """A match between two games, or during one. Immutable; `after` gives the match after a game's result.

    Raises BadMatch for numbers that make no sense.
    """

    variant: Variant
    length: int = 0
    """Points that win the match; 0 is play for money."""
    score: tuple[int, int] = (0, 0)
    """Points of players 0 and 1 before the present game."""
    crawford: bool = None  # type: ignore[assignment]
    """Is the present game the Crawford game, in which nobody doubles. Left out: yes if one player, not both, is one
    point from winning and the variant has the rule and a cube. State False for the games after it."""
    cube: bool = None  # type: ignore[assignment]
    """Is the cube in play. Left out: as the variant has it."""

    if TYPE_CHECKING:

        def __init__(
            self,
            variant: Variant | str,
            length: int = 0,
            score: tuple[int, int] = (0, 0),
            crawford: bool | None = None,
            cube: bool | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        if isinstance(self.variant, str):
            object.__setattr__(self, "variant", parse_variant(self.variant))
        if not _whole(self.length) or self.length > MOST_POINTS:
            raise BadMatch(f"a match to {self.length} points: the length must be from 1 to {MOST_POINTS}, 0 for money")
        if len(self.score) != 2 or not all(_whole(points) and points <= MOST_POINTS for points in self.score):
            raise BadMatch(f"a score of {self.score}: it takes two whole numbers from 0 to {MOST_POINTS}")
        object.__setattr__(self, "score", tuple(self.score))
        if self.length and min(self.score) >= self.length:
            raise BadMatch(f"a score of {self.score[0]}-{self.score[1]} in a match to {self.length}: only one wins it")
        if self.cube is None:
            object.__setattr__(self, "cube", self.variant.cube)
        elif self.cube and not self.variant.cube:
            raise BadMatch(f"{variant_text(self.variant)} has no doubling cube")
        if self.crawford is None:
            object.__setattr__(self, "crawford", self._may_be_crawford)
        elif self.crawford and not self._may_be_crawford:
            raise BadMatch(f"there is no Crawford game {self._why_no_crawford()}")

    # ------------------------------------------------------------------------------------ what holds now

    @property
    def money(self) -> bool:
        """Is it play for money: no length, so that nobody wins it."""
        return not self.length

    @property
    def needs(self) -> tuple[int, int] | None:
        """Points that players 0 and 1 still need; None in money play."""
        if self.money:
            return None
        return max(0, self.length - self.score[0]), max(0, self.length - self.score[1])

    @property
    def winner(self) -> int | None:
        """Who has won the match, or None."""
        if self.money or max(self.score) < self.length:
            return None
        return int(self.score[1] >= self.length)

    @property
    def over(self) -> bool:
        """Has the match ended: a player has its length in points or more."""
        return self.winner is not None

    @property
    def _may_be_crawford(self) -> bool:
        """Can the present game be the Crawford game: not with both at match point, so never in a match to 1."""
        one = max(self.score) == self.length - 1 > min(self.score)
        return bool(self.variant.crawford and self.cube) and self.length > 0 and one

    def _why_no_crawford(self) -> str:
        if self.money:
            return "in money play"
        if not self.cube:
            return "where the cube is not in play"
        if not self.variant.crawford:
            return f"in {variant_text(self.variant)}"
        score = f"at {self.score[0]}-{self.score[1]} in a match to {self.length}"
        return f"{score}: it is the first game in which one player, not both, is one point from winning"

    # ------------------------------------------------------------------------------------ how it goes on

    def after(self, result: Result) -> Match:
        """The match after a game with this result; raises BadMatch if the match is over already."""
        if self.over:
            raise BadMatch(f"the match to {self.length} is over at {self.score[0]}-{self.score[1]}: no more games")
        if (
            result.winner not in (None, 0, 1)
            or not _whole(result.points)
            or (result.winner is None) != (not result.points)
        ):
            raise BadMatch(f"{result} is no result: a winner 0 or 1 has points, a draw has none")
        score = tuple(n + result.points * (result.winner == player) for player, n in enumerate(self.score))
        was_at_match_point = self.length > 0 and max(self.score) == self.length - 1
        crawford = False if was_at_match_point else None
        return Match(self.variant, self.length, (score[0], score[1]), crawford, self.cube)

    def __str__(self) -> str:
        if self.money:
            return f"for money, {self.score[0]}-{self.score[1]}"
        game = ", Crawford game" if self.crawford else ""
        return f"match to {self.length}, {self.score[0]}-{self.score[1]}{game}"


def _whole(n: object) -> bool:
    return isinstance(n, int) and not isinstance(n, bool) and n >= 0
