"""A report of training runs: learning curves, strength against games and minutes, final tables; pictures and Markdown.

Runs that differ in nothing but the seed, the folder and how they are measured are one group, drawn as one line with an
interval: the mean over the seeds and its standard error (at least that of the duels themselves); the seeds are drawn
thinly behind it. The curves come from `history.jsonl`, the table from `results.json` of each run's folder.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.errors import BadRun
from nardy_rl.experiments.config import NOT_LEARNED
from nardy_rl.experiments.runs import CONFIG, HISTORY, RESULTS, write_text

Floats = NDArray[np.float64]

# settings in which the runs of a group may differ: they say nothing of what is learned
SAME_GROUP = ("seed", "threads", *NOT_LEARNED)
STRENGTH = "strength_ppg_"  # of the names in the history: points a game against whom follows; its error is strength_se_


@dataclass(frozen=True)
class Curve:
    """One scalar of a run: f64[N] each; `error` is its standard error, NaN where none is known."""

    games: Floats
    minutes: Floats
    value: Floats
    error: Floats


@dataclass(frozen=True)
class Run:
    """What a run's folder says."""

    folder: Path
    settings: Mapping[str, Any]
    origin: Mapping[str, Any]  # command, date, commit, versions, machine
    history: Sequence[Mapping[str, float]]
    results: Mapping[str, Any] | None  # None while the run is not done

    @property
    def variant(self) -> str:
        """The game."""
        return str(self.settings["variant"])

    def curve(self, name: str) -> Curve:
        """A scalar of the history, by its name there; a strength goes on to the duel at the end of the run."""
        error, lines = "", [line for line in self.history if line.get(name) is not None]
        if name.startswith(STRENGTH):
            error = name.replace(STRENGTH, "strength_se_")
            for duel in self.results["results"] if self.results else ():
                if duel["b"] == name.removeprefix(STRENGTH) and self.history:
                    last = self.history[-1]
                    lines.append({**{k: last[k] for k in ("games", "minutes")}, name: duel["ppg"], error: duel["se"]})
        columns = [[line.get(key, math.nan) for line in lines] for key in ("games", "minutes", name, error)]
        return Curve(*(np.array(column, dtype=float) for column in columns))


@dataclass(frozen=True)
class Group:
    """Runs that differ in the seed only, and what sets them apart from the other groups."""

    label: str
    runs: Sequence[Run]

    def names(self) -> set[str]:
        """Scalars that a run of the group has."""
        return {name for run in self.runs for line in run.history for name in line} - {"games", "minutes"}


@dataclass(frozen=True)
class Band:
    """The mean of a group's curves: f64[N] each."""

    x: Floats
    mean: Floats
    error: Floats


