"""The rules of a game as sentences: in short, the board, the start, a turn, where a checker may land.

All sentences are composed from the switches of a variant, never from its name. The player who reads is *you*.
"""

from __future__ import annotations

from itertools import groupby

from nardy_rl.experiments.rules_words import Paragraphs, Picture, listed, number, say
from nardy_rl.variant import Variant, parse_layout


def in_short(v: Variant) -> str:
    """What the game is like, in a few sentences."""
    checkers = "a single checker" if v.checkers == 1 else f"{v.checkers} checkers"
    way = "the same way round the board" if v.parallel else "in opposite directions round the board"
    parts = [f"Two players race {checkers} each {way}; the first to bear off all of them wins."]
    parts += {
        "none": ["Nobody is hit: a single checker holds its point against the other side."],
        "hit": ["A lone checker can be hit and must start its way again."],
        "pin": ["Nobody is hit: a lone checker can be pinned where it stands and must wait until it is set free."],
    }[v.contact]
    if v.hit_wins:
        parts[-1] = "But whoever hits a checker first wins at once."
    if v.bound:
        parts.append("A checker that hits in its own home may not hide in the same play.")
    if v.random_start:
        parts.append("Every game begins from another layout, drawn at random.")
    elif v.start_other:
        parts.append("The two sides begin from different layouts.")
    if v.head in ("turn", "stage"):
        parts.append("Checkers leave their first point one at a time.")
    elif v.head == "runner":
        parts.append("One checker must run half the way before others may leave their first point.")
    if v.doubles == "progression":
        calm = f", but for each player's first {number(v.calm)} throws" if v.calm else ""
        parts.append(f"A double goes on through all higher ones, up to 6-6{calm}.")
    if v.completion != "none":
        what = "a throw" if v.completion_scope == "all" else "a double"
        parts.append(f"What a player cannot play of {what} the other must play.")
    if v.extra != "none":
        parts.append("A double that is played in full earns another throw.")
    return " ".join(parts)


def board(v: Variant) -> Paragraphs:
    """The board, the numbers of its points, the goal, the ways of the two sides."""
    have = "one checker" if v.checkers == 1 else f"{v.checkers} checkers"
    yield say(
        1,
        f"""The board has 24 points. Each player has {have} and numbers the points by the way that is left to go: 24
        is the farthest, 1 the last, and 1 to 6 are his home. So every point has two numbers, one for each
        player.""",
        "board", "checkers",
    )  # fmt: skip
    if v.parallel:
        yield say(
            1,
            """Both players move the same way round, from high numbers to low ones and never back, half a lap
            apart: your 24 is the opponent's 12, your 12 is his 24. In general your point D is his D-12, or his
            D+12 if D is 12 or less.""",
            "parallel",
        )  # fmt: skip
    else:
        yield say(
            1,
            """The players move in opposite directions, each from high numbers to low ones and never back: your 24
            is the opponent's 1, your home is his 19 to 24. In general your point D is his 25-D.""",
            "parallel",
        )  # fmt: skip
    yield say(
        7,
        """The goal: bring all your checkers into your home, then bear them off the board, before the opponent has
        borne off his.""",
        "goal",
    )  # fmt: skip


def _layout(counts: tuple[int, ...]) -> str:
    """`two on 24, five on 13 and three each on 8 and 7`."""
    names = {0: "off", 25: "the bar"}
    stacks = [(n, str(names.get(d, d))) for d, n in reversed(list(enumerate(counts))) if n]
    parts = []
    for n, some in groupby(stacks, key=lambda stack: stack[0]):
        places = [place for _, place in some]
        parts.append(f"{number(n)} {'each on' if len(places) > 1 else 'on'} {listed(places, 'and')}")
    return listed(parts, "and")


def start(v: Variant, drawn: str) -> Paragraphs:
    """How the checkers stand at first; `drawn` is the board as a picture."""
    if v.random_start:
        points = "four to ten" if v.random_start == 1 else "three to seven"
        least = number(v.random_start)
        yield say(
            8,
            f"""Both players get the same layout, each by his own numbers, drawn anew for every game: {points}
            points, no two of them facing each other (never both D and 25-D), with the checkers shared out among
            them at random, at least {least} on each. A layout in which the sides have already passed each other
            (nobody beyond 12) is drawn again. The picture shows one of them.""",
            "random_start",
        )  # fmt: skip
    elif v.start_other:
        first, other = (_layout(side) for side in v.layouts)
        yield say(
            8,
            f"One side, by its own numbers, has {first}.",
            "start",
        )  # fmt: skip
        yield say(8, f"The other side has {other}.", "start_other")
        who = {
            "coin": "A coin decides before each game who has which side; play pairs of games and change sides between.",
            "first": "The player who begins always has the first of these sides.",
            "second": "The player who does not begin always has the first of these sides.",
        }[v.sides]
        yield say(8, who, "sides")
    else:
        topics = ("stack",) if v.stack else ("start",)
        yield say(8, f"Each side, by its own numbers, has {_layout(v.layouts[0])}.", *topics)
        if v.stack:
            stack, layout = (24, v.start) if v.stack == 1 else (1, v.start_stack_1)
            there = _layout(parse_layout(layout)) if layout else "no start of its own"
            yield say(10, f"With the option stack={stack} it has {there}.", "stack")
    yield Picture(drawn)
    turn = "X goes the same way round, and his home is at the upper left"
    if not v.parallel:
        turn = "X goes the opposite way, and his home is at the upper right"
    yield say(
        0,
        f"""How to read the picture: O and X are the two players. The numbers in the rows O and X are the points as
        each of them counts; a number in a stack tells how many checkers it holds. O goes from the upper right
        to the left, then along the bottom to the right, where his home is. {turn}.""",
        "picture",
    )  # fmt: skip


