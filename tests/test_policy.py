"""Nets and policy files: kernels, NumPy and torch agree; files round-trip; what is no policy is refused."""

import json

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.agents.kinds import races
from nardy_rl.agents.net import new_net, output_names, outputs_of, work_of
from nardy_rl.agents.policy import KindsPolicy, Policy, pretrained_path, read_tensors, test_states, write_tensors
from nardy_rl.agents.refine import fit
from nardy_rl.agents.td import Adam, new_learner, zeros_like
from nardy_rl.agents.visited import visited
from nardy_rl.batch import acting, encode, plays, throw
from nardy_rl.dice import ROLLS
from nardy_rl.encoding import encoding_of
from nardy_rl.errors import BadPolicy
from nardy_rl.experiments.compare import random_decisions
from nardy_rl.experiments.tournament import identity
from nardy_rl.position import Position
from nardy_rl.results import DRAW, OUTCOMES, score_table
from nardy_rl.variants import VARIANTS, parse_variant

test_states.__test__ = False
THREE = ["backgammon", "classic", "plakoto"]


def fresh_policy(game, hidden=(24, 8), kind="patterns", seed=1):
    variant = parse_variant(game)
    return Policy(variant, new_net(encoding_of(variant, kind), outputs_of(variant), hidden, seed), kind, {}, "fresh")


def states_of(policy, n=200):
    return np.concatenate([test_states(policy.variant), random_decisions(policy.variant, n, seed=4)])


@pytest.mark.parametrize("game", THREE)
@pytest.mark.parametrize("hidden", [(24, 8), (24, 0), (24, 8, 6)])
@pytest.mark.parametrize("kind", ["patterns", "plain"])
def test_kernel_and_numpy_agree(game, hidden, kind):
    policy = fresh_policy(game, hidden, kind)
    states = states_of(policy)
    w1, b1, w2, b2, w3, b3, w4, b4 = (w.astype(np.float64) for w in policy.net)
    x = np.maximum(encode(policy.variant, states, kind) @ w1 + b1, 0)
    if hidden[1]:
        x = np.maximum(x @ w2.T + b2, 0)
    if hidden[2:]:
        x = np.maximum(x @ w3.T + b3, 0)
    want = 1 / (1 + np.exp(-(x @ w4.T + b4)))
    got = policy.outputs(states)
    assert np.abs(got - want).max() < 1e-5
    meaning = policy.meaning
    np.testing.assert_allclose(policy.values(states), meaning.constant + got @ meaning.points, atol=0.005)


