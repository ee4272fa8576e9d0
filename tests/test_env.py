"""The Gymnasium environments: they play the package's rules and dice, tell all that matters, keep the contract."""

from __future__ import annotations

import copy
import inspect
import os
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from nardy_rl import VARIANTS, BadBot, BadOption, BadPosition, IllegalPlay, Position, UnknownVariant
from nardy_rl.agents import load_bot
from nardy_rl.dice import roll, stream
from nardy_rl.envs import NardyEnv, env_id
from nardy_rl.envs.actions import FORMS, AfterstateActions, action_form, afterstate_bound
from nardy_rl.envs.game import Game
from nardy_rl.envs.observation import BOARD, BOARD_SIZE, FEATURES, FEATURES_SIZE, KINDS, Observer, boards_into
from nardy_rl.results import can_draw, score_levels

PAGE = Path(__file__).resolve().parent.parent / "docs" / "environments.md"
LAST_CHECKER = "backgammon 1:1 off:14 | 1:1 off:14 | turn=0 dice=21"


def at_random(env: NardyEnv, seed: int, plays: int = 100_000) -> list[tuple[Any, ...]]:
    """One game by random legal actions: (action, observation, reward, terminated, truncated, info) of each step."""
    draws = random.Random(seed)
    _, info = env.reset(seed=seed)
    steps: list[tuple[Any, ...]] = []
    while len(steps) < plays:
        action = draws.choice(np.flatnonzero(info["action_mask"]).tolist())
        steps.append((action, *env.step(action)))
        info = steps[-1][-1]
        if steps[-1][3] or steps[-1][4]:
            break
    return steps


def named(observation: np.ndarray[Any, Any], name: str, table: Any = BOARD) -> list[float]:
    """The numbers of a `board` observation that have this name."""
    at = 0
    for entry in table:
        if entry.name == name:
            return observation[at : at + entry.size].tolist()
        at += entry.size
    raise KeyError(name)


# ------------------------------------------------------------------------------------------ Gymnasium's contract


@pytest.mark.parametrize("actions", FORMS)
@pytest.mark.parametrize("name", VARIANTS)
def test_gymnasiums_checker_finds_no_fault(name: str, actions: str) -> None:
    env = gymnasium.make(env_id(name), actions=actions, max_plays=50)
    check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_gymnasiums_checker_finds_no_fault_in_what_is_rendered(mode: str) -> None:
    pytest.importorskip("PIL")
    env = gymnasium.make(env_id("plakoto"), render_mode=mode)
    check_env(env.unwrapped)
    env.reset(seed=1)
    frame = env.render()
    assert isinstance(frame, str) if mode == "ansi" else frame.dtype == np.uint8 and frame.shape[2] == 3


def test_every_game_has_an_id() -> None:
    ids = {name for name in gymnasium.registry if name.startswith("nardy_rl/")}
    assert ids == {env_id(name) for name in VARIANTS} and len(ids) == len(VARIANTS) == 25
    assert {env_id("long-nardy"), env_id("crazy-v1"), env_id("randgammon-1")} == {
        "nardy_rl/LongNardy-v0",
        "nardy_rl/CrazyV1-v0",
        "nardy_rl/Randgammon1-v0",
    }
    for name in VARIANTS:
        assert gymnasium.make(env_id(name)).unwrapped.variant == VARIANTS[name]  # type: ignore[attr-defined]


