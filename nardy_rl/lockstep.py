"""Kernels for many states at once, each with memory of its own caller: what batches, bots and duels are played with.

Nothing here checks its arguments; the public face is `nardy_rl/batch.py`.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from nardy_rl.board import OUTCOME, OWED, THROWS, WORDS
from nardy_rl.dice import next_random, roll, stream
from nardy_rl.jit import kernel
from nardy_rl.plays import Scratch, scratch
from nardy_rl.plays import plays as stage_plays
from nardy_rl.starts import begin
from nardy_rl.turns import throw

States = NDArray[np.uint32]
"""States uint32[N, 16], laid out as in `nardy_rl/board.py`."""

_own = threading.local()


def own_scratch() -> Scratch:
    """The generator's working memory of this thread."""
    if not hasattr(_own, "scratch"):
        _own.scratch = scratch()
    memory: Scratch = _own.scratch
    return memory


@kernel
def begin_all(rules, start, seed, first, thrown, states):
    """Games number first, first + 1, ... of a seed, opened in the rows of states uint32[N, 16].

    thrown: 1 leaves the starter's first throw to be played, 0 takes it back.
    """
    rng = np.zeros(1, np.uint64)
    for i in range(len(states)):
        stream(seed, first + i, rng)
        begin(rules, start, rng, states[i])
        if not thrown:
            states[i, OWED] = np.uint32(0)
            states[i, THROWS] = np.uint32(0)


@kernel
def stream_all(seed, first, streams):
    """Start the random streams first, first + 1, ... of a seed: streams uint64[N]."""
    for i in range(len(streams)):
        stream(seed, first + i, streams[i : i + 1])


@kernel
def roll_all(streams, dice):
    """Two dice from each stream uint64[N], which moves on, into dice int64[N, 2]."""
    for i in range(len(streams)):
        dice[i, 0], dice[i, 1] = roll(streams[i : i + 1])


@kernel
def draw_all(streams, bits):
    """64 random bits from each stream uint64[N], which moves on, into bits uint64[N]."""
    for i in range(len(streams)):
        bits[i] = next_random(streams[i : i + 1])


@kernel
def throw_all(rules, states, dice):
    """Throw dice[i] where states[i] owes nothing and is not over, in place. states uint32[N, 16], dice int64[N, 2]."""
    for i in range(len(states)):
        if not (states[i, OWED] or states[i, OUTCOME]):
            throw(rules, states[i], dice[i, 0], dice[i, 1])


@kernel
def plays_into(rules, states, scr, out, first, done):
    """Plays of states uint32[N, 16] that all owe a stage, one after the other into out uint32[M, 16].

    Starts at state number `done`, whose plays go to out[first[done]:], and fills first int64[N + 1] on the
    way. Stops before a state whose plays have no room; returns how many states are done. Call again from
    there with a larger `out` that keeps out[:first[done]]. An `out` with MAX_PLAYS free rows always has room
    for one more state.
    """
    at = first[done]
    while done < len(states):
        n = stage_plays(rules, states[done], scr)
        if at + n > len(out):
            break
        for i in range(n):
            for k in range(WORDS):
                out[at + i, k] = scr.plays[i, k]
        at += n
        done += 1
        first[done] = at
    return done
