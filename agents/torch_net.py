"""The value net as a torch module: the same numbers as `net.py`, for gradients, other optimisers and export.

Inputs are the sparse lists of `nardy_rl.encoding`, padded: `index` int64[N, M] and `value` float32[N, M], 1
or, where there is no row, 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nardy_rl.agents.net import Net, hidden_of
from nardy_rl.agents.policy import Policy
from nardy_rl.encoding import listed
from nardy_rl.errors import MissingExtra

if TYPE_CHECKING:
    from nardy_rl.agents.bot import States

try:
    import torch
    from torch import nn
except ImportError:
    raise MissingExtra("torch", "torch") from None


class ValueNet(nn.Module):
    """Sparse first layer, ReLU, up to two more layers, sigmoid outputs (see `net.py` for their meaning)."""

    def __init__(self, rows: int, hidden: tuple[int, ...], outputs: int) -> None:
        super().__init__()
        h1, h2, h3 = (*hidden, 0, 0)[:3]
        self.first = nn.EmbeddingBag(rows, h1, mode="sum")
        self.bias = nn.Parameter(torch.zeros(h1))
        self.second = nn.Linear(h1, h2) if h2 else None
        self.third = nn.Linear(h2, h3) if h3 else None
        self.top = nn.Linear(h3 or h2 or h1, outputs)

    def logits(self, index: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """Outputs before the sigmoid, float32[N, K]."""
        x = torch.relu(self.first(index, per_sample_weights=value) + self.bias)
        if self.second is not None:
            x = torch.relu(self.second(x))
        if self.third is not None:
            x = torch.relu(self.third(x))
        out: torch.Tensor = self.top(x)
        return out

    def forward(self, index: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """Cumulative probabilities, float32[N, K]."""
        return torch.sigmoid(self.logits(index, value))

    @staticmethod
    def of(net: Net) -> ValueNet:
        """The module with a net's weights."""
        module = ValueNet(net.w1.shape[0], hidden_of(net), len(net.b4))
        with torch.no_grad():
            module.first.weight.copy_(torch.from_numpy(net.w1))
            module.bias.copy_(torch.from_numpy(net.b1))
            if module.second is not None:
                module.second.weight.copy_(torch.from_numpy(net.w2))
                module.second.bias.copy_(torch.from_numpy(net.b2))
            if module.third is not None:
                module.third.weight.copy_(torch.from_numpy(net.w3))
                module.third.bias.copy_(torch.from_numpy(net.b3))
            module.top.weight.copy_(torch.from_numpy(net.w4))
            module.top.bias.copy_(torch.from_numpy(net.b4))
        return module

    def net(self) -> Net:
        """The weights for the kernels, copied."""

        def array(parameter: torch.Tensor) -> np.ndarray:
            return np.ascontiguousarray(parameter.detach().cpu().numpy().astype(np.float32))

        def layer(linear: nn.Linear | None, inputs: int) -> tuple[np.ndarray, np.ndarray]:
            if linear is None:
                return np.zeros((0, inputs), np.float32), np.zeros(0, np.float32)
            return array(linear.weight), array(linear.bias)

        w2, b2 = layer(self.second, len(self.bias))
        w3, b3 = layer(self.third, len(b2))
        return Net(array(self.first.weight), array(self.bias), w2, b2, w3, b3, *layer(self.top, 0))


def tensors(policy: Policy, states: States) -> tuple[torch.Tensor, torch.Tensor]:
    """Index int64[N, MAX_ACTIVE] of states and value float32[N, MAX_ACTIVE]: 1, and 0 where the list is over."""
    index, given = listed(policy.variant, states, policy.kind)
    return torch.from_numpy(index.astype(np.int64)), torch.from_numpy(given.astype(np.float32))
