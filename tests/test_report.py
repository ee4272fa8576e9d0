"""Reports of training runs: seeds are put together with an interval, what is told is what the runs' files say."""

from __future__ import annotations

import builtins
import json
import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from nardy_rl.errors import BadRun, MissingExtra
from nardy_rl.experiments.cli import run as nardy
from nardy_rl.experiments.report import band, groups_of, read_run, write_report

SETTINGS = {"variant": "hyper", "seed": 1, "threads": 1, "out": "", "inputs": "patterns", "strength_games": 100}


def make_run(folder: Path, strengths, final=None, **settings) -> Path:
    """A run's folder: strengths are (games, minutes, points a game, standard error)."""
    folder.mkdir(parents=True)
    config = {"config": SETTINGS | settings, "command": f"nardy train {folder.name}", "commit": "abc1234"}
    (folder / "config.json").write_text(json.dumps(config | {"started": "2026-01-01", "machine": {"cpu": "a cpu"}}))
    lines = []
    for games, minutes, ppg, se in strengths:
        place = {"games": games, "minutes": minutes}
        lines.append(place | {"strength_ppg_heuristic": ppg, "strength_se_heuristic": se})
        lines.append(place | {"loss_value_rms": 1 / games, "speed_games_per_s": games / minutes})
    (folder / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"games": 1')
    if final is not None:
        duels = [{"b": name, "ppg": ppg, "se": se, "games": 100} for name, ppg, se in final]
        (folder / "results.json").write_text(json.dumps({"results": duels}))
    return folder


@pytest.fixture
def runs(tmp_path):
    return [
        make_run(tmp_path / "a1", [(100, 1, 0.1, 0.01), (300, 3, 0.3, 0.01)], [("random", 1.0, 0.02)]),
        make_run(tmp_path / "a2", [(200, 1, 0.4, 0.01), (400, 3, 0.6, 0.01)], [("random", 1.2, 0.02)], seed=2),
        make_run(tmp_path / "b", [(100, 1, -0.1, 0.05), (300, 2, 0.0, 0.05)], inputs="plain", strength_games=7),
    ]


def test_runs_that_differ_in_the_seed_only_are_one_group(runs):
    groups = groups_of([read_run(folder) for folder in runs])
    assert [(group.label, len(group.runs)) for group in groups] == [("inputs=patterns", 2), ("inputs=plain", 1)]
    assert groups_of([read_run(runs[0])])[0].label == "hyper"


def test_a_band_is_the_mean_over_the_seeds_with_its_error_where_all_have_been(runs):
    first, second = groups_of([read_run(folder) for folder in runs])
    mean = band(first, "strength_ppg_heuristic", "games")
    assert mean.x.tolist() == [200, 300]
    assert mean.mean == pytest.approx([(0.2 + 0.4) / 2, (0.3 + 0.5) / 2])
    assert mean.error == pytest.approx([0.1, 0.1])  # half of 0.2: the seeds differ by more than the duels' own error
    assert band(second, "strength_ppg_heuristic", "minutes").error == pytest.approx([0.05, 0.05])
    assert not len(band(second, "absent", "games").x)
    assert math.isnan(band(second, "loss_value_rms", "games").error[0])


def test_equal_seeds_keep_the_error_of_their_duels(tmp_path):
    twice = [make_run(tmp_path / f"r{i}", [(100, 1, 0.2, 0.04)], seed=i) for i in (1, 2)]
    assert band(groups_of([read_run(f) for f in twice])[0], "strength_ppg_heuristic", "games").error == pytest.approx(
        [0.04 / np.sqrt(2)]
    )


def test_a_strength_goes_on_to_the_duel_at_the_end(tmp_path):
    run = read_run(make_run(tmp_path / "r", [(100, 1, 0.2, 0.04)], [("heuristic", 0.5, 0.03), ("pips", 1.0, 0.02)]))
    curve = run.curve("strength_ppg_heuristic")
    assert curve.value.tolist() == [0.2, 0.5] and curve.error.tolist() == [0.04, 0.03]
    assert curve.games.tolist() == [100, 100]


def test_the_report_has_pictures_and_says_what_the_runs_say(runs, tmp_path, capsys):
    assert nardy(["report", *map(str, runs), "--out", str(tmp_path / "out"), "--format", "both", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    patterns, plain = data["games"][0]["groups"]
    assert patterns["final"] == [
        {"label": "inputs=patterns", "opponent": "random", "ppg": pytest.approx(1.1), "se": pytest.approx(0.1)}
        | {"games": 200, "seeds": 2}
    ]
    assert plain["final"] == [] and not plain["runs"][0]["done"]
    names = {Path(file).name for file in data["pictures"]}
    assert names == {f"hyper-{kind}.{form}" for kind in ("strength", "final", "learning") for form in ("svg", "png")}
    for file in data["pictures"]:
        if file.endswith("svg"):
            texts = "".join(ElementTree.fromstring(Path(file).read_text()).itertext())
            assert "inputs=patterns (2 seeds)" in texts and ("inputs=plain" in texts or "final" in file)
        else:
            assert Path(file).read_bytes().startswith(b"\x89PNG")
    text = Path(data["report"]).read_text()
    assert "| inputs=patterns | random | +1.100 ± 0.100 | 2 | 200 |" in text
    assert "a1" in text and "`nardy train a1`" in text and "abc1234" in text and "a cpu" in text
    assert "(not done)" in text and all(name in text for name in names if name.endswith("svg"))


def test_the_same_runs_give_the_same_files(runs, tmp_path):
    once, again = (write_report(runs, tmp_path / name, ("svg",)) for name in ("x", "y"))
    for a, b in zip(once["pictures"], again["pictures"], strict=True):
        assert Path(a).read_bytes() == Path(b).read_bytes()


def test_a_run_that_has_just_begun_can_be_reported(tmp_path):
    folder = make_run(tmp_path / "r", [])
    written = write_report([folder], tmp_path / "out")
    assert written["pictures"] == [] and written["games"][0]["groups"][0]["runs"][0]["games"] == 0


def test_folders_that_are_no_runs_are_refused(tmp_path, runs):
    with pytest.raises(BadRun, match="no run folder"):
        read_run(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BadRun, match="can be read"):
        read_run(tmp_path)
    (tmp_path / "taken").write_text("")
    with pytest.raises(BadRun, match="cannot write"):
        write_report(runs, tmp_path / "taken")


def test_without_matplotlib_it_says_what_to_install(runs, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"nardy-rl\[plot\]"):
        write_report(runs, tmp_path / "out")
