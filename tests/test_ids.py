"""Position IDs, Match IDs, XGIDs and FIBS boards: both ways, as gnubg writes them, and what is refused."""

import base64
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from gnubg_program import ask, played_over_socket, program, random_states

from nardy_rl.cube import Cube, GameState
from nardy_rl.errors import BadMatch, BadPosition, NardyError
from nardy_rl.experiments.compare import has_gnubg, random_boards, random_decisions, states_of_boards
from nardy_rl.fibs import fibs_board, from_fibs_board
from nardy_rl.ids import from_gnubg_id, from_position_id, gnubg_id, match_id, position_id
from nardy_rl.match import Match
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS, parse_variant
from nardy_rl.xgid import from_xgid, xgid

RECORDED = [json.loads(line) for line in (Path(__file__).parent / "ids" / "gnubg.jsonl").read_text().splitlines()]
START = "4HPwATDgc/ABMA"
SAID = [name for name, v in VARIANTS.items() if v.contact == "hit"]
UNSAID = [name for name in VARIANTS if name not in SAID]
WRITERS = {
    "a Position ID": lambda game: position_id(game.position),
    "a Match ID": match_id,
    "an XGID": xgid,
    "a FIBS board": fibs_board,
}
BOARDS = "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5"
MID = f"backgammon {BOARDS} | turn=0"


def same(read, game):
    """Is it the same state but for the number of throws, which the forms do not say."""
    words = [word for word in game.position.text.split() if not word.startswith(("throws=", "starter="))]
    again = [word for word in read.position.text.split() if not word.startswith(("throws=", "starter="))]
    rest = (read.match, read.cube, read.offer) == (game.match, game.cube, game.offer)
    return words == again and rest


# ------------------------------------------------------------------------------------------------- as gnubg has it


def check_against_gnubg(game, answer):
    """Our IDs of a state are those that gnubg makes, and those of the state that it sets up from our XGID."""
    assert answer["position_id"] == position_id(game.position)
    match = game.match if game.match.length else replace(game.match, score=(0, 0))
    assert answer["match_id"] == match_id(replace(game, match=match))  # its function leaves out the score for money
    if answer.get("understood"):
        before = replace(game, offer=None)  # it steps back to before an offer
        if game.position.player == 0:  # it seats the player on roll as player 1
            before = turned_round(before)
        assert answer["understood"] == [position_id(before.position), match_id(before)]
    if answer.get("raw"):
        # from player 1's side, who is named first and called O: what we call player 0
        read, mine = from_fibs_board(game.variant, answer["raw"]), turned_round(game)
        assert (read.position.counts == mine.position.counts).all()
        for part in ("player", "dice"):
            assert getattr(read.position, part) == getattr(mine.position, part)
        assert (read.match, read.cube) == (mine.match, mine.cube)


def turned_round(game):
    """The same state with the players' numbers exchanged; throws are not kept."""
    game_word, layout0, layout1 = game.position.text.split("|")[0].split(" ", 1)[0], *layouts(game.position)
    dice = "".join(map(str, game.position.dice))
    text = f"{game_word} {layout1} | {layout0} | turn={1 - game.position.player}{' dice=' + dice if dice else ''}"
    owner = None if game.cube.owner is None else 1 - game.cube.owner
    position = Position.from_text(text)
    return GameState(replace(game.match, score=game.match.score[::-1]), position, Cube(game.cube.value, owner))


def layouts(position):
    first, second, _ = position.text.split("|")
    return first.split(" ", 1)[1].strip(), second.strip()


def test_the_recorded_answers_cover_what_matters():
    texts = " ".join(record["text"] for record in RECORDED)
    for word in (
        "bar:",
        "off:",
        "dice=",
        "match=",
        "score=",
        "crawford",
        "cube=",
        "double",
        "beaver",
        "resign=",
        "jacoby",
    ):
        assert word in texts


@pytest.mark.parametrize("record", RECORDED, ids=range(len(RECORDED)))
def test_ids_are_those_that_gnubg_gave(record):
    check_against_gnubg(GameState.from_text(record["text"]), record)


@pytest.mark.long
@pytest.mark.skipif(program() is None, reason="the program gnubg is missing: apt-get install gnubg")
def test_a_thousand_states_have_the_ids_that_gnubg_gives():
    games = random_states(1000, seed=11)
    answers = ask(games)
    for game, answer in zip(games, answers, strict=True):
        check_against_gnubg(game, answer)
    assert sum("understood" in answer for answer in answers) > 800 and sum("raw" in answer for answer in answers) > 600


