"""Write the opening plays of every game with a fixed start into docs/games/openings.json.

    python tools/opening_tables.py            # games whose policy has changed since
    python tools/opening_tables.py --all

The figures are those of `nardy openings GAME`. Run tools/game_pages.py afterwards. A test holds that they are of the
policies that come with the package.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from game_figures import a_game_a_line
from game_pages import OPENINGS, openings

import nardy_rl
from nardy_rl.agents.policy import pretrained_for
from nardy_rl.agents.search import use_threads
from nardy_rl.experiments.analyse import value_bot
from nardy_rl.experiments.openings import openings as opening_plays
from nardy_rl.variants import VARIANTS

PLIES = 1


def measured(name: str, digest: str) -> dict[str, Any]:
    """The opening plays of a game, with what is needed to repeat them."""
    bot = value_bot(VARIANTS[name], f"pretrained@{PLIES}ply")
    use_threads(bot)
    begun = time.perf_counter()
    told = opening_plays(bot)
    print(f"{name}: {time.perf_counter() - begun:.1f} s")
    return {
        "command": f"nardy openings {name} --bot {bot.name}",
        "date": time.strftime("%-d %B %Y"),
        "release": nardy_rl.__version__,
        "policy": digest,
        "plies": PLIES,
        **told,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(VARIANTS), metavar="GAME")
    parser.add_argument("--all", action="store_true", help="also games whose policy is the same as before")
    given = parser.parse_args()
    kept = openings()["games"]
    for name in given.names:
        policy = pretrained_for(VARIANTS[name])
        if policy is None or VARIANTS[name].random_start:
            kept.pop(name, None)
        elif given.all or name not in kept or kept[name]["policy"] != policy.digest:
            kept[name] = measured(name, policy.digest)
    data = {"games": {name: kept[name] for name in VARIANTS if name in kept}}
    OPENINGS.write_text(a_game_a_line(data), encoding="utf-8")


if __name__ == "__main__":
    main()
