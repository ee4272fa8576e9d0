"""The rules of a game as sentences: the head, blocks, doubles that go on, and what becomes of what cannot be played."""

from __future__ import annotations

from nardy_rl.experiments.rules_words import Paragraphs, listed, number, say
from nardy_rl.variant import Variant


def head(v: Variant) -> Paragraphs:
    """How many checkers may leave point 24."""
    if v.head == "free":
        if v.parallel:
            yield say(4, "Your point 24 is your head. Any number of checkers may leave it in a turn.", "head")
        return
    if v.head == "runner":
        yield say(
            4,
            """Your point 24 is your head, and the opponent's is your 12. At first one checker leaves the head, and
            only that one may move until it has passed the opponent's head, that is reached 11 or less. From
            that moment, also within the same throw, any number may leave.""",
            "head",
        )  # fmt: skip
        yield say(
            4,
            """The same holds whenever your only checker away from the head stands on 12 or higher: no second one
            may leave.""",
            "head",
        )  # fmt: skip
        yield say(4, "A double on the first throw makes no exception.", "pairs")
        return
    yield from _allowance(v)


def _allowance(v: Variant) -> Paragraphs:
    long = v.doubles == "progression"
    if v.head == "turn":
        whole = " A throw that goes on through higher doubles is one turn." if long else ""
        again = " Another throw that you have earned has an allowance of its own." if v.extra != "none" else ""
        yield say(4, f"Your point 24 is your head. Only one checker may leave it in a turn.{whole}{again}", "head")
    else:
        stage = ", and one for each further number if the double goes on" if long else ""
        yield say(
            4,
            f"""Your point 24 is your head. Only one checker may leave it with two different dice, and one with the
            four moves of a double{stage}.""",
            "head",
        )  # fmt: skip
    if v.pairs:
        who = "On each player's own first throw of the game"
        if v.pairs_who == "second":
            who = "On the first throw of the player who did not begin"
        stage = " with that number" if v.head == "stage" and long else ""
        doubles = listed([f"{d}-{d}" for d in v.pairs], "or")
        yield say(
            4,
            f"""{who}, {doubles} lets two checkers leave the head{stage}. Since as many dice as possible must be used,
            two must leave where that makes more moves.""",
            "pairs", "pairs_who",
        )  # fmt: skip
    else:
        yield say(4, "The first throw of the game makes no exception.", "pairs")
    if v.completion != "none":
        exception = " The exception for the first throw is not for him." if v.pairs else ""
        back = ""
        if v.completion == "ping-pong" and v.head == "stage":
            back = " When the same stage comes back to a player, what he took in it before still counts."
        elif v.completion == "ping-pong":
            back = " When a throw comes back to a player, what he took in it before still counts."
        yield say(
            4,
            f"A player who completes the other's throw has the same allowance for that.{exception}{back}",
            "allowance",
        )  # fmt: skip


def blocks(v: Variant) -> Paragraphs:
    """Which rows of six are illegal."""
    if v.block == "none":
        if v.parallel:
            yield say(5, "You may hold six points in a row, and more, wherever you like.", "block")
        return
    if v.block == "fevga":
        yield say(
            5,
            """Six of your points in a row are a block. You may hold one even if no enemy checker is past it, with
            two exceptions.""",
            "block",
        )  # fmt: skip
        yield say(5, "At the end of a play you may not hold all six of your own points 19 to 24.", "start-zone")
        yield say(
            5,
            """If all the opponent's checkers stand on one point, you may not hold the six points right in front of
            it at the end of a play. If you hold them already, you must open that block if any play does, even
            if it uses fewer dice; if none does, you may play as you can.""",
            "lock",
        )  # fmt: skip
        return
    yield say(
        5,
        """Six of your points in a row are a block. You may hold one only if at least one enemy checker is past it:
        on a point that the opponent counts lower than all six, or borne off. The opponent's point 1 and his
        point 24 are not next to each other in a row.""",
        "block",
    )  # fmt: skip
    if v.block == "classic":
        yield say(
            5,
            """Only the end of the play counts: within it such a block may arise and go again. If the dice can only
            be used in this way, they must.""",
            "block",
        )  # fmt: skip
    else:
        yield say(
            5,
            """This holds after every single move: such a block may not arise even for a moment. A die that could
            be used only so is not used.""",
            "block",
        )  # fmt: skip