def test_the_id_can_name_the_module_to_import_and_the_core_loads_no_gymnasium() -> None:
    code = (
        "import sys, nardy_rl.position, nardy_rl.batch; assert 'gymnasium' not in sys.modules; import gymnasium;"
        "print(gymnasium.make('nardy_rl.envs:nardy_rl/CrazyV1-v0').unwrapped.variant.id)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "crazy-v1"


# ------------------------------------------------------------------------------------------ rules and dice


@pytest.mark.parametrize("name", VARIANTS)
def test_an_episode_is_the_same_game_through_position(name: str) -> None:
    env = NardyEnv(name, observation="packed")
    for number in range(2):
        seed = 11 if number == 0 else None
        observation, info = env.reset(seed=seed)
        position = Position.opening(name, 11, number)
        rng = np.zeros(1, np.uint64)
        stream(np.uint64(11), np.uint64(number), rng)
        _skip_opening(name, number, rng)
        draws = random.Random(number)
        while True:
            assert (observation == position.state).all() and env.position == position
            plays = position.plays()
            assert info["plays"] == len(plays) and info["player"] == position.player
            assert info["action_mask"].tolist() == [1] * len(plays) + [0] * (env.action_space.n - len(plays))
            action, mover = draws.randrange(len(plays)), position.player
            observation, reward, terminated, truncated, info = env.step(action)
            position = plays[action]
            if not position.over and not position.owes:
                position = position.throw(*roll(rng))
            assert (terminated, truncated) == (position.over, False)
            assert reward == (position.score(mover) if terminated else 0)
            if terminated:
                break
        assert (observation == position.state).all() and not info["action_mask"].any()
        assert abs(reward) in (0, *score_levels(VARIANTS[name])) and info["player"] == position.player


def _skip_opening(name: str, number: int, rng: np.ndarray[Any, Any]) -> None:
    """Draw from the stream what the opening drew."""
    from nardy_rl.rules import rules_of
    from nardy_rl.starts import begin, start_of

    begin(rules_of(VARIANTS[name]), start_of(VARIANTS[name]), rng, np.zeros(16, np.uint32))


@pytest.mark.parametrize("name", VARIANTS)
def test_both_forms_of_action_play_the_same_game(name: str) -> None:
    env, whole = NardyEnv(name, actions="checker", observation="packed"), Game(name)
    whole.reset(5)
    draws = random.Random(5)
    _, info = env.reset(seed=5)
    for _ in range(150):
        assert (env.game.state == whole.state).all() and info["plays"] == whole.n
        done, made = False, whole.plays_made
        while not done and env.game.plays_made == made:
            legal = np.flatnonzero(info["action_mask"])
            assert len(legal) and (len(legal) == 1 or 150 not in legal)
            inside = env.position
            observation, _, done, _, info = env.step(draws.choice(legal.tolist()))
            assert (inside.counts.sum(axis=1) == VARIANTS[name].checkers).all()
        index = [i for i, after in enumerate(whole.plays) if _leads(whole, i, env.game)]
        assert index, "the path of checker moves is no play"
        whole.step(index[0])
        assert whole.rewards == env.game.rewards
        if done:
            break


def _leads(game: Game, index: int, to: Game) -> bool:
    """Does this play lead to where another game stands?"""
    trial = game.copy()
    trial.step(index)
    return trial.state.tobytes() == to.state.tobytes()


@pytest.mark.parametrize("name", ["caucasian", "crazy-v1", "fevga", "backgammon"])
def test_the_masked_paths_are_exactly_the_plays(name: str) -> None:
    draws = random.Random(1)
    game = Game(name)
    for seed in range(4):
        game.reset(seed)
        for _ in range(draws.randrange(60)):
            if not game.over:
                game.step(draws.randrange(game.n))
        if game.over or game.n > 60:
            continue
        reached: set[bytes] = set()
        open_paths: list[Any] = [action_form("checker", game.copy())]
        open_paths[0].begin()
        while open_paths:
            form = open_paths.pop()
            for action in np.flatnonzero(form.mask()).tolist():
                twin = copy.deepcopy(form)
                if twin.step(action):
                    reached.add(twin.game.state.tobytes())
                else:
                    open_paths.append(twin)
        wanted = set()
        for index in range(game.n):
            twin_game = game.copy()
            twin_game.step(index)
            wanted.add(twin_game.state.tobytes())
        assert reached == wanted


def test_what_is_owed_is_played_before_dice_are_thrown() -> None:
    env = NardyEnv("crazy-v1")
    owing = "crazy-v1 24:15 | 24:15 | turn=0 throws=1,0 dice=33 owed=3x2,4x4"
    observation, info = env.reset(seed=1, options={"position": owing})
    assert env.position == Position.from_text(owing)
    assert named(observation, "stage") == [3] and named(observation, "moves") == [2]
    first = Position.from_text("hyper 24:1 23:1 22:1 | 24:1 23:1 22:1 | turn=1 starter=1")
    thrown = NardyEnv("hyper")
    thrown.reset(seed=2, options={"position": first})
    assert thrown.position.owes and thrown.position.player == 1 and thrown.position.throws == (0, 1)


# ------------------------------------------------------------------------------------------ seeds


def test_the_same_seed_gives_the_same_games_in_any_process_and_thread() -> None:
    code = (
        "import hashlib; from nardy_rl.envs import NardyEnv\n"
        "env = NardyEnv('crazy-v1', opponent='random', observation='packed'); played = hashlib.sha256()\n"
        "for game in range(3):\n"
        "    observation, info = env.reset(seed=9 if game == 0 else None); done = False\n"
        "    while not done:\n"
        "        observation, reward, done, _, info = env.step(info['plays'] // 2); played.update(observation)\n"
        "print(played.hexdigest())"
    )
    answers = set()
    for hash_seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
        )
        answers.add(done.stdout.strip())
    assert len(answers) == 1

    def play(env: NardyEnv, into: list[Any]) -> None:
        into += [step[1].tobytes() for step in at_random(env, 4)]

    made_here, results = NardyEnv("backgammon"), ([], [], [])  # type: ignore[var-annotated]
    play(made_here, results[0])
    threads = [threading.Thread(target=play, args=(made_here, results[1]))]
    threads += [threading.Thread(target=play, args=(NardyEnv("backgammon"), results[2]))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0] == results[1] == results[2]


