"""Cubeful equities, cube decisions of bots, and duels with the cube."""

import dataclasses
import importlib.util
import json
from functools import cache

import numpy as np
import pytest

from nardy_rl.agents import doubling, load_bot
from nardy_rl.agents.net import outputs_of
from nardy_rl.cube import GameState
from nardy_rl.cube_equity import (
    MINE,
    THEIRS,
    Chances,
    Money,
    cube_equities,
    dead_drop_point,
    dead_equity,
    drop_point,
    equity,
    live_equity,
    take_point,
)
from nardy_rl.experiments.cli import run
from nardy_rl.experiments.duel import duel
from nardy_rl.variants import parse_variant

MONEY = Money(cap=1 << 20)
LEVELS = (1, 2, 3)


def chances(p, won=(1, 0, 0), lost=(1, 0, 0)):
    return Chances(LEVELS, np.outer(p, won).astype(float), np.outer(1 - np.asarray(p, float), lost).astype(float))


P = np.linspace(0, 1, 41)

# ------------------------------------------------------------------------------------------- the model by hand


def test_without_gammons_a_dead_cube_is_taken_from_a_quarter_and_a_live_one_from_a_fifth():
    c = chances([0.5])
    assert 1 - dead_drop_point(c, MONEY, 1)[0] == pytest.approx(0.25)
    assert take_point(c, MONEY, 1)[0] == pytest.approx(0.2, abs=1e-9)
    assert drop_point(c, MONEY, 1)[0] == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize("won", [(0.7, 0.25, 0.05), (1, 0, 0), (0.4, 0.6, 0)])
@pytest.mark.parametrize("lost", [(0.8, 0.2, 0), (1, 0, 0), (0.5, 0.4, 0.1)])
def test_live_take_and_drop_points_are_those_of_janowskis_formulas(won, lost):
    # W, L: mean points of a win and a loss. Take point (L - 1/2) / (W + L + 1/2), cash point (L + 1) / (W + L + 1/2).
    w, loss = np.dot(won, LEVELS), np.dot(lost, LEVELS)
    c = chances([0.3, 0.6], won, lost)
    assert drop_point(c, MONEY, 1) == pytest.approx((loss + 1) / (w + loss + 0.5), abs=1e-5)
    assert take_point(c, MONEY, 1) == pytest.approx((loss - 0.5) / (w + loss + 0.5), abs=1e-5)
    assert dead_drop_point(c, MONEY, 1) == pytest.approx((loss + 0.5) / (w + loss))


def test_live_equities_without_gammons_are_lines_through_the_take_and_cash_points():
    c = chances(P)
    assert live_equity(c, MONEY, 1, None) == pytest.approx(np.interp(P, [0, 0.2, 0.8, 1], [-1, -1, 1, 1]), abs=1e-8)
    assert live_equity(c, MONEY, 1, MINE) == pytest.approx(np.interp(P, [0, 0.8, 1], [-1, 1, 1]), abs=1e-8)
    assert live_equity(c, MONEY, 1, THEIRS) == pytest.approx(np.interp(P, [0, 0.2, 1], [-1, -1, 1]), abs=1e-8)


def test_an_example_worked_by_hand():
    # p = 0.7, x = 0.68, no gammons. Dead: 2p - 1 = 0.4. Live in the middle: -1 + 2 (0.7 - 0.2) / 0.6 = 2/3.
    # Owned by the other: -1 + 2 (0.7 - 0.2) / 0.8 = 0.25. So 0.128 + 0.68 * 2/3, and twice 0.128 + 0.68 * 0.25.
    found = cube_equities(chances([0.7]), MONEY, 1, None, 0.68)
    assert found.no_double[0] == pytest.approx(0.128 + 0.68 * 2 / 3, abs=1e-6)
    assert found.take[0] == pytest.approx(2 * (0.128 + 0.17), abs=1e-6)
    assert found.names() == ("double", "take")


@pytest.mark.parametrize("owner", [None, MINE, THEIRS])
def test_a_cube_of_no_efficiency_is_dead(owner):
    c = chances(P, (0.7, 0.25, 0.05), (0.8, 0.2, 0))
    assert equity(c, MONEY, 2, owner, 0.0) == pytest.approx(2 * c.points)
    assert equity(c, Money(cap=2), 2, owner, 1.0) == pytest.approx(dead_equity(c, MONEY, 2))  # none can turn it


