"""Train the small run of the documentation and write its table into docs/results/small.md; `--check` only compares.

The table holds to the last digit where the code is compiled for the same processor by the same release of Numba.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import llvmlite.binding as llvm
import numba

from nardy_rl.experiments.training import config_from, train

ROOT = Path(__file__).resolve().parent.parent
RUN_FILE = ROOT / "docs" / "results" / "small.toml"
PAGE = ROOT / "docs" / "results" / "small.md"
BEGIN, END = "<!-- small run: written by tools/small_run.py -->\n", "<!-- end of small run -->\n"
OPPONENTS = ("random", "pips")  # those that never change: the other baseline is tuned from time to time
ERRORS = 4  # of both tables together, within which they must agree where the digits need not


def compiled_for() -> str:
    """What the last bits of the kernels' results depend on."""
    return f"Compiled for {llvm.get_host_cpu_name()} by Numba {numba.__version__}."


def results(folder: Path) -> list[dict[str, Any]]:
    """Train the run; its final duels."""
    duels: list[dict[str, Any]] = train(config_from(RUN_FILE, out=str(folder)))["results"]
    return duels


def table(duels: list[dict[str, Any]]) -> str:
    """What stands between the marks of the page."""
    lines = ["| against | points a game | standard error | games |", "|---|---|---|---|"]
    lines += [f"| {d['b']} | {d['ppg']:+.4f} | {d['se']:.4f} | {d['games']} |" for d in duels if d["b"] in OPPONENTS]
    return "\n".join(["", *lines, "", compiled_for(), "", ""])


def printed() -> str:
    """The table that the page has."""
    _, begun, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    text, ended, _ = rest.partition(END)
    if not begun or not ended:
        raise SystemExit(f"{PAGE} must hold the lines {BEGIN.strip()!r} and {END.strip()!r}")
    return text


def values(text: str) -> dict[str, tuple[float, float]]:
    """Points a game and standard error of a table, by opponent."""
    rows = re.findall(r"^\| (\S+) \| ([+-][\d.]+) \| ([\d.]+) \| \d+ \|$", text, re.MULTILINE)
    return {name: (float(points), float(error)) for name, points, error in rows}


def agree(ours: str, theirs: str) -> bool:
    """Are two tables the same: to the last digit if both were compiled alike, else within their errors."""
    if compiled_for() in ours and compiled_for() in theirs:
        return ours == theirs
    a, b = values(ours), values(theirs)
    return a.keys() == b.keys() and all(
        abs(a[name][0] - b[name][0]) <= ERRORS * (a[name][1] ** 2 + b[name][1] ** 2) ** 0.5 for name in a
    )


def main() -> int:
    """Returns 0 if the page has, or now has, the table of the run; 1 if `--check` found another."""
    with TemporaryDirectory() as folder:
        present = table(results(Path(folder) / "run"))
    before = printed()
    if sys.argv[1:] == ["--check"]:
        return int(not agree(present, before))
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text.replace(BEGIN + before + END, BEGIN + present + END), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
