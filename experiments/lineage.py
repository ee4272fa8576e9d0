"""How a policy was trained: the chain of commands that train it from random weights, in their order.

A run may begin with another policy (`--init`) or with the labelled positions of other runs (`labels`). Its chain is
then what made those, and its own command. Folders are named `runs/NAME`, whatever they were called where the runs were
made. A policy that comes with the package has its chain in its header, so that a run that began with one still has its
whole chain when that policy has been replaced by another.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nardy_rl.agents.policy import FILE_NAME, Policy, policy_file, pretrained_path, read_tensors
from nardy_rl.errors import BadPolicy, BadRun
from nardy_rl.experiments.config import NOT_LEARNED, TrainConfig, settings_table
from nardy_rl.experiments.runs import CONFIG
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS, parse_variant

SHIPPED = "pretrained"
SOLVE = "solve"
SOLVE_SETTINGS = ("positions", "explore", "seed")  # and the variant
ABSENT = {"generation": 0, "final_hidden": 0, "td_games": 0}
"""What runs did from before there were these settings; their defaults are something else."""


class Step(NamedTuple):
    """One command of a chain: its settings, the folders that it has in the chain, and what it took.

    The settings are kept, not the command: what is the default today may be another tomorrow. `program` is `train`, or
    `solve` for exact labels of a solved game.
    """

    settings: Mapping[str, Any]  # that change what is learned, but for init and labels
    out: str
    init: str = ""
    labels: tuple[str, ...] = ()
    games: int | None = None
    minutes: float | None = None
    program: str = "train"

    @property
    def command(self) -> str:
        """The command: its settings, as far as they are not the default."""
        given = self.settings
        if self.program == SOLVE:
            words = [word for name in SOLVE_SETTINGS for word in (f"--{name}", str(given[name]))]
            return shlex.join(["nardy", "solve", given["variant"], "--labels", self.out, *words])
        words = ["nardy", "train", given["variant"], "--seed", str(given["seed"])]
        for budget in ("minutes", "games"):
            if given[budget]:
                words += [f"--{budget}", f"{given[budget]:.10g}"]
        if self.init:
            words += ["--init", self.init]
        given = dict(given) | {"labels": ",".join(self.labels)}
        for name, default, _ in settings_table():
            value = given.get(name, default)
            if name not in ("variant", "seed", "minutes", "games", "init", *NOT_LEARNED) and value != default:
                words += ["--set", f"{name}={value}"]
        return shlex.join([*words, "--out", self.out])

    def renamed(self, names: Mapping[str, str]) -> Step:
        """The same with other names for folders."""
        out, init, *labels = (names.get(name, name) for name in (self.out, self.init, *self.labels))
        return self._replace(out=out, init=init, labels=tuple(labels))

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the command as it is now."""
        return {"command": self.command} | self._asdict()

    @staticmethod
    def read(data: Mapping[str, Any]) -> Step:
        """What `as_dict` gave."""
        kept = {key: value for key, value in data.items() if key != "command"}
        settings = kept["settings"] if kept.get("program") == SOLVE else ABSENT | kept["settings"]
        return Step(**kept | {"settings": settings, "labels": tuple(kept["labels"])})


class Before(NamedTuple):
    """What there was before a run: kept in its config.json and in the header of its policy."""

    steps: tuple[Step, ...] = ()
    init: str = ""  # the folder that the run's command begins with, as the chain names it
    labels: tuple[str, ...] = ()
    began: Mapping[str, str] | None = None  # game and digest of the shipped policy that the chain began with

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return self._asdict() | {"steps": [step.as_dict() for step in self.steps]}

    @staticmethod
    def read(data: Mapping[str, Any]) -> Before:
        """What `as_dict` gave."""
        steps = tuple(Step.read(step) for step in data["steps"])
        return Before(steps, data["init"], tuple(data["labels"]), data["began"])


class Lineage(NamedTuple):
    """A policy's whole chain, and the shipped policy that it began with, if it did."""

    steps: tuple[Step, ...]
    began: Mapping[str, str] | None


# ---------------------------------------------------------------------------------------------- folders


def _folder(name: str) -> str:
    """A run's folder as chains name it, whatever is before the name and odd in it."""
    return "runs/" + re.sub(r"[^A-Za-z0-9_.-]", "-", name)


def _free(out: str, taken: set[str]) -> str:
    """This folder, with a number if another run has it."""
    number, free = 2, out
    while free in taken:
        free, number = f"{out}-{number}", number + 1
    return free


