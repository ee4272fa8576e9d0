"""Match files: written, read back, exchanged with gnubg; every fault is named with its line."""

import random
from itertools import pairwise
from pathlib import Path

import pytest
from gnubg_program import program, run

from nardy_rl.cube import GameState
from nardy_rl.errors import BadMatch, NardyError
from nardy_rl.match import Match
from nardy_rl.match_file import Record, match_text, read_match
from nardy_rl.position import Position
from nardy_rl.results import score_levels
from nardy_rl.variants import VARIANTS, parse_variant

needs_program = pytest.mark.skipif(program() is None, reason="the program gnubg is missing: apt-get install gnubg")
FILES = Path(__file__).parent / "matches"
HELD = [name for name, v in VARIANTS.items() if v.doubles == "plain" and not v.completes and not v.random_start]
HELD.remove("snake")


def random_record(name, length, seed, games=5):
    """A match or session of random play with cube actions and resignations, as the file keeps it."""
    rng, variant = random.Random(seed), parse_variant(name)
    match, played = Match(variant, length), []
    while not match.over and len(played) < games:
        opening = Position.opening(variant, seed, len(played))
        states = [GameState(match, Position.start(variant, opening.starter))]
        states.append(states[0].throw(*opening.dice))
        while not states[-1].over:
            states += next_states(states[-1], rng)
        played.append(tuple(states))
        match = states[-1].next_match
    return Record(tuple(played), ("Ann", "Bob"))


def next_states(game, rng):
    """What follows a state: one action, or a resignation with its acceptance."""
    if game.offer is not None:
        may_drop = game.offer.kind == "double" and rng.random() < 0.3  # gnubg reads no beaver that is dropped
        return [getattr(game, rng.choice([action for action in game.actions if action != "drop" or may_drop]))()]
    if game.position.owes:
        return [game.after(rng.choice(game.position.plays()))]
    if rng.random() < 0.01 and any(game.position.throws):
        offered = game.resign(rng.choice(score_levels(game.variant)), rng.randrange(2))
        return [offered, offered.accept()]
    if "double" in game.actions and rng.random() < 0.1:
        return [game.double()]
    return [game.throw(rng.randint(1, 6), rng.randint(1, 6))]


def as_kept(record):
    """Texts of the states but for open resignations, whose level another one that pays alike may replace."""
    return [texts(states) for states in record.games]


def texts(states):
    return [state.text for state in states if state.offer is None or state.offer.kind != "resign"]


SORTS = [
    ("backgammon", 7),
    ("backgammon", 0),
    ("backgammon:jacoby=true,beavers=true", 0),
    ("backgammon:crawford=false", 3),
]
SORTS += [(name, 3) for name in HELD if name != "backgammon"] + [
    ("classic:last_throw=true", 0),
    ("hyper:cube_cap=4", 9),
]


@pytest.mark.parametrize(("name", "length"), SORTS)
def test_a_match_reads_back_as_it_was_written(name, length):
    record = random_record(name, length, seed=1)
    text = match_text(record)
    again = read_match(text)
    assert as_kept(again) == as_kept(record) and again.names == record.names
    assert match_text(again) == text
    assert all(len(line) < 80 for line in text.splitlines())


def test_random_matches_have_all_that_a_file_can_hold():
    text = "".join(match_text(random_record(name, length, seed)) for name, length in SORTS[:4] for seed in (1, 2, 3))
    for words in ("Doubles => 4", "Takes", "Drops", "Beavers => ", "25/", "/0", "*", "Wins 1 point\n", "Wins 2 points"):
        assert words in text
    states = [g for seed in (1, 2, 3) for game in random_record("backgammon:cube_cap=1", 4, seed).games for g in game]
    assert any(g.conceded and g.conceded.how == "resign" for g in states) and any(g.match.crawford for g in states)


@pytest.mark.parametrize(("name", "length"), SORTS[:5])
def test_every_play_of_a_read_match_is_legal(name, length):
    for states in read_match(match_text(random_record(name, length, 5))).games:
        for before, after in pairwise(states):
            if before.position.owes and before.position != after.position:
                assert after.position in before.position.plays()


