"""Pubeval through the optional package gnubg-nn, and which games other people's players know (`engines.py`).

Pubeval is Gerald Tesauro's public benchmark player: a linear function of 122 inputs, with one set of weights
for contact and one for races. Its weights are not part of this package. They are read off gnubg-nn when the
bot is made, by solving for them from the scores of some thousand positions; then positions are scored by a
kernel here.

They play games of gnubg's kind only: fifteen checkers, contrary movement, hits, plain doubles.
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, States
from nardy_rl.board import BAR, PLAYER, TURN, across, count, made, occupied, pack
from nardy_rl.errors import BadBot, MissingExtra
from nardy_rl.jit import highest, inlined, kernel, lowest
from nardy_rl.variant import Variant
from nardy_rl.variants import variant_text

INPUTS = 122
WINS = np.float32(1e8)  # pubeval's score for having borne off all
PROBES = 3000  # positions of each class that the weights are solved from
MEN = 15


def gnubg_nn() -> Any:
    """The package gnubg-nn, or MissingExtra."""
    try:
        return importlib.import_module("gnubg_nn")
    except ImportError as error:
        raise MissingExtra("gnubg-nn", "gnubg") from error


def check_playable(variant: Variant, name: str, own_plays: bool = False, fewer: bool = True) -> None:
    """Raise BadBot with the reason if gnubg's players do not know the game.

    own_plays: does the bot find plays itself, so that every rule about what is legal must be gnubg's. fewer: does such
    a bot take missing checkers for borne off, so that it plays games of fewer if a win is a point.
    """
    reason = None
    if variant.parallel or variant.contact != "hit":
        reason = "it knows only games in which checkers move towards each other and are hit"
    elif variant.checkers != MEN and not (own_plays and fewer and variant.score == "one"):
        reason = f"it knows only games with {MEN} checkers a side"
    elif variant.doubles != "plain" or variant.completion != "none" or variant.extra != "none":
        reason = "it knows only plain doubles"
    elif own_plays and variant.bound:
        reason = "it knows no bound checkers"
    elif own_plays and variant.hit_wins:
        reason = "it does not know that the first hit wins"
    elif own_plays and variant.bearoff != "standard":
        reason = f"it does not know the option bearoff={variant.bearoff}"
    if reason:
        raise BadBot(f"the bot {name!r} cannot play {variant_text(variant)}: {reason}")


# ---------------------------------------------------------------------------------------------- pubeval


@inlined
def pubeval_inputs(row, side, inputs):
    """Pubeval's inputs f32[122] for a side (0 mine, 4 theirs) that has just moved.

    For j = 0..23, with n checkers on the own point 24 - j: [5j] the enemy has a blot there, [5j + 1] n = 1,
    [5j + 2] n >= 2, [5j + 3] n = 3, [5j + 4] (n - 3) / 2 for n >= 4; [120] enemy checkers on the bar / 2,
    [121] own checkers off / 15. Own checkers on the bar have no input.
    """
    inputs[:] = np.float32(0)
    other = 4 - side
    mine = occupied(row, side) & ~(np.int64(1) << BAR)
    while mine:
        point = lowest(mine)
        mine &= mine - 1
        at = 5 * (24 - point)
        n = count(row, side, point)
        if n == 1:
            inputs[at + 1] = np.float32(1)
        else:
            inputs[at + 2] = np.float32(1)
            if n == 3:
                inputs[at + 3] = np.float32(1)
            elif n > 3:
                inputs[at + 4] = np.float32(n - 3) / np.float32(2)
    blots = across(occupied(row, other) & ~made(row, other), 0)
    while blots:
        point = lowest(blots)
        blots &= blots - 1
        inputs[5 * (24 - point)] = np.float32(1)
    inputs[120] = np.float32(count(row, other, BAR)) / np.float32(2)
    inputs[121] = np.float32(count(row, side, 0)) / np.float32(15)


@inlined
def is_race(row):
    """Pubeval's race: a side has nothing left, or the two rearmost checkers are 24 pips or less together."""
    mine, theirs = occupied(row, 0), occupied(row, 4)
    return not mine or not theirs or highest(mine) + highest(theirs) <= 24


@inlined
def pubeval_score(row, side, weights, inputs):
    """Pubeval's score of a position for the side that has just moved. weights: f64[122]; inputs: room."""
    if not occupied(row, side):
        return WINS
    pubeval_inputs(row, side, inputs)
    total = np.float64(0)
    for k in range(INPUTS):
        total += weights[k] * inputs[k]
    return np.float32(total)


