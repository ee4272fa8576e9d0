"""Every game is a game of OpenSpiel: its own tests pass, and its algorithms and bots play it."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
from math import comb

import numpy as np
import pytest

from nardy_rl import VARIANTS, BadOption, BadPosition, IllegalPlay, MissingExtra, Position, parse_variant, with_options
from nardy_rl.agents import load_bot
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.envs.openings import Opening, most_draws, most_outcomes, opening_of
from nardy_rl.results import score_table

pyspiel = pytest.importorskip("pyspiel", reason="needs OpenSpiel: pip install 'nardy-rl[openspiel]'")

from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import evaluate_bots, generate_playthrough, mcts  # noqa: E402
from open_spiel.python.algorithms.minimax import expectiminimax  # noqa: E402
from open_spiel.python.bots import uniform_random  # noqa: E402

from nardy_rl.envs import open_spiel  # noqa: E402

NAMES = dict(zip(VARIANTS, open_spiel.register(), strict=True))


def random_state(variant: str, seed: int, most: int) -> open_spiel.NardyState:
    """A state of a random game after at most so many actions, chance's included."""
    rng = np.random.default_rng(seed)
    state = pyspiel.load_game(NAMES[variant]).new_initial_state()
    for _ in range(most):
        if state.is_terminal():
            break
        if state.is_chance_node():
            outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(outcomes, p=np.array(probabilities) / sum(probabilities))))
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))
    return state


# ---------------------------------------------------------------------------------------------- the protocol


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_random_simulation_test_of_open_spiel_passes(variant: str) -> None:
    game = pyspiel.load_game(NAMES[variant])
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


def test_registering_again_changes_nothing_and_another_game_of_that_name_is_refused() -> None:
    assert open_spiel.register("hyper") == ["nardy_hyper"]
    with pytest.raises(BadOption, match="nardy_hyper"):
        open_spiel.register("hyper:bearoff=exact")


