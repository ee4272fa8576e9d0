"""Analysis of a position by a bot: its plays in order with what they are worth, or what the position is worth.

With dice (or something of a throw still owed) all plays are ranked, the deeper looked into first; without dice the
position gets a value. Where the bot's net knows them, the probabilities of all outcomes are told as well. Values are
points a game for the player who acts, before any cube. `nardy analyse` prints this as a table, as Markdown or as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, ValueBot, load_bot
from nardy_rl.agents.policy import pretrained_for
from nardy_rl.agents.search import SearchBot
from nardy_rl.agents.search_any import of_movers
from nardy_rl.cube import GameState
from nardy_rl.errors import BadBot, BadOption, BadPosition
from nardy_rl.experiments.analyse_cube import cube_action
from nardy_rl.experiments.outcome_measure import both_sides, outcome_names
from nardy_rl.experiments.stats import result_names
from nardy_rl.forms import read_state
from nardy_rl.position import Position
from nardy_rl.results import score_table
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant, variant_text

ID_GAME = "backgammon"  # of a Position ID, XGID or FIBS board that stands without a game
MOST_COLUMNS = 3  # kinds of win that a table has columns for


# ---------------------------------------------------------------------------------------------- what is analysed


def read_game(words: Sequence[str], dice: str | None = None) -> GameState:
    """The state that the words [VARIANT] POSITION of a command line describe, with dice thrown if they are given.

    POSITION is a text, which names its game itself, or any other form of ours (`forms.py`). dice: such as 31. Raises
    BadPosition or BadOption for what cannot be read, and for a game that is over.
    """
    if len(words) > 2:
        raise BadPosition(f"{' '.join(words)!r}: give one position, in quotes, and the game before it if need be")
    text = words[-1]
    if len(words) == 2:
        variant = parse_variant(words[0])
    else:
        variant = parse_variant(text.split(maxsplit=1)[0] if "|" in text and not text.startswith("board:") else ID_GAME)
    game = read_state(variant, text)[1]
    if dice is not None:
        found = re.fullmatch(r"([1-6])[-,]?([1-6])", dice)
        if found is None:
            raise BadOption(f"--dice {dice} must be two digits from 1 to 6, as in 31")
        game = game.throw(int(found[1]), int(found[2]))
    if game.over:
        raise BadPosition(f"the game is over, there is nothing to analyse: {text!r}")
    return game


def best_shipped(variant: Variant) -> str:
    """The best bot that comes with the package for a game: the trained policy, if one can play it, or `heuristic`."""
    return "pretrained" if pretrained_for(variant) else "heuristic"


def value_bot(variant: Variant, name: str | None) -> ValueBot:
    """The bot of that name; without one the best that is shipped, one ply deep.

    Raises BadBot for one that does not value positions.
    """
    bot: Bot = load_bot(variant, name or f"{best_shipped(variant)}@1ply")
    if not isinstance(bot, ValueBot):
        raise BadBot(f"the bot {bot.name!r} does not value positions: take pretrained, heuristic or a policy of yours")
    return bot


# ---------------------------------------------------------------------------------------------- outcomes


def outcomes_of(variant: Variant, outputs: NDArray[np.float32]) -> dict[str, float] | None:
    """Probabilities by name of one position's outputs f32[K]: `win`, `win 2` (by 2 points or more), ..., `lose`, ...

    None if there are no outputs.
    """
    if not len(outputs):
        return None
    return dict(zip(outcome_names(variant), both_sides(variant, outputs[None])[0].astype(float).tolist(), strict=True))


def outcome_titles(variant: Variant) -> dict[str, str]:
    """How the outcomes that a table has room for are headed: `win`, `win gammon`, ..., by their names."""
    table, kinds = score_table(variant), dict[int, set[str]]()
    for code, name in result_names(variant).items():
        kinds.setdefault(int(table[code]), set()).add(name)
    names = outcome_names(variant)
    levels = sorted(points for points in kinds if points)
    if len(levels) > MOST_COLUMNS:
        levels = levels[:1]
    titles = {}
    for side, sides in (("win", names[: len(names) // 2]), ("lose", names[len(names) // 2 :])):
        for name, level in zip(sides, levels, strict=False):
            said = next(iter(kinds[level])) if len(kinds[level]) == 1 else f"{level} points"
            titles[name] = name if name == side else f"{side} {said}"
    return titles


# ---------------------------------------------------------------------------------------------- the analysis


def analyse(bot: ValueBot, game: GameState) -> dict[str, Any]:
    """What a bot says of a state that is not over: the keys of `nardy analyse --json` (docs/cli.md)."""
    position = game.position
    data: dict[str, Any] = {
        "variant": variant_text(game.variant),
        "position": game.text,
        "bot": bot.name,
        "player": position.player,
        "dice": list(position.dice) or None,
    }
    if position.owes:
        return data | {"cube": None} | _plays(bot, position)
    return data | {"cube": cube_action(bot, game) if game.match.cube else None} | _value(bot, position)


def _value(bot: ValueBot, position: Position) -> dict[str, Any]:
    """What a position before a throw is worth."""
    outputs, values = bot.evaluations(position.state[None])
    return {"equity": float(values[0]), "outcomes": outcomes_of(bot.variant, outputs[0]), "plays": None}


def _plays(bot: ValueBot, position: Position) -> dict[str, Any]:
    """All plays of a position, the best first."""
    after = position.plays()
    states = np.stack([p.state for p in after])
    search = bot if isinstance(bot, SearchBot) else None
    if search is not None:
        first = np.array([0, len(after)])
        outputs, values, plies, rank = search.look(position.state[None], states, first)
    else:
        outputs, values = of_movers(bot.meaning, position.state[None], states, bot.evaluations(states))
        plies = np.zeros(len(after), np.int64)
        rank = np.empty(len(after), np.int64)
        rank[np.argsort(-values, kind="stable")] = np.arange(len(after))
    plays: list[dict[str, Any]] = []
    for i in np.argsort(rank):
        one = {
            "rank": len(plays) + 1,
            "play": position.move_text(after[i]),
            "plies": int(plies[i]),
            "equity": float(values[i]),
            "difference": float(values[i]) - (plays[0]["equity"] if plays else float(values[i])),
            "outcomes": outcomes_of(bot.variant, outputs[i]),
            "position": after[i].text,
        }
        plays.append(one)
    return {"equity": plays[0]["equity"], "outcomes": plays[0]["outcomes"], "plays": plays}


# ---------------------------------------------------------------------------------------------- as tables


def analysis_rows(variant: Variant, data: Mapping[str, Any], most: int) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of an analysis, as `screen.table` takes them; at most so many plays."""
    titles = outcome_titles(variant) if data["outcomes"] is not None else {}

    def chances(outcomes: Mapping[str, float] | None) -> list[str]:
        return [f"{outcomes[name]:.1%}" for name in titles] if outcomes is not None else []

    heads = [f">{title}" for title in titles.values()]
    if data["plays"] is None:
        return [">equity", *heads], [[f"{data['equity']:+.3f}", *chances(data["outcomes"])]]
    rows = [
        [str(one["rank"]), one["play"], f"{one['plies']}-ply", f"{one['equity']:+.3f}"]
        + ["" if one["rank"] == 1 else f"{one['difference']:+.3f}", *chances(one["outcomes"])]
        for one in data["plays"][:most]
    ]
    return [">", "play", "depth", ">equity", ">difference", *heads], rows


def heading(data: Mapping[str, Any]) -> str:
    """What is analysed, in one line."""
    sign = "OX"[data["player"]]
    dice = f"{sign} to play {'-'.join(map(str, data['dice']))}" if data["dice"] else f"{sign} to throw"
    return f"{data['variant']}, {dice}, by {data['bot']}; points a game before the cube"
