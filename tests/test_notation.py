"""Moves as text: every legal play of every game can be written and read back."""

from pathlib import Path

import numpy as np
import pytest

from nardy_rl.cases import read_cases, state_of_case
from nardy_rl.errors import IllegalPlay
from nardy_rl.experiments.compare import random_decisions
from nardy_rl.notation import steps_of
from nardy_rl.options import with_options
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS

FILES = sorted((Path(__file__).parent / "cases").glob("*.jsonl"))


def reads_back(position, after):
    return position.after(position.move_text(after)) == after


@pytest.mark.parametrize("name", VARIANTS)
def test_plays_of_random_games_are_written_and_read_back(name):
    rng = np.random.default_rng(1)
    for state in random_decisions(name, 300, seed=9):
        position = Position(VARIANTS[name], state)
        after = position.plays()
        for i in rng.choice(len(after), size=min(2, len(after)), replace=False):
            assert reads_back(position, after[i]), (position, after[i])


@pytest.mark.parametrize("side", ("hyper 4:1 off:2 | 24:1 13:1 12:1", "backgammon 4:1 off:14 | 24:1 13:1 12:13"))
def test_the_game_may_end_by_one_die_or_by_two_with_a_hit(side):
    position = Position.from_text(f"{side} | turn=0 throws=6,6 dice=53")
    plays = {position.move_text(after): after for after in position.plays()}
    assert sorted(plays) == ["4/1*/off", "4/off"]
    for text, after in plays.items():
        assert position.after(text) == after and after.over


