"""Every game trained from scratch at one small budget, and measured: the table of all variants.

    nardy bench variants --minutes 5 --out runs/variants

For each game: a training run of the default recipe; what the game is like when the trained player plays itself; duels
of it against `random`, `pips`, `heuristic` and the policy that comes with the package, and of `heuristic` against
`random`; its strength against `heuristic` while it was trained. A game's line is added to FOLDER/results.jsonl when it
is done, and is not done again; a training run that was stopped goes on from its checkpoint. The tables and the picture
are written anew after every game.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nardy_rl.agents import load_bot
from nardy_rl.agents.bot import Bot, ValueBot
from nardy_rl.agents.policy import pretrained_for
from nardy_rl.errors import MissingExtra
from nardy_rl.experiments.config import config_from
from nardy_rl.experiments.duel import duel
from nardy_rl.experiments.report import STRENGTH, read_run
from nardy_rl.experiments.results_file import add_result, read_results
from nardy_rl.experiments.runs import CHECKPOINT, RESULTS, write_text
from nardy_rl.experiments.screen import markdown_table, points
from nardy_rl.experiments.stats import stats
from nardy_rl.experiments.training import train
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS, variant_text

if TYPE_CHECKING:
    from rich.console import Console

KIND = "variants"
DUELS = 5  # while a short run goes on, for its curve
OPPONENTS = ("random", "pips", "heuristic", "pretrained")
COLUMNS = (
    "game", "games/s", "positions/s", "plays to choose from", "plies", "first player", "more than single",
    *(f"v {name}" for name in OPPONENTS), "heuristic v random",
)  # fmt: skip


class Budget(NamedTuple):
    """What every game gets; results of another budget are not taken for these."""

    minutes: float
    clock: str
    seed: int
    games: int  # of each duel, and of the trained player against itself


def _trained(variant: Variant, budget: Budget, folder: Path, console: Console | None) -> dict[str, Any]:
    """The game's training run: what `train` returns, of a run that is done, resumed or new."""
    run = folder / variant_text(variant).replace(":", "-").replace("/", "-")
    if (run / RESULTS).exists():
        return dict(json.loads((run / RESULTS).read_text(encoding="utf-8")))
    if (run / CHECKPOINT).exists():
        return train(None, run, console)
    given = {"minutes": budget.minutes, "seed": budget.seed, "clock": budget.clock, "out": str(run), "final_games": 0}
    given["strength_minutes"] = min(1.0, budget.minutes / DUELS)
    return train(config_from(None, (), variant=variant_text(variant), **given), console=console)


def _speeds(run: Path) -> dict[str, float | None]:
    """Games, and positions, that TD played and learned a second: the median over its part of the run."""
    td = [
        line for line in read_run(run).history if line.get("selfplay_generation") == 0 and "speed_games_per_s" in line
    ]
    games = [line["speed_games_per_s"] for line in td]
    positions = [line["speed_games_per_s"] * line["selfplay_plays_per_game"] for line in td]
    return {
        "games_per_s": statistics.median(games) if games else None,
        "positions_per_s": statistics.median(positions) if positions else None,
    }


def _duels(variant: Variant, policy: ValueBot, budget: Budget) -> dict[str, Any]:
    """The trained player against each opponent (`_duel`); None where there is no shipped policy."""
    found: dict[str, Any] = {}
    for name in OPPONENTS:
        if name == "pretrained" and pretrained_for(variant) is None:
            found[name] = None
            continue
        found[name] = _duel(variant, policy, name, budget)
    return found


def _duel(variant: Variant, bot: Bot, rival: str, budget: Budget) -> dict[str, Any]:
    """A bot against the bot of that name: ppg, se, wins as a share; raw, since the differences here are large."""
    won = duel(variant, bot, load_bot(variant, rival), budget.games, seed=budget.seed, evaluator="none")
    return {"ppg": won.ppg, "se": won.se, "wins": won.wins / won.games}


