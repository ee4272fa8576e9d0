"""Position: text both ways, what it shows, what it refuses; and the batch that kernels take."""

import pickle

import numpy as np
import pytest

import nardy_rl
from nardy_rl.batch import plays
from nardy_rl.dice import ROLLS
from nardy_rl.errors import BadPosition, IllegalPlay
from nardy_rl.experiments.compare import random_decisions
from nardy_rl.position import Position, check_state, crossed
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS, parse_variant

OTHER_READINGS = (
    "classic:last_throw=true",
    "crazy-v1:stop=no,completion=once,extra=once",
    "crazy-gulbar:extra=unlimited,extra_if_cancelled=true",
    "plakoto-express:completion=ping-pong",
    "shootout:stack=1",
    "sudden-death:start=shootout",
)


def random_game(variant, seed):
    """All positions of a game of random play, the throws included."""
    rng = np.random.default_rng(seed)
    position = Position.opening(variant, seed)
    yield position
    while not position.over:
        if position.owes:
            after = position.plays()
            position = after[rng.integers(len(after))]
        else:
            position = position.throw(*rng.integers(1, 7, 2))
        yield position


@pytest.mark.parametrize("name", [*VARIANTS, *OTHER_READINGS])
def test_the_text_of_every_position_of_a_game_reads_back(name):
    for seed in (1, 2):
        for position in random_game(name, seed):
            again = Position.from_text(position.text)
            assert again == position and hash(again) == hash(position) and again.text == position.text


@pytest.mark.parametrize("name", VARIANTS)
def test_checkers_are_neither_lost_nor_gained(name):
    for position in random_game(name, 3):
        assert (position.counts.sum(axis=1) == VARIANTS[name].checkers).all()
        check_state(position.variant, position.state)
    assert position.over and position.score(0) == -position.score(1)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_position_of_a_game_has_a_picture(name):
    for position in random_game(name, 4):
        lines = position.picture().splitlines()
        assert len(lines) == 21 and all(len(line) < 80 for line in lines)


def test_every_word_of_the_text_occurs_in_random_games():
    seen = set()
    for name in ("crazy-v1", "crazy-gulbar"):
        for seed in range(12):
            for position in random_game(name, seed):
                seen |= {word.split("=")[0] for word in position.text.split("|")[2].split()}
    assert seen == {
        *("turn", "thrower", "starter", "throws", "dice", "owed", "head"),
        *("handed", "idle", "extra", "grace", "over"),
    }


def test_the_start_is_before_the_first_throw():
    start = Position.start("backgammon", starter=1)
    assert start.text == "backgammon 24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=1 starter=1"
    assert (start.player, start.thrower, start.starter) == (1, 1, 1)
    assert (start.dice, start.owed, start.owes, start.over, start.throws) == ((), (), False, False, (0, 0))


def test_the_opening_of_a_seed_is_always_the_same_and_games_differ():
    for name in VARIANTS:
        assert Position.opening(name, 5, 7) == Position.opening(name, 5, 7)
        openings = {Position.opening(name, 5, game) for game in range(20)}
        assert len(openings) > 5
        assert all(p.owes and p.player == p.starter and sum(p.throws) == 1 for p in openings)


def test_where_the_opening_dice_are_played_they_are_no_double():
    rolls = [Position.opening("backgammon", 1, game).dice for game in range(200)]
    assert all(a != b for a, b in rolls)
    assert any(a == b for a, b in (Position.opening("classic", 1, game).dice for game in range(200)))


def test_a_throw_owes_its_stages_in_order():
    assert Position.start("backgammon").throw(1, 3).owed == ((3, 1), (1, 1))
    assert Position.start("backgammon").throw(3, 3).owed == ((3, 4),)
    assert Position.start("crazy-gulbar").throw(4, 4).owed == ((4, 4), (5, 4), (6, 4))


def test_a_position_cannot_be_changed():
    position = Position.start("hyper")
    with pytest.raises(AttributeError, match="cannot be changed"):
        position.state = position.state
    with pytest.raises(ValueError, match="read-only"):
        position.state[0] = 1
    position.plays if position.owes else position.throw(2, 1).plays()
    assert position == Position.start("hyper")


def test_a_position_goes_through_pickle():
    position = Position.opening("crazy-v1", 3)
    assert pickle.loads(pickle.dumps(position)) == position


def test_positions_of_different_games_are_different():
    assert Position.start("crazy-v2") != Position.start("crazy-v3")
    assert Position.start("classic") != "classic"


