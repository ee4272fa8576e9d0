"""Policies: a value net with everything needed to use it again, in one safetensors file.

The file's header (JSON) says what the net is for and where it comes from: variant, kind and digest of the inputs, names
of the outputs, hidden sizes, games and minutes of training, measured strength, and a test vector: a few states and
the outputs they must give. Nothing in it is code, and nothing is unpickled.

A file with `nets` = "kinds" holds two nets: one for positions with contact, and one for races, whose tensors are named
`race.w1` and so on.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Mapping
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import States, ValueBot
from nardy_rl.agents.kinds import NETS, races
from nardy_rl.agents.net import Net, Outputs, evaluate_batch, from_named, hidden_of, named, output_names, outputs_of
from nardy_rl.agents.quick import (
    Quick,
    QuickWork,
    new_quick,
    quantise,
    quick_batch,
    quick_roll_values,
    quick_work_of,
)
from nardy_rl.encoding import VERSION, encoding_of, layout_digest
from nardy_rl.errors import BadPolicy
from nardy_rl.lockstep import own_scratch
from nardy_rl.results import score_table
from nardy_rl.rules import rules_of
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS, parse_variant, variant_definition, variant_text

FORMAT = "nardy-rl policy 1"
FILE_NAME = "policy.safetensors"
TEST_TOLERANCE = 1e-5  # of a test vector's outputs: more than processors differ by
RACE_PREFIX = "race."  # of the names of the race net's tensors

Evaluation = Callable[[States], NDArray[np.float32]]
"""What something says of states, such as their values."""


class Policy(ValueBot):
    """A trained value net as a bot: plays to the position of the highest expected score.

    `net` are its weights, `header` what its file says of it. Several threads may use it at once.
    """

    def __init__(self, variant: Variant, net: Net, kind: str, header: Mapping[str, Any], name: str) -> None:
        super().__init__(variant, name)
        self.net = net
        self.kind = kind
        self.header = dict(header)
        self.encoding = encoding_of(variant, kind)
        self.meaning: Outputs = outputs_of(variant)
        self._own = threading.local()
        self._lock = threading.Lock()
        self._quick: Quick | None = None

    @property
    def nets(self) -> dict[str, Net]:
        """The weights, by the prefix of their names in the file; the first net has none."""
        return {"": self.net}

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that tell these weights from others."""
        digest = hashlib.sha256()
        for net in self.nets.values():
            for weights in net:
                digest.update(np.ascontiguousarray(weights).tobytes())
        return digest.hexdigest()[:12]

    def _work(self) -> QuickWork:
        if not hasattr(self._own, "work"):
            self._own.work = quick_work_of(self.net)
        work: QuickWork = self._own.work
        return work

    def _weights(self) -> Quick:
        """The weights for the fast evaluation, made when they are first needed."""
        with self._lock:
            if self._quick is None:
                quick = new_quick(self.net)
                quantise(self.encoding, quick, self._work())
                self._quick = quick
            return self._quick

    def _room(self, states: States) -> tuple[States, NDArray[np.float32], NDArray[np.float32]]:
        """The states as kernels take them, and room for their outputs and values."""
        outputs = np.empty((len(states), len(self.meaning.points)), np.float32)
        return np.ascontiguousarray(states, dtype=np.uint32), outputs, np.empty(len(states), np.float32)

    def estimate(self, states: States) -> NDArray[np.float32]:
        """Expected points f32[M] for each state's own player, exact where the game is over.

        By the fast evaluation (`quick.py`), up to a few thousandths of a point beside `outputs`.
        """
        return self.evaluations(states)[1]

    def evaluations(self, states: States) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """See `ValueBot.evaluations`; by the fast evaluation, exact where the game is over."""
        rows, outputs, values = self._room(states)
        quick_batch(self.rules, self.encoding, self._weights(), self.meaning, self._work(), rows, outputs, values)
        return outputs, values

    def outputs(self, states: States) -> NDArray[np.float32]:
        """Cumulative probabilities f32[M, K] of the variant's outcomes (`net.output_names` names them)."""
        rows, outputs, values = self._room(states)
        work = self._work().slow
        evaluate_batch(self.rules, self.encoding, self.net, self.meaning, work, rows, outputs, values)
        return outputs

    def roll_values(self, states: States) -> NDArray[np.float32]:
        """See `ValueBot.roll_values`; one kernel does the whole work."""
        values = np.empty((len(states), 21), np.float32)
        rows = np.ascontiguousarray(states, dtype=np.uint32)
        quick_roll_values(
            self.rules, self.encoding, self._weights(), self.meaning, self._work(), own_scratch(), rows, values
        )
        return values

    def save(self, path: Path, *, half: bool = False, extra: Mapping[str, Any] | None = None) -> None:
        """Write the policy file, atomically. half: weights as float16, a quarter of a per cent of a point off."""
        tensors: dict[str, NDArray[Any]] = {}
        kept: dict[str, Net] = {}
        for prefix, net in self.nets.items():
            weights = {n: np.ascontiguousarray(w.astype(np.float16) if half else w) for n, w in named(net).items()}
            kept[prefix] = from_named({name: w.astype(np.float32) for name, w in weights.items()})
            tensors |= {prefix + name: w for name, w in weights.items()}
        policy = policy_of(self.variant, kept, self.kind, self.header, self.name)
        header = self.header | dict(extra or {}) | policy._description()
        self.header = header
        write_tensors(path, tensors, header)

    def _description(self) -> dict[str, Any]:
        """What a reader must know, and a test vector, of the weights as they will be read."""
        states = test_states(self.variant)
        return {
            "format": FORMAT,
            "variant": variant_definition(self.variant),
            "inputs": {
                "kind": self.kind,
                "version": VERSION,
                "digest": layout_digest(self.variant, self.kind),
            },
            "outputs": output_names(self.variant),
            "nets": NETS[len(self.nets) - 1],
            "hidden": list(hidden_of(self.net)),
            "test": {"states": states.tolist(), **self._test_outputs(states)},
        }

    def _test_outputs(self, states: States) -> dict[str, Any]:
        """What the states of the test vector must give."""
        return {"outputs": self.outputs(states).astype(float).round(6).tolist()}

    def test_difference(self) -> float:
        """The largest difference of the outputs from those of the test vector; raises BadPolicy if there is none."""
        test = self.header.get("test")
        if test is None:
            raise BadPolicy(f"{self.name} has no test vector: it was not read from a policy file")
        found = self._test_outputs(np.array(test["states"], dtype=np.uint32))
        return max(float(np.abs(np.array(found[key]) - np.array(test[key])).max()) for key in found)

    @staticmethod
    def load(path: str | Path, variant: Variant | None = None) -> Policy:
        """The policy in a file, or in the folder of a run.

        variant: the game it is to play; by default the one it was trained in. A game with the same inputs and
        outcomes will do (backgammon's policy can play nackgammon). Raises BadPolicy for anything that is not a
        policy of this release's format and inputs, with what to do about it.
        """
        path = policy_file(path)
        tensors, header = read_tensors(path)
        if header.get("format") != FORMAT:
            found = header.get("format")
            raise BadPolicy(f"{path} is no policy of this release: its format is {found!r}, not {FORMAT!r}")
        try:
            return _checked(path, tensors, header, variant)
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, BadPolicy):
                raise
            raise BadPolicy(f"the header of {path} is damaged ({error}): take the file anew from its source") from None