def test_owning_the_cube_is_never_worse_and_both_sides_see_the_same():
    c = chances(P, (0.7, 0.25, 0.05), (0.8, 0.2, 0))
    for x in (0.3, 0.68, 1.0):
        mine, middle, theirs = (equity(c, MONEY, 1, owner, x) for owner in (MINE, None, THEIRS))
        assert (mine >= middle - 1e-9).all() and (middle >= theirs - 1e-9).all()
        assert equity(c.other, MONEY, 1, THEIRS, x) == pytest.approx(-mine)
        assert (np.diff(middle) >= -1e-9).all()


def test_the_jacoby_rule_takes_gammons_away_until_the_cube_is_turned():
    c = chances([0.95, 0.6], (0.2, 0.8, 0))
    plain, jacoby = (cube_equities(c, Money(j), 1, None, 0.68) for j in (False, True))
    assert plain.names(0) == ("too good", "drop") and jacoby.names(0) == ("double", "drop")
    assert jacoby.no_double.max() <= 1 < plain.no_double.max()
    assert jacoby.take == pytest.approx(plain.take)


def test_a_double_that_loses_is_answered_by_a_beaver():
    found = cube_equities(chances([0.4]), MONEY, 1, None, 0.68, beavers=True)
    assert found.take[0] < 0 and found.beaver[0] == pytest.approx(2 * found.take[0], abs=1e-6)
    assert found.names() == ("no double", "beaver")
    assert cube_equities(chances([0.7]), MONEY, 1, None, 0.68, beavers=True).names() == ("double", "take")


def test_the_highest_cube_is_dead():
    c = chances([0.5])
    assert drop_point(c, Money(), 32)[0] == pytest.approx(0.75)  # to 64: nobody turns it any more
    assert drop_point(c, Money(), 16)[0] == pytest.approx(0.8125)  # the taker owns one more turn: 3/4 + 1/4 * 1/4


# ------------------------------------------------------------------------------------------- chances


def test_outputs_of_a_net_are_taken_apart():
    found = doubling.chances_from(parse_variant("backgammon"), np.array([[0.6, 0.2, 0.05, 0.1, 0.01]]))
    assert found.wins[0] == pytest.approx([0.4, 0.15, 0.05]) and found.losses[0] == pytest.approx([0.3, 0.09, 0.01])
    assert found.points[0] == pytest.approx(0.6 + 0.2 + 0.05 - 0.4 - 0.1 - 0.01)


def test_outputs_that_contradict_each_other_are_cut():
    found = doubling.chances_from(parse_variant("backgammon"), np.array([[0.6, 0.7, 0.8, 0.5, -0.1]]))
    assert found.wins[0] == pytest.approx([0, 0, 0.6]) and found.losses[0] == pytest.approx([0, 0.4, 0])


def test_values_alone_become_chances_that_are_worth_them():
    values = np.array([-3.5, -2.5, -1.0, -0.4, 0.0, 0.5, 1.0, 1.2, 2.0, 3.0])
    found = doubling.chances_worth(parse_variant("backgammon"), values)
    assert found.points == pytest.approx(np.clip(values, -3, 3))
    assert (found.wins + found.losses).sum(axis=1) == pytest.approx(1) and (found.wins >= 0).all()
    assert found.wins[5] == pytest.approx([0.75, 0, 0]) and found.wins[7] == pytest.approx([0.8, 0.2, 0])
    assert doubling.chances_worth(parse_variant("hyper"), values).points == pytest.approx(np.clip(values, -1, 1))


@pytest.mark.parametrize("game", ["backgammon", "hyper", "classic", "plakoto"])
def test_chances_give_the_value_of_the_outputs(game):
    variant = parse_variant(game)
    meaning = outputs_of(variant)
    out = np.sort(np.random.default_rng(1).random((20, len(meaning.points))) / 3, axis=1)[:, ::-1]
    cut = 1 + len([p for p in meaning.points if p > 0]) - 1
    out = np.hstack([out[:, :cut], np.sort(out[:, cut:] / 2, axis=1)[:, ::-1]])
    value = meaning.constant + out @ meaning.points
    assert doubling.chances_from(variant, out).points == pytest.approx(value, abs=1e-6)