def test_counts_and_pins_are_by_player_in_his_own_numbering():
    position = Position.from_text("plakoto 24:14 3:1^ | 24:12 22:3 | turn=1")
    assert position.counts[0, 3] == 1 and position.counts[1, 22] == 3
    assert position.pins == ((3,), ())


def test_crossing_a_point_twice_is_the_point():
    for parallel in (True, False):
        assert sorted(crossed(d, parallel) for d in range(1, 25)) == list(range(1, 25))
        assert all(crossed(crossed(d, parallel), parallel) == d for d in range(1, 25))


def test_the_picture_of_backgammon():
    assert Position.from_text(
        "backgammon bar:1 24:1 13:5 8:3 6:5 | 24:1 13:5 8:3 6:6 | turn=0 throws=2,1 dice=31"
    ).picture() == "\n".join(
        [
            "    Backgammon (backgammon)",
            "",
            " O    13 14 15 16 17 18         19 20 21 22 23 24",
            " X    12 11 10  9  8  7          6  5  4  3  2  1",
            "    +-------------------+ BAR +-------------------+",
            "    |  O           X    |  O  |  X              O |",
            "    |  O           X    |     |  X                |   X: 149 pips, 0 off",
            "    |  O           X    |     |  X                |",
            "    |  O                |     |  X                |",
            "    |  O                |     |  6                |",
            "    |                   |     |                   |",
            "    |  X                |     |  O                |",
            "    |  X                |     |  O                |",
            "    |  X           O    |     |  O                |",
            "    |  X           O    |     |  O                |",
            "    |  X           O    |     |  O              X |   O: 168 pips, 0 off",
            "    +-------------------+-----+-------------------+",
            " X    13 14 15 16 17 18         19 20 21 22 23 24",
            " O    12 11 10  9  8  7          6  5  4  3  2  1",
            "",
            "    O is to play 3-1.",
        ]
    )


def test_in_the_long_games_the_second_head_stands_at_the_lower_left():
    lines = Position.start("classic").picture().splitlines()
    assert lines[5].rstrip().endswith("O |") and lines[15].startswith("    |  X")
    assert "15" in lines[9] and "15" in lines[11]


def test_a_pinned_checker_is_a_small_letter_at_the_edge():
    lines = Position.from_text("plakoto 24:14 6:1^ | 24:13 19:2 | turn=1").picture().splitlines()
    assert lines[15].startswith("    |") and "|  o" in lines[15] and "|  X" in lines[14] and "|  X" in lines[13]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("crazy-v1 24:15 | 24:15 | turn=1 thrower=0 throws=1,0 dice=22 owed=2x3,3x4,4x4,5x4,6x4 handed",
         "X is to complete O's 2-2: 2 2 2, then four each of 3 4 5 6"),
        ("crazy-v1 24:15 | 24:15 | turn=0 throws=1,1 extra", "O is to throw again"),
        ("classic 24:15 | 24:15 | turn=0 throws=1,0 dice=31", "O is to play 3-1."),
        ("classic off:15 | 24:15 | turn=0 over=off", "O has won 2 points"),
        ("plakoto 24:15 | 24:15 | turn=0 over=draw", "a draw"),
    ],
)  # fmt: skip
def test_the_picture_says_who_acts(text, words):
    assert words in Position.from_text(text).picture()


