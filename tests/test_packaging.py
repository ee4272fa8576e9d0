"""What is installed: the packages named are those on the disk, and a wheel is whole and works elsewhere."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from nardy_rl import Position
from nardy_rl.agents.policy import pretrained_path
from nardy_rl.variants import VARIANTS

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS = {"nardy_rl": "nardy_rl", "envs": "nardy_rl.envs", "agents": "nardy_rl.agents"} | {
    "experiments": "nardy_rl.experiments"
}
OTHER_PYTHONS = ("3.12", "3.13")

# Run in an installation, from another folder: every part is imported and every game begun, without PyTorch.
TRIAL = """
import importlib.resources, json, sys
import nardy_rl
from nardy_rl import VARIANTS, Position
from nardy_rl.agents import bot, heuristic, net, outside, policy, td
from nardy_rl.experiments import bench, cli, doctor, duel, play, training

assert importlib.resources.files("nardy_rl").joinpath("py.typed").is_file()
plays = {name: len(Position.opening(name, seed=1).plays()) for name in VARIANTS}
policies = [name for name, variant in VARIANTS.items() if policy.pretrained_path(variant)]
print(json.dumps({"file": nardy_rl.__file__, "plays": plays, "policies": policies, "torch": "torch" in sys.modules}))
"""


def sources() -> set[str]:
    """Every Python file of the four folders, as the wheel names it."""
    found = set()
    for folder, package in FOLDERS.items():
        for path in (ROOT / folder).rglob("*.py"):
            found.add(f"{package.replace('.', '/')}/{path.relative_to(ROOT / folder).as_posix()}")
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the sources, so that nothing is left behind in them."""
    version = importlib.metadata.version("setuptools") if importlib.util.find_spec("setuptools") else "0"
    if int(version.partition(".")[0]) < 77:
        pytest.skip("setuptools 77 or newer builds the wheel: pip install -e '.[test]'")
    copy = tmp_path_factory.mktemp("sources")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w", str(out), "."]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next(out.glob("*.whl"))


def test_the_packages_named_are_the_folders_on_the_disk() -> None:
    named = PYPROJECT["tool"]["setuptools"]["packages"]
    mapped = PYPROJECT["tool"]["setuptools"]["package-dir"]
    on_disk = {Path(file).parent.as_posix().replace("/", ".") for file in sources()}
    assert set(named) == on_disk == set(mapped)
    assert {package: folder for folder, package in FOLDERS.items()} == mapped


@pytest.mark.parametrize("folder", ["envs", "agents", "experiments"])
def test_an_upper_folder_refuses_to_be_imported_under_its_bare_name(folder: str) -> None:
    done = subprocess.run([sys.executable, "-c", f"import {folder}"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"ImportError: import nardy_rl.{folder} instead of {folder}" in done.stderr


def test_nothing_in_the_root_is_imported_by_pytest() -> None:
    assert not (ROOT / "conftest.py").exists()
    assert not (ROOT / "tests" / "__init__.py").exists()


def test_all_places_name_the_same_version() -> None:
    version = PYPROJECT["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(rf"^version: {re.escape(version)}$", citation, re.M)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changes, re.M).group(1).rstrip(",") == version  # type: ignore[union-attr]


def test_a_wheel_holds_every_source_the_policies_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert sources() <= names
    assert "nardy_rl/py.typed" in names
    for variant in VARIANTS.values():
        path = pretrained_path(variant)
        assert path is not None and f"nardy_rl/agents/weights/{path.name}" in names
    inside = {name for name in names if ".dist-info/" not in name}
    assert {name.partition("/")[0] for name in inside} == {"nardy_rl"}
    assert not [name for name in inside if "test" in name.lower()]
    entry = next(name for name in names if name.endswith("entry_points.txt"))
    assert "nardy = nardy_rl.experiments.cli:main" in zipfile.ZipFile(wheel).read(entry).decode()


def test_a_wheel_works_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    report = run_trial(sys.executable, tmp_path, environment)
    assert report["file"].startswith(str(tmp_path / "site"))


def run_trial(python: str, folder: Path, environment: dict[str, str] | None = None) -> dict[str, Any]:
    """Run the trial under some Python from a folder; returns what it printed."""
    command = [python, "-W", "error::SyntaxWarning", "-c", TRIAL]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert not report["torch"]
    assert report["plays"] == {name: len(Position.opening(name, seed=1).plays()) for name in VARIANTS}
    assert report["policies"] == list(VARIANTS)
    return report


def find_python(version: str) -> str | None:
    """An interpreter of this version, on the path or among pyenv's."""
    found = shutil.which(f"python{version}")
    others = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}"))
    for candidate in [found, *map(str, others)]:
        if candidate and subprocess.run([candidate, "-c", "import venv"], capture_output=True).returncode == 0:
            return candidate
    return None


@pytest.mark.long
@pytest.mark.parametrize("version", OTHER_PYTHONS)
def test_a_wheel_works_under_another_python_without_torch(wheel: Path, tmp_path: Path, version: str) -> None:
    python = find_python(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    subprocess.run([python, "-m", "venv", str(tmp_path / "env")], check=True)
    pip = [str(tmp_path / "env" / "bin" / "python"), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, "click", "numba", "numpy", "rich", "safetensors"], check=True)
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True)
    report = run_trial(str(tmp_path / "env" / "bin" / "python"), tmp_path)
    assert str(tmp_path / "env") in str(report["file"])
    nardy = str(tmp_path / "env" / "bin" / "nardy")
    for words in (["doctor"], ["evaluate", "plakoto", "--a", "heuristic", "--b", "random", "--games", "100"]):
        done = subprocess.run([nardy, *words, "--json"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
