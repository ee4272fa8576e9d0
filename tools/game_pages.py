"""Write docs/games (a page a game, and their index) and docs/readings.md; `--check` only compares.

Everything comes from the table of games, the sentences of `nardy rules`, experiments/data/sources.toml, and the figures
in docs/games/figures.json (tools/game_figures.py) and openings.json (tools/opening_tables.py). Run it after a change of
any of them. A test runs the comparison.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nardy_rl.experiments.openings import MOST, opening_rows
from nardy_rl.experiments.rules_text import (
    Paragraph,
    RuleBook,
    options_table,
    reading_text,
    rule_book,
    source_text,
    unclear_options,
)
from nardy_rl.experiments.rules_words import Picture
from nardy_rl.experiments.screen import markdown_table
from nardy_rl.experiments.sources import Reading, all_readings
from nardy_rl.experiments.stats import stats_rows
from nardy_rl.options import written
from nardy_rl.variant import Variant, layout_text
from nardy_rl.variants import SOURCES, VARIANTS

DOCS = Path(__file__).resolve().parent.parent / "docs"
GAMES = DOCS / "games"
FIGURES = GAMES / "figures.json"
OPENINGS = GAMES / "openings.json"
MADE = "<!-- written by tools/game_pages.py -->"
FAMILIES = {
    "long": "Both sides travel the same way round; nobody is hit.",
    "short": "The sides meet; a lone checker can be hit.",
    "plakoto": "The sides meet; a lone checker can be pinned.",
}
PARTS = {4: "The turn", 6: "Pinning", 8: "Single games"}  # of docs/rules.md, as far as it has readings


def figures() -> dict[str, Any]:
    """What was measured, by game; empty if nothing was."""
    return _kept(FIGURES)


def openings() -> dict[str, Any]:
    """The opening plays, by game; empty if there are none."""
    return _kept(OPENINGS)


def _kept(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"games": {}}


def table(heads: list[str], rows: list[list[str]], right: bool = False) -> list[str]:
    """A table in Markdown; with `right` all columns but the first are numbers."""
    rule = ["---"] + ["--:" if right else "---"] * (len(heads) - 1)
    return [f"| {' | '.join(row)} |" for row in (heads, rule, *rows)]


# ------------------------------------------------------------------------------------------------- a page a game


def game_page(variant: Variant) -> str:
    """The page of one game."""
    book = rule_book(variant)
    lines = [
        MADE,
        "",
        f"# {variant.name}",
        "",
        f"*{variant.native}* · `{variant.id}` · {variant.family} family · {source_text(variant)} · {variant.status}",
        "",
        book.short,
        "",
        f"Play it with `nardy play {variant.id}`. Numbers in brackets are [sources](#sources); ⚑ marks a "
        "[reading](../readings.md) of something that they leave unclear.",
    ]
    for title, paragraphs in book.sections:
        lines += ["", f"## {title}"]
        for paragraph in paragraphs:
            lines += ["", *_block(variant, paragraph)]
    lines += ["", "## Options", "", *_options(variant, book)]
    measured = figures()["games"].get(variant.id)
    if measured:
        lines += ["", "## Figures", "", *_figures(variant, measured)]
    played = openings()["games"].get(variant.id)
    if played or variant.random_start:
        lines += ["", "## Opening plays", "", *_openings(variant, played)]
    lines += ["", "## Sources", ""]
    lines += [f"{number}. {_linked(reference)}" for number, reference in enumerate(book.references, 1)]
    lines += ["", "[All games](README.md) · [Readings](../readings.md) · [The rules page](../rules.md)"]
    return "\n".join(lines) + "\n"


def _block(variant: Variant, paragraph: Paragraph | Picture) -> Iterator[str]:
    if isinstance(paragraph, Picture):
        yield from ("```text", *paragraph.text.splitlines(), "```")
        return
    numbers = ", ".join(map(str, paragraph.references))
    yield paragraph.text + (f" [[{numbers}]](#sources)" if numbers else "")
    for reading in paragraph.readings:
        yield from ("", f"> ⚑ {reading_text(variant, reading)}")


def _linked(reference: str) -> str:
    return reference.replace("docs/rules.md", "[docs/rules.md](../rules.md)")


def _options(variant: Variant, book: RuleBook) -> Iterator[str]:
    yield f"Written after the id: `nardy rules {variant.id}:NAME=VALUE,NAME=VALUE`, and so in every command and call."
    yield ""
    unclear = unclear_options(book)
    rows = []
    for name, option in options_table(variant).items():
        mark = " ⚑" if name in unclear else ""
        rows.append([f"`{name}`{mark}", f"`{written(option['default'])}`", option["form"], option["help"]])
    yield from table(["option", "default", "values", "meaning"], rows)


def _figures(variant: Variant, measured: dict[str, Any]) -> Iterator[str]:
    facts, bots = figures(), measured["bots"]
    rows = [[row[0].replace("  ", "&emsp;"), *row[1:]] for row in stats_rows(bots)]
    yield from table(["by play of", *(bot["bot"] for bot in bots)], rows, right=True)
    yield ""
    names = " ".join(f"--bot {bot['bot']}" for bot in bots)
    yield (
        f"`nardy stats {variant.id} --games {bots[0]['games']} --seed {measured['seed']} {names}`, "
        f"{facts['date']}, release {facts['version']}, {facts['machine']}; ± is one standard error. "
        "The keys are explained under [nardy stats](../cli.md#nardy-stats-variant---games-n---seed-s---bot-bot)."
    )


def _openings(variant: Variant, played: dict[str, Any] | None) -> Iterator[str]:
    if played is None:
        yield (
            "The start is drawn at random, so there are no opening plays to list: `nardy analyse` ranks the plays of "
            "any position."
        )
        return
    for start in played["starts"]:
        if len(played["starts"]) > 1:
            yield f"The starter has {start['side']}:"
            yield ""
        yield markdown_table(*opening_rows(start))
        yield ""
        yield f"In the mean of the throws the starter may expect {start['equity']:+.3f} points a game."
        yield ""
    throws = played["starts"][0]["throws"]
    once = "The opening dice are played, so that there is no double. " if variant.opening == "dice" else ""
    goes_on = any(row["then"] for start in played["starts"] for row in start["throws"])
    stages = "`and then` is how the same throw goes on, with X before what the other player completes. " * goes_on
    few = any(row["choices"] < MOST for row in throws)
    left = "Where a column is empty there is no other play. " * few
    cube = " before the cube" * variant.cube
    yield (
        f"{once}Equity in points a game for the starter{cube}, by the trained player {played['plies']} ply deep; what "
        f"the next plays lose is beside them. {stages}{left}`{played['command']}`, {played['date']}, release "
        f"{played['release']}, policy {played['policy']}."
    )


# ------------------------------------------------------------------------------------------------- the index


def index_page() -> str:
    """The page that lists all games."""
    lines = [MADE, "", "# The games", "", "One page a game: the whole rules, options, figures and sources."]
    for family, what in FAMILIES.items():
        lines += ["", f"## The {family} family", "", what, ""]
        games = [v for v in VARIANTS.values() if v.family == family]
        rows = [[f"[`{v.id}`]({v.id}.md)", v.name, v.native, _start(v), SOURCES[v.source]] for v in games]
        lines += table(["id", "name", "in the source", "start", "source"], rows)
    measured = figures()["games"]
    if measured:
        lines += ["", "## Figures by the best play shipped", "", *_figures_of_all(measured)]
    lines += ["", "[Readings](../readings.md) · [The rules page](../rules.md) · [Adding a game](../variants.md)"]
    return "\n".join(lines) + "\n"


def _start(v: Variant) -> str:
    """A start in a few words."""
    if v.random_start:
        return "drawn at random"
    first, other = (layout_text(side) for side in v.layouts)
    return f"{first}; the other side {other}" if v.start_other else first


def _figures_of_all(measured: dict[str, Any]) -> Iterator[str]:
    heads = [
        "game",
        "bot",
        "plays a game",
        "distinct plays",
        "only one play",
        "starter's points a game",
        "points a win",
    ]
    rows = []
    for game, told in measured.items():
        bot = told["bots"][-1]
        cells = dict((row[0].strip(), row[-1]) for row in stats_rows([bot]))
        rows.append([f"[`{game}`]({game}.md)", bot["bot"], cells["plays a game, mean"], cells["distinct plays, mean"]])
        rows[-1] += [cells["only one play"], cells["starter's points a game"], cells["points a win, mean"]]
    yield from table(heads, rows, right=True)
    yield ""
    facts = figures()
    yield (
        f"Means over {rows and told['bots'][-1]['games']:,} games of the bot against itself, {facts['date']}, release "
        f"{facts['version']}, by `python tools/game_figures.py`; ± is one standard error."
    )


# ------------------------------------------------------------------------------------------------- readings


def readings_page() -> str:
    """The page of all readings."""
    readings, marks = all_readings(), sum(len(r.marks) for r in all_readings())
    games_of = _games_of_readings()
    lines = [
        MADE,
        "",
        "# Readings",
        "",
        "Where a source document is silent or contradicts itself, one reading had to be chosen. Here is each of them:",
        "what the source leaves open, how it is read and why, and the option that plays the other reading. The",
        f"[rules page](rules.md) marks them with ⚑: {marks} marks, {len(readings)} readings. `nardy rules` and the",
        "[pages of the games](games/README.md) tell them where they matter.",
        "What is left open of the cube and of matches is told in [cube.md](cube.md).",
    ]
    part = 0
    for reading in readings:
        if reading.page != part:
            part = reading.page
            lines += ["", f"## {PARTS[part]} (section {part} of the rules page)"]
        lines += ["", *_reading(reading, games_of[reading])]
    return "\n".join(lines) + "\n"


def _games_of_readings() -> dict[Reading, list[str]]:
    """The games in which each reading matters."""
    games: dict[Reading, list[str]] = {reading: [] for reading in all_readings()}
    for variant in VARIANTS.values():
        for _, some in rule_book(variant).sections:
            for paragraph in some:
                for reading in paragraph.readings if isinstance(paragraph, Paragraph) else ():
                    games[reading].append(variant.id)
    return games


def _reading(reading: Reading, games: list[str]) -> Iterator[str]:
    yield f"### {reading.title}"
    yield ""
    links = ", ".join(f"[{VARIANTS[game].name}](games/{game}.md)" for game in games)
    yield (f"Option `{reading.option}` · " if reading.option else "No option · ") + links
    yield ""
    yield f"{reading.silent} Read as: {reading.chosen}."
    yield ""
    if not reading.option:
        yield f"The other reading, {reading.otherwise}, cannot be played."
        return
    others = " or ".join(f"`{games[0]}:{reading.option}={value}`" for value in reading.other)
    yield f"The other reading, {reading.otherwise}, is played as {others}."


# ------------------------------------------------------------------------------------------------- all of them


def pages() -> dict[Path, str]:
    """Every page with its text."""
    made = {GAMES / f"{game}.md": game_page(variant) for game, variant in VARIANTS.items()}
    return made | {GAMES / "README.md": index_page(), DOCS / "readings.md": readings_page()}


def main() -> int:
    """Returns 0 if the pages are, or now are, up to date; 1 if `--check` found one that is not."""
    made = pages()
    extra = [path for path in GAMES.glob("*.md") if path not in made]
    stale = [path for path, text in made.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    if sys.argv[1:] == ["--check"]:
        for path in (*stale, *extra):
            print(f"{path.relative_to(DOCS.parent)} is not up to date: run  python tools/game_pages.py")
        return 1 if stale or extra else 0
    GAMES.mkdir(exist_ok=True)
    for path in stale:
        path.write_text(made[path], encoding="utf-8")
    for path in extra:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
