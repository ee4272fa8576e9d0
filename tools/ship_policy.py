"""Make a run's policy the shipped one of its game: measure it, write the figures in its header, save it small.

    python tools/ship_policy.py runs/backgammon --games 20000
    python tools/ship_policy.py runs/backgammon --against heuristic=20000 gnubg=4000
    python tools/ship_policy.py backgammon          # measure the policy that is shipped anew

Strength is that of the weights as they are shipped, in half precision, adjusted for luck where that pays; opponents
that cannot play the game are left out. A policy that several games share is measured in each of them (`--in` names
those to measure). What was measured of a shipped policy in other games or against others is kept. The card in the
header has the whole chain of commands: what the run began with (`--init`, `labels`) is looked up in the folders of
those runs. Run tools/policy_tables.py and tools/opening_tables.py afterwards.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from nardy_rl.agents import load_bot
from nardy_rl.agents.policy import Policy
from nardy_rl.errors import BadBot, MissingExtra, NardyError
from nardy_rl.experiments.card import card_of, measurement, served
from nardy_rl.experiments.duel import duel
from nardy_rl.experiments.lineage import Lineage, lineage_of
from nardy_rl.experiments.runs import read_provenance
from nardy_rl.experiments.screen import points
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS, parse_variant

WEIGHTS = Path(__file__).resolve().parent.parent / "agents" / "weights"
OPPONENTS = ["random", "pips", "heuristic", "pubeval", "gnubg"]


def measure(path: Path, variant: Variant, against: list[str], games: int, seed: int, luck: str) -> list[dict[str, Any]]:
    """Duels of the shipped policy in a game; against: names, each with its own number of games after `=` if need be."""
    found = []
    policy = Policy.load(path, variant)
    policy.name = "pretrained"
    for word in against:
        name, _, own = word.partition("=")
        try:
            rival = load_bot(variant, name)
        except (BadBot, MissingExtra) as error:
            print(f"left out: {error}")
            continue
        number = int(own) if own else games
        judge = None if luck == "auto" else "none"
        won = duel(variant, policy, rival, number, seed, evaluator=judge)
        found.append(measurement(won, number, luck))
        print(f"{variant.id} against {name}: {points(won.ppg, won.se)}, raw {points(won.ppg_raw, won.se_raw)}")
    return found


def facts_of(run: Path, line: Lineage) -> dict[str, Any]:
    """What a new policy's header says of its training, without the names of this machine's folders."""
    came, last = read_provenance(run), line.steps[-1]
    return {
        "settings": dict(last.settings) | {"init": last.init, "labels": ",".join(last.labels)},
        "chain": [step.as_dict() for step in line.steps],
        "began": line.began,
        "trained": {
            "machine": came["machine"]["cpu"],
            "cores": came["machine"]["cores"],
            "started": came["started"],
            "commit": came["commit"],
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0], epilog=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", metavar="RUN|GAME")
    parser.add_argument("--against", nargs="+", default=OPPONENTS, metavar="BOT[=GAMES]")
    parser.add_argument("--games", type=int, default=10000)
    parser.add_argument("--in", dest="games_of", nargs="+", metavar="GAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--luck", choices=["auto", "none"], default="auto")
    given = parser.parse_args()
    try:
        again = given.run in VARIANTS and not Path(given.run).exists()
        run = WEIGHTS / f"{given.run}.safetensors" if again else Path(given.run)
        facts = {} if again else facts_of(run, lineage_of(run))  # before the shipped policy of the game is replaced
        policy = Policy.load(run)
        policy.header.pop("before", None)
        path = WEIGHTS / f"{policy.variant.id}.safetensors"
        policy.save(path, half=True, extra=facts)
        shipped = Policy.load(path)
        games = given.games_of or [variant.id for variant in served(path)] or [shipped.variant.id]
        kept = card_of(shipped)["strength"]  # a run that was not shipped yet has none
        anew = [word.partition("=")[0] for word in given.against]
        strength = [one for one in kept if one["variant"] not in games or one["against"] not in anew]
        for game in games:
            strength += measure(path, parse_variant(game), given.against, given.games, given.seed, given.luck)
        shipped.save(path, half=True, extra={"strength": strength, "measured": time.strftime("%Y-%m-%d")})
    except NardyError as error:
        print(f"ship_policy: {error}", file=sys.stderr)
        return 2
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB, policy {shipped.digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
