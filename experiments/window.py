"""The labelled positions that a run learns from: those of its last generations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import States

Labelled = tuple[States, NDArray[np.float32]]
"""States uint32[N, 16] and their labels float32[N, K]."""


def joined(parts: list[Labelled]) -> Labelled:
    """One after the other, in arrays of their own."""
    return np.concatenate([states for states, _ in parts]), np.concatenate([labels for _, labels in parts])


class Window:
    """The labelled positions that are learned from, by the generation that made them."""

    def __init__(self) -> None:
        self.parts: dict[int, list[Labelled]] = {}
        self.sizes: dict[int, int] = {}

    def __len__(self) -> int:
        return sum(self.sizes.values())

    def add(self, generation: int, positions: Labelled) -> None:
        """Add positions to a generation."""
        self.parts.setdefault(generation, []).append(positions)
        self.sizes[generation] = self.sizes.get(generation, 0) + len(positions[0])

    def of(self, generation: int) -> Labelled:
        """The positions of a generation."""
        self.parts[generation] = [joined(self.parts[generation])]
        return self.parts[generation][0]

    def trim(self, size: int) -> list[int]:
        """Drop the oldest generations while what is left holds `size` positions; returns which were dropped."""
        dropped: list[int] = []
        for generation in sorted(self.parts)[:-1]:
            if len(self) - self.sizes[generation] < size:
                break
            del self.parts[generation], self.sizes[generation]
            dropped.append(generation)
        return dropped

    def all(self) -> Labelled:
        """Everything, oldest first."""
        return joined([part for generation in sorted(self.parts) for part in self.parts[generation]])
