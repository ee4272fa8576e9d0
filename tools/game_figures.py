"""Measure what every game is like, by random play and by the best player shipped, into docs/games/figures.json.

    python tools/game_figures.py --games 2000

Runs `nardy stats` on all games, or on those named, and keeps the figures of the others. Run tools/game_pages.py
afterwards.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from game_pages import FIGURES, figures

import nardy_rl
from nardy_rl.agents import load_bot
from nardy_rl.experiments.play import best_bot
from nardy_rl.experiments.runs import cpu_name
from nardy_rl.experiments.stats import stats, summary
from nardy_rl.variants import VARIANTS


def rounded(value: Any) -> Any:
    """Figures with six decimals, which is more than their errors allow."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, 6) if isinstance(value, float) else value


def a_game_a_line(data: dict[str, Any]) -> str:
    """The file's text: one line for each game, so that a new measurement is a change of its line."""
    facts = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in data.items() if key != "games"]
    games = ",\n".join(f"{json.dumps(game)}: {json.dumps(rounded(told))}" for game, told in data["games"].items())
    return "{\n" + ",\n".join([*facts, '"games": {\n' + games + "\n}"]) + "\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(VARIANTS), metavar="GAME")
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    kept = figures()["games"]
    for name in given.names:
        variant = VARIANTS[name]
        told = [stats(variant, b, given.games, given.seed) for b in (load_bot(variant, "random"), best_bot(variant))]
        for bot in told:
            del bot["games_per_s"]  # the speed of a busy machine is no property of the game
        kept[name] = summary(variant, told, given.seed)
        print(f"{name}: {told[-1]['bot']}, {told[-1]['plies']['mean']:.1f} plays a game")
    data = {
        "date": time.strftime("%-d %B %Y"),
        "version": nardy_rl.__version__,
        "machine": cpu_name(),
        "games": {name: kept[name] for name in VARIANTS if name in kept},
    }
    FIGURES.write_text(a_game_a_line(data), encoding="utf-8")


if __name__ == "__main__":
    main()