# ------------------------------------------------------------------------------------------- exactly known positions


@cache
def rolls(mine, theirs, owner):
    """Cubeful equity of n checkers on the ace point against m, by who may double, the player on roll not doubling now.

    A double takes four off, any other throw two. owner: 0 he, 1 the other one, None both may.
    """
    total = 0.0
    for probability, off in ((1 / 6, 4), (5 / 6, 2)):
        if mine <= off:
            total += probability
            continue
        turned = None if owner is None else 1 - owner
        theirs_now = rolls(theirs, mine - off, turned)
        if owner != 0:
            theirs_now = max(theirs_now, min(2 * rolls(theirs, mine - off, 1), 1.0))
        total -= probability * theirs_now
    return total


@pytest.mark.parametrize(("mine", "theirs"), [(2, 2), (4, 2), (4, 4), (6, 4), (3, 4)])
@pytest.mark.parametrize("owner", [None, 0])
def test_looking_to_the_end_gives_the_exact_cube_action(mine, theirs, owner):
    bot = load_bot("backgammon", "pretrained")
    cube = "" if owner is None else " | cube=2 owner=0"
    game = GameState.from_text(
        f"backgammon 1:{mine} off:{15 - mine} | 1:{theirs} off:{15 - theirs} | turn=0 throws=9,9{cube}"
    )
    found = doubling.verdict(bot, game, plies=mine // 2 + theirs // 2 + 2)
    no_double, take = rolls(mine, theirs, owner), 2 * rolls(mine, theirs, 1)
    assert found.equities["no double"] == pytest.approx(no_double, abs=1e-4)  # no cap in the recursion above
    assert found.equities["take"] == pytest.approx(take, abs=1e-4)
    assert found.answer == ("take" if take <= 1 else "drop")
    assert found.action == ("double" if min(take, 1) >= no_double - 1e-9 else "no double")


def test_without_looking_ahead_the_model_alone_judges():
    bot = load_bot("backgammon", "pretrained")
    game = GameState.from_text("backgammon 1:2 off:13 | 1:2 off:13 | turn=0 throws=9,9")
    found = doubling.verdict(bot, game)
    assert found.efficiency == 0.6 and found.chances.winning[0] > 0.99 and found.may_double


# ------------------------------------------------------------------------------------------- bots


RACE = "6:5 5:5 4:5 | 6:10 5:4 4:1 | turn=0 throws=9,9"
START = "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0 throws=1,1"


def state(words="", board=START, game="backgammon"):
    return GameState.from_text(f"{game} {board}{' | ' + words if words else ''}")


def test_who_may_not_double_gets_no_advice_to():
    bot = load_bot("backgammon", "pretrained")
    for words in ("match=3 score=2,0 crawford", "cube=2 owner=1", "cubeless", "cube=64 owner=0"):
        found = doubling.verdict(bot, state(words))
        assert not found.may_double and found.action == "no double" and set(found.equities) == {"no double"}


def test_the_player_behind_doubles_after_the_crawford_game_and_the_leader_does_not():
    bot = load_bot("backgammon", "pretrained")
    behind = doubling.verdict(bot, state("match=5 score=2,4"))
    assert (behind.action, behind.answer) == ("double", "take")
    assert behind.match_chances["take"] > behind.match_chances["no double"]
    assert not doubling.doubles(bot, state("match=5 score=4,1"))
    free = doubling.verdict(
        bot, state("match=5 score=1,4")
    )  # at an even score the leader drops: he has the worse of it
    assert (free.action, free.answer) == ("double", "drop")


def test_a_bot_answers_a_beaver():
    bot = load_bot("backgammon", "pretrained")
    hopeless = "6:5 5:5 24:5 | 2:5 3:5 4:3 off:2 | turn=0 throws=9,9"
    game = state(board=hopeless, game="backgammon:beavers=true").double()
    assert doubling.answer_to_double(bot, game) == "beaver"
    assert doubling.answer_to_double(bot, game.beaver()) == "drop"


def test_shares_of_gammons_are_those_that_the_bot_sees():
    shares = doubling.start_shares(load_bot("backgammon", "pretrained"))
    assert sum(shares) == pytest.approx(1) and 0.2 < shares[1] < 0.32 and 0 < shares[2] < 0.03
    assert doubling.start_shares(load_bot("backgammon", "pips")) == (1, 0, 0)
    assert doubling.start_shares(load_bot("hyper", "pips")) == (1,)


@pytest.mark.skipif(importlib.util.find_spec("gnubg_nn") is None, reason="pip install 'nardy-rl[gnubg]'")
def test_gnubg_judges_by_its_own_chances():
    variant = parse_variant("backgammon")
    states = np.stack([state(board=b).position.state for b in (START, RACE)])
    ours, theirs = (doubling.chances_of(load_bot(variant, name), states) for name in ("pretrained", "gnubg"))
    assert theirs.winning == pytest.approx(ours.winning, abs=0.1)
    assert 0.5 < theirs.winning[0] < 0.55 and theirs.winning[1] > 0.7


def test_matches_too_long_for_a_table_are_played_as_for_money():
    bot = load_bot("backgammon", "pretrained")
    long, money = doubling.verdict(bot, state("match=500")), doubling.verdict(bot, state())
    assert long.equities == money.equities and long.match_chances is None


# ------------------------------------------------------------------------------------------- duels


def plain(result):
    kept = dataclasses.replace(result, games_per_s=0.0, pairs=None)
    return repr(kept)


@pytest.mark.parametrize("stakes", [{"cube": True}, {"match": 3}, {"match": 3, "cube": False}])
def test_equal_bots_come_out_even_whatever_is_played_for(stakes):
    bot = load_bot("backgammon", "pretrained")
    one, other = (duel("backgammon", bot, bot, 24, evaluator="none", batch=n, threads=1, **stakes) for n in (24, 4))
    assert one.ppg == 0 and plain(one) == plain(other)
    assert one.match["share"] == 0.5 if "match" in stakes else one.match["length"] == 0
    assert (one.match["drops"] > 0) is (stakes.get("cube") is not False)


def test_a_game_of_a_duel_with_the_cube_can_be_played_by_hand():
    # The same games, replayed state by state with `doubles` and `answer_to_double`, come to the same points.
    from nardy_rl.experiments.cube_games import CubeGames
    from nardy_rl.experiments.matches import Matches
    from nardy_rl.experiments.paired import Duellists, play_pairs
    from nardy_rl.match import Match
    from nardy_rl.position import Position

    variant = parse_variant("backgammon:jacoby=true")
    bots = load_bot(variant, "pretrained"), load_bot(variant, "pips")
    (part,) = play_pairs(Duellists(variant, *bots, seed=3), 6, 1, keep_plays=True)
    scored = Matches(*bots, 0, True).add(part)
    assert CubeGames(*bots).courses(part)[0].points == part.points[0]
    for number in range(6):
        game = GameState(Match(variant), Position.opening(variant, 0))
        for step in part.plays:
            for at in np.flatnonzero(step.games == number):
                game = dataclasses.replace(game, position=Position(variant, step.afterstates[at]))
                mover = bots[game.position.player ^ (number & 1)]
                other = bots[1 - (game.position.player ^ (number & 1))]
                if game.over or game.no_double or not doubling.doubles(mover, game):
                    continue
                game = getattr(game.double(), doubling.answer_to_double(other, game.double()))()
                if game.over:
                    break
            if game.over:
                break
        assert game.score(number & 1) == scored.points[number]


def test_the_command_plays_with_the_cube(capsys):
    words = ["evaluate", "backgammon", "--a", "pretrained", "--b", "pips", "--games", "20", "--threads", "1"]
    assert run([*words, "--cube", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["match"]["cube"] and data["match"]["length"] == 0 and data["adjusted_by"] is None
    assert run([*words, "--cube"]) == 0 and "for money, with the cube; " in capsys.readouterr().out
    assert run([*words, "--match", "2"]) == 0 and "matches to 2, with the cube: " in capsys.readouterr().out
    assert run(["evaluate", "classic", "--a", "pips", "--b", "pips", "--cube"]) == 2
    assert "classic has no doubling cube" in capsys.readouterr().err


def test_a_game_without_a_cube_is_not_played_with_one():
    with pytest.raises(ValueError, match="classic has no doubling cube: leave --cube out"):
        duel("classic", load_bot("classic", "pips"), load_bot("classic", "pips"), 2, cube=True)
