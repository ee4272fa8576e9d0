"""`nardy analyse` of the cube and of whole matches."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from nardy_rl.agents import load_bot
from nardy_rl.cube import GameState
from nardy_rl.errors import BadMatch
from nardy_rl.experiments import analyse_match
from nardy_rl.experiments.analyse_cube import cube_action
from nardy_rl.experiments.cli import run
from nardy_rl.match import Match
from nardy_rl.match_file import Record, match_text
from nardy_rl.position import Position
from nardy_rl.variants import parse_variant

MATCHES = Path(__file__).parent / "matches"
GAME = parse_variant("backgammon")


@pytest.fixture(scope="module")
def bot():
    return load_bot(GAME, "pretrained")


def opening(length=5):
    """A game whose first throw is 3-1, with the best play of it."""
    game = GameState(Match(GAME, length), Position.start(GAME, 0)).throw(3, 1)
    return [game, game.after("8/5 6/5")]


def game_with_blunders():
    """Player 1 plays 6-5 without his run or a sensible play, player 0 doubles too early, and player 1 drops that."""
    states = opening()
    states += [states[-1].throw(6, 5)]
    states += [states[-1].after("8/3 8/2")]
    states += [states[-1].double()]
    states += [states[-1].drop()]
    return states


def test_known_blunders_are_found(bot):
    states = game_with_blunders()
    data = analyse_match.analyse_match(bot, Record((tuple(states),), ("Ann", "Bob")))
    ann, bob = data["players"]
    plays = [one for one in data["decisions"] if one["kind"] == "play"]
    assert [(one["player"], one["played"]) for one in plays] == [(0, "8/5 6/5"), (1, "8/3 8/2")]
    assert plays[0]["error"] == 0 and plays[0]["best"] == plays[0]["played"]
    assert plays[1]["grade"] == "blunder" and plays[1]["best"].startswith("24/")
    assert bob["blunders"] >= 1 and bob["plays"] == 1 and bob["lost_by_plays"] == pytest.approx(plays[1]["error"])
    double, answer = (one for one in data["decisions"] if one["kind"] != "play")
    assert (double["player"], double["played"]) == (0, "double") and (answer["player"], answer["played"]) == (1, "drop")
    assert ann["blunders"] == (double["grade"] == "blunder")
    assert data["games"][0]["result"] == {"winner": 0, "points": 1, "how": "drop"}


def test_the_sums_are_those_of_the_decisions(bot):
    data = analyse_match.analyse_match(bot, Record((tuple(game_with_blunders()),), ("Ann", "Bob")))
    for number, player in enumerate(data["players"]):
        mine = [one for one in data["decisions"] if one["player"] == number]
        assert player["lost"] == pytest.approx(sum(one["error"] for one in mine))
        assert player["error_rate"] == pytest.approx(1000 * player["lost"] / len(mine))
        assert player["snowie_rate"] == pytest.approx(1000 * player["lost"] / 2)
        assert all(one["error"] >= 0 and one["grade"] == analyse_match.grade(one["error"]) for one in mine)


def test_luck_of_all_throws_is_nothing_on_the_average(bot):
    before = opening()[-1]
    found = []
    for high in range(1, 7):
        for low in range(1, high + 1):
            gained, worth = analyse_match.luck(bot, before, before.throw(high, low))
            found += [(gained, worth)] * (1 if high == low else 2)
    assert len(found) == 36 and sum(g for g, _ in found) == pytest.approx(0, abs=1e-6)
    assert sum(w for _, w in found) == pytest.approx(0, abs=1e-6)
    best = analyse_match.luck(bot, before, before.throw(6, 6))
    assert best[0] > 0.2


def test_a_missed_double_and_a_wrong_take_are_errors(bot):
    board = "6:5 5:5 4:5 | 9:5 6:5 5:5 | turn=0 throws=9,9"  # 75 pips to 100
    game = GameState.from_text(f"backgammon {board}")
    missed = next(analyse_match.cube_decisions(bot, game, False, None))
    assert missed["played"] == "no double" and missed["best"] == "double"
    assert missed["error"] == missed["cost"] > 0
    double, take = analyse_match.cube_decisions(bot, game, True, "take")
    assert double["error"] == 0 and take["best"] == "drop" and take["grade"] == "blunder"
    assert 0.5 < take["error"] < 1  # nearly two points are lost instead of one


def test_the_grades():
    found = [analyse_match.grade(error) for error in (0, 0.039, 0.04, 0.08, 0.159, 0.16, 3)]
    assert found == [None, None, "doubtful", "error", "error", "blunder", "blunder"]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "played.mat"
    path.write_text(match_text(Record((tuple(game_with_blunders()),), ("Ann", "Bob"))))
    return path


def test_the_command_tells_it_as_table_markdown_and_json(saved, capsys):
    words = ["analyse", str(saved), "--bot", "pretrained"]
    assert run([*words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["names"] == ["Ann", "Bob"] and data["match"] == 5 and len(data["decisions"]) == 4
    assert run(words) == 0
    table = capsys.readouterr().out
    assert "Snowie error rate" in table and "8/3 8/2" in table and "blunder" in table
    assert run([*words, "--markdown"]) == 0
    assert "| error rate, mEMG a decision |" in capsys.readouterr().out


def test_a_search_judges_as_well(bot, saved):
    record = analyse_match.read_record(saved, None, GAME)
    deep = load_bot(GAME, "pretrained@1ply")
    before, after = next(pair for pair in pairwise(record.games[0]) if pair[0].position.dice == (6, 5))
    net, searched = (analyse_match.play_decision(b, before, after) for b in (bot, deep))
    assert searched["grade"] == "blunder" and searched["error"] == pytest.approx(net["error"], abs=0.2)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["missing.mat"], "there is no match file 'missing.mat'"),
        (["classic", "{saved}"], "the file is of backgammon, not of classic"),
        (["{saved}", "--dice", "31"], "give nothing but the game before it, and no dice"),
    ],
)
def test_what_cannot_be_analysed_is_refused(words, reason, saved, capsys):
    assert run(["analyse", *(word.format(saved=saved) for word in words)]) == 2
    assert reason in capsys.readouterr().err


def test_a_file_that_is_no_match_is_refused(tmp_path, capsys):
    path = tmp_path / "noise.mat"
    path.write_bytes(bytes(range(256)) * 4)
    with pytest.raises(BadMatch):
        analyse_match.read_record(path, None, GAME)


def test_the_cube_of_a_position_is_told(bot, capsys):
    game = GameState.from_text("backgammon 6:5 5:5 4:5 | 6:10 5:4 4:1 | turn=0 throws=9,9")
    said = cube_action(bot, game)
    assert said["may_double"] and [one["action"] for one in said["actions"]] == [
        "no double", "double, take", "double, drop"
    ]  # fmt: skip
    assert run(["analyse", game.text, "--bot", "pretrained"]) == 0
    assert said["verdict"] in capsys.readouterr().out
    turned = cube_action(bot, GameState.from_text(f"{game.text} | cube=2 owner=0"))
    assert turned["verdict"].split(",")[0] in ("redouble", "no redouble", "too good to redouble")
    barred = cube_action(bot, GameState.from_text(f"{game.text} | cube=2 owner=1"))
    assert barred["verdict"] == "no double: he may not double" and barred["answer"] is None