def test_a_game_may_go_on_in_another_thread_in_the_middle_of_a_play() -> None:
    whole = NardyEnv("backgammon", actions="checker", observation="packed")
    steps = at_random(whole, 6, plays=2)
    env = NardyEnv("backgammon", actions="checker", observation="packed")
    seen: list[Any] = []

    def begin(game: NardyEnv, seed: int) -> None:
        _, info = game.reset(seed=seed)
        game.step(steps[0][0] if game is env else int(np.flatnonzero(info["action_mask"])[0]))

    def go_on() -> None:
        begin(NardyEnv("backgammon", actions="checker"), 7)  # as many actions as `env` took in its thread
        seen.append(env.step(steps[1][0])[0])

    for task in (lambda: begin(env, 6), go_on):
        thread = threading.Thread(target=task)
        thread.start()
        thread.join()
    assert (seen[0] == steps[1][1]).all()


def test_without_a_seed_the_games_of_the_last_seed_go_on_and_the_first_seed_is_random() -> None:
    env = NardyEnv("backgammon")
    env.reset(seed=3)
    env.reset()
    assert env.position == Position.opening("backgammon", 3, 1) and env.np_random_seed == 3
    openings = set()
    for _ in range(20):
        unseeded = NardyEnv("backgammon")
        unseeded.reset()
        openings.add(unseeded.game.seed)
    assert len(openings) == 20


def test_a_copy_goes_on_as_the_original_does() -> None:
    for actions in FORMS:
        env = NardyEnv("crazy-gulbar", actions=actions)
        at_random(env, 3, plays=30)
        twin = copy.deepcopy(env)
        for _ in range(40):
            legal = np.flatnonzero(env._info()["action_mask"])
            first, second = env.step(int(legal[0])), twin.step(int(legal[0]))
            assert (first[0] == second[0]).all() and first[1:4] == second[1:4]


# ------------------------------------------------------------------------------------------ actions


@pytest.mark.parametrize("actions", FORMS)
def test_an_illegal_action_loses_the_game_or_raises_and_changes_nothing(actions: str) -> None:
    env = NardyEnv("backgammon", actions=actions, illegal="raise")
    _, info = env.reset(seed=1)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    before, text = env.game.state.copy(), env.position.text
    for action in (illegal, -1, env.action_space.n):
        with pytest.raises(IllegalPlay, match=f"action {action} is not legal in backgammon ") as caught:
            env.step(int(action))
        assert text in str(caught.value)
    with pytest.raises(IllegalPlay, match="no whole number"):
        env.step(1.5)  # type: ignore[arg-type]
    assert (env.game.state == before).all() and (env._info()["action_mask"] == info["action_mask"]).all()
    legal = int(np.flatnonzero(info["action_mask"])[0])
    assert env.step(legal)[2] is False

    env = NardyEnv("backgammon", actions=actions)
    start, _ = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated, info["illegal"]) == (-1.0, True, False, True)
    assert (observation == start).all() and not info["action_mask"].any()
    with pytest.raises(IllegalPlay, match="call reset first"):
        env.step(legal)
    _, info = env.reset(seed=1)
    assert "illegal" not in info and "illegal" not in env.step(legal)[-1]


