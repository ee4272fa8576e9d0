"""Make a run's policy the shipped one of its game: measure it, write the figures in its header, save it small.

    python tools/ship_policy.py runs/backgammon --against heuristic pubeval --games 20000

Strength is measured in raw paired games with the weights as they are shipped, in half precision; ± is one standard
error.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from nardy_rl.agents import load_bot
from nardy_rl.agents.policy import Policy
from nardy_rl.experiments.config import NOT_LEARNED, settings_table
from nardy_rl.experiments.duel import duel
from nardy_rl.experiments.runs import CONFIG, cpu_name
from nardy_rl.machine import cores

WEIGHTS = Path(__file__).resolve().parent.parent / "agents" / "weights"


def command_of(settings: dict[str, Any]) -> str:
    """The command of a run: its settings, as far as they change what is learned and are not the default."""
    words = [f"nardy train {settings['variant']} --seed {settings['seed']}"]
    words += [f"--{budget} {settings[budget]:g}" for budget in ("minutes", "games") if settings[budget]]
    for name, default, _ in settings_table():
        value = settings.get(name, default)
        if name not in ("variant", "seed", "minutes", "games", *NOT_LEARNED) and value != default:
            words.append(f"--set {name}={value}")
    return " ".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--against", nargs="+", default=["random", "pips", "heuristic"])
    parser.add_argument("--games", type=int, default=10000)
    given = parser.parse_args()
    policy = Policy.load(given.run)
    path = WEIGHTS / f"{policy.variant.id}.safetensors"
    came = json.loads((given.run / CONFIG).read_text(encoding="utf-8"))
    policy.save(path, half=True)
    shipped = Policy.load(path)
    strength = []
    for name in given.against:
        won = duel(shipped.variant, shipped, load_bot(shipped.variant, name), given.games, evaluator="none")
        strength.append(
            {"against": name, "ppg": round(won.ppg, 4), "se": round(won.se, 4), "games": won.games, "wins": won.wins}
        )
        print(
            f"{shipped.variant.id} {name:10s} {won.ppg:+.4f} ± {won.se:.4f}, {won.wins / won.games:.1%} of {won.games}"
        )
    card = {
        "strength": strength,
        "chain": [command_of(policy.header["settings"])],
        "trained": {
            "machine": cpu_name(),
            "cores": cores(),
            "started": came["started"],
            "commit": came["commit"],
        },
        "measured": time.strftime("%Y-%m-%d"),
    }
    shipped.save(path, half=True, extra=card)
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
