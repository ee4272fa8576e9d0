"""The worked checks of the rules page (docs/rules.md, section 9), each as a test."""

import pytest

from nardy_rl.errors import IllegalPlay
from nardy_rl.notation import steps_of
from nardy_rl.position import Position


def first_throw(variant, die1, die2):
    return Position.start(variant).throw(die1, die2)


def most_steps(position):
    """The most checker moves of any play of this stage."""
    return max(len(steps_of(position, after)) for after in position.plays())


def side(position, player=0):
    return position.counts[player]


@pytest.mark.parametrize(
    ("double", "with_one", "with_two"), [(1, 4, 4), (2, 4, 4), (3, 3, 4), (4, 2, 4), (5, 4, 4), (6, 1, 2)]
)
def test_moves_of_a_first_double_from_the_long_start_with_one_and_with_two_head_checkers(double, with_one, with_two):
    assert most_steps(first_throw("classic:pairs=none", double, double)) == with_one
    assert most_steps(first_throw("classic:pairs=11-22-33-44-55-66", double, double)) == with_two


@pytest.mark.parametrize(
    ("double", "moves", "text"),
    [(6, 1, "24/18"), (4, 2, "24/20/16"), (3, 3, "24/21/18/15"), (5, 4, "24/19/14/9 24/19")],
)
def test_the_runner_of_a_first_double_in_fevga(double, moves, text):
    position = first_throw("fevga", double, double)
    assert most_steps(position) == moves
    assert text in [position.move_text(after) for after in position.plays()]


def test_a_first_1_1_of_crazy_gulbar_plays_ones_and_twos_with_two_head_checkers():
    ones = first_throw("crazy-gulbar", 1, 1)
    two_left = [after for after in ones.plays() if side(after)[24] == 13]
    assert two_left and all(len(steps_of(ones, after)) == 4 for after in two_left)
    for twos in two_left:
        assert twos.owed[0] == (2, 4)
        assert most_steps(twos) == 4
        assert all(side(after)[24] == 13 for after in twos.plays())


BLACK_ON_HIS_HEAD = "24:9 14:1 11:1 10:1 8:1 7:1 6:1 | 24:15 | turn=0 throws=5,4 dice=52"


def test_a_transient_blind_block_is_legal_where_only_the_end_counts():
    assert side(Position.from_text(f"classic {BLACK_ON_HIS_HEAD}").after("14/9/7"))[7] == 2


def test_a_transient_blind_block_is_illegal_where_every_step_counts():
    with pytest.raises(IllegalPlay):
        Position.from_text(f"sport {BLACK_ON_HIS_HEAD}").after("14/9/7")


def test_no_six_leaves_the_head_of_khachapuri_while_the_eleven_stand_on_18():
    for die in range(1, 7):
        start = first_throw("khachapuri", 6, die)
        assert all((24, 18) not in steps_of(start, after) for after in start.plays())


def holds(position, points):
    return all(side(position)[point] for point in points)


def can_make(run, mine, theirs, dice):
    position = Position.from_text(f"classic {mine} | {theirs} | turn=0 throws=9,8 dice={dice}")
    assert not holds(position, run)
    return any(holds(after, run) for after in position.plays())


def test_a_run_on_24_to_19_needs_an_enemy_checker_in_his_own_home():
    run, mine = range(19, 25), "24:9 23:1 22:1 21:1 20:3"
    assert not can_make(run, mine, "18:15", 11)
    assert not can_make(run, mine, "18:14 13:1", 11)
    assert can_make(run, mine, "18:14 6:1", 11)
    assert can_make(run, mine, "18:14 1:1", 11)


def test_a_run_on_18_to_13_is_the_enemys_whole_home_and_never_legal():
    run, mine = range(13, 19), "24:8 19:2 17:1 16:1 15:1 14:1 13:1"
    for theirs in ("24:15", "24:14 8:1", "8:15", "18:14 17:1"):
        assert not can_make(run, mine, theirs, 21)


def test_three_two_one_and_24_23_22_are_one_run_for_the_enemy_his_15_to_10():
    run, mine = (3, 2, 1, 24, 23, 22), "24:8 23:1 22:2 4:1 2:2 1:1"
    for theirs, legal in (("24:15", False), ("24:14 17:1", False), ("24:14 9:1", True), ("24:14 1:1", True)):
        assert can_make(run, mine, theirs, 61) is legal


CAUCASIAN = "caucasian 24:11 7:1 6:1 2:2 | 21:1 13:14 | turn=0 throws=9,8 dice=32"


def test_a_bound_checker_may_not_hide_behind_others():
    position = Position.from_text(CAUCASIAN)
    hit = [after for after in position.plays() if side(after, 1)[25]]
    assert hit and not any(side(after)[7] == 0 and side(after)[2] == 3 for after in hit)
    with pytest.raises(IllegalPlay):
        position.after("7/4*/2")
    other = Position.from_text(CAUCASIAN.replace("caucasian", "backgammon"))
    assert side(other.after("7/4*/2"))[2] == 3


def test_another_checker_may_cover_a_bound_one():
    assert side(Position.from_text(CAUCASIAN).after("7/4* 6/4"))[4] == 2


def most_in_all(position, known):
    """The most moves that the player can make in all stages of his throw from here."""
    if position not in known:
        best = 0
        for after in position.plays():
            moves = len(steps_of(position, after))
            if after.owes and after.player == position.player:
                moves += most_in_all(after, known)
            best = max(best, moves)
        known[position] = best
    return known[position]


@pytest.mark.parametrize(
    ("double", "moves", "owed"), [(1, 17, 24), (2, 8, 20), (3, 11, 16), (4, 9, 12), (5, 4, 8), (6, 2, 4)]
)
def test_most_moves_of_a_first_progression_of_crazy_gulbar(double, moves, owed):
    position = first_throw("crazy-gulbar", double, double)
    assert sum(number for _, number in position.owed) == owed
    assert most_in_all(position, {}) == moves
