"""What the commands show: messages on standard error, the result on standard output, as tables or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table


def messages() -> Console:
    """The console for everything that is not the result: progress, remarks."""
    return Console(stderr=True, highlight=False)


def result() -> Console:
    """The console for the result; wide enough for its tables when it is no terminal."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 160)


def emit_json(data: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output (see `plain`)."""
    print(json.dumps(plain(data), ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """Data that JSON can hold: NumPy's numbers and arrays as plain ones, paths as text, NaN and infinities as None."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "") -> Table:
    """A table; columns whose name begins with `>` are aligned to the right. Cells are plain text, not markup.

    On a narrow screen text wraps; numbers and the first column never do.
    """
    made = Table(title=title or None, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i, name in enumerate(columns):
        number = name.startswith(">")
        made.add_column(
            name.lstrip(">"), justify="right" if number else "left", no_wrap=number or i == 0, overflow="fold"
        )
    for row in rows:
        made.add_row(*(escape(str(cell)) for cell in row))
    return made


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as Markdown."""
    lines = [
        "| " + " | ".join(name.lstrip(">") for name in columns) + " |",
        "|" + "|".join("---:" if name.startswith(">") else "---" for name in columns) + "|",
        *("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows),
    ]
    return "\n".join(lines)


def points(value: float | None, error: float | None = None) -> str:
    """Points a game with their standard error: `+0.412 ± 0.010`."""
    if value is None or value != value:
        return "–"
    return f"{value:+.3f}" + (f" ± {error:.3f}" if error is not None and error == error else "")


def duel_table(results: Sequence[Mapping[str, Any]], title: str = "") -> Table:
    """Results of duels (COMMANDS keys of `evaluate`) as one table, a row each."""
    columns = ["bot", "against", ">points a game", ">raw", ">wins", ">games", ">games/s"]
    rows = []
    for r in results:
        share = f"{r['wins'] / r['games']:.1%}" if r["games"] else "–"
        unfinished = f" ({r['unfinished']} unfinished)" if r.get("unfinished") else ""
        rows.append(
            [r["a"], r["b"], points(r["ppg"], r["se"]), points(r["ppg_raw"], r["se_raw"]), share,
             f"{r['games']:,}{unfinished}", f"{r['games_per_s']:,.0f}"]
        )  # fmt: skip
    return table(columns, rows, title)


def duel_notes(r: Mapping[str, Any]) -> list[str]:
    """What is to be said under the table of one duel, a line each."""
    lines = [f"\n{r['variant']}, seed {r['seed']}, not adjusted for luck; ± is one standard error"]
    if r["adjusted_by"]:
        times = "" if r["multiple"] is None else f", {r['multiple']:.2f} of it taken off"
        lines = [lines[0].replace("not adjusted for luck", f"adjusted for luck by {r['adjusted_by']}{times}")]
    test = r.get("sequential")
    if test:
        verdict = {"high": f"at least {test['high']:+g}", "low": f"at most {test['low']:+g}"}.get(test["verdict"])
        said = f"decided: {verdict} points a game" if verdict else "not decided"
        lines.append(f"sequential test of {test['low']:+g} and {test['high']:+g}: {said}, errors {test['error']:.0%}")
        if test["interval"]:
            low, high = test["interval"]
            lines.append(f"interval that holds at every look: {low:+.3f} to {high:+.3f}")
    match = r.get("match")
    regret = r.get("regret")
    return [
        *lines, *([_match_note(match)] if match else []), *([_regret_note(regret)] if regret else []), *r["notes"]
    ]  # fmt: skip


def _regret_note(regret: Mapping[str, Any]) -> str:
    def lost(of: str, error: str) -> str:
        return f"{regret[of]:.2f}" + ("" if regret[error] is None else f" ± {regret[error]:.2f}")

    return (
        f"true regret of {regret['of']}: {lost('millipoints', 'se')} millipoints a decision, "
        f"{lost('millipoints_a_game', 'se_a_game')} a game; {regret['best']:.1%} of {regret['decisions']:,} decisions "
        f"lose nothing"
    )


def _match_note(match: Mapping[str, Any]) -> str:
    drops = f"; {match['drops']:,} games ended by a drop" if match["cube"] else ""
    if not match["length"]:
        return f"for money, with the cube{drops}"
    share = "" if match["share"] is None else f", {match['share']:.1%} won"
    error = "" if match["se"] is None else f" ± {match['se']:.1%}"
    return f"matches to {match['length']}{', with the cube' * match['cube']}: {match['matches']:,}{share}{error}{drops}"


def match_table_rows(found: Any) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a match equity table, in per cent; last the player behind after the Crawford game."""
    size = range(1, found.length + 1)
    rows = [[f"{mine} away", *(f"{found.chance(mine, other):.1%}" for other in size)] for mine in size]
    rows.append(["after Crawford", *(f"{found.after[n]:.1%}" for n in size)])
    return ["", *(f">{n}" for n in size)], rows


def errors_table(results: Sequence[Mapping[str, Any]]) -> Table:
    """What bots' choices lose (keys of `nardy errors --json`), a row each."""
    columns = ["bot", ">loses a decision", ">best play", ">blunders", ">positions", ">seconds"]
    rows = []
    for r in results:
        lost = f"{r['loss']:.4f}" + ("" if r["se"] is None else f" ± {r['se']:.4f}")
        shares = [f"{r['best']:.1%}", f"{r['blunders']:.1%}"]
        rows.append([r["bot"], lost, *shares, f"{r['positions']:,}", f"{r['seconds']:.2f}"])
    return table(columns, rows)


def ratings_table(data: Mapping[str, Any]) -> Table:
    """Ratings of a tournament (keys of `nardy tournament --json`), and what each scored against each."""
    scored = {(d["a"], d["b"]): (d["ppg"], d["se"]) for d in data["duels"]}
    scored |= {(b, a): (-ppg, se) for (a, b), (ppg, se) in list(scored.items())}
    bots = [r["bot"] for r in data["ratings"]]
    rows = [
        [r["bot"], f"{r['points']:+.3f}", f"{r['points_low']:+.3f} to {r['points_high']:+.3f}", f"{r['elo']:+.0f}"]
        + [f"{r['elo_low']:+.0f} to {r['elo_high']:+.0f}"]
        + [points(*scored[r["bot"], other]) if other != r["bot"] else "" for other in bots]
        for r in data["ratings"]
    ]
    return table(["bot", ">points", ">95 %", ">Elo", ">95 %", *(f">v {bot}" for bot in bots)], rows)


def bench_table(lines: Sequence[Mapping[str, Any]]) -> Table:
    """Measurements (keys of `nardy bench --json`) as one table: median round, slowest and fastest."""

    def figure(value: float | None) -> str:
        return "" if value is None else f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"

    def spread(line: Mapping[str, Any]) -> str:
        return "" if line.get("low") is None else f"{figure(line['low'])} to {figure(line['high'])}"

    columns = ["game", "metric", ">median", ">slowest to fastest", "unit", "rival", ">its median", ">times"]
    rows = [
        [r["variant"], r["metric"], figure(r["value"]), spread(r), r["unit"]]
        + [r["peer"] or "", figure(r["peer_value"]), figure(r["ratio"])]
        for r in lines
    ]
    return table(columns, rows)


@contextmanager
def progress(console: Console, what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar while something is counted; yields the function to call with (done, in all)."""
    bar = Progress(
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} " + what), BarColumn(), TimeRemainingColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
    with bar:
        task = bar.add_task(what, total=1)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def getting_ready(console: Console) -> Iterator[None]:
    """Say why it takes a while: kernels are loaded, and the first time they are compiled."""
    with console.status("getting ready (the first time the rules are compiled, about a minute)..."):
        yield