def test_no_action_is_taken_before_the_first_reset() -> None:
    with pytest.raises(IllegalPlay, match="call reset first"):
        NardyEnv("hyper").step(0)
    game = Game("hyper")
    with pytest.raises(IllegalPlay, match="call reset first"):
        game.step(0)
    with pytest.raises(BadOption, match="the first game needs a seed"):
        game.reset()
    assert not action_form("checker", game).mask().any()


MANY_PLAYS = {  # found by tools/most_plays.py
    "backgammon 23:1 22:1 20:1 19:1 17:1 16:1 14:1 13:1 11:1 10:1 9:1 7:1 6:1 4:1 3:1 | 7:1 1:14 | "
    "turn=0 throws=20,20 dice=11": 2140,
    "crazy-gulbar 24:1 23:1 22:1 20:1 18:1 17:1 15:1 14:1 12:1 11:1 9:1 8:1 7:1 5:1 4:1 | 13:15 | "
    "turn=0 throws=20,20 dice=11 owed=1x4,2x4,3x4,4x4,5x4,6x4": 2139,
}


@pytest.mark.parametrize("text", MANY_PLAYS)
def test_the_bound_has_room_for_positions_with_very_many_plays(text: str) -> None:
    position = Position.from_text(text)
    env = NardyEnv(position.variant, observation="plays")
    observation, info = env.reset(seed=1, options={"position": position})
    assert info["plays"] == MANY_PLAYS[text] == info["action_mask"].sum() <= afterstate_bound(position.variant)
    assert observation[: info["plays"]].any(axis=1).all() and not observation[info["plays"] :].any()


def test_the_bound_holds_in_every_position_of_three_checkers() -> None:
    bound = afterstate_bound(VARIANTS["hyper"])
    most = 0
    for mine in np.ndindex(25, 25, 25):
        if list(mine) == sorted(mine) and any(mine):
            words = " ".join(f"{d or 'off'}:{mine.count(d)}" for d in sorted(set(mine)))
            enemy = next(25 - d for d in range(1, 25) if d not in mine)
            for dice in ("11", "22", "33", "66", "21", "65"):
                if sum(mine) % 7 == 0:
                    position = Position.from_text(f"hyper {words} | {enemy}:3 | turn=0 dice={dice}")
                    most = max(most, len(position.plays()))
    assert 10 < most <= bound == 34


def test_more_plays_than_the_bound_are_an_error_and_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    form = AfterstateActions(Game("backgammon"))
    form.game.reset(1)
    monkeypatch.setattr(form, "size", form.game.n - 1)
    with pytest.raises(BadPosition, match=r"more than the \d+ .* backgammon 24:2"):
        form.begin()


# ------------------------------------------------------------------------------------------ observations


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("actions", FORMS)
def test_every_observation_lies_in_its_space(kind: str, actions: str) -> None:
    for name in VARIANTS:
        env = NardyEnv(name, actions=actions, observation=kind)
        first, _ = env.reset(seed=2)
        steps = at_random(env, 2, plays=12 if kind == "plays" else 60)
        for observation in (first, *(step[1] for step in steps)):
            assert observation in env.observation_space
        at_end = NardyEnv(name, actions=actions, observation=kind)
        if kind != "plays":
            last = at_random(at_end, 3)[-1]
            assert last[1] in at_end.observation_space and last[3]


