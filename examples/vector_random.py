"""Random play in the native vector environment: many games in arrays, a kernel call or two a step.

    python examples/vector_random.py --env nardy_rl/Fevga-v0 --num-envs 1024 --steps 2000

Action i is the i-th legal play, so without masks a random action is a random number below `info["plays"]`. It prints
how many decisions and games that were, and what the games were worth to their winners.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import gymnasium as gym
import numpy as np

import nardy_rl.envs  # registers the games


def play(env: gym.vector.VectorEnv, steps: int, seed: int) -> tuple[int, list[float]]:
    """So many steps of all games: the number of decisions, and the points of the winner of every finished game."""
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    decisions, points = 0, []
    for _ in range(steps):
        actions = (rng.random(env.num_envs) * info["plays"]).astype(np.int64)
        decisions += int(
            (info["plays"] > 0).sum()
        )  # a game that is over begins anew in this step and plays in the next
        _, rewards, terminated, _, info = env.step(actions)
        points.extend(np.abs(rewards[terminated]))
    return decisions, points


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, play, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", default=nardy_rl.envs.env_id("backgammon"), help="id of the environment")
    parser.add_argument("--num-envs", type=int, default=1024, help="games side by side")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)

    env = gym.make_vec(
        given.env, given.num_envs, vectorization_mode="vector_entry_point", observation="packed", action_mask=False
    )
    play(env, 1, given.seed)  # compiles
    start = time.perf_counter()
    decisions, points = play(env, given.steps, given.seed)
    seconds = time.perf_counter() - start
    print(f"{given.env}: {decisions:,} decisions, {len(points):,} games finished in {given.num_envs:,} places")
    if points:
        print(
            "points of the winner: "
            + ", ".join(f"{p:g} in {points.count(p) / len(points):.1%}" for p in sorted(set(points)))
        )
    print(f"{decisions / seconds:,.0f} decisions a second, the drawing of the actions included")


if __name__ == "__main__":
    main()
