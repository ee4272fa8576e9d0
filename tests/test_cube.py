"""The doubling cube and match play: who may do what when, what it costs, and that every option changes something."""

from dataclasses import FrozenInstanceError
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nardy_rl.cube import Cube, GameState, Offer
from nardy_rl.errors import BadMatch, BadPosition, IllegalPlay
from nardy_rl.match import Match, Result
from nardy_rl.position import Position
from nardy_rl.results import score_levels
from nardy_rl.variants import VARIANTS, parse_variant

MIDDLE = "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0 throws=1,1"
LAST = "1:1 off:14 | 20:2 13:5 8:3 6:5 | turn=0 throws=9,9 dice=21"  # player 0 bears off, player 1 loses three


def state(words="", game="backgammon", board=MIDDLE):
    return GameState.from_text(f"{game} {board}{' | ' if words else ''}{words}")


def refused(action, *words):
    with pytest.raises(IllegalPlay) as caught:
        action()
    for word in words:
        assert word in str(caught.value)


# ------------------------------------------------------------------------------------------------- the cube


def test_a_double_that_is_taken_doubles_the_stake_and_gives_the_cube_to_the_taker():
    game = state()
    assert game.actions == ("throw", "double", "resign")
    offered = game.double()
    assert (offered.player, offered.actions, offered.stake) == (1, ("take", "drop"), 1)
    taken = offered.take()
    assert (taken.stake, taken.cube.owner, taken.player) == (2, 1, 0)
    assert taken.actions == ("throw", "resign")
    refused(taken.double, "player 0 may not double", "player 1 owns the cube")
    later = taken.throw(2, 1).after("13/11 6/5")
    assert later.player == 1 and later.double().take().cube == Cube(4, 0)


def test_a_double_that_is_dropped_loses_the_stake_before_it():
    for cube, points in (("", 1), ("cube=2 owner=0", 2), ("cube=16 owner=0", 16)):
        game = state(cube).double().drop()
        assert game.over and game.result == Result(0, points, "drop")
        assert (game.score(0), game.score(1)) == (points, -points)
        assert game.actions == () and game.player == 0


def test_the_cube_is_offered_before_the_throw_and_not_after_it():
    refused(state().throw(3, 1).double, "he has thrown")


def test_nobody_doubles_before_the_opening_dice_are_played():
    for name in ("backgammon", "backgammon:opening=reroll", "hyper"):
        start = GameState(Match(name), Position.start(name))
        refused(start.double, "the opening dice are not played yet")
        assert "double" not in start.actions
        opening = GameState(Match(name), Position.opening(name, seed=3))
        refused(opening.double, "he has thrown")
        second = opening.after(opening.position.plays()[0])
        assert "double" in second.actions and second.player != opening.player


def test_while_an_offer_is_open_nothing_else_is_done():
    offered = state().double()
    refused(lambda: offered.throw(2, 1), "player 1 has to answer the double")
    refused(offered.double, "the double is not answered yet")
    refused(offered.resign, "player 1 has to answer the double")
    refused(offered.accept, "no resignation to answer")
    refused(state().take, "no double or beaver to answer", "no offer is open")


def test_at_the_cap_there_is_no_offer():
    at_cap = state("cube=64 owner=0")
    assert "double" not in at_cap.actions
    refused(at_cap.double, "its cap of 64")
    assert state("cube=32 owner=0").double().take().stake == 64


def test_the_option_cube_cap_sets_another_cap():
    assert "double" in state("cube=2 owner=0").actions
    refused(state("cube=2 owner=0", "backgammon:cube_cap=2").double, "its cap of 2")
    refused(state(game="backgammon:cube_cap=1").double, "its cap of 1")


def test_a_game_without_a_cube_has_no_double():
    for name in (name for name, variant in VARIANTS.items() if not variant.cube):
        opening = GameState(Match(name), Position.opening(name, seed=1))
        refused(opening.double, f"{name} has no doubling cube")
        assert "double" not in opening.actions and opening.match.cube is False
    with pytest.raises(BadMatch, match="classic has no doubling cube"):
        Match("classic", 5, cube=True)