def test_a_board_tells_what_the_position_is() -> None:
    text = (
        "crazy-v1 24:9 20:3 2:3 | 24:7 18:5 3:3 | turn=1 thrower=0 starter=1 throws=3,200 dice=44 owed=4x1,5x4 "
        "head=1,2 handed idle=1"
    )
    board = Observer(VARIANTS["crazy-v1"], "board").of(Position.from_text(text).state, np.zeros((0, 16), np.uint32))
    position = Position.from_text(text)
    assert named(board, "mine") == position.counts[1].tolist() and named(board, "theirs") == position.counts[0].tolist()
    told = {entry.name: named(board, entry.name) for entry in BOARD[4:]}
    assert told == {
        "dice": [4, 4],
        "stage": [4],
        "moves": [1],
        "last": [5],
        "owed": [0, 0],
        "throws": [127, 3],
        "heads": [2, 1],
        "thrower": [0],
        "starter": [1],
        "handed": [1],
        "extra": [0],
        "grace": [0],
        "idle": [1],
        "bound": [0] * 6,
        "player": [1],
        "outcome": [0],
    }
    pinned = Position.from_text("plakoto 24:14 5:1^ | 20:1 24:14 | turn=0 dice=31")
    board = Observer(VARIANTS["plakoto"], "board").of(pinned.state, np.zeros((0, 16), np.uint32))
    assert [i + 1 for i, pin in enumerate(named(board, "my pins")) if pin] == [5] and not any(
        named(board, "their pins")
    )


@pytest.mark.parametrize("name", VARIANTS)
def test_two_states_that_differ_have_different_boards(name: str) -> None:
    """Markov: all that the engine keeps of a state is in the board; throws only as far as they can matter."""
    variant = VARIANTS[name]
    rows: set[bytes] = set()
    for seed in range(3):
        game = Game(variant)
        game.reset(seed)
        draws = random.Random(seed)
        while not game.over:
            rows.add(game.state.tobytes())
            rows |= {after.tobytes() for after in game.plays[:6]}
            game.step(draws.randrange(game.n))
    states = np.frombuffer(b"".join(sorted(rows)), np.uint32).reshape(-1, 16)
    boards = np.zeros((len(states), BOARD_SIZE), np.int8)
    boards_into(states, boards)
    assert len(np.unique(boards, axis=0)) == len(states) > 20
    _flip_each_word(variant, states[:40])
    assert variant.calm < 127


def _flip_each_word(variant: Any, states: np.ndarray[Any, Any]) -> None:
    """Every change of one bit that leads to another possible state shows in the board."""
    tried = 0
    for state in states:
        board = np.zeros((2, BOARD_SIZE), np.int8)
        for word, bit in [(w, b) for w in range(8, 14) for b in range(26)]:
            other = state.copy()
            other[word] ^= np.uint32(1 << bit)
            try:
                Position(variant, other)
            except BadPosition:
                continue
            if word == 12 and other[12] & 0xFFFF > 126:
                continue
            boards_into(np.stack([state, other]), board)
            tried += 1
            if max(int(other[12]) & 0xFFFF, int(other[12]) >> 16) < 127:
                assert (board[0] != board[1]).any(), (Position(variant, state).text, word, bit)
    assert tried > 20


def test_within_a_play_the_board_tells_what_is_left_and_who_is_bound() -> None:
    env = NardyEnv("caucasian", actions="checker")
    text = "caucasian 7:1 6:1 2:2 off:11 | 21:1 24:14 | turn=0 dice=32"
    env.reset(seed=1, options={"position": text})
    observation, *_, info = env.step((7 - 1) * 6 + 3 - 1)  # 7/4*: it hits at home and is bound
    assert named(observation, "bound") == [0, 0, 0, 1, 0, 0]
    assert named(observation, "dice") == [3, 2] and named(observation, "owed") == [0, 1]
    assert named(observation, "moves") == [1] and named(observation, "theirs")[25] == 1
    assert not info["action_mask"][(4 - 1) * 6 + 2 - 1]  # 4/2 would hide
    env = NardyEnv("crazy-v1", actions="checker")
    env.reset(seed=1, options={"position": "crazy-v1 24:15 | 24:15 | turn=0 throws=1,0 dice=33 owed=3x4,4x4,5x4,6x4"})
    observation, *_ = env.step((24 - 1) * 6 + 3 - 1)
    assert named(observation, "heads") == [1, 0] and named(observation, "moves") == [3]