@pytest.mark.long
@pytest.mark.skipif(program() is None, reason="the program gnubg is missing: apt-get install gnubg")
def test_gnubg_plays_legally_in_our_fibs_boards():
    games = [game for game in random_states(200, seed=12) if game.position.owes and game.offer is None]
    games = [game for game in games if len(game.position.plays()) > 1]
    assert {game.player for game in games} == {0, 1} and len(games) > 40
    for game, answer in zip(games, played_over_socket([fibs_board(game) for game in games]), strict=True):
        assert game.position.after(answer) in game.position.plays(), (game, answer)


@pytest.mark.skipif(not has_gnubg(), reason="gnubg-nn is missing: pip install 'nardy-rl[gnubg]'")
def test_position_ids_are_those_of_gnubg_nn():
    import gnubg_nn

    rows = [*random_decisions("backgammon", 300, seed=4), *states_of_boards(random_boards(300, seed=5))]
    for row in rows:
        position = Position(VARIANTS["backgammon"], row)
        mine, theirs = position.counts[position.player, 1:], position.counts[1 - position.player, 1:]
        text = position_id(position)
        assert text == gnubg_nn.position_id([theirs.tolist(), mine.tolist()])
        opponent, on_roll = gnubg_nn.board_from_position_id(text)
        assert (list(opponent), list(on_roll)) == (theirs.tolist(), mine.tolist())


# ------------------------------------------------------------------------------------------------- round trips


def test_every_state_reads_back_from_every_form():
    for game in random_states(250, seed=1):
        position = game.position
        board = from_position_id(game.variant, position_id(position), position.player, position.dice)
        assert same(GameState(game.match, board, game.cube, game.offer), game)
        assert same(from_gnubg_id(game.variant, gnubg_id(game)), game)
        if game.offer is None or game.offer.kind != "resign":
            assert same(from_xgid(game.variant, xgid(game)), game)
            assert same(from_fibs_board(game.variant, fibs_board(game)), game)


@pytest.mark.parametrize("name", SAID)
def test_positions_of_the_short_games_read_back(name):
    variant = VARIANTS[name]
    for row in random_decisions(name, 60, seed=2):
        game = GameState(Match(variant), Position(variant, row))
        if variant.hit_wins and game.position.over:
            continue
        for read in (
            from_gnubg_id(variant, gnubg_id(game)),
            from_xgid(variant, xgid(game)),
            from_fibs_board(variant, fibs_board(game)),
        ):
            assert same(read, game), (game, read)


def test_jacoby_and_beavers_come_with_the_id():
    game = GameState.from_text("backgammon:jacoby=true,beavers=true 24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0")
    assert from_xgid("backgammon", xgid(game)).variant == game.variant
    assert from_xgid(game.variant, xgid(from_xgid("backgammon", "-b----E-C---eE---c-e----B-:0:0:1:52:0:0:0:0:10")))
    assert from_gnubg_id("backgammon", gnubg_id(game)).variant == parse_variant("backgammon:jacoby=true")
    assert from_xgid("hyper", "-C----------------------c-:0:0:1:00:0:0:3:0:6").variant == parse_variant(
        "hyper:beavers=true"
    )


def test_a_lower_highest_cube_comes_with_an_xgid_and_a_higher_one_does_not():
    line = "-b----E-C---eE---c-e----B-:0:0:1:52:0:0:0:0:"
    assert from_xgid("backgammon", line + "3").variant.cube_cap == 8
    assert from_xgid("backgammon", line + "10").variant.cube_cap == 64
    assert from_xgid("backgammon", line.rstrip(":")).variant.cube_cap == 64


def test_a_finished_game_reads_back_where_the_form_has_it():
    over = Position.from_text("backgammon off:15 | 20:2 6:13 | turn=0 over=off")
    for player in (0, 1):
        assert from_position_id("backgammon", position_id(over), player).over
    for read in (from_xgid("backgammon", xgid(over)), from_fibs_board("backgammon", fibs_board(over))):
        assert read.position.over and read.position.player == 0 and read.result.points == 3
    with pytest.raises(BadMatch, match="a Match ID is of a game that goes on"):
        match_id(over)


# ------------------------------------------------------------------------------------------------- known texts


