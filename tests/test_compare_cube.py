"""Our cube decisions and our formula against gnubg's program."""

import pytest

from nardy_rl.experiments import compare_cube
from nardy_rl.experiments.gnubg_program import program

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(program() is None, reason="the program gnubg is not installed: apt install gnubg"),
]


@pytest.fixture(scope="module")
def compared():
    return compare_cube.compare(300, seed=1)


def test_four_of_five_decisions_and_more_agree_with_gnubgs(compared):
    decisions = compared["decisions"]
    assert decisions["positions"] == 300 and decisions["near"] >= 150
    assert decisions["agreement"] >= compare_cube.GATE
    assert decisions["agree"] + len(decisions["differences"]) == 300
    assert all(one["cost"] > compare_cube.TIE for one in decisions["differences"])


@pytest.mark.parametrize("part", ["formula", "jacoby", "match"])
def test_from_the_same_chances_our_formula_gives_gnubgs_equities(part, compared):
    assert compared[part]["positions"] == 300
    assert max(compared[part]["no double"], compared[part]["take"]) < 5e-5


def test_a_wrong_efficiency_would_be_seen(compared, monkeypatch):
    states = compare_cube.positions(compare_cube.load_bot("backgammon", "pretrained"), 40, seed=2)
    asked = compare_cube.Asked(states, [None] * len(states))
    chances, theirs, _ = compare_cube.gnubg_says(asked)
    right = compare_cube.formula(asked, chances, theirs)
    monkeypatch.setattr(compare_cube, "efficiency", lambda variant, states: compare_cube.np.full(len(states), 0.5))
    assert compare_cube.formula(asked, chances, theirs)["take"] > 1000 * right["take"]