def test_a_game_of_ones_own_can_be_registered(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "two-men.toml"
    path.write_text('name = "Two men"\nbase = "hyper"\nstart = "24:2"\n')
    assert open_spiel.register(str(path)) == ["nardy_two_men"]
    state = pyspiel.load_game("nardy_two_men").new_initial_state()
    state.apply_action(0)
    assert state.position.counts[:, 24].tolist() == [2, 2]


@pytest.mark.parametrize("variant", VARIANTS)
def test_plays_returns_and_players_are_those_of_the_rules(variant: str) -> None:
    state = random_state(variant, seed=5, most=30)
    for _ in range(3000):
        position = state.position
        if state.is_terminal():
            break
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            assert sum(p for _, p in outcomes) == pytest.approx(1.0, abs=1e-12)
            assert state.legal_actions() == [i for i, _ in outcomes]
            if position is not None:
                assert not position.owes
                assert [p for _, p in outcomes] == pytest.approx(list(ROLL_WEIGHTS))
                assert state.child(7).position == position.throw(*map(int, ROLLS[7]))
            state.apply_action(len(outcomes) // 2 if len(outcomes) != 21 else 9)
        else:
            assert position is not None and state.current_player() == position.player
            plays = position.plays()
            action = len(plays) // 3
            assert state.legal_actions() == list(range(len(plays)))
            assert state.legal_actions(1 - position.player) == []
            assert state.action_to_string(action) == position.move_text(plays[action])
            state.apply_action(action)
            assert state.position == plays[action]
    assert state.returns()[0] + state.returns()[1] == 0
    if state.is_terminal():
        assert state.returns() == [state.position.score(0), state.position.score(1)]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_utilities_are_bounded_by_the_score_table(variant: str) -> None:
    game = pyspiel.load_game(NAMES[variant])
    codes = [n | far for n in range(1, VARIANTS[variant].checkers + 1) for far in (0, 16)]
    table = score_table(VARIANTS[variant])
    most = max(*(int(table[code]) for code in codes), 2 if VARIANTS[variant].mother else 0)
    assert (game.min_utility(), game.max_utility(), game.utility_sum()) == (-most, most, 0)
    assert game.max_game_length() == 4000
    assert game.max_chance_outcomes() == most_outcomes(VARIANTS[variant])


def test_a_game_that_reaches_the_cap_ends_with_zero() -> None:
    game = pyspiel.load_game("nardy_backgammon(max_plays=5)")
    state = game.new_initial_state()
    plays = 0
    while not state.is_terminal():
        plays += not state.is_chance_node()
        state.apply_action(state.legal_actions()[0])
    assert plays == 5 == game.max_game_length()
    assert state.returns() == [0.0, 0.0] and not state.position.over
    assert state.legal_actions() == [] and state.current_player() == pyspiel.PlayerId.TERMINAL
    pyspiel.random_sim_test(game, num_sims=3, serialize=True, verbose=False)


def test_a_clone_goes_its_own_way() -> None:
    state = random_state("crazy-v1", seed=2, most=41)
    text, history = str(state), state.history()
    twin = state.clone()
    while not twin.is_terminal():
        twin.apply_action(twin.legal_actions()[0])
    assert str(state) == text and state.history() == history
    assert twin.position.over


@pytest.mark.parametrize("variant", ["randgammon-2", "snake", "crazy-v2", "plakoto"])
@pytest.mark.parametrize("most", [0, 1, 3, 60])
def test_a_state_is_saved_and_read_again(variant: str, most: int) -> None:
    state = random_state(variant, seed=most, most=most)
    _, again = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(state.get_game(), state))
    assert str(again) == str(state) and again.history() == state.history()
    assert again.position == state.position and again.legal_actions() == state.legal_actions()


def test_a_game_and_its_states_go_to_another_process() -> None:
    game = pyspiel.load_game("nardy_crazy_v1(extra=none)")
    state = game.new_initial_state()
    for action in (1, 20, 0):
        state.apply_action(action)
    again, same = pickle.loads(pickle.dumps((game, state)))
    assert again.variant == game.variant and str(again) == str(game)
    assert str(same) == str(state) and same.legal_actions() == state.legal_actions()
    assert pickle.loads(pickle.dumps(game.get_type())) == game.get_type()
    code = (
        "import pickle, sys; game = pickle.loads(bytes.fromhex(sys.argv[1])); "
        "print(game, len(game.new_initial_state().legal_actions()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, pickle.dumps(game).hex()], capture_output=True, text=True, check=True
    )
    assert done.stdout == "nardy_crazy_v1(extra=none) 2\n"


def test_open_spiel_writes_a_playthrough() -> None:
    text = generate_playthrough.playthrough("nardy_hyper(max_plays=12)", None, seed=3)
    assert 'StringLegalActions() = ["player 0 starts with 2-1"' in text
    assert text.count("# State ") > 12 and "IsTerminal() = True" in text


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("nardy_classic(block=sport,koks=true)", {"block": "sport", "koks": True}),
        ("nardy_classic(pairs=d33)", {"pairs": (3,)}),
        ("nardy_classic(pairs=none)", {"pairs": ()}),
        ("nardy_shootout(stack=1)", {"stack": 1}),
        ("nardy_sudden_death(start=24:4+13:11)", {"start": "24:4 13:11"}),
        ("nardy_crazy(calm=3,completion=none)", {"calm": 3, "completion": "none"}),
    ],
)
def test_options_are_parameters(text: str, option: dict[str, object]) -> None:
    game = pyspiel.load_game(text)
    base = next(variant for variant, name in NAMES.items() if text.startswith(f"{name}("))
    assert game.variant == with_options(VARIANTS[base], option)
    assert pyspiel.load_game(str(game)).variant == game.variant


@pytest.mark.parametrize(
    ("text", "message"),
    [("nardy_classic(block=stone)", "block=stone"), ("nardy_classic(max_plays=0)", "max_plays=0")],
)
def test_a_parameter_that_cannot_be_is_refused_with_a_sentence(text: str, message: str) -> None:
    with pytest.raises(BadOption, match=message):
        pyspiel.load_game(text)


def test_an_action_that_cannot_be_is_refused_and_changes_nothing() -> None:
    state = pyspiel.load_game("nardy_hyper").new_initial_state("hyper 1:1 off:2 | 1:3 | turn=0 throws=5,5")
    for action in (21, 100):
        with pytest.raises(IllegalPlay, match="0 to 20"):
            state.clone().apply_action(action)
    state.apply_action(0)
    with pytest.raises(IllegalPlay, match="action 1: .* 0 to 0 in hyper 1:1"):
        state.apply_action(1)
    assert not state.is_terminal()


def test_a_position_of_another_game_is_refused() -> None:
    with pytest.raises(BadPosition, match="nackgammon"):
        pyspiel.load_game("nardy_hyper").new_initial_state(Position.start("nackgammon").text)


# ---------------------------------------------------------------------------------------------- observations


