"""The rules of one game as text for a person, put together from the switches of the variant.

Nothing here knows a game by name: a user's own variant gets its text as well. The reference is docs/rules.md.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from nardy_rl.options import OPTIONS, options_of, written
from nardy_rl.variant import Variant
from nardy_rl.variants import SOURCES, VARIANTS, variant_text

WIDTH = 92
_READINGS = (
    "Where the source is silent or unclear, the rules above are the reading that docs/rules.md explains,",
    "and an option lets you play the other one.",
)
NUMBERS = ("none", "one", "two", "three", "four", "five", "six")


def rules_text(variant: Variant) -> str:
    """The whole rules of a game, ready to print: goal, start, every rule in force, score, options, source."""
    native = f" ({variant.native})" if variant.native else ""
    parts = [
        f"{variant.name}{native}",
        f"{variant_text(variant)}  ·  {variant.family} family  ·  {_source(variant)}",
    ]
    sections = [
        ("The board", _board(variant)),
        ("The start", _start(variant)),
        ("Who begins", _opening(variant)),
        ("A turn", _turn(variant)),
        ("Where a checker may land", _contact(variant)),
        ("The head", _head(variant)),
        ("Blocks", _blocks(variant)),
        ("Doubles", _doubles(variant)),
        ("What you cannot play", _completion(variant)),
        ("Bearing off", _bearing_off(variant)),
        ("The end and the score", _score(variant)),
        ("The cube", _cube(variant)),
    ]
    for title, section in sections:
        paragraphs = list(section)
        if paragraphs:
            parts += ["", title.upper(), *paragraphs]
    return "\n".join(_wrapped(p) for p in parts) + "\n" + _options_text(variant)


def options_table(variant: Variant) -> dict[str, dict[str, Any]]:
    """Every option of a game: `value` in force, `default` of the table, the `values` it may have, `help`."""
    base = VARIANTS.get(variant.id, variant)
    return {
        name: {
            "value": _plain(value),
            "default": _plain(getattr(base, name)),
            "values": [_plain(v) for v in OPTIONS[name].values] or None,
            "form": _values(name),
            "help": OPTIONS[name].help,
        }
        for name, value in options_of(variant).items()
    }


def _plain(value: Any) -> Any:
    """An option's value for JSON: flags and numbers as they are, the rest as the command line takes it."""
    return value if isinstance(value, bool | int) else written(value)


def _values(name: str) -> str:
    values = OPTIONS[name].values
    if len(values) > 10:
        return f"{values[0]} to {values[-1]}"
    if values:
        return ", ".join(written(v) for v in values)
    return {"pairs": "doubles such as 33-44-66, or none"}.get(name, "a game's id, or a layout such as 24:2+13:5")


def _options_text(variant: Variant) -> str:
    lines = ["", "OPTIONS", f"Written after the game's id: {variant.id}:NAME=VALUE,NAME=VALUE", *_READINGS]
    for name, option in options_table(variant).items():
        value, default = (written(option[k]) for k in ("value", "default"))
        changed = "" if value == default else f" (default {default})"
        lines += [f"  {name}={value}{changed}", f"      {option['help']}: {option['form']}"]
    return "\n".join(lines) + "\n"


def _wrapped(paragraph: str) -> str:
    """A paragraph broken into lines; a picture or a heading (no full stop at its end) stays as it is."""
    if "\n" in paragraph or not paragraph.endswith("."):
        return paragraph
    return textwrap.fill(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)


def _source(v: Variant) -> str:
    return f"source: {SOURCES[v.source]}" + (f" ({v.source})" if v.source != "user" else "")


# ------------------------------------------------------------------------------------------------- sections


def _board(v: Variant) -> Iterator[str]:
    yield (
        f"Each side has {v.checkers} checkers. Each player numbers the 24 points by the way that is left "
        "to go: 24 is the farthest, 1 the last; 1 to 6 are his home. A die d moves one checker d points "
        "on, from point D to D-d. The aim is to bring all checkers home and then to bear them off."
    )
    if v.parallel:
        yield (
            "Both sides travel the same way round, half a lap apart: your point D is the opponent's "
            "D-12, or D+12 if D is 12 or less. Your 24 is called your head; your 12 is the opponent's "
            "head."
        )
    else:
        yield "The sides travel in opposite directions: your point D is the opponent's 25-D."