class KindsPolicy(Policy):
    """A policy of two nets: `net` values positions with contact, `race`, a policy of its own, those without."""

    def __init__(
        self, variant: Variant, net: Net, race: Net, kind: str, header: Mapping[str, Any], name: str
    ) -> None:  # fmt: skip
        super().__init__(variant, net, kind, header, name)
        self.race = Policy(variant, race, kind, {}, name)

    @property
    def nets(self) -> dict[str, Net]:
        """See `Policy.nets`."""
        return {"": self.net, RACE_PREFIX: self.race.net}

    def evaluations(self, states: States) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """See `ValueBot.evaluations`; each state by the net of its kind."""
        both = self._by_kind(states, _in_one(super().evaluations), _in_one(self.race.evaluations))
        return both[:, :-1], both[:, -1]

    def outputs(self, states: States) -> NDArray[np.float32]:
        """See `Policy.outputs`; each state by the net of its kind."""
        return self._by_kind(states, super().outputs, self.race.outputs)

    def roll_values(self, states: States) -> NDArray[np.float32]:
        """See `ValueBot.roll_values`; each reply by the net of its kind."""
        return ValueBot.roll_values(self, states)

    def _by_kind(self, states: States, contact: Evaluation, race: Evaluation) -> NDArray[np.float32]:
        """What the function for its kind says of every state."""
        rows = np.ascontiguousarray(states, dtype=np.uint32)
        is_race = races(self.rules, rows)
        if not is_race.any():
            return contact(rows)
        found = race(rows[is_race])
        result = np.empty((len(rows), *found.shape[1:]), np.float32)
        result[is_race], result[~is_race] = found, contact(rows[~is_race])
        return result

    def _test_outputs(self, states: States) -> dict[str, Any]:
        """See `Policy._test_outputs`; what the race net says of the same states besides."""
        return super()._test_outputs(states) | {"race outputs": self.race._test_outputs(states)["outputs"]}