def test_a_running_match_is_written_up_to_its_last_action():
    record = random_record("backgammon", 5, 3)
    for length in range(1, len(record.games[0]), 7):
        cut = Record((record.games[0][:length],), record.names)
        again = read_match(match_text(cut))
        kept, read = texts(cut.games[0]), texts(again.games[0])
        unplayed = length > 1 and cut.games[0][-1].position.owes
        assert read == (kept[:-1] if unplayed and length > 2 else kept[:1] if unplayed else kept)


def test_a_beaver_that_is_dropped_reads_back():
    start = GameState(Match("backgammon:beavers=true"), Position.start("backgammon:beavers=true"))
    states = [start, start.throw(3, 1)]
    for act in ("after", "double", "beaver", "drop"):
        states.append(getattr(states[-1], act)(*(["8/5 6/5"] if act == "after" else [])))
    text = written(states)
    assert text.endswith(
        ") 31: 8/5 6/5                  Doubles => 2\n  2)  Beavers => 4                Drops\n      Wins 2 points\n"
    )
    assert texts(read_match(text).games[0]) == texts(states)


START = GameState(Match("backgammon", 3), Position.start("backgammon"))


def written(states, names=("Ann", "Bob")):
    return match_text(Record((tuple(states),), names))


def test_what_is_written_looks_like_this():
    states = [START, START.throw(3, 1)]
    for act in (
        lambda g: g.after("8/5 6/5"), lambda g: g.throw(6, 6), lambda g: g.after("24/18(2) 13/7(2)"),
        lambda g: g.double(), lambda g: g.take(), lambda g: g.throw(2, 1), lambda g: g.after("13/11/10"),
        lambda g: g.resign(2), lambda g: g.refuse(), lambda g: g.double(), lambda g: g.drop(),
    ):  # fmt: skip
        states.append(act(states[-1]))
    assert written(states) == (
        '; [Variant "backgammon"]\n; [Variation "Backgammon"]\n; [Crawford "On"]\n; [Jacoby "Off"]\n; [Beaver "Off"]\n'
        '; [CubeLimit "64"]\n\n 3 point match\n\n Game 1\n Ann : 0                        Bob : 0\n'
        "  1) 31: 8/5 6/5                 66: 24/18 24/18 13/7 13/7\n"
        "  2)  Doubles => 2                Takes\n"
        "  3) 21: 13/11 11/10              Doubles => 4\n"
        "  4)  Drops                       Wins 2 points\n"
    )


@pytest.mark.parametrize("name", [name for name in VARIANTS if name not in HELD])
def test_games_that_the_format_cannot_hold_are_refused(name):
    game = GameState(Match(name), Position.start(name))
    with pytest.raises(BadMatch, match=f"a match file cannot hold games of {name}: "):
        match_text(Record(((game,),)))
    with pytest.raises(BadMatch, match="cannot hold games of"):
        read_match(" 3 point match\n", name)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (lambda: Record(()), "needs a game"),
        (lambda: Record(((),)), "needs a game"),
        (lambda: Record(((START,), (START,))), "game 2 does not follow"),
        (lambda: Record(((START,),), ("A : B", "C")), "the name 'A : B' cannot stand"),
        (lambda: Record(((START,),), ("A", "")), "the name '' cannot stand"),
        (lambda: Record(((START,),), ("A", "two\nlines")), "cannot stand"),
        (lambda: Record(((START.throw(3, 1).after("8/5 6/5"),),)), "this one begins later"),
    ],
)
def test_a_record_that_is_none_is_refused(record, reason):
    with pytest.raises(BadMatch) as caught:
        match_text(record())
    assert reason in str(caught.value)


def test_states_that_do_not_follow_each_other_are_refused():
    with pytest.raises(NardyError, match="no play leads from"):
        written([START.throw(3, 1), START.throw(3, 1).after("8/5 6/5").throw(2, 1)])


# ------------------------------------------------------------------------------------------------- files of others


