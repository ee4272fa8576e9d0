"""The table of what pays: every combination is trained and measured once, and an interrupted command goes on."""

import pytest

from nardy_rl.experiments import ablation
from nardy_rl.experiments.ablation import SIGNALS, cells, main, results_in, table
from nardy_rl.experiments.config import TrainConfig, config_from

WORDS = [
    "hyper",
    "--against",
    "random",
    "--minutes",
    "0.01",
    "--games",
    "20",
    "--inputs",
    "plain",
    "--widths",
    "8",
    "16-4",
]


def test_each_combination_is_trained_and_measured_once(tmp_path, capsys, monkeypatch):
    file = tmp_path / "results.jsonl"
    words = [*WORDS, "--signals", "TD(0)", "--results", str(file)]
    assert main(words) == 0
    shown = capsys.readouterr().out
    results = results_in(file)
    assert [(r["signal"], r["width"], r["duel_games"]) for r in results] == [("TD(0)", "8", 20), ("TD(0)", "16-4", 20)]
    assert all(r["trained_games"] > 0 and r["used"] >= 0.01 for r in results)
    for result in results:
        assert f"| plain | {result['width']} | {result['ppg']:+.3f} ± {result['se']:.3f} (" in shown
    monkeypatch.setattr(ablation, "measure", lambda cell, games: pytest.fail(f"{cell} was measured again"))
    assert main(words) == 0
    assert capsys.readouterr().out == shown


def test_the_signals_are_settings_that_differ():
    configs = [config_from(None, cell.settings) for cell in cells("hyper", "random", 1, inputs=["plain"], widths=["8"])]
    assert len(set(configs)) == len(SIGNALS)
    default = TrainConfig(minutes=1)
    best = configs[-1]  # the default recipe, but for net, threads, clock, and what is measured
    assert (best.trace, best.td_share, best.generation, best.label_trace) == (
        default.trace, default.td_share, default.generation, default.label_trace,
    )  # fmt: skip


def test_what_is_not_measured_yet_stays_empty():
    wanted = cells("hyper", "random", 1, signals=["TD(0)", "TD(0.5)"], inputs=["plain"], widths=["8"], seeds=[1, 2])
    result = {**wanted[0]._asdict(), "ppg": 0.5, "se": 0.01, "trained_games": 2400}
    assert table([result], wanted).splitlines()[-1] == "| plain | 8 | +0.500 ± 0.010 (2k) |  |"


@pytest.mark.parametrize(
    ("words", "pattern"),
    [
        (["hypre"], "unknown variant 'hypre'"),
        ([*WORDS, "--widths", "8-x"], "setting hidden2='x' must be a whole number"),
        (["hyper", "--against", "nobody"], "nobody"),
    ],
)
def test_bad_words_are_told_before_anything_is_trained(words, pattern, capsys, monkeypatch):
    monkeypatch.setattr(ablation, "measure", lambda cell, games: pytest.fail("it was trained"))
    with pytest.raises(SystemExit):
        main(words)
    assert pattern in capsys.readouterr().err
