"""The vector environment: its games are those of single environments, and it keeps Gymnasium's conventions."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from nardy_rl.batch import plays
from nardy_rl.envs import NardyVectorEnv, env_id
from nardy_rl.envs.observation import KINDS
from nardy_rl.errors import BadOption, BadPosition, IllegalPlay
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS

FORMS = ("afterstate", "checker")


def native(name, n, **given):
    return gymnasium.make_vec(env_id(name), num_envs=n, vectorization_mode="vector_entry_point", **given)


def of_single(name, n, mode, **given):
    """The same as `native`, of single environments."""
    return gymnasium.make_vec(
        env_id(name), num_envs=n, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **given
    )


def assert_same(one, other, where):
    """Two answers are equal: arrays with their dtypes, and infos with all that they hold."""
    assert type(one) is type(other), where
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            assert_same(one[key], other[key], f"{where} {key}")
    elif isinstance(one, tuple):
        for k, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{where} [{k}]")
    elif one.dtype == object:
        for a, b in zip(one, other, strict=True):
            assert (a is None and b is None) or np.array_equal(a, b), where
    else:
        assert one.dtype == other.dtype, f"{where}: {one.dtype}, {other.dtype}"
        assert np.array_equal(one, other), where


def random_actions(rng, mask, wrong):
    """A legal action of each game, and with probability `wrong` any one; mask: int8[N, actions]."""
    legal = np.array([rng.choice(np.flatnonzero(row)) if row.any() else 0 for row in mask], np.int64)
    return np.where(rng.random(len(mask)) < wrong, rng.integers(mask.shape[1], size=len(mask)), legal)


def compare(name, steps, mode=AutoresetMode.NEXT_STEP, wrong=0.0, n=5, **given):
    """Step a native environment and single ones with the same actions; returns how many games have ended."""
    both = native(name, n, autoreset_mode=mode, **given), of_single(name, n, mode, **given)
    rng = np.random.default_rng(8)
    one, other = (env.reset(seed=11) for env in both)
    assert_same(one, other, f"{name} reset")
    mask, ends = one[1]["action_mask"], 0
    for step in range(steps):
        actions = random_actions(rng, mask, wrong)
        one, other = (env.step(actions) for env in both)
        assert_same(one, other, f"{name} step {step}")
        mask, ended = one[4]["action_mask"], one[2] | one[3]
        ends += ended.sum()
        if mode is AutoresetMode.DISABLED and ended.any():
            one, other = (env.reset(options={"reset_mask": ended.copy()}) for env in both)
            assert_same(one, other, f"{name} reset after step {step}")
            mask[ended] = one[1]["action_mask"][ended]
    return ends


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", VARIANTS)
def test_every_game_is_that_of_a_single_environment(name, form):
    assert compare(name, 150, actions=form, max_plays=40) >= 5


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", AutoresetMode)
def test_all_modes_of_reset_are_gymnasiums(mode, form):
    assert compare("hyper", 300, mode, actions=form) > 20
    assert compare("crazy-v1", 200, mode, actions=form, max_plays=40) >= 5


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", AutoresetMode)
def test_illegal_actions_lose_as_in_a_single_environment(mode, form):
    assert compare("plakoto", 80, mode, wrong=0.1, actions=form) > 20


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_observation_is_that_of_a_single_environment(kind, form):
    assert compare("caucasian", 60, AutoresetMode.SAME_STEP, actions=form, observation=kind, max_plays=15, n=3) >= 3


def test_a_batch_of_any_size_plays_the_same_games():
    def games(n):
        env = native("crazy-v2", n, observation="packed")
        seen, (observation, info) = [], env.reset(seed=5)
        for step in range(400):
            actions = (info["plays"] * (step * 37 % 101) // 101).astype(np.int64)
            observation, rewards, *_, info = env.step(actions)
            seen.append((observation[:2].tobytes(), rewards[:2].tobytes()))
        return seen

    assert games(2) == games(3) == games(70)


def test_more_plays_than_there_is_room_for_are_listed_all_the_same():
    env = native("backgammon", 40, observation="packed", action_mask=False)
    text = "backgammon 24:1 22:1 20:1 18:1 16:1 14:1 12:1 10:1 8:1 6:1 4:1 2:1 off:3 | off:14 bar:1 | turn=0 dice=11"
    _, info = env.reset(seed=1, options={"position": text})
    after, first = env.unwrapped.afterstates()
    assert "action_mask" not in info and (np.diff(first) == info["plays"]).all()
    expected, _ = plays("backgammon", Position.from_text(text).state[None])
    assert len(expected) * 40 > 8192 + 40 * 32
    assert (after.reshape(40, -1, 16) == expected).all()


def test_afterstates_are_those_of_the_states_also_where_games_have_begun_anew():
    env = native("hyper", 6, observation="packed", autoreset_mode="SameStep").unwrapped
    observation, info = env.reset(seed=1)
    begun = 0
    for _ in range(60):
        after, first = env.afterstates()
        expected = plays("hyper", observation)
        assert (after == expected[0]).all() and (first == expected[1]).all()
        observation, _, ends, _, info = env.step(info["plays"] // 2)
        begun += ends.sum()
    assert begun > 5
    with pytest.raises(BadOption, match="afterstates: an action of the checker form is no play"):
        native("hyper", 1, actions="checker").unwrapped.afterstates()


def test_each_game_may_start_from_its_own_position():
    texts = [Position.opening("hyper", 1, game).text for game in range(3)]
    env = native("hyper", 3)
    env.reset(seed=[7, 8, 9], options={"position": texts})
    assert [position.text for position in env.unwrapped.positions] == texts
    env.reset(options={"position": texts[1], "reset_mask": np.array([True, False, True])})
    assert [position.text for position in env.unwrapped.positions] == [texts[1]] * 3


def test_boards_are_rendered():
    env = native("hyper", 2, render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == tuple(Position.opening("hyper", seed).picture() for seed in (1, 2))
    assert native("hyper", 2).render() is None


def test_an_illegal_action_may_raise_and_then_changes_nothing():
    for form, wrong in (("afterstate", 500), ("checker", 150)):
        env = native("hyper", 3, actions=form, illegal="raise", observation="packed")
        observation, info = env.reset(seed=1)
        actions = info["action_mask"].argmax(axis=1)
        with pytest.raises(IllegalPlay, match=rf"action {wrong} of game 1 is not legal in hyper .*: take one of"):
            env.step(np.where([False, True, False], wrong, actions))
        assert [position.state.tobytes() for position in env.unwrapped.positions] == [r.tobytes() for r in observation]
        env.step(actions)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"num_envs": 0}, "num_envs=0: the number of games, at least 1"),
        ({"opponent": "random"}, "for an opponent make it with vectorization_mode='sync'"),
        ({"actions": "chekcer"}, "did you mean 'checker'"),
        ({"illegal": "lost"}, "did you mean 'lose'"),
        ({"autoreset_mode": "Nextstep"}, "did you mean 'NextStep'"),
        ({"observation": "boards"}, "did you mean 'board'"),
        ({"render_mode": "human"}, "render_mode='human': give None, ansi or rgb_array"),
        ({"max_plays": 0}, "max_plays=0"),
    ],
)
def test_wrong_arguments_are_refused(given, message):
    with pytest.raises(BadOption, match=message):
        NardyVectorEnv(**{"variant": "hyper", "num_envs": 2} | given)


def test_wrong_seeds_positions_and_actions_are_refused_and_change_nothing():
    env = NardyVectorEnv(2, "hyper", observation="packed", autoreset_mode="Disabled", max_plays=1)
    with pytest.raises(IllegalPlay, match="no game has been started, call reset first"):
        env.step([0, 0])
    with pytest.raises(BadOption, match="the first reset is of all of them"):
        env.reset(options={"reset_mask": np.array([True, False])})
    observation, _ = env.reset(seed=1)
    for error, message, call in (
        (BadPosition, "seed=-1", lambda: env.reset(seed=-1)),
        (BadPosition, "a list of 3 seeds for 2 games", lambda: env.reset(seed=[1, 2, 3])),
        (BadPosition, "a list of 1 positions for 2 games", lambda: env.reset(options={"position": ["x"]})),
        (BadPosition, "is not GAME LAYOUT", lambda: env.reset(options={"position": "hyper"})),
        (BadOption, "unknown key 'positon'", lambda: env.reset(options={"positon": 1})),
        (BadOption, "reset_mask=.*true for a game at least", lambda: env.reset(options={"reset_mask": [True, True]})),
        (IllegalPlay, "whole number for each of 2 games", lambda: env.step([0.5, 0.5])),
        (IllegalPlay, "whole number for each of 2 games", lambda: env.step([0])),
    ):
        with pytest.raises(error, match=message):
            call()
    assert [p.state.tobytes() for p in env.positions] == [row.tobytes() for row in observation]
    env.step([0, 0])
    with pytest.raises(IllegalPlay, match="game 0 has ended: reset it"):
        env.step([0, 0])


def test_it_declares_what_it_is():
    env = native("long-nardy", 4)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP and env.num_envs == 4
    assert env.unwrapped.variant == VARIANTS["long-nardy"] and env.spec.id == "nardy_rl/LongNardy-v0"
    single = gymnasium.make(env_id("long-nardy"))
    assert env.single_action_space == single.action_space and env.single_observation_space == single.observation_space
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    unseeded = native("long-nardy", 2).reset()[0]
    assert not np.array_equal(unseeded, native("long-nardy", 2).reset()[0])