def test_a_match_that_gnubg_exported_is_read():
    record = read_match((FILES / "gnubg-match.mat").read_text(), "backgammon")
    assert record.names == ("gnubg", "root") and len(record.games) > 3
    last = record.games[-1][-1]
    assert last.over and last.next_match.over
    assert any(state.match.crawford for states in record.games for state in states)
    assert as_kept(read_match(match_text(record))) == as_kept(record)


def test_a_money_session_that_gnubg_exported_is_read():
    text = (FILES / "gnubg-money.mat").read_text()
    record = read_match(text, "backgammon:jacoby=true,beavers=true")
    assert [states[-1].result for states in record.games] == [(1, 12, "resign"), (1, 1, "drop")]
    assert "Beavers => 4" in match_text(record)
    with pytest.raises(BadMatch, match=r"^line \d+: player 0 may not beaver: beavers are off"):
        read_match(text, "backgammon")


def test_tags_set_the_options():
    lines = (
        '; [Player 1 "Ann"]\n; [Jacoby "On"]\n; [Beaver "on"]\n; [CubeLimit "16"]\n; [Crawford "Off"]\n 0 point match\n'
    )
    head = lines + " Game 1\n Ann : 0      Bob : 0\n"
    variant = read_match(head, "backgammon").games[0][0].variant
    assert (variant.jacoby, variant.beavers, variant.cube_cap, variant.crawford) == (True, True, 16, False)
    assert read_match(head.replace('"16"', '"1024"'), "backgammon").games[0][0].variant.cube_cap == 64
    assert read_match(head, "classic").games[0][0].variant == VARIANTS["classic"]


# ------------------------------------------------------------------------------------------------- faults