def read_run(folder: str | Path) -> Run:
    """The run in a folder; raises BadRun if it holds none."""
    folder = Path(folder)
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        settings = dict(config.pop("config"))
        history_file, results_file = folder / HISTORY, folder / RESULTS
        lines = history_file.read_text(encoding="utf-8").splitlines() if history_file.exists() else []
        results = json.loads(results_file.read_text(encoding="utf-8")) if results_file.exists() else None
    except OSError as error:
        raise BadRun(f"{folder} is no run folder: cannot read {Path(error.filename).name} ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadRun(f"{folder} holds no run that can be read ({error}): name folders of nardy train") from None
    return Run(folder, settings, config, _whole_lines(lines), results)


def _whole_lines(lines: Sequence[str]) -> list[dict[str, float]]:
    """The lines that are whole: a kill may have cut the last one short."""
    found = []
    for line in lines:
        try:
            data = json.loads(line)
        except ValueError:
            continue
        if isinstance(data, dict) and {"games", "minutes"} <= set(data):
            found.append(data)
    return found


def groups_of(runs: Sequence[Run]) -> list[Group]:
    """Runs put together, in the order in which they were named; labelled by the settings in which groups differ."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        key = json.dumps({k: v for k, v in run.settings.items() if k not in SAME_GROUP}, sort_keys=True)
        found.setdefault(key, []).append(run)
    names = sorted({name for run in runs for name in run.settings} - {*SAME_GROUP, "variant"})
    differing = [n for n in names if len({json.dumps(r.settings.get(n)) for r in runs}) > 1]
    groups = []
    for members in found.values():
        words = [f"{n}={members[0].settings.get(n)}" for n in differing]
        groups.append(Group(", ".join(words) or members[0].variant, members))
    return groups


def band(group: Group, name: str, axis: str) -> Band:
    """The mean over a group of a scalar against `games` or `minutes`, where all its runs have it."""
    curves = [curve for run in group.runs if len((curve := run.curve(name)).value)]
    if not curves:
        return Band(np.zeros(0), np.zeros(0), np.zeros(0))
    places = [getattr(curve, axis) for curve in curves]
    low, high = max(p[0] for p in places), min(p[-1] for p in places)
    x = np.unique(np.concatenate(places))
    x = x[(x >= low) & (x <= high)]
    values = np.array([np.interp(x, p, curve.value) for p, curve in zip(places, curves, strict=True)])
    measured = np.array([np.interp(x, p, curve.error) for p, curve in zip(places, curves, strict=True)])
    number = len(curves)
    error = np.sqrt((measured**2).mean(axis=0) / number)
    if number > 1:
        error = np.fmax(error, values.std(axis=0, ddof=1) / math.sqrt(number))
    return Band(x, values.mean(axis=0), error)


# ---------------------------------------------------------------------------------------------- what it says


def final_rows(group: Group) -> list[dict[str, Any]]:
    """The last duels of the runs of a group by opponent: mean points a game with its standard error over seeds."""
    rows = []
    duels = [duel for run in group.runs if run.results for duel in run.results["results"]]
    for opponent in dict.fromkeys(duel["b"] for duel in duels):
        mine = [duel for duel in duels if duel["b"] == opponent]
        values = np.array([duel["ppg"] for duel in mine], dtype=float)
        measured = np.array([duel["se"] if duel["se"] is not None else math.nan for duel in mine], dtype=float)
        error = math.sqrt((measured**2).mean() / len(mine))
        if len(mine) > 1:
            error = np.fmax(error, values.std(ddof=1) / math.sqrt(len(mine)))
        rows.append(
            {
                "label": group.label,
                "opponent": opponent,
                "ppg": float(values.mean()),
                "se": float(error),
                "games": sum(duel["games"] for duel in mine),
                "seeds": len(mine),
            }
        )
    return rows


def summary(runs: Sequence[Run]) -> dict[str, Any]:
    """The report as plain data: by game and group, what was trained and how strong it is."""
    games: dict[str, list[Run]] = {}
    for run in runs:
        games.setdefault(run.variant, []).append(run)
    return {
        "games": [
            {
                "variant": variant,
                "groups": [
                    {
                        "label": group.label,
                        "runs": [_run_row(run) for run in group.runs],
                        "final": final_rows(group),
                    }
                    for group in groups_of(members)
                ],
            }
            for variant, members in games.items()
        ]
    }


def _run_row(run: Run) -> dict[str, Any]:
    last = run.history[-1] if run.history else {"games": 0, "minutes": 0.0}
    return {
        "folder": str(run.folder),
        "seed": run.settings.get("seed"),
        "games": int(last["games"]),
        "minutes": float(last["minutes"]),
        "done": run.results is not None,
        "command": run.origin.get("command"),
        "commit": run.origin.get("commit"),
        "started": run.origin.get("started"),
        "cpu": (run.origin.get("machine") or {}).get("cpu"),
    }


def markdown(data: Mapping[str, Any], pictures: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    """The report as Markdown. data: see `summary`; pictures: for each game, (file, what it shows)."""
    lines = ["# Training runs", ""]
    for game in data["games"]:
        lines += [f"## {game['variant']}", ""]
        for file, caption in pictures.get(game["variant"], ()):
            lines += [f"![{caption}]({file})", "", f"*{caption}*", ""]
        rows = [row for group in game["groups"] for row in group["final"]]
        if rows:
            lines += ["| player | against | points a game | seeds | games |", "|---|---|---|---|---|"]
            for r in rows:
                figures = f"{r['ppg']:+.3f} ± {r['se']:.3f} | {r['seeds']} | {r['games']:,}"
                lines.append(f"| {r['label']} | {r['opponent']} | {figures} |")
            lines += ["", "± is one standard error, over seeds where there are several.", ""]
        lines += ["| run | seed | games | minutes | command | commit | started |", "|---|---|---|---|---|---|---|"]
        for group in game["groups"]:
            for r in group["runs"]:
                state = "" if r["done"] else " (not done)"
                lines.append(
                    f"| {r['folder']}{state} | {r['seed']} | {r['games']:,} | {r['minutes']:.1f} | `{r['command']}` "
                    f"| {r['commit'] or '–'} | {r['started'] or '–'} |"
                )
        machines = sorted({r["cpu"] for group in game["groups"] for r in group["runs"] if r["cpu"]})
        lines += ["", f"Machine: {', '.join(machines)}.", ""] if machines else [""]
    return "\n".join(lines)


def write_report(folders: Sequence[str | Path], out: str | Path, formats: Sequence[str] = ("svg",)) -> dict[str, Any]:
    """Write pictures and `report.md` into the folder `out`; returns `summary` with `report` and `pictures`, files.

    formats: `svg`, `png` or both; Markdown shows the first. Raises BadRun for a folder that is no run or an `out` that
    cannot be written, MissingExtra without matplotlib.
    """
    from nardy_rl.experiments.charts import draw_game

    runs = [read_run(folder) for folder in folders]
    out = Path(out)
    data = summary(runs)
    pictures: dict[str, list[tuple[str, str]]] = {}
    files: list[str] = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for game in data["games"]:
            groups = groups_of([run for run in runs if run.variant == game["variant"]])
            for stem, caption, written in draw_game(game["variant"], groups, out, formats):
                pictures.setdefault(game["variant"], []).append((f"{stem}.{formats[0]}", caption))
                files += [str(path) for path in written]
        write_text(out / "report.md", markdown(data, pictures))
    except OSError as error:
        raise BadRun(f"cannot write the report to {str(out)!r}: {error.strerror}; choose another --out") from None
    return {"report": str(out / "report.md"), "pictures": files, **data}
