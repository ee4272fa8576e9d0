"""Analysis of the cube in a position: what each action is worth, what to do, and at which chances that turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nardy_rl.agents.bot import Bot
from nardy_rl.agents.doubling import Verdict, searched, verdict
from nardy_rl.cube import GameState
from nardy_rl.cube_equity import BEAVER, DOUBLE, DROP, TAKE, TOO_GOOD

_ANSWERED = {TAKE: "double, take", DROP: "double, drop", BEAVER: "double, beaver"}


def advice(said: Verdict, turned: bool) -> str:
    """A verdict in words. turned: has the cube been turned already, so that a double is a redouble."""
    if not said.may_double:
        return "no double: he may not double"
    double = "redouble" if turned else "double"
    if said.action == DOUBLE:
        return f"{double}, {said.answer}"
    first = f"too good to {double}" if said.action == TOO_GOOD else f"no {double}"
    return f"{first}, {said.answer}"


def cube_action(bot: Bot, game: GameState) -> dict[str, Any]:
    """What a bot says of the cube in a state before a throw: the key `cube` of `nardy analyse --json` (docs/cli.md)."""
    said = verdict(bot, game)
    actions = [
        {
            "action": _ANSWERED.get(name, name),
            "equity": equity,
            "difference": equity - said.best,
            "match_chance": None if said.match_chances is None else said.match_chances[name],
        }
        for name, equity in said.equities.items()
    ]
    return {
        "verdict": advice(said, game.cube.value > 1),
        "may_double": said.may_double,
        "action": said.action,
        "answer": said.answer if said.may_double else None,
        "actions": actions,
        "cubeless": said.cubeless,
        "efficiency": said.efficiency,
        "plies": searched(bot)[1],
        "points": None if said.points is None else dict(said.points),
    }


def cube_rows(data: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the key `cube`, as `screen.table` takes them."""
    match = data["actions"][0]["match_chance"] is not None
    rows = [
        [one["action"], f"{one['equity']:+.3f}", f"{one['difference']:+.3f}" if one["difference"] else ""]
        + ([f"{one['match_chance']:.2%}"] if match else [])
        for one in data["actions"]
    ]
    return ["cube", ">equity", ">difference", *([">wins the match"] if match else [])], rows


def cube_lines(data: Mapping[str, Any]) -> list[str]:
    """What is said under the table."""
    said = [f"{data['verdict']}; cubeless {data['cubeless']:+.3f}, efficiency of the cube {data['efficiency']:.2f}"]
    if data["points"] is not None:
        dead, live = (data["points"][f"take point, {kind}"] for kind in ("dead", "live"))
        price, taker = data["points"]["gammon price"], data["points"]["gammon price, taker"]
        said.append(
            f"take point {dead:.1%} with a dead cube, {live:.1%} with a live one; "
            f"gammon price {price:.2f}, of the taker {taker:.2f}"
        )
    return said
