"""Opening plays: for every throw that a game may begin with, the plays that a bot thinks best, and what they are worth.

Which throws there are is the game's own rule: where the dice that drew the starter are played they are two different
numbers, 15 throws; where the starter throws anew there are 21. A throw of several stages (a double that goes on, or
what the other player completes) is ranked by its first play; how the bot goes on with the throw is told besides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from nardy_rl.agents.bot import ValueBot
from nardy_rl.agents.search import SearchBot
from nardy_rl.cube import GameState
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.errors import BadOption
from nardy_rl.experiments.analyse import analyse
from nardy_rl.match import Match
from nardy_rl.position import Position
from nardy_rl.variant import Variant, layout_text
from nardy_rl.variants import variant_text

MOST = 3  # plays of a throw that a table has room for


def opening_throws(variant: Variant) -> list[tuple[int, int]]:
    """The throws that a game may begin with, the larger die first."""
    throws = [(int(a), int(b)) for a, b in ROLLS]
    return throws if variant.opening == "reroll" else [(a, b) for a, b in throws if a != b]


def opening_starts(variant: Variant) -> list[tuple[str, Position]]:
    """The positions that a game may begin with, player 0 to throw, by what stands on his side.

    One; where a coin decides which of two sides the starter has, two. Raises BadOption for a start that is drawn.
    """
    if variant.random_start:
        raise BadOption(
            f"the start of {variant_text(variant)} is drawn at random, so it has no opening plays: look at a position "
            f"with  nardy analyse"
        )
    begin = Position.start(variant)
    if not variant.start_other or variant.sides != "coin":
        return [(_side(begin), begin)]
    turned = begin.state.copy()
    turned[0:4], turned[4:8] = begin.state[4:8], begin.state[0:4]
    both = [(_side(p), p) for p in (begin, Position(variant, turned))]
    return sorted(both, key=lambda one: one[0] != layout_text(variant.layouts[0]))


def _side(begin: Position) -> str:
    return layout_text(tuple(int(n) for n in begin.counts[0]))


def look_into(bot: ValueBot, plays: int) -> None:
    """Let a bot, if it searches, look as deep as it does into at least so many plays of a position."""
    if isinstance(bot, SearchBot):
        bot.filters = [k._replace(least=max(k.least, plays), most=max(k.most, plays)) for k in bot.filters]


def openings(bot: ValueBot, most: int = MOST, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """The opening plays of the game that a bot was loaded for: the keys of `nardy openings --json` (docs/cli.md).

    most: plays of each throw. progress: called with (throws done, throws in all). Raises BadOption for a start that is
    drawn at random.
    """
    variant = bot.variant
    starts, throws = opening_starts(variant), opening_throws(variant)
    look_into(bot, most)
    told = []
    for number, (side, begin) in enumerate(starts):
        rows = []
        for done, dice in enumerate(throws, 1):
            rows.append(_throw(bot, begin.throw(*dice), most))
            if progress is not None:
                progress(number * len(throws) + done, len(starts) * len(throws))
        weights = np.array([weight for roll, weight in zip(ROLLS, ROLL_WEIGHTS, strict=True) if tuple(roll) in throws])
        mean = float(np.average([row["plays"][0]["equity"] for row in rows], weights=weights))
        told.append({"side": side, "position": begin.text, "equity": mean, "throws": rows})
    return {"variant": variant_text(variant), "bot": bot.name, "starts": told}


def _throw(bot: ValueBot, position: Position, most: int) -> dict[str, Any]:
    """The best plays of one throw, and how the bot goes on with it after the first of them."""
    plays = analyse(bot, GameState(Match(position.variant), position))["plays"]
    best, more = position.after(plays[0]["play"]), []
    while best.owes:
        after = bot.choose(best)
        more.append({"player": best.player, "play": best.move_text(after)})
        best = after
    kept = [{key: one[key] for key in ("play", "plies", "equity", "difference", "outcomes")} for one in plays[:most]]
    return {"dice": list(position.dice), "choices": len(plays), "plays": kept, "then": more}


# ---------------------------------------------------------------------------------------------- as tables


def then_text(row: Mapping[str, Any]) -> str:
    """How a throw goes on after its first play: `24/21; X 24/20`, with X before what the other player completes.

    Passes are left out, and so is what each play leaves owed.
    """
    moves = ((one["player"], one["play"].partition(" owes=")[0]) for one in row["then"])
    return "; ".join(f"{'X ' * player}{play}" for player, play in moves if play != "pass")


def opening_rows(start: Mapping[str, Any], most: int = MOST) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the throws from one start, as `screen.table` takes them."""
    throws = start["throws"]
    goes_on = any(row["then"] for row in throws)
    wins = all(row["plays"][0]["outcomes"] for row in throws)
    others = min(most, max(len(row["plays"]) for row in throws)) - 1
    columns = ["throw", "best play", *["and then"] * goes_on, ">equity", *[">wins"] * wins]
    for number in range(others):
        columns += [("second", "third")[number] if number < 2 else f"number {number + 2}", ">loses"]
    rows = []
    for row in throws:
        first, *rest = row["plays"][:most]
        cells = ["-".join(map(str, row["dice"])), first["play"], *[then_text(row)] * goes_on, f"{first['equity']:+.3f}"]
        cells += [f"{first['outcomes']['win']:.1%}"] if wins else []
        for one in rest:
            cells += [one["play"], f"{0.0 - one['difference']:.3f}"]
        rows.append(cells + [""] * (len(columns) - len(cells)))
    return columns, rows


def opening_heading(data: Mapping[str, Any], start: Mapping[str, Any]) -> str:
    """What a table shows, in one line."""
    side = f", the starter has {start['side']}" if len(data["starts"]) > 1 else ""
    return (
        f"{data['variant']}{side}, by {data['bot']}; points a game for the starter before the cube, "
        f"{start['equity']:+.3f} in the mean of the throws"
    )
