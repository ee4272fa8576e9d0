"""Opening plays: throws and starts of every game, figures, commands, and the tables of the documentation."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.agents.policy import pretrained_for
from nardy_rl.dice import ROLL_WEIGHTS
from nardy_rl.errors import BadOption
from nardy_rl.experiments import compare_openings
from nardy_rl.experiments.analyse import value_bot
from nardy_rl.experiments.cli import run
from nardy_rl.experiments.openings import opening_rows, opening_starts, opening_throws, openings, then_text
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS, parse_variant

GAMES = Path(__file__).resolve().parent.parent / "docs" / "games"
FIXED = [name for name, variant in VARIANTS.items() if not variant.random_start]
needs_gnubg = pytest.mark.skipif(
    importlib.util.find_spec("gnubg_nn") is None, reason="gnubg-nn is missing: pip install 'nardy-rl[gnubg]'"
)


@pytest.mark.parametrize("game", VARIANTS)
def test_the_throws_are_those_that_games_begin_with(game):
    variant = VARIANTS[game]
    seen = {Position.opening(variant, seed=1, game=number).dice for number in range(400)}
    assert seen == set(opening_throws(variant))


@pytest.mark.parametrize("game", FIXED)
def test_the_starts_are_those_that_games_begin_with(game):
    variant = VARIANTS[game]
    seen = set()
    for number in range(60):
        opening = Position.opening(variant, seed=1, game=number)
        side = opening.counts[opening.player]
        seen.add((tuple(side), tuple(opening.counts[1 - opening.player])))
    starts = [begin for _, begin in opening_starts(variant)]
    assert {(tuple(p.counts[0]), tuple(p.counts[1])) for p in starts} == seen and len(starts) == len(seen)
    assert all(p.player == p.starter == 0 and not p.owes for p in starts)
    assert tuple(starts[0].counts[0]) == variant.layouts[0]


def test_a_start_that_is_drawn_has_no_opening_plays():
    for game in set(VARIANTS) - set(FIXED):
        with pytest.raises(BadOption, match="drawn at random"):
            opening_starts(VARIANTS[game])


def test_the_side_of_the_starter_follows_the_option():
    layouts = VARIANTS["snake"].layouts
    for sides, number in (("first", 0), ("second", 1)):
        ((_, begin),) = opening_starts(parse_variant(f"snake:sides={sides}"))
        assert tuple(begin.counts[0]) == layouts[number]


@pytest.mark.parametrize("game", FIXED)
def test_every_throw_has_its_best_play_and_goes_on_to_the_end(game):
    variant = VARIANTS[game]
    bot = load_bot(variant, "heuristic")
    data = openings(bot, most=3)
    assert data["variant"] == game and data["bot"] == "heuristic"
    for start, (_, begin) in zip(data["starts"], opening_starts(variant), strict=True):
        assert [tuple(row["dice"]) for row in start["throws"]] == opening_throws(variant)
        for row in start["throws"]:
            position = begin.throw(*row["dice"])
            after = position.after(row["plays"][0]["play"])
            values = [-v if p.player else v for p in position.plays() for v in bot.values(p.state[None])]
            assert row["plays"][0]["equity"] == pytest.approx(max(values), abs=1e-5)
            assert len(row["plays"]) == min(3, len(values)) and row["choices"] == len(values)
            for more in row["then"]:
                assert after.owes and after.player == more["player"]
                after = after.after(more["play"])
            assert not after.owes


def test_the_mean_weighs_throws_as_they_come():
    start = openings(load_bot("classic", "heuristic"))["starts"][0]
    equities = [row["plays"][0]["equity"] for row in start["throws"]]
    assert start["equity"] == pytest.approx(float(np.dot(equities, ROLL_WEIGHTS)), abs=1e-6)
    start = openings(load_bot("backgammon", "heuristic"))["starts"][0]
    assert start["equity"] == pytest.approx(np.mean([row["plays"][0]["equity"] for row in start["throws"]]))


def test_a_double_that_goes_on_is_told_to_its_end():
    start = openings(load_bot("crazy-v1", "heuristic"))["starts"][0]
    heads, rows = opening_rows(start)
    assert heads[:3] == ["throw", "best play", "and then"]
    doubles = {row["dice"][0]: row for row in start["throws"] if len(set(row["dice"])) == 1}
    assert len(doubles[2]["then"]) >= 4 and not any(row["then"] for row in start["throws"] if len(set(row["dice"])) > 1)
    assert "X " in then_text(doubles[6]) and "owes" not in then_text(doubles[6])
    assert all(len(row) == len(heads) for row in rows)


def test_a_search_looks_as_deep_into_all_plays_that_are_listed():
    data = openings(value_bot(VARIANTS["backgammon"], "pretrained@1ply"), most=4)
    for row in data["starts"][0]["throws"]:
        assert [one["plies"] for one in row["plays"]] == [1] * 4
        equities = [one["equity"] for one in row["plays"]]
        assert equities == sorted(equities, reverse=True)
        assert [one["difference"] for one in row["plays"]] == pytest.approx([e - equities[0] for e in equities])
        wins = [one["outcomes"]["win"] for one in row["plays"]]
        assert all(0.3 < win < 0.7 for win in wins)


def test_the_command_prints_tables_markdown_and_json(capsys):
    assert run(["openings", "hyper", "--bot", "heuristic", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert set(data) == {"variant", "bot", "starts"}
    assert set(data["starts"][0]) == {"side", "position", "equity", "throws"}
    assert run(["openings", "hyper", "--bot", "heuristic", "--md"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("hyper, by heuristic") and text.count("\n| ") == 16
    assert run(["openings", "snake", "--bot", "heuristic"]) == 0
    text = capsys.readouterr().out
    assert "starter has 24:2 13:5 8:3 6:5" in text and "starter has bar:9" in text
    assert run(["openings", "randgammon-1"]) == 2
    assert "drawn at random" in capsys.readouterr().err
    assert run(["openings", "hyper", "--bot", "random"]) == 2
    assert "does not value positions" in capsys.readouterr().err


# ---------------------------------------------------------------------------------------------- the documentation


def test_the_tables_are_of_the_policies_that_are_shipped():
    tables = json.loads((GAMES / "openings.json").read_text(encoding="utf-8"))["games"]
    policies = {name: pretrained_for(VARIANTS[name]) for name in FIXED}
    digests = {name: policy.digest for name, policy in policies.items() if policy is not None}
    assert {name: told["policy"] for name, told in tables.items()} == digests, "run  python tools/opening_tables.py"
    for name, told in tables.items():
        variant = VARIANTS[name]
        assert told["variant"] == name and told["bot"] == f"pretrained@{told['plies']}ply"
        assert told["command"] == f"nardy openings {name} --bot {told['bot']}"
        assert len(told["starts"]) == len(opening_starts(variant))
        for start in told["starts"]:
            assert [tuple(row["dice"]) for row in start["throws"]] == opening_throws(variant)
        page = (GAMES / f"{name}.md").read_text(encoding="utf-8")
        assert "\n## Opening plays\n" in page and told["command"] in page


# ---------------------------------------------------------------------------------------------- gnubg


@needs_gnubg
def test_thirteen_of_fifteen_opening_plays_and_more_are_gnubgs():
    data = compare_openings.compare(VARIANTS["backgammon"], "pretrained@1ply")
    assert data["throws"] == 15 and data["agree"] >= 13
    assert data["agree"] == sum(row["ours"] == row["gnubg"] for row in data["choices"])
    for row in data["choices"]:
        for key in ("ours_loses_by_gnubg", "gnubg_loses_by_us"):
            assert row[key] == 0 if row["agree"] else row[key] > -1e-4
    mean = np.mean([row["ours_loses_by_gnubg"] for row in data["choices"]])
    assert data["loss_by_gnubg"] == pytest.approx(mean)


@needs_gnubg
def test_gnubgs_equities_are_of_the_right_player():
    position = Position.start("backgammon").throw(3, 1)
    gnubg = compare_openings.GnubgBot(VARIANTS["backgammon"])
    value = -compare_openings.gnubg_values(gnubg, gnubg.choose(position).state[None])[0]
    assert position.move_text(gnubg.choose(position)) == "8/5 6/5" and 0.1 < value < 0.25


@needs_gnubg
def test_the_comparison_writes_its_page(tmp_path, capsys):
    page = tmp_path / "openings.md"
    assert compare_openings.main(["backgammon", "--page", str(page)]) == 0
    games = json.loads(capsys.readouterr().out)["games"]
    assert [one["variant"] for one in games] == ["backgammon"]
    text = page.read_text(encoding="utf-8")
    assert text.count("\n| 6-5 |") == 2 and f"{games[0]['agree']} of 15 agree" in text
    assert pretrained_for(VARIANTS["backgammon"]).digest in text


@needs_gnubg
def test_a_game_that_gnubg_cannot_play_is_refused(capsys):
    assert {v.id for v in compare_openings.playable()} >= {"backgammon"}
    with pytest.raises(SystemExit) as refused:
        compare_openings.main(["plakoto"])
    assert refused.value.code == 2 and "gnubg" in capsys.readouterr().err