def test_a_match_may_be_played_without_the_cube():
    game = GameState(Match("backgammon", 5, cube=False), state().position)
    refused(game.double, "the cube is not in play")
    assert GameState.from_text(game.text) == game and "cubeless" in game.text
    assert Match("backgammon", 5, (4, 0), cube=False).crawford is False


def test_a_dead_cube_may_be_turned_though_it_gains_nothing():
    game = state("match=3 score=1,0 cube=2 owner=0")
    assert game.double().take().stake == 4


# ------------------------------------------------------------------------------------------------- options


def test_beavers_let_the_taker_redouble_at_once_and_keep_the_cube():
    refused(state().double().beaver, "beavers are off")
    game = state(game="backgammon:beavers=true").double()
    assert game.actions == ("take", "drop", "beaver")
    beavered = game.beaver()
    assert (beavered.player, beavered.actions) == (0, ("take", "drop"))
    assert beavered.take().cube == Cube(4, 1)
    assert beavered.drop().result == Result(1, 2, "drop")  # the beaver was a take
    refused(beavered.beaver, "no double to answer")


def test_beavers_are_for_money_and_stop_at_the_cap():
    refused(state("match=5", "backgammon:beavers=true").double().beaver, "for money play only")
    refused(state("cube=32 owner=0", "backgammon:beavers=true").double().beaver, "beyond its cap of 64")
    assert state("cube=16 owner=0", "backgammon:beavers=true").double().beaver().take().stake == 64


@pytest.mark.parametrize(("words", "points"), [("", 1), ("cube=2 owner=1", 6), ("cube=4 owner=0", 12), ("match=9", 3)])
def test_jacoby_counts_gammons_only_when_the_cube_was_turned_and_only_for_money(words, points):
    finished = state(words, "backgammon:jacoby=true", LAST).after("1/off")
    assert finished.result == Result(0, points, "play")
    without = state(words, board=LAST).after("1/off")
    assert without.result.points == 3 * without.stake
    if points == 1:
        resigned = state(words, "backgammon:jacoby=true").resign(3).accept()
        assert resigned.result == Result(1, 1, "resign")


def test_crawford_forbids_the_cube_in_one_game_and_only_there():
    match = Match("backgammon", 5, (3, 2))
    assert not match.crawford
    reached = match.after(Result(0, 1, "play"))
    assert reached.crawford and reached.score == (4, 2)
    refused(GameState(reached, state().position).double, "this is the Crawford game")
    behind = reached.after(Result(1, 1, "play"))
    assert behind.score == (4, 3) and not behind.crawford
    assert "double" in GameState(behind, state().position).actions
    assert not behind.after(Result(1, 1, "play")).crawford


def test_without_the_option_crawford_the_cube_stays_in_play():
    reached = Match("backgammon:crawford=false", 5, (3, 2)).after(Result(0, 1, "play"))
    assert not reached.crawford
    assert "double" in GameState(reached, Position(reached.variant, state().position.state)).actions
    with pytest.raises(BadMatch, match="no Crawford game in backgammon:crawford=false"):
        Match("backgammon:crawford=false", 5, (4, 2), crawford=True)


# ------------------------------------------------------------------------------------------------- resigning


def test_a_resignation_is_offered_and_accepted_or_refused():
    game = state("match=7 cube=2 owner=1").throw(3, 1)
    offered = game.resign(2)
    assert (offered.player, offered.actions) == (1, ("accept", "refuse"))
    assert offered.refuse() == game
    assert offered.accept().result == Result(1, 4, "resign")
    assert game.resign(1, player=1).accept().result == Result(0, 2, "resign")


@pytest.mark.parametrize("name", VARIANTS)
def test_every_game_can_be_resigned_for_what_it_can_be_lost_for(name):
    game = GameState(Match(name, 3), Position.opening(name, seed=1))
    for level in score_levels(VARIANTS[name]):
        assert game.resign(level).accept().result.points == level
    refused(lambda: game.resign(max(score_levels(VARIANTS[name])) + 1), "a game is worth 1")
    refused(lambda: game.resign(0), "a game is worth 1")