@pytest.mark.parametrize("variant", VARIANTS)
def test_observations_exist_everywhere_and_are_in_the_view_of_the_player(variant: str) -> None:
    rng = np.random.default_rng(1)
    state = pyspiel.load_game(NAMES[variant]).new_initial_state()
    for _ in range(60):
        views = [np.array(state.observation_tensor(player)) for player in (0, 1)]
        for player, view in enumerate(views):
            assert view.shape == (126,)
            if state.position is None:
                assert view[-1] == 0 and not view[100:102].any()
                continue
            counts = state.position.counts
            assert (view[:26] == counts[player]).all() and (view[26:52] == counts[1 - player]).all()
            assert np.flatnonzero(view[52:76]).tolist() == [d - 1 for d in state.position.pins[player]]
            assert tuple(view[100:102][view[100:102] > 0]) == state.position.dice
            assert view[-1] == (player == state.position.player)
            assert view[123] == player
        assert state.observation_string(0) == str(state)
        if state.is_terminal():
            break
        state.apply_action(int(rng.choice(state.legal_actions())))


def test_equal_histories_alone_give_equal_information_states() -> None:
    first, second = (random_state("hyper", seed=1, most=12) for _ in (0, 1))
    assert first.information_state_string(0) == second.information_state_string(0)
    second.apply_action(second.legal_actions()[0])
    assert first.information_state_string(1) != second.information_state_string(1)


# ---------------------------------------------------------------------------------------------- the start


def leaves(at: Opening, probability: float = 1.0) -> dict[Position, float]:
    """Every start with its probability; for games without a random layout."""
    found: dict[Position, float] = {}
    for i, (_, p) in enumerate(at.outcomes()):
        after = at.after(i)
        for position, q in ({after: p} if isinstance(after, Position) else leaves(after, p)).items():
            found[position] = found.get(position, 0) + probability * q
    return found


@pytest.mark.parametrize(
    "variant",
    [name for name, v in VARIANTS.items() if not v.random_start] + ["snake:sides=first", "snake:sides=second"],
)
def test_the_starts_are_those_that_the_sampler_draws(variant: str) -> None:
    game = parse_variant(variant)
    exact = leaves(opening_of(game))
    assert sum(exact.values()) == pytest.approx(1)
    drawn = [Position.opening(game, seed=0, game=i) for i in range(600)]
    if game.opening == "reroll":  # there the tree stops before the throw, which is a node like any other
        exact = {
            p.throw(int(a), int(b)): q * w
            for p, q in exact.items()
            for (a, b), w in zip(ROLLS, ROLL_WEIGHTS, strict=True)
        }
    assert set(drawn) <= set(exact)
    by_starter = [sum(q for p, q in exact.items() if p.starter == s) for s in (0, 1)]
    assert by_starter == pytest.approx([0.5, 0.5])
    for position, probability in exact.items():
        seen = drawn.count(position)
        assert abs(seen - 600 * probability) < 5 * (600 * probability) ** 0.5 + 1, position.text


@pytest.mark.parametrize("variant", ["randgammon-1", "randgammon-2"])
def test_a_random_layout_has_the_probability_that_the_rules_give_it(variant: str) -> None:
    game, smallest = VARIANTS[variant], VARIANTS[variant].random_start
    numbers = range(4, 11) if smallest == 1 else range(3, 8)
    accepted = sum(1 - 0.5**k for k in numbers) / len(numbers)
    rng = np.random.default_rng(3)
    for _ in range(60):
        at: Opening | Position = opening_of(game)
        probability, draws = 1.0, 0
        while isinstance(at, Opening):
            outcomes = at.outcomes()
            assert sum(p for _, p in outcomes) == pytest.approx(1) and len(outcomes) <= most_outcomes(game)
            weights = np.array([p for _, p in outcomes])
            i = int(rng.choice(len(outcomes), p=weights / weights.sum()))
            at, probability, draws = at.after(i), probability * weights[i], draws + 1
        assert draws <= most_draws(game)
        counts = at.counts[0]
        k = np.count_nonzero(counts)
        assert (at.counts[1] == counts).all() and counts.sum() == 15 and counts[13:25].any()
        assert not (counts[1:13] * counts[24:12:-1]).any() and counts[counts > 0].min() >= smallest
        # a number of points, the pairs, a side of each, the stacks; then one of 30 ways to start
        ways = len(numbers) * comb(12, k) * 2**k * comb(15 - k * (smallest - 1) - 1, k - 1)
        assert probability * 30 == pytest.approx(1 / ways / accepted)


