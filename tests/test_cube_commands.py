"""`nardy play` with the cube and in matches, the bot's rule for the cube, and `nardy convert`."""

import io
import json

import pytest

from nardy_rl.agents import doubling, load_bot
from nardy_rl.cube import GameState
from nardy_rl.errors import BadOption
from nardy_rl.experiments.cli import run
from nardy_rl.forms import FORMS, read_state, write_state
from nardy_rl.ids import position_id
from nardy_rl.match_file import read_match
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS

EVEN = "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0 throws=1,1"
AHEAD = "6:5 5:5 4:5 | 12:5 10:5 8:5 | turn=0 throws=9,9"  # player 0 leads by half of his pips, past all contact


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def played(monkeypatch, capsys, typed, *words):
    """Play with this input; returns the report and what the person saw."""
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert run(["play", *words, "--json"]) == 0
    out, err = capsys.readouterr()
    return json.loads(out), err


# ------------------------------------------------------------------------------------------------- play


def test_a_match_is_played_to_its_length_and_saved(monkeypatch, capsys, tmp_path):
    typed = "double\ntake\n1\n" * 3000
    words = ["hyper", "--match", "5", "--bot", "pips", "--seed", "3", "--save", "game.mat"]
    report, seen = played(monkeypatch, capsys, typed, *words)
    assert report["finished"] and report["match"] == 5
    assert max(report["points"]) >= 5 > min(report["points"])
    assert sum(game["points"] for game in report["games"]) == sum(report["points"])
    assert report["score"] == report["points"][0] - report["points"][1]
    assert f"You {'win' if report['score'] > 0 else 'lose'} the match" in seen
    assert {"double", "take"} <= {play["play"] for play in report["plays"]}
    record = read_match((tmp_path / "game.mat").read_text())
    assert [states[-1].result._asdict() for states in record.games] == report["games"]
    assert record.names == ("You", "Bot") and record.games[-1][-1].next_match.over


def test_games_without_a_cube_are_played_to_points(monkeypatch, capsys):
    report, seen = played(
        monkeypatch, capsys, "1\n" * 3000, "tbilisi", "--match", "2", "--bot", "random", "--seed", "3"
    )
    assert report["finished"] and max(report["points"]) >= 2 and "cube" not in seen
    assert {game["how"] for game in report["games"]} == {"play"}


def test_a_person_doubles_takes_drops_and_resigns(monkeypatch, capsys):
    words = ["backgammon", "--money", "--bot", "random", "--seed", "3"]
    report, seen = played(monkeypatch, capsys, "1\nthrow\n1\nnonsense\ndouble\nresign 2\n", *words)
    assert "'nonsense' is not possible now: throw (or just Enter), double or resign." in seen
    assert "The bot takes." in seen and "The bot accepts." in seen and "You lose 4 points." in seen
    assert report["games"] == [{"winner": 1, "points": 4, "how": "resign"}]
    assert (report["resigned"], report["score"], report["match"]) == (True, -4, 0)


def test_what_cannot_be_resigned_is_said_and_asked_again(monkeypatch, capsys):
    typed = "resign 7\nresign x\nhelp\nresign\n"
    report, seen = played(
        monkeypatch, capsys, typed, "backgammon:beavers=true", "--money", "--bot", "pips", "--seed", "3"
    )
    for words in (
        "cannot resign 7: a game is worth 1, 2, 3 points",
        "resign is followed by the points",
        "beaver",
        "throws",
    ):
        assert words in seen
    assert report["games"] == [{"winner": 1, "points": 1, "how": "resign"}]


@pytest.mark.parametrize(("answer", "result"), [("drop", {"winner": 1, "points": 1, "how": "drop"}), ("take", None)])
def test_a_person_answers_the_bots_double(answer, result, monkeypatch, capsys):
    monkeypatch.setattr(doubling, "doubles", lambda bot, game: True)
    typed = f"1\nthrow\nperhaps\n{answer}\n"
    report, seen = played(monkeypatch, capsys, typed, "backgammon", "--money", "--bot", "pips", "--seed", "3")
    assert "The bot doubles to 2." in seen and "'perhaps' is no answer to a double: take or drop." in seen
    assert report["games"] == ([result] if result else []) and report["finished"] is bool(result)
    assert [play["play"] for play in report["plays"] if play["play"] in ("double", answer)] == ["double", answer]


def test_a_bot_that_does_not_accept_plays_on(monkeypatch, capsys):
    monkeypatch.setattr(doubling, "accepts", lambda bot, game: False)
    report, seen = played(
        monkeypatch, capsys, "resign\nquit\n", "backgammon", "--money", "--bot", "pips", "--seed", "3"
    )
    assert "does not accept so little" in seen and not report["finished"] and report["score"] is None


def test_a_plain_game_has_no_cube(monkeypatch, capsys):
    report, seen = played(monkeypatch, capsys, "1\n" * 600, "backgammon:jacoby=true", "--bot", "pips", "--seed", "2")
    assert report["finished"] and "double>" not in seen and "match" not in report


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("classic --money", "--money needs a game with a cube, and classic has none: take --match N"),
        ("backgammon --money --match 3", "--money and --match 3: give one of them"),
        ("backgammon --match 0", "--match 0 must be a whole number of at least 1"),
        ("crazy --match 3 --save x.mat", "a match file cannot hold games of crazy"),
    ],
)
def test_what_cannot_be_played_is_refused(words, reason, capsys):
    assert run(["play", *words.split()]) == 2
    assert reason in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------- the bot's rule


def state(board, words="", game="backgammon"):
    return GameState.from_text(f"{game} {board}{' | ' + words if words else ''}")


