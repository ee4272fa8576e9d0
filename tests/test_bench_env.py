"""The benchmark of environments: nothing is timed before it is found equal, and what is measured is said."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from nardy_rl.errors import BadOption, MissingExtra
from nardy_rl.experiments import bench_env, env_peers
from nardy_rl.experiments.bench import Inputs, read_inputs
from nardy_rl.variants import VARIANTS

BACKGAMMON = VARIANTS["backgammon"]


def test_every_named_game_is_measured_alone_and_in_a_batch():
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    said = []
    lines = bench_env.bench_env(["hyper", "classic:bearoff=exact"], seconds=0.01, say=said.append)
    if allowed is not None:
        assert os.sched_getaffinity(0) == allowed
    assert [(line["variant"], line["metric"]) for line in lines] == [
        (game, metric)
        for game in ("hyper", "classic:bearoff=exact")
        for metric in ("vector_decisions_per_s", "env_decisions_per_s")
    ]
    keys = {
        "variant",
        "metric",
        "value",
        "unit",
        "peer",
        "peer_value",
        "ratio",
        "low",
        "high",
        "load",
        "cpu",
        "compile_s",
    }
    assert said and all(keys <= set(line) and 0 < line["low"] <= line["value"] <= line["high"] for line in lines)
    with pytest.raises(BadOption, match="seconds=0"):
        bench_env.bench_env(["hyper"], seconds=0)


def test_a_wrong_count_stops_the_benchmark(monkeypatch):
    inputs = read_inputs(VARIANTS["classic"])
    wrong = Inputs(inputs.variant, inputs.states, inputs.counts.copy())
    wrong.counts[7] += 1
    monkeypatch.setattr(bench_env, "read_inputs", lambda variant: wrong)
    with pytest.raises(AssertionError, match="classic: position 7 has"):
        bench_env.assert_counts(VARIANTS["classic"])


def test_a_game_that_differs_from_the_single_one_stops_the_benchmark(monkeypatch):
    class Other(bench_env.NardyEnv):
        def reset(self, seed=None, options=None):
            return super().reset(seed=None if seed is None else seed + 100, options=options)

    monkeypatch.setattr(bench_env, "NardyEnv", Other)
    with pytest.raises(AssertionError, match="game 0 of the vector environment is not that of the single one"):
        bench_env.assert_same_games(VARIANTS["hyper"])


def test_our_plays_and_points_are_those_of_openspiel_s_games():
    pytest.importorskip("pyspiel")
    turns = env_peers.openspiel_turns(2, seed=5)
    assert bench_env.assert_same_turns(BACKGAMMON, turns, "OpenSpiel", complete=True) == 0
    assert (~np.isnan(turns.points)).sum() == 2 and set(turns.dice.ravel()) == {1, 2, 3, 4, 5, 6}

    def refused(**changed):
        with pytest.raises(AssertionError, match="turn [0-9]+ of OpenSpiel's games"):
            bench_env.assert_same_turns(BACKGAMMON, turns._replace(**changed), "OpenSpiel", complete=True)

    refused(ends=[*turns.ends[:-1], turns.ends[-1] | {b"another"}])
    refused(ends=[set(list(turns.ends[0])[1:]), *turns.ends[1:]])
    refused(points=np.where(np.isnan(turns.points), np.nan, turns.points + 1))
    more = turns._replace(ends=[turns.ends[0] | {b"another"}, *turns.ends[1:]])
    assert bench_env.assert_same_turns(BACKGAMMON, more, "another", complete=False) == 1


def test_openspiel_s_games_are_counted_in_turns():
    pytest.importorskip("pyspiel")
    for rate in (env_peers.openspiel_loop(300, 1), env_peers.openspiel_environment(300, 1)):
        assert rate() > 0 and rate() > 0


@pytest.mark.long
def test_pgx_reaches_all_our_plays():
    pytest.importorskip("pgx")
    pgx = env_peers.Pgx()
    turns = pgx.turns(128, seed=3)
    assert len(turns.dice) > 40
    assert bench_env.assert_same_turns(BACKGAMMON, turns, "pgx", complete=False) <= 3
    assert pgx.turns_per_s(64, 1)(0.5) > 0


def test_without_a_rival_s_package_the_sentence_says_what_to_install(monkeypatch):
    for module, extra, call in (
        ("pgx", "pgx", env_peers.Pgx),
        ("pyspiel", "openspiel", lambda: env_peers.openspiel_turns(1, 1)),
        ("open_spiel.python.rl_environment", "openspiel", lambda: env_peers.openspiel_environment(1, 1)),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtra, match=rf"pip install 'nardy-rl\[{extra}\]'"):
            call()