def test_the_features_of_plays_are_in_the_movers_view() -> None:
    env = NardyEnv("backgammon", observation="plays")
    observation, info = env.reset(seed=1, options={"position": LAST_CHECKER})
    assert (
        info["plays"] == 1
        and named(observation[0], "points", FEATURES) == [1]
        and named(observation[0], "acts", FEATURES) == [1]
    )
    observation, info = env.reset(seed=1)
    states = np.array([env.game.plays[i] for i in range(info["plays"])])
    assert [named(row, "acts", FEATURES) for row in observation[: len(states)]] == [[0.0]] * len(states)
    position = env.position
    for row, after in zip(observation, position.plays(), strict=False):
        off = after.counts[position.player][0]
        home = row[97]
        assert home == pytest.approx(off / 15)
        unary = row[: 24 * 4].reshape(24, 4)[:, 0]
        assert unary.tolist() == [float(c > 0) for c in after.counts[position.player][1:25]]
    assert FEATURES_SIZE == 221 and observation.shape == (3060, 221)


# ------------------------------------------------------------------------------------------ rewards and ends


def test_rewards_are_zero_sum_and_belong_to_who_made_the_play() -> None:
    env = NardyEnv("backgammon")
    for seed, winner in ((1, 0), (2, 1)):
        side = LAST_CHECKER.replace("turn=0", f"turn={winner}")
        env.reset(seed=seed, options={"position": side})
        _, reward, terminated, truncated, info = env.step(0)
        assert (reward, terminated, truncated, info["player"]) == (1.0, True, False, winner)
        assert sum(env.game.rewards) == 0 and env.game.rewards[winner] == 1
    for name in VARIANTS:
        game = Game(name)
        game.reset(1)
        draws = random.Random(1)
        assert game.rewards == (0.0, 0.0)
        while not game.over:
            game.step(draws.randrange(game.n))
        assert sum(game.rewards) == 0
        assert game.rewards[game.player] == game.position.score(game.player)


def test_a_game_that_lasts_too_long_is_truncated_and_not_terminated() -> None:
    for actions in FORMS:
        env = NardyEnv("backgammon", actions=actions, max_plays=7)
        steps = at_random(env, 1)
        assert env.game.plays_made == 7
        _, _, reward, terminated, truncated, info = steps[-1]
        assert (reward, terminated, truncated) == (0.0, False, True)
        assert not any(step[3] or step[4] for step in steps[:-1])
        assert not info["action_mask"].any()
        with pytest.raises(IllegalPlay, match="call reset first"):
            env.step(0)
    env = NardyEnv("backgammon", max_plays=1)  # an end with the last play allowed is an end
    env.reset(seed=1, options={"position": LAST_CHECKER})
    assert env.step(0)[2:4] == (True, False)


# ------------------------------------------------------------------------------------------ opponents


class ByText:
    """Answers the text of the first play, and counts how often it is asked."""

    asked = 0

    def choose(self, position: Position) -> str:
        self.asked += 1
        return position.move_text(position.plays()[0])


@pytest.mark.parametrize("name", ["backgammon", "crazy-v1", "sudden-death", "plakoto"])
def test_an_opponent_plays_the_other_seat(name: str) -> None:
    for seat in (0, 1):
        opponent = ByText()
        env = NardyEnv(name, opponent=opponent, seat=seat)
        points = []
        for game in range(6):
            _, info = env.reset(seed=game)
            done = False
            while not done:
                assert info["player"] == seat
                _, reward, done, _, info = env.step(random.Random(game).randrange(info["plays"]))
            points.append(reward)
            assert reward == env.game.rewards[seat]
            assert reward or can_draw(VARIANTS[name])
        assert opponent.asked > 3
        assert min(points) < 0 or max(points) > 0


def test_the_seat_is_drawn_by_the_seed() -> None:
    env = NardyEnv("backgammon", opponent="random")
    seats = []
    for _ in range(2):
        seats.append([env.reset(seed=seed)[1]["player"] for seed in range(40)])
    assert seats[0] == seats[1] and 8 < sum(seats[0]) < 32
    env.reset(seed=5)
    assert env.game.seed == 5


