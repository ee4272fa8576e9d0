"""Every rule option (docs/rules.md, section 10): a position in which it changes the plays, the turn or the result.

The options of the cube are tested with the cube.
"""

import naive
import numpy as np
import pytest

from nardy_rl.errors import BadOption
from nardy_rl.options import OPTIONS, options_of, with_options
from nardy_rl.position import Position
from nardy_rl.variant import CHOICES
from nardy_rl.variants import VARIANTS, parse_variant

OF_THE_CUBE = ("jacoby", "beavers", "crawford", "cube_cap")

START = "24:15 | 24:15 | turn=0 throws=1,0"
GAP_AT_9 = "24:9 14:1 11:1 10:1 8:1 7:1 6:1 | 24:15 | turn=0 throws=5,4 dice=52"
FIVE_IN_A_ROW = "24:9 14:1 11:1 10:1 9:1 8:1 7:1 | 24:15 | turn=0 throws=5,4 dice=53"
FIVE_OF_THE_START = "24:9 23:1 22:1 21:1 20:1 15:2 | 18:14 1:1 | turn=0 throws=9,8 dice=51"
A_SIX_OF_6_1 = "24:13 18:2 | 24:13 17:1 5:1 | turn=0 throws=2,2 dice=61"
TWO_SIXES_LEFT = "24:13 18:2 | 24:15 | turn=1 thrower=0 throws=1,0 dice=66 owed=6x2 head=2,0 handed"