def _in_one(evaluations: Callable[[States], tuple[NDArray[np.float32], NDArray[np.float32]]]) -> Evaluation:
    """Outputs and values as one array f32[M, K + 1]."""
    return lambda states: np.column_stack(evaluations(states))


def policy_of(variant: Variant, nets: Mapping[str, Net], kind: str, header: Mapping[str, Any], name: str) -> Policy:
    """The policy of one net or two, given as `Policy.nets` gives them."""
    if RACE_PREFIX in nets:
        return KindsPolicy(variant, nets[""], nets[RACE_PREFIX], kind, header, name)
    return Policy(variant, nets[""], kind, header, name)


def _checked(
    path: Path, tensors: Mapping[str, NDArray[Any]], header: Mapping[str, Any], variant: Variant | None
) -> Policy:
    """The policy of a file of our format, if its inputs and outcomes fit the game and its weights their shapes."""
    trained = parse_variant(header["variant"])
    variant = variant or trained
    kind, version, digest = (header["inputs"][key] for key in ("kind", "version", "digest"))
    if version != VERSION or digest != layout_digest(trained, kind):
        raise BadPolicy(
            f"{path} was made with version {version} of the inputs ({digest}), which another release has; this "
            f"one has version {VERSION}: train it again, or use the release that made it"
        )
    if digest != layout_digest(variant, kind) or header["outputs"] != output_names(variant):
        raise BadPolicy(
            f"{path} is a policy for {header['variant']} and cannot play {variant_text(variant)}, whose "
            f"inputs or outcomes differ: give one trained in that game"
        )
    number = 1 + NETS.index(header.get("nets", NETS[0]))
    nets = {prefix: _weights(path, tensors, header, variant, prefix) for prefix in ("", RACE_PREFIX)[:number]}
    return policy_of(variant, nets, kind, header, str(path))


def _weights(path: Path, tensors: Mapping[str, Any], header: Mapping[str, Any], variant: Variant, prefix: str) -> Net:
    """A net of a file, with every shape checked."""
    rows = encoding_of(variant, header["inputs"]["kind"]).size
    h1, h2, *h3 = (int(size) for size in header["hidden"])
    sizes = [h1, h2, *h3, len(header["outputs"])]
    shapes: dict[str, tuple[int, ...]] = {"w1": (rows, h1), "b1": (h1,)}
    for i, (below, size) in enumerate(pairwise(sizes), 2):
        shapes |= {f"w{i}": (size, below or h1), f"b{i}": (size,)}
    for name, shape in shapes.items():
        found = tensors.get(prefix + name)
        if found is None or found.shape != shape:
            raise BadPolicy(
                f"{path}: the weights {prefix}{name} are missing or not of shape {shape}; the file is damaged"
            )
    return from_named({name: np.ascontiguousarray(tensors[prefix + name], dtype=np.float32) for name in shapes})


