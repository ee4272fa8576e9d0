"""Our opening plays against those of gnubg's net without search.

    python -m nardy_rl.experiments.compare_openings backgammon --bot pretrained@1ply
    python -m nardy_rl.experiments.compare_openings --page docs/results/openings.md

For each throw that a game may begin with: what we play, what gnubg plays first at 0 plies, and what each choice loses
by the other's values, in points a game. It prints one JSON object; without a game for every game that gnubg can play
from a fixed start. With `--page` it also writes the page of results, by the policies alone and one ply deep. Needs the
extra gnubg.

Exit status 1 if fewer than `GATE` of a game's throws agree (13 of 15), where games are named.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import ValueBot
from nardy_rl.agents.engines import GnubgBot
from nardy_rl.agents.net import outputs_of
from nardy_rl.agents.outside import check_playable
from nardy_rl.agents.policy import pretrained_for
from nardy_rl.errors import BadBot, BadOption, NardyError
from nardy_rl.experiments.analyse import value_bot
from nardy_rl.experiments.openings import opening_starts, opening_throws
from nardy_rl.experiments.runs import cpu_name, write_text
from nardy_rl.experiments.screen import markdown_table, plain
from nardy_rl.position import Position
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS, parse_variant, variant_text

GATE = 13 / 15
BOTS = ("pretrained", "pretrained@1ply")  # on the page
INTRODUCTION = """\
What the shipped policies play with each throw that a game may begin with, without search and one ply deep, beside the
first choice of gnubg's net without search; in all games that gnubg can play from a fixed start. Equities are points a
game for the starter before the cube. A choice that differs loses something by the other's values; in the first table
`loses` is the mean loss of our choices by gnubg's values, all throws alike. Where the opening dice are played a throw
is never a double. More plays of each throw: [the pages of the games](../games/README.md)."""


def playable() -> list[Variant]:
    """The games with a fixed start that gnubg can play."""
    found = []
    for variant in VARIANTS.values():
        try:
            check_playable(variant, "gnubg", own_plays=True)
            opening_starts(variant)
        except (BadBot, BadOption):
            continue
        found.append(variant)
    return found


def gnubg_values(gnubg: GnubgBot, states: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Points a game by gnubg's net for each state's player, who is to throw."""
    meaning = outputs_of(gnubg.variant)
    outputs = gnubg.outputs(states)[:, : len(meaning.points)].astype(np.float64)
    return meaning.constant + outputs @ meaning.points.astype(np.float64)


def compare(variant: Variant, name: str) -> dict[str, Any]:
    """All throws of a game by a bot and by gnubg."""
    bot, gnubg = value_bot(variant, name), GnubgBot(variant)
    rows = []
    for side, begin in opening_starts(variant):
        rows += [{"side": side} | _throw(bot, gnubg, begin.throw(*dice)) for dice in opening_throws(variant)]
    agree = sum(row["agree"] for row in rows)
    return {
        "variant": variant_text(variant),
        "bot": name,
        "gnubg": f"gnubg-nn {version('gnubg-nn')}, 0 plies",
        "throws": len(rows),
        "agree": agree,
        "agreement": agree / len(rows),
        "loss_by_gnubg": float(np.mean([row["ours_loses_by_gnubg"] for row in rows])),
        "choices": rows,
    }


def _throw(bot: ValueBot, gnubg: GnubgBot, position: Position) -> dict[str, Any]:
    """One throw: both choices, and what each loses by the other's values."""
    ours, theirs = bot.choose(position), gnubg.choose(position)
    both = np.stack([ours.state, theirs.state])
    by_us = -bot.evaluations(both)[1].astype(np.float64)  # the opponent of the player acts in these positions
    by_gnubg = -gnubg_values(gnubg, both)
    return {
        "dice": list(position.dice),
        "ours": position.move_text(ours),
        "gnubg": position.move_text(theirs),
        "agree": ours == theirs,
        "equity": float(by_us[0]),
        "gnubg_equity": float(by_gnubg[1]),
        "gnubg_loses_by_us": float(by_us[0] - by_us[1]),
        "ours_loses_by_gnubg": float(by_gnubg[1] - by_gnubg[0]),
    }


# ---------------------------------------------------------------------------------------------- the page


def rows_of(data: Mapping[str, Any], all_throws: bool) -> str:
    """The throws of a game as a table, or only those on which the two differ."""
    columns = [
        "throw",
        "ours",
        ">our equity",
        "gnubg's",
        ">its equity",
        ">ours loses, by gnubg",
        ">gnubg's loses, by us",
    ]
    two_sides = len({row["side"] for row in data["choices"]}) > 1
    rows = []
    for row in data["choices"]:
        if not all_throws and row["agree"]:
            continue
        theirs = "the same" if row["agree"] else row["gnubg"]
        losses = ["", ""] if row["agree"] else [f"{row[k]:.3f}" for k in ("ours_loses_by_gnubg", "gnubg_loses_by_us")]
        throw = "-".join(map(str, row["dice"])) + (f", starter {row['side']}" if two_sides else "")
        rows.append([throw, row["ours"], f"{row['equity']:+.3f}", theirs, f"{row['gnubg_equity']:+.3f}", *losses])
    return markdown_table(columns, rows)


def page(found: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    """The page of results: for each game what each of `BOTS` plays, in their order."""
    heads = ["game", "policy", ">throws", *(f">{name} agrees" for name in BOTS), *(f">{name} loses" for name in BOTS)]
    rows = []
    for game in found:
        policy = pretrained_for(parse_variant(game[0]["variant"]))
        assert policy is not None
        rows.append(
            [game[0]["variant"], policy.digest, str(game[0]["throws"])]
            + [str(data["agree"]) for data in game]
            + [f"{data['loss_by_gnubg']:.4f}" for data in game]
        )
    parts = [
        "<!-- written by nardy_rl.experiments.compare_openings -->",
        "# Opening plays, ours and gnubg's",
        INTRODUCTION,
        "```sh\npython -m nardy_rl.experiments.compare_openings --page docs/results/openings.md\n```",
        f"{found[0][0]['gnubg']}; {time.strftime('%-d %B %Y')}, {cpu_name()}. The machine makes no difference.",
        markdown_table(heads, rows),
    ]
    for game in found:
        first = game is found[0]
        for data in game:
            parts.append(f"## {data['variant']}, {data['bot']}: {data['agree']} of {data['throws']} agree")
            if data["agree"] < data["throws"] or first:
                parts.append(rows_of(data, first))
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", metavar="GAME")
    parser.add_argument("--bot", default=BOTS[-1])
    parser.add_argument("--page", type=Path, metavar="FILE")
    given = parser.parse_args(arguments)
    try:
        games = [parse_variant(name) for name in given.games] or playable()
        if given.page is not None:
            found = [[compare(variant, name) for name in BOTS] for variant in games]
            write_text(given.page, page(found))
            flat = [data for game in found for data in game if data["bot"] == given.bot]
        else:
            flat = [compare(variant, given.bot) for variant in games]
    except NardyError as error:
        parser.exit(2, f"compare_openings: {error}\n")
    print(json.dumps(plain({"games": flat}), indent=1, ensure_ascii=False))
    return int(bool(given.games) and any(data["agreement"] < GATE for data in flat))


if __name__ == "__main__":
    sys.exit(main())