def _start(v: Variant) -> Iterator[str]:
    if v.random_start:
        yield (
            "Both sides get the same layout, each in his own numbering, drawn anew for every game: "
            + ("4 to 10" if v.random_start == 1 else "3 to 7")
            + " points, no two of them facing each other (never both D and 25-D), the checkers shared out "
            "among them "
            f"at random with at least {NUMBERS[v.random_start]} on each. A draw without contact (all on 1 "
            "to 12) is drawn again."
        )
    elif v.start_other:
        yield f"One side stands on {_layout(v.layouts[0])}; the other on {_layout(v.layouts[1])}."
        who = {
            "coin": "A coin decides who has which side",
            "first": "The first player (number 0) has the first side",
        }
        yield who.get(v.sides, "The second player (number 1) has the first side") + "."
    else:
        yield f"Each side, in its own numbering, stands on {_layout(v.layouts[0])}."
    picture = _picture(v)
    if picture:
        yield picture


def _layout(counts: tuple[int, ...]) -> str:
    names = {0: "off", 25: "the bar"}
    places = [f"{names.get(d, d)} ({n})" for d, n in reversed(list(enumerate(counts))) if n]
    return ", ".join(places)


def _picture(v: Variant) -> str:
    """The start as a picture of the board; an example where the start is drawn."""
    from nardy_rl.position import Position

    picture = Position.start(v).picture().rstrip()
    return ("An example:\n" if v.random_start else "") + picture


def _opening(v: Variant) -> Iterator[str]:
    yield "Each player throws one die; ties are thrown again. The higher begins."
    if v.opening == "dice":
        yield "He plays the two numbers just thrown, so the first throw is never a double."
    else:
        yield "He then throws two dice for his first throw, which may be a double."


def _turn(v: Variant) -> Iterator[str]:
    yield (
        "Throw two dice and move one checker for each, in either order; the same checker may make both "
        "moves, if it may land on the point between. A double gives four moves of its number."
    )
    yield (
        "You must play as many of the dice as the rules allow. If only one of the two can be played, it "
        "must be the larger if that one can be played. If nothing can be played, the turn passes. A play "
        "that ends the game may always be made, whatever dice remain."
    )


def _contact(v: Variant) -> Iterator[str]:
    free = "A checker may land on an empty point"
    if v.contact == "none":
        yield f"{free} or on one of your own. Any point with an enemy checker, even a single one, is closed."
        return
    if v.contact == "hit":
        yield (
            f"{free}, on one of your own, or on a lone enemy checker (a blot), which is hit and goes to "
            "its bar. Two or more enemy checkers close a point."
        )
        if v.hit_wins:
            return
        yield (
            "A checker on the bar must enter before any other may move: with a die d it enters on point "
            "25-d, in the opponent's home, if that point is not closed."
        )
        if v.bound:
            yield from _bound(v)
        return
    yield (
        f"{free}, on one of your own, or on a lone enemy checker, which is then pinned: it can neither "
        "move nor be borne off until no enemy stands on it. You may add checkers to a point where you pin "
        "one; for the pinned side that point is closed. Two or more enemy checkers close a point, and so "
        "does one that pins a checker of yours."
    )
    if v.mother:
        yield (
            "The last checker on a player's own 24 is his mother. If your mother is pinned while the "
            "opponent has no checker on his own 24, you lose at once, double. If he still has one there, "
            "the game goes on; you lose, double, as soon as his last unpinned checker leaves his 24 while "
            "your mother is still pinned. If both mothers are pinned, the game is a draw."
        )


