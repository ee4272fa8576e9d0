"""The rules of a game as sentences: bearing off, the score, the cube, matches."""

from __future__ import annotations

from nardy_rl.experiments.rules_words import Paragraphs, say
from nardy_rl.variant import Variant


def bearing_off(v: Variant) -> Paragraphs:
    """When and with which dice checkers are borne off, and moves inside the home."""
    bar = ", with none on the bar" if v.contact == "hit" and not v.hit_wins else ""
    yield say(2, f"You may bear off while all your checkers that are not off stand in your home, 1 to 6{bar}.", "home")
    if v.contact == "pin":
        yield say(
            6,
            """A checker of yours that is pinned outside your home keeps you from bearing off. One that is pinned
            inside counts as standing there.""",
            "pinned-home",
        )  # fmt: skip
    if v.bearoff == "standard":
        yield say(
            2,
            """A die d bears off a checker from point d. If that point is empty and you have none on a higher one,
            it bears off one from your highest point.""",
            "bearoff",
        )  # fmt: skip
    else:
        yield say(2, "A die d bears off a checker from point d and from no other point.", "bearoff")
    inside = {
        "never": "You may use a die to move inside your home instead, where that is possible.",
        "bearoff": """As long as a checker is still outside, you may move inside your home. Once all your checkers are
            home or off, none of them moves inside the home any more.""",
        "always": """A checker that is in your home moves no more, except to be borne off, also while others are still
            on their way.""",
    }
    yield say(4, inside[v.freeze], "freeze")


def score(v: Variant) -> Paragraphs:
    """Who wins, and what it is worth."""
    if v.hit_wins:
        yield say(
            8, "Whoever hits first wins. If nobody hits, the first to bear off all his checkers wins.", "hit_wins"
        )
    else:
        yield say(7, "The first to bear off all his checkers wins.", "win")
    times = " The cube multiplies it." if v.cube else ""
    text = {
        "left": "The winner gets a point for each checker that the loser has not borne off, 1 to 15.",
        "one": f"A win is worth 1 point; there is no double win.{times}",
        "bg": f"""A win is worth 1 point. It is worth 2, a gammon, if the loser has borne off none; and 3, a backgammon,
            if he has besides a checker on the bar or in the winner's home.{times}""",
        "oin/mars": "A win is worth 1 point (oin), or 2 if the loser has borne off none (mars).",
        "plakoto": "A win is worth 1 point, or 2 if the loser has borne off none.",
    }[v.score]
    if v.score == "plakoto" and v.mother:
        text += " A lost mother is worth 2 as well, and a draw nothing."
    yield say(7, text, "score")
    if v.koks:
        yield say(
            7,
            "It is worth 3 (koks) if the loser has borne off none and still has a checker on his points 19 to 24.",
            "koks",
        )  # fmt: skip
    if v.last_throw:
        yield say(
            7,
            """If the player who began bears off all first, the other has one more throw. If he bears off all with
            it, the game is a draw; else the score is counted after it. In that throw nothing passes on, and it
            earns no other.""",
            "last_throw",
        )  # fmt: skip


def cube(v: Variant) -> Paragraphs:
    """The doubling cube."""
    if not v.cube:
        yield say(7, "There is no doubling cube.", "cube")
        return
    yield say(
        7,
        """The doubling cube shows the stake. It begins at 1, in the middle, where either player may use it. Before
        his own throw a player may offer to double the stake. If the other accepts, the cube shows twice as much
        and is his: from now on only he may offer. If he refuses, he loses the stake as it was before the offer.""",
        "cube",
    )  # fmt: skip
    yield say(7, "Nobody may offer before the opening throw has been played.", "cube-when")
    yield say(7, f"The cube goes up to {v.cube_cap}; then nobody may offer any more.", "cube_cap")
    if v.jacoby:
        yield say(
            7,
            "In play for money a gammon or backgammon counts only if the cube has been turned (Jacoby).",
            "jacoby",
        )  # fmt: skip
    if v.beavers:
        yield say(
            7,
            """In play for money a player who accepts may double again at once and keep the cube (a beaver); the
            other accepts that or gives the game up.""",
            "beavers",
        )  # fmt: skip


def match(v: Variant) -> Paragraphs:
    """Playing to a number of points."""
    yield say(
        7,
        "A match goes to an agreed number of points: those of its games are added up, and who has them first wins.",
        "match",
    )  # fmt: skip
    if v.cube and v.crawford:
        yield say(
            7,
            """When one player, and not both, needs only one point more, the next game is played without the cube
            (Crawford); after it the cube is back.""",
            "crawford",
        )  # fmt: skip