def doubles(v: Variant) -> Paragraphs:
    """Progressions and extra throws."""
    if v.doubles == "progression":
        yield from _progression(v)
    if v.extra == "none":
        if v.completes:
            yield say(4, "A double earns no further throw.", "extra")
        return
    goes_on = v.doubles == "progression"
    done = "made all four moves of a double"
    if goes_on:
        done = "played a double through, with all the stages that it has,"
    if v.extra == "once":
        yield say(4, f"If you {done} yourself, you throw again; but that further throw earns no other.", "extra")
    else:
        yield say(4, f"If you {done} yourself, you throw again, as often as that happens.", "extra")
    if goes_on:
        cancelled = "do" if v.extra_if_cancelled else "do not"
        yield say(4, f"You {cancelled} throw again if higher stages were cancelled.", "extra_if_cancelled")


def _progression(v: Variant) -> Paragraphs:
    if v.calm:
        further = "; a further throw that a double earned is one" if v.extra != "none" else ""
        yield say(
            4,
            f"""In each player's own first {number(v.calm)} throws a double is four moves and no more. These are
            his calm throws. Completing the other's throw is none of them{further}.""",
            "calm",
        )  # fmt: skip
    after = "After them a" if v.calm else "A"
    yield say(
        4,
        f"""{after} double goes on through all higher ones: after its four moves come four moves of the next number,
        and so on up to 6-6. So 4-4 is four fours, four fives and four sixes. Each number is a stage. The stages
        are played in this order, and one must be used up before the next begins.""",
        "doubles",
    )  # fmt: skip
    yield say(
        4,
        "If all your checkers are home or off when you throw a double, it is four moves and no more.",
        "stop-before",
    )  # fmt: skip
    if v.full_move == "stage":
        yield say(4, "The rule that as many dice as possible must be used holds for each stage by itself.", "full_move")
    else:
        yield say(
            4,
            """Of the plays in a stage only those are legal from which you can make the most moves in the whole
            throw.""",
            "full_move",
        )  # fmt: skip
    if v.stop == "no":
        yield say(4, "It goes on to 6-6 even if all your checkers have come home meanwhile.", "stop")
        return
    yield say(
        4,
        """If all your checkers are home or off when a stage of your throw is used up, the higher stages are
        cancelled: nobody plays them. If you get stuck with all of them home, only the rest of that stage counts
        as unplayed.""",
        "stop",
    )  # fmt: skip
    if v.stop == "grace":
        yield say(
            4,
            """But if your last checker came home exactly with the last move of the stage, and you made it, one
            more stage is played before it stops. So after 2-2 the threes may follow, but not the fours.""",
            "stop",
        )  # fmt: skip


def completion(v: Variant) -> Paragraphs:
    """Who plays what is left of a throw."""
    if v.completion == "none":
        if v.completes or v.doubles == "progression":
            yield say(4, "What you cannot play of a throw is lost.", "completion")
        return
    what = "of your throw" if v.completion_scope == "all" else "of a double"
    higher = ""
    if v.doubles == "progression":
        higher = " If he gets stuck in a stage, he does not play the higher ones either."
    yield say(
        4,
        f"""What you cannot play {what} the opponent must play with his own checkers, in the same order and as far as he
        can, before he throws himself.{higher}""",
        "completion",
    )  # fmt: skip
    which = "This holds for every throw, double or not."
    if v.completion_scope == "doubles":
        which = "A die of another throw that you cannot use is lost."
    yield say(4, which, "completion_scope")
    if v.completion == "once":
        yield say(4, "What the opponent cannot play is lost.", "completion")
    else:
        yield say(
            4,
            """What he cannot play comes back to you, and so on to and fro, until nothing is left or the two of
            you, one after the other, can make no move of the stage.""",
            "completion",
        )  # fmt: skip
    if v.void:
        yield say(
            4,
            """A double of which the thrower cannot make even the first move is not played at all, and nothing of
            it passes on.""",
            "void",
        )  # fmt: skip
    else:
        yield say(4, "This is so even if the thrower could not make a single move.", "void")
    if v.doubles == "progression" and v.calm:
        passes = "passes on too" if v.calm_pass else "is lost and does not pass on"
        yield say(4, f"What is left of a double in your calm throws {passes}.", "calm_pass")
    home = "A player with all his checkers home must still play what passes to him."
    if not v.home_completer_plays:
        home = "What would pass to a player with all his checkers home is lost."
    yield say(4, home, "home_completer_plays")
    yield say(
        4,
        "A player may win while he completes the other's throw. Completing earns no further throw.",
        "completer",
    )  # fmt: skip