@pytest.mark.parametrize("variant", ["randgammon-1", "randgammon-2"])
def test_random_layouts_are_drawn_as_the_sampler_draws_them(variant: str) -> None:
    """Mean numbers of points, of stacks on 13 to 24 and of pips agree between the two ways of drawing."""
    rng = np.random.default_rng(4)
    facts: list[list[tuple[int, int, int]]] = [[], []]
    for i in range(400):
        at: Opening | Position = opening_of(VARIANTS[variant])
        while isinstance(at, Opening):
            weights = np.array([p for _, p in at.outcomes()])
            at = at.after(int(rng.choice(len(weights), p=weights / weights.sum())))
        for which, position in enumerate((at, Position.opening(variant, seed=9, game=i))):
            counts = position.counts[0]
            facts[which].append((np.count_nonzero(counts), np.count_nonzero(counts[13:]), int(counts @ np.arange(26))))
    a, b = np.array(facts[0]), np.array(facts[1])
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / 400)
    assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4 * error).all()


# ---------------------------------------------------------------------------------------------- algorithms and bots


def exact_value(position: Position, player: int) -> float:
    """Points that a player can expect under best play, by plain recursion."""
    if position.over:
        return position.score(player)
    if not position.owes:
        return float(
            sum(w * exact_value(position.throw(*map(int, r)), player) for r, w in zip(ROLLS, ROLL_WEIGHTS, strict=True))
        )
    best = max if position.player == player else min
    return best(exact_value(after, player) for after in position.plays())


def test_expectiminimax_finds_the_exact_value_of_a_bearoff() -> None:
    position = Position.from_text("hyper 6:1 5:1 off:1 | 1:2 off:1 | turn=0 throws=9,9")
    state = pyspiel.load_game("nardy_hyper").new_initial_state(position.text)
    value, _ = expectiminimax(state, 8, lambda _: pytest.fail("not at the end"), 0)
    assert value == pytest.approx(exact_value(position, 0))
    rolls = sum(
        1 for a, b in [(a, b) for a in range(1, 7) for b in range(1, 7)] if {a, b} in ({5, 6}, {6}) or a == b > 2
    )
    assert value == pytest.approx(2 * rolls / 36 - 1)  # off with 6-5, 3-3, 4-4, 5-5, 6-6, else the other is


def test_mcts_takes_the_play_that_wins_at_once() -> None:
    game = pyspiel.load_game("nardy_hyper")
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = mcts.MCTSBot(game, 1.5, 60, evaluator, random_state=np.random.RandomState(1))
    state = game.new_initial_state("hyper 4:1 2:1 off:1 | 1:3 | turn=0 throws=9,9 dice=42")
    assert state.child(bot.step(state)).is_terminal()


@pytest.mark.parametrize("variant", ["hyper", "crazy-v1", "plakoto"])
def test_bots_of_both_worlds_play_a_game(variant: str) -> None:
    game = pyspiel.load_game(f"{NAMES[variant]}(max_plays=600)")
    bots = [
        open_spiel.ChooserBot(load_bot(variant, "pips")),
        uniform_random.UniformRandomBot(1, np.random.RandomState(2)),
    ]
    returns = evaluate_bots.evaluate_bots(game.new_initial_state(), bots, np.random.RandomState(3))
    assert sum(returns) == 0


def test_a_bot_is_not_asked_where_there_is_no_play() -> None:
    bot = open_spiel.ChooserBot(load_bot("hyper", "pips"))
    with pytest.raises(BadPosition, match="no"):
        bot.step(pyspiel.load_game("nardy_hyper").new_initial_state())


def test_the_reinforcement_learning_environment_plays_a_game() -> None:
    environment = rl_environment.Environment(pyspiel.load_game("nardy_sudden_death"))
    environment.seed(5)
    step, rng = environment.reset(), np.random.default_rng(5)
    assert environment.observation_spec()["info_state"] == (126,)
    while not step.last():
        player = step.observations["current_player"]
        step = environment.step([int(rng.choice(step.observations["legal_actions"][player]))])
    assert sum(step.rewards) == 0 and max(step.rewards) == 1


def test_a_program_that_registered_games_ends_quietly() -> None:
    code = (
        "import pyspiel; from nardy_rl.envs import open_spiel; open_spiel.register(); "
        "state = pyspiel.load_game('nardy_hyper').new_initial_state(); state.apply_action(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    monkeypatch.delitem(sys.modules, "nardy_rl.envs.open_spiel")
    with pytest.raises(MissingExtra, match=r"nardy-rl\[openspiel\]"):
        importlib.import_module("nardy_rl.envs.open_spiel")