# The option, the position, the plays that are lost by it and those that are gained, with what follows each.
CASES = {
    "a play that leads to fewer sixes is none when the whole progression counts": (
        "crazy-v1:full_move=whole",
        "24:14 14:1 | 24:14 15:1 | turn=0 throws=2,1 dice=55 owed=5x4,6x4",
        ["24/19/14/9 14/9 : turn=0 dice=55 owed=6x4"],
        [],
    ),
    "without a rule on blocks a blind block may be made": (
        "classic:block=none",
        FIVE_IN_A_ROW,
        [],
        ["14/11 11/6 : turn=1"],
    ),
    "tested at every step a blind block may not even pass": (
        "classic:block=sport",
        GAP_AT_9,
        ["14/9/7 : turn=1"],
        [],
    ),
    "tested at the end a blind block may pass": (
        "sport:block=classic",
        GAP_AT_9,
        [],
        ["14/9/7 : turn=1"],
    ),
    "with the rule of fevga nobody fills his own 24 to 19": (
        "classic:block=fevga",
        FIVE_OF_THE_START,
        ["24/19 15/14 : turn=1"],
        [],
    ),
    "without pairs one checker leaves the head": (
        "classic:pairs=none",
        f"{START} dice=44",
        ["24/20/16(2) : turn=1"],
        ["24/20/16 : turn=1"],
    ),
    "a pair more lets two checkers leave the head": (
        "classic:pairs=33-44-55-66",
        f"{START} dice=55",
        [],
        ["24/19/14(2) : turn=1", "24/19/14/9 24/19 : turn=1"],
    ),
    "pairs of the second player are none of the starter": (
        "classic:pairs_who=second",
        f"{START} dice=44",
        ["24/20/16(2) : turn=1"],
        ["24/20/16 : turn=1"],
    ),
    "pairs of both are the starter's too": (
        "sport:pairs_who=both",
        f"{START} dice=44",
        ["24/20/16 : turn=1"],
        ["24/20/16(2) : turn=1"],
    ),
    "a progression that does not stop at home goes on": (
        "crazy:stop=no",
        "8:3 5:4 4:6 1:2 | 5:1 4:1 off:13 | turn=0 throws=33,33 dice=33 owed=5x4,6x4",
        ["8/3(3) 5/off : turn=1"],
        ["8/3(3) 5/off : turn=0 dice=33 owed=6x4"],
    ),
    "grace gives one stage more to him who came home with the last move": (
        "crazy:stop=grace",
        "19:1 6:2 5:7 4:4 3:1 | 6:5 5:5 4:3 off:2 | turn=0 throws=32,32 dice=44 owed=4x4,5x4,6x4",
        ["19/15/11/7/3 : turn=1"],
        ["19/15/11/7/3 grace : turn=0 dice=44 owed=5x4 grace"],
    ),
    "a stop without grace gives him none": (
        "crazy-gulbar:stop=stop",
        "12:2 3:4 1:9 | 20:1 17:1 12:1 8:2 2:2 1:8 | turn=0 throws=17,16 dice=33 owed=5x4,6x4",
        ["12/7/2(2) grace : turn=0 dice=33 owed=6x4 grace"],
        ["12/7/2(2) : turn=1"],
    ),
    "without completion the rest of a double is lost": (
        "gulbar:completion=none",
        f"{START} dice=66",
        ["24/18(2) owes=6x2 : turn=1 thrower=0 dice=66 owed=6x2 head=2,0 handed"],
        ["24/18(2) : turn=1"],
    ),
    "in ping-pong the rest of the rest comes back": (
        "gulbar:completion=ping-pong",
        TWO_SIXES_LEFT,
        ["24/18 : turn=1"],
        ["24/18 owes=6 : turn=0 dice=66 owed=6 head=2,1 handed"],
    ),
    "completed once the rest of the rest is lost": (
        "crazy-v1:completion=once",
        TWO_SIXES_LEFT,
        ["24/18 owes=6 : turn=0 dice=66 owed=6 head=2,1 handed"],
        ["24/18 : turn=1"],
    ),
    "a die of any throw passes on": (
        "gulbar:completion_scope=all",
        A_SIX_OF_6_1,
        ["24/18 : turn=1"],
        ["24/18 owes=1 : turn=1 thrower=0 dice=61 owed=1 head=1,0 handed"],
    ),
    "only of doubles anything passes on": (
        "crazy-v1:completion_scope=doubles",
        A_SIX_OF_6_1,
        ["24/18 owes=1 : turn=1 thrower=0 dice=61 owed=1 head=1,0 handed"],
        ["24/18 : turn=1"],
    ),
    "a double that cannot be started is void": (
        "gulbar:void=true",
        "19:2 2:7 1:6 | 1:7 off:8 | turn=0 throws=40,42 dice=66",
        ["pass owes=6x4 : turn=1 thrower=0 dice=66 handed"],
        ["pass : turn=1"],
    ),
    "a double that cannot be started passes on": (
        "crazy:void=false",
        "24:13 2:2 | 24:12 9:1 8:1 5:1 | turn=0 throws=7,7 dice=33 owed=3x4,4x4,5x4,6x4",
        ["pass : turn=1"],
        ["pass owes=3x4,4x4,5x4,6x4 : turn=1 thrower=0 dice=33 owed=3x4,4x4,5x4,6x4 handed"],
    ),
    "the rest of a calm double passes on": (
        "crazy:calm_pass=true",
        f"{START} dice=66",
        ["24/18(2) : turn=1"],
        ["24/18(2) owes=6x2 : turn=1 thrower=0 dice=66 owed=6x2 head=2,0 handed"],
    ),
    "nothing passes to a player who is all home": (
        "gulbar:home_completer_plays=false",
        "18:7 1:8 | 4:7 3:1 1:6 off:1 | turn=0 throws=37,33 dice=22",
        ["pass owes=2x4 : turn=1 thrower=0 dice=22 handed"],
        ["pass : turn=1"],
    ),
    "a double earns no extra throw": (
        "gulbar:extra=none",
        f"{START} dice=44",
        ["24/20/16(2) : turn=0 extra"],
        ["24/20/16(2) : turn=1"],
    ),
    "the double of an extra throw earns another": (
        "gulbar:extra=unlimited",
        "1:6 off:9 | 15:1 10:1 8:1 3:5 1:7 | turn=0 throws=47,39 dice=33 extra",
        ["1/off(4) : turn=1"],
        ["1/off(4) : turn=0 extra"],
    ),
    "the double of an extra throw earns no other": (
        "crazy-v1:extra=once",
        "1:8 off:7 | 18:1 12:1 3:3 2:7 1:3 | turn=0 throws=16,15 dice=11 extra",
        ["1/off(4) : turn=0 extra"],
        ["1/off(4) : turn=1"],
    ),
    "an extra throw is earned although stages were cancelled": (
        "crazy-v1:extra_if_cancelled=true",
        "8:1 1:14 | 12:1 11:2 2:6 1:6 | turn=0 throws=26,26 dice=44 owed=4x4,5x4,6x4",
        ["8/4/off 1/off(2) : turn=1"],
        ["8/4/off 1/off(2) : turn=0 extra"],
    ),
    "exact bear-off needs the die of the point": (
        "classic:bearoff=exact",
        "1:15 | 1:7 off:8 | turn=0 throws=49,48 dice=53",
        ["1/off(2) : turn=1"],
        ["pass : turn=1"],
    ),
    "a larger die bears off from the highest point": (
        "crazy-v2:bearoff=standard",
        "2:5 1:10 | 24:15 | turn=0 throws=15,15 dice=66",
        ["pass owes=6x4 : turn=1 thrower=0 dice=66 handed idle=1"],
        ["2/off(4) : turn=1"],
    ),
    "all home nobody moves inside the home": (
        "classic:freeze=bearoff",
        "6:1 1:14 | 2:3 1:2 off:10 | turn=0 throws=49,49 dice=43",
        ["6/2/off : turn=1"],
        ["pass : turn=1"],
    ),
    "a checker at home never moves": (
        "classic:freeze=always",
        "24:14 10:1 | 24:13 19:1 15:1 | turn=0 throws=3,2 dice=44",
        ["24/20/16 10/6/2 : turn=1"],
        ["24/20/16 10/6 : turn=1"],
    ),
    "a checker at home may move": (
        "crazy-v2:freeze=never",
        "3:2 off:13 | 1:8 off:7 | turn=0 throws=32,31 dice=51",
        ["pass owes=5,1 : turn=1 thrower=0 dice=51 handed idle=1"],
        ["3/2 owes=5 : turn=1 thrower=0 dice=51 owed=5 handed"],
    ),
    "the other player has one throw more": (
        "classic:last_throw=true",
        "1:1 off:14 | 1:6 off:9 | turn=0 throws=51,50 dice=31",
        ["1/off : turn=0 over=off +1"],
        ["1/off : turn=1"],
    ),
    "a win over a checker that never left its start counts three": (
        "classic:koks=true",
        "1:1 off:14 | 24:1 1:14 | turn=0 throws=51,50 dice=31",
        ["1/off : turn=0 over=off +2"],
        ["1/off : turn=0 over=off +3"],
    ),
    "a bound checker is borne off only if no other play uses as many dice": (
        "caucasian:bound_off=play",
        "6:1 2:8 1:6 | 21:1 5:14 | turn=0 throws=60,59 dice=52",
        ["6/4*/off : turn=1"],
        [],
    ),
    "a bound checker may pass over its own if it stands alone at the end": (
        "caucasian:bound_hide=end",
        "11:1 1:2 off:12 | 19:1 5:14 | turn=0 throws=40,40 dice=55",
        ["11/6* : turn=1"],
        ["11/6*/1/off 1/off : turn=1"],
    ),
}


