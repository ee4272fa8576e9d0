"""PettingZoo: every game as an AEC environment of two agents, `player_0` and `player_1`.

    from nardy_rl.envs import aec

    env = aec.env("classic", actions="checker")
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        action = None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"])
        env.step(action)

An observation is `{"observation", "action_mask"}`, in the view of the agent who is asked for, also when the other has
to act: then the mask is zero. Who acts is what the rules say, so one agent may have several turns in succession.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nardy_rl.envs.game import MAX_GAME_PLAYS
from nardy_rl.envs.registration import VERSION
from nardy_rl.envs.single import RENDER_MODES, NardyEnv
from nardy_rl.errors import MissingExtra
from nardy_rl.position import Position
from nardy_rl.variant import Variant

try:
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError as error:
    raise MissingExtra("pettingzoo", "pettingzoo") from error

AGENTS = ("player_0", "player_1")


def env(variant: Variant | str = "backgammon", **arguments: Any) -> AECEnv:
    """A game with PettingZoo's usual checks of the order of calls; arguments: see `raw_env`."""
    return OrderEnforcingWrapper(raw_env(variant, **arguments))


def parallel_env(variant: Variant | str = "backgammon", **arguments: Any) -> ParallelEnv:
    """The same with PettingZoo's parallel interface: of the two actions of a step only that of who acts counts."""
    return turn_based_aec_to_parallel(env(variant, **arguments))


class raw_env(AECEnv):  # type: ignore[misc]  # noqa: N801  (the name that PettingZoo gives it)
    """A game of two agents, without checks of the order of calls.

    variant, actions, observation, illegal, max_plays and render_mode are those of `NardyEnv`, which also says what they
    raise. `reset(seed, options)` as there. Rewards are zero until the end, when both get what the score table says, or
    after an illegal action 1 point; at `max_plays` plays the game is truncated with zero. `infos` of the agent who
    acts has `plays`, the number of legal plays, and `illegal` for who ended the game so.
    """

    def __init__(
        self,
        variant: Variant | str = "backgammon",
        *,
        actions: str = "afterstate",
        observation: str = "board",
        illegal: str = "lose",
        max_plays: int = MAX_GAME_PLAYS,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self._env = NardyEnv(
            variant,
            actions=actions,
            observation=observation,
            illegal=illegal,
            max_plays=max_plays,
            render_mode=render_mode,
        )
        self.variant = self._env.variant
        self.render_mode = render_mode
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "name": f"nardy_{self.variant.id.replace('-', '_')}_v{VERSION}",
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        size = int(self._env.action_space.n)
        self.action_spaces = {agent: spaces.Discrete(size) for agent in AGENTS}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": _copy(self._env.observation_space),
                    "action_mask": spaces.Box(0, 1, (size,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self.state_space = spaces.Box(0, 0xFFFFFFFF, (16,), np.uint32)

    # ------------------------------------------------------------------------------------ the interface

    def observation_space(self, agent: str) -> spaces.Dict:
        """What an agent may observe; always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The actions of an agent; always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game; raises what `NardyEnv.reset` does."""
        # PettingZoo's own test gives a key of that name, which says nothing; other unknown keys are errors.
        known = {key: value for key, value in (options or {}).items() if key != "options"}
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._skip_agent_selection = None
        self._take(*self._env.reset(seed=seed, options=known))

    def step(self, action: int | None) -> None:
        """The agent selected acts; None is the action of one for whom the game has ended. Raises IllegalPlay."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        observation, reward, terminated, truncated, info = self._env.step(action)  # type: ignore[arg-type]
        self._cumulative_rewards[agent] = 0.0
        self.rewards = {other: reward if other == agent else 0.0 - reward for other in AGENTS}
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(AGENTS, terminated)
        self.truncations = dict.fromkeys(AGENTS, truncated)
        self._take(observation, info)
        if info.get("illegal"):
            self.infos[agent]["illegal"] = True

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """What an agent observes; its mask is zero unless the agent has to act."""
        if agent == self.agent_selection:
            return {"observation": self._seen, "action_mask": self._mask}
        return {"observation": self._env.observe(AGENTS.index(agent)), "action_mask": np.zeros_like(self._mask)}

    def state(self) -> NDArray[np.uint32]:
        """The whole state, uint32[16], in the view of who acts (nardy_rl/board.py)."""
        return np.array(self._env.position.state)

    def render(self) -> Any:
        """The board: a text for `ansi`, uint8[H, W, 3] for `rgb_array`."""
        return self._env.render()

    def close(self) -> None:
        """Nothing is held open."""

    @property
    def position(self) -> Position:
        """The state as a Position; see `NardyEnv.position`."""
        return self._env.position

    # ------------------------------------------------------------------------------------ its parts

    def _take(self, observation: NDArray[Any], info: dict[str, Any]) -> None:
        """Note what the game looks like to who acts next."""
        self.agent_selection = AGENTS[info["player"]]
        self._seen, self._mask = observation, info["action_mask"]
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.infos[self.agent_selection]["plays"] = info["plays"]


def _copy(space: spaces.Box) -> spaces.Box:
    return spaces.Box(space.low, space.high, space.shape, space.dtype)  # type: ignore[arg-type]
