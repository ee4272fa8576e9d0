"""Analysing and rolling out positions: the figures, the stop, and the commands."""

import json

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.agents.search import SearchBot
from nardy_rl.cube import GameState
from nardy_rl.errors import BadBot, BadOption, BadPosition
from nardy_rl.experiments.analyse import analyse, outcome_titles, read_game, value_bot
from nardy_rl.experiments.cli import run
from nardy_rl.experiments.outcome_measure import Outcomes, both_sides, outcome_names
from nardy_rl.experiments.rollout import Points, trial_results
from nardy_rl.experiments.rollout_position import RolloutSettings, roll_out, still_open
from nardy_rl.experiments.screen import markdown_table
from nardy_rl.match import Match
from nardy_rl.position import Position
from nardy_rl.results import score_levels
from nardy_rl.variants import VARIANTS, parse_variant

START = "4HPwATDgc/ABMA"


def of(text, variant="hyper"):
    return read_game([variant, text])


# ---------------------------------------------------------------------------------------------- what is read


def test_every_form_is_read_and_a_text_names_its_game():
    text = Position.opening("classic", seed=2).text
    assert read_game([text]).position.text == text
    assert read_game([START], "31").position.dice == (3, 1)
    assert read_game(["nackgammon", START]).variant.name == VARIANTS["nackgammon"].name
    assert read_game(["XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"]).position.dice == (3, 1)
    assert not read_game([START]).position.owes


@pytest.mark.parametrize(
    ("words", "dice", "error"),
    [
        (["backgammon", START, "31"], None, BadPosition),
        ([START], "37", BadOption),
        (["no position"], None, BadPosition),
        (["hyper off:3 | 3:3 | turn=0 throws=6,6 over=off"], None, BadPosition),
    ],
)
def test_what_cannot_be_analysed_is_refused(words, dice, error):
    with pytest.raises(error):
        read_game(words, dice)


def test_a_bot_without_values_is_refused():
    with pytest.raises(BadBot, match="'random' does not value positions"):
        value_bot(parse_variant("hyper"), "random")


# ---------------------------------------------------------------------------------------------- the figures


def test_plays_are_ranked_with_differences_and_outcomes_for_the_player():
    game, bot = read_game([START], "31"), load_bot("backgammon:jacoby=true", "pretrained")
    data = analyse(bot, game)
    plays, position = data["plays"], game.position
    after = position.plays()
    assert sorted(one["position"] for one in plays) == sorted(p.text for p in after)
    values = dict(zip((p.text for p in after), -bot.values(np.stack([p.state for p in after])), strict=True))
    for rank, one in enumerate(plays, 1):
        assert one["rank"] == rank and one["plies"] == 0
        assert one["equity"] == pytest.approx(values[one["position"]], abs=1e-6)
        assert (
            one["difference"] == pytest.approx(one["equity"] - plays[0]["equity"], abs=1e-6) and one["difference"] <= 0
        )
        chances = one["outcomes"]
        points = sum(chances[name] for name in ("win", "win 2", "win 3"))
        points -= sum(chances[name] for name in ("lose", "lose 2", "lose 3"))
        assert one["equity"] == pytest.approx(points, abs=1e-5)
        assert chances["win"] + chances["lose"] == pytest.approx(1, abs=1e-6)
        assert position.after(one["play"]).text == one["position"]
    assert data["equity"] == plays[0]["equity"] and data["dice"] == [3, 1]


def test_a_search_is_told_with_its_depth_the_deepest_first():
    game = read_game([START], "31")
    bot = SearchBot(load_bot("backgammon:jacoby=true", "pretrained"), 1)
    plies = [one["plies"] for one in analyse(bot, game)["plays"]]
    assert plies == sorted(plies, reverse=True) and set(plies) == {0, 1}
    quiet = analyse(bot, read_game([START]))
    assert quiet["plays"] is None
    assert quiet["equity"] == pytest.approx(float(bot.values(read_game([START]).position.state[None])[0]), abs=1e-6)


@pytest.mark.parametrize("game", sorted(VARIANTS))
def test_outcomes_of_every_game_have_names_titles_and_both_sides(game):
    variant = VARIANTS[game]
    names, titles = outcome_names(variant), outcome_titles(variant)
    assert set(titles) <= set(names) and {"win", "lose"} <= set(titles)
    assert len(names) == 2 * len(score_levels(variant))
    bot = load_bot(variant, "heuristic")
    exact = Outcomes(bot, bot).exact
    wins = np.diff([0, *score_levels(variant)])
    np.testing.assert_allclose(exact[:32, 0], exact[:32, 1 : 1 + len(wins)] @ wins)
    assert not exact[:32, 1 + len(wins) :].any()


def test_both_sides_of_outputs_are_turned_like_the_outputs():
    bot = load_bot("plakoto", "pretrained")
    states = np.stack([p.state for p in Position.opening("plakoto", seed=1).plays()])
    outputs, values = bot.evaluations(states)
    measure, other = Outcomes(bot, bot), np.ones(len(states), np.bool_)
    flipped = outputs[:, bot.meaning.flip_from]
    columns = np.column_stack([values, both_sides(bot.variant, outputs)]).astype(float)
    np.testing.assert_allclose(
        measure.turned(columns, other), np.column_stack([-values, both_sides(bot.variant, flipped)]), atol=1e-6
    )


# ---------------------------------------------------------------------------------------------- rollouts


