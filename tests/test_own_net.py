"""A user's own net, by name from his module: it learns, is a bot, goes on after a kill, and its faults are named."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.agents.own_net import OwnPolicy, make_module, play_block, turned
from nardy_rl.agents.policy import Policy, load_policy, read_tensors, write_tensors
from nardy_rl.batch import acting
from nardy_rl.errors import BadPolicy, BadRun
from nardy_rl.experiments.cli import run as main
from nardy_rl.experiments.own_trainer import OwnTrainer
from nardy_rl.experiments.runs import new_folder
from nardy_rl.experiments.training import config_from, train
from nardy_rl.variants import VARIANTS

MODULE = """
import torch
from nardy_rl.agents.net import output_names
from nardy_rl.batch import encode

class Mine(torch.nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.variant = variant
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(196, 24), torch.nn.Tanh(), torch.nn.Linear(24, len(output_names(variant)))
        )

    def encode(self, states):
        return torch.from_numpy(encode(self.variant, states, "plain"))

    def forward(self, x):
        return self.layers(x)

class Wide(Mine):
    def forward(self, x):
        return torch.cat([self.layers(x)] * 2, dim=1)

class Other(Mine):
    pass

class NoNet:
    def __init__(self, variant): ...

class Plain(torch.nn.Module):
    def __init__(self, variant): ...

CALLS = []

def function(variant):
    CALLS.append("function")
    return Mine(variant)

class NotAModule:
    def __init__(self, variant):
        CALLS.append("class")
