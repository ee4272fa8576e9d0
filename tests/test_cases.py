"""Every case file: the engine's plays and what follows them are exactly the listed ones."""

import json
from pathlib import Path

import pytest

from nardy_rl.cases import case_of_state, check_case, check_files, read_cases, state_of_case
from nardy_rl.errors import BadPosition
from nardy_rl.options import with_options
from nardy_rl.variants import VARIANTS

FILES = sorted((Path(__file__).parent / "cases").glob("*.jsonl"))


def test_there_is_a_case_file_for_each_game():
    assert {path.stem for path in FILES if not path.stem.startswith("options-")} == set(VARIANTS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_engine_finds_exactly_the_plays_of(path):
    result = check_files([path])
    assert result["files"] == 1
    assert result["differences"] == []
    assert result["cases"] == len(path.read_text().splitlines())


def test_a_state_is_read_and_written_alike():
    for path in FILES:
        for _, case in read_cases(path):
            variant = with_options(VARIANTS[case["variant"]], case["options"])
            position, continuation = case_of_state(variant, state_of_case(case["state"]))
            written = position | continuation
            wanted = case["state"] | {"pinned": [sorted(side) for side in case["state"]["pinned"]]}
            assert written == wanted


def first_case(name="backgammon"):
    """The first case of a file that is no double."""
    lines = (Path(__file__).parent / "cases" / f"{name}.jsonl").read_text().splitlines()
    return next(case for case in map(json.loads, lines) if not case["state"]["double"])


def test_a_play_too_few_and_one_too_many_are_both_reported(tmp_path):
    case = first_case()
    gone = case["plays"].pop()
    wrong = {"board": list(gone["board"]), "used": [], "next": gone["next"]}
    mover = case["state"]["player"]
    digits = list(case["state"]["board"][mover])
    point = next(d for d in range(24, 1, -1) if digits[d] != "0")
    digits[point] = f"{int(digits[point], 16) - 1:x}"
    digits[point - 1] = f"{int(digits[point - 1], 16) + 1:x}"
    wrong["board"][mover] = "".join(digits)
    wrong["board"][1 - mover] = case["state"]["board"][1 - mover]
    case["plays"].append(wrong)
    path = tmp_path / "broken.jsonl"
    path.write_text(json.dumps(case) + "\n\n" + json.dumps(first_case("plakoto")) + "\n")
    result = check_files([path])
    assert (result["files"], result["cases"]) == (1, 2)
    (difference,) = result["differences"]
    assert difference["id"] == case["id"]
    assert [play["board"] for play in difference["missing"]] == [wrong["board"]]
    assert [play["board"] for play in difference["extra"]] == [gone["board"]]


def test_a_wrong_continuation_is_a_difference():
    case = first_case()
    case["nexts"][0]["player"] ^= 1
    missing, extra = check_case(case)
    assert len(missing) == len(extra) > 0


def change(path, value):
    """A case with one field replaced; the path goes through dicts and lists."""
    case = first_case()
    *way, last = path
    inner = case
    for step in way:
        inner = inner[step]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return case


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["variant"], "backgamon", "did you mean 'backgammon'"),
        (["variant"], None, "'variant' is missing"),
        (["options"], {"blocks": "none"}, "unknown option 'blocks'"),
        (["state", "player"], 2, "player is 2"),
        (["state", "player"], True, "player is true"),
        (["state", "throws"], [1], "throws is"),
        (["state", "board"], ["00", "00"], "26 hexadecimal digits"),
        (["state", "board", 0], "x" * 26, "not hexadecimal"),
        (["state", "board", 0], "1" + "0" * 25, "player 0 has 1 checkers"),
        (["state", "dice"], [7, 1], "from 1 to 6"),
        (["state", "double"], True, "double is true"),
        (["state", "queue"], [], "cannot be owed"),
        (["state", "queue"], [[9, 1]], "cannot be owed"),
        (["state", "pinned"], [[24], []], "knows no pins"),
        (["state", "handed"], 1, "handed is 1"),
        (["state", "grace"], True, "'grace' is given"),
        (["nexts"], None, "'nexts' is missing"),
        (["plays", 0, "next"], 99, "next is 99"),
        (["plays", 0], "24/18", "no object"),
    ],
)
def test_a_case_that_makes_no_sense_is_refused_with_file_and_line(tmp_path, path, value, words):
    file = tmp_path / "bad.jsonl"
    file.write_text(json.dumps(first_case()) + "\n" + json.dumps(change(path, value)) + "\n")
    with pytest.raises(BadPosition) as caught:
        check_files([file])
    assert f"{file}:2: " in str(caught.value)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_line_that_is_no_json_is_refused_with_file_and_line(tmp_path):
    file = tmp_path / "bad.jsonl"
    for text in ('{"id": ', "[1, 2]", "null"):
        file.write_text(text + "\n")
        with pytest.raises(BadPosition, match="bad.jsonl:1: "):
            check_files([file])


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "absent.jsonl", tmp_path, tmp_path / "binary"):
        with pytest.raises(BadPosition, match="cannot read the case file"):
            check_files([path])
