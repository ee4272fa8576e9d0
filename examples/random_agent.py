"""A random agent in one Gymnasium environment: the shortest loop there is.

    python examples/random_agent.py --env nardy_rl/Plakoto-v0 --games 20 --picture board.png

It prints how long the games are and who wins them, and writes a picture of the last board if asked to.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import gymnasium as gym
import numpy as np

import nardy_rl.envs  # registers the games


def play(env: gym.Env, games: int, seed: int) -> tuple[list[int], list[float]]:
    """Random games of one seed: their numbers of actions, and what player 0 won by each."""
    rng = np.random.default_rng(seed)
    lengths, points = [], []
    for game in range(games):
        _, info = env.reset(seed=seed if game == 0 else None)  # without a seed: the next game of the same one
        length, done = 0, False
        while not done:
            player = info["player"]  # both players' actions come in turn
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            _, reward, terminated, truncated, info = env.step(action)
            length, done = length + 1, terminated or truncated
        lengths.append(length)
        points.append(reward if player == 0 else -reward)  # the reward is that of the player who acted
    return lengths, points


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, play, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", default=nardy_rl.envs.env_id("backgammon"), help="id of the environment")
    parser.add_argument("--actions", default="afterstate", help="form of action: afterstate or checker")
    parser.add_argument("--games", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", metavar="FILE", help="write the last board to a PNG file (needs Pillow)")
    given = parser.parse_args(arguments)

    env = gym.make(given.env, actions=given.actions, render_mode="rgb_array" if given.picture else None)
    lengths, points = play(env, given.games, given.seed)
    print(f"{given.env}, {given.games} random games")
    print(f"actions a game: mean {np.mean(lengths):.1f}, longest {max(lengths)}")
    print(f"player 0 won {np.mean(np.array(points) > 0):.0%} of the games, {np.mean(points):+.2f} points a game")
    if given.picture:
        from PIL import Image

        Image.fromarray(env.render()).save(given.picture)
        print(f"the last board is in {given.picture}")


if __name__ == "__main__":
    main()
