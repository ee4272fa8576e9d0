"""Two bots play each other through PettingZoo's AEC interface.

    python examples/two_bots_aec.py --variant classic --a heuristic --b random --games 20

Any object with `choose(position)` can play: the bots of the package, one of your own, or, as `--b mask`, an agent that
looks at nothing but the mask. It prints who won how many games and points. For a duel that is worth its name, with
paired dice and error bars, there is `nardy evaluate`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from nardy_rl import Position
from nardy_rl.agents import load_bot
from nardy_rl.envs import aec


class MaskAgent:
    """Takes the first legal action."""

    def choose(self, position: Position) -> Position:
        """The position after the first play."""
        return position.plays()[0]


def play(env: Any, players: dict[str, Any]) -> dict[str, float]:
    """One game, `env.reset` having been called; players: by the agent's name. Returns what each has won."""
    won = {}
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        if terminated or truncated:
            won[agent] = reward
            env.step(None)
            continue
        position = env.unwrapped.position
        env.step(position.plays().index(players[agent].choose(position)))
    return won


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, play, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", default="classic", help="a game, with options as in classic:block=sport")
    parser.add_argument("--a", default="heuristic", help="a bot as in `nardy evaluate`, or mask")
    parser.add_argument("--b", default="random", help="the other bot")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)

    env = aec.env(given.variant)
    variant = env.unwrapped.variant
    bots = [MaskAgent() if name == "mask" else load_bot(variant, name) for name in (given.a, given.b)]
    points = np.zeros(given.games)
    for game in range(given.games):
        env.reset(seed=given.seed + game // 2)  # both games of a pair have the same dice as long as the plays agree
        seats = bots if game % 2 == 0 else bots[::-1]
        won = play(env, dict(zip(aec.AGENTS, seats, strict=True)))
        points[game] = won[aec.AGENTS[game % 2]]
    print(f"{given.variant}: {given.a} against {given.b}, {given.games} games, seats alternating")
    print(f"{given.a} won {int((points > 0).sum())} games and {points.mean():+.2f} points a game")


if __name__ == "__main__":
    main()
