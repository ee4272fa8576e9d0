"""What a run learns, a net at a time: weights, moments, the weights that play during a fit, the mean of the weights."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.net import Net
from nardy_rl.agents.td import Adam, Learner, zeros_like
from nardy_rl.experiments.runs import NETS


def copied(net: Net) -> Net:
    """The same weights in arrays of their own."""
    return Net(*(w.copy() for w in net))


class Learned:
    """A net that some threads learn."""

    def __init__(self, net: Net, threads: int) -> None:
        self.net = net
        self.adam = Adam(zeros_like(net), zeros_like(net))
        self.player, self.mean = copied(net), copied(net)
        self.steps = np.zeros(threads, np.int64)  # of Adam, by thread
        self.errors = np.zeros((threads, 2))  # by thread: sum of squared errors of the value, number of positions

    def learner(self, buffers: Learner, thread: int) -> Learner:
        """A thread's buffers, with its steps and errors in this net."""
        return buffers._replace(steps=self.steps[thread : thread + 1], loss=self.errors[thread])

    @property
    def loss(self) -> float:
        """Root mean square error of the value since `errors` were last cleared, in points; nan without a position."""
        squares, number = self.errors.sum(axis=0)
        return math.sqrt(squares / number) if number else math.nan

    def begin_fit(self) -> None:
        """Adam begins anew, and so does the mean of the weights."""
        for moments in self.adam:
            for w in moments:
                w[...] = 0
        self.steps[:] = 0
        _assign(self.mean, self.net)

    def take(self, net: Net) -> None:
        """These weights are learned on and play from now on."""
        _assign(self.net, net)
        _assign(self.player, net)

    def saved(self, kind: str) -> tuple[dict[str, Net], dict[str, NDArray[np.int64]]]:
        """Nets and steps for `runs.save_checkpoint`, with this before their names."""
        nets = (self.net, self.adam.m, self.adam.v, self.player, self.mean)
        return {kind + name: net for name, net in zip(NETS, nets, strict=True)}, {f"{kind}steps": self.steps}

    @staticmethod
    def restored(
        nets: Mapping[str, Net], steps: Mapping[str, NDArray[np.int64]], kind: str, threads: int
    ) -> Learned:  # fmt: skip
        """What `saved` gave, for so many threads; of another number all go on from the most steps."""
        net, m, v, player, mean = (nets[kind + name] for name in NETS)
        learned = Learned(net, threads)
        learned.adam, learned.player, learned.mean = Adam(m, v), player, mean
        before = steps[f"{kind}steps"]
        learned.steps[:] = before if len(before) == threads else before.max()
        return learned


def _assign(net: Net, new: Net) -> None:
    for mine, other in zip(net, new, strict=True):
        mine[...] = other
