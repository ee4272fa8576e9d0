"""Temporal-difference learning by self-play, in Numba: whole games, lambda-returns, minibatches of sparse Adam.

A thread plays a block of games with the current weights. Of every game it keeps the states met, as lists of rows,
and the outputs that the net gave them; when the game ends, targets are made backwards:

    target(t) = flip( (1 - lambda) * outputs(t + 1) + lambda * target(t + 1) )        (the exact outcome at the end)

where `flip` is the change of view when the other player acts next. Lambda 0 is TD(0), 1 Monte Carlo. The samples of a
block are shuffled and learned in minibatches; Adam touches only the rows of the first layer that occurred.

Several threads share weights and moments without locks: an update may be lost, and results then depend on timing. With
one thread everything is a function of the seed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nardy_rl.agents.net import Net, evaluate, forward, other_player
from nardy_rl.agents.quick import quantise, quick_best
from nardy_rl.board import WORDS, copy_into
from nardy_rl.dice import below, roll, stream, uniform
from nardy_rl.encoding import MAX_ACTIVE, encode_into
from nardy_rl.jit import inlined, inner, kernel
from nardy_rl.plays import plays
from nardy_rl.starts import begin
from nardy_rl.turns import is_over, owes, throw

B1, B2, EPSILON = np.float32(0.9), np.float32(0.999), np.float32(1e-7)


class Adam(NamedTuple):
    """First and second moments of every weight, and how often each first-layer row was updated."""

    m: Net
    v: Net


class Learner(NamedTuple):
    """Buffers of one learning thread."""

    gradient: Net  # sums of a minibatch
    touched: np.ndarray  # int32[rows]: first-layer rows of the minibatch
    is_touched: np.ndarray  # uint8[rows]
    listed: np.ndarray  # int16[samples, MAX_ACTIVE]: rows of every sample of the block
    number: np.ndarray  # int16[samples]
    outputs: np.ndarray  # float32[samples, K]: what the net said
    target: np.ndarray  # float32[samples, K]
    turned: np.ndarray  # uint8[samples]: does the other player act in the next state
    order: np.ndarray  # int32[samples]
    d1: np.ndarray  # float32[H1]
    d2: np.ndarray  # float32[H2]
    d3: np.ndarray  # float32[H3]
    steps: np.ndarray  # int64[1]: minibatches learned
    loss: np.ndarray  # float64[2]: sum of squared errors of the value, number of samples


class Settings(NamedTuple):
    """Numbers that a block of self-play depends on."""

    step_size: float
    trace: float  # lambda
    explore: float  # probability of a random play
    minibatch: int
    cap: int  # plays after which a game is cut and bootstrapped


def zeros_like(net: Net) -> Net:
    """A net of zeros of the same shapes."""
    return Net(*(np.zeros_like(w) for w in net))


def new_learner(net: Net, samples: int) -> Learner:
    """Buffers for blocks of up to `samples` positions."""
    rows, h1 = net.w1.shape
    size = net.w4.shape[0]
    return Learner(
        gradient=zeros_like(net),
        touched=np.zeros(rows, np.int32),
        is_touched=np.zeros(rows, np.uint8),
        listed=np.zeros((samples, MAX_ACTIVE), np.int16),
        number=np.zeros(samples, np.int16),
        outputs=np.zeros((samples, size), np.float32),
        target=np.zeros((samples, size), np.float32),
        turned=np.zeros(samples, np.uint8),
        order=np.zeros(samples, np.int32),
        d1=np.zeros(h1, np.float32),
        d2=np.zeros(net.w2.shape[0], np.float32),
        d3=np.zeros(net.w3.shape[0], np.float32),
        steps=np.zeros(1, np.int64),
        loss=np.zeros(2, np.float64),
    )


# ---------------------------------------------------------------------------------------------- one minibatch


@inlined
def _back(delta, k, x, w, g, d):
    """From the gradient of unit k's sum to that of its weights, into g, and of its inputs x, into d."""
    for j in range(d.shape[0]):
        g[k, j] += delta * x[j]
        d[j] += delta * w[k, j]


