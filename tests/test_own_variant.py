"""A game of one's own, defined in a TOML file, works wherever a game does."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.agents.policy import Policy
from nardy_rl.cases import case_of_state
from nardy_rl.errors import BadOption, UnknownVariant
from nardy_rl.experiments.cli import run
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS, parse_variant, read_variant, variant_definition, variant_text

TOML = """
id = "three-men"
name = "Three men, mine"
base = "crazy-v1"
start = "24:3"
pairs = []
block = "sport"
score = "oin/mars"
koks = true
"""


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    """The variant, whose file three-men.toml lies in the present folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "three-men.toml").write_text(TOML)
    return parse_variant("three-men.toml")


def answer(capsys, *words):
    """What a command prints with --json."""
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_its_switches_are_those_of_the_file_and_of_its_base(own):
    assert (own.id, own.name, own.source, own.native) == ("three-men", "Three men, mine", "user", "")
    assert (own.start, own.pairs, own.block, own.koks, own.checkers) == ("24:3", (), "sport", True, 3)
    assert (own.doubles, own.completion, own.extra) == ("progression", "ping-pong", "unlimited")


def test_written_out_it_is_one_word_that_is_read_back(own):
    word = variant_definition(own)
    assert word == "three-men@crazy-v1:name=Three+men%2C+mine,start=24:3,pairs=none,block=sport,koks=true"
    assert parse_variant(word) == own
    assert variant_text(own) == "three-men"


@pytest.mark.parametrize("name", VARIANTS)
def test_every_game_is_read_back_from_its_definition_under_another_name(name):
    game = VARIANTS[name]
    for variant in (game, replace(game, id="own"), replace(game, id="own", name="a,b=c:d", native="")):
        assert parse_variant(variant_definition(variant)) == variant


def test_a_position_of_it_is_read_with_the_game_and_without_its_file(own):
    position = Position.start(own).throw(2, 2)
    assert position.text == "three-men 24:3 | 24:3 | turn=0 throws=1,0 dice=22 owed=2x4,3x4,4x4,5x4,6x4"
    assert Position.from_text(position.text, own) == position
    written = position.text.replace("three-men", variant_definition(own))
    assert Position.from_text(written) == Position.from_text(written, own) == position
    for after in position.plays():
        assert position.after(position.move_text(after)) == after


def test_rules_and_perft(capsys):
    told = answer(capsys, "rules", "three-men.toml")
    assert told["id"] == "three-men" and "Three men, mine" in told["text"]
    counted = answer(capsys, "perft", "three-men.toml", "--depth", "2")
    assert counted["variant"] == "three-men" and counted["total"] > 100


def test_stats(capsys):
    told = answer(capsys, "stats", "three-men.toml", "--games", "20")
    assert told["variant"] == "three-men"


def test_check(own, capsys, tmp_path):
    before = Position.start(own).throw(3, 1)
    position, continuation = case_of_state(own, before.state)
    plays, nexts = [], []
    for after in before.plays():
        board, following = case_of_state(own, after.state)
        plays.append(board | {"used": [], "next": len(nexts)})
        nexts.append(following)
    case = {"id": "1", "variant": variant_definition(own), "options": {}, "state": position | continuation}
    (tmp_path / "own.jsonl").write_text(json.dumps(case | {"plays": plays, "nexts": nexts}))
    assert answer(capsys, "check", "own.jsonl") == {"files": 1, "cases": 1, "differences": []}


def test_convert(own, capsys):
    text = Position.start(own).throw(3, 1).text
    assert answer(capsys, "convert", "three-men.toml", text)["forms"]["text"] == text


def test_evaluate(capsys):
    told = answer(capsys, "evaluate", "three-men.toml", "--a", "heuristic", "--b", "random", "--games", "40")
    assert (told["variant"], told["games"]) == ("three-men", 40)


def test_bench_engine(capsys):
    lines = answer(capsys, "bench", "engine", "--variant", "three-men.toml", "--seconds", "0.01")["results"]
    assert {line["variant"] for line in lines} == {"three-men"}
    assert "positions_per_s" in {line["metric"] for line in lines}


def test_play(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n" * 500))
    report = answer(capsys, "play", "three-men.toml", "--bot", "random", "--seed", "3")
    assert report["finished"] is True and report["variant"] == "three-men"


def test_a_run_trains_goes_on_without_the_file_and_its_policy_plays(own, capsys, tmp_path):
    small = ["--set", "hidden=8", "--set", "hidden2=0", "--set", "final_games=20", "--set", "strength_minutes=0"]
    told = answer(capsys, "train", "three-men.toml", "--games", "60", "--threads", "1", "--out", "run", *small)
    assert told["games"] >= 60
    config = json.loads((tmp_path / "run" / "config.json").read_text())["config"]
    assert parse_variant(config["variant"]) == own
    (tmp_path / "three-men.toml").unlink()
    assert Policy.load("run").variant == own
    assert answer(capsys, "train", "--resume", "run")["policy"] == told["policy"]
    position = Position.start(own).throw(3, 1)
    assert load_bot(own, "run").choose(position) in position.plays()


def test_a_run_has_a_folder_of_the_games_name(own, capsys, tmp_path):
    small = ["--set", "hidden=8", "--set", "hidden2=0", "--set", "final_games=0", "--set", "strength_minutes=0"]
    told = answer(capsys, "train", "three-men.toml", "--games", "10", "--threads", "1", *small)
    assert told["run"].endswith("three-men-s1-1")


def test_a_start_option_is_its_own_too():
    assert parse_variant("three-men@crazy-v1:start=24:2").checkers == 2


# ---------------------------------------------------------------------------------------- files that are refused


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ('id = "classic"', BadOption, "give your game another id"),
        ('id = "two words"', BadOption, "must be one word"),
        ("id = 7", BadOption, "id=7"),
        ('base = "clasic"', UnknownVariant, "did you mean 'classic'?"),
        ('colour = "red"', BadOption, "unknown switch 'colour'"),
        ('source = "000"', BadOption, "unknown switch 'source'"),
        ("start = 24", BadOption, "start=24 must be a text"),
        ("koks = 1", BadOption, "koks=1 must be true or false"),
        ("calm = true", BadOption, "calm=True must be a whole number"),
        ("pairs = 3", BadOption, "pairs=3 must be a list of doubles"),
        ("pairs = [7]", BadOption, "pairs=[7] must be a list of numbers from 1 to 6"),
        ('head = "elbow"', BadOption, "head=elbow must be one of free, turn, stage, runner"),
        ("parallel = true", BadOption, "parallel play and family='long' go together"),
        ("id = ", UnknownVariant, "is no TOML file"),
    ],
)
def test_a_file_that_defines_no_game_is_refused_with_its_name(tmp_path, text, kind, words):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(kind) as caught:
        read_variant(path)
    assert str(path) in str(caught.value) and words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_same_seed_gives_the_same_games_of_it(own):
    one, other = (Position.opening(own, seed=4, game=2) for _ in range(2))
    assert one == other and np.array_equal(one.state, other.state)
