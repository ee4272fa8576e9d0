"""A relative's policy as a first net: what two games have in common of inputs and outcomes is taken over."""

from __future__ import annotations

import numpy as np

from nardy_rl.agents.net import Net, hidden_of, new_net, output_names, outputs_of
from nardy_rl.encoding import encoding_of, layout
from nardy_rl.variant import Variant


def _rows(variant: Variant, kind: str) -> dict[tuple[str, int], slice]:
    """The rows of each block of a game's inputs, by its name and size."""
    found, first = {}, 0
    for _, name, rows, _ in layout(variant, kind):
        found[name, rows] = slice(first, first + rows)
        first += rows
    return found


def transferred(net: Net, kind: str, trained: Variant, variant: Variant, seed: int) -> Net:
    """A net for `variant` from one for `trained`, both with inputs of this kind; a copy where the games have the same.

    Blocks of inputs that the relative lacks begin at zero, so that they say nothing; outputs that it lacks begin with
    random weights, drawn from the seed.
    """
    outputs = outputs_of(variant)
    new = new_net(encoding_of(variant, kind), outputs, hidden_of(net), seed)
    for old, own in ((net.b1, new.b1), (net.w2, new.w2), (net.b2, new.b2), (net.w3, new.w3), (net.b3, new.b3)):
        own[...] = old
    known = _rows(trained, kind)
    for block, rows in _rows(variant, kind).items():
        new.w1[rows] = net.w1[known[block]] if block in known else np.float32(0)
    names = output_names(trained)
    for k, name in enumerate(output_names(variant)):
        if name in names:
            new.w4[k], new.b4[k] = net.w4[names.index(name)], net.b4[names.index(name)]
    return new
