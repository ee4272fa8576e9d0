"""The value net in Numba: sparse first layer, ReLU layers, sigmoid outputs; evaluation of states and of all plays.

The outputs are cumulative probabilities for the player who acts next. With winning scores s1 < s2 < ... they are,
in this order, P(win at least s1), P(win at least s2), ..., then - if the game can be drawn - P(lose at least s1),
then P(lose at least s2), .... In backgammon: win, win gammon, win backgammon, lose gammon, lose backgammon. The value
of a state, in points, is linear in them (`Outputs.points`, `Outputs.constant`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from nardy_rl.board import OUTCOME, PLAYER, TURN, copy_into
from nardy_rl.encoding import MAX_ACTIVE, Encoding, encode_into
from nardy_rl.jit import inlined, kernel
from nardy_rl.results import DRAW, OUTCOMES, can_draw, score_levels, score_table
from nardy_rl.turns import is_over
from nardy_rl.variant import Variant


class Outputs(NamedTuple):
    """What the outputs of a game's net mean."""

    points: np.ndarray  # float32[K]: points each output is worth
    constant: float  # value = constant + outputs . points
    exact: np.ndarray  # float32[35, K]: the outputs of a finished game by outcome code, for the winner
    scores: np.ndarray  # float32[35]: points of the winner by outcome code
    flip_from: np.ndarray  # int64[K]: which output becomes output k in the other player's view
    draws: int  # 0: the first output of the other view is 1 - the first of mine


def outputs_of(variant: Variant) -> Outputs:
    """The outputs of a variant's net, from its score table alone."""
    levels, draws = score_levels(variant), can_draw(variant)
    table = score_table(variant)
    wins = len(levels)
    loses = levels if draws else levels[1:]
    size = wins + len(loses)
    steps = np.diff((0, *levels)).astype(np.float32)
    points = np.zeros(size, np.float32)
    points[:wins] = steps
    points[wins:] = -steps if draws else -steps[1:]
    constant = 0.0
    if not draws:  # s1 * P(win) - s1 * (1 - P(win))
        points[0] = 2 * levels[0]
        constant = -float(levels[0])
    exact = np.zeros((OUTCOMES, size), np.float32)
    for code in range(OUTCOMES):
        if code != DRAW:
            exact[code, :wins] = table[code] >= np.array(levels)
    flip = list(range(wins, size)) + list(range(wins)) if draws else [0, *range(wins, size), *range(1, wins)]
    return Outputs(points, constant, exact, table.astype(np.float32), np.array(flip), int(draws))


def output_names(variant: Variant) -> list[str]:
    """Names of the outputs in their order, such as `win`, `win 2`, `win 3`, `lose 2`, `lose 3`."""
    levels, draws = score_levels(variant), can_draw(variant)
    wins = ["win"] + [f"win {s}" for s in levels[1:]]
    return wins + ["lose"] * draws + [f"lose {s}" for s in levels[1:]]


class Net(NamedTuple):
    """Weights of a net, float32. A hidden layer that there is not has no rows; w4 reads the last that there is."""

    w1: np.ndarray  # [rows, H1]
    b1: np.ndarray  # [H1]
    w2: np.ndarray  # [H2, H1]
    b2: np.ndarray  # [H2]
    w3: np.ndarray  # [H3, H2]
    b3: np.ndarray  # [H3]
    w4: np.ndarray  # [K, H3, H2 or H1]
    b4: np.ndarray  # [K]


def hidden_of(net: Net) -> tuple[int, ...]:
    """Sizes of the hidden layers: of two, of which the second may be 0, or of three."""
    h3 = len(net.b3)
    return (len(net.b1), len(net.b2), h3) if h3 else (len(net.b1), len(net.b2))


def named(net: Net) -> dict[str, np.ndarray]:
    """The weights by their names in files: w1, b1, ..., counted on from the hidden layers to the outputs."""
    layers = [net[i : i + 2] for i in range(0, len(net), 2) if i != 4 or len(net.b3)]
    return {f"{kind}{i}": w for i, layer in enumerate(layers, 1) for kind, w in zip("wb", layer, strict=True)}


def from_named(weights: Mapping[str, np.ndarray]) -> Net:
    """The net of what `named` gave. Raises KeyError if weights are missing."""
    layers = [weights[f"{kind}{i}"] for i in range(1, 5 if "w4" in weights else 4) for kind in "wb"]
    if len(layers) == 6:
        layers[4:4] = [np.zeros((0, len(layers[3])), np.float32), np.zeros(0, np.float32)]
    return Net(*layers)