HEAD = " 3 point match\n\n Game 1\n Ann : 0      Bob : 0\n"
ROW = "  1) 31: 8/5 6/5                 62: 24/18 13/11\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "this is no match file"),
        ("hello", "line 1: 'hello' is not the length"),
        (" 3 point match\n", "this is no match file"),
        (" 99999 point match\n Game 1\n A : 0  B : 0\n", "line 3: a match to 99999 points"),
        (" 3 point match\n Ann : 0   Bob : 0\n", "line 2: 'Ann : 0   Bob : 0' is not 'Game 1'"),
        (" 3 point match\n Game 1\n Ann and Bob\n", "line 3: 'Ann and Bob' is not the two names"),
        (" 3 point match\n Game 1\n Ann : 3  Bob : 0\n", "line 3: game 1 begins, but the match is over"),
        (f"{HEAD}rubbish\n", "line 5: 'rubbish' is neither a throw"),
        (f"{HEAD}  1) 31: 8/5 6/4\n", "line 5: illegal play 8/5 6/4 for 3-1 in backgammon"),
        (f"{HEAD}  1) 31:                         62: 24/18 13/11\n", "line 5: player 0 has not played"),
        (f"{HEAD}  1) 33: 8/5(2) 6/3(2)\n", "line 5: 33: the opening dice of backgammon are never a double"),
        (f"{HEAD}  1) Doubles => 2\n", "line 5: player 0 may not double: the opening dice"),
        (f"{HEAD}{ROW}{ROW.replace('13/11', '13/8')}", "line 6: illegal play 24/18 13/8 for 6-2"),
        (f"{HEAD}{ROW}  2)                             62: 24/18\n", "line 6: an action of player 1, but"),
        (f"{HEAD}{ROW}  2)  Takes\n", "line 6: there is no double or beaver to answer"),
        (f"{HEAD}{ROW}  2)  Doubles => 4\n", "line 6: doubles to 4, but from 1 it is to 2"),
        (f"{HEAD}{ROW}  2)  Doubles => 2                Beavers => 4\n", "line 6: player 1 may not beaver"),
        (f"{HEAD}{ROW}  2)  Doubles => 2               31: 8/7\n", "line 6: nobody can throw"),
        (f"{HEAD}{ROW}  2)  Doubles => 2                Drops 3\n", "line 6: '3' after 'Drops'"),
        (f"{HEAD}{ROW}  2)  Doubles => 2\n      Wins 1 point\n", "line 7: the game is won, but the double"),
        (f"{HEAD}{ROW}  2)  Doubles => 2                Drops\n      Wins 2 points\n", "but player 0 wins 1 point"),
        (f"{HEAD}{ROW}      Wins 5 points\n", "line 6: a win of 5 points with the cube at 1"),
        (f"{HEAD}{ROW}      Draw\n", "line 6: a draw is written, but the game is not over"),
        (f"{HEAD}{ROW}      Wins\n", "line 6: a win is written as 'Wins 2 points'"),
        (f"{HEAD}      Wins 1 point\n", "line 5: the game is won before it has begun"),
        (f"{HEAD}{ROW}  2) 31: 6/5 6/3  42: 8/4 8/6   42: 6/4\n", "line 6: more than two actions on one line"),
        (f"{HEAD}{ROW}      Wins 1 point\n Game 2\n Ann : 2    Bob : 0\n", "line 8: the score is 2-0 here"),
        (f"{HEAD}{ROW} Game 2\n", "line 6: game 2 begins, but the game before it is not over"),
        (f"{HEAD}{ROW}      Wins 3 points\n Game 2\n Ann : 3   Bob : 0\n", "line 8: game 2 begins, but the match"),
        (f"{HEAD}{ROW}      Wins 1 point\n  3) 31: 8/5 6/5\n", "line 7: the game is over already"),
        ("x" * 5000, "line 1: the line has 5000 characters"),
        ('; [Variant "clasic"]\n 3 point match\n', "line 2: unknown variant 'clasic'; did you mean 'classic'?"),
        ('; [Variant "classic"]\n 3 point match\n', "line 2: the file is of classic, not of backgammon"),
        ('; [Jacoby "perhaps"]\n 3 point match\n', 'line 2: Jacoby "perhaps" must be On or Off'),
        ('; [CubeLimit "many"]\n 3 point match\n', 'line 2: CubeLimit "many" must be a number'),
        ('; [CubeLimit "3"]\n 3 point match\n', "line 2: option cube_cap=3 must be one of 1, 2, 4"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_line(text, reason):
    with pytest.raises(BadMatch) as caught:
        read_match(text, "backgammon")
    assert reason in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_without_the_name_of_its_game_needs_it():
    with pytest.raises(BadMatch, match="line 1: the file does not name its game"):
        read_match(HEAD)


def test_a_win_that_jacoby_explains_says_so():
    text = match_text(random_record("backgammon:jacoby=true,cube_cap=1", 0, 1))
    text = text.replace("jacoby=true,", "").replace('[Jacoby "On"]', '[Jacoby "Off"]')
    reason = r"^line \d+: a win of 1 point for player . is written, but .* wins [23] points \(if Jacoby was played"
    with pytest.raises(BadMatch, match=reason):
        read_match(text)


def test_garbled_files_are_read_or_refused_with_a_sentence():
    rng = random.Random(8)
    lines = match_text(random_record("backgammon", 3, 2, games=2)).splitlines()[:40]
    for _ in range(80):
        text = [list(line) for line in lines]
        for _ in range(rng.randrange(1, 4)):
            line = rng.choice(text)
            at = rng.randrange(len(line) + 1)
            line[at : at + rng.randrange(3)] = chr(rng.choice((rng.randrange(32, 127), rng.randrange(0xD800))))
        try:
            read_match("\n".join("".join(line) for line in text))
        except NardyError as error:
            assert "\n" not in str(error)


# ------------------------------------------------------------------------------------------------- the program gnubg


@pytest.mark.long
@needs_program
@pytest.mark.parametrize(("name", "length"), [*SORTS[:3], ("nackgammon", 5)])
def test_gnubg_reads_our_files_and_writes_the_same_match(name, length, tmp_path):
    for seed in range(6):
        record = random_record(name, length, 100 + seed, games=5)
        (tmp_path / "ours.mat").write_text(match_text(record))
        said = run(tmp_path, "set display off\nimport mat ours.mat\nexport match mat theirs.mat")
        for word in ("WARNING", "llegal", "nrecognized", "rror"):
            assert word not in said, said
        again = read_match((tmp_path / "theirs.mat").read_text())
        assert as_kept(again) == as_kept(record)
        (tmp_path / "theirs.mat").unlink()