@pytest.mark.parametrize("game", THREE)
@pytest.mark.parametrize("hidden", [(24, 8), (24, 0), (24, 8, 6)])
def test_torch_module_and_kernel_agree(game, hidden):
    torch = pytest.importorskip("torch")
    from nardy_rl.agents.torch_net import ValueNet, tensors

    policy = fresh_policy(game, hidden)
    states = states_of(policy)
    module = ValueNet.of(policy.net)
    with torch.no_grad():
        got = module(*tensors(policy, states)).numpy()
    assert np.abs(got - policy.outputs(states)).max() < 1e-5
    for ours, theirs in zip(policy.net, module.net(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("hidden", [(24, 8), (24, 0), (24, 8, 6)])
def test_gradients_are_those_of_torch(hidden):
    torch = pytest.importorskip("torch")
    from nardy_rl.agents.torch_net import ValueNet, tensors

    policy = fresh_policy("backgammon", hidden)
    states, net = states_of(policy, 64), policy.net
    labels = np.random.default_rng(2).random((len(states), len(policy.meaning.points)), np.float32)
    module = ValueNet.of(net)
    entropy = torch.nn.BCEWithLogitsLoss(reduction="sum")
    (entropy(module.logits(*tensors(policy, states)), torch.from_numpy(labels)) / len(states)).backward()
    for parameter in module.parameters():
        parameter.data = parameter.grad
    adam = Adam(zeros_like(net), zeros_like(net))
    fit(
        policy.rules, policy.encoding, net, adam, policy.meaning, work_of(net), new_learner(net, 1), states, labels,
        np.arange(len(states)), len(states), 0.0,
    )  # fmt: skip
    for moment, gradient in zip(adam.m, module.net(), strict=True):
        np.testing.assert_allclose(moment / 0.1, gradient, atol=1e-5)
        assert np.abs(gradient).max(initial=0) > 1e-3 or not gradient.size


@pytest.mark.parametrize("game", list(VARIANTS))
def test_outputs_of_finished_games_give_the_score_table(game):
    variant = VARIANTS[game]
    meaning, table = outputs_of(variant), score_table(variant)
    levels = {int(name.split()[-1]) if " " in name else 1 for name in output_names(variant) if name.startswith("win")}
    for code in range(OUTCOMES):
        if int(table[code]) in levels or (code == DRAW and meaning.draws):
            assert meaning.constant + meaning.exact[code] @ meaning.points == table[code]
    there_and_back = meaning.flip_from[meaning.flip_from]
    np.testing.assert_array_equal(there_and_back, np.arange(len(meaning.points)))


def test_a_policy_file_round_trips_and_carries_a_test_vector(tmp_path):
    policy = fresh_policy("classic")
    policy.save(tmp_path / "p.safetensors", half=True, extra={"games": 7})
    again = Policy.load(tmp_path / "p.safetensors")
    assert again.header["games"] == 7 and again.header["variant"] == "classic"
    test = again.header["test"]
    got = again.outputs(np.array(test["states"], dtype=np.uint32))
    np.testing.assert_allclose(got, test["outputs"], atol=2e-6)
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("hidden", [(24, 8), (24, 0), (24, 8, 6)])
def test_a_policy_file_keeps_every_layer(hidden, tmp_path):
    policy = fresh_policy("backgammon", hidden)
    policy.save(tmp_path / "p.safetensors")
    tensors, header = read_tensors(tmp_path / "p.safetensors")
    assert header["hidden"] == list(hidden)
    assert sorted(tensors) == sorted(f"{kind}{i + 1}" for i in range(len(hidden) + 1) for kind in "wb")
    for ours, theirs in zip(policy.net, Policy.load(tmp_path / "p.safetensors").net, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("game", THREE)
def test_the_shipped_policy_gives_its_test_vector(game):
    path = pretrained_path(VARIANTS[game])
    assert path is not None, f"no policy is shipped for {game}"
    policy = Policy.load(path)
    test = policy.header["test"]
    got = policy.outputs(np.array(test["states"], dtype=np.uint32))
    np.testing.assert_allclose(got, test["outputs"], atol=1e-5)
    assert policy.header["strength"], "a shipped policy says how strong it was measured to be"


def test_roll_values_are_the_values_of_the_best_replies():
    policy = fresh_policy("backgammon")
    states = test_states(policy.variant)
    slow = super(Policy, policy).roll_values(states)
    np.testing.assert_allclose(policy.roll_values(states), slow, atol=1e-5)


def two_nets(game):
    """A policy of two different nets, and policies of each of them alone."""
    contact, race = fresh_policy(game, seed=1), fresh_policy(game, seed=2)
    both = KindsPolicy(contact.variant, contact.net, race.net, "patterns", {}, "both")
    return both, contact, race


def waiting_states(game):
    """States that await a throw, from the first to the last of games, races among them."""
    return visited(load_bot(game, "pips"), 1000, explore=0)


def is_race(position):
    """The rule of a race once more: nobody is pinned, and no checker has an enemy one ahead of it."""
    if any(position.pins):
        return False
    mine, theirs = (max((point for point, n in enumerate(side) if n), default=0) for side in position.counts)
    return mine + theirs <= 25


@pytest.mark.parametrize("game", ["backgammon", "plakoto"])
def test_each_position_is_valued_by_the_net_of_its_kind(game):
    both, contact, race = two_nets(game)
    waiting = waiting_states(game)
    race_here = np.array([is_race(Position(both.variant, state)) for state in waiting])
    np.testing.assert_array_equal(races(both.rules, waiting), race_here)
    assert 15 < race_here.sum() < len(race_here) - 15
    for what in ("values", "outputs"):
        ours, by_contact, by_race = (getattr(policy, what)(waiting) for policy in (both, contact, race))
        np.testing.assert_array_equal(ours[race_here], by_race[race_here])
        np.testing.assert_array_equal(ours[~race_here], by_contact[~race_here])
        assert not np.allclose(by_race, by_contact, atol=0.01)
    assert both.values(waiting[:0]).shape == (0,) and both.roll_values(waiting[:0]).shape == (0, 21)


@pytest.mark.parametrize("game", ["backgammon", "plakoto", "plakoto-express"])
def test_every_reply_is_valued_by_the_net_of_its_kind(game):
    both, contact, race = two_nets(game)
    waiting = waiting_states(game)
    owing = throw(both.variant, np.repeat(waiting, 21, axis=0), np.tile(ROLLS, (len(waiting), 1)))
    after, first = plays(both.variant, owing)
    is_race = races(both.rules, after)
    values = np.where(is_race, race.values(after), contact.values(after))
    mover = np.repeat(acting(owing), np.diff(first))
    best = np.maximum.reduceat(np.where(acting(after) == mover, values, -values), first[:-1]).reshape(-1, 21)
    np.testing.assert_allclose(both.roll_values(waiting), best, atol=1e-5)
    mixed = np.logical_or.reduceat(is_race, first[:-1]) & ~np.logical_and.reduceat(is_race, first[:-1])
    assert mixed.sum() > 20, "after some rolls there must be replies of both kinds"
    assert np.abs(best - contact.roll_values(waiting)).reshape(-1)[mixed].max() > 0.01


def test_a_policy_of_two_nets_is_one_file(tmp_path):
    both, contact, race = two_nets("backgammon")
    path = tmp_path / "p.safetensors"
    both.save(path)
    again = Policy.load(path)
    assert isinstance(again, KindsPolicy) and again.header["nets"] == "kinds"
    for ours, theirs in zip([*again.net, *again.race.net], [*contact.net, *race.net], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    both.save(path, half=True)
    again = Policy.load(path)
    test = again.header["test"]
    states = np.array(test["states"], dtype=np.uint32)
    np.testing.assert_allclose(again.outputs(states), test["outputs"], atol=2e-6)
    np.testing.assert_allclose(again.race.outputs(states), test["race outputs"], atol=2e-6)
    assert identity(again) != identity(Policy(again.variant, again.net, "patterns", {}, again.name))
    tensors, header = read_tensors(path)
    del tensors["race.w2"]
    write_tensors(path, tensors, header)
    refused(path, r"the weights race.w2 are missing")
    write_tensors(path, tensors, header | {"nets": "three"})
    refused(path, "damaged")
    write_tensors(path, tensors, {key: value for key, value in header.items() if key != "nets"})
    assert list(Policy.load(path).nets) == [""], "files from before there were two nets"


def test_a_policy_plays_a_game_with_the_same_inputs():
    policy = load_bot("nackgammon", str(pretrained_path(VARIANTS["backgammon"])))
    assert policy.variant.id == "nackgammon"


def test_games_that_differ_in_their_start_alone_share_a_policy():
    shared = pretrained_path(VARIANTS["backgammon"])
    assert shared is not None
    sharing = {game for game, variant in VARIANTS.items() if pretrained_path(variant) == shared}
    assert sharing == {"backgammon", "nackgammon"}, "the others have their own"
    assert load_bot("nackgammon", "pretrained").variant.id == "nackgammon"


def refused(path, pattern, variant=None):
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(BadPolicy, match=pattern) as caught:
        Policy.load(path, variant)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    assert before is None or path.read_bytes() == before


def test_what_is_no_policy_is_refused_with_a_sentence(tmp_path):
    good = tmp_path / "good.safetensors"
    fresh_policy("backgammon").save(good)
    refused(tmp_path / "none.safetensors", "there is no policy file")

    cut = tmp_path / "cut.safetensors"
    cut.write_bytes(good.read_bytes()[:-1000])
    refused(cut, "truncated or another kind of file")

    text = tmp_path / "text.safetensors"
    text.write_text("not a policy")
    refused(text, "cannot be read as a policy")

    from safetensors.numpy import save_file

    foreign = tmp_path / "foreign.safetensors"
    save_file({"weight": np.zeros(3, np.float32)}, foreign)
    refused(foreign, "its header does not say so")

    refused(good, "is a policy for backgammon and cannot play classic", VARIANTS["classic"])


@pytest.mark.parametrize(
    ("change", "pattern"),
    [
        (lambda h: h["inputs"].update(version=0), "version 0 of the inputs .* train it again"),
        (lambda h: h["inputs"].update(digest="0" * 16), "which another release has"),
        (lambda h: h.update(format="nardy-rl policy 9"), "no policy of this release"),
        (lambda h: h.update(hidden=[8, 8]), "the file is damaged"),
        (lambda h: h.update(variant="ludo"), "damaged"),
        (lambda h: h.pop("inputs"), "damaged"),
        (lambda h: h.update(hidden="wide"), "damaged"),
    ],
)
def test_a_policy_of_another_release_or_a_damaged_one_is_refused(tmp_path, change, pattern):
    good = tmp_path / "good.safetensors"
    fresh_policy("backgammon").save(good)
    tensors, header = read_tensors(good)
    change(header)
    odd = tmp_path / "odd.safetensors"
    write_tensors(odd, tensors, header)
    refused(odd, pattern)


def test_a_policy_of_a_users_own_game_is_read_back_without_its_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('base = "classic"\nstart = "24:9"\npairs = [2, 5]\n')
    policy = fresh_policy(str(file))
    policy.save(tmp_path / "p.safetensors")
    file.unlink()
    assert Policy.load(tmp_path / "p.safetensors").variant == policy.variant


def test_the_header_is_plain_json(tmp_path):
    path = tmp_path / "p.safetensors"
    fresh_policy("plakoto").save(path)
    header = read_tensors(path)[1]
    assert json.loads(json.dumps(header)) == header
    assert header["outputs"] == ["win", "win 2", "lose", "lose 2"]
