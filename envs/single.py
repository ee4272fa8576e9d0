"""`NardyEnv`: one game as a Gymnasium environment."""

from __future__ import annotations

import operator
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nardy_rl.dice import below, stream
from nardy_rl.envs.actions import ILLEGAL, LOSS, action_form
from nardy_rl.envs.game import MAX_GAME_PLAYS, Game
from nardy_rl.envs.observation import Observer
from nardy_rl.envs.opponent import Opponent
from nardy_rl.errors import BadOption, BadPosition, IllegalPlay, did_you_mean
from nardy_rl.jit import kernel
from nardy_rl.position import Position
from nardy_rl.variant import Variant

RENDER_MODES = ("ansi", "rgb_array")
_OPENINGS = 1000  # games that an opponent may end, one after the other, before the agent has had a choice
_OPPONENT_STREAM = 1 << 62  # added to a game's number: the random stream beside its dice


@kernel
def _seat(rng):
    """A random player number."""
    return below(rng, 2)


class NardyEnv(gymnasium.Env[NDArray[Any], int]):
    """One backgammon or nardy game of a variant, for one agent or for self-play.

    variant: a game of the table, with options (`classic:block=sport`), a TOML file, or a Variant.
    actions: `afterstate`, an action is the index of a legal play, or `checker`, one checker by one die.
    observation: `board`, `packed`, `features` or `plays`; always in the view of the player who acts.
    opponent: None for self-play, where both players' actions come in turn; or who plays the other seat: a bot's name
    as in `nardy evaluate`, or an object with `choose(position)`. seat: with an opponent, the agent's player number, or
    None to draw it for each game. illegal: `lose`, an illegal action ends the game as a loss of one point, or
    `raise`, it raises IllegalPlay and changes nothing. max_plays: the game is truncated after so many plays.
    render_mode: None, `ansi` or `rgb_array`.

    `reset(seed=...)` starts game number 0 of the seed, the same as `Position.opening(variant, seed)`, and without a
    seed the next game of the same one; `options={"position": ...}` starts from a Position or its text. `info` has
    `action_mask` (int8, one for each action), `player` (who acts), `plays` (number of legal plays), and `illegal`
    after an illegal action. The reward of a step is what the player who acted wins, or with an opponent the agent,
    when the game ends, else 0. docs/environments.md tells it all.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        variant: Variant | str = "backgammon",
        *,
        actions: str = "afterstate",
        observation: str = "board",
        opponent: Any = None,
        seat: int | None = None,
        illegal: str = "lose",
        max_plays: int = MAX_GAME_PLAYS,
        render_mode: str | None = None,
    ) -> None:
        """See the class. Raises UnknownVariant, BadOption, BadBot, and MissingExtra for pictures without Pillow."""
        self.game = Game(variant, max_plays)
        self.variant = self.game.variant
        self._form = action_form(actions, self.game)
        self._observer = Observer(self.variant, observation)
        if illegal not in ILLEGAL:
            raise BadOption(f"illegal={illegal!r}{did_you_mean(str(illegal), ILLEGAL)}: give {' or '.join(ILLEGAL)}")
        if render_mode not in (None, *RENDER_MODES):
            near = did_you_mean(str(render_mode), RENDER_MODES)
            raise BadOption(f"render_mode={render_mode!r}{near}: give None, {' or '.join(RENDER_MODES)}")
        if seat not in (None, 0, 1) or isinstance(seat, bool):
            raise BadOption(f"seat={seat!r}: give the agent's player number, 0 or 1, or None to draw it")
        if seat is not None and opponent is None:
            raise BadOption(f"seat={seat}: only with an opponent; without one the agent plays both seats")
        self.illegal = illegal
        self.render_mode = render_mode
        self.opponent = None if opponent is None else Opponent(self.variant, opponent)
        self.seat = self._fixed_seat = seat
        self._opponent_rng = np.zeros(1, np.uint64)
        self._ended = True
        self.action_space = spaces.Discrete(self._form.size)
        self.observation_space = spaces.Box(
            self._observer.low, self._observer.high, self._observer.shape, self._observer.dtype
        )

    # ------------------------------------------------------------------------------------ the interface

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Start a game; see the class. Raises BadPosition for a seed or position that cannot be, BadOption else."""
        position = self._position_of(options)
        super().reset(seed=seed)
        if seed is None and self.game.seed is None:
            seed = int(self.np_random.integers(1 << 63))
        self._start(seed, position)
        self._ended = False
        return self._observer.of(self._form.state, self.game.plays), self._info()

    def step(self, action: int) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Take an action. Raises IllegalPlay after the end, for what is no action, and as `illegal` says."""
        game, form = self.game, self._form
        number = self._number(action)
        if not form.is_legal(number):
            if self.illegal == "raise":
                raise form.illegal(action)
            return self._lost()
        player = game.player if self.seat is None else self.seat
        reward, truncated = 0.0, False
        if form.step(number):
            if self.opponent is not None:
                self._let_opponent_play()
            truncated = game.truncated
            self._ended = game.over or truncated
            if game.over:
                reward = game.rewards[player]
        observation = self._observer.of(form.state, game.plays)
        return observation, reward, game.over, truncated, self._info()

    def render(self) -> Any:
        """The board: a text for `ansi`, uint8[H, W, 3] for `rgb_array`, None without a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() shows nothing without a render_mode: give 'ansi' or 'rgb_array' to make()")
            return None
        position = self.position
        if self.render_mode == "ansi":
            return position.picture()
        from nardy_rl.envs.render import picture_rgb

        return picture_rgb(position)

    def observe(self, player: int) -> NDArray[Any]:
        """What player 0 or 1 observes now, also while the other acts: a new array."""
        return self._observer.of(self._form.state, self.game.plays, player)

    @property
    def position(self) -> Position:
        """The state as a Position; within a play of the checker form the one after the moves made so far."""
        row = np.array(self._form.state)
        row[14:] = 0
        return Position._trusted(self.variant, row)

    # ------------------------------------------------------------------------------------ its parts

    def _position_of(self, options: dict[str, Any] | None) -> Any:
        unknown = set(options or ()) - {"position"}
        if unknown:
            raise BadOption(f"options: unknown key {min(unknown)!r}; there is 'position', a Position or its text")
        return (options or {}).get("position")

    def _start(self, seed: int | None, position: Any) -> None:
        """Start a game in which the agent has a choice: one that the opponent ends before is passed over."""
        for _ in range(_OPENINGS):
            self.game.reset(seed, position)
            seed = None
            if self.opponent is not None:
                assert self.game.seed is not None
                number = np.uint64(self.game.number + _OPPONENT_STREAM)
                stream(np.uint64(self.game.seed), number, self._opponent_rng)
                drawn = int(_seat(self._opponent_rng))
                self.seat = drawn if self._fixed_seat is None else self._fixed_seat
                self._let_opponent_play()
            self._form.begin()
            if not self.game.over and not self.game.truncated:
                return
        raise BadPosition(f"the opponent always ends the game before the agent can act: {position}")

    def _let_opponent_play(self) -> None:
        game = self.game
        if self.opponent is None or game.over or game.player == self.seat:
            return
        while not game.over and not game.truncated and game.player != self.seat:
            game.step(self.opponent.play(game, self._opponent_rng))
        self._form.begin()

    def _number(self, action: object) -> int:
        """The action as an int; raises IllegalPlay if it is none, or if no game is being played."""
        if self._ended:
            raise IllegalPlay(f"action {action}: the game has ended, or none has been started: call reset first")
        try:
            return operator.index(action)  # type: ignore[arg-type]
        except TypeError:
            raise IllegalPlay(f"action {action!r} is no whole number: it is one of {self.action_space}") from None

    def _lost(self) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """The answer to an illegal action that is to lose the game."""
        self._ended = True
        info = self._info() | {"illegal": True}
        return self._observer.of(self._form.state, self.game.plays), -LOSS, True, False, info

    def _info(self) -> dict[str, Any]:
        mask = np.zeros(self._form.size, np.int8) if self._ended else self._form.mask()
        return {"action_mask": mask, "player": self.game.player, "plays": self.game.n}