def joined(lines: Sequence[Sequence[Step]]) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Several chains as one, what they share only once, and the folder of each one's last run in it.

    Runs are the same if all but the folder is. Where two others have the same folder, one gets another.
    """
    steps: list[Step] = []
    last = []
    for line in lines:
        names: dict[str, str] = {}
        for given in line:
            step = given.renamed(names)
            same = next((one for one in steps if one == step._replace(out=one.out)), None)
            names[given.out] = same.out if same else _free(given.out, {one.out for one in steps})
            if same is None:
                steps.append(given.renamed(names))
        last.append(names[line[-1].out])
    return tuple(steps), tuple(last)


# ---------------------------------------------------------------------------------------------- where from


def init_path(init: str, variant: Variant) -> Path:
    """The file or folder that `--init` means: `pretrained` or a game's id is the policy that comes with that game.

    Raises BadRun if none comes with it.
    """
    if init != SHIPPED and init not in VARIANTS:
        return Path(init)
    game = variant if init == SHIPPED else VARIANTS[init]
    path = pretrained_path(game)
    if path is None:
        raise BadRun(f"--init {init}: no policy comes with {game.id}; give a file or a run folder")
    return path


def before_of(settings: Mapping[str, Any], base: Path = Path()) -> Before:
    """What there was before a run with these settings; base: the folder that its relative paths begin in.

    Raises BadRun or BadPolicy if a run that it began with cannot be read any more.
    """
    lines, began = [], None
    init, variant = settings["init"], parse_variant(settings["variant"])
    labels = [name for name in settings.get("labels", "").split(",") if name]
    if init:
        path = base / init_path(init, variant)
        line = lineage_of(path)
        began = line.began
        if init == SHIPPED or init in VARIANTS:
            policy = Policy.load(path)
            began = {"game": policy.variant.id, "digest": policy.digest}
        lines.append(line.steps)
    lines += [lineage_of(base / name).steps for name in labels]
    steps, last = joined(lines)
    return Before(steps, last[0] if init else "", last[1:] if init else last, began)


def lineage_of(path: Path) -> Lineage:
    """The chain of a run folder, finished or not, or of a policy file; raises BadRun or BadPolicy if it is lost."""
    if path.is_dir():
        return _of_run(path)
    if path.name == FILE_NAME and (path.parent / CONFIG).is_file():
        return _of_run(path.parent)
    header = read_tensors(path)[1]
    chain = header.get("chain", [])
    if not chain:  # a run's policy without its folder
        if "settings" not in header:
            raise BadRun(
                f"the header of {path} does not say how the policy was trained, so it has no chain of commands"
            )
        return _of_settings(header["settings"], header.get("before"), path.parent, path.stem, header)
    return Lineage(tuple(Step.read(step) for step in chain), header.get("began"))


def _of_run(folder: Path) -> Lineage:
    try:
        data = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        settings = data["config"]
        if data.get("program") == SOLVE:
            return Lineage((Step(settings, _folder(folder.absolute().name), program=SOLVE),), None)
    except (OSError, ValueError, KeyError, TypeError):
        raise BadRun(
            f"{folder} is no run folder: its {CONFIG} cannot be read, so it has no chain of commands"
        ) from None
    try:
        header = read_tensors(policy_file(folder))[1]
    except BadPolicy:
        header = {}  # its labelled positions may be all that is kept of a run
    out = Path(settings.get("out") or folder)
    parts = folder.absolute().parts
    inside = parts[-len(out.parts) :] == out.parts  # the run was made by this relative path
    base = Path(*parts[: -len(out.parts)]) if inside else folder.parent
    return _of_settings(settings, data.get("before"), base, folder.absolute().name, header)


def _of_settings(
    settings: Mapping[str, Any], before: Mapping[str, Any] | None, base: Path, name: str, header: Mapping[str, Any]
) -> Lineage:
    """The chain of a run by its settings, and by what was kept of what there was before it."""
    past = Before.read(before) if before else before_of(settings, base)
    out = _free(_folder(name), {step.out for step in past.steps})
    kept = {k: value for k, value in (ABSENT | dict(settings)).items() if k not in ("init", "labels", *NOT_LEARNED)}
    if "inputs" in header:
        kept["inputs"] = header["inputs"]["kind"]  # where none were set, those that the game had then
    own = Step(kept, out, past.init, past.labels, header.get("games"), header.get("minutes"))
    return Lineage((*past.steps, own), past.began)


def known_before(config: TrainConfig) -> Before | None:
    """What there was before a run that is about to begin; None if nothing was, or it cannot be told any more."""
    try:
        before = before_of(vars(config))
    except (BadRun, BadPolicy):
        return None  # the run goes on all the same; who wants its chain is told what is missing
    return before if before.steps else None