@inner
def add_gradient(net, work, learner, n, target):
    """Add the gradient of the cross-entropy to `target` for the n rows in `work`, whose forward pass is done."""
    g = learner.gradient
    d1, d2, d3 = learner.d1, learner.d2, learner.d3
    for j in range(d1.shape[0]):
        d1[j] = np.float32(0)
    for j in range(d2.shape[0]):
        d2[j] = np.float32(0)
    for j in range(d3.shape[0]):
        d3[j] = np.float32(0)
    for k in range(target.shape[0]):
        error = work.out[k] - target[k]
        g.b4[k] += error
        if d3.shape[0]:
            _back(error, k, work.h3, net.w4, g.w4, d3)
        elif d2.shape[0]:
            _back(error, k, work.h2, net.w4, g.w4, d2)
        else:
            _back(error, k, work.h1, net.w4, g.w4, d1)
    for k in range(d3.shape[0]):
        if work.h3[k] > np.float32(0):
            g.b3[k] += d3[k]
            _back(d3[k], k, work.h2, net.w3, g.w3, d2)
    for k in range(d2.shape[0]):
        if work.h2[k] > np.float32(0):
            g.b2[k] += d2[k]
            _back(d2[k], k, work.h1, net.w2, g.w2, d1)
    for j in range(d1.shape[0]):
        d1[j] = d1[j] if work.h1[j] > np.float32(0) else np.float32(0)
    for i in range(d1.shape[0]):
        g.b1[i] += d1[i]
    for k in range(n):
        into = g.w1[work.listed[k]]
        for i in range(d1.shape[0]):
            into[i] += d1[i]


@inlined
def _adam(w, g, m, v, rate, scale):
    """One Adam step of a vector in place; the gradient is set to zero."""
    for j in range(w.shape[0]):
        x = g[j] * scale
        m[j] = B1 * m[j] + (np.float32(1) - B1) * x
        v[j] = B2 * v[j] + (np.float32(1) - B2) * x * x
        w[j] -= rate * m[j] / (np.sqrt(v[j]) + EPSILON)
        g[j] = np.float32(0)


@inner
def apply_gradient(net, adam, learner, size, touched, step_size):
    """One Adam step with the gradient sums of `size` samples and the listed first-layer rows."""
    learner.steps[0] += 1
    t = np.float64(learner.steps[0])
    correction = np.sqrt(1.0 - 0.999**t) / (1.0 - 0.9**t)
    rate = np.float32(step_size * correction)
    scale = np.float32(1.0 / size)
    g, m, v = learner.gradient, adam.m, adam.v
    _adam(net.b1, g.b1, m.b1, v.b1, rate, scale)
    _adam(net.b2, g.b2, m.b2, v.b2, rate, scale)
    _adam(net.b3, g.b3, m.b3, v.b3, rate, scale)
    _adam(net.b4, g.b4, m.b4, v.b4, rate, scale)
    for i in range(net.w2.shape[0]):
        _adam(net.w2[i], g.w2[i], m.w2[i], v.w2[i], rate, scale)
    for i in range(net.w3.shape[0]):
        _adam(net.w3[i], g.w3[i], m.w3[i], v.w3[i], rate, scale)
    for i in range(net.w4.shape[0]):
        _adam(net.w4[i], g.w4[i], m.w4[i], v.w4[i], rate, scale)
    for i in range(touched):
        row = learner.touched[i]
        _adam(net.w1[row], g.w1[row], m.w1[row], v.w1[row], rate, scale)
        learner.is_touched[row] = 0


@inner
def learn_rows(net, outputs, work, learner, n, target, touched):
    """Forward and backward pass of the n rows in `work`; returns the number of first-layer rows touched so far."""
    for k in range(n):
        row = work.listed[k]
        if not learner.is_touched[row]:
            learner.is_touched[row] = 1
            learner.touched[touched] = row
            touched += 1
    forward(net, work, n)
    error = np.float32(0)
    for k in range(work.out.shape[0]):
        error += outputs.points[k] * (work.out[k] - target[k])
    learner.loss[0] += error * error
    learner.loss[1] += 1
    add_gradient(net, work, learner, n, target)
    return touched


@inner
def learn_block(net, adam, outputs, work, learner, samples, rng, settings):
    """Learn all samples of a block once, in random order and minibatches."""
    order = learner.order
    for i in range(samples):
        j = below(rng, i + 1)
        order[i] = order[j]
        order[j] = i
    done = 0
    while done < samples:
        size = min(settings.minibatch, samples - done)
        touched = np.int64(0)
        for i in range(done, done + size):
            sample = order[i]
            n = np.int64(learner.number[sample])
            for k in range(n):
                work.listed[k] = np.int32(learner.listed[sample, k])
            touched = learn_rows(net, outputs, work, learner, n, learner.target[sample], touched)
        apply_gradient(net, adam, learner, size, touched, settings.step_size)
        done += size