def _bound(v: Variant) -> Iterator[str]:
    where = (
        "It may not land on a point that holds another checker of yours"
        if v.bound_hide == "landing"
        else "At the end of the play it may not stand on a point with another checker of yours"
    )
    off = (
        "the same die has no other legal move at that moment"
        if v.bound_off == "die"
        else "the stage has no other play that uses as many dice"
    )
    yield (
        "A checker that hits inside your own home (1 to 6) is bound for the rest of that play: it may not "
        f"hide. {where}, and it may be borne off only if {off}. It may move on to an empty point or hit "
        "again; an enemy blot counts as an empty point. Other checkers may cover it. Hits outside your "
        "home do not bind."
    )


def _head(v: Variant) -> Iterator[str]:
    if not v.parallel:
        return
    if v.head == "free":
        yield "Any number of checkers may leave the head."
        return
    if v.head == "runner":
        yield (
            "At first only one checker may leave the head, and only it may move, until it has passed the "
            "opponent's head (has reached 11 or less). From that moment, also within the same throw, any "
            "number may leave. The same holds whenever your only checker away from the head stands on 12 "
            "or higher."
        )
        return
    period = "turn" if v.head == "turn" else "stage of a throw"
    fresh = " (a throw that continues through higher doubles counts as one turn)" if _long_turn(v) else ""
    yield f"One checker may leave the head in a {period}{fresh}."
    if v.pairs:
        who = "a player's" if v.pairs_who == "both" else "the second player's"
        stage = " in its first stage" if v.head == "stage" and v.doubles == "progression" else ""
        yield f"On {who} first throw of the game, {_doubles_list(v)} lets two leave{stage}."
    if v.completion != "none":
        yield (
            "Whoever completes the opponent's throw has an allowance of his own for it; the exception never applies."
        )


def _long_turn(v: Variant) -> bool:
    return v.head == "turn" and v.doubles == "progression"


def _doubles_list(v: Variant) -> str:
    names = [f"{d}-{d}" for d in v.pairs]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def _blocks(v: Variant) -> Iterator[str]:
    if v.block == "none":
        if v.parallel:
            yield "Six points in a row may be held anywhere."
        return
    if v.block == "fevga":
        yield ("Six points in a row may be held even if no enemy checker is ahead of them, with two exceptions.")
        yield (
            "You may not hold all six of your own points 19 to 24 at the end of a play. And if all the "
            "opponent's checkers stand on one point, you may not hold the six points right in front of it "
            "at the end of a play: if that block stands already, you must open it if any play does, "
            "before the rule about using most dice."
        )
        return
    yield (
        "You may not hold six points in a row while no enemy checker is ahead of them (on a lower point "
        "of his, or borne off). A row does not run across the opponent's point 1 to his point 24."
    )
    if v.block == "classic":
        yield "Only the end of the play counts: such a block may arise and be broken again within it."
    else:
        yield "It counts after every single move: such a block may not arise even for a moment within a play."


def _doubles(v: Variant) -> Iterator[str]:
    if v.doubles == "progression":
        start = (
            f"In a player's first {v.calm} throws a double is four moves and no more. From his next throw on, a"
            if v.calm
            else "A"
        )
        yield (
            f"{start} double goes on through all higher ones up to 6-6, four moves of each number in "
            "ascending order: each number is a stage, which must be used up before the next begins."
        )
        yield "A player who has all his checkers home when he throws plays only the double itself."
        if v.full_move == "stage":
            yield "The rule about using most dice holds for each stage by itself."
        else:
            yield (
                "Of the plays in a stage only those are legal that let the same player make the most "
                "moves in the whole throw."
            )
        if v.stop != "no":
            yield (
                "When the thrower has all his checkers home or off at the end of a stage, the higher "
                "stages are cancelled; they are not passed on."
            )
        if v.stop == "grace":
            yield (
                "But if his last checker came home exactly with the fourth move of a stage, one more "
                "stage is played, and then it stops."
            )
        if v.stop == "no":
            yield "It goes on even when all the thrower's checkers are home."
    if v.extra == "once":
        yield (
            "A thrower who himself made all moves of a double throws again, once: the extra throw earns no further one."
        )
    elif v.extra == "unlimited":
        yield "A thrower who himself played every stage of his double throws again, each time."
    if v.extra != "none" and v.doubles == "progression":
        yield (
            "He throws again also if higher stages were cancelled."
            if v.extra_if_cancelled
            else "He does not if higher stages were cancelled."
        )