def policy_file(path: str | Path) -> Path:
    """The policy's file: the path itself, or the file in it where it is a run's folder."""
    path = Path(path)
    return path / FILE_NAME if path.is_dir() else path


def load_policy(path: str | Path, variant: Variant | None = None) -> ValueBot:
    """The policy in a file or run folder, of the built-in net (`Policy.load`) or of a user's own (`own_net.py`)."""
    path = policy_file(path)
    if "net" in read_tensors(path)[1]:
        from nardy_rl.agents.own_net import OwnPolicy

        return OwnPolicy.load(path, variant)
    return Policy.load(path, variant)


def pretrained_path(variant: Variant) -> Path | None:
    """The policy that comes with the package for a game, if there is one. Options do not change it.

    Games that differ in their start alone have the same values, and one policy: backgammon's plays nackgammon, too.
    """
    games = chain([variant.id], (game.id for game in VARIANTS.values() if _same_values(game, variant)))
    paths = (Path(__file__).parent / "weights" / f"{game}.safetensors" for game in games)
    return next((path for path in paths if path.is_file()), None)


def _same_values(a: Variant, b: Variant) -> bool:
    """Is a state worth the same in both games, whatever their starts."""
    same = (a.family, a.checkers, rules_of(a)) == (b.family, b.checkers, rules_of(b))
    return same and np.array_equal(score_table(a), score_table(b))


def pretrained_for(variant: Variant) -> Policy | None:
    """The policy that comes with the package for a game, if it can play it: options may change the outcomes."""
    path = pretrained_path(variant)
    try:
        return None if path is None else Policy.load(path, variant)
    except BadPolicy:
        return None


def test_states(variant: Variant, number: int = 8) -> States:
    """A few states of the variant, always the same: those after the openings of the first games of seed 1."""
    from nardy_rl.position import Position

    positions = [Position.opening(variant, seed=1, game=game) for game in range(number)]
    return np.stack([p.plays()[0].state for p in positions])


# ---------------------------------------------------------------------------------------------- files


def write_file(path: Path, data: bytes) -> None:
    """Write a file beside its place and then move it there, so that no reader and no kill ever leaves half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> None:
    """A safetensors file with a JSON header, written atomically."""
    from safetensors.numpy import save

    write_file(path, save(dict(tensors), metadata={"nardy-rl": json.dumps(header, ensure_ascii=False)}))


def read_tensors(path: Path, mapped: bool = False) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Tensors and header of a file written by `write_tensors`; raises BadPolicy with what is wrong with it.

    mapped: the tensors stay in the file and are loaded page by page when they are used, once for all processes; what
    is written to them is not written to the file.
    """
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise BadPolicy(f"there is no policy file {str(path)!r}: name a file or the folder of a run that saved one")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            if mapped:
                tensors = _mapped_tensors(path)
            else:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise BadPolicy(
            f"{path} cannot be read as a policy ({error}): it is truncated or another kind of file"
        ) from None
    if "nardy-rl" not in metadata:
        raise BadPolicy(f"{path} is a safetensors file but no policy of nardy-rl: its header does not say so")
    try:
        header: dict[str, Any] = dict(json.loads(metadata["nardy-rl"]))
    except (ValueError, TypeError) as error:
        raise BadPolicy(f"the header of {path} is damaged ({error}): take the file anew from its source") from None
    return tensors, header


def _mapped_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a safetensors file that has been checked, memory-mapped.

    The layout is https://huggingface.co/docs/safetensors: eight bytes with the length of a header in JSON, which has
    type, shape and place of each tensor; the library itself only reads them into memory.
    """
    types = {"F32": np.float32, "F64": np.float64}
    with path.open("rb") as file:
        begin = 8 + int.from_bytes(file.read(8), "little")
        listed = json.loads(file.read(begin - 8))
    return {
        name: np.asarray(np.memmap(path, types[one["dtype"]], "c", begin + one["data_offsets"][0], tuple(one["shape"])))
        for name, one in listed.items()
        if name != "__metadata__"
    }