def test_the_start_has_the_id_that_everybody_knows():
    assert position_id(Position.start("backgammon")) == START
    assert from_position_id("backgammon", START).counts.tolist() == Position.start("backgammon").counts.tolist()
    assert gnubg_id(Position.start("backgammon", starter=1)) == START + ":cAkAAAAAAAAE"
    assert xgid(Position.start("backgammon", starter=1)) == "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:6"
    assert fibs_board(Position.start("backgammon"), ("You", "him")) == (
        "board:You:him:9999:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:0:0:0:0:1:1:1:0:1:-1:0:25:"
        "0:0:0:0:0:0:0:0"
    )


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (  # from eXtreme Gammon, where other readers failed: dice 1-6, three checkers in a row of letters
            "-aa---EBB---dDa--c-e----B-:0:0:1:16:0:0:3:0:8",
            "backgammon:jacoby=true,beavers=true 24:1 23:1 13:4 11:1 8:3 6:5 | 24:2 13:4 8:2 7:2 6:5 | "
            "turn=1 throws=1,2 dice=61",
        ),
        (
            "----abF-B--BbB-Bacbd----A-:0:0:1:41:0:0:0:5:8",
            "backgammon 21:1 20:2 13:2 9:1 8:3 7:2 6:4 | 24:1 15:2 13:2 11:2 8:2 6:6 | "
            "turn=1 throws=1,2 dice=41 | match=5",
        ),
        (  # both on the bar
            "ab----E-C---dE---c-e----AA:0:0:-1:63:2:6:1:7:10",
            "backgammon bar:1 24:2 13:4 8:3 6:5 | bar:1 24:1 13:5 8:3 6:5 | "
            "turn=0 throws=2,1 dice=63 | match=7 score=6,2 crawford",
        ),
        (
            "-b----E-C---eE---c-e----B-:1:-1:-1:D:3:2:0:7:10",
            f"backgammon {BOARDS} | turn=0 throws=1,1 | match=7 score=2,3 cube=2 owner=0 double",
        ),
        (
            "-b----E-C---eE---c-e----B-:0:0:1:B:0:0:2:0:10",
            "backgammon:beavers=true 24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=1 throws=1,1 | beaver",
        ),
    ],
)
def test_xgids_of_other_programs_are_read(line, text):
    for prefix in ("", "XGID=", "  XGID="):
        assert from_xgid("backgammon", prefix + line).text == text


def test_the_bar_is_in_a_position_id():
    # the bar is the last place of a side: readers that stop at the 24th point lose it
    position = Position.from_text("backgammon bar:2 6:13 | bar:1 6:14 | turn=0")
    read = from_position_id("backgammon", position_id(position))
    assert read.counts[0, 25] == 2 and read.counts[1, 25] == 1


def test_boards_from_gnubgs_socket_are_read_by_who_is_on_roll():
    # sent by gnubg 1.07.001 to an external player: asked to roll as its player 0 (here X, player 1) after the other has
    # opened with 8/5 6/5, then to answer a double and a beaver
    board = "board:gnubg:root:5:0:0:0:-2:0:0:0:2:4:0:2:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:"
    game = from_fibs_board("backgammon", board + "-1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1", gnubg=True)
    assert (game.player, game.position.player, game.position.counts[0, 5], game.actions[0]) == (1, 1, 2, "throw")
    game = from_fibs_board("backgammon", board + "1:0:0:0:0:1:1:1:1:1:-1:0:25:0:0:0:0:0:0:0:1", gnubg=True)
    assert (game.player, game.position.player, game.actions) == (1, 0, ("take", "drop"))
    money = (
        "board:gnubg:root:0:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-2:0:-4:-2:0:0:0:2:0:1:0:0:0:0:2:0:1:1:1:-1:0:25:"
    )
    game = from_fibs_board("backgammon:beavers=true", money + "0:0:0:0:0:0:0:1", gnubg=True)
    assert (game.player, game.offer.kind, game.stake) == (0, "beaver", 1)
    thrown = from_fibs_board("backgammon", board + "-1:3:1:3:1:2:0:1:0:1:-1:0:25:0:0:0:0:0:0:0:1", gnubg=True)
    assert (thrown.player, thrown.position.dice, thrown.cube) == (1, (3, 1), Cube(2, 1))
    later = (
        "board:gnubg:root:3:0:2:0:-1:-1:0:0:0:5:0:3:0:0:0:-4:6:0:0:-1:-3:0:-5:0:0:0:0:1:0:-1:2:1:2:1:1:1:1:0:1:-1:0:25:"
        "0:0:0:0:0:0:0:1"
    )  # X has 24 23 13:4 9 8:3 6:5 and is on roll, with no points to the other's two
    game = from_fibs_board("backgammon", later, gnubg=True)
    assert (game.match.score, game.player) == ((2, 0), 1)
    assert game.position.after("9/7 8/7").counts[1, 7] == 2


