"""The start of a game as a tree of chance nodes, for programs that want every random event laid open.

A game is set up by draws, one after the other (rules page, sections 3 and 8): which player has the standard side,
where the two sides differ and a coin decides; the layout, where it is drawn at random; and who starts, in games in
which the opening dice are played together with them. The probabilities are exactly those of `starts.py`, whose
sampler draws a whole start at once.

A random layout is drawn as the number of points, and then for one pair {D, 25 - D} after the other whether it is
one of them, on which of its two points the checkers stand, and how many. The sampler draws again if all checkers
stand on 1 to 12; here the probabilities are those under the condition that one does not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.board import PLAYER, STARTER, THROWER, TURN, WORDS, pack
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.position import Position
from nardy_rl.variant import Variant

_PAIRS = 12

Outcome = tuple[str, float]
"""An outcome of a chance node: what it is called, and its probability."""


class Layout(NamedTuple):
    """A random layout under way: pairs 1 .. pair - 1 are drawn, `parts` more points get `checkers` checkers."""

    pair: int = 1
    parts: int = 0  # 0: their number is not drawn yet
    checkers: int = 0
    stacks: tuple[tuple[int, int], ...] = ()  # (point, number)

    @property
    def done(self) -> bool:
        """Does every checker stand."""
        return bool(self.stacks) and not self.parts


class Opening(NamedTuple):
    """A game that is being set up. Nobody has thrown yet."""

    variant: Variant
    standard: int | None  # the player whose side a coin made the standard one; None if no coin is thrown, or not yet
    layout: Layout | None  # None where the start is fixed

    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes of the next draw; their probabilities add up to one."""
        return tuple((name, probability) for name, probability, _ in _draw(self))

    def after(self, outcome: int) -> Opening | Position:
        """The game after outcome number `outcome`; a Position once it is set up."""
        return _draw(self)[outcome][2]()

    @property
    def row(self) -> NDArray[np.uint32]:
        """What stands on the board so far, uint32[16] as of player 0 before a throw."""
        return _row(self, 0)


def opening_of(variant: Variant) -> Opening:
    """The root of the tree."""
    return Opening(variant, None, Layout() if variant.random_start else None)


def most_outcomes(variant: Variant) -> int:
    """No chance node of this game has more outcomes, its throws included."""
    starter = 2 if variant.opening == "reroll" else 30
    layout = 1 + 2 * variant.checkers if variant.random_start else 0
    return max(len(ROLLS), starter, layout)


def most_draws(variant: Variant) -> int:
    """The largest number of draws before the first throw of a game."""
    return 2 + (1 + _PAIRS if variant.random_start else 0)


def roll_outcomes() -> tuple[Outcome, ...]:
    """The 21 throws, as `6-5`, in the order of `dice.ROLLS`, with their probabilities."""
    return tuple((f"{a}-{b}", float(weight)) for (a, b), weight in zip(ROLLS, ROLL_WEIGHTS, strict=True))


# ---------------------------------------------------------------------------------------------- the draws

_Draw = list[tuple[str, float, Callable[[], "Opening | Position"]]]


def _draw(at: Opening) -> _Draw:
    """The outcomes of the next draw: name, probability, and what makes the game after it."""
    if at.standard is None and _has_coin(at.variant):
        return [
            (f"player {player} has the standard side", 0.5, partial(at._replace, standard=player)) for player in (0, 1)
        ]
    if at.layout is not None and not at.layout.done:
        layouts = _draw_layout(at.variant, at.layout)
        return [(name, probability, partial(at._replace, layout=layout)) for name, probability, layout in layouts]
    if at.variant.opening == "reroll":
        return [(f"player {player} starts", 0.5, partial(_start, at, player)) for player in (0, 1)]
    return [
        (f"player {player} starts with {a}-{b}", 1 / 30, partial(_start, at, player, (int(a), int(b))))
        for player in (0, 1)
        for a, b in ROLLS
        if a != b
    ]


def _start(at: Opening, starter: int, dice: tuple[int, int] | None = None) -> Position:
    """The game set up, the starter to throw; or with his first throw made."""
    position = Position(at.variant, _row(at, starter))
    return position.throw(*dice) if dice else position


def _row(at: Opening, player: int) -> NDArray[np.uint32]:
    """The board as far as it is set up, in the view of a player who is to throw first."""
    row = np.zeros(WORDS, np.uint32)
    row[TURN] = player * (PLAYER | THROWER | STARTER)
    if at.layout is not None:
        counts = np.zeros(26, np.int64)
        for point, number in at.layout.stacks:
            counts[point] = number
        row[0:4] = row[4:8] = pack(counts)
    elif at.standard is not None or not _has_coin(at.variant):
        standard, other = (pack(np.array(layout)) for layout in at.variant.layouts)
        mine = at.variant.sides != "second" if at.standard is None else player == at.standard
        row[0:4], row[4:8] = (standard, other) if mine else (other, standard)
    return row


def _has_coin(variant: Variant) -> bool:
    """Does a coin decide who has which side; else the starter has the standard side, or (`second`) the other."""
    return bool(variant.start_other) and variant.sides == "coin"


def _draw_layout(variant: Variant, at: Layout) -> list[tuple[str, float, Layout]]:
    if not at.parts:
        numbers = range(4, 11) if variant.random_start == 1 else range(3, 8)
        weights = [1 - 0.5**parts for parts in numbers]  # how often a layout of so many points is not drawn again
        return [
            (f"{parts} points", weight / sum(weights), Layout(1, parts, variant.checkers))
            for parts, weight in zip(numbers, weights, strict=True)
        ]
    return _draw_pair(variant.random_start, at)


def _compositions(checkers: int, parts: int, smallest: int) -> int:
    """In how many ways a number of checkers makes an ordered row of stacks of at least `smallest`."""
    if parts == 0:
        return int(checkers == 0)
    spare = checkers - smallest * parts
    return comb(spare + parts - 1, parts - 1) if spare >= 0 else 0


@lru_cache(maxsize=4096)
def _draw_pair(smallest: int, at: Layout) -> list[tuple[str, float, Layout]]:
    """Whether and how the pair {at.pair, 25 - at.pair} is filled."""
    near, far = at.pair, 25 - at.pair
    left = _PAIRS + 1 - at.pair  # pairs not drawn yet
    drawn: list[tuple[str, float, Layout]] = []
    if left > at.parts:
        drawn.append((f"{near} and {far} are empty", (left - at.parts) / left, at._replace(pair=at.pair + 1)))
    has_far = any(point > 12 for point, _ in at.stacks)
    after_near = 1.0 if has_far else 1 - 0.5 ** (at.parts - 1)  # how often one of the other parts is far
    sides = [(near, after_near), (far, 1.0)]
    whole = sum(weight for _, weight in sides)
    ways = _compositions(at.checkers, at.parts, smallest)
    for point, weight in sides:
        for number in range(smallest, at.checkers + 1):
            rest = _compositions(at.checkers - number, at.parts - 1, smallest)
            if rest and weight:
                stacks = (*at.stacks, (point, number))
                layout = Layout(at.pair + 1, at.parts - 1, at.checkers - number, stacks)
                probability = at.parts / left * weight / whole * rest / ways
                drawn.append((f"{number} on {point}", probability, layout))
    return drawn