class Work(NamedTuple):
    """Buffers of one evaluation, one for each thread."""

    listed: np.ndarray  # int32[MAX_ACTIVE]
    h1: np.ndarray  # float32[H1]
    h2: np.ndarray  # float32[H2]
    h3: np.ndarray  # float32[H3]
    out: np.ndarray  # float32[K]


def new_net(encoding: Encoding, outputs: Outputs, hidden: tuple[int, ...], seed: int) -> Net:
    """A net with random weights: He's scale for the rows that are active at a time, small outputs.

    hidden: sizes of up to three hidden layers; 0 for none.
    """
    rng = np.random.default_rng(seed)
    h1, h2, h3 = (*hidden, 0, 0)[:3]
    size = len(outputs.points)

    def normal(*shape: int, scale: float) -> np.ndarray:
        return (rng.standard_normal(shape) * scale).astype(np.float32)

    return Net(
        w1=normal(encoding.size, h1, scale=0.15),
        b1=np.zeros(h1, np.float32),
        w2=normal(h2, h1, scale=float(np.sqrt(2 / h1))),
        b2=np.zeros(h2, np.float32),
        w3=normal(h3, h2, scale=float(np.sqrt(2 / max(h2, 1)))),
        b3=np.zeros(h3, np.float32),
        w4=normal(size, h3 or h2 or h1, scale=float(0.3 * np.sqrt(1 / (h3 or h2 or h1)))),
        b4=np.zeros(size, np.float32),
    )


def work_of(net: Net) -> Work:
    """Fresh buffers for a net."""
    return Work(
        np.zeros(MAX_ACTIVE, np.int32),
        np.zeros(net.w1.shape[1], np.float32),
        np.zeros(net.w2.shape[0], np.float32),
        np.zeros(net.w3.shape[0], np.float32),
        np.zeros(net.w4.shape[0], np.float32),
    )


@inlined
def sigmoid(x):
    """The logistic function in float32."""
    return np.float32(1) / (np.float32(1) + np.exp(-x))


@inlined
def _dense(x, w, bias, out):
    """out = w . x + bias."""
    for k in range(out.shape[0]):
        total = np.float32(0)
        for j in range(x.shape[0]):
            total += w[k, j] * x[j]
        out[k] = total + bias[k]


@inlined
def _relu(x):
    for j in range(x.shape[0]):
        x[j] = max(x[j], np.float32(0))


@inlined
def first_layer(net, index, n, h):
    """Sum of the n listed rows and the bias, before ReLU, into h."""
    copy_into(h, net.b1)
    for k in range(n):
        row = index[k]
        for j in range(h.shape[0]):
            h[j] += net.w1[row, j]


@inlined
def forward(net, work, n):
    """Outputs of the n rows listed in `work`, into `work.out`; hidden activations stay in `work` for training."""
    first_layer(net, work.listed, n, work.h1)
    _relu(work.h1)
    if work.h2.shape[0]:
        _dense(work.h1, net.w2, net.b2, work.h2)
        _relu(work.h2)
        if work.h3.shape[0]:
            _dense(work.h2, net.w3, net.b3, work.h3)
            _relu(work.h3)
            _dense(work.h3, net.w4, net.b4, work.out)
        else:
            _dense(work.h2, net.w4, net.b4, work.out)
    else:
        _dense(work.h1, net.w4, net.b4, work.out)
    for j in range(work.out.shape[0]):
        work.out[j] = sigmoid(work.out[j])


@inlined
def evaluate(rules, encoding, net, outputs, work, row):
    """Outputs of a state into `work.out`, exact if the game is over; returns its value in points for its player."""
    if is_over(row):
        code = np.int64(row[OUTCOME]) - 1
        copy_into(work.out, outputs.exact[code])
        return outputs.scores[code]
    forward(net, work, encode_into(rules, encoding, row, work.listed))
    total = np.float32(outputs.constant)
    for j in range(work.out.shape[0]):
        total += outputs.points[j] * work.out[j]
    return total


@inlined
def other_player(row, after):
    """Does another player act in `after` than in `row`?"""
    return ((np.int64(row[TURN]) ^ np.int64(after[TURN])) & PLAYER) != 0


@kernel
def evaluate_batch(rules, encoding, net, outputs, work, rows, out, values):
    """Outputs float32[N, K] and values float32[N] of states uint32[N, 16]."""
    for i in range(len(rows)):
        values[i] = evaluate(rules, encoding, net, outputs, work, rows[i])
        copy_into(out[i], work.out)