def test_the_example_of_the_fibs_protocol_is_read():
    line = (
        "board:You:someplayer:3:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:6:2:0:0:1:1:1:0:1:-1:0:25:"
        "0:0:0:0:2:0:0:0"
    )
    game = from_fibs_board("backgammon", line)
    assert (game.position.dice, game.player, game.match) == ((6, 2), 0, Match("backgammon", 3))
    # the same board for a player who is X and walks upwards
    numbers = line.split(":")
    board = [str(-int(n)) for n in reversed(numbers[6:32])]
    mirrored = ":".join([*numbers[:6], *board, "-1", *numbers[33:41], "-1", "1", "25", "0", *numbers[45:]])
    read = from_fibs_board("backgammon", mirrored)
    assert (read.player, read.position.dice) == (1, (6, 2)) and (read.position.counts == game.position.counts).all()


# ------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("name", UNSAID)
def test_games_that_a_form_cannot_say_are_refused_with_the_reason(name):
    game = GameState(Match(name), Position.start(name))
    for form, write in WRITERS.items():
        with pytest.raises(BadPosition) as caught:
            write(game)
        assert str(caught.value).startswith(f"{form} cannot say a position of {name}: it is for games in which ")
    for read in (from_position_id, from_gnubg_id, from_xgid, from_fibs_board):
        with pytest.raises(BadPosition, match=f"cannot say a position of {name}: "):
            read(name, START)


def test_games_of_other_sizes_are_refused():
    seven = replace(VARIANTS["backgammon"], id="seven", start="24:2 6:5", source="user")
    with pytest.raises(BadPosition, match="for games of 15 or 3 checkers a side, not of 7"):
        position_id(Position.start(seven))


@pytest.mark.parametrize(
    ("text", "forms", "reason"),
    [
        (f"{MID} dice=53 owed=3", WRITERS, "part of the throw is played already"),
        ("sudden-death 24:2 13:5 8:3 6:5 | bar:1 24:2 13:5 8:3 6:4 | turn=0 over=hit", WRITERS, "a hit ends the game"),
        (f"{MID} | resign=0,1", ("an XGID", "a FIBS board"), "a resignation is offered"),
        (f"{MID} | won=0,1,resign", ("an XGID", "a FIBS board"), "the game was ended by a resign"),
        (f"{MID} | won=0,1,resign", ("a Match ID",), "a game that goes on"),
    ],
)
def test_states_that_a_form_cannot_say_are_refused(text, forms, reason):
    game = GameState.from_text(text)
    for form in forms:
        with pytest.raises(NardyError) as caught:
            WRITERS[form](game)
        assert reason in str(caught.value)


def bits(number):
    """Ten bytes as a Position ID."""
    return base64.b64encode(number.to_bytes(10, "little")).decode().rstrip("=")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("4HPwATDgc/ABM", "has 13 characters; it takes 14"),
        ("", "has 0 characters"),
        ("4HPwATDgc/ABMAA", "has 15 characters"),
        ("4HPwATDgc_ABMA", "'_' is none of the letters"),
        ("4HPwATDgc/ABMB", "bits set beyond its 80"),
        ("//////////////", "bits set beyond its 80"),
        (bits((1 << 16) - 1), "player 1 has 16 checkers; in backgammon a side has 15"),
        (bits((1 << 80) - 1), "player 1 has 80 checkers; in backgammon a side has 15"),
        (bits(1 << 79), "goes on after the last point"),
        (bits(0), "neither player has a checker on the board"),
        (bits(1 | 1 << 49), "both players stand on player 0's 24, player 1's 1"),
    ],
)
def test_a_bad_position_id_is_refused(text, reason):
    with pytest.raises(BadPosition) as caught:
        from_position_id("backgammon", text)
    assert reason in str(caught.value) and str(caught.value).startswith("Position ID")