@pytest.mark.parametrize("name", ["random", "pips"])
def test_bots_without_chances_judge_the_cube_by_the_race(name):
    bot = load_bot(VARIANTS["backgammon"], name)

    def answer(board):
        return doubling.answer_to_double(bot, state(board).double())

    assert not doubling.doubles(bot, state(EVEN)) and answer(EVEN) == "take"
    assert doubling.doubles(bot, state(AHEAD)) and answer(AHEAD) == "drop"
    assert not doubling.doubles(bot, state(AHEAD, "match=3 score=2,0"))
    assert doubling.accepts(bot, state(EVEN).resign(1, 1))


def test_a_trained_policy_judges_the_cube_by_its_chances():
    bot = load_bot(VARIANTS["backgammon"], "pretrained")
    sure = "2:2 off:13 | 24:2 6:13 | turn=0 throws=9,9"
    assert doubling.expected(bot, state(sure), 0) > 1.2 > -1.2 > doubling.expected(bot, state(sure), 1)
    assert not doubling.doubles(bot, state(sure))  # it plays on for the gammon
    assert doubling.answer_to_double(bot, state(sure).double()) == "drop"
    assert not doubling.accepts(bot, state(sure).resign(1, 1)) and doubling.accepts(bot, state(sure).resign(3, 1))
    assert doubling.expected(bot, state(sure + " dice=21"), 0) > 1.2
    assert -0.3 < doubling.expected(bot, state(EVEN), 1) < 0


# ------------------------------------------------------------------------------------------------- convert

TEXT = f"backgammon {EVEN} | match=7 score=2,3 cube=2 owner=0 double"
LINES = {
    "text": TEXT,
    "position-id": "4HPwATDgc/ABMA",
    "match-id": "ARngACAAGAAE",
    "gnubg-id": "4HPwATDgc/ABMA:ARngACAAGAAE",
    "xgid": "XGID=-b----E-C---eE---c-e----B-:1:-1:-1:D:3:2:0:7:6",
    "fibs": "board:X:O:7:3:2:0:2:0:0:0:0:-5:0:-3:0:0:0:5:-5:0:0:0:3:0:5:0:0:0:0:-2:0:1:0:0:0:0:2:0:1:1:-1:-1:0:25:"
    "0:0:0:0:0:0:0:1",
}


def converted(capsys, *words):
    assert run(["convert", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("form", ["text", "gnubg-id", "xgid", "fibs"])
def test_every_whole_form_is_recognised_and_gives_all_others(form, capsys):
    found = converted(capsys, "backgammon", LINES[form])
    assert found["from"] == form and found["variant"] == "backgammon"
    assert {name: found["forms"][name] for name in LINES} == LINES
    assert "O doubles to 4, X is to answer." in found["forms"]["picture"]
    without = LINES[form].removeprefix("XGID=")  # begins like an option
    for name in FORMS:
        assert converted(capsys, "backgammon", without, "--to", name)["forms"] == {name: found["forms"][name]}


def test_a_position_id_is_enough(capsys):
    start = Position.start("hyper")
    found = converted(capsys, "hyper", position_id(start))
    assert found["from"] == "position-id" and found["forms"]["text"] == f"{start.text} throws=1,1"
    assert run(["convert", "backgammon", LINES["position-id"], "--to", "picture"]) == 0
    assert "O: 167 pips, 0 off" in capsys.readouterr().out


def test_forms_that_cannot_say_a_position_are_null_or_refused(capsys):
    text = "classic 24:15 | 24:15 | turn=0 | match=3 score=1,0"
    forms = converted(capsys, "classic", text)["forms"]
    assert {name for name, line in forms.items() if line is None} == set(FORMS) - {"text", "picture"}
    assert forms["text"] == text
    assert run(["convert", "classic", text]) == 0
    assert "xgid         (cannot say it)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["backgammon", "hello"], "'hello' is no position: it takes a text such as 'backgammon 24:2"),
        (["backgammon", ""], "'' is no position"),
        (["backgammon", LINES["match-id"]], "is no position"),
        (["backgammon", LINES["position-id"], "--to", "xgdi"], "there is no form 'xgdi'; did you mean 'xgid'?"),
        (["backgammon", "4HPwATDgc/ABM!"], "'!' is none of the letters"),
        (["backgammon", "hyper 24:1 23:1 22:1 | 24:1 23:1 22:1 | turn=0"], "the text is of hyper, not of backgammon"),
        (["classic", LINES["xgid"]], "an XGID cannot say a position of classic"),
        (
            ["classic", "classic 24:15 | 24:15 | turn=0", "--to", "fibs"],
            "a FIBS board cannot say a position of classic",
        ),
    ],
)
def test_what_cannot_be_converted_is_refused(words, reason, capsys):
    assert run(["convert", *words]) == 2
    assert reason in capsys.readouterr().err


def test_a_form_that_does_not_exist_is_refused_from_python():
    with pytest.raises(BadOption, match="there is no form 'gnu'"):
        write_state(read_state(VARIANTS["backgammon"], TEXT)[1], "gnu")


def test_a_users_own_game_is_converted(tmp_path, capsys):
    (tmp_path / "mine.toml").write_text('id = "mine"\nname = "Mine"\nstart = "24:2 13:5 8:3 6:5"\n')
    found = converted(capsys, "mine.toml", LINES["xgid"])
    assert found["forms"]["text"] == TEXT.replace("backgammon", "mine")
    assert converted(capsys, "mine.toml", found["forms"]["text"])["forms"]["xgid"] == LINES["xgid"]
