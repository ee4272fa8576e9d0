"""The command line: what it prints, what it refuses and how, and that it writes nothing when it refuses."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from nardy_rl.experiments.cli import cli, run
from nardy_rl.variants import VARIANTS

ROOT = Path(__file__).resolve().parent.parent
CASES = sorted((ROOT / "tests" / "cases").glob("*.jsonl"))


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answer(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> Any:
    """What a command prints with --json."""
    assert run([*words, "--json"]) == status
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return json.loads(out)


# ------------------------------------------------------------------------------------------------- help


@pytest.mark.parametrize("name", cli.commands)
def test_the_help_of_every_command_ends_with_an_example_that_is_understood(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert "--json" in text
    example = text.partition("Example:\n")[2].strip()
    program, command, *words = shlex.split(example)
    assert (program, command) == ("nardy", name)
    cli.commands[name].make_context(name, words, parent=click.Context(cli, info_name="nardy"))


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from nardy_rl.experiments.cli import run; run(['--help']); run(['train', '--help']);"
        "print(sorted({'numpy', 'numba', 'torch', 'rich', 'tensorboard'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == "[]"
    assert "train" in done.stdout


def test_nardy_alone_shows_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    assert "doctor" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------- refusals

BAD_CASE = '{"id": "x", "variant": "classic", "options": {}, "state": {"player": 7}, "nexts": [], "plays": []}'

REFUSED = [
    ("trian backgammon", ["'trian'", "did you mean 'train'"]),
    ("train", ["VARIANT", "nardy train backgammon"]),
    ("train backgamon --minutes 5", ["'backgamon'", "did you mean 'backgammon'", "nardy variants"]),
    ("train backgammon --minutes -5", ["--minutes -5", "more than 0"]),
    ("train backgammon --minutes nan", ["--minutes nan", "more than 0"]),
    ("train backgammon --minutes five", ["--minutes five", "a number"]),
    ("train backgammon --games 0", ["--games 0", "at least 1"]),
    ("train backgammon --games 2.5", ["--games 2.5", "whole number"]),
    ("train backgammon --threads 0", ["--threads 0", "at least 1"]),
    ("train backgammon --seed -1", ["--seed -1", "at least 0"]),
    ("train backgammon --gmaes 5", ["--gmaes", "did you mean '--games'"]),
    ("train backgammon --set hiden=3", ["'hiden'", "did you mean 'hidden'"]),
    ("train backgammon --set hidden", ["--set hidden", "KEY=VALUE"]),
    ("train backgammon --set hidden=many", ["hidden='many'", "whole number"]),
    ("train backgammon --config nowhere.toml", ["nowhere.toml"]),
    ("train backgammon --games 10 --init nowhere.safetensors", ["nowhere.safetensors"]),
    ("train backgammon --games 10 --init rubbish", ["rubbish"]),
    ("train backgammon --games 10 --out rubbish/run", ["rubbish/run", "--out"]),
    ("train backgammon --games 10 --out full", ["full", "--out"]),
    ("train --resume nowhere", ["nowhere", "no run folder"]),
    ("train --resume full", ["full", "no run folder"]),
    ("train backgammon --resume full", ["--resume full", "nothing else"]),
    ("rules classic:blok=sport", ["'blok'", "did you mean 'block'"]),
    ("rules classic:block=sprot", ["block=sprot", "did you mean 'sport'"]),
    ("rules classic:block", ["'block'", "NAME=VALUE"]),
    ("rules backgammon:koks=true", ["backgammon", "koks", "needs score"]),
    ("rules nowhere.toml", ["nowhere.toml"]),
    ("rules rubbish.toml", ["rubbish.toml", "TOML"]),
    ("rules", ["VARIANT", "--help"]),
    ("perft hyper --depth 0", ["--depth 0", "at least 1"]),
    ("perft hyper", ["--depth", "--help"]),
    ("check nowhere.jsonl", ["nowhere.jsonl"]),
    ("check full", ["full"]),
    ("check rubbish", ["rubbish:1"]),
    ("check bad.jsonl", ["bad.jsonl:1", "player is 7"]),
    ("check cut.jsonl", ["cut.jsonl:1"]),
    ("evaluate hyper --a random --b rendom", ["'rendom'", "did you mean 'random'"]),
    ("evaluate hyper --a rubbish --b random", ["rubbish"]),
    ("evaluate hyper --a full --b random", ["full", "policy.safetensors"]),
    ("evaluate hyper --a nobody.at:home --b random", ["nobody.at"]),
    ("evaluate hyper --a random@2ply --b random", ["random@2ply", "does not value"]),
    ("evaluate hyper --a random", ["--b", "--help"]),
    ("evaluate hyper --a random --b random --games 0", ["--games 0", "at least 1"]),
    ("rollout 4HPwATDgc/ABMA --throws -1", ["--throws -1", "at least 0"]),
    ("evaluate hyper --a random --b random --luck random", ["--luck random", "none"]),
    ("bench enigne", ["'enigne'", "did you mean 'engine'"]),
    ("bench engine --seconds 0", ["--seconds 0", "more than 0"]),
    ("play hyper --bot nobody", ["'nobody'"]),
    ("play hyper --seat 3", ["--seat", "'3'", "'0', '1'"]),
    ("variants now", ["now", "--help"]),
    ("--verison", ["--verison", "did you mean '--version'"]),
]


@pytest.mark.parametrize(("line", "wanted"), REFUSED, ids=[line for line, _ in REFUSED])
def test_bad_input_gets_one_sentence_and_exit_status_2_and_writes_nothing(
    line: str, wanted: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rubbish").write_text("neither a policy nor a case nor a folder")
    (tmp_path / "rubbish.toml").write_text("id = ")
    (tmp_path / "bad.jsonl").write_text(BAD_CASE + "\n")
    (tmp_path / "cut.jsonl").write_text(BAD_CASE[:60] + "\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "something").write_text("of somebody's")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert run(shlex.split(line)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1 and err.startswith("nardy: ") and "Traceback" not in err
    for words in wanted:
        assert words in err
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_mistake_on_the_real_command_line_ends_without_a_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nardy_rl.experiments.cli", "rules", "clasic"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "nardy: unknown variant 'clasic'; did you mean 'classic'?; `nardy variants` lists all\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{shlex.quote(sys.executable)} -m nardy_rl.experiments.cli rules classic | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# ------------------------------------------------------------------------------------------------- answers


def test_variants_lists_every_game(capsys: pytest.CaptureFixture[str]) -> None:
    listed = answer(capsys, "variants")["variants"]
    assert [game["id"] for game in listed] == list(VARIANTS)
    assert {"id", "name", "family", "source", "checkers", "cube"} <= set(listed[0])
    assert run(["variants"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n{name} " in shown and v.native in shown for name, v in VARIANTS.items())


def test_perft_counts_the_start_of_backgammon(capsys: pytest.CaptureFixture[str]) -> None:
    counted = answer(capsys, "perft", "backgammon", "--depth", "1", "--divide")
    assert (counted["variant"], counted["depth"], counted["total"], counted["unique"]) == ("backgammon", 1, 447, 406)
    assert counted["divide"]["31"] == 16
    assert run(["perft", "backgammon", "--depth", "1"]) == 0
    assert "447" in capsys.readouterr().out


def test_check_finds_no_difference_in_good_cases_and_says_which_case_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = next(line for line in CASES[0].read_text().splitlines() if len(json.loads(line)["plays"]) > 2)
    (tmp_path / "good.jsonl").write_text(first + "\n")
    assert answer(capsys, "check", "good.jsonl") == {"files": 1, "cases": 1, "differences": []}
    case = json.loads(first)
    lost = case["plays"].pop()
    (tmp_path / "less.jsonl").write_text(json.dumps(case) + "\n")
    found = answer(capsys, "check", "good.jsonl", "less.jsonl", status=1)
    (difference,) = found["differences"]
    assert (found["files"], found["cases"], difference["id"], difference["missing"]) == (2, 2, case["id"], [])
    assert [play["board"] for play in difference["extra"]] == [lost["board"]]
    assert run(["check", "less.jsonl"]) == 1
    assert case["id"] in capsys.readouterr().out


def test_evaluate_reports_a_duel_and_a_gate(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["evaluate", "hyper", "--a", "pips", "--b", "random", "--games", "200", "--luck", "none"]
    told = answer(capsys, *words)
    assert (told["variant"], told["a"], told["b"], told["games"]) == ("hyper", "pips", "random", 200)
    assert told["ppg"] == told["ppg_raw"] > 0 and told["se"] > 0 and 100 < told["wins"] <= 200
    assert told["games_per_s"] > 0
    assert answer(capsys, *words, "--at-least", "0")["passed"] is True
    assert answer(capsys, *words, "--at-least", "0.99", status=1)["passed"] is False
    assert run(words) == 0
    assert "pips" in capsys.readouterr().out


def test_evaluate_takes_a_bot_from_a_module_in_the_present_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my_own_bot.py").write_text(
        "class First:\n"
        "    def __init__(self, variant):\n        pass\n"
        "    def choose(self, position):\n        return 0\n"
    )
    told = answer(capsys, "evaluate", "hyper", "--a", "my_own_bot:First", "--b", "pips", "--games", "4")
    assert told["a"] == "my_own_bot:First" and told["games"] == 4


def test_a_benchmark_takes_named_games_or_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []
    monkeypatch.setattr("nardy_rl.experiments.bench.bench_engine", lambda games, **_: asked.append(games) or [])
    for words in ([], ["--variant", "hyper"], ["--variant", "all"]):
        assert run(["bench", "engine", "--json", *words]) == 0
    assert asked == [None, [VARIANTS["hyper"]], list(VARIANTS.values())]


def test_doctor_finds_this_installation_whole_but_for_what_is_optional(capsys: pytest.CaptureFixture[str]) -> None:
    told = answer(capsys, "doctor")
    assert told["ok"] is True
    checks = {check["name"]: check for check in told["checks"]}
    assert {"python", "numpy", "torch", "gnubg-nn", "kernels compile", "games are played"} <= set(checks)
    assert all(check["ok"] for check in checks.values() if check["needed"])


# ------------------------------------------------------------------------------------------------- play


def played(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, *words: str) -> Any:
    """Play with this input; returns the report and what the person saw."""
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert run(["play", *words, "--json"]) == 0
    out, err = capsys.readouterr()
    return json.loads(out), err


def test_a_game_can_be_played_to_its_end_from_piped_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report, seen = played(monkeypatch, capsys, "1\n" * 500, "hyper", "--bot", "pips", "--seed", "3")
    assert report["finished"] and report["score"] in (1, -1)
    assert f"You {'win' if report['score'] > 0 else 'lose'} 1 point." in seen
    again, _ = played(monkeypatch, capsys, "1\n" * 500, "hyper", "--bot", "pips", "--seed", "3")
    assert again == report


def test_a_person_can_ask_before_he_plays(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    typed = "help\n?\nhint\nboard\nrules\n24/1\n999\n\n24/23 13/11\nquit\n"
    report, seen = played(monkeypatch, capsys, typed, "backgammon", "--bot", "pips", "--seed", "3")
    assert not report["finished"] and report["score"] is None
    mine = [play for play in report["plays"] if play["player"] == 0]
    assert [play["play"] for play in mine] == ["24/23 13/11"]
    for words in ("resign", "  1  ", "THE BOARD", "illegal play", "There is no play 999", "The game is left."):
        assert words in seen


@pytest.mark.parametrize(("typed", "resigned"), [("", False), ("resign\n", True), ("1\n", False)])
def test_the_end_of_the_input_and_resigning_leave_the_game(
    typed: str, resigned: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["crazy-gulbar", "--bot", "random", "--seed", "3"]
    report, _ = played(monkeypatch, capsys, typed, *words)
    assert (report["finished"], report["resigned"]) == (False, resigned)
