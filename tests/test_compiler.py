"""The compiler changes nothing: plain Python gives the same answers, and old machine code is never run."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nardy_rl
from nardy_rl import jit
from nardy_rl.batch import plays
from nardy_rl.experiments.compare import random_decisions
from nardy_rl.options import with_options
from nardy_rl.variants import VARIANTS

# Run by an interpreter with the compiler off: the plays of the states of a file, as text.
PLAIN = """
import json, sys
import numpy as np
from numba import config
from nardy_rl.batch import plays
from nardy_rl.variants import parse_variant
assert config.DISABLE_JIT
found = {}
with np.load(sys.argv[1]) as states:
    for name in states.files:
        after, first = plays(parse_variant(name), states[name])
        found[name] = [first.tolist(), after.tolist()]
print(json.dumps(found))
"""
OPTIONS = (
    "caucasian:bound_off=play",
    "caucasian:bound_hide=end",
    "classic:block=sport",
    "classic:last_throw=true",
)


def test_plain_python_finds_the_same_plays(tmp_path):
    states = {name: random_decisions(name, 200, seed=6)[::33] for name in (*VARIANTS, *OPTIONS)}
    np.savez(tmp_path / "states.npz", **states)
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PLAIN, str(tmp_path / "states.npz")],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    for name, rows in states.items():
        after, first = plays(name, rows)
        assert found[name][0] == first.tolist(), name
        assert found[name][1] == after.tolist(), name


# ------------------------------------------------------------------------------------------ the disk cache


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """The package's sources in another folder, where `jit` looks for them."""
    here = Path(nardy_rl.__file__).parent
    shutil.copytree(here, tmp_path / "nardy_rl", ignore=shutil.ignore_patterns("__pycache__", "experiments"))
    if (here.parent / "agents").is_dir():
        shutil.copytree(here.parent / "agents", tmp_path / "agents", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(nardy_rl, "__file__", str(tmp_path / "nardy_rl" / "__init__.py"))
    return tmp_path


def test_the_cache_folder_is_named_after_all_kernel_sources(copied, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(copied / "cache"))
    seen = {jit._cache_folder()}
    assert jit._cache_folder() in seen
    for name in ("board", "turns", "plays", "rules", "variant"):
        with open(copied / "nardy_rl" / f"{name}.py", "a", encoding="utf-8") as file:
            file.write("# another version\n")
        seen.add(jit._cache_folder())
    assert len(seen) == 6
    assert all(Path(folder).is_relative_to(copied / "cache") for folder in seen)


def test_the_folder_of_last_resort_is_named_after_them_too(copied, monkeypatch):
    (copied / "file").write_text("not a folder")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(copied / "file"))
    before = jit._cache_folder()
    assert not Path(before).is_relative_to(copied / "file")
    with open(copied / "nardy_rl" / "board.py", "a", encoding="utf-8") as file:
        file.write("# another version\n")
    assert jit._cache_folder() != before


def test_kernels_are_cached_in_that_folder():
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pytest.skip("the compiler is off")
    random_decisions("classic", 10, seed=1)
    after, _ = plays(with_options(VARIANTS["classic"], {}), random_decisions("classic", 10, seed=1))
    assert len(after) >= 10
    assert any(Path(jit.CACHE_FOLDER).rglob("batch.plays_into*.nbi"))


@pytest.mark.parametrize("mask", [1, 2, 3, 0x80, 0x1FFFFFE, 0xFFFFFFFF, 0x12345678])
def test_the_bit_tricks_are_what_they_say(mask):
    assert bit_tricks(np.int64(mask)) == (
        (mask & -mask).bit_length() - 1,
        mask.bit_length() - 1,
        mask.bit_count(),
        int(f"{mask:032b}"[::-1], 2),
    )


@jit.kernel
def bit_tricks(mask):
    return jit.lowest(mask), jit.highest(mask), jit.popcount(mask), jit.reverse32(mask)
