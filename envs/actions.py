"""What an action is: the afterstate form, and the interface that it shares with the checker form.

Afterstate form: action i is play number i of the legal afterstates, in `Discrete(afterstate_bound(variant))`, with a
mask of ones below the number of plays. The checker form, one checker move at a time, is in `checker.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import comb

import numpy as np
from numpy.typing import NDArray

from nardy_rl.envs.game import Game
from nardy_rl.errors import BadOption, BadPosition, IllegalPlay, did_you_mean
from nardy_rl.variant import Variant

FORMS = ("afterstate", "checker")
"""The forms of action, as the argument `actions` of every environment names them."""

ILLEGAL = ("lose", "raise")
"""What becomes of an illegal action, as the argument `illegal` names it: the game is lost, or an error is raised."""

LOSS = 1.0  # points that an illegal action costs


def afterstate_bound(variant: Variant) -> int:
    """No state of this game has more plays than this: the size of the afterstate form's action space.

    Proof. A play of k moves says how many of them each of the n checkers makes; for a double its afterstate
    follows from that, so there are at most C(n + k - 1, k) with k moves, and k = 4 is the most that a stage has.
    Shorter plays stand beside the longest only where they end the game: by bearing off the last checker, of at
    most four, or where a hit or a mother may end it. The grace rule tells plays with the same board apart only if
    all checkers are home, and then one of the four moves at least brought the last one home, so that at most three
    are free. Two different dice give at most n^2 + 2n pairs of sources, and 2n single moves that end the game.
    """
    n = variant.checkers
    plays = [comb(n + k - 1, k) for k in range(5)]
    ends = sum(comb(min(n, 4) + k - 1, k) for k in range(1, 5))
    shorter = plays[1] + plays[2] + plays[3] if variant.mother or variant.hit_wins else 0
    grace = plays[3] if variant.stop == "grace" else 0
    return max(plays[4] + shorter + grace, ends, n * n + 4 * n)


def too_many_plays(plays: int, bound: int, position: str) -> BadPosition:
    """The error for a position that refutes the bound."""
    return BadPosition(
        f"{plays} plays, more than the {bound} that were proven to be the most: this is a fault of nardy_rl, please "
        f"report it with the position {position}"
    )


class ActionForm(ABC):
    """How the actions of a player make up the plays of a `Game`, for one game at a time.

    Call `begin` whenever the game stands before a new decision that did not come about by `step` (after its `reset`).
    Attributes: `game`; `size`, the number of actions.
    """

    size: int

    def __init__(self, game: Game) -> None:
        self.game = game

    @abstractmethod
    def begin(self) -> None:
        """Start the game's present stage anew."""

    @property
    @abstractmethod
    def state(self) -> NDArray[np.uint32]:
        """What the player sees, uint32[16]: the game's state, or within a play the one after the moves made so far."""

    @abstractmethod
    def mask(self) -> NDArray[np.int8]:
        """The legal actions: a new int8[size], 1 where legal; all zero when the game is over."""

    @abstractmethod
    def is_legal(self, action: int) -> bool:
        """May this action be taken now?"""

    @abstractmethod
    def step(self, action: int) -> bool:
        """Take an action: was it the last of a play, so that the game went on to its next decision or its end?

        Raises IllegalPlay, naming the action and the position, and changes nothing, if the action is not legal.
        """

    def illegal(self, action: object) -> IllegalPlay:
        """The error for an action that is not legal now."""
        if self.game.over:
            return IllegalPlay(f"action {action}: the game is over, reset it first: {self.game.position.text}")
        return IllegalPlay(
            f"action {action} is not legal in {self.game.position.text}: take one of those that the action mask allows"
        )


class AfterstateActions(ActionForm):
    """Action i is the game's play number i."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.size = afterstate_bound(game.variant)

    def begin(self) -> None:
        """See `ActionForm.begin`."""
        self._check()

    @property
    def state(self) -> NDArray[np.uint32]:
        """The game's state, uint32[16]."""
        return self.game.state

    def mask(self) -> NDArray[np.int8]:
        """Ones below the number of plays; int8[size]."""
        mask = np.zeros(self.size, np.int8)
        mask[: self.game.n] = 1
        return mask

    def is_legal(self, action: int) -> bool:
        """See `ActionForm.is_legal`."""
        return 0 <= action < self.game.n

    def step(self, action: int) -> bool:
        """See `ActionForm.step`; always True."""
        if not 0 <= action < self.game.n:
            raise self.illegal(action)
        self.game.step(action)
        self._check()
        return True

    def _check(self) -> None:
        if self.game.n > self.size:
            raise too_many_plays(self.game.n, self.size, self.game.position.text)


def action_form(name: str, game: Game) -> ActionForm:
    """The form of action that a name (`afterstate` or `checker`) means, for a game; raises BadOption for others."""
    if name == "afterstate":
        return AfterstateActions(game)
    if name == "checker":
        from nardy_rl.envs.checker import CheckerActions

        return CheckerActions(game)
    raise unknown_form(name)


def unknown_form(name: object) -> BadOption:
    """The error for a form of action that there is not."""
    return BadOption(f"actions={name!r}{did_you_mean(str(name), FORMS)}: the forms are {' and '.join(FORMS)}")
