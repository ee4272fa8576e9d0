"""The run file of the documentation gives the table that is printed beside it, and the comparison can fail."""

import importlib.util
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SPEC = importlib.util.spec_from_file_location("small_run", ROOT / "tools" / "small_run.py")
small_run = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(small_run)


def test_the_small_run_gives_the_table_of_the_page(tmp_path):
    assert tomllib.loads(small_run.RUN_FILE.read_text())["threads"] == 1
    present = small_run.table(small_run.results(tmp_path / "run"))
    assert small_run.agree(present, small_run.printed()), f"python tools/small_run.py writes the table anew:{present}"
    assert set(small_run.values(present)) == set(small_run.OPPONENTS)


@pytest.mark.parametrize("change", [("+0.1", "+0.2"), ("random", "pips")])
def test_tables_that_differ_do_not_agree(change):
    row = {"b": "random", "ppg": 0.1, "se": 0.01, "games": 1000}
    ours = small_run.table([row])
    assert small_run.agree(ours, ours)
    theirs = ours.replace(*change)
    assert not small_run.agree(ours, theirs)
    elsewhere = theirs.replace(small_run.compiled_for(), "Compiled for another processor.")
    assert not small_run.agree(ours, elsewhere)
    assert small_run.agree(ours, ours.replace("+0.1000", "+0.1100").replace(small_run.compiled_for(), ""))
    assert not small_run.agree(ours, ours.replace("+0.1000", "+0.1001"))
