"""Policies as ONNX files: the same numbers in another runtime, a test vector inside, clear refusals."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.agents.kinds import races
from nardy_rl.agents.net import new_net, outputs_of
from nardy_rl.agents.onnx_file import check, export_onnx, inputs_of, model_of, run_onnx
from nardy_rl.agents.policy import RACE_PREFIX, policy_of
from nardy_rl.agents.visited import visited
from nardy_rl.encoding import encoding_of
from nardy_rl.errors import BadPolicy, MissingExtra
from nardy_rl.experiments.cli import run
from nardy_rl.variants import VARIANTS

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


def fresh(game, hidden, kinds=1, kind="patterns"):
    """A policy with drawn weights: of one net, or of one for each kind of position."""
    variant = VARIANTS[game]
    encoding, meaning = encoding_of(variant, kind), outputs_of(variant)
    prefixes = ("", RACE_PREFIX)[:kinds]
    nets = {prefix: new_net(encoding, meaning, hidden, seed) for seed, prefix in enumerate(prefixes, 1)}
    return policy_of(variant, nets, kind, {}, "fresh")


@pytest.mark.parametrize(
    ("game", "hidden", "kinds", "kind"),
    [
        ("hyper", (16, 0), 1, "plain"),
        ("backgammon", (24, 8), 2, "patterns"),
        ("crazy-v1", (24, 8, 4), 1, "rich"),
        ("plakoto", (16, 0), 2, "patterns"),
    ],
)
def test_onnxruntime_gives_the_outputs_of_the_policy(game, hidden, kinds, kind):
    policy = fresh(game, hidden, kinds, kind)
    states = visited(load_bot(game, "pips"), 200, explore=0.3)
    outputs, points = run_onnx(model_of(policy).SerializeToString(), inputs_of(policy, states))
    assert np.abs(outputs - policy.outputs(states)).max() < 1e-5
    assert np.abs(points - (policy.meaning.constant + outputs @ policy.meaning.points)).max() < 1e-5
    if kinds == 2 and game == "backgammon":
        assert 0 < races(policy.rules, states).sum() < len(states)


def test_the_file_says_what_it_is_and_its_test_vector_holds(tmp_path, capsys):
    policy = fresh("hyper", (16, 0))
    policy.save(tmp_path / "policy.safetensors")
    out = tmp_path / "folder" / "hyper.onnx"
    assert run(["export", str(tmp_path), "--out", str(out), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["variant"] == "hyper" and written["inputs"] == ["index", "value"]
    assert written["bytes"] == out.stat().st_size and written["largest_difference"] < 1e-5
    model = onnx.load(out)
    said = json.loads(next(entry.value for entry in model.metadata_props if entry.key == "nardy-rl"))
    assert said["outputs"] == ["win"] and said["format"] == "nardy-rl onnx 1"
    test = said["test"]
    inputs = {"index": np.array(test["index"], np.int64), "value": np.array(test["value"], np.float32)}
    outputs, _ = run_onnx(out.read_bytes(), inputs)
    assert np.abs(outputs - np.array(test["outputs"])).max() < 1e-5


def test_other_weights_are_found_out():
    """The check can fail: a file of other weights differs by much more than it allows."""
    policy, other = fresh("hyper", (16, 0)), fresh("hyper", (8, 0))
    assert check(model_of(other).SerializeToString(), policy) > 1e-3


def test_what_cannot_be_exported_is_refused(tmp_path, capsys, monkeypatch):
    with pytest.raises(BadPolicy, match="pips is no policy of the built-in net"):
        export_onnx(load_bot("hyper", "pips"), tmp_path / "x.onnx")
    assert run(["export", "pretrained", "--out", str(tmp_path / "x.onnx")]) == 2
    assert "--game" in capsys.readouterr().err
    assert run(["export", str(tmp_path / "none"), "--out", str(tmp_path / "x.onnx")]) == 2
    capsys.readouterr()
    for package in ("onnx", "onnxruntime"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(MissingExtra, match=rf"needs the package {package}: .*nardy-rl\[onnx\]"):
                export_onnx(fresh("hyper", (16, 0)), tmp_path / "x.onnx")
    assert not list(tmp_path.iterdir())
