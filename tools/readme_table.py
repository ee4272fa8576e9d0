"""Write the table of variants into README.md from the variant table; `--check` only compares.

Run it after a change of nardy_rl/variants.py. A test runs the comparison.
"""

from __future__ import annotations

import sys
from pathlib import Path

from nardy_rl.variants import SOURCES, VARIANTS

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN = "<!-- variants: written by tools/readme_table.py -->\n"
END = "<!-- end of variants -->\n"


def table() -> str:
    """The table in Markdown, a line for each game, in the order of the variant table."""
    lines = ["| id | name | in the source | family | source | status |", "|---|---|---|---|---|---|"]
    for v in VARIANTS.values():
        lines.append(f"| `{v.id}` | {v.name} | {v.native} | {v.family} | {SOURCES[v.source]} | {v.status} |")
    return "\n".join(lines) + "\n"


def with_table(readme: str) -> str:
    """The README's text with the table between its two marks replaced by the present one."""
    before, _, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"{README.name} must hold the lines {BEGIN.strip()!r} and {END.strip()!r}")
    return before + BEGIN + "\n" + table() + "\n" + END + after


def main() -> int:
    """Returns 0 if README.md has, or now has, the present table; 1 if `--check` found another one."""
    text = README.read_text(encoding="utf-8")
    if sys.argv[1:] == ["--check"]:
        return 0 if with_table(text) == text else 1
    README.write_text(with_table(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