BACKGAMMON = "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not GAME LAYOUT"),
        ("backgammon", "is not GAME LAYOUT"),
        ("backgammon 24:15 | turn=0", "is not GAME LAYOUT"),
        (f"backgamon {BACKGAMMON} | turn=0", "did you mean 'backgammon'"),
        (f"backgammon:koks=true {BACKGAMMON} | turn=0", "koks"),
        (f"game.toml {BACKGAMMON} | turn=0", "game.toml"),
        (f"backgammon {BACKGAMMON} |", "turn=0 or turn=1 is missing"),
        (f"backgammon {BACKGAMMON} | turn=2", "0 or 1"),
        (f"backgammon {BACKGAMMON} | turn", "0 or 1"),
        (f"backgammon {BACKGAMMON} | turn=0 turn=1", "given twice"),
        (f"backgammon {BACKGAMMON} | turn=0 dices=31", "did you mean 'dice'"),
        (f"backgammon {BACKGAMMON} | turn=0 dice=13", "the larger first"),
        (f"backgammon {BACKGAMMON} | turn=0 dice=70", "digits from 1 to 6"),
        (f"backgammon {BACKGAMMON} | turn=0 owed=3", "no dice are thrown"),
        (f"backgammon {BACKGAMMON} | turn=0 dice=31 owed=2", "cannot be owed"),
        (f"backgammon {BACKGAMMON} | turn=0 dice=33 owed=3x2,5x4", "cannot be owed"),
        (f"backgammon {BACKGAMMON} | turn=0 dice=33 owed=3x2,4x4", "no progressions"),
        (f"backgammon {BACKGAMMON} | turn=0 thrower=1 dice=31", "nothing of the kind"),
        (f"backgammon {BACKGAMMON} | turn=0 dice=31 handed", "nothing of the kind"),
        (f"backgammon {BACKGAMMON} | turn=0 handed=1", "stands alone"),
        (f"backgammon {BACKGAMMON} | turn=0 throws=1", "two numbers"),
        (f"backgammon {BACKGAMMON} | turn=0 throws=70000,1", "too many"),
        (f"backgammon {BACKGAMMON} | turn=0 over=off", "cannot be over"),
        (f"backgammon {BACKGAMMON} | turn=0 over=hit", "cannot be over"),
        (f"backgammon {BACKGAMMON} | turn=0 over=won", "one of off, hit"),
        ("backgammon 24:2 13:5 8:3 6:4 | 24:2 13:5 8:3 6:5 | turn=0", "player 0 has 14 checkers"),
        ("backgammon 24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:6 | turn=0", "16 checkers"),
        ("backgammon 24:2 13:5 8:3 6:x | 24:2 13:5 8:3 6:5 | turn=0", "'6:x' is not POINT:NUMBER"),
        ("backgammon 24:2 24:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0", "named twice"),
        ("backgammon 24:2 26:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0", "'26:5'"),
        ("backgammon 24:1 13:5 8:3 6:5 1:1 | 24:2 13:5 8:3 6:5 | turn=0", "both players stand on"),
        ("backgammon 24:2^ 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0", "knows no pins"),
        ("backgammon off:15 | 24:15 | turn=0", "not said to be over"),
        ("classic bar:1 24:14 | 24:15 | turn=0", "no bar"),
        ("classic 24:14 12:1 | 24:15 | turn=0", "player 0's 12, player 1's 24"),
        ("classic 24:15 | 24:15 | turn=0 head=1,0", "no throw is being played"),
        ("crazy-v1 24:15 | 24:15 | turn=0 thrower=1 dice=31", "nothing is handed"),
        ("crazy-v1 24:15 | 24:15 | turn=0 dice=31 handed idle=2", "idle=2"),
        ("plakoto 24:15 | 24:14 1:1 | turn=0", "neither is pinned"),
        ("plakoto 24:1^ 2:14 | 24:14 1:1^ | turn=0", "both are pinned"),
        ("plakoto 24:15^ | 24:14 1:1 | turn=0", "is pinned on 24"),
        ("plakoto 24:14 1:1^ | 23:15 | turn=0", "is pinned on 1"),
        ("plakoto off:1^ 24:14 | 24:15 | turn=0", "only a checker on a point"),
        ("hyper 24:1 23:1 22:1 | 24:15 | turn=0", "a side has 3"),
    ],
)
def test_a_text_that_is_no_position_is_refused_in_one_sentence(text, words):
    with pytest.raises(BadPosition) as caught:
        Position.from_text(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert " ".join(text.split()) in str(caught.value)


def test_something_else_than_a_text_is_refused():
    with pytest.raises(BadPosition, match="not from NoneType"):
        Position.from_text(None)


def test_a_users_own_game_is_read_with_its_variant():
    own = Variant("own", "Own", start="24:2 20:3")
    position = Position.start(own).throw(3, 1)
    assert Position.from_text(position.text, own) == position
    with pytest.raises(BadPosition, match="unknown variant 'own'"):
        Position.from_text(position.text)
    with pytest.raises(BadPosition, match="is one of 'own'"):
        Position.from_text(position.text, VARIANTS["hyper"])


def test_a_state_that_cannot_stand_in_a_game_is_refused():
    state = np.array(Position.start("backgammon").state)
    for word, value in ((0, 0), (8, 1 << 24), (11, 7), (11, 1 << 20), (13, 36), (14, 1), (10, 1 << 20)):
        wrong = state.copy()
        wrong[word] = value
        with pytest.raises(BadPosition):
            Position("backgammon", wrong)
    with pytest.raises(BadPosition, match=r"uint32\[16\]"):
        Position("backgammon", state[:15])
    with pytest.raises(BadPosition, match=r"uint32\[16\]"):
        Position("backgammon", state.astype(np.int64))
    assert Position("backgammon", state) == Position.start("backgammon")


def test_nobody_plays_before_a_throw_or_throws_before_a_play():
    start = Position.start("backgammon")
    with pytest.raises(IllegalPlay, match="has to throw before"):
        start.plays()
    with pytest.raises(IllegalPlay, match="still has to play 3,1"):
        start.throw(3, 1).throw(3, 1)
    for dice in ((0, 1), (7, 1), (1.5, 1), ("6", 1)):
        with pytest.raises(IllegalPlay, match="from 1 to 6"):
            start.throw(*dice)


def test_nobody_plays_or_throws_when_the_game_is_over():
    over = Position.from_text("classic off:15 | 24:15 | turn=0 over=off")
    assert (over.over, over.score(0), over.score(1)) == (True, 2.0, -2.0)
    with pytest.raises(IllegalPlay, match="over"):
        over.plays()
    with pytest.raises(IllegalPlay, match="over"):
        over.throw(1, 2)


def test_there_is_no_score_before_the_end():
    with pytest.raises(BadPosition, match="not over"):
        Position.start("classic").score(0)
    with pytest.raises(BadPosition, match="players are 0 and 1"):
        Position.start("classic").score(2)


def test_a_starter_or_seed_that_cannot_be_is_refused():
    with pytest.raises(BadPosition, match="starter=2"):
        Position.start("classic", starter=2)
    with pytest.raises(BadPosition, match="seed=-1"):
        Position.opening("classic", -1)


# ------------------------------------------------------------------------------------------ many at once


@pytest.mark.parametrize("name", VARIANTS)
def test_many_positions_at_once_have_the_plays_of_each_alone(name):
    states = random_decisions(name, 150, seed=8)
    after, first = plays(name, states)
    assert after.dtype == np.uint32 and after.shape == (first[-1], 16)
    assert first.dtype == np.int64 and first.shape == (151,) and first[0] == 0
    for state, a, b in zip(states, first, first[1:], strict=False):
        alone = Position(VARIANTS[name], state).plays()
        assert [p.state.tobytes() for p in alone] == [row.tobytes() for row in after[a:b]]


def test_dice_are_thrown_only_where_nothing_is_owed():
    waiting = Position.start("backgammon")
    thrown = waiting.throw(6, 4)
    states = np.stack([waiting.state, thrown.state])
    after, first = plays("backgammon", states, [[3, 1], [1, 1]])
    assert np.diff(first).tolist() == [len(waiting.throw(3, 1).plays()), len(thrown.plays())]
    assert (states == [waiting.state, thrown.state]).all()


def test_room_is_made_for_many_plays():
    position = Position.start("shootout")
    after, first = plays("shootout", np.tile(position.state, (21, 1)), ROLLS)
    assert len(after) == first[-1] == 4487
    after, first = plays("shootout", np.tile(position.throw(1, 1).state, (40, 1)))
    assert len(np.unique(after, axis=0)) == first[1] and len(after) == 40 * first[1]


def test_no_positions_have_no_plays():
    after, first = plays("classic", np.zeros((0, 16), np.uint32), np.zeros((0, 2), np.int64))
    assert after.shape == (0, 16) and first.tolist() == [0]


def test_arrays_of_another_kind_are_refused():
    state = np.array(Position.start("backgammon").state)[None]
    for states, dice, words in (
        (state.astype(np.int64), [[1, 2]], r"uint32\[N, 16\], not int64\[1, 16\]"),
        (state[:, :8], [[1, 2]], r"not uint32\[1, 8\]"),
        (state[0], [[1, 2]], r"not uint32\[16\]"),
        (state, [1, 2], r"dice must be whole numbers \[1, 2\]"),
        (state, [[1.0, 2.0]], "dice must be whole numbers"),
        (state, [[0, 2]], r"dice\[0\] = \[0, 2\]"),
        (state, None, r"states\[0\] owes nothing"),
        (Position.from_text("hyper off:3 | 24:3 | turn=0 over=off").state[None], [[1, 2]], "finished"),
    ):
        with pytest.raises(BadPosition, match=words):
            plays("backgammon", states, dice)


def test_the_public_surface_is_there():
    for name in nardy_rl.__all__:
        assert getattr(nardy_rl, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        nardy_rl.nothing  # noqa: B018
    assert nardy_rl.parse_variant("classic") == parse_variant("classic")
