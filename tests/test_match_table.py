"""The match equity table that is computed."""

import json

import numpy as np
import pytest

from nardy_rl.errors import BadMatch
from nardy_rl.experiments.cli import run
from nardy_rl.match_table import MatchTerms, match_table

TABLE = match_table(15)


def test_both_sides_chances_add_up_to_one_and_grow_with_the_lead():
    before = TABLE.before[1:, 1:]
    assert before + before.T == pytest.approx(1) and np.diag(before) == pytest.approx(0.5)
    assert (np.diff(before, axis=1) > 0).all() and (np.diff(before, axis=0) < 0).all()
    assert (np.diff(TABLE.after) < 0).all()
    assert (before[0, 1:] + TABLE.after[2:] > 1).all()  # the Crawford game is good for the leader


def test_scores_next_to_the_end_by_hand():
    # Crawford, two away: half of the games are won, a quarter and one in a hundred of them by two or three points,
    # which win the match; else it stands even.
    assert TABLE.chance(2, 1) == pytest.approx(0.5 * (0.26 + 0.74 * 0.5))
    assert TABLE.chance(1, 1) == TABLE.chance(1, 1, over=True) == 0.5
    assert TABLE.chance(3, 1, over=True) == pytest.approx(0.5 * (0.26 + 0.74 * 0.5))  # doubled: two points, or four
    assert TABLE.chance(0, 5) == 1 and TABLE.chance(-2, 5) == 1 and TABLE.chance(4, 0) == 0
    # after the Crawford game, two away: the leader drops when the opening went against him
    assert TABLE.chance(2, 1, over=True) == pytest.approx((0.5 + 0.475) / 2)


@pytest.mark.parametrize(
    ("mine", "theirs", "known"),
    [(2, 1, 0.323), (3, 1, 0.249), (4, 1, 0.186), (5, 1, 0.158), (3, 2, 0.401), (4, 2, 0.331), (5, 3, 0.352),
     (5, 4, 0.423), (7, 5, 0.374), (11, 7, 0.300)],
)  # fmt: skip
def test_it_is_close_to_what_is_known(mine, theirs, known):
    """Values of the table by Rockwell and Kazaross (2010), which rests on rollouts."""
    assert TABLE.chance(mine, theirs) == pytest.approx(known, abs=0.016)


def test_after_the_crawford_game_it_is_close_to_what_is_known():
    assert TABLE.after[2:8] == pytest.approx([0.488, 0.323, 0.310, 0.190, 0.181, 0.116], abs=0.01)


def test_a_table_does_not_depend_on_its_length():
    assert match_table(5).before == pytest.approx(TABLE.before[:6, :6])


def test_without_a_cube_only_the_shares_count():
    table = match_table(4, (1,), (1.0,), cube=False, crawford=False)
    assert table.before[1, 2] == pytest.approx(0.75) and table.before[2, 3] == pytest.approx(11 / 16)
    assert table.after[2] == pytest.approx(0.25)


def test_a_cube_that_wins_the_match_is_not_turned_and_a_free_one_is():
    terms = MatchTerms(TABLE, (3, 2))
    assert terms.gains(2) and not terms.gains(4) and not terms.other.gains(2)
    assert terms.free(2) and not terms.free(1)  # at 2 the other wins the match anyway
    assert MatchTerms(TABLE, (3, 1)).free(1)
    assert terms.worth(3) == 1 and terms.worth(-2) == 0 and terms.other.worth(1) == 1 - terms.worth(-1)
    assert not MatchTerms(TABLE, (3, 1), cube=False).gains(1)


def test_gammon_prices_by_hand():
    assert MatchTerms(TABLE, (2, 1), cube=False).gammon_price(1) == 1  # the match, instead of an even one
    assert MatchTerms(TABLE, (1, 4)).gammon_price(1) == 0
    assert 0.4 < MatchTerms(TABLE, (15, 15)).gammon_price(1) < 0.6  # far from the end it is money


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"length": 0}, "it can have 1 to 64"),
        ({"length": 65}, "it can have 1 to 64"),
        ({"length": 3, "shares": (0.5, 0.5)}, "as many numbers from 0 on that sum up to 1"),
        ({"length": 3, "shares": (0.5, 0.6, -0.1)}, "as many numbers from 0 on that sum up to 1"),
        ({"length": 3, "efficiency": 1.5}, "efficiency 1.5 must be from 0 to 1"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(given, reason):
    with pytest.raises(BadMatch, match=reason):
        match_table(**given)


def test_the_command_prints_the_table(capsys):
    assert run(["match-table", "4"]) == 0
    assert ["2", "away", "31.5%", "50.0%", "60.7%", "68.4%"] in [
        row.split() for row in capsys.readouterr().out.splitlines()
    ]
    assert run(["match-table", "4", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["before"][1][0] == pytest.approx(0.315) and len(data["after"]) == 4
    assert run(["match-table", "3", "--markdown", "--gammons", "0", "--backgammons", "0"]) == 0
    assert "| 2 away | 25.0% | 50.0% |" in capsys.readouterr().out
    assert run(["match-table", "65"]) == 2
    assert "it can have 1 to 64" in capsys.readouterr().err