def said(variant, position):
    """The plays of a position, each with what follows it and, at the end of a game, what player 0 wins."""
    before = Position.from_text(f"{variant} {position}")
    found = set()
    for after in before.plays():
        context = [word for word in after.text.split("|")[2].split() if not word.startswith("throws=")]
        score = [f"{after.score(0):+g}"] if after.over else []
        found.add(f"{before.move_text(after)} : {' '.join(context + score)}")
    return found


@pytest.mark.parametrize("name", CASES)
def test_an_option_changes_the_plays(name):
    option, position, lost, gained = CASES[name]
    usual, other = said(option.partition(":")[0], position), said(option, position)
    assert usual - other == set(lost)
    assert other - usual == set(gained)
    assert lost or gained


def owed(variant, throws, double):
    position = Position.from_text(f"{variant} 24:14 20:1 | 24:14 20:1 | turn=0 throws={throws},{throws}")
    return [stage for stage, _ in position.throw(double, double).owed]


def test_calm_throws_come_before_progressions():
    assert owed("crazy", 4, 3) == [3] and owed("crazy", 5, 3) == [3, 4, 5, 6]
    assert owed("crazy:calm=0", 0, 3) == [3, 4, 5, 6]
    assert owed("crazy-v1", 0, 3) == [3, 4, 5, 6]
    assert owed("crazy-v1:calm=3", 2, 3) == [3] and owed("crazy-v1:calm=3", 3, 3) == [3, 4, 5, 6]