"""
SET = ["--threads", "1", "--set", "final_games=0", "--set", "round=32", "--set", "gate_games=0", "--set", "cap=300"]


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    (tmp_path / "own_net_of_mine.py").write_text(dedent(MODULE))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_net_of_mine", raising=False)
    return "own_net_of_mine"


def words(module, games, out, *more):
    return ["train", "hyper", "--games", str(games), "--set", f"net={module}:Mine", *SET, *more, "--out", str(out)]


def test_a_users_net_learns_and_is_a_bot(module, tmp_path, capsys):
    out = tmp_path / "run"
    more = ["--set", "final_games=200", "--set", "step_size=0.01"]
    assert main([*words(module, 1500, out, *more), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    against = {r["b"]: r for r in report["results"]}
    assert against["random"]["ppg"] > 0.3
    bot = load_bot("hyper", str(out))
    assert isinstance(bot, OwnPolicy) and bot.header["games"] == 1500


def test_a_run_of_a_users_net_goes_on_bit_for_bit(module, tmp_path):
    whole, half = tmp_path / "whole", tmp_path / "half"
    assert main([*words(module, 96, whole), "--json"]) == 0
    config = config_from(None, [], variant="hyper", games=96, net=f"{module}:Mine", threads=1, round=32, cap=300,
                         final_games=0, gate_games=0, out=str(half))  # fmt: skip
    trainer = OwnTrainer(config, new_folder(config))
    with ThreadPoolExecutor(1) as pool:
        trainer.round(pool)
    trainer.save()
    assert main(["train", "--resume", str(half), "--json"]) == 0
    ours, theirs = (read_tensors(f / "checkpoint.safetensors")[0] for f in (half, whole))
    assert ours.keys() == theirs.keys() and any(name.startswith("adam.") for name in ours)
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


@pytest.mark.parametrize("trace", [0.0, 1.0])
def test_targets_of_a_block_are_those_of_its_games(module, trace):
    variant = VARIANTS["hyper"]
    policy = OwnPolicy(variant, make_module(f"{module}:Mine", variant), {}, "mine")
    states, targets, plays = play_block(policy, 5, 0, 1, trace, 0.0, 300)
    states, targets = states[::-1], targets[::-1]  # in the order of play
    assert plays == len(states) + 1
    outputs = policy.outputs(states)
    other = acting(states[1:]) != acting(states[:-1])
    for t in range(len(states) - 1):
        ahead = targets[t + 1 : t + 2] if trace else outputs[t + 1 : t + 2]
        want = turned(policy.meaning, ahead) if other[t] else ahead
        np.testing.assert_allclose(targets[t], want[0], atol=1e-6)
    assert set(targets[-1].tolist()) <= {0.0, 1.0}


def test_faults_of_a_users_net_are_named(module, tmp_path):
    variant = VARIANTS["hyper"]

    def fails(net, pattern, kind=BadRun):
        with pytest.raises(kind, match=pattern):
            train(config_from(None, [f"net={net}"], variant="hyper", games=32, round=32, gate_games=0, final_games=0,
                              threads=1, out=str(tmp_path / "run" / net.replace(":", "-"))))  # fmt: skip

    fails("nowhere_to_be_found:Mine", "cannot import 'nowhere_to_be_found'")
    fails(f"{module}:Yours", "has no 'Yours'")
    fails(module, "must be written module:Class")
    fails(f"{module}:NoNet", "must be a class derived from torch.nn.Module, with a method encode")
    fails(f"{module}:Plain", "must be a class derived from torch.nn.Module, with a method encode")
    fails(f"{module}:Wide", r"gave an array \[\d+, 2\] where \[\d+, 1\] is wanted", BadPolicy)
    assert main([*words(module, 32, tmp_path / "good"), "--json"]) == 0
    with pytest.raises(BadPolicy, match="cannot play backgammon, whose outcomes differ"):
        load_policy(tmp_path / "good", VARIANTS["backgammon"])
    assert load_policy(tmp_path / "good").variant == variant
    with pytest.raises(BadPolicy, match="no policy of this release"):
        Policy.load(tmp_path / "good")


@pytest.mark.parametrize("name", ["function", "NotAModule"])
def test_a_policy_file_gets_nothing_called_but_a_net(module, name, tmp_path):
    assert main([*words(module, 32, tmp_path / "run"), "--json"]) == 0
    path = tmp_path / "run" / "policy.safetensors"
    tensors, header = read_tensors(path)
    write_tensors(path, tensors, header | {"net": f"{module}:{name}"})
    with pytest.raises(BadRun, match=f"net='{module}:{name}': it must be a class derived from torch.nn.Module"):
        load_policy(path)
    assert sys.modules[module].CALLS == []


def test_the_net_printed_in_the_documentation_can_be_trained(tmp_path):
    page = (Path(__file__).resolve().parent.parent / "docs" / "training.md").read_text()
    begin = page.index("# mine.py")
    (tmp_path / "printed_net.py").write_text(page[begin : page.index("```", begin)])
    assert main([*words("printed_net", 32, tmp_path / "run"), "--json"]) == 0
    assert load_policy(tmp_path / "run").header["net"] == "printed_net:Mine"


def test_a_run_starts_from_a_users_net(module, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    still = ["--set", "step_size=0", "--set", "final_step_size=0"]
    assert main([*words(module, 32, first), "--json"]) == 0
    assert main([*words(module, 32, second, "--init", str(first), *still), "--json"]) == 0
    ours, theirs = (read_tensors(folder / "policy.safetensors")[0] for folder in (first, second))
    for name in ours:
        np.testing.assert_array_equal(theirs[name], ours[name], err_msg=name)
    with pytest.raises(BadRun, match=f"is a net of {module}:Mine, the run's of {module}:Other"):
        train(config_from(None, [f"net={module}:Other"], variant="hyper", games=32, init=str(first)))
    built_in = tmp_path / "built-in"
    words_of = ["train", "hyper", "--games", "32", *SET, "--set", "hidden=8", "--set", "generation=0"]
    assert main([*words_of, "--out", str(built_in), "--json"]) == 0
    with pytest.raises(BadPolicy, match="is no net of a user"):
        train(config_from(None, [f"net={module}:Mine"], variant="hyper", games=32, init=str(built_in)))


def test_a_users_net_in_a_game_of_his_own_needs_no_other_file(module, tmp_path):
    game = tmp_path / "tiny.toml"
    game.write_text('base = "backgammon"\nstart = "5:1 3:1 2:1"\n')
    out = tmp_path / "run"
    assert main(["train", str(game), *words(module, 32, out)[2:], "--json"]) == 0
    game.unlink()
    assert load_policy(out).variant.checkers == 3