def opening(v: Variant) -> Paragraphs:
    """Who begins, and with which dice."""
    yield say(3, "Each player throws one die; equal dice are thrown again. The higher number begins.", "draw")
    if v.opening == "dice":
        yield say(
            3,
            """The beginner plays the two numbers just thrown as his first throw. So it is never a double.""",
            "opening",
        )  # fmt: skip
    else:
        yield say(3, "The beginner then throws two dice for his first throw, which may be a double.", "opening")


def turn(v: Variant) -> Paragraphs:
    """Two dice, doubles, the obligation to play."""
    yield say(
        2,
        """The players take turns. You throw two dice and make a move with each, in either order: one checker goes
        as many points on as the die shows. The same checker may make both moves; then it must be able to land
        on the point between as well.""",
        "throw",
    )  # fmt: skip
    goes_on = ", and may then go on (see Doubles)" if v.doubles == "progression" else ""
    yield say(2, f"A double, two equal dice, gives four moves of that number{goes_on}.", "double")
    yield say(
        2,
        """You must use as many dice as you can. If you can use either of two dice but not both, you must use the
        larger. If you can use none, your turn passes. Which moves you choose is up to you otherwise.""",
        "full",
    )  # fmt: skip
    yield say(2, "A move that ends the game is always allowed, whatever dice are left.", "ending")


def landing(v: Variant) -> Paragraphs:
    """What an enemy checker on a point means."""
    yield from {"none": _no_contact, "hit": _hitting, "pin": _pinning}[v.contact](v)


def _no_contact(v: Variant) -> Paragraphs:
    yield say(
        2,
        """A checker may land on an empty point or on one of your own, on which any number may stand. A point with
        an enemy checker, even a single one, is closed to you.""",
        "contact",
    )  # fmt: skip


def _hitting(v: Variant) -> Paragraphs:
    yield say(
        2,
        """A checker may land on an empty point, on one of your own, or on one with a single enemy checker, a blot.
        Two or more enemy checkers close a point.""",
        "contact",
    )  # fmt: skip
    if v.hit_wins:
        yield say(8, "Landing on a blot hits it, and whoever hits first wins the game at once.", "hit_wins")
        return
    home = "" if v.parallel else ", in the opponent's home"
    yield say(
        2,
        f"""Landing on a blot hits it: it goes to the bar, in the middle of the board. Whoever has a checker on the
        bar must bring it in before he may move any other. With a die d it comes in on his point 25-d{home}, if
        that point is not closed; it may hit there too.""",
        "bar",
    )  # fmt: skip
    if v.bound:
        yield from _binding(v)


def _binding(v: Variant) -> Paragraphs:
    yield say(
        8,
        """A checker that hits inside your own home is bound for the rest of that play: it may not hide, that is
        get out of reach of being hit.""",
        "bound",
    )  # fmt: skip
    yield say(8, "Hitting outside your home does not bind.", "bound-where")
    if v.bound_hide == "landing":
        yield say(8, "A bound checker may not land on a point with another checker of yours.", "bound_hide")
    else:
        yield say(
            8,
            "A bound checker may not stand on a point with another checker of yours when the play ends.",
            "bound_hide",
        )  # fmt: skip
    off = (
        "that die has no other legal move at that moment"
        if v.bound_off == "die"
        else "there is no other play that uses as many dice"
    )
    yield say(8, f"It may be borne off only if {off}.", "bound_off")
    yield say(8, "It may go on to an empty point, or hit again; it stays bound then.", "bound-again")
    yield say(
        8,
        """Any other checker may cover it, that is land where it stands. When one leaves a point on which it stands
        with others, a free one leaves; left alone again, it is still bound.""",
        "bound",
    )  # fmt: skip


def _pinning(v: Variant) -> Paragraphs:
    yield say(
        6,
        """A checker may land on an empty point, on one of your own, or on one with a single enemy checker, which
        is then pinned: it can neither move nor be borne off until no checker of yours stands on it.""",
        "contact",
    )  # fmt: skip
    yield say(
        6,
        """You may put more checkers on a point where you pin one; for the pinned side it is closed. Two or more
        enemy checkers close a point too, and so does one that pins a checker of yours.""",
        "contact",
    )  # fmt: skip
    if v.mother:
        yield say(
            6,
            """The last checker that a player has on his own 24 is his mother. If your mother is pinned there and
            the opponent has no checker left on his own 24, you lose at once, and double.""",
            "mother",
        )  # fmt: skip
        yield say(
            6,
            """If he still has a checker on his own 24, the game goes on. You lose, and double, as soon as his last
            unpinned checker leaves it while your mother is still pinned. If both mothers are pinned, the game
            is a draw.""",
            "mother",
        )  # fmt: skip
