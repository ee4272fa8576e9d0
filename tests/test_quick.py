"""The fast evaluation: how far it is from the exact one, and that it never depends on what was evaluated before."""

import numpy as np
import pytest

from nardy_rl.agents.net import new_net, outputs_of
from nardy_rl.agents.policy import Policy, pretrained_path
from nardy_rl.agents.quick import new_quick, quantise, quick_batch, quick_work_of
from nardy_rl.batch import encode
from nardy_rl.encoding import encoding_of
from nardy_rl.experiments.compare import random_decisions
from nardy_rl.rules import rules_of
from nardy_rl.variants import VARIANTS

BOUND = 0.005  # of an output, for a trained net; the mean error is a twentieth of it


def quick_outputs(variant, net, states, kind="patterns", work=None):
    encoding = encoding_of(variant, kind)
    quick, work = new_quick(net), work or quick_work_of(net)
    quantise(encoding, quick, work)
    out, values = np.zeros((len(states), len(net.b4)), np.float32), np.zeros(len(states), np.float32)
    quick_batch(rules_of(variant), encoding, quick, outputs_of(variant), work, states, out, values)
    return out, values, quick


@pytest.mark.parametrize("game", ["backgammon", "classic", "plakoto"])
def test_outputs_of_trained_nets_are_within_the_bound(game):
    policy = Policy.load(pretrained_path(VARIANTS[game]))
    states = random_decisions(policy.variant, 3000, seed=5)
    fast, values, _ = quick_outputs(policy.variant, policy.net, states, policy.kind)
    exact = policy.outputs(states)
    assert np.abs(fast - exact).max() < BOUND
    points = policy.meaning.constant + exact @ policy.meaning.points
    assert np.abs(values - points).max() < 2 * BOUND
    assert np.abs(values - points).std() < 0.0015


@pytest.mark.parametrize("hidden", [(24, 8), (24, 0), (17, 5), (17, 9, 5)])
@pytest.mark.parametrize("kind", ["plain", "patterns"])
@pytest.mark.parametrize("game", ["backgammon", "crazy-v1", "plakoto-express", "khachapuri"])
def test_values_do_not_depend_on_the_order_of_the_states(game, kind, hidden):
    variant = VARIANTS[game]
    net = new_net(encoding_of(variant, kind), outputs_of(variant), hidden, 2)
    states = random_decisions(variant, 300, seed=6)
    fast = quick_outputs(variant, net, states, kind)[0]
    order = np.random.default_rng(1).permutation(len(states))
    again = quick_outputs(variant, net, np.ascontiguousarray(states[order]), kind)[0]
    np.testing.assert_array_equal(fast[order], again)
    x = np.maximum(encode(variant, states, kind).astype(float) @ net.w1 + net.b1, 0)
    if hidden[1]:
        x = np.maximum(x @ net.w2.T + net.b2, 0)
    if hidden[2:]:
        x = np.maximum(x @ net.w3.T + net.b3, 0)
    assert np.abs(fast - 1 / (1 + np.exp(-(x @ net.w4.T + net.b4)))).max() < 0.01


@pytest.mark.parametrize("kind", ["plain", "patterns"])
def test_no_state_can_overflow_whatever_the_weights(kind):
    variant = VARIANTS["backgammon"]
    net = new_net(encoding_of(variant, kind), outputs_of(variant), (8, 4), 2)
    for w in net[:2]:
        w[...] = 50 + np.abs(w)  # every sum as large as it can be
    states = random_decisions(variant, 2000, seed=6)
    encoding, dense = encoding_of(variant, kind), encode(variant, states, kind)
    _, _, quick = quick_outputs(variant, net, states, kind)
    sums = dense.astype(float) @ quick.w1[:-1].astype(float) + quick.b1
    assert sums.max() <= 32767 and sums.max() > 8000
    assert encoding.size == len(quick.w1) - 1


def test_new_weights_make_kept_sums_void():
    variant = VARIANTS["backgammon"]
    states = random_decisions(variant, 50, seed=6)
    nets = [new_net(encoding_of(variant), outputs_of(variant), (16, 8), seed) for seed in (1, 2)]
    work = quick_work_of(nets[0])
    quick_outputs(variant, nets[0], states, work=work)
    again = quick_outputs(variant, nets[1], states, work=work)[0]
    np.testing.assert_array_equal(again, quick_outputs(variant, nets[1], states)[0])