def test_a_finished_game_is_not_resigned():
    finished = state(board=LAST).after("1/off")
    for action in (finished.resign, finished.double, lambda: finished.throw(2, 1), lambda: finished.after("pass")):
        refused(action, "the game is over")


# ------------------------------------------------------------------------------------------------- matches


def test_a_match_ends_when_a_score_reaches_its_length():
    match = Match("backgammon", 3)
    match = match.after(Result(0, 2, "play")).after(Result(1, 1, "drop"))
    assert (match.score, match.over, match.winner, match.needs) == ((2, 1), False, None, (1, 2))
    match = match.after(Result(1, 4, "play"))
    assert (match.score, match.over, match.winner, match.needs) == ((2, 5), True, 1, (1, 0))
    with pytest.raises(BadMatch, match="over at 2-5: no more games"):
        match.after(Result(0, 1, "play"))
    with pytest.raises(BadMatch, match="no game is played in it"):
        GameState(match, state().position)


def test_money_play_never_ends():
    match = Match("backgammon").after(Result(0, 64, "play"))
    assert match.money and not match.over and match.needs is None and match.winner is None


def test_a_draw_moves_no_score():
    match = Match("plakoto", 3, (2, 2)).after(Result(None, 0, "play"))
    assert match.score == (2, 2) and not match.over


def test_games_without_a_cube_are_played_to_points():
    match, seed = Match("classic", 3), 0
    while not match.over:
        position = Position.opening("classic", seed)
        rng = np.random.default_rng(seed)
        game = GameState(match, position)
        while not game.over:
            plays = game.position.plays() if game.position.owes else []
            game = game.after(plays[rng.integers(len(plays))]) if plays else game.throw(*rng.integers(1, 7, 2))
        assert game.result.points == abs(game.position.score(0))
        match, seed = game.next_match, seed + 1
    assert match.winner is not None and not match.crawford


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Match("backgammon", -1), "a match to -1 points"),
        (lambda: Match("backgammon", 40_000), "from 1 to 32767"),
        (lambda: Match("backgammon", 7, (1,)), "two whole numbers"),
        (lambda: Match("backgammon", 7, (-1, 0)), "two whole numbers"),
        (lambda: Match("backgammon", 7, (7, 7)), "only one wins it"),
        (lambda: Match("backgammon", 7, (5, 2), crawford=True), "no Crawford game at 5-2 in a match to 7"),
        (lambda: Match("backgammon", 7, (6, 6), crawford=True), "one player, not both"),
        (lambda: Match("backgammon", crawford=True), "no Crawford game in money play"),
        (lambda: Match("classic", 7, (6, 2), crawford=True), "where the cube is not in play"),
        (lambda: Match("backgammon", 7).after(Result(2, 1, "play")), "is no result"),
        (lambda: Match("backgammon", 7).after(Result(None, 1, "play")), "is no result"),
        (lambda: Cube(3, 0), "a cube at 3"),
        (lambda: Cube(2), "a cube at 2 in the middle"),
        (lambda: Cube(1, 0), "a cube at 1 owned by player 0"),
        (lambda: Cube(2, 2), "owner 2"),
        (lambda: state("cube=128 owner=0"), "a cube at 128, but its cap is 64"),
        (lambda: state("cube=2 owner=0", "backgammon:cube_cap=1"), "its cap is 1"),
        (lambda: state("cube=2 owner=0", "classic", "24:15 | 24:15 | turn=0"), "the cube is not in play"),
        (lambda: state("match=3 score=2,0 crawford cube=2 owner=0"), "in the Crawford game"),
        (lambda: state("double", board=MIDDLE + " dice=31"), "he has thrown"),
        (lambda: state("beaver"), "beavers are off"),
        (lambda: state("double beaver"), "only one offer can be open"),
        (lambda: state("resign=0,4"), "a game is worth 1, 2, 3 points"),
        (lambda: state("won=0,3,drop"), "no game can be given up as (0, 3, 'drop')"),
        (lambda: state("won=0,2,drop"), "no game can be given up as (0, 2, 'drop')"),
        (lambda: state("match=3 score=2,0 crawford won=0,1,drop"), "no game can be given up"),
        (lambda: state("double won=0,1,drop"), "the game is over"),
        (lambda: state("won=0,1,drop", board="off:15 | 24:15 | turn=0 over=off"), "played to its end"),
        (lambda: GameState(Match("nackgammon"), state().position), "a position of backgammon in a match of nackgammon"),
        (lambda: GameState(Match("backgammon"), state().position, offer=Offer("double", 1)), "he is not to throw"),
        (lambda: GameState(Match("backgammon"), state().position, offer=Offer("double", 7)), "the players are 0 and 1"),
        (lambda: GameState(Match("backgammon"), state().position, offer=Offer("bribe", 0)), "an offer is 'double'"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(make, words):
    with pytest.raises(BadMatch) as caught:
        make()
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("cubes=2", "unknown word 'cubes=2'; did you mean 'cube'?"),
        ("cube=x", "'cube=x': cube= needs its value"),
        ("match=3 match=3", "'match' is given twice"),
        ("double=1", "'double' stands alone"),
    ],
)
def test_a_bad_text_is_refused(words, reason):
    with pytest.raises(BadPosition) as caught:
        state(words)
    assert reason in str(caught.value)


