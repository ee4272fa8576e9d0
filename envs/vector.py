"""`NardyVectorEnv`: many games as one Gymnasium vector environment, all in arrays, a kernel call or two a step."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from nardy_rl.board import OUTCOME, PLAYER, TURN
from nardy_rl.envs import vector_kernels as kernels
from nardy_rl.envs.actions import FORMS, ILLEGAL, afterstate_bound, too_many_plays, unknown_form
from nardy_rl.envs.checker import ACTIONS, new_tree
from nardy_rl.envs.game import MAX_GAME_PLAYS, Game
from nardy_rl.envs.observation import Observer
from nardy_rl.errors import BadOption, BadPosition, IllegalPlay, did_you_mean
from nardy_rl.lockstep import own_scratch
from nardy_rl.plays import MAX_PLAYS
from nardy_rl.position import Position
from nardy_rl.results import score_table
from nardy_rl.rules import rules_of
from nardy_rl.starts import start_of
from nardy_rl.variant import Variant

_A_GUESS = 32  # plays of a position, on average, with a margin
_LARGEST = (1 << 63) - 1
_OPTIONS = ("position", "reset_mask")

Answer = tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class NardyVectorEnv(VectorEnv[NDArray[Any], NDArray[np.int64], NDArray[Any]]):
    """`num_envs` games of a variant in self-play, stepped together.

    The arguments are those of `NardyEnv` but for opponents, and:

    autoreset_mode: what follows the end of a game. `NextStep`, its place ignores the next action and begins the next
    game of its seed; `SameStep`, the next game begins at once and `info` tells of the last (`final_obs`, `final_info`);
    `Disabled`, it must be reset with `options={"reset_mask": ...}` before the next step.
    action_mask: False leaves `info["action_mask"]` out. In the afterstate form the legal actions are those below
    `info["plays"]`, and a mask of the whole action space costs more time than all else.

    Game i is the game of a `NardyEnv` reset with the same seed: `reset(seed=s)` gives the games the seeds s, s + 1 and
    so on, a list of seeds gives each its own. `info` has the arrays `action_mask` int8[N, actions], `player` int64[N],
    `plays` int64[N] and, after illegal actions, `illegal` bool[N], each with the mask of the games that have it under
    its name with `_` before, as Gymnasium has them. `afterstates()` gives the plays themselves.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        variant: Variant | str = "backgammon",
        *,
        actions: str = "afterstate",
        observation: str = "board",
        illegal: str = "lose",
        max_plays: int = MAX_GAME_PLAYS,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        action_mask: bool = True,
        opponent: None = None,
        seat: None = None,
        render_mode: str | None = None,
    ) -> None:
        """See the class. Raises UnknownVariant and BadOption."""
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise BadOption(f"num_envs={num_envs!r}: the number of games, at least 1")
        if opponent is not None or seat is not None:
            raise BadOption(
                f"opponent={opponent!r}, seat={seat!r}: here both seats are the agent's; for an opponent make it with "
                "vectorization_mode='sync'"
            )
        if actions not in FORMS:
            raise unknown_form(actions)
        if illegal not in ILLEGAL:
            raise BadOption(f"illegal={illegal!r}{did_you_mean(str(illegal), ILLEGAL)}: give {' or '.join(ILLEGAL)}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise BadOption(f"render_mode={render_mode!r}: give None, ansi or rgb_array")
        game = Game(variant, max_plays)
        self.variant, self.max_plays = game.variant, game.max_plays
        self.num_envs, self.illegal, self.render_mode = int(num_envs), illegal, render_mode
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = type(self).metadata | {"autoreset_mode": self.autoreset_mode}
        self._observer = Observer(self.variant, observation)
        self._masked = bool(action_mask)
        self._by_checker = actions == "checker"
        self._lists = not self._by_checker or observation == "plays"
        self._bound = afterstate_bound(self.variant)
        self.single_action_space = spaces.Discrete(ACTIONS if self._by_checker else self._bound)
        self.single_observation_space = spaces.Box(
            self._observer.low, self._observer.high, self._observer.shape, self._observer.dtype
        )
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._game = game  # reads positions to start from
        self._rules, self._start = rules_of(self.variant), start_of(self.variant)
        self._points = score_table(self.variant)
        self._games = kernels.new_games(self.num_envs)
        self._all = np.arange(self.num_envs)
        self._room = np.empty((_A_GUESS * self.num_envs * self._lists + MAX_PLAYS, 16), np.uint32)
        self._used = 0
        self._tree = new_tree() if self._by_checker else None
        self._started = False

    # ------------------------------------------------------------------------------------ the interface

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Start games; see the class.

        seed: without one, the next game of the present seeds. options: `position`, one Position or its text for all
        games, or a list of one for each; `reset_mask`, bool[N], the games to be reset, the others go on. Raises
        BadPosition for a seed or position that cannot be, BadOption for other options; then nothing has changed.
        """
        unknown = set(options or ()) - set(_OPTIONS)
        if unknown:
            raise BadOption(f"options: unknown key {min(unknown)!r}; there are {' and '.join(map(repr, _OPTIONS))}")
        chosen = self._reset_mask((options or {}).get("reset_mask"))
        seeds, numbers = self._seeds(seed)
        states = self._states((options or {}).get("position"))
        which = np.flatnonzero(chosen)
        self._games.seeds[which], self._games.numbers[which] = seeds[which], numbers[which]
        if states is not None:
            self._games.rows[which] = states[which]
        kernels.start_games(self._rules, self._start, self._games, which, states is None)
        self._started = True
        self._decide(which)
        return self._observe(), self._info(chosen)

    def step(self, actions: ArrayLike) -> Answer:
        """Take an action in every game: int[N]. Raises IllegalPlay where `NardyEnv.step` does; then nothing changed."""
        games, taken = self._games, self._checked(actions)
        known = (self._rules, self._start, self._points, self.max_plays, games)
        if self._by_checker:
            kernels.step_checkers(*known, self._tree, self._all, taken, True)
            if self._lists:
                self._list(self._all)
        else:
            kernels.take_plays(*known, self._room, taken)
            self._decide(self._all)
        ended = games.ended.copy()
        terminated = ended & ((games.rows[:, OUTCOME] != 0) | games.illegal)
        rewards = games.rewards.copy()
        observations, info = self._observe(), self._info(np.ones(self.num_envs, np.bool_))
        if self.autoreset_mode is AutoresetMode.SAME_STEP and ended.any():
            observations, info = self._begin_next(ended, observations, info)
        return observations, rewards, terminated, ended & ~terminated, info

    def afterstates(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The legal plays of all games: afterstates uint32[M, 16] and first int64[N + 1], as `batch.plays` has them.

        Those of game i are afterstates[first[i] : first[i + 1]], none of a finished game. Only in the afterstate form;
        raises BadOption in the other. They may be overwritten by the next step.
        """
        if self._by_checker:
            raise BadOption("afterstates: an action of the checker form is no play; make it with actions='afterstate'")
        first = np.concatenate([[0], np.cumsum(self._games.counts)])
        if (first[:-1] == self._games.first).all():
            return self._room[: self._used], first
        places = np.repeat(self._games.first - first[:-1], self._games.counts) + np.arange(first[-1])
        return self._room[places], first

    @property
    def positions(self) -> tuple[Position, ...]:
        """The states as Positions; within a play of the checker form those after the moves made so far."""
        rows = self._shown().copy()
        rows[:, 14:] = 0
        return tuple(Position._trusted(self.variant, row.copy()) for row in rows)

    def render(self) -> tuple[Any, ...] | None:
        """The boards: texts for `ansi`, uint8[H, W, 3] each for `rgb_array`, None without a render mode."""
        if self.render_mode is None:
            return None
        if self.render_mode == "ansi":
            return tuple(position.picture() for position in self.positions)
        from nardy_rl.envs.render import picture_rgb

        return tuple(picture_rgb(position) for position in self.positions)

    # ------------------------------------------------------------------------------------ what it was given

    def _reset_mask(self, mask: Any) -> NDArray[np.bool_]:
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        fits = isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (self.num_envs,)
        if not fits or not mask.any():
            raise BadOption(f"reset_mask={mask!r}: it takes an array bool[{self.num_envs}], true for a game at least")
        if not self._started and not mask.all():
            raise BadOption("reset_mask: no game has been started yet, the first reset is of all of them")
        return mask

    def _seeds(self, seed: Any) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Seeds uint64[N] and numbers uint64[N] of the games to be started; raises BadPosition."""
        games = self._games
        if seed is None and not self._started:
            return self.np_random.integers(1 << 63, size=self.num_envs, dtype=np.uint64), np.zeros_like(games.numbers)
        if seed is None:
            return games.seeds, games.numbers + np.uint64(1)
        given = list(seed) if isinstance(seed, list | tuple | np.ndarray) else None
        if given is None:
            self._check_seed(seed)
            super().reset(seed=int(seed))
            given = [int(seed) + i for i in range(self.num_envs)]
        if len(given) != self.num_envs:
            raise BadPosition(f"seed: a list of {len(given)} seeds for {self.num_envs} games")
        seeds, numbers = games.seeds.copy(), games.numbers + np.uint64(1)
        for i, one in enumerate(given):
            if one is None and self._started:
                continue
            self._check_seed(one)
            seeds[i], numbers[i] = one, 0
        return seeds, numbers

    def _check_seed(self, seed: Any) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= _LARGEST:
            raise BadPosition(f"seed={seed!r}: a seed is a whole number from 0 to 2^63 - 1")

    def _states(self, position: Any) -> NDArray[np.uint32] | None:
        """The states uint32[N, 16] to start from, or None for the opening; raises BadPosition."""
        if position is None:
            return None
        if not isinstance(position, list | tuple):
            return np.broadcast_to(self._game.startable(position).state, (self.num_envs, 16))
        if len(position) != self.num_envs:
            raise BadPosition(f"position: a list of {len(position)} positions for {self.num_envs} games")
        return np.stack([self._game.startable(one).state for one in position])

    def _checked(self, actions: ArrayLike) -> NDArray[np.int64]:
        """The actions as int64[N]; raises IllegalPlay."""
        taken = np.asarray(actions)
        if taken.shape != (self.num_envs,) or taken.dtype.kind not in "iu":
            raise IllegalPlay(
                f"actions {taken.dtype}{list(taken.shape)}: it takes a whole number for each of {self.num_envs} games"
            )
        if not self._started:
            raise IllegalPlay("step: no game has been started, call reset first")
        games = self._games
        if self.autoreset_mode is AutoresetMode.DISABLED and games.ended.any():
            i = int(games.ended.argmax())
            raise IllegalPlay(f"game {i} has ended: reset it with options={{'reset_mask': ...}} before the next step")
        taken = taken.astype(np.int64)
        if self.illegal == "raise":
            legal = taken == taken.clip(0, self.single_action_space.n - 1)
            if self._by_checker:
                legal &= games.masks[self._all, np.where(legal, taken, 0)] == 1
            else:
                legal &= taken < games.counts
            wrong = ~(legal | games.ended)
            if wrong.any():
                i = int(wrong.argmax())
                raise IllegalPlay(
                    f"action {taken[i]} of game {i} is not legal in {self.positions[i].text}: take one of those that "
                    "the action mask allows"
                )
        return taken

    # ------------------------------------------------------------------------------------ its parts

    def _shown(self) -> NDArray[np.uint32]:
        """The states that are observed, uint32[N, 16]."""
        return self._games.seen if self._by_checker else self._games.rows

    def _decide(self, which: NDArray[np.int64], after: int | None = None) -> None:
        """Go on to the next decision in these places. after: list only their plays, behind so many; else all plays."""
        if self._by_checker:
            known = (self._rules, self._start, self._points, self.max_plays, self._games, self._tree)
            kernels.step_checkers(*known, which, self._all, False)
        if self._lists:
            self._list(self._all if after is None else which, after or 0)

    def _list(self, which: NDArray[np.int64], after: int = 0) -> None:
        done, at = 0, after
        while True:
            done, at = kernels.decide(self._rules, own_scratch(), self._games, which, self._room, done, at)
            if done == len(which):
                break
            larger = np.empty((2 * at + 2 * MAX_PLAYS, 16), np.uint32)
            larger[:at] = self._room[:at]
            self._room = larger
        self._used = at
        if self._games.counts.max() > self._bound:
            i = int(self._games.counts.argmax())
            raise too_many_plays(int(self._games.counts[i]), self._bound, self.positions[i].text)

    def _observe(self) -> NDArray[Any]:
        games = self._games
        return self._observer.of_games(self._shown(), self._room, games.first, games.counts)

    def _info(self, has: NDArray[np.bool_]) -> dict[str, Any]:
        """Gymnasium's info of the games of a mask bool[N]."""
        games = self._games
        player = (games.rows[:, TURN] & np.uint32(PLAYER)).astype(np.int64)
        info: dict[str, Any] = {"player": player, "plays": games.counts.copy()}
        if self._masked:
            info["action_mask"] = self._masks()
        if not has.all():
            for array in info.values():
                array[~has] = 0
        info |= {f"_{name}": has.copy() for name in list(info)}
        illegal = games.illegal & has
        if illegal.any():
            info["illegal"], info["_illegal"] = illegal, illegal.copy()
        return info

    def _masks(self) -> NDArray[np.int8]:
        games = self._games
        if self._by_checker:
            masks = games.masks.copy()
            masks[games.ended] = 0
            return masks
        masks = np.zeros((self.num_envs, self.single_action_space.n), np.int8)
        kernels.masks_into(games, masks)
        return masks

    def _begin_next(
        self, ended: NDArray[np.bool_], observations: NDArray[Any], info: dict[str, Any]
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """SameStep: begin the next game where one has ended; what was seen of its end goes into the info."""
        which = np.flatnonzero(ended)
        final = np.full(self.num_envs, None, dtype=object)
        for i in which:
            final[i] = observations[i].copy()
        of_end = {name: np.where(_column(ended, value), value, np.zeros_like(value)) for name, value in info.items()}
        kernels.start_next_games(self._rules, self._start, self._games, which)
        self._decide(which, self._used)
        following = self._info(np.ones(self.num_envs, np.bool_))
        following |= {"final_obs": final, "_final_obs": ended.copy(), "final_info": of_end, "_final_info": ended.copy()}
        return self._observe(), following


def _column(mask: NDArray[np.bool_], like: NDArray[Any]) -> NDArray[np.bool_]:
    """A mask bool[N] with as many axes as an array [N, ...]."""
    return mask.reshape(-1, *(1,) * (like.ndim - 1))


def _mode(given: AutoresetMode | str) -> AutoresetMode:
    """The autoreset mode that a name means; raises BadOption."""
    try:
        return AutoresetMode(given)
    except ValueError:
        names = [mode.value for mode in AutoresetMode]
        near = did_you_mean(str(given), names)
        raise BadOption(f"autoreset_mode={given!r}{near}: the modes are {', '.join(names)}") from None
