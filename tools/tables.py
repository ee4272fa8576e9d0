"""Write the tables of the documentation that are made from code; `--check` only compares.

Run it after a change of nardy_rl/variants.py or of the environments. A test runs the comparison. A table stands between
two marks, `<!-- NAME: written by tools/tables.py -->` and `<!-- end of NAME -->`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from nardy_rl.envs.actions import afterstate_bound
from nardy_rl.envs.checker import ACTIONS, DONE
from nardy_rl.envs.observation import BOARD, FEATURES, Entry
from nardy_rl.envs.registration import env_id
from nardy_rl.results import can_draw, score_levels
from nardy_rl.variants import SOURCES, VARIANTS

ROOT = Path(__file__).resolve().parent.parent


def markdown(heads: list[str], rows: Iterable[list[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(line) + " |" for line in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])


def variants() -> str:
    """A line for each game, in the order of the variant table."""
    return markdown(
        ["id", "name", "in the source", "family", "source", "status"],
        (
            [f"[`{v.id}`](docs/games/{v.id}.md)", v.name, v.native, v.family, SOURCES[v.source], v.status]
            for v in VARIANTS.values()
        ),
    )


def environments() -> str:
    """A line for each environment."""
    rows = []
    for v in VARIANTS.values():
        levels = (0,) * can_draw(v) + score_levels(v)
        points = ", ".join(map(str, levels)) if len(levels) < 5 else f"{levels[0]} to {levels[-1]}"
        rows.append([f"`{env_id(v.id)}`", v.name, str(v.checkers), points, f"Discrete({afterstate_bound(v)})"])
    return markdown(["id", "game", "checkers a side", "points of a game", "actions of the afterstate form"], rows)


def entries(table: tuple[Entry, ...]) -> str:
    """The numbers of an observation."""
    rows, at = [], 0
    for entry in table:
        place = str(at) if entry.size == 1 else f"{at}..{at + entry.size - 1}"
        rows.append([place, entry.name, f"{entry.low:g}..{entry.high:g}", entry.meaning])
        at += entry.size
    return markdown(["place", "name", "values", "meaning"], rows)


def checker_actions() -> str:
    """The actions of the checker form."""
    rows = []
    for source in range(1, ACTIONS // 6 + 1):
        first = (source - 1) * 6
        where = f"from point {source}" if source < ACTIONS // 6 else "from the bar"
        if source in (1, 2, ACTIONS // 6 - 1, ACTIONS // 6):
            rows.append([f"{first}..{first + 5}", f"a checker {where} by the die 1..6"])
        elif source == 3:
            rows.append(["...", "and so on: (point - 1) * 6 + (die - 1)"])
    rows.append([str(DONE), "done: the empty play, where no checker can move"])
    return markdown(["action", "meaning"], rows)


TABLES: dict[str, dict[str, Callable[[], str]]] = {
    "README.md": {"variants": variants},
    "docs/environments.md": {
        "ids": environments,
        "board": lambda: entries(BOARD),
        "features": lambda: entries(FEATURES),
        "checker actions": checker_actions,
    },
}
"""The tables by file and name."""


def with_tables(file: str, text: str) -> str:
    """The text of a file with each of its tables replaced by the present one."""
    for name, table in TABLES[file].items():
        begin, end = f"<!-- {name}: written by tools/tables.py -->\n", f"<!-- end of {name} -->\n"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise SystemExit(f"{file} must hold the lines {begin.strip()!r} and {end.strip()!r}")
        text = f"{before}{begin}\n{table()}\n\n{end}{after}"
    return text


def main() -> int:
    """Returns 0 if the files have, or now have, the present tables; 1 if `--check` found others."""
    status = 0
    for file in TABLES:
        text = (ROOT / file).read_text(encoding="utf-8")
        present = with_tables(file, text)
        if sys.argv[1:] == ["--check"]:
            status |= present != text
        elif present != text:
            (ROOT / file).write_text(present, encoding="utf-8")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
