"""Policies as ONNX files: the value net as a graph that other runtimes can run, with a test vector.

Inputs are padded sparse lists of the rows of the first weight matrix (`encoding.py`), as in `torch_net.py`: some 20 to
60 of several thousand inputs are not zero, so that dense ones would be a hundred times as large and as slow. A policy
with a net of its own for races takes a third input.

| input | type | meaning |
|---|---|---|
| `index` | int64[N, M] | rows of the first weight matrix; any valid number where `value` is 0 |
| `value` | float32[N, M] | 1, and 0 where the list is over |
| `race` | bool[N] | is the position a race, for policies of two nets |

| output | type | meaning |
|---|---|---|
| `outputs` | float32[N, K] | cumulative chances of the outcomes for the player who acts next (`net.output_names`) |
| `points` | float32[N] | the equity that follows from them |
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, States
from nardy_rl.agents.kinds import races
from nardy_rl.agents.net import Net, output_names
from nardy_rl.agents.policy import KindsPolicy, Policy, test_states, write_file
from nardy_rl.agents.visited import visited
from nardy_rl.encoding import VERSION, layout_digest, listed
from nardy_rl.errors import BadPolicy, MissingExtra
from nardy_rl.variants import variant_definition

FORMAT = "nardy-rl onnx 1"
OPSET = 17
CLOSE = 1e-4  # of the test vector: how far outputs may lie from ours
Arrays = dict[str, NDArray[Any]]


def _modules() -> tuple[Any, Any]:
    """The packages onnx and onnxruntime, or MissingExtra."""
    try:
        import onnx
    except ImportError:
        raise MissingExtra("onnx", "onnx") from None
    try:
        import onnxruntime
    except ImportError:
        raise MissingExtra("onnxruntime", "onnx") from None
    return onnx, onnxruntime


def inputs_of(policy: Policy, states: States) -> Arrays:
    """The inputs of the graph for states uint32[N, 16], by name."""
    rows = np.ascontiguousarray(states, dtype=np.uint32)
    index, given = listed(policy.variant, rows, policy.kind)
    inputs: Arrays = {"index": index.astype(np.int64), "value": given.astype(np.float32)}
    if isinstance(policy, KindsPolicy):
        inputs["race"] = races(policy.rules, rows)
    return inputs


def _layers(helper: Any, constants: Arrays, net: Net, prefix: str) -> tuple[list[Any], str]:
    """The nodes of one net, whose weights are added to constants, and the name of its outputs."""
    constants |= {prefix + "w1": net.w1, prefix + "b1": net.b1, "last axis": np.array([1], np.int64)}
    nodes = [
        helper.make_node("Gather", [prefix + "w1", "index"], [prefix + "rows"], axis=0),
        helper.make_node("Mul", [prefix + "rows", "weights"], [prefix + "weighted"]),
        helper.make_node("ReduceSum", [prefix + "weighted", "last axis"], [prefix + "sum"], keepdims=0),
        helper.make_node("Add", [prefix + "sum", prefix + "b1"], [prefix + "x1"]),
    ]
    at = prefix + "x1"
    for number, (weight, bias) in enumerate(((net.w2, net.b2), (net.w3, net.b3), (net.w4, net.b4)), 2):
        if not len(bias):
            continue
        w, b, x = (f"{prefix}{name}{number}" for name in "wbx")
        constants |= {w: np.ascontiguousarray(weight.T), b: bias}
        nodes += [helper.make_node("Relu", [at], [at + "+"]), helper.make_node("Gemm", [at + "+", w, b], [x])]
        at = x
    nodes.append(helper.make_node("Sigmoid", [at], [prefix + "chances"]))
    return nodes, prefix + "chances"


def _description(policy: Policy, inputs: Arrays) -> dict[str, Any]:
    """What the file says of itself: game, inputs, outputs and a test vector."""
    outputs = policy.outputs(test_states(policy.variant))
    return {
        "format": FORMAT,
        "variant": variant_definition(policy.variant),
        "inputs": {
            "kind": policy.kind,
            "version": VERSION,
            "digest": layout_digest(policy.variant, policy.kind),
            "rows": policy.encoding.size,
        },
        "outputs": output_names(policy.variant),
        "points": {"constant": policy.meaning.constant, "per output": policy.meaning.points.tolist()},
        "test": {
            "states": test_states(policy.variant).tolist(),
            **{name: array.tolist() for name, array in inputs.items()},
            "outputs": outputs.astype(float).round(6).tolist(),
        },
    }


def model_of(policy: Policy) -> Any:
    """The policy as an onnx ModelProto, its description as JSON under the key `nardy-rl` of its metadata."""
    onnx, _ = _modules()
    helper, types = onnx.helper, onnx.TensorProto
    inputs = inputs_of(policy, test_states(policy.variant))
    constants: Arrays = {
        "per output": policy.meaning.points,
        "constant": np.array(policy.meaning.constant, np.float32),
        "new axis": np.array([2], np.int64),
    }
    nodes, chances = [helper.make_node("Unsqueeze", ["value", "new axis"], ["weights"])], []
    for prefix, net in policy.nets.items():
        more, name = _layers(helper, constants, net, prefix)
        nodes += more
        chances.append(name)
    if "race" in inputs:
        nodes += [
            helper.make_node("Unsqueeze", ["race", "last axis"], ["is race"]),
            helper.make_node("Where", ["is race", chances[1], chances[0]], ["outputs"]),
        ]
    else:
        nodes.append(helper.make_node("Identity", chances, ["outputs"]))
    nodes += [
        helper.make_node("MatMul", ["outputs", "per output"], ["won"]),
        helper.make_node("Add", ["won", "constant"], ["points"]),
    ]
    kinds = {"index": (types.INT64, ["N", "M"]), "value": (types.FLOAT, ["N", "M"]), "race": (types.BOOL, ["N"])}
    graph = helper.make_graph(
        nodes,
        "value net",
        [helper.make_tensor_value_info(name, *kinds[name]) for name in inputs],
        [
            helper.make_tensor_value_info("outputs", types.FLOAT, ["N", len(policy.meaning.points)]),
            helper.make_tensor_value_info("points", types.FLOAT, ["N"]),
        ],
        [onnx.numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in constants.items()],
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=8,
        producer_name="nardy-rl",
        producer_version=version("nardy-rl"),
    )
    helper.set_model_props(model, {"nardy-rl": json.dumps(_description(policy, inputs), ensure_ascii=False)})
    return model


def export_onnx(policy: Bot, path: Path) -> dict[str, Any]:
    """Write a policy as an ONNX file, after onnxruntime has given the test vector's outputs from it.

    Returns `file`, `bytes`, `variant`, `inputs`, `outputs` and `largest_difference`. Raises BadPolicy for a policy that
    is not of the built-in net, or if the outputs differ, and MissingExtra without the packages onnx and onnxruntime.
    """
    if not isinstance(policy, Policy):
        raise BadPolicy(
            f"{policy.name} is no policy of the built-in net: name one, or export your own net with torch.onnx"
        )
    onnx, _ = _modules()
    model = model_of(policy)
    onnx.checker.check_model(model)
    data = model.SerializeToString()
    largest = check(data, policy)
    if not largest <= CLOSE:
        raise BadPolicy(f"{policy.name}: onnxruntime gives outputs {largest:.1e} beside ours; nothing was written")
    write_file(path, data)
    names = [str(value.name) for value in model.graph.input], [str(value.name) for value in model.graph.output]
    return {
        "file": str(path),
        "bytes": len(data),
        "variant": variant_definition(policy.variant),
        "inputs": names[0],
        "outputs": names[1],
        "largest_difference": largest,
    }


def run_onnx(model: bytes, inputs: Arrays) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What onnxruntime, on one core, makes of inputs: outputs float32[N, K] and points float32[N]."""
    _, runtime = _modules()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    outputs, points = session.run(["outputs", "points"], inputs)
    return outputs, points


def check(model: bytes, policy: Policy) -> float:
    """How far onnxruntime's outputs lie from the policy's at most: in the test vector and in positions of games."""
    states = np.concatenate([test_states(policy.variant), visited(policy, 64)])
    outputs, points = run_onnx(model, inputs_of(policy, states))
    ours = policy.outputs(states)
    equity = policy.meaning.constant + ours @ policy.meaning.points
    return float(max(np.abs(outputs - ours).max(), np.abs(points - equity).max()))
