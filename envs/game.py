"""`Game`: one game being played for an environment, with its own dice. The one place where an environment throws.

Every environment here holds a Game and takes plays in it; what an action or an observation is, is said elsewhere
(`actions.py`, `observation.py`). The same seed gives the same games as `Position.opening` and the rest of the package.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.afterstates import MAX_PLAYS
from nardy_rl.board import OUTCOME, PLAYER, TURN, WORDS
from nardy_rl.dice import roll, stream
from nardy_rl.errors import BadOption, BadPosition, IllegalPlay
from nardy_rl.jit import kernel
from nardy_rl.lockstep import own_scratch
from nardy_rl.plays import plays as stage_plays
from nardy_rl.position import Position
from nardy_rl.results import score_table
from nardy_rl.rules import Rules, rules_of
from nardy_rl.starts import begin, start_of
from nardy_rl.turns import is_over, owes, throw
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant, variant_text

MAX_GAME_PLAYS = 4000
"""Plays after which a game that has not ended is cut off, unless another number is asked for."""

_LARGEST = (1 << 63) - 1


@kernel
def _decisions(rules, scr, row, rng, room):
    """A generator that goes on to the next decision of the game in `row` each time.

    It throws the dice if nothing is owed, in place, and lists the plays in `room`; 0 plays mean that the game is over.
    Yields twice the number of plays, and one more if player 1 has to choose, or has won.
    rules: Rules; scr: Scratch; row: uint32[16]; rng: uint64[1]; room: uint32[MAX_PLAYS, 16]. A generator keeps its
    arguments, whose way from Python into a kernel takes longer than all the rest of a step.
    """
    while True:
        n = 0
        if not is_over(row):
            if not owes(row):
                die1, die2 = roll(rng)
                throw(rules, row, die1, die2)
            n = stage_plays(rules, row, scr)
            for i in range(n):
                for k in range(WORDS):
                    room[i, k] = scr.plays[i, k]
        yield 2 * n + (np.int64(row[TURN]) & PLAYER)


class _Engine:
    """The generator of a game's rules in one thread, and the arrays through which it is spoken to."""

    def __init__(self, rules: Rules) -> None:
        self.row = np.zeros(WORDS, np.uint32)
        self.rng = np.zeros(1, np.uint64)
        self.room = np.empty((MAX_PLAYS, WORDS), np.uint32)  # pages are touched only when used
        self.decide: Callable[[], int] = _decisions(rules, own_scratch(), self.row, self.rng, self.room).__next__


_own = threading.local()


def _engine(rules: Rules) -> _Engine:
    """The engine of these rules in this thread."""
    engines: dict[Rules, _Engine] = _own.__dict__.setdefault("engines", {})
    if rules not in engines:
        engines[rules] = _Engine(rules)
    return engines[rules]


def as_variant(variant: Variant | str) -> Variant:
    """The game that a text names, or the game itself; raises UnknownVariant or BadOption."""
    return parse_variant(variant) if isinstance(variant, str) else variant


class Game:
    """One game of a variant, played by taking one legal afterstate after another.

    After `reset` it stands before a decision: `state` uint32[16] owes a stage, `plays` uint32[n, 16] are its n >= 1
    distinct legal afterstates (a forced pass is one of them; none when the game is over), in the order of
    `batch.plays`, and `player` chooses (of a finished game it is the winner). `step(i)` takes one and throws the dice
    wherever nothing is owed, until the next decision or the end. A step makes new arrays and leaves the earlier ones as
    they were. Other attributes: `variant`, `max_plays`, `seed` and `number` (of the game under its seed), `plays_made`,
    `over`.
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
        self._rng = np.uint64(0)
        self._thread = 0
        self.state: NDArray[np.uint32] = np.zeros(WORDS, np.uint32)
        self.plays: NDArray[np.uint32] = np.zeros((0, WORDS), np.uint32)
        self.n = self.player = 0
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
        row = np.zeros(WORDS, np.uint32) if position is None else np.array(self.startable(position).state)
        rng = np.zeros(1, np.uint64)
        stream(np.uint64(seed), np.uint64(number), rng)
        if position is None:
            begin(self.rules, self._start, rng, row)
        self.seed, self.number, self.plays_made = int(seed), number, 0
        self._rng = rng[0]
        self._go_on(row)

    def startable(self, position: Position | str) -> Position:
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

    def step(self, index: int) -> None:
        """Take play number `index` of `plays`; raises IllegalPlay, and changes nothing, if there is none."""
        if not 0 <= index < self.n:
            raise IllegalPlay(self._no_such_play(index))
        self._go_on(self.plays[index])
        self.plays_made += 1

    def _go_on(self, row: NDArray[np.uint32]) -> None:
        """From a state, with all that follows by itself, to the next decision or the end."""
        if self._thread != threading.get_ident():
            self._thread, self._engine = threading.get_ident(), _engine(self.rules)
        engine = self._engine
        engine.row[:] = row
        engine.rng[0] = self._rng
        n, self.player = divmod(engine.decide(), 2)
        self._rng = engine.rng[0]
        self.state = engine.row.copy()
        self.plays = engine.room[:n].copy()
        self.n = n
        self.over = n == 0

    def _no_such_play(self, index: int) -> str:
        if self.over:
            return f"play {index}: the game is over, reset it first: {self.position.text}"
        if not self.n:
            return f"play {index}: no game has been started, call reset first"
        return f"play {index}: the plays are numbered 0 to {self.n - 1} in {self.position.text}"

    def copy(self) -> Game:
        """Another game in the same state, with the same dice to come."""
        return copy.copy(self)  # arrays are never changed in place

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_engine"} | {"_thread": 0}

    # ------------------------------------------------------------------------------------ what it is like

    @property
    def truncated(self) -> bool:
        """Is the game cut off, after `max_plays` plays that did not end it."""
        return self.plays_made >= self.max_plays and not self.over

    @property
    def rewards(self) -> tuple[float, float]:
        """Points of players 0 and 1, which add up to zero: by the score table when the game is over, else zero."""
        points = self._points[int(self.state[OUTCOME]) - 1] if self.over else 0.0
        if not points:
            return 0.0, 0.0
        return (points, -points) if self.player == 0 else (-points, points)

    @property
    def position(self) -> Position:
        """The state as a Position."""
        return Position._trusted(self.variant, self.state.copy())
