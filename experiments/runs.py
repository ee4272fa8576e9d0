"""Run folders: what a training run leaves on the disk, written so that a kill at any moment loses little.

config.json              the settings, and where the run came from: versions, commit, machine, command
policy.safetensors       the policy so far; loads as a bot (so does the folder)
checkpoint.safetensors   everything needed to go on: weights, moments, counters
labels/NNNN.safetensors  the labelled positions of each generation in the window
history.jsonl            a line now and then: games, minutes, speed, loss, strength
results.json             the table against the baselines, when the run is done
events.out.tfevents.*    the same for TensorBoard
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import States
from nardy_rl.agents.net import Net, from_named, named, output_names
from nardy_rl.agents.policy import read_tensors, write_file, write_tensors
from nardy_rl.errors import BadPolicy, BadRun
from nardy_rl.experiments.config import TrainConfig
from nardy_rl.machine import cores
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant, variant_text

CONFIG, CHECKPOINT, HISTORY, RESULTS, LABELS = (
    "config.json",
    "checkpoint.safetensors",
    "history.jsonl",
    "results.json",
    "labels",
)
CHECKPOINT_FORMAT = "nardy-rl checkpoint 2"
LABELS_FORMAT = "nardy-rl labels 1"


TD, LABEL, FIT, DONE = "td", "label", "fit", "done"  # phases of a run


@dataclasses.dataclass
class Progress:
    """Counters of a run; saved in every checkpoint."""

    games: int = 0
    plays: int = 0
    samples: int = 0
    seconds: float = 0.0  # of training: compilation and evaluation are not counted
    phase: str = TD
    generation: int = 0
    labelled: int = 0  # positions of the present generation
    fitted: int = 0  # positions that the present fit has learned
    fit_from: float = 0.0  # seconds at which it began
    last: bool = False  # does the run end with it
    gated: bool = False  # has it beaten random
    label_speed: float = 0.0  # positions labelled and fitted a second, as measured last
    fit_speed: float = 0.0


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    write_file(path, text.encode())


def provenance() -> dict[str, Any]:
    """Versions, commit, machine and command of this process, for the record."""
    packages: dict[str, str | None] = {}
    for name in ("nardy-rl", "numpy", "numba", "safetensors"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = None
    return {
        "command": " ".join(["nardy", *sys.argv[1:]]),
        "started": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": packages,
        "machine": {"system": platform.platform(), "cpu": cpu_name(), "cores": cores()},
    }


def _commit() -> str | None:
    """The commit of the source tree, with `+` if it has changes; None where it is no checkout."""
    here = Path(__file__).resolve().parent

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(here), *words], capture_output=True, text=True, check=True).stdout

    try:
        return git("rev-parse", "--short", "HEAD").strip() + ("+" if git("status", "--porcelain").strip() else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def cpu_name() -> str:
    """The processor's model name, as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def new_folder(config: TrainConfig, before: Mapping[str, Any] | None = None) -> Path:
    """Make the run's folder; raises BadRun if it is there already or cannot be made.

    before: what there was before the run (`lineage.Before`), to be kept.
    """
    if config.out:
        folder = Path(config.out)
    else:
        stem = f"runs/{variant_text(parse_variant(config.variant)).replace(':', '-')}-s{config.seed}"
        number = 1
        while Path(f"{stem}-{number}").exists():
            number += 1
        folder = Path(f"{stem}-{number}")
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BadRun(
                f"{folder} is there already: go on with  nardy train --resume {folder}  or choose another --out"
            )
        folder.mkdir(parents=True, exist_ok=True)
        kept = {"config": dataclasses.asdict(config), **provenance()} | ({"before": before} if before else {})
        write_text(folder / CONFIG, json.dumps(kept, indent=1))
    except OSError as error:
        raise BadRun(f"cannot write the run folder {str(folder)!r}: {error.strerror}; choose another --out") from None
    return folder


def read_config(folder: Path) -> tuple[TrainConfig, dict[str, Any] | None]:
    """The settings of a run, and what there was before it, if that was kept; raises BadRun if the folder holds none."""
    path = folder / CONFIG
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return TrainConfig(**data["config"]), data.get("before")
    except OSError as error:
        raise BadRun(f"{folder} is no run folder: cannot read {path.name} ({error.strerror})") from None
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, BadRun):
            raise
        raise BadRun(f"{path} is no run's settings ({error}): start the run anew") from None