BOARD = "-b----E-C---eE---c-e----B-"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "1 fields between its colons; it takes 10"),
        (f"{BOARD}:0:0:1:52:0:0:3", "8 fields"),
        (f"{BOARD}:0:0:1:52:0:0:3:0:10:1", "11 fields"),
        (f"{BOARD[:-1]}:0:0:1:52:0:0:3:0:10", "the board has 25 places; it takes 26"),
        (f"-z{BOARD[2:]}:0:0:1:52:0:0:3:0:10", "'z' on place 1; it takes A to O, a to o"),
        (f"B{BOARD[1:]}:0:0:1:52:0:0:3:0:10", "'B' on place 0, which is the other player's bar"),
        (f"{BOARD[:-1]}b:0:0:1:52:0:0:3:0:10", "'b' on place 25, which is the other player's bar"),
        (f"-bA{BOARD[3:]}:0:0:1:52:0:0:3:0:10", "player 1 has 16 checkers"),
        (f"{BOARD}:x:0:1:52:0:0:3:0:10", "field 2, the cube, is 'x'; it needs a power of two"),
        (f"{BOARD}:0:2:1:52:0:0:3:0:10", "field 3, the cube's owner, is '2'"),
        (f"{BOARD}:0:0:0:52:0:0:3:0:10", "field 4, who is on roll, is '0'"),
        (f"{BOARD}:0:0:1:70:0:0:3:0:10", "field 5, the dice, is '70'"),
        (f"{BOARD}:0:0:1:50:0:0:3:0:10", "field 5, the dice, is '50'"),
        (f"{BOARD}:0:0:1:R:0:0:3:0:10", "a raccoon is offered"),
        (f"{BOARD}:0:0:1:B:0:0:0:0:10", "beavers are off"),
        (f"{BOARD}:0:0:1:52:-1:0:3:0:10", "field 6, the score of player 1, is '-1'"),
        (f"{BOARD}:0:0:1:52:0:0:4:0:10", "field 8"),
        (f"{BOARD}:0:0:1:52:0:0:2:7:10", "field 8 is 2; in a match it is 1"),
        (f"{BOARD}:0:0:1:52:0:0:1:7:10", "no Crawford game at 0-0 in a match to 7"),
        (f"{BOARD}:0:0:1:52:7:7:0:7:10", "only one wins it"),
        (f"{BOARD}:0:0:1:52:7:0:0:7:10", "is over: no game is played in it"),
        (f"{BOARD}:1:0:1:52:0:0:0:7:10", "a cube at 2 in the middle"),
        (f"{BOARD}:9:1:1:52:0:0:0:7:10", "a cube at 512, but its cap is 64"),
        (f"{BOARD}:0:0:1:52:0:0:0:99999:10", "a match to 99999 points"),
        ("------E-------------------:0:0:1:52:0:0:0:0:10", "borne off all, so that nobody throws"),
    ],
)
def test_a_bad_xgid_is_refused(text, reason):
    with pytest.raises((BadPosition, BadMatch)) as caught:
        from_xgid("backgammon", text)
    assert reason in str(caught.value) and str(caught.value).startswith("XGID")


def test_a_form_without_a_cube_takes_no_cube():
    with pytest.raises(BadMatch, match="the cube is not in play"):
        from_xgid("sudden-death", f"{BOARD}:1:1:1:52:0:0:0:7:10")
    with pytest.raises(BadPosition, match="a hit ends the game"):
        from_xgid("sudden-death", "ab----E-C---dE---c-e----B-:0:0:1:52:0:0:0:7:10")


def changed_match_id(at, bits, value):
    """The Match ID of a plain game in a match to 7 at 2-3 with some bits replaced."""
    game = GameState.from_text("backgammon 24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0 | match=7 score=2,3")
    number = int.from_bytes(base64.b64decode(match_id(game)), "little")
    number = number & ~(((1 << bits) - 1) << at) | value << at
    return base64.b64encode(number.to_bytes(9, "little")).decode()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (START, f"{START!r} is not POSITION_ID:MATCH_ID"),
        (f"{START}:cAkAAAAA", "has 8 characters; it takes 12"),
        (f"{START}:cAkAAAAAAAA!", "'!' is none of the letters"),
        (f"{START}:cAkAAAAAAAD/", "bits set beyond its 67"),
        (f"{START}:{changed_match_id(8, 3, 2)}", "a game that is over"),
        (f"{START}:{changed_match_id(4, 2, 2)}", "the cube's owner is neither"),
        (f"{START}:{changed_match_id(0, 4, 3)}", "a cube at 8 in the middle"),
        (f"{START}:{changed_match_id(15, 3, 7)}", "dice 7 and 0"),
        (f"{START}:{changed_match_id(15, 3, 5)}", "dice 5 and 0"),
        (f"{START}:{changed_match_id(11, 1, 1)}", "player 1 has to decide, but no offer is open"),
        (f"{START}:{changed_match_id(12, 1, 1)}", "a beaver is offered, but the cube is not doubled"),
        (f"{START}:{changed_match_id(11, 4, 7)}", "only one can be open"),
        (f"{START}:{changed_match_id(7, 1, 1)}", "no Crawford game at 2-3 in a match to 7"),
        (f"{START}:{changed_match_id(36, 15, 9)}", "is over: no game is played in it"),
        (f"4HPw:{changed_match_id(7, 1, 0)}", "Position ID '4HPw' has 4 characters"),
    ],
)
def test_a_bad_match_id_is_refused(text, reason):
    with pytest.raises((BadPosition, BadMatch)) as caught:
        from_gnubg_id("backgammon", text)
    assert reason in str(caught.value)