def test_by_the_opening_a_first_throw_can_be_a_double_or_not():
    def doubles(variant):
        dice = [Position.opening(variant, seed=2, game=game).dice for game in range(200)]
        return sum(a == b for a, b in dice)

    assert doubles("backgammon") == 0 and 15 < doubles("backgammon:opening=reroll") < 60
    assert 15 < doubles("classic") < 60 and doubles("classic:opening=dice") == 0


def test_the_stack_of_a_shootout_stands_on_24_or_on_1():
    assert Position.start("shootout").counts[:, 24].tolist() == [4, 4]
    other = Position.start("shootout:stack=1").counts
    assert other[:, 1].tolist() == [4, 4] and (other[:, 3:24:2] == 1).all() and other.sum() == 30
    assert len(Position.start("shootout").throw(2, 1).plays()) != len(
        Position.start("shootout:stack=1").throw(2, 1).plays()
    )


def test_sudden_death_can_start_from_another_layout():
    assert (Position.start("sudden-death:start=shootout").counts == Position.start("shootout").counts).all()
    other = Position.start("sudden-death:start=24:2+6:13").counts
    assert (other[0] == other[1]).all() and (other[0, 24], other[0, 6]) == (2, 13)


@pytest.mark.parametrize("sides", ["first", "second"])
@pytest.mark.parametrize("starter", [0, 1])
def test_the_starter_of_a_snake_has_the_standard_side_or_the_other(sides, starter):
    variant = f"snake:sides={sides}"
    expected = naive.start(naive.make("snake", {"sides": sides}), starter)["board"]
    position = Position.start(variant, starter)
    assert ["".join(f"{int(n):x}" for n in side) for side in position.counts] == expected
    assert (position.counts[starter, 25] == 0) == (sides == "first")
    for game in range(20):
        opened = Position.opening(variant, seed=3, game=game)
        assert (opened.counts == Position.start(variant, opened.starter).counts).all()


def test_a_coin_gives_the_standard_side_to_either_player():
    on_the_bar = [Position.opening("snake", seed=3, game=game).counts[:, 25].tolist() for game in range(100)]
    assert 25 < on_the_bar.count([0, 9]) < 75 and on_the_bar.count([0, 9]) + on_the_bar.count([9, 0]) == 100
    starters = [Position.opening("snake", seed=3, game=game) for game in range(100)]
    assert 25 < sum(p.counts[p.starter, 25] == 0 for p in starters) < 75


def test_every_value_of_every_option_is_tested_where_it_is_not_the_usual_one():
    tested = {option.partition(":")[2].partition("=")[::2] for option, *_ in CASES.values()}
    apart = {"calm", "opening", "stack", "start", "sides", *OF_THE_CUBE}
    wanted = set()
    for variant in VARIANTS.values():
        for name, usual in options_of(variant).items():
            if name == "pairs":
                wanted |= {("pairs", "none"), ("pairs", "33-44-55-66")}
            elif name not in apart:
                values = {str(value).lower() for value in OPTIONS[name].values}
                wanted |= {(name, value) for value in values - {str(usual).lower()}}
    untested = wanted - tested
    # a game that has these by itself is tested by the others' case
    assert untested == {("home_completer_plays", "true")} & wanted


# ---------------------------------------------------------------------------------------- what is refused

