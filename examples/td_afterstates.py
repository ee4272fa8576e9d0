"""TD(0) on afterstates, in NumPy: a small network learns by playing itself.

    python examples/td_afterstates.py --env nardy_rl/Hyper-v0 --games 4000

With `observation="plays"` an observation is the features of every afterstate, in the view of the player who chooses,
so a value network needs one matrix product to see all its choices. What an afterstate is worth is what the next
player gets from the play that he chooses, with the opposite sign if he is the other one. The last feature is the
points won, where the game is over.

It prints the share of games won against a random player before and during learning.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import nardy_rl.envs  # registers the games

Floats = NDArray[np.float32]


class Network:
    """Points that a player can expect, from features float32[N, F]: one hidden layer; exact where the game is over."""

    def __init__(self, features: int, hidden: int, rng: np.random.Generator) -> None:
        self.w1 = rng.normal(0, 1 / np.sqrt(features), (features, hidden)).astype(np.float32)
        self.b1 = np.zeros(hidden, np.float32)
        self.w2 = np.zeros(hidden, np.float32)

    def values(self, features: Floats) -> Floats:
        """Expected points, float32[N]."""
        values = np.tanh(features @ self.w1 + self.b1) @ self.w2
        points = features[:, -1]  # 0 unless the game is over
        return np.where(points != 0, points, values)

    def learn(self, features: Floats, target: float, step: float) -> None:
        """One step of stochastic gradient descent for one afterstate float32[F] towards a target."""
        hidden = np.tanh(features @ self.w1 + self.b1)
        error = step * (target - hidden @ self.w2)
        back = error * self.w2 * (1 - hidden**2)
        self.w2 += error * hidden
        self.b1 += back
        self.w1 += np.outer(features, back)


Choice = Callable[[Floats], int]
"""The number of the play to choose, from the features of all plays."""


def self_play_game(env: gym.Env, network: Network, step: float) -> None:
    """Play one game against oneself, and learn from every play but the last, whose value is known."""
    plays, info = env.reset()
    before: tuple[Floats, int] | None = None  # the last afterstate, and who moved into it
    done = False
    while not done:
        player, features = info["player"], plays[: info["plays"]]
        values = network.values(features)
        chosen = int(values.argmax())
        if before is not None:
            network.learn(before[0], values[chosen] if before[1] == player else -values[chosen], step)
        before = features[chosen], player
        plays, _, terminated, truncated, info = env.step(chosen)
        done = terminated or truncated


def duel(env: gym.Env, first: Choice, second: Choice, games: int, seed: int) -> float:
    """The share of games that `first` wins; seats alternate."""
    won = 0
    for game in range(games):
        plays, info = env.reset(seed=seed if game == 0 else None)
        done = False
        while not done:
            player = info["player"]
            choose = first if player == game % 2 else second
            plays, reward, terminated, truncated, info = env.step(choose(plays[: info["plays"]]))
            done = terminated or truncated
        won += reward > 0 if player == game % 2 else reward < 0
    return won / games


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, learn, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", default=nardy_rl.envs.env_id("hyper"), help="id of the environment")
    parser.add_argument("--games", type=int, default=4000, help="games of self-play")
    parser.add_argument("--duel", type=int, default=500, help="games against the random player, four times")
    parser.add_argument("--hidden", type=int, default=40)
    parser.add_argument("--step", type=float, default=0.05, help="step size")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)

    rng = np.random.default_rng(given.seed)
    learning, fighting = (gym.make(given.env, observation="plays") for _ in (0, 1))
    network = Network(learning.observation_space.shape[1], given.hidden, rng)
    learning.reset(seed=given.seed)

    def report(played: int) -> None:
        share = duel(
            fighting,
            lambda plays: int(network.values(plays).argmax()),
            lambda plays: int(rng.integers(len(plays))),
            given.duel,
            seed=given.seed + 1,
        )
        error = np.sqrt(share * (1 - share) / given.duel)
        print(f"after {played:6d} games: {share:.1%} won against random play (standard error {error:.1%})")

    report(0)
    for game in range(1, given.games + 1):
        self_play_game(learning, network, given.step)
        if game in (given.games // 4, given.games // 2, given.games):
            report(game)


if __name__ == "__main__":
    main()
