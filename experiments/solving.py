"""What `nardy solve` does besides solving: what the solution says of the start, and labelled positions for learning."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from nardy_rl.agents.exact_bot import ExactBot
from nardy_rl.agents.net import outputs_of
from nardy_rl.agents.solution import Solution, name_of
from nardy_rl.agents.solvable import model_of
from nardy_rl.agents.table_files import path_of
from nardy_rl.agents.visited import visited
from nardy_rl.batch import starts
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.errors import BadOption, BadRun
from nardy_rl.experiments.lineage import SOLVE
from nardy_rl.experiments.runs import CONFIG, LABELS, labels_digest, save_labels, write_text
from nardy_rl.variant import Variant
from nardy_rl.variants import variant_text

PORTION = 500_000  # labelled positions in a file
EVERY = 1  # of how many positions of a game one is taken


def start_value(bot: ExactBot) -> float | None:
    """Points a game of the player who begins, with best play on both sides; None where the sides start differently.

    He has won the draw, so that where its dice are played he never begins with a double (rules page, section 3).
    """
    if bot.variant.start_other:
        return None
    replies = bot.roll_values(starts(bot.variant, 1, thrown=False))[0].astype(np.float64)
    weights = np.where((ROLLS[:, 0] == ROLLS[:, 1]) & (bot.variant.opening == "dice"), 0.0, ROLL_WEIGHTS)
    return float(replies @ weights / weights.sum())


def solution_facts(variant: Variant, solution: Solution) -> dict[str, Any]:
    """The keys of `nardy solve --json` about a solution; see docs/cli.md."""
    bot = ExactBot(variant, solution)
    return {
        "variant": variant_text(variant),
        "file": str(path_of(name_of(model_of(variant)))),
        "pairs": solution.equity.size,
        "positions": int(np.isfinite(solution.equity[1:, 1:]).sum()),
        "sweeps": solution.sweeps,
        "change": solution.change,
        "seconds": solution.seconds,
        "start": start_value(bot),
    }


def check_labels(variant: Variant, folder: Path) -> None:
    """Can labels of a game be written there: raises BadOption and BadRun as `write_labels` does."""
    if len(outputs_of(variant).points) > 1:
        raise BadOption(
            f"{variant_text(variant)} has no exact labels: a win is not always worth the same in it, and the "
            f"solution knows the points only, not the chances of each result"
        )
    if (folder / LABELS).exists():
        raise BadRun(f"{folder / LABELS} is there already: choose another folder for --labels")


def write_labels(
    bot: ExactBot, folder: Path, number: int, seed: int, explore: float, report: Callable[[int, int], None]
) -> dict[str, Any]:
    """Label positions from the bot's own games, as `nardy train --set labels=FOLDER` reads them.

    number: how many; explore: share of random plays, so that what the bot would avoid is met as well. Raises BadOption
    for a game in which a win is not always worth the same, BadRun for a folder that holds labels already.
    """
    check_labels(bot.variant, folder)
    settings = {"variant": variant_text(bot.variant), "positions": number, "explore": explore, "seed": seed}
    write_text(folder / CONFIG, json.dumps({"program": SOLVE, "config": settings}, indent=1))
    digest, done, part = labels_digest(bot.variant), 0, 0
    while done < number:
        some, part = min(PORTION, number - done), part + 1
        states = visited(bot, some, seed + (part << 32), explore, EVERY)
        save_labels(folder, part, (states, bot.evaluations(states)[0]), digest)
        done += some
        report(done, number)
    return {"labels": str(folder), "labelled": done, "seed": seed, "explore": explore}