@kernel
def pubeval_scores(rows, sides, race, weights, scores):
    """Scores f32[N] of states for the side (0 or 4) that just moved; race int64[N] chooses weights."""
    inputs = np.zeros(INPUTS, np.float32)
    for i in range(len(rows)):
        scores[i] = pubeval_score(rows[i], sides[i], weights[race[i]], inputs)


@kernel
def pubeval_pick(states, plays, first, weights, chosen):
    """Pubeval's play for each state: the class of the position before the play chooses the weights."""
    inputs = np.zeros(INPUTS, np.float32)
    for i in range(len(states)):
        chosen[i] = first[i]
        if first[i + 1] - first[i] == 1:
            continue
        own = weights[np.int64(is_race(states[i]))]
        mover = states[i, TURN] & np.uint32(PLAYER)
        best = -np.inf
        for j in range(first[i], first[i + 1]):
            side = 0 if plays[j, TURN] & np.uint32(PLAYER) == mover else 4
            score = pubeval_score(plays[j], side, own, inputs)
            if score > best:
                best = score
                chosen[i] = j


@kernel
def _probe_inputs(rows, race, inputs):
    for i in range(len(rows)):
        race[i] = np.int64(is_race(rows[i]))
        pubeval_inputs(rows[i], 0, inputs[i])


def _probe_boards(rng: np.random.Generator, race: bool, n: int) -> NDArray[np.int64]:
    """Made-up positions int64[n, 2, 25] (own point 1..24, bar; the side that moved first) for the probe.

    1 to 15 checkers a side on a few points each, with or without contact; together they show every input.
    """
    boards = np.zeros((n, 2, 25), np.int64)
    for board in boards:
        if race:
            cut = int(rng.integers(1, 24))
            places = [np.arange(cut), np.arange(24 - cut)]
        else:
            own = rng.random(24) < rng.random()
            places = [np.append(np.flatnonzero(own), 24), np.append(23 - np.flatnonzero(~own), 24)]
        for side, points in enumerate(places):
            few = rng.choice(points, size=min(len(points), int(rng.integers(1, 9))), replace=False)
            np.add.at(board[side], rng.choice(few, size=int(rng.integers(1, MEN + 1))), 1)
    return boards


@lru_cache(maxsize=1)
def pubeval_weights() -> NDArray[np.float64]:
    """Pubeval's weights f64[2, 122], contact and race, solved from gnubg-nn's scores of made-up positions.

    The published weights have five decimals, so rounding the solution gives them exactly. The scores say
    nothing of inputs that cannot differ from 0 in a race; those weights are 0. Raises MissingExtra without
    gnubg-nn.
    """
    score = gnubg_nn().pub_eval_score
    weights = np.zeros((2, INPUTS))
    rng = np.random.default_rng(1)
    for wanted in (0, 1):
        boards = _probe_boards(rng, bool(wanted), PROBES)
        counts = np.zeros((PROBES, 2, 26), np.int64)
        counts[:, :, 1:] = boards
        counts[:, :, 0] = MEN - boards.sum(axis=2)
        rows = np.zeros((PROBES, 16), np.uint32)
        for i in range(PROBES):
            rows[i, 0:4], rows[i, 4:8] = pack(counts[i, 0]), pack(counts[i, 1])
        race, inputs = np.zeros(PROBES, np.int64), np.zeros((PROBES, INPUTS), np.float32)
        _probe_inputs(rows, race, inputs)
        right = race == wanted
        x = inputs[right].astype(np.float64)
        y = np.array([score(board) for board in boards[right].tolist()])
        used = x.any(axis=0)
        weights[wanted, used] = np.linalg.lstsq(x[:, used], y, rcond=None)[0].round(5)
    return weights


class PubevalBot(Bot):
    """Tesauro's pubeval, which plays for the highest score of the position after the play."""

    def __init__(self, variant: Variant) -> None:
        check_playable(variant, "pubeval")
        super().__init__(variant, "pubeval")
        self.weights = pubeval_weights()

    def pick(
        self, states: States, plays: States, first: NDArray[np.int64], draws: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Bot.pick`."""
        chosen = np.empty(len(states), np.int64)
        pubeval_pick(states, plays, first, self.weights, chosen)
        return chosen
