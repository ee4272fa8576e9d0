"""Pictures of training runs and tournaments, drawn with matplotlib: the extra `plot`.

The same data give the same file. Lines and their bands are the mean and one standard error of `report.band`; thin lines
are single runs.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nardy_rl.agents.policy import write_file
from nardy_rl.errors import MissingExtra
from nardy_rl.experiments.report import STRENGTH, Group, band, final_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart by people who see colours differently, and in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
INK, FAINT = "#333333", "#DDDDDD"
LEARNING = {  # scalars of the history and what they are called
    "loss_value_rms": "error of the value (rms), points",
    "loss_race_rms": "the same of the net for races, points",
    "selfplay_plays_per_game": "plays a game",
    "speed_games_per_s": "games a second",
    "loss_step_size": "step size",
}


def _figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches; raises MissingExtra without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot") from error
    return Figure(figsize=(width, height), layout="constrained")


def _dress(axes: Axes, x: str, y: str) -> None:
    """Names of the axes, a light grid, no box."""
    axes.set_xlabel(x, color=INK, fontsize=9)
    axes.set_ylabel(y, color=INK, fontsize=9)
    axes.grid(color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=8, length=3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color("#999999")


def _thousands(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter

    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1000:g}"))


def _lines(axes: Axes, groups: Sequence[Group], name: str, axis: str) -> None:
    """One scalar of all groups against games or minutes."""
    for group, colour in zip(groups, _colours(len(groups)), strict=True):
        for run in group.runs if len(group.runs) > 1 else ():
            curve = run.curve(name)
            axes.plot(getattr(curve, axis), curve.value, color=colour, linewidth=0.7, alpha=0.35)
        mean = band(group, name, axis)
        if not len(mean.x):
            continue
        if np.isfinite(mean.error).any():
            axes.fill_between(
                mean.x, mean.mean - mean.error, mean.mean + mean.error, color=colour, alpha=0.18, linewidth=0
            )
        few = len(mean.x) < 25
        axes.plot(
            mean.x, mean.mean, color=colour, linewidth=1.8, marker="o" if few else None, markersize=3.2,
            label=_label(group),
        )  # fmt: skip


def _label(group: Group) -> str:
    return group.label if len(group.runs) == 1 else f"{group.label} ({len(group.runs)} seeds)"


def _colours(number: int) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(number)]


def _legend(figure: Figure, axes: Axes, groups: Sequence[Group]) -> None:
    """The groups above the panels, if there is more than one, or seeds to tell of."""
    handles, labels = axes.get_legend_handles_labels()
    if handles and (len(groups) > 1 or len(groups[0].runs) > 1):
        figure.legend(handles, labels, loc="outside upper left", ncols=min(3, len(handles)), frameon=False, fontsize=9)


def _from_zero(axes: Axes) -> None:
    """Begin the x axis at 0."""
    axes.set_xlim(left=0)


def strength_figure(groups: Sequence[Group]) -> Figure | None:
    """Points a game against each opponent met while training, against games and minutes; None without any."""
    names = sorted({name for group in groups for name in group.names() if name.startswith(STRENGTH)})
    if not names:
        return None
    # one point, such as that of the gate, is no curve; it is shown only if there is nothing else
    names = [n for n in names if any(len(run.curve(n).value) > 1 for g in groups for run in g.runs)] or names
    figure = _figure(9.0, 0.6 + 2.9 * len(names))
    panels = figure.subplots(len(names), 2, sharey="row", squeeze=False)
    for row, name in zip(panels, names, strict=True):
        opponent = name.removeprefix(STRENGTH)
        for axes, axis, x in zip(
            row, ("games", "minutes"), ("thousand games of self-play", "minutes of training"), strict=True
        ):
            _lines(axes, groups, name, axis)
            _dress(axes, x, f"points a game against {opponent}" if axis == "games" else "")
            _from_zero(axes)
            axes.axhline(0, color=INK, linewidth=0.8, zorder=1)
        _thousands(row[0])
    _legend(figure, panels[0, 0], groups)
    return figure


def learning_figure(groups: Sequence[Group]) -> Figure | None:
    """The scalars of learning against games; None without any."""
    names = [name for name in LEARNING if any(name in group.names() for group in groups)]
    if not names:
        return None
    rows = -(-len(names) // 2)
    figure = _figure(9.0, 0.6 + 2.5 * rows)
    panels = figure.subplots(rows, 2, squeeze=False)
    for axes, name in zip(panels.flat, names, strict=False):
        _lines(axes, groups, name, "games")
        _dress(axes, "thousand games of self-play", LEARNING[name])
        _from_zero(axes)
        _thousands(axes)
        if name in ("selfplay_plays_per_game", "speed_games_per_s"):
            axes.set_ylim(0, 1.1 * axes.dataLim.y1)
    for axes in panels.flat[len(names) :]:
        axes.set_visible(False)
    _legend(figure, panels[0, 0], groups)
    return figure


def final_figure(groups: Sequence[Group]) -> Figure | None:
    """The last duels of the runs, a dot with its error for each group and opponent; None without any."""
    rows = [final_rows(group) for group in groups]
    opponents = list(dict.fromkeys(row["opponent"] for group in rows for row in group))
    if not opponents:
        return None
    places = [(opponent, i) for opponent in opponents for i in range(len(groups))]
    figure = _figure(9.0, 0.9 + 0.3 * len(places) + 0.25 * len(opponents))
    axes = figure.subplots()
    ticks, names, y = [], [], 0.0
    for opponent in opponents:
        ticks.append(y + (len(groups) - 1) / 2)
        names.append(opponent)
        for group, found, colour in zip(groups, rows, _colours(len(groups)), strict=True):
            for row in found:
                if row["opponent"] == opponent:
                    axes.errorbar(
                        row["ppg"], y, xerr=row["se"], fmt="o", color=colour, markersize=5, capsize=3,
                        label=_label(group) if row is found[0] else None,
                    )  # fmt: skip
                    axes.annotate(
                        f"{row['ppg']:+.3f} ± {row['se']:.3f}", (row["ppg"], y), xytext=(0, 6),
                        textcoords="offset points", ha="center", fontsize=7, color=INK,
                    )  # fmt: skip
            y += 1
        y += 0.7
    _dress(axes, "points a game at the end of the run", "")
    axes.grid(axis="y", visible=False)
    axes.set_yticks(ticks, names)
    axes.set_ylim(y - 0.9, -0.8)
    axes.axvline(0, color=INK, linewidth=0.8, zorder=1)
    axes.margins(x=0.08)
    _legend(figure, axes, groups)
    return figure


def variants_figure(results: Sequence[Mapping[str, Any]]) -> Figure:
    """Strength against `heuristic` while training, a panel a game; the last point is the duel at the end."""
    across = min(5, len(results))
    down = -(-len(results) // across)
    figure = _figure(2.2 * across, 0.4 + 1.7 * down)
    panels = figure.subplots(down, across, sharex=True, squeeze=False)
    for axes in panels.flat[len(results) :]:
        axes.set_visible(False)
    for axes, result in zip(panels.flat, results, strict=False):
        minutes, value, error = (np.array(result["curve"][key]) for key in ("minutes", "value", "error"))
        last = result["duels"]["heuristic"]
        axes.plot(minutes, value, color=COLOURS[0], linewidth=1.2)
        axes.fill_between(minutes, value - error, value + error, color=COLOURS[0], alpha=0.18, linewidth=0)
        axes.errorbar(
            result["budget"]["minutes"], last["ppg"], yerr=last["se"], fmt="o", color=COLOURS[1], markersize=4
        )
        _dress(axes, "", "")
        axes.set_title(result["variant"], fontsize=9, color=INK)
        axes.axhline(0, color=INK, linewidth=0.8, zorder=1)
        _from_zero(axes)
    figure.supxlabel("minutes of training", fontsize=9, color=INK)
    figure.supylabel("points a game against heuristic", fontsize=9, color=INK)
    return figure


def draw_game(
    variant: str, groups: Sequence[Group], out: Path, formats: Sequence[str]
) -> Iterator[tuple[str, str, list[Path]]]:
    """Draw what there is of one game: yields a picture's name without ending, what it shows, and its files."""
    stem = variant.replace(":", "-").replace("/", "-").replace("=", "-").removesuffix(".toml")
    for kind, figure, caption in (
        ("strength", strength_figure(groups), "Strength while training; the band is one standard error"),
        ("final", final_figure(groups), "Strength at the end of the runs; bars are one standard error"),
        ("learning", learning_figure(groups), "Learning curves"),
    ):
        if figure is not None:
            name = f"{stem}-{kind}"
            yield name, f"{variant}: {caption[0].lower()}{caption[1:]}", save_figure(figure, out / name, formats)


def save_figure(figure: Figure, path: Path, formats: Sequence[str]) -> list[Path]:
    """Write a figure beside its place and move it there, in each format (`svg`, `png`); returns the files."""
    import matplotlib

    files = []
    for form in formats:
        data = io.BytesIO()
        # text as text, and nothing of the day it was drawn
        with matplotlib.rc_context({"svg.hashsalt": "nardy-rl", "svg.fonttype": "none"}):
            metadata: dict[str, Any] = {"Date": None} if form == "svg" else {"Software": None}
            figure.savefig(data, format=form, dpi=150, metadata=metadata)
        file = path.with_name(f"{path.name}.{form}")
        write_file(file, data.getvalue())
        files.append(file)
    return files