def test_points_of_outcomes_are_the_points_of_a_plain_rollout():
    bot = load_bot("backgammon", "pretrained")
    states = np.stack([p.state for p in Position.opening("backgammon", seed=1).plays()[:2]])
    outcomes = trial_results(bot, Outcomes(bot, bot), states, range(36), throws=2)
    points = trial_results(bot, Points(bot, bot), states, range(36), throws=2)
    np.testing.assert_allclose(outcomes[:, :, :1], points, atol=1e-5)
    won = outcomes[:, :, 1:4].sum(axis=2) - outcomes[:, :, 4:].sum(axis=2)
    np.testing.assert_allclose(outcomes[:, :, 0], won, atol=1e-5)


def test_trials_are_the_same_in_portions_and_with_any_threads():
    bot = load_bot("hyper", "heuristic")
    states = np.stack([p.state for p in Position.opening("hyper", seed=1).plays()[:3]])
    measure = Outcomes(bot, bot)
    whole = trial_results(bot, measure, states, range(72), threads=1)
    parts = [trial_results(bot, measure, states, part, threads=3) for part in (range(50), range(50, 72))]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), whole)


def exact_value(position):
    """Expected points for the player of a race in which every play is made by the best of all plays, by recursion."""
    if position.over:
        return position.score(position.player)
    if position.owes:
        return max(exact_value(p) * (1 if p.player == position.player else -1) for p in position.plays())
    rolls = [(a, b) for a in range(1, 7) for b in range(1, 7)]
    return sum(exact_value(position.throw(a, b)) for a, b in rolls) / 36


def test_a_rollout_comes_to_the_exact_value_with_its_outcomes():
    position = Position.from_text("hyper 2:1 1:1 off:1 | 1:1 off:2 | turn=0 throws=6,6")
    game = GameState(Match(position.variant), position)
    bot = load_bot("hyper", "heuristic")
    data = roll_out(bot, game, RolloutSettings(trials=720))
    assert data["plays"] is None and data["decided"] is None
    assert abs(data["equity"] - exact_value(position)) <= 4 * data["se"] + 1e-9
    low, high = data["interval"]
    assert low <= data["equity"] <= high
    assert data["outcomes"]["win"] == pytest.approx(
        (1 + exact_value(position)) / 2, abs=4 * data["outcome_se"]["win"] + 1e-9
    )


def test_a_rollout_stops_when_the_best_play_is_decided():
    game = of("hyper 6:1 5:1 1:1 | 6:1 1:1 off:1 | turn=0 throws=6,6 dice=61")
    bot = load_bot("hyper", "heuristic")
    whole = roll_out(bot, game, RolloutSettings(trials=216, most=3))
    stopped = roll_out(bot, game, RolloutSettings(trials=216, most=3, until=0.99))
    assert whole["decided"] is None and {one["trials"] for one in whole["plays"]} == {216}
    assert stopped["plays"][0]["play"] == whole["plays"][0]["play"]
    assert stopped["decided"] is True and stopped["plays"][-1]["trials"] < 216
    for data in (whole, stopped):
        equities = [one["equity"] for one in data["plays"]]
        assert equities == sorted(equities, reverse=True)


def test_plays_are_set_aside_by_the_error_of_the_difference_and_wrongly_no_more_often_than_said():
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(400):
        dice = rng.normal(size=200)  # common to both plays: their values are far more uncertain than the difference
        points = np.stack([dice + 0.02 * rng.normal(size=200), dice + 0.02 * rng.normal(size=200) - 0.001])
        wrong += 0 not in still_open(points, 0.95)
    assert wrong <= 400 * 0.05
    assert still_open(np.stack([dice, dice - 0.1 + 0.02 * rng.normal(size=200)]), 0.95).tolist() == [0]


@pytest.mark.parametrize("settings", [{"trials": 1}, {"until": 1.0}, {"confidence": 0.3}, {"most": 0}, {"throws": -1}])
def test_a_rollout_that_makes_no_sense_is_refused(settings):
    with pytest.raises(BadOption):
        RolloutSettings(**settings)


# ---------------------------------------------------------------------------------------------- commands


def told(capsys, line):
    """The JSON that a command prints."""
    assert run([*line, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_analyse_prints_a_table_markdown_and_json(capsys):
    words = [
        "analyse",
        "hyper",
        "hyper 6:1 5:1 1:1 | 6:1 1:1 off:1 | turn=0 throws=6,6 dice=61",
        "--bot",
        "heuristic@1ply",
    ]
    data = told(capsys, words)
    assert data["bot"] == "heuristic@1ply" and data["outcomes"] is None and len(data["plays"]) > 1
    assert run([*words, "--markdown", "--most", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "|  | play | depth | equity | difference |" and lines[4].startswith(
        f"| 1 | {data['plays'][0]['play']} |"
    )
    assert len(lines) == 5
    assert run(words) == 0
    assert data["plays"][0]["play"] in capsys.readouterr().out


def test_rollout_prints_a_table_and_json(capsys):
    words = [
        "rollout",
        "hyper 6:1 5:1 1:1 | 6:1 1:1 off:1 | turn=0 throws=6,6 dice=61",
        "--trials",
        "36",
        "--most",
        "2",
    ]
    data = told(capsys, [*words, "--until", "0.9"])
    assert data["bot"] == "pretrained" and len(data["plays"]) == 2 and data["decided"] in (True, False)
    assert abs(data["outcomes"]["win"] + data["outcomes"]["lose"] - 1) < 1e-9
    assert run([*words, "--throws", "1"]) == 0
    assert data["plays"][0]["play"] in capsys.readouterr().out


def test_markdown_escapes_what_would_end_a_cell():
    assert markdown_table(["a", ">b"], [["1|2", "3"]]).splitlines()[1:] == ["|---|---:|", "| 1\\|2 | 3 |"]
