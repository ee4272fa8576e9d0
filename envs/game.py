"""`Game`: one game being played for an environment, with its own dice. The one place where an environment throws.

Every environment here holds a Game and takes plays in it; what an action or an observation is, is said elsewhere
(`actions.py`, `observation.py`). The same seed gives the same games as `Position.opening` and the rest of the package.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.board import OUTCOME, PLAYER, TURN, WORDS
from nardy_rl.dice import roll, stream
from nardy_rl.errors import BadOption, BadPosition, IllegalPlay
from nardy_rl.jit import kernel
from nardy_rl.lockstep import own_scratch
from nardy_rl.plays import MAX_PLAYS
from nardy_rl.plays import plays as stage_plays
from nardy_rl.position import Position
from nardy_rl.results import score_table
from nardy_rl.rules import rules_of
from nardy_rl.starts import begin, start_of
from nardy_rl.turns import is_over, owes, throw
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant, variant_text

MAX_GAME_PLAYS = 4000
"""Plays after which a game that has not ended is cut off, unless another number is asked for."""

_LARGEST = (1 << 63) - 1


@kernel
def next_plays(rules, row, rng, scr, room):
    """Go on to the next decision of a game, in place: throw the dice if nothing is owed, and list the plays.

    rules: Rules; row: uint32[16]; rng: uint64[1]; scr: Scratch; room: uint32[MAX_PLAYS, 16], where the plays are
    written. Returns their number, 0 if the game is over.
    """
    if is_over(row):
        return 0
    if not owes(row):
        die1, die2 = roll(rng)
        throw(rules, row, die1, die2)
    n = stage_plays(rules, row, scr)
    for i in range(n):
        for k in range(WORDS):
            room[i, k] = scr.plays[i, k]
    return n


def as_variant(variant: Variant | str) -> Variant:
    """The game that a text names, or the game itself; raises UnknownVariant or BadOption."""
    return parse_variant(variant) if isinstance(variant, str) else variant


class Game:
    """One game of a variant, played by taking one legal afterstate after another.

    After `reset` it stands before a decision: `state` uint32[16] owes a stage, `plays` uint32[n, 16] are its n >= 1
    distinct legal afterstates (a forced pass is one of them), and `player` chooses. `step(i)` takes one and throws
    the dice wherever nothing is owed, until the next decision or the end. `state` is a new array after each step;
    `plays` is a view that the next step overwrites.
    """

    def __init__(self, variant: Variant | str, max_plays: int = MAX_GAME_PLAYS) -> None:
        """A game to be started by `reset`; it is cut off after `max_plays` plays. Raises BadOption, UnknownVariant."""
        if isinstance(max_plays, bool) or not isinstance(max_plays, int | np.integer) or max_plays < 1:
            raise BadOption(f"max_plays={max_plays!r}: the number of plays after which a game is cut off, at least 1")
        self.variant = as_variant(variant)
        self.max_plays = int(max_plays)
        self.rules = rules_of(self.variant)
        self._start = start_of(self.variant)
        self._points = tuple(float(p) for p in score_table(self.variant))
        self._rng = np.zeros(1, np.uint64)
        self._room = np.empty((MAX_PLAYS, WORDS), np.uint32)  # pages are touched only when used
        self._n = 0
        self.state: NDArray[np.uint32] = np.zeros(WORDS, np.uint32)
        self.seed: int | None = None
        self.number = 0
        self.plays_made = 0
        self.over = False

    # ------------------------------------------------------------------------------------ how it goes on

    def reset(self, seed: int | None = None, position: Position | str | None = None) -> None:
        """Start a game: number 0 of a seed, or without a seed the next one of the present seed.

        position: a Position of this game, or its text, to start from instead; the dice that it shows are played, and
        if it owes nothing the player throws. Raises BadPosition for a seed below 0 or above 2^63 - 1, a finished
        position, or one of another game, and BadOption if there is no seed yet; then nothing has changed.
        """
        if seed is None:
            if self.seed is None:
                raise BadOption("reset: the first game needs a seed, as in reset(seed=1)")
            seed, number = self.seed, self.number + 1
        else:
            number = 0
            if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= _LARGEST:
                raise BadPosition(f"seed={seed!r}: a seed is a whole number from 0 to 2^63 - 1")
        row = np.zeros(WORDS, np.uint32) if position is None else np.array(self._startable(position).state)
        self.seed, self.number = int(seed), number
        stream(np.uint64(seed), np.uint64(number), self._rng)
        if position is None:
            begin(self.rules, self._start, self._rng, row)
        self.plays_made = 0
        self._go_on(row)

    def _startable(self, position: Position | str) -> Position:
        """The position to start from; raises BadPosition where no game of this variant can start."""
        if isinstance(position, str):
            position = Position.from_text(position, self.variant)
        if not isinstance(position, Position):
            raise BadPosition(f"position={position!r}: give a Position of {variant_text(self.variant)} or its text")
        if position.variant != self.variant:
            raise BadPosition(
                f"{position.text}: this is a game of {variant_text(self.variant)}, which cannot start from a "
                f"position of {variant_text(position.variant)}"
            )
        if position.over:
            raise BadPosition(f"{position.text}: the game is over there, so none can start from it")
        return position

    def _go_on(self, row: NDArray[np.uint32]) -> None:
        self._n = next_plays(self.rules, row, self._rng, own_scratch(), self._room)
        self.state = row
        self.over = self._n == 0

    def step(self, index: int) -> None:
        """Take play number `index` of `plays`; raises IllegalPlay, and changes nothing, if there is none."""
        if not 0 <= index < self._n:
            raise IllegalPlay(self._no_such_play(index))
        row = self._room[index].copy()
        self.plays_made += 1
        self._go_on(row)

    def _no_such_play(self, index: int) -> str:
        if self.over:
            return f"play {index}: the game is over, reset it first: {self.position.text}"
        if not self._n:
            return f"play {index}: no game has been started, call reset first"
        return f"play {index}: the plays are numbered 0 to {self._n - 1} in {self.position.text}"

    def copy(self) -> Game:
        """Another game in the same state, with the same dice to come."""
        twin = Game(self.variant, self.max_plays)
        twin._rng[:] = self._rng
        twin._n = self._n
        twin._room[: self._n] = self._room[: self._n]
        twin.state, twin.over = self.state, self.over
        twin.seed, twin.number, twin.plays_made = self.seed, self.number, self.plays_made
        return twin

    # ------------------------------------------------------------------------------------ what it is like

    @property
    def plays(self) -> NDArray[np.uint32]:
        """The distinct legal afterstates uint32[n, 16], in the order of `batch.plays`; none when the game is over."""
        return self._room[: self._n]

    @property
    def n(self) -> int:
        """How many plays there are: 0 when the game is over."""
        return self._n

    @property
    def player(self) -> int:
        """Who has to play, 0 or 1; of a finished game the winner."""
        return int(self.state[TURN]) & PLAYER

    @property
    def truncated(self) -> bool:
        """Is the game cut off, after `max_plays` plays that did not end it."""
        return self.plays_made >= self.max_plays and not self.over

    @property
    def rewards(self) -> tuple[float, float]:
        """Points of players 0 and 1, which add up to zero: by the score table when the game is over, else zero."""
        if not self.over:
            return 0.0, 0.0
        points = self._points[int(self.state[OUTCOME]) - 1]
        return (points, -points) if self.player == 0 else (-points, points)

    @property
    def position(self) -> Position:
        """The state as a Position."""
        return Position._trusted(self.variant, self.state.copy())
