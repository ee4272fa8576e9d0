"""One whole game of every variant, as it was played before (tests/games, written by tools/golden_games.py)."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from agreement import differing

from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS

ROOT = Path(__file__).resolve().parent.parent
GAMES = ROOT / "tests" / "games"


def golden_games():
    """The script that writes the files, as a module."""
    spec = importlib.util.spec_from_file_location("golden_games", ROOT / "tools" / "golden_games.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kept(name):
    return (GAMES / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def test_every_game_has_a_golden_game():
    assert {path.stem for path in GAMES.glob("*.txt")} == set(VARIANTS)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_golden_game_is_played_again(name):
    assert list(golden_games().lines(name)) == kept(name)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_golden_game_can_be_read_and_played_from_its_text(name):
    steps = [line.split(" => ") for line in kept(name)]
    position = Position.from_text(steps[0][0])
    for text, play in steps[:-1]:
        if not position.owes:
            position = position.throw(*Position.from_text(text).dice)
        assert position.text == text
        position = position.after(play)
    assert (position.text, f"{position.score(0):+g}") == tuple(steps[-1])


@pytest.mark.parametrize("name", VARIANTS)
def test_the_oracle_knows_the_plays_of_the_golden_game(name):
    states = [Position.from_text(line.split(" => ")[0]).state for line in kept(name)[:-1]]
    assert differing(VARIANTS[name], np.stack(states)) == []
