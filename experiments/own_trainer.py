"""A training run of a user's own torch net: TD(lambda) with games side by side (nardy_rl/agents/own_net.py).

It has rounds like a run of the built-in net, the same folder, and goes on after a kill in the same way.
"""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from nardy_rl.agents.own_net import OwnLearner, OwnPolicy, make_module, play_block
from nardy_rl.agents.policy import FILE_NAME, policy_file, read_tensors, write_tensors
from nardy_rl.agents.refine import falling
from nardy_rl.errors import BadPolicy, BadRun
from nardy_rl.experiments.config import TrainConfig
from nardy_rl.experiments.rounds import Rounds
from nardy_rl.experiments.runs import CHECKPOINT, Progress, cut_history

FORMAT = "nardy-rl own checkpoint 1"


class OwnTrainer(Rounds):
    """A run of a user's net."""

    def __init__(self, config: TrainConfig, folder: Path) -> None:
        import torch

        super().__init__(config, folder)
        torch.manual_seed(config.seed)
        torch.set_num_threads(self.threads)
        if not config.init:
            self.own = OwnPolicy(self.variant, make_module(config.net, self.variant), {}, config.net)
        else:
            self.own = OwnPolicy.load(policy_file(config.init), self.variant)
            if self.own.header["net"] != config.net:
                raise BadRun(f"--init {config.init} is a net of {self.own.header['net']}, the run's of {config.net}")
        self.learner = OwnLearner(self.own)

    def make_buffers(self) -> None:
        """Nothing to prepare."""

    def step_size(self) -> float:
        """The step size now: half a cosine over the budget."""
        return falling(self.config.step_size, self.config.final_step_size, self.done)

    def round(self, pool: ThreadPoolExecutor) -> None:
        """Play a round's games side by side and learn from them."""
        begun = self._now()
        c, p = self.config, self.progress
        left = c.games - p.games if c.games else c.round
        games, step_size = min(c.round, left), self.step_size()
        states, targets, plays = play_block(self.own, c.seed, p.games, games, c.trace, c.explore, c.cap)
        rng = np.random.default_rng((c.seed, p.games, 1))
        self.loss = self.learner.learn(states, targets, c.minibatch, step_size, rng)
        self._count(games, plays, len(states))
        self.seconds_of_round = self._now() - begun
        p.seconds += self.seconds_of_round

    def policy(self) -> OwnPolicy:
        """The policy so far. It shares the weights: use it before the next round, or save it."""
        return OwnPolicy(self.variant, self.own.module, self._header() | {"net": self.config.net}, str(self.folder))

    def save(self) -> None:
        """Write checkpoint and policy."""
        header = {"format": FORMAT, "progress": dataclasses.asdict(self.progress)}
        write_tensors(self.folder / CHECKPOINT, self.learner.tensors(), header)
        self.policy().save(self.folder / FILE_NAME)

    def resume(self) -> None:
        """Go on from the last checkpoint of the folder; raises BadRun if it is not there or not whole."""
        try:
            tensors, header = read_tensors(self.folder / CHECKPOINT)
            if header.get("format") != FORMAT:
                raise BadRun(f"{self.folder / CHECKPOINT} has the format {header.get('format')!r}, not {FORMAT!r}")
            self.learner.restore(tensors)
            self.progress = Progress(**header["progress"])
        except (BadPolicy, KeyError, TypeError, RuntimeError) as error:
            raise BadRun(f"cannot go on with {self.folder}: it has no whole checkpoint ({error})") from None
        cut_history(self.folder, self.progress.games)