def read_provenance(folder: Path) -> dict[str, Any]:
    """What `provenance` said when a run began; raises BadRun if the folder does not hold it."""
    try:
        data = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        return {key: data[key] for key in ("command", "started", "commit", "python", "packages", "machine")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadRun(f"{folder} is no run folder: {CONFIG} does not say where it was made ({error})") from None


NETS = ("net", "m", "v", "player", "mean")  # of what is learned: weights, Adam's moments, who plays, the mean
RACE_PART = "race "  # before the names of what is learned by the net for races
FINAL_PART = "final "  # and by the net that the run ends with


def save_checkpoint(
    folder: Path, nets: Mapping[str, Net], steps: Mapping[str, NDArray[np.int64]], progress: Progress
) -> None:
    """Write the checkpoint, atomically. nets: by the names in `NETS`; steps: Adam's, by thread, as "steps".

    With a net for races the same again, with `RACE_PART` before the names, and so while a final net is learned.
    """
    tensors: dict[str, NDArray[Any]] = dict(steps)
    for part, values in nets.items():
        tensors |= {f"{part}.{name}": w for name, w in named(values).items()}
    header = {"format": CHECKPOINT_FORMAT, "progress": dataclasses.asdict(progress)}
    write_tensors(folder / CHECKPOINT, tensors, header)


def load_checkpoint(folder: Path) -> tuple[dict[str, Net], dict[str, NDArray[np.int64]], Progress]:
    """What `save_checkpoint` wrote; raises BadRun if it is not there or not whole."""
    try:
        tensors, header = read_tensors(folder / CHECKPOINT)
        if header.get("format") != CHECKPOINT_FORMAT:
            raise BadRun(f"{folder / CHECKPOINT} has the format {header.get('format')!r}: another release made it")
        kinds = [kind for kind in ("", RACE_PART, FINAL_PART) if f"{kind}steps" in tensors]
        parts: dict[str, dict[str, NDArray[Any]]] = {kind + part: {} for kind in kinds for part in NETS}
        for name, tensor in tensors.items():
            part, dot, weight = name.partition(".")
            if dot:
                parts[part][weight] = tensor.copy()
        nets = {part: from_named(weights) for part, weights in parts.items()}
        steps = {f"{kind}steps": tensors[f"{kind}steps"].copy() for kind in kinds}
        return nets, steps, Progress(**header["progress"])
    except (BadPolicy, KeyError, TypeError) as error:
        raise BadRun(f"cannot go on with {folder}: it has no whole checkpoint ({error})") from None


# ---------------------------------------------------------------------------------------------- labels


def labels_file(folder: Path, generation: int) -> Path:
    """Where a generation's labelled positions are."""
    return folder / LABELS / f"{generation:04d}.safetensors"


def labels_digest(variant: Variant) -> str:
    """A word for what the labels of a game's positions mean: games with the same family and outcomes share it."""
    return hashlib.sha256(repr((variant.family, output_names(variant))).encode()).hexdigest()[:16]


def save_labels(folder: Path, generation: int, positions: tuple[States, NDArray[np.float32]], digest: str) -> None:
    """Write the labelled positions of a generation: states uint32[N, 16] and labels float32[N, K]."""
    states, labels = positions
    header = {"format": LABELS_FORMAT, "outputs": digest}
    write_tensors(labels_file(folder, generation), {"states": states, "labels": labels}, header)


def load_labels(path: Path, digest: str) -> tuple[States, NDArray[np.float32]]:
    """What `save_labels` wrote; raises BadRun if it is not whole or of a game with other outcomes."""
    try:
        tensors, header = read_tensors(path)
        states, labels = tensors["states"], tensors["labels"]
    except (BadPolicy, KeyError) as error:
        raise BadRun(f"cannot read the labelled positions in {path} ({error})") from None
    if header.get("format") != LABELS_FORMAT or header.get("outputs") != digest:
        raise BadRun(f"the labelled positions in {path} are of another game or release: leave them out")
    return states, labels


def label_files(folder: Path) -> list[Path]:
    """The files of labelled positions in a run folder, oldest first."""
    return sorted((folder / LABELS).glob("[0-9]*.safetensors"))


def append_history(folder: Path, line: dict[str, Any]) -> None:
    """Add a line to the history."""
    with (folder / HISTORY).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def cut_history(folder: Path, games: int) -> None:
    """Drop what the history says of games after the checkpoint that a run goes on from."""
    path = folder / HISTORY
    if not path.exists():
        return
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            if json.loads(line)["games"] <= games:
                kept.append(line)
        except (ValueError, KeyError, TypeError):
            continue  # a line cut short by a kill
    write_text(path, "".join(f"{line}\n" for line in kept))
