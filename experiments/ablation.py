"""What pays: every learning signal with every kind of inputs and every width, for the same time, against one opponent.

    python -m nardy_rl.experiments.ablation backgammon --against pubeval --minutes 2 --results ablation.jsonl

trains each combination from random weights in one thread for so many minutes of CPU time, plays a duel with it,
adjusted for luck, and adds the result to the file. What is in the file already is not done again, so a command that
was interrupted goes on. It ends with a Markdown table.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nardy_rl.agents import load_bot
from nardy_rl.errors import NardyError
from nardy_rl.experiments.config import config_from
from nardy_rl.experiments.duel import duel
from nardy_rl.experiments.results_file import add_result, read_results
from nardy_rl.experiments.screen import markdown_table
from nardy_rl.experiments.training import train
from nardy_rl.variants import parse_variant, variant_text

KIND = "ablation"

SIGNALS: dict[str, tuple[str, ...]] = {
    "TD(0)": ("generation=0", "trace=0"),
    "TD(0.5)": ("generation=0",),
    "expected targets": ("label_trace=0", "final_hidden=0"),
    "variance-reduced returns": ("final_hidden=0",),
    "the same, and a final net": ("final_hidden={hidden}", "final_labels=1"),
}
"""Settings of the learning signals; what is not set is the default recipe's. From the third on they begin with TD(0.5).
A final net is of the cell's own width."""

INPUTS = ("plain", "patterns", "rich")
WIDTHS = ("64-16", "128-32", "256-32")


class Cell(NamedTuple):
    """One combination, and against whom it is measured."""

    variant: str
    against: str
    signal: str
    inputs: str
    width: str
    seed: int
    minutes: float

    @property
    def settings(self) -> list[str]:
        """The words of `nardy train --set`."""
        hidden, _, hidden2 = self.width.partition("-")
        words = [f"inputs={self.inputs}", f"hidden={hidden}", f"hidden2={hidden2 or 0}", "threads=1", "clock=cpu"]
        words.append("td_games=0")  # the share is the signal's
        signal = [word.format(hidden=hidden) for word in SIGNALS[self.signal]]
        return [*words, f"minutes={self.minutes}", "final_games=0", "strength_minutes=0", *signal]


def cells(
    variant: str,
    against: str,
    minutes: float,
    signals: Sequence[str] = tuple(SIGNALS),
    inputs: Sequence[str] = INPUTS,
    widths: Sequence[str] = WIDTHS,
    seeds: Sequence[int] = (1,),
) -> list[Cell]:
    """All combinations, seed by seed."""
    return [
        Cell(variant, against, signal, kind, width, seed, minutes)
        for seed, kind, width, signal in itertools.product(seeds, inputs, widths, signals)
    ]


def measure(cell: Cell, games: int) -> dict[str, Any]:
    """Train one combination and play its duel: the cell's fields, ppg, se, adjusted_by, games of both, minutes used."""
    with tempfile.TemporaryDirectory() as folder:
        run = str(Path(folder) / "run")
        made = train(config_from(None, cell.settings, variant=cell.variant, seed=cell.seed, out=run))
        policy = load_bot(cell.variant, run)
        won = duel(cell.variant, policy, load_bot(cell.variant, cell.against), games, seed=1, threads=1)
    told = {"duel_games": won.games, "trained_games": made["games"], "used": made["minutes"]}
    return cell._asdict() | told | {"ppg": won.ppg, "se": won.se, "adjusted_by": won.adjusted_by}


def results_in(file: Path) -> list[dict[str, Any]]:
    """What the file holds of ablations; nothing if there is no file."""
    return [line["result"] for line in read_results(file, KIND)] if file.exists() else []


def cell_of(result: dict[str, Any]) -> Cell:
    """Which cell a result is of."""
    return Cell(**{name: result[name] for name in Cell._fields})


def table(results: Sequence[dict[str, Any]], wanted: Sequence[Cell]) -> str:
    """A Markdown table of the wanted cells: a line for each inputs and width, a column for each signal."""
    found = {cell_of(result): result for result in results}
    signals = list(dict.fromkeys(cell.signal for cell in wanted))
    rows = []
    for inputs, width in dict.fromkeys((cell.inputs, cell.width) for cell in wanted):
        row = [cell for cell in wanted if (cell.inputs, cell.width) == (inputs, width) and cell in found]
        shown = [_shown([found[cell] for cell in row if cell.signal == signal]) for signal in signals]
        rows.append([inputs, width, *shown])
    return markdown_table(["inputs", "width", *signals], rows)


def _shown(found: Sequence[dict[str, Any]]) -> str:
    """Points a game and error, one seed after the other, and the games of training."""
    return ", ".join(f"{r['ppg']:+.3f} ± {r['se']:.3f} ({r['trained_games'] / 1000:.0f}k)" for r in found)


def run(wanted: Sequence[Cell], file: Path, games: int, say: Callable[[str], None]) -> None:
    """Measure what is missing."""
    done = {cell_of(result) for result in results_in(file)}
    for cell in wanted:
        if cell in done:
            continue
        say(f"{cell.signal}, {cell.inputs}, {cell.width}, seed {cell.seed}")
        result = measure(cell, games)
        add_result(file, KIND, result)
        say(f"  {_shown([result])}")


def main(arguments: list[str] | None = None) -> int:
    """The command line of this module."""
    parser = argparse.ArgumentParser(
        prog="python -m nardy_rl.experiments.ablation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("variant", metavar="GAME")
    parser.add_argument("--against", default="heuristic", help="the opponent of all (default heuristic)")
    parser.add_argument("--minutes", type=float, default=2.0, help="CPU minutes of each run (default 2)")
    parser.add_argument("--games", type=int, default=1000, help="games of each duel (default 1000)")
    parser.add_argument("--signals", nargs="+", choices=tuple(SIGNALS), default=tuple(SIGNALS), help="default all")
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, default=INPUTS, help="default all")
    parser.add_argument("--widths", nargs="+", default=WIDTHS, help="HIDDEN or HIDDEN-HIDDEN2 (default all)")
    parser.add_argument("--seeds", nargs="+", type=int, default=(1,), help="default 1")
    parser.add_argument("--results", type=Path, default=Path("ablation.jsonl"), help="default ablation.jsonl")
    given = parser.parse_args(arguments)
    try:
        game = variant_text(parse_variant(given.variant))
        wanted = cells(game, given.against, given.minutes, given.signals, given.inputs, given.widths, given.seeds)
        load_bot(game, given.against)  # what is wrong is told before the first run
        for cell in wanted:
            config_from(None, cell.settings)
        run(wanted, given.results, given.games, lambda text: print(text, file=sys.stderr, flush=True))
        print(table(results_in(given.results), wanted))
    except NardyError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print(f"interrupted; the same command goes on, from {given.results}", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
