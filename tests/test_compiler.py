"""The compiler changes nothing: plain Python gives the same answers, and old machine code is never run."""

import importlib
import json
import os
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
    "crazy-gulbar:full_move=whole",
)


def test_plain_python_finds_the_same_plays(tmp_path):
    states = {name: random_decisions(name, 200, seed=6)[::33] for name in (*VARIANTS, *OPTIONS)}
    np.savez(tmp_path / "states.npz", **states)
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLAIN, str(tmp_path / "states.npz")],
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
def chain(tmp_path, monkeypatch):
    """A module, one that it imports and a third that this one imports; and the folders as a fresh process sees them."""
    package = Path(nardy_rl.__file__).parent
    names = ("first", "second", "third")
    files = {name: tmp_path / f"{name}.py" for name in names}
    for name, imported in zip(names, ("from nardy_rl.second import x", "import nardy_rl.third", "x = 1"), strict=True):
        files[name].write_text(imported + "\n")
    nardy_rl_path = [str(package), str(tmp_path)]
    monkeypatch.setattr(nardy_rl, "__path__", nardy_rl_path)
    importlib.invalidate_caches()

    def folder(module):
        for memory in (jit._imports, jit.source_hash, jit.cache_base):
            memory.cache_clear()
        return jit.cache_folder(module)

    yield files, folder
    for memory in (jit._imports, jit.source_hash, jit.cache_base):
        memory.cache_clear()


def test_the_cache_folder_follows_the_sources_that_a_module_imports(chain):
    files, folder = chain
    before = folder("nardy_rl.first")
    assert folder("nardy_rl.first") == before
    for name in files:
        with open(files[name], "a", encoding="utf-8") as file:
            file.write("# another version\n")
        after = folder("nardy_rl.first")
        assert after != before, f"a change of {name} leaves the folder of first as it was"
        before = after


def test_a_change_elsewhere_compiles_nothing_anew(chain):
    files, folder = chain
    before = folder("nardy_rl.third")
    files["first"].write_text("y = 2\n")
    assert folder("nardy_rl.third") == before


def test_every_kernel_depends_on_what_it_is_made_of():
    assert {"nardy_rl.board", "nardy_rl.turns", "nardy_rl.rules", "nardy_rl.variant", "nardy_rl.jit"} <= jit.sources(
        "nardy_rl.plays"
    )


def test_without_a_folder_to_write_to_it_is_a_temporary_one(chain, tmp_path, monkeypatch):
    _, folder = chain
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    assert folder("nardy_rl.first").is_relative_to(tmp_path / "cache")
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    assert not folder("nardy_rl.first").is_relative_to(tmp_path / "file")


def test_kernels_are_cached_in_that_folder():
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pytest.skip("the compiler is off")
    states = random_decisions("classic", 10, seed=1)
    after, _ = plays(with_options(VARIANTS["classic"], {}), states)
    assert len(after) >= 10
    assert any(jit.cache_folder("nardy_rl.lockstep").rglob("lockstep.plays_into*.nbi"))


def test_kernels_of_an_unregistered_module_work_in_every_process(tmp_path):
    file = tmp_path / "loose.py"
    file.write_text("from nardy_rl.jit import kernel\n\n\n@kernel\ndef twice(n):\n    return 2 * n\n")
    load = (
        "from importlib.util import module_from_spec, spec_from_file_location\n"
        f"spec = spec_from_file_location('loose', {str(file)!r})\n"
        "module = module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "assert module.twice(4) == 8\n"
    )
    for _ in range(2):  # the second process would load what the first one kept
        subprocess.run([sys.executable, "-c", load], check=True, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)})


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