# ---------------------------------------------------------------------------------------------- self-play


@inlined
def turn_view(outputs, x, turned, out):
    """Outputs x in the view of the player of the state before, into `out`."""
    for k in range(out.shape[0]):
        out[k] = x[outputs.flip_from[k]] if turned else x[k]
    if turned and not outputs.draws:
        out[0] = np.float32(1) - out[0]


@kernel
def make_targets(outputs, learner, first, last, trace, final):
    """Targets of the states first..last-1 of one game, backwards; `final` are the outputs after the last state."""
    ahead = final  # what follows state t, in the view of the player who acts in t + 1
    mixed = np.empty_like(final)
    for t in range(last - 1, first - 1, -1):
        turn_view(outputs, ahead, learner.turned[t], learner.target[t])
        for k in range(mixed.shape[0]):
            mixed[k] = (1 - trace) * learner.outputs[t, k] + trace * learner.target[t, k]
        ahead = mixed


@inlined
def keep_state(work, learner, s, n, outputs_row):
    """Store the encoded state in `work` as sample s."""
    for k in range(n):
        learner.listed[s, k] = work.listed[k]
    learner.number[s] = n
    copy_into(learner.outputs[s], outputs_row)


@kernel
def play_game(rules, encoding, start, outputs, quick, fast, scr, learner, rng, row, first, settings):
    """Play one game against itself and store its states and targets from sample `first` on.

    Returns the number of the sample after the last one and the plays made.
    """
    net, work = quick.net, fast.slow
    begin(rules, start, rng, row)
    s, moves, known = first, np.int64(0), False
    final = np.empty_like(work.out)
    room = learner.number.shape[0]
    while True:
        if known:  # the state is the result of a play, not the opening: a sample
            n = encode_into(rules, encoding, row, work.listed)
            forward(net, work, n)
            keep_state(work, learner, s, n, work.out)
            if moves >= settings.cap or s + 1 >= room:
                copy_into(final, work.out)
                return s, moves, final
            s += 1
        if not owes(row):
            die1, die2 = roll(rng)
            throw(rules, row, die1, die2)
        n = plays(rules, row, scr)
        if settings.explore > 0 and uniform(rng) < settings.explore:
            chosen = below(rng, n)
        elif n == 1:
            chosen = np.int64(0)
        else:
            chosen = quick_best(rules, encoding, quick, outputs, fast, scr, row, n)[0]
        moves += 1
        if known:
            learner.turned[s - 1] = other_player(row, scr.plays[chosen])
        copy_into(row, scr.plays[chosen])
        known = True
        if is_over(row):
            evaluate(rules, encoding, net, outputs, work, row)
            copy_into(final, work.out)
            return s, moves, final


@kernel
def self_play(rules, encoding, start, adam, outputs, quick, fast, scr, learner, seed, game, games, block, settings):
    """Play games number game..game+games-1 and learn from them, `block` games at a time.

    Weights and moments change in place; `quick` gets the weights anew for every block. Returns plays made and samples
    learned.
    """
    rng = np.zeros(1, np.uint64)
    shuffle = np.zeros(1, np.uint64)
    row = np.zeros(WORDS, np.uint32)
    total_moves, total_samples, samples, in_block = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    room = learner.number.shape[0]
    for g in range(game, game + games):
        if in_block == 0:
            quantise(encoding, quick, fast)
        stream(seed, g, rng)
        last, moves, final = play_game(
            rules, encoding, start, outputs, quick, fast, scr, learner, rng, row, samples, settings
        )
        make_targets(outputs, learner, samples, last, np.float32(settings.trace), final)
        samples = last
        total_moves += moves
        in_block += 1
        if in_block == block or samples + settings.cap >= room or g + 1 == game + games:
            shuffle[0] = rng[0]
            learn_block(quick.net, adam, outputs, fast.slow, learner, samples, shuffle, settings)
            total_samples += samples
            samples, in_block = 0, 0
    return total_moves, total_samples