def measure(variant: Variant, budget: Budget, folder: Path, console: Console | None = None) -> dict[str, Any]:
    """Train and measure one game: a result of the file."""
    report = _trained(variant, budget, folder, console)
    run = Path(report["run"])
    policy = load_bot(variant, str(run))
    assert isinstance(policy, ValueBot)
    curve = read_run(run).curve(f"{STRENGTH}heuristic")
    return {
        "variant": variant_text(variant),
        "budget": budget._asdict(),
        "trained_games": report["games"],
        "stopped": report["stopped"],
        **_speeds(run),
        "play": stats(variant, policy, budget.games, budget.seed),
        "duels": _duels(variant, policy, budget),
        "heuristic_random": _duel(variant, load_bot(variant, "heuristic"), "random", budget),
        "curve": {key: getattr(curve, key).tolist() for key in ("games", "minutes", "value", "error")},
    }


def bench_variants(
    variants: Sequence[Variant],
    budget: Budget,
    folder: Path,
    say: Callable[[str], None],
    console: Console | None = None,
) -> dict[str, Any]:
    """Measure the games that the folder does not hold yet at this budget, and write its tables.

    Returns results (one of each game asked for) and files (those that were written). Raises BadRun and BadOption for a
    folder that cannot be used.
    """
    file = folder / "results.jsonl"
    wanted = [variant_text(variant) for variant in variants]
    found = _kept(file, budget)
    for variant, name in zip(variants, wanted, strict=True):
        if name in found:
            continue
        say(f"{name}, game {wanted.index(name) + 1} of {len(wanted)}")
        add_result(file, KIND, measure(variant, budget, folder, console))
        found = _kept(file, budget)
        write_tables(list(found.values()), folder, say)
    results = [found[name] for name in wanted]
    return {"results": results, "files": write_tables(list(found.values()), folder, say)}


def _kept(file: Path, budget: Budget) -> dict[str, dict[str, Any]]:
    """The results of this budget in the file, by game; the last one counts."""
    if not file.exists():
        return {}
    results = [line["result"] for line in read_results(file, KIND)]
    return {result["variant"]: result for result in results if result["budget"] == budget._asdict()}


def row(result: dict[str, Any]) -> list[str]:
    """The cells of a game's line, as in `COLUMNS`."""
    play = result["play"]
    more = [kind["share"] or 0.0 for kind in play["results"] if kind["points"] > 1]
    starter = play["starter"]
    return [
        result["variant"],
        *("" if result[key] is None else f"{result[key]:,.0f}" for key in ("games_per_s", "positions_per_s")),
        f"{play['branching']['mean']:.1f}",
        f"{play['plies']['mean']:.0f}",
        points(starter["ppg"], starter["se"]),
        f"{sum(more):.0%}" if more else "",
        *(_points(result["duels"][name]) for name in OPPONENTS),
        _points(result["heuristic_random"]),
    ]


def _points(duel: dict[str, Any] | None) -> str:
    return "" if duel is None else f"{points(duel['ppg'], duel['se'])} ({duel['wins']:.1%})"


def markdown(results: Sequence[dict[str, Any]]) -> str:
    """The table of all games, in Markdown."""
    return markdown_table(COLUMNS, [row(result) for result in results]) + "\n"


def write_tables(results: Sequence[dict[str, Any]], folder: Path, say: Callable[[str], None]) -> list[Path]:
    """Write variants.md, variants.json and, where matplotlib is installed, the picture; returns the files."""
    places = {name: i for i, name in enumerate(VARIANTS)}
    results = sorted(results, key=lambda result: places.get(result["variant"], len(places)))
    files = [folder / "variants.md", folder / "variants.json"]
    write_text(files[0], markdown(results))
    write_text(files[1], json.dumps({"results": list(results)}, indent=1))
    try:
        from nardy_rl.experiments.charts import save_figure, variants_figure

        files += save_figure(variants_figure(results), folder / "variants", ("svg", "png"))
    except MissingExtra as error:
        say(f"no picture: {error}")
    return files
