"""Every game is a PettingZoo environment in both forms of action: its own tests pass, and rewards add up."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import pytest

from nardy_rl import VARIANTS, BadOption, IllegalPlay, MissingExtra, Position
from nardy_rl.dice import ROLLS
from nardy_rl.envs.actions import FORMS

pytest.importorskip("pettingzoo", reason="needs PettingZoo: pip install 'nardy-rl[pettingzoo]'")

from nardy_rl.envs import aec  # noqa: E402

api_test = importlib.import_module("pettingzoo.test.api_test").api_test
seed_test = importlib.import_module("pettingzoo.test.seed_test").seed_test
parallel_api_test = importlib.import_module("pettingzoo.test.parallel_test").parallel_api_test

# Three warnings that PettingZoo's test gives to every environment, outside its own, that has masks in observations.
IN_PETTINGZOO = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros"),
]


def with_pettingzoos_warnings(test: Any) -> Any:
    for mark in IN_PETTINGZOO:
        test = mark(test)
    return test


def play(env: Any, seed: int, most: int = 10_000) -> list[tuple[str, float, bool, bool]]:
    """Random play to the end: agent, reward, terminated, truncated of every turn; `env.reset` comes first."""
    rng, turns = np.random.default_rng(seed), []
    for agent in env.agent_iter(most):
        observation, reward, terminated, truncated, _ = env.last()
        turns.append((agent, reward, terminated, truncated))
        over = terminated or truncated
        env.step(None if over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    return turns


@with_pettingzoos_warnings
@pytest.mark.parametrize("actions", FORMS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_api_test_and_the_seed_test_of_pettingzoo_pass(variant: str, actions: str) -> None:
    api_test(aec.env(variant, actions=actions))
    seed_test(lambda: aec.env(variant, actions=actions))


@with_pettingzoos_warnings
def test_the_environment_without_wrapper_and_the_parallel_one_pass_too() -> None:
    api_test(aec.raw_env("crazy-v1"))
    parallel_api_test(aec.parallel_env("hyper", max_plays=40), num_cycles=50)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_game_is_the_one_of_its_seed_and_both_get_what_it_is_worth(variant: str) -> None:
    env = aec.env(variant)
    env.reset(seed=7)
    assert env.unwrapped.position == Position.opening(variant, seed=7)
    turns = play(env, seed=1)
    final = env.unwrapped.position
    assert final.over and turns[-1][2] and not env.agents
    rewards = {agent: reward for agent, reward, terminated, _ in turns if terminated}
    assert rewards == {"player_0": final.score(0), "player_1": final.score(1)}
    assert all(reward == 0 for _, reward, terminated, _ in turns if not terminated)


def test_agents_act_when_the_rules_say_so() -> None:
    """A progression and its debt: several turns of one agent in succession."""
    env = aec.env("crazy-v1")
    env.reset(seed=2)
    rng, again = np.random.default_rng(2), 0
    for agent in env.agent_iter():
        observation, _, terminated, _, info = env.last()
        if terminated:
            env.step(None)
            continue
        position = env.unwrapped.position
        assert agent == f"player_{position.player}" and info["plays"] == len(position.plays())
        env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        again += env.agents == list(aec.AGENTS) and env.agent_selection == agent
    assert again > 5


def test_a_game_that_reaches_the_cap_is_truncated_with_zero() -> None:
    env = aec.env("backgammon", max_plays=6)
    env.reset(seed=1)
    turns = play(env, seed=1)
    assert len(turns) == 8
    assert [turn[1:] for turn in turns[-2:]] == [(0.0, False, True)] * 2


@pytest.mark.parametrize("action", [5000, -1])
def test_an_illegal_action_loses_one_point(action: int) -> None:
    env = aec.env("hyper")
    env.reset(seed=3)
    loser = env.agent_selection
    env.step(action)
    assert env.rewards == {agent: -1.0 if agent == loser else 1.0 for agent in aec.AGENTS}
    assert env.terminations == dict.fromkeys(aec.AGENTS, True)
    assert env.infos[loser]["illegal"] is True
    assert [turn[1] for turn in play(env, seed=0)] in ([-1.0, 1.0], [1.0, -1.0])


def test_an_illegal_action_can_be_an_error_that_changes_nothing() -> None:
    env = aec.env("hyper", illegal="raise")
    env.reset(seed=3)
    before = env.unwrapped.position
    with pytest.raises(IllegalPlay, match="action 4000 .*hyper 24:1"):
        env.step(4000)
    assert env.unwrapped.position == before
    assert play(env, seed=0)[-1][2]


@pytest.mark.parametrize("variant", ["plakoto", "crazy-v2", "backgammon"])
def test_each_agent_sees_the_board_from_its_own_side(variant: str) -> None:
    env = aec.env(variant)
    env.reset(seed=5)
    rng = np.random.default_rng(5)
    for _ in range(80):
        position = env.unwrapped.position
        for player, agent in enumerate(aec.AGENTS):
            seen = env.observe(agent)
            board, mask = seen["observation"], seen["action_mask"]
            assert (board[:26] == position.counts[player]).all()
            assert (board[26:52] == position.counts[1 - player]).all()
            assert board[100:102].tolist() == list(position.dice or (0, 0))
            assert tuple(board[107:109]) == (position.throws[player], position.throws[1 - player])
            assert mask.sum() == (len(position.plays()) if agent == env.agent_selection else 0)
        if position.over:
            break
        env.step(int(rng.integers(len(position.plays()))))
        if any(env.terminations.values()):
            break


def test_reset_takes_a_position_and_refuses_unknown_options() -> None:
    env = aec.env("hyper")
    text = "hyper 1:1 off:2 | 1:3 | turn=1 throws=5,5 dice=21"
    env.reset(seed=1, options={"position": text})
    assert env.unwrapped.position.text == text and env.agent_selection == "player_1"
    with pytest.raises(BadOption, match="positon"):
        env.reset(options={"positon": text})


def test_a_reset_without_a_seed_starts_the_next_game_of_the_seed() -> None:
    env = aec.env("hyper")
    env.reset(seed=4)
    play(env, seed=0)
    env.reset()
    assert env.unwrapped.position == Position.opening("hyper", seed=4, game=1)
    assert env.agents == list(aec.AGENTS)


def test_the_board_is_shown() -> None:
    env = aec.env("plakoto", render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == env.unwrapped.position.picture()
    pytest.importorskip("PIL")
    env = aec.env("plakoto", render_mode="rgb_array")
    env.reset(seed=1)
    assert env.render().shape == (600, 800, 3)
    env.close()


def test_the_state_is_the_packed_position() -> None:
    env = aec.env("fevga")
    env.reset(seed=1)
    assert (env.state() == Position.opening("fevga", seed=1).state).all()
    assert env.state_space.contains(env.state())


@pytest.mark.parametrize("arguments", [{"actions": "chequer"}, {"observation": "bored"}, {"illegal": "win"}])
def test_arguments_that_cannot_be_are_refused(arguments: dict[str, str]) -> None:
    with pytest.raises(BadOption, match=next(iter(arguments.values()))):
        aec.env("classic", **arguments)


def test_the_checker_form_is_the_same_game() -> None:
    """One checker by one die: the plays that come about are legal plays of the same positions."""
    env = aec.env("backgammon", actions="checker")
    env.reset(seed=9)
    assert env.action_space("player_0").n == 151
    rng, before, plays = np.random.default_rng(9), env.unwrapped.position, 0
    for _ in range(300):
        if any(env.terminations.values()):
            break
        env.step(int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))))
        after = env.unwrapped.position
        if after.player != before.player or after.over:
            bare = {(p.counts.tobytes(), p.player) for p in before.plays()}
            assert (after.counts.tobytes(), after.player) in bare
            assert not after.owes or after.dice in {tuple(roll) for roll in ROLLS.tolist()}
            before, plays = after, plays + 1
    assert plays > 50


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    monkeypatch.delitem(sys.modules, "nardy_rl.envs.aec")
    with pytest.raises(MissingExtra, match=r"nardy-rl\[pettingzoo\]"):
        importlib.import_module("nardy_rl.envs.aec")