def case_positions(path):
    for _, case in read_cases(path):
        variant = with_options(VARIANTS[case["variant"]], case["options"])
        yield Position(variant, state_of_case(case["state"]))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_plays_of_the_case_files_are_written_and_read_back(path):
    for position in case_positions(path):
        after = position.plays()
        for play in after[:: 1 + len(after) // 4]:
            assert reads_back(position, play), (position, play)


@pytest.mark.long
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_plays_of_the_case_files_are_written_and_read_back(path):
    for position in case_positions(path):
        texts = [position.move_text(play) for play in position.plays()]
        assert len(set(texts)) == len(texts)
        for text, play in zip(texts, position.plays(), strict=True):
            assert position.after(text) == play, (position, text)


def texts(text):
    position = Position.from_text(text)
    return [position.move_text(after) for after in position.plays()]


@pytest.mark.parametrize(
    ("position", "play"),
    [
        ("backgammon 24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0 dice=31", "8/5 6/5"),
        ("backgammon 24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0 dice=66", "24/18(2) 13/7(2)"),
        ("backgammon bar:1 24:1 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0 dice=43", "bar/22 13/9"),
        ("backgammon 24:1 6:14 | 24:2 7:1 6:5 5:7 | turn=0 dice=64", "24/18*/14"),
        ("backgammon 24:1 6:14 | 24:2 7:1 11:1 6:5 5:6 | turn=0 dice=64", "24/18*/14*"),
        ("backgammon 8:2 6:13 | 24:2 21:1 6:12 | turn=0 dice=44", "8/4*(2) 6/2(2)"),
        ("backgammon 6:1 5:2 off:12 | 12:15 | turn=0 dice=65", "6/off 5/off"),
        ("plakoto 24:15 | 24:14 3:1 | turn=0 dice=21", "24/22^/21"),
        ("classic 24:15 | 24:15 | turn=0 throws=1,0 dice=66", "24/18(2)"),
        ("crazy-v1 24:14 20:1 | 24:15 | turn=0 throws=2,2 dice=55", "24/19 20/15/10/5"),
    ],
)
def test_a_play_is_written_like_this(position, play):
    assert play in texts(position)


def test_a_player_who_cannot_move_passes():
    position = Position.from_text("backgammon bar:1 6:14 | 6:2 5:2 4:2 3:2 2:2 1:5 | turn=0 dice=31")
    assert texts(position.text) == ["pass"]
    for word in ("pass", "PASS", "-", "", " "):
        assert position.after(word) == position.plays()[0]


def test_the_last_checker_home_with_the_last_move_is_marked_where_it_matters():
    name, index = next(
        (path, number)
        for path in FILES
        if path.stem == "crazy-gulbar"
        for number, case in read_cases(path)
        if case["id"] == "crazy-gulbar-c033"
    )
    case = next(case for number, case in read_cases(name) if number == index)
    position = Position(VARIANTS["crazy-gulbar"], state_of_case(case["state"]))
    written = [position.move_text(after) for after in position.plays()]
    assert len(set(written)) == 4 and sum(text.endswith(" grace") for text in written) == 1


STUCK = Position.start("gulbar").throw(6, 6)


def test_a_debt_is_marked_with_what_the_other_player_has_to_play():
    (after,) = STUCK.plays()
    assert after.player == 1 and STUCK.move_text(after) == "24/18(2) owes=6x2"
    for written in ("24/18(2)", "24/18 24/18 owes=6x2", "OWES=6x2 24/18(2)"):
        assert STUCK.after(written) == after
    done = Position.start("gulbar").throw(5, 5)
    assert "owes" not in " ".join(done.move_text(play) for play in done.plays())


def test_a_pass_can_leave_a_debt():
    position = Position.from_text("crazy-v1 24:13 18:2 | 24:14 18:1 | turn=0 throws=1,0 dice=66 owed=6 head=2,1 handed")
    (after,) = position.plays()
    assert position.move_text(after) == "pass owes=6"
    for written in ("pass owes=6", "owes=6", "pass", ""):
        assert position.after(written) == after


@pytest.mark.parametrize("debt", ["6", "6x3", "5x2", ""])
def test_a_debt_that_a_play_does_not_leave_is_refused(debt):
    with pytest.raises(IllegalPlay, match=f"it leaves 6x2 to be played by the other player, not {debt}$"):
        STUCK.after(f"24/18(2) owes={debt}")
    with pytest.raises(IllegalPlay, match="it leaves nothing to be played by the other player, not 1$"):
        START.after("8/5 6/5 owes=1")


def test_steps_are_in_a_legal_order():
    for name in ("fevga", "crazy-v2", "sport", "caucasian"):
        for state in random_decisions(name, 200, seed=3):
            position = Position(VARIANTS[name], state)
            for after in position.plays()[:3]:
                side = position.counts[position.player].astype(int)
                for start, end in steps_of(position, after):
                    assert side[start] > 0 and start > end
                    side[start] -= 1
                    side[end] += 1
                    assert not side[25] or start == 25
                assert (after.counts[position.player] == side).all()


START = Position.start("backgammon").throw(3, 1)
FORK = Position.from_text("backgammon 24:1 6:13 3:1 | 7:1 3:1 4:5 8:3 2:5 | turn=0 dice=64")


@pytest.mark.parametrize(
    "written",
    ["8/5 6/5", "6/5 8/5", "6/5, 8/5", " 8/5  6/5 ", "08/05 06/05", "8/5 6/5(1)"],
)
def test_order_spaces_and_commas_do_not_matter(written):
    assert START.after(written) == START.after("8/5 6/5")


@pytest.mark.parametrize("written", ["24/20", "24/21/20", "24/23/20", "24/23 23/20"])
def test_points_on_the_way_may_be_left_out(written):
    assert START.after(written) == START.after("24/21/20")


@pytest.mark.parametrize("written", ["Bar/22 13/9", "BAR/22 13/9", "b/22 13/9", "25/22 13/9"])
def test_the_bar_has_several_names(written):
    position = Position.from_text("backgammon bar:1 24:1 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0 dice=43")
    assert position.move_text(position.after(written)) == "bar/22 13/9"


@pytest.mark.parametrize("written", ["6/off 5/off", "6/0 5/0", "6/o 5/Off"])
def test_off_has_several_names(written):
    position = Position.from_text("backgammon 6:1 5:2 off:12 | 12:15 | turn=0 dice=65")
    assert position.move_text(position.after(written)) == "6/off 5/off"


def test_marks_may_be_left_out_where_they_are_not_needed():
    assert FORK.after("24/18 6/2") == FORK.after("24/18* 6/2")


def test_plays_that_differ_by_a_hit_on_the_way_are_told_apart():
    assert FORK.after("24/18*/14") != FORK.after("24/20/14")
    assert FORK.after("24/18/14") == FORK.after("24/18 18/14") == FORK.after("24/18*/14")


def test_a_text_that_fits_two_plays_is_refused_with_both():
    with pytest.raises(IllegalPlay, match=r"it could be 24/18\*/14 or 24/20/14; write it in full$"):
        FORK.after("24/14")


HEAD = Position.start("classic").throw(6, 4)
PINNED = Position.from_text("plakoto 24:13 10:1^ 9:1 | 24:14 15:1 | turn=0 dice=21")
ON_BAR = Position.from_text("backgammon bar:1 24:1 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0 dice=43")


@pytest.mark.parametrize(
    ("position", "written", "reason"),
    [
        (HEAD, "24/18 24/20", "one checker may leave the head"),
        (HEAD, "24/18", "2 moves can be made, so they must be"),
        (HEAD, "pass", "there are moves to make, such as 24/18/14"),
        (HEAD, "1/off", "no checker of player 0 stands on 1"),
        (HEAD, "24/x", "'24/x' is not FROM/TO, as in 24/18, bar/22, 6/off or 13/7(2)"),
        (HEAD, "hello", "'hello' is not FROM/TO, as in 24/18, bar/22, 6/off or 13/7(2)"),
        (HEAD, "24/30", "there is no point 30"),
        (HEAD, "18/24", "'18/24' does not go forward: checkers move to lower numbers"),
        (HEAD, "24/18*/14", "nothing is hit on 18"),
        (START, "24/19 24/23", "the point 19 is closed"),
        (START, "13/9 6/5", "it is not among the 16 legal plays"),
        (START, "6/3 6/off", "checkers are borne off only when all are home"),
        (START, "8/5 8/5 8/5 8/5", "only 3 of player 0's checkers stand on 8"),
        (START, "13/11", "13/11 is no move of 3 or 1"),
        (ON_BAR, "13/9 13/10", "checkers on the bar enter first"),
        (PINNED, "10/8 24/23", "the checker on 10 is pinned"),
    ],
)
def test_an_illegal_play_is_refused_with_its_reason(position, written, reason):
    with pytest.raises(IllegalPlay) as caught:
        position.after(written)
    roll = "-".join(map(str, position.dice))
    assert str(caught.value) == f"illegal play {written} for {roll} in {position.text}: {reason}"


def test_a_position_that_no_play_leads_to_has_no_moves():
    with pytest.raises(IllegalPlay, match="no play leads from"):
        START.move_text(START)
    with pytest.raises(IllegalPlay, match="no play leads from"):
        START.move_text(Position.start("nackgammon").throw(3, 1).plays()[0])
    with pytest.raises(IllegalPlay, match="has to throw before"):
        Position.start("backgammon").move_text(START)
    with pytest.raises(IllegalPlay, match="has to throw before"):
        Position.start("backgammon").after("24/18")
