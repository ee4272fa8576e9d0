"""Positions in which other programs went wrong, as their users reported them, and ours must not."""

import numpy as np
import pytest

from nardy_rl.batch import plays
from nardy_rl.board import OWED
from nardy_rl.errors import IllegalPlay
from nardy_rl.experiments.compare import random_decisions
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS


def texts(position):
    return sorted(position.move_text(after) for after in position.plays())


def test_a_6_2_with_one_play_has_exactly_that_play():
    position = Position.from_text("backgammon 24:1 8:1 6:13 | 21:2 9:2 7:3 6:4 5:4 | turn=0 throws=9,9 dice=62")
    assert texts(position) == ["24/22 8/2"]


def test_a_forced_bear_off_is_listed_once():
    position = Position.from_text("backgammon 4:1 2:4 off:10 | 24:1 1:1 off:13 | turn=0 throws=9,9 dice=64")
    assert texts(position) == ["4/off 2/off"]


def test_the_larger_die_is_played_where_only_one_can_be():
    # 24/18 and 24/22 are both possible, but not one after the other
    position = Position.from_text("backgammon 24:1 1:14 | 9:2 8:13 | turn=0 throws=9,9 dice=62")
    assert texts(position) == ["24/18"]


def test_both_dice_are_played_where_they_can_be():
    # 13/7 would leave no two to play
    position = Position.from_text("backgammon 24:1 13:1 1:13 | 20:2 9:2 3:11 | turn=0 throws=9,9 dice=62")
    assert texts(position) == ["24/18 13/11"]


def test_a_larger_die_bears_off_only_from_the_highest_point():
    position = Position.from_text("backgammon 5:1 3:1 off:13 | 12:15 | turn=0 throws=9,9 dice=41")
    assert {tuple(after.counts[0, :6]) for after in position.plays()} == {
        (13, 1, 1, 0, 0, 0),  # 5/1 3/2
        (14, 0, 0, 1, 0, 0),  # 5/1/off
    }
    with pytest.raises(IllegalPlay):
        position.after("3/off 5/4")


def test_a_double_is_one_play_of_four_moves_and_the_turn_then_passes():
    position = Position.start("backgammon").throw(2, 2)
    assert len(position.plays()) == 75
    assert all(after.player == 1 and not after.owes for after in position.plays())


def test_a_game_of_three_checkers_ends_with_the_third_borne_off():
    position = Position.from_text("hyper 1:1 off:2 | 23:1 12:2 | turn=1 throws=9,9").throw(2, 1)
    after = position.plays()[0].throw(1, 2).plays()
    assert [(p.over, p.player, p.score(0)) for p in after] == [(True, 0, 1.0)]


def test_the_game_ends_in_the_middle_of_a_throw():
    position = Position.from_text("backgammon 1:1 off:14 | 23:1 12:14 | turn=0 throws=9,9 dice=66")
    (after,) = position.plays()
    assert after.over and after.score(0) == 3.0  # a backgammon: he still has a checker in the winner's home


def test_a_checker_on_the_bar_makes_a_backgammon_too():
    position = Position.from_text("backgammon 1:1 off:14 | bar:1 12:14 | turn=0 throws=9,9 dice=66")
    assert position.plays()[0].score(1) == -3.0


def test_the_bar_is_kept_in_the_text_of_a_position():
    text = "backgammon bar:2 13:5 8:3 6:5 | bar:1 24:1 13:5 8:3 6:5 | turn=1 throws=3,3 dice=66"
    assert Position.from_text(text).text == text


def test_a_play_that_ends_the_game_with_one_die_is_legal_though_two_can_be_played():
    position = Position.from_text("backgammon 4:1 off:14 | 24:1 12:14 | turn=0 throws=9,9 dice=43")
    assert texts(position) == ["4/1*/off", "4/off"]


@pytest.mark.parametrize("name", VARIANTS)
def test_results_are_zero_sum_and_plays_distinct(name):
    states = random_decisions(name, 400, seed=2)
    after, first = plays(name, states)
    for a, b in zip(first, first[1:], strict=False):
        assert len(np.unique(after[a:b], axis=0)) == b - a > 0
    for row in after:
        position = Position._trusted(VARIANTS[name], row)
        if position.over:
            assert position.score(0) == -position.score(1)
            assert not row[OWED]


def test_plays_come_in_the_same_order_every_time():
    states = random_decisions("crazy-v1", 500, seed=4)
    one, other = plays("crazy-v1", states), plays("crazy-v1", states[::-1])
    assert (np.diff(one[1]) == np.diff(other[1])[::-1]).all()
    assert (one[0][: one[1][1]] == other[0][other[1][-2] :]).all()