def test_a_named_opponent_is_the_bot_of_that_name() -> None:
    env = NardyEnv("backgammon", opponent="heuristic", seat=0, observation="packed")
    bot = load_bot("backgammon", "heuristic")
    game = Game("backgammon")
    for seed in range(5):
        env.reset(seed=seed)
        game.reset(seed)
        for _ in range(20):
            while not game.over and game.player != 0:
                after = bot.choose(game.position)
                game.step(game.position.plays().index(after))
            assert (env.game.state == game.state).all()
            if game.over:
                break
            env.step(0)
            game.step(0)


def test_a_loaded_bot_can_be_the_opponent() -> None:
    named_env = NardyEnv("plakoto", opponent="random", seat=1)
    loaded = NardyEnv("plakoto", opponent=load_bot("plakoto", "random"), seat=1)
    assert [s[1].tobytes() for s in at_random(named_env, 8)] == [s[1].tobytes() for s in at_random(loaded, 8)]


def test_an_opponent_that_ends_every_game_at_once_is_an_error() -> None:
    env = NardyEnv("backgammon", opponent=ByText(), seat=1)
    with pytest.raises(BadPosition, match="before the agent can act"):
        env.reset(seed=1, options={"position": LAST_CHECKER})


# ------------------------------------------------------------------------------------------ what users get wrong


class Wrong:
    """An opponent whose answer is no play."""

    def choose(self, position: Position) -> int:
        return 10_000


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"variant": "backgamon"}, UnknownVariant, "did you mean 'backgammon'"),
        ({"variant": "classic:block=high"}, BadOption, "block"),
        ({"actions": "checkers"}, BadOption, "did you mean 'checker'"),
        ({"observation": "bord"}, BadOption, "did you mean 'board'"),
        ({"illegal": "rise"}, BadOption, "did you mean 'raise'"),
        ({"render_mode": "human"}, BadOption, "ansi or rgb_array"),
        ({"max_plays": 0}, BadOption, "max_plays=0"),
        ({"max_plays": True}, BadOption, "max_plays=True"),
        ({"seat": 2, "opponent": "random"}, BadOption, "seat=2"),
        ({"seat": 1}, BadOption, "only with an opponent"),
        ({"opponent": "heuristc"}, BadBot, "did you mean 'heuristic'"),
        ({"opponent": 7}, BadBot, "method choose"),
        ({"variant": "hyper", "opponent": load_bot("backgammon", "random")}, BadBot, "load it for hyper"),
    ],
)
def test_a_wrong_argument_is_answered_with_a_sentence(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        NardyEnv(**arguments)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"postion": LAST_CHECKER}, BadOption, "unknown key 'postion'"),
        ({"position": 3}, BadPosition, "give a Position of backgammon"),
        ({"position": "nonsense"}, BadPosition, "nonsense"),
        ({"position": "hyper 24:1 23:1 22:1 | 24:1 23:1 22:1 | turn=0"}, BadPosition, "not of 'backgammon'"),
        ({"position": Position.start("hyper")}, BadPosition, "cannot start from a position of hyper"),
        ({"position": "backgammon off:15 | 1:1 off:14 | turn=0 over=off"}, BadPosition, "the game is over"),
    ],
)
def test_a_wrong_start_is_answered_with_a_sentence_and_changes_nothing(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    env = NardyEnv("backgammon")
    env.reset(seed=3)
    before = env.position
    with pytest.raises(error, match=message):
        env.reset(options=options)
    assert env.position == before and env.game.number == 0
    env.step(0)


def test_a_wrong_answer_of_an_opponent_names_it() -> None:
    env = NardyEnv("backgammon", opponent=Wrong(), seat=0)
    with pytest.raises(BadBot, match="'Wrong' answered 10000"):
        for seed in range(20):
            env.reset(seed=seed)


def test_rendering_without_a_mode_warns() -> None:
    env = NardyEnv("hyper")
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


# ------------------------------------------------------------------------------------------ the page


def test_the_page_names_every_argument() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in list(inspect.signature(NardyEnv.__init__).parameters)[1:]:
        assert f"| `{name}` |" in page
    for kind in KINDS:
        assert f"| `{kind}` | Box {Observer(VARIANTS['backgammon'], kind).dtype.__name__} " in page