REFUSED = [
    ("classic:block=sprt", "block=sprt must be one of none, classic, sport, fevga; did you mean 'sport'?"),
    ("classic:blok=sport", "did you mean 'block'?"),
    ("classic:block", "must be written NAME=VALUE"),
    ("classic:block=sport,block=none", "given twice"),
    ("backgammon:block=classic", "block='classic' needs parallel play without contact"),
    ("fevga:pairs=33", "pairs=(3,) needs a head allowance per turn or stage"),
    ("classic:full_move=whole", "full_move='whole' needs doubles that are a progression"),
    ("classic:pairs=none,pairs_who=second", "pairs_who='second' needs pairs"),
    ("gulbar:completion=none,void=true", "void=True needs completion"),
    ("gulbar:completion=none,completion_scope=all", "completion_scope='all' needs completion"),
    ("gulbar:completion=none,home_completer_plays=false", "home_completer_plays=False needs completion"),
    ("crazy-v1:calm_pass=true", "calm_pass=True needs completion and calm throws"),
    ("crazy:calm=0,calm_pass=true", "calm_pass=True needs completion and calm throws"),
    ("gulbar:extra=none,extra_if_cancelled=true", "extra_if_cancelled=True needs an extra throw"),
    ("hyper:jacoby=true", "jacoby=True needs a cube and score 'bg'"),
    ("sudden-death:beavers=true", "beavers=True needs a cube"),
    ("classic:cube_cap=2", "cube_cap=2 needs a cube"),
    ("backgammon:start=24:15", "'start' does not apply to backgammon"),
    ("sudden-death:start=24:16", "has 16 checkers"),
    ("sudden-death:start=24:2+1:2", "both sides start on one point"),
    ("crazy:calm=101", "calm=101"),
    ("snake:sides=third", "sides=third must be one of coin, first, second"),
]
OWN_REFUSED = [
    ("x@classic:contact=hit", "block='classic' needs parallel play without contact"),
    ("x@tbilisi:block=none,contact=hit", "parallel play needs contact='none'"),
    ("x@backgammon:parallel=true", "parallel play and family='long' go together"),
    ("x@plakoto:contact=hit,mother=false", "contact='pin' and family='plakoto' go together"),
    ("x@plakoto:contact=hit,family=short", "mother=True needs contact 'pin'"),
    ("x@backgammon:head=runner", "head='runner' needs parallel play"),
    ("x@backgammon:head=shoulder", "head=shoulder must be one of free, turn, stage, runner"),
    ("x@backgammon:calm=3", "calm=3 needs doubles that are a progression"),
    ("x@backgammon:sides=first", "sides='first' needs two different starts"),
    ("x@snake:start_other=24:3", "the two sides start with 15 and 3 checkers"),
    ("x@randgammon-1:start_other=24:15", "a random start is one for both sides"),
    ("x@randgammon-1:start=24:3", "a random start has 15 checkers, not 3"),
    ("x@backgammon:stack=1", "stack and start_stack_1 go together"),
    ("x@plakoto:start=bar:1+24:14", "a checker starts on the bar"),
    ("x@backgammon:start=off:15", "the start has no checker on the board"),
    ("x@classic:start=24:14+12:1", "both sides start on one point"),
    ("x@classic:pairs=77", "doubles from 11 to 66"),
    ("x@classic:koks=yes", "koks='yes' must be true or false"),
    ("x@classic:cube_cap=2", "cube_cap=2 needs a cube"),
    ("x@classic:crawford=false", "crawford=False needs a cube"),
    ("x@classic:koks=true,score=left", "koks=True needs score 'oin/mars'"),
    ("x@classic:colour=red", "unknown switch 'colour'"),
    ("x@clasic", "unknown base 'clasic'; did you mean 'classic'?"),
    ("classic@classic:koks=true", "give your game another id"),
    ("x y@classic", "id='x y' must be one word"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED + OWN_REFUSED)
def test_contradictory_options_are_refused_with_a_sentence(text, words):
    with pytest.raises(ValueError) as caught:
        parse_variant(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_switch_with_choices_refuses_others():
    for switch, values in CHOICES.items():
        wrong = "nothing" if isinstance(values[0], str) else 999
        with pytest.raises(BadOption, match=f"{switch}={wrong} must be"):
            parse_variant(f"x@backgammon:{switch}={wrong}")


def test_an_option_that_others_hang_on_takes_them_along():
    assert with_options(VARIANTS["sport"], {"pairs": "none"}).pairs_who == "both"
    lost = with_options(VARIANTS["crazy"], {"completion": "none"})
    assert (lost.completion, lost.void) == ("none", False)
    assert not np.array_equal(said("crazy", f"{START} dice=66"), said("crazy:pairs=none", f"{START} dice=66"))
