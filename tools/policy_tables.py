"""Write docs/policies.md, the cards of all policies that come with the package; `--check` only compares.

Everything comes from the headers of the files in agents/weights. Run it after tools/ship_policy.py. A test runs the
comparison.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nardy_rl.agents.policy import Policy, pretrained_path
from nardy_rl.experiments.card import card_of, strength_rows
from nardy_rl.experiments.screen import markdown_table, points
from nardy_rl.variants import VARIANTS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "policies.md"
OPPONENTS = ("random", "heuristic", "gnubg")  # with a column each
INTRODUCTION = """\
The bot `pretrained` of each game, a file of `agents/weights` with weights in half precision. `nardy card GAME` prints
the card of one, and checks its test vector here. Strength is points a game, ± one standard error, adjusted for luck
where the table of the policy says so; the policy plays without search. Games that differ in their start alone have the
same values and share a policy. Games and minutes are those of all commands of the chain together, minutes as its
commands count them (`clock`) and without compilation. No labels of other engines are in any of them: everything comes
from self-play.
"""


def cards() -> Iterator[dict[str, Any]]:
    """The card of every policy that comes with the package."""
    for variant in VARIANTS.values():
        path = pretrained_path(variant)
        if path is not None and path.stem == variant.id:
            yield card_of(Policy.load(path))


def row_of(game: str, card: dict[str, Any]) -> list[str]:
    """A game in a line."""
    by = {one["against"]: points(one["ppg"], one["se"]) for one in card["strength"] if one["variant"] == game}
    own = card["variant"]
    if game != own:
        return [f"`{game}`", f"[{own}](#{own})", *[""] * 4, *(by.get(name, "") for name in OPPONENTS), ""]
    return [
        f"`{game}`",
        f"[{own}](#{own})",
        card["inputs"]["kind"],
        "-".join(map(str, card["hidden"])) + " twice" * (card["nets"] != "one"),
        f"{card['games']:,}",
        f"{card['minutes']:.0f}",
        *(by.get(name, "") for name in OPPONENTS),
        f"{card['bytes'] / 1e6:.2f}",
    ]


def section(card: dict[str, Any]) -> Iterator[str]:
    """A policy with its chain and what was measured."""
    trained, inputs = card["trained"], card["inputs"]
    yield f"## {card['variant']}"
    facts = f"Policy {card['digest']}; {card['weights']:,} weights; inputs {inputs['kind']}, version "
    facts += f"{inputs['version']}, layout {inputs['digest']}; outputs {', '.join(card['outputs'])}; test vector of "
    facts += f"{card['test']['states']} states."
    if trained:
        facts += f" Trained on {trained['machine']}, {trained['cores']} cores, {trained['started']}"
        facts += f", commit {trained['commit']}." if trained["commit"] else "."
    if card["began"]:
        facts += f" It began with the policy that came with {card['began']['game']} then, {card['began']['digest']}."
    yield facts
    yield "\n".join(["```sh", *(step["command"] for step in card["chain"]), "```"])
    if card["strength"]:
        columns, rows = strength_rows(card["strength"])
        yield markdown_table(columns, [[*row[:-1], f"`{row[-1]}`"] for row in rows])
        yield f"Measured {card['measured']}."


def page() -> str:
    """The page."""
    told = list(cards())
    total = sum(card["bytes"] for card in told) / 1e6
    rows = {game: row_of(game, card) for card in told for game in card["serves"]}
    columns = ["game", "policy", "inputs", ">hidden", ">games", ">minutes", *(f">{name}" for name in OPPONENTS), ">MB"]
    parts = [
        "<!-- written by tools/policy_tables.py -->",
        "# The policies that come with the package",
        INTRODUCTION.rstrip(),
        markdown_table(columns, [rows[game] for game in VARIANTS if game in rows]),
        f"{len(told)} policies for {len(rows)} games, {total:.2f} MB together in the wheel.",
    ]
    return "\n\n".join([*parts, *(part for card in told for part in section(card))]) + "\n"


def main() -> int:
    """Returns 0 if the page is, or now is, up to date; 1 if `--check` found that it is not."""
    made = page()
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == made:
        return 0
    if sys.argv[1:] == ["--check"]:
        print("docs/policies.md is not up to date: run  python tools/policy_tables.py")
        return 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
