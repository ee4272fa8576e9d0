"""Known counts of plays by depth. The files in tests/perft hold them by roll.

A file `perft/GAME.perft` has one line for each depth: the depth, `total`, `unique`, and the total by first roll. The
counts of the first depth were made by the slow oracle as well (a test does it again); 447, 406, 202,782 and 163,706
for backgammon are other engines' too.
"""

import ast
import json
from pathlib import Path

import naive
import pytest

from nardy_rl.dice import ROLLS
from nardy_rl.errors import NardyError
from nardy_rl.perft import perft
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS

FOLDER = Path(__file__).parent / "perft"
KNOWN = """11:42 21:15 22:75 31:16 32:17 33:73 41:14 42:18 43:17 44:52 51:8 52:8 53:9 54:9 55:4
61:10 62:14 63:14 64:14 65:7 66:11"""


def test_the_start_of_backgammon_has_447_plays_of_which_406_are_unique():
    result = perft("backgammon", 1, divide=True)
    assert (result["total"], result["unique"]) == (447, 406)
    assert result["divide"] == {roll: int(n) for roll, n in (word.split(":") for word in KNOWN.split())}


def test_two_turns_of_backgammon_have_202782_plays_of_which_163706_are_unique():
    result = perft("backgammon", 2)
    assert (result["variant"], result["depth"]) == ("backgammon", 2)
    assert (result["total"], result["unique"]) == (202_782, 163_706)


@pytest.mark.long
def test_three_turns_of_backgammon_have_116154993_plays():
    result = perft("backgammon", 3)
    assert (result["total"], result["unique"]) == (116_154_993, 29_420_722)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.perft")), ids=lambda path: path.stem)
def test_the_counts_are_those_of(path):
    for line in lines(path):
        found = perft(path.stem, line["depth"], divide=True, seed=1)
        assert {key: found[key] for key in line} == line


def test_every_game_has_a_perft_file_of_at_least_two_depths_by_first_roll():
    assert {path.stem for path in FOLDER.glob("*.perft")} == set(VARIANTS)
    for path in FOLDER.glob("*.perft"):
        depths = {line["depth"]: line for line in lines(path)}
        assert {1, 2} <= set(depths)
        assert all(set(line["divide"]) == {f"{a}{b}" for a, b in ROLLS} for line in depths.values())


@pytest.mark.parametrize("name", VARIANTS)
def test_the_oracle_counts_the_same_plays_of_the_start(name):
    start = Position.start(VARIANTS[name], seed=1)
    boards = ["".join(f"{int(n):x}" for n in side) for side in start.counts]
    if name == "snake":
        boards = [naive.layout("backgammon"), naive.layout("snake")]
    rules = naive.make(name, {})
    state = naive.start(rules, 0, layouts=boards)
    seen, counts = set(), {}
    for a, b in ROLLS:
        found = [naive.canon(play) for play in naive.plays(rules, naive.throw(rules, state, int(a), int(b)))]
        counts[f"{a}{b}"] = len(found)
        for board, pinned, continuation in found:
            following = dict(ast.literal_eval(continuation))
            owed = str(following.get("queue", following.get("score")))
            seen.add((board, pinned, owed, following.get("player")))
    result = perft(name, 1, divide=True, seed=1)
    assert result["divide"] == counts
    assert result["unique"] == len(seen)


def test_without_divide_the_totals_are_the_same():
    for name in ("classic", "crazy-v1", "plakoto"):
        whole, divided = perft(name, 2), perft(name, 2, divide=True)
        assert "divide" not in whole
        assert whole["total"] == divided["total"] == sum(divided["divide"].values())
        assert whole["unique"] == divided["unique"]


def test_a_random_start_is_drawn_by_its_seed():
    assert perft("randgammon-1", 1, seed=1) == perft("randgammon-1", 1, seed=1)
    assert len({perft("randgammon-1", 1, seed=seed)["total"] for seed in range(5)}) > 1


@pytest.mark.parametrize("depth", [0, -1, 1000])
def test_a_depth_that_cannot_be_counted_is_refused(depth):
    with pytest.raises(NardyError, match=f"depth={depth}"):
        perft("backgammon", depth)
