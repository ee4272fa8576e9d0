"""The table of all variants: every game once, resumable, and nothing of another budget."""

import json

import pytest

from nardy_rl.experiments import bench_variants
from nardy_rl.experiments.bench_variants import COLUMNS, Budget, row
from nardy_rl.experiments.cli import run as main
from nardy_rl.experiments.results_file import read_results

WORDS = ["bench", "variants", "--minutes", "0.02", "--clock", "cpu", "--games", "40"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("variants")
    assert main([*WORDS, "--variant", "hyper", "--out", str(folder), "--json"]) == 0
    return folder


def test_a_game_is_trained_measured_and_drawn(folder, capsys):
    (line,) = read_results(folder / "results.jsonl", "variants")
    result = line["result"]
    assert result["variant"] == "hyper" and result["budget"] == Budget(0.02, "cpu", 1, 40)._asdict()
    assert line["command"].startswith("nardy") and result["trained_games"] > 0
    assert set(result["duels"]) == {"random", "pips", "heuristic", "pretrained"}
    assert result["duels"]["random"]["ppg"] > result["duels"]["heuristic"]["ppg"]
    assert 0.5 < result["heuristic_random"]["wins"] <= 1 and len(result["curve"]["value"]) >= 2
    assert result["play"]["games"] == 40 and 1 < result["play"]["branching"]["mean"] < 100
    cells = row(result)
    assert len(cells) == len(COLUMNS) and cells[0] == "hyper"
    assert f"| {' | '.join(cells)} |" in (folder / "variants.md").read_text()
    assert json.loads((folder / "variants.json").read_text()) == {"results": [result]}
    pytest.importorskip("matplotlib")
    assert (folder / "variants.png").read_bytes()[:4] == b"\x89PNG"


def test_what_is_done_is_not_done_again_and_another_budget_is(folder, monkeypatch, capsys):
    def fails(*_):
        raise AssertionError("measured again")

    before = (folder / "results.jsonl").read_bytes()
    monkeypatch.setattr(bench_variants, "measure", fails)
    assert main([*WORDS, "--variant", "hyper", "--out", str(folder), "--json"]) == 0
    assert [r["variant"] for r in json.loads(capsys.readouterr().out)["results"]] == ["hyper"]
    assert (folder / "results.jsonl").read_bytes() == before
    with pytest.raises(AssertionError, match="measured again"):
        main([*WORDS, "--seed", "2", "--variant", "hyper", "--out", str(folder), "--json"])


def test_a_run_that_was_stopped_goes_on(tmp_path, monkeypatch, folder):
    given = []
    monkeypatch.setattr(bench_variants, "train", lambda *a, **k: given.append(a) or {"run": "x"})
    from nardy_rl.variants import parse_variant

    stopped = tmp_path / "hyper"
    stopped.mkdir()
    (stopped / "checkpoint.safetensors").write_bytes(b"")
    bench_variants._trained(parse_variant("hyper"), Budget(1, "cpu", 1, 2), tmp_path, None)
    assert given == [(None, stopped, None)]


def test_unknown_games_and_benchmarks_get_a_sentence(capsys):
    assert main(["bench", "variants", "--variant", "hiper"]) == 2
    assert "did you mean" in capsys.readouterr().err
    assert main(["bench", "variant"]) == 2
    assert "did you mean 'variants'" in capsys.readouterr().err