def changed_board(at, value):
    """The FIBS board of the start with one number replaced; the first is number 1."""
    words = fibs_board(Position.start("backgammon")).split(":")
    words[2 + at] = str(value)
    return ":".join(words)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("board:You:him", "it takes 'board', two names and 50 numbers"),
        ("bored" + changed_board(1, 0)[5:], "it takes 'board'"),
        (changed_board(7, "x"), "number 7 is 'x'"),
        (changed_board(7, 99), "99 checkers on place 3"),
        (changed_board(7, 3), "player 0 has 18 checkers"),
        (changed_board(4, 2), "2 checkers on place 0; it takes up to 15, on the own bar or a point"),
        (changed_board(30, 5), "number 30 is 5; it must be one of 1, -1, 0"),
        (changed_board(30, 0), "number 30 is 0, but the game is not over"),
        (changed_board(31, 7), "are no throw"),
        (changed_board(31, 3), "are no throw"),
        (changed_board(35, 2), "it is not said who alone may double"),
        (changed_board(35, 3).replace(":3:1:1:0:1:-1:", ":3:1:0:0:1:-1:"), "a cube at 3"),
        (changed_board(38, 4), "number 38 is 4"),
        (changed_board(39, 0), "number 39 is 0"),
        (changed_board(40, 0), "number 40 is 0"),
        (changed_board(43, 2), "2 and 0 checkers are said to be off, but it is 0 and 0"),
        (changed_board(46, 1), "0 and 1 checkers are said to be on the bar, but it is 0 and 0"),
        (changed_board(1, 5).replace("board:O:X:5:0:0", "board:O:X:5:5:5"), "only one wins it"),
    ],
)
def test_a_bad_fibs_board_is_refused(text, reason):
    with pytest.raises((BadPosition, BadMatch)) as caught:
        from_fibs_board("backgammon", text)
    assert reason in str(caught.value)


def test_a_name_that_would_break_a_board_is_refused():
    for name in ("a b", "a:b", ""):
        with pytest.raises(BadMatch, match="cannot stand in a FIBS board"):
            fibs_board(Position.start("backgammon"), (name, "X"))


def test_a_player_who_does_not_exist_is_refused():
    with pytest.raises(BadPosition, match="the players are 0 and 1"):
        from_position_id("backgammon", START, player=2)


READERS = (from_position_id, from_gnubg_id, from_xgid, from_fibs_board)
SEEDS = [f(game) for game in random_states(12, seed=3) for f in (lambda g: position_id(g.position), match_id, gnubg_id)]
SEEDS += [f(game) for game in random_states(12, seed=4) if game.offer is None for f in (xgid, fibs_board)]


def garbled(rng):
    """A text near one that can be read, or rubbish."""
    text = list(rng.choice(SEEDS))
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(text) + 1)
        kind = rng.randrange(4)
        sign = chr(rng.choice((rng.randrange(32, 127), rng.randrange(0x110000 - 0x800) % 0xD800)))
        text[at : at + (kind != 0)] = "" if kind == 1 else sign * (1 if kind < 3 else rng.randrange(40))
    return "".join(text)


def read_or_refuse(text):
    """Whatever the text, a reader gives a state or raises one of our errors, in one line."""
    for read in READERS:
        try:
            read("backgammon", text)
        except NardyError as error:
            assert "\n" not in str(error) and len(str(error)) < 1000


def test_garbled_texts_are_read_or_refused_with_a_sentence():
    rng = random.Random(5)
    for _ in range(2000):
        read_or_refuse(garbled(rng))


@pytest.mark.long
def test_many_garbled_texts_are_read_or_refused_with_a_sentence():
    rng = random.Random(6)
    for _ in range(100_000):
        read_or_refuse(garbled(rng))