def _completion(v: Variant) -> Iterator[str]:
    if v.completion == "none":
        if v.parallel or v.doubles == "progression":
            yield "What you cannot play is lost."
        return
    what = "any throw" if v.completion_scope == "all" else "a double"
    yield (
        f"If you cannot play all of {what}, the opponent must play the rest with his own checkers, in the "
        "same order and as far as he can, before his own throw. If he is stuck in a stage, the higher "
        "ones are not his to play either."
    )
    if v.completion == "once":
        yield "What he cannot play is lost."
    else:
        yield (
            "What he cannot play comes back to you, and so on, until nothing is left or both of you in "
            "succession can move nothing."
        )
    if v.void:
        yield "A double of which the thrower cannot make even the first move passes nothing on."
    if v.calm:
        yield (
            "What is left of a double in the calm throws passes on too."
            if v.calm_pass
            else f"What is left of a double in the first {v.calm} throws is lost."
        )
    yield (
        "A player with all checkers home still plays what is passed to him."
        if v.home_completer_plays
        else "What would pass to a player with all checkers home is lost."
    )
    yield "A player may win while he completes the opponent's throw; completing earns no extra throw."


def _bearing_off(v: Variant) -> Iterator[str]:
    pinned = " A pinned checker counts where it stands." if v.contact == "pin" else ""
    bar = ", none on the bar" if v.contact == "hit" and not v.hit_wins else ""
    yield f"You may bear off while all your checkers on the board are in your home (1 to 6){bar}.{pinned}"
    if v.bearoff == "standard":
        yield (
            "A die d bears off a checker from point d; if that point is empty and none of yours stands "
            "higher, one from your highest point."
        )
    else:
        yield "A die d bears off a checker from point d and from no other."
    inside = {
        "never": "You may move inside the home instead.",
        "bearoff": "Once all your checkers are home or off, none moves inside the home any more.",
        "always": "A checker in the home moves only to be borne off, also while others are on their way.",
    }
    yield inside[v.freeze]


def _score(v: Variant) -> Iterator[str]:
    if v.hit_wins:
        yield "Whoever hits first wins at once. If nobody hits, the first to bear off all his checkers wins."
    else:
        yield "The first to bear off all his checkers wins."
    times = ", times the cube" if v.cube else ""
    if v.score == "left":
        yield "He wins a point for each of the loser's checkers that is not borne off, 1 to 15."
    elif v.score == "one":
        yield f"A win is worth 1 point{times}; there is no double win."
    elif v.score == "bg":
        yield (
            "A win is worth 1 point; 2 if the loser has borne off none (gammon); 3 if besides he has a "
            f"checker on the bar or in the winner's home (backgammon){times}."
        )
    else:
        yield "A win is worth 1 point (oin), 2 if the loser has borne off none (mars)."
    if v.koks:
        yield "It is worth 3 (koks) if he has borne off none and still has a checker on his points 19 to 24."
    if v.last_throw:
        yield (
            "If the player who began bears off first, the other has one more throw; if he bears off all "
            "with it, the game is a draw. Nothing passes on in that throw and it earns no other."
        )


def _cube(v: Variant) -> Iterator[str]:
    if not v.cube:
        return
    yield (
        "The doubling cube starts at 1 and is anybody's. Before his own throw, but not before the opening "
        "dice are played, a player may offer to double if the cube is anybody's or his own. Refusing "
        f"loses the stake before the offer; whoever accepts owns the cube. It goes up to {v.cube_cap}."
    )
    if v.jacoby:
        yield "Jacoby: gammons and backgammons count only once the cube has been turned."
    if v.beavers:
        yield "Beavers: whoever accepts may double again at once and keep the cube."
    if v.crawford:
        yield ("In a match, no cube in the first game in which a player is one point from winning it (Crawford).")
