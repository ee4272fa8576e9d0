"""Masked PPO of sb3-contrib on the checker form: one checker by one die, with the legal moves as a mask.

    python examples/masked_ppo.py --env nardy_rl/Hyper-v0 --minutes 6 --games 2000 --seeds 1 2 3 --curve ppo.png

The agent plays against a bot that is part of the environment (`opponent=`), so that to PPO the game is an ordinary one
for a single agent. It prints the share of games won against that bot while it learns, and at the end over more games;
`--curve` draws the course of it (needs matplotlib).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

import nardy_rl.envs  # registers the games

STEP = 1e-3  # step size at the beginning


class Masked(gym.Wrapper):
    """Answers sb3-contrib's question for the mask from `info`."""

    def reset(self, **arguments: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**arguments)
        self._mask = info["action_mask"]
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._mask = info["action_mask"]
        return observation, float(reward), terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions."""
        return self._mask.astype(bool)


def environments(name: str, opponent: str, number: int) -> list[Any]:
    """Functions that make an environment each."""

    def make() -> gym.Env:
        env = gym.make(name, actions="checker", observation="features", opponent=opponent, disable_env_checker=True)
        return Masked(env)

    return [make] * number


def share_won(model: MaskablePPO, makers: list[Any], games: int, seed: int) -> float:
    """The share of games that the model wins, always taking its likeliest action; all environments play at once."""
    envs = [make() for make in makers[: min(len(makers), games)]]
    starts = [env.reset(seed=seed + i)[0] for i, env in enumerate(envs)]
    observations = np.stack(starts)
    left = [games // len(envs) + (i < games % len(envs)) for i in range(len(envs))]
    won = 0
    while any(left):
        masks = np.stack([env.action_masks() for env in envs])
        actions, _ = model.predict(observations, action_masks=masks, deterministic=True)
        for i, env in enumerate(envs):
            if not left[i]:
                continue
            observations[i], reward, terminated, truncated, _ = env.step(int(actions[i]))
            if terminated or truncated:
                won, left[i] = won + (reward > 0), left[i] - 1
                observations[i], _ = env.reset()
    return won / games


class Progress(BaseCallback):
    """Stops after some minutes of CPU time, and notes (minutes, decisions, share won) every `every` decisions."""

    def __init__(self, makers: list[Any], minutes: float, every: int, games: int, seed: int) -> None:
        super().__init__()
        self.makers, self.minutes, self.every, self.games, self.seed = makers, minutes, every, games, seed
        self.course: Course = []
        self.spent, self.since = 0.0, 0.0  # seconds; of CPU time, so that a busy machine changes nothing

    def _on_training_start(self) -> None:
        self.since = time.process_time()

    def note(self) -> None:
        """Play some games; the time that they take is not learning time."""
        self.spent += time.process_time() - self.since
        share = share_won(self.model, self.makers, self.games, self.seed)
        self.course.append((self.spent / 60, self.num_timesteps, share))
        print(f"{self.spent / 60:5.1f} min {self.num_timesteps:9,d} decisions: {share:.1%} won")
        self.since = time.process_time()

    def _on_step(self) -> bool:
        return self.spent + time.process_time() - self.since < 60 * self.minutes

    def _on_rollout_start(self) -> None:
        left = 1 - (self.spent + time.process_time() - self.since) / (60 * self.minutes)
        self.model.lr_schedule = lambda _: STEP * max(left, 0.0)  # falls to zero over the time, not over a number
        if self.num_timesteps >= self.every * len(self.course):
            self.note()


Course = list[tuple[float, int, float]]


def learn(given: argparse.Namespace, seed: int) -> Course:
    """Learn with one seed and say how well; returns the course."""
    makers = environments(given.env, given.opponent, given.envs)
    model = MaskablePPO(
        "MlpPolicy",
        DummyVecEnv(makers),
        n_steps=given.rollout,
        batch_size=min(1024, given.rollout * given.envs),
        n_epochs=4,
        learning_rate=STEP,
        gamma=1.0,
        gae_lambda=0.9,
        ent_coef=0.005,
        policy_kwargs={"net_arch": [128, 128]},
        device="cpu",
        seed=seed,
    )
    progress = Progress(makers, given.minutes, given.every, min(given.games, 500), seed=10_000 + seed)
    model.learn(10**12, callback=progress)
    share = share_won(model, makers, given.games, seed=20_000 + seed)
    error = np.sqrt(share * (1 - share) / given.games)
    print(
        f"seed {seed}, {model.num_timesteps:,} decisions: {share:.1%} of {given.games:,} games won against "
        f"{given.opponent} (standard error {error:.1%})"
    )
    return [*progress.course, (given.minutes, model.num_timesteps, share)]


def draw(courses: dict[int, Course], title: str, file: str) -> None:
    """Draw the share won over the time, a line for each seed, as a PNG file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for seed, course in courses.items():
        minutes, _, shares = zip(*course, strict=True)
        axes.plot(minutes, [100 * share for share in shares], marker=".", label=f"seed {seed}")
    axes.set(xlabel="CPU minutes of learning", ylabel="games won, %", title=title)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(file, dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, learn, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", default=nardy_rl.envs.env_id("hyper"), help="id of the environment")
    parser.add_argument("--opponent", default="random", help="a bot as in `nardy evaluate`")
    parser.add_argument("--minutes", type=float, default=0.5, help="CPU minutes to learn")
    parser.add_argument("--games", type=int, default=500, help="games played at the end to measure")
    parser.add_argument("--every", type=int, default=50_000, help="decisions between two notes of the course")
    parser.add_argument("--envs", type=int, default=32, help="games side by side")
    parser.add_argument("--rollout", type=int, default=128, help="decisions of each game between two updates")
    parser.add_argument("--threads", type=int, default=1, help="threads of PyTorch")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="learn anew with each of these seeds")
    parser.add_argument("--curve", metavar="FILE", help="draw the course as a PNG file")
    given = parser.parse_args(arguments)

    torch.set_num_threads(given.threads)
    courses = {seed: learn(given, seed) for seed in given.seeds}
    if given.curve:
        draw(courses, f"Masked PPO, {given.env}, against {given.opponent}", given.curve)
        print(f"the course is in {given.curve}")


if __name__ == "__main__":
    main()