def test_asking_for_a_result_too_early_is_refused():
    for action in (lambda: state().score(0), lambda: state().next_match):
        with pytest.raises(BadPosition, match="the game is not over"):
            action()


def test_nothing_can_be_changed():
    for thing, name in ((state(), "cube"), (state().match, "score"), (state().cube, "value")):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, None)


def test_a_play_that_is_none_is_refused():
    refused(lambda: state().throw(3, 1).after(state().position), "no play leads from")


# ------------------------------------------------------------------------------------------------- properties

GAMES = ("backgammon", "backgammon:jacoby=true,beavers=true", "hyper:beavers=true", "backgammon:cube_cap=4", "classic")


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(GAMES), st.integers(0, 7), st.integers(0, 2**32))
def test_what_holds_in_every_match(name, length, seed):
    """Random actions: zero-sum, the stake only doubles, text reads back, a match ends exactly at its length."""
    variant, random = parse_variant(name), Random(seed)
    match, crawfords = Match(variant, length), 0
    for number in range(6):
        game = GameState(match, Position.opening(variant, random.randrange(1000), number))
        for _ in range(60):
            before = game
            game = _any_action(game, random)
            assert GameState.from_text(game.text, variant) == game
            assert game.stake in (before.stake, 2 * before.stake, 4 * before.stake)
            assert game.stake <= variant.cube_cap and (game.stake == 1 or not match.crawford)
            assert (game.actions == ()) is game.over is (game.result is not None)
            if game.over:
                break
        if not game.over:
            game = (game if game.offer is None else _answered(game)).resign(1).accept()
        assert game.score(0) == -game.score(1) and abs(game.score(0)) == game.result.points
        assert game.result.points % game.stake == 0
        after = game.next_match
        assert sum(after.score) - sum(match.score) == game.result.points
        assert after.over is (length > 0 and max(after.score) >= length)
        crawfords += bool(match.crawford)
        match = after
        if match.over:
            break
    assert crawfords <= 1


def _any_action(game, random):
    name = random.choice([action for action in game.actions if action != "resign" or random.random() < 0.1])
    if name == "throw":
        return game.throw(random.randint(1, 6), random.randint(1, 6))
    if name == "after":
        return game.after(random.choice(game.position.plays()))
    if name == "resign":
        return game.resign(random.choice(score_levels(game.variant)), random.randint(0, 1))
    return getattr(game, name)()


def _answered(game):
    return game.refuse() if game.offer.kind == "resign" else game.take()
