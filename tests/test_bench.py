"""Benchmarks: the inputs are sound and counts are compared before anything is timed. Nothing here asserts a speed."""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
import pytest

from nardy_rl.batch import plays
from nardy_rl.board import OUTCOME, OWED
from nardy_rl.errors import BadOption
from nardy_rl.experiments import bench
from nardy_rl.experiments.bench import Inputs, bench_engine, make_inputs, read_inputs, write_inputs
from nardy_rl.lockstep import own_scratch
from nardy_rl.position import Position
from nardy_rl.rules import rules_of
from nardy_rl.starts import start_of
from nardy_rl.variants import VARIANTS, parse_variant


@pytest.mark.parametrize("game", list(VARIANTS))
def test_every_game_has_benchmark_positions_with_the_right_counts(game):
    variant = VARIANTS[game]
    assert (bench.FOLDER / f"{game}.npz").is_file()
    inputs = read_inputs(variant)
    assert len(inputs.states) == bench.INPUTS and (inputs.states[:, OWED] > 0).all()
    assert (np.diff(plays(variant, inputs.states)[1]) == inputs.counts).all()
    for state in inputs.states[::100]:
        position = Position(variant, state)
        assert Position.from_text(position.text) == position


def test_inputs_are_a_function_of_the_seed_and_survive_their_file(tmp_path, monkeypatch):
    variant = parse_variant("hyper")
    once, again = make_inputs(variant, 50, seed=2), make_inputs(variant, 50, seed=2)
    assert (once.states == again.states).all() and (once.counts == again.counts).all()
    assert (once.states != make_inputs(variant, 50, seed=3).states).any()
    write_inputs(once, tmp_path)
    monkeypatch.setattr(bench, "FOLDER", tmp_path)
    kept = read_inputs(variant)
    assert (kept.states == once.states).all() and (kept.counts == once.counts).all()
    assert len(np.unique(once.states, axis=0)) > 40


def test_a_wrong_count_stops_the_benchmark():
    inputs = read_inputs(VARIANTS["classic"])
    wrong = Inputs(inputs.variant, inputs.states, inputs.counts.copy())
    wrong.counts[7] += 1
    with pytest.raises(AssertionError, match="benchmark position 7"):
        bench.assert_equal_counts(wrong, inputs.counts, peers=False)


def test_our_counts_equal_gnubg_s():
    pytest.importorskip("gnubg_nn")
    for game in ("backgammon", "nackgammon"):
        inputs = read_inputs(VARIANTS[game])
        ending = bench.assert_equal_counts(inputs, inputs.counts, peers=True)
        assert ending < 10
        after, _ = plays(game, inputs.states)
        assert (after[:, OUTCOME] > 0).any()


def test_random_games_end_are_the_same_again_and_are_cut_where_they_are_long():
    variant = VARIANTS["plakoto"]

    def plays_of(cap):
        return bench.random_games(rules_of(variant), start_of(variant), np.uint64(1), 0, 20, cap, own_scratch())

    assert plays_of(4000) == plays_of(4000) > 400
    assert plays_of(10) == 20 * 10


def test_a_line_has_the_keys_of_the_command(monkeypatch):
    monkeypatch.setattr(bench, "ROUNDS", 2)
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    said = []
    lines = bench_engine(["backgammon", "classic:bearoff=exact"], peers=True, seconds=0.01, say=said.append)
    assert allowed is None or os.sched_getaffinity(0) == allowed
    keys = {"variant", "metric", "value", "unit", "peer", "peer_value", "ratio", "low", "high", "load", "cpu"}
    assert all(keys <= set(line) and line["low"] <= line["value"] <= line["high"] for line in lines)
    metrics = {"positions_per_s", "afterstates_per_s", "random_games_per_s", "evaluations_per_s"}
    for game in ("backgammon", "classic:bearoff=exact"):
        assert metrics == {line["metric"] for line in lines if line["variant"] == game}
    first = lines[0]
    assert said and first["of_first"] == 1.0 and "compile_s" in first
    if find_spec("gnubg_nn"):
        assert first["peer"] == "gnubg-nn" and first["ratio"] == first["value"] / first["peer_value"]
    assert all(line["peer"] is None for line in lines if line["variant"] != "backgammon")


def test_alternating_rounds_take_turns_and_keep_the_median():
    order = []

    def turn(name, values):
        iterator = iter(values)
        return lambda: order.append(name) or next(iterator)

    measured = bench.alternate(turn("ours", [3.0, 1.0, 2.0]), turn("theirs", [1.0, 4.0, 2.0]), rounds=3)
    assert order == ["ours", "theirs"] * 3
    assert (measured.ours.value, measured.ours.low, measured.ours.high) == (2.0, 1.0, 3.0)
    assert measured.ratio == 1.0
    assert bench.alternate(lambda: 1.0, rounds=1).ratio is None


def test_seconds_must_be_positive():
    with pytest.raises(BadOption, match="seconds=0"):
        bench_engine(["backgammon"], seconds=0)


def test_the_search_is_checked_before_it_is_timed_and_has_a_line_for_each_depth(monkeypatch):
    from nardy_rl.agents import load_bot
    from nardy_rl.agents.search import SearchBot
    from nardy_rl.experiments import bench_search

    monkeypatch.setattr(bench_search, "DECISIONS", 2)
    lines = bench_search.bench_search([VARIANTS["hyper"]], seconds=0.001)
    assert [line["metric"] for line in lines] == [f"decision_ms_{depth}ply" for depth in (0, 1, 2)]
    assert all(line["value"] > 0 and line["unit"] == "ms" and line["rounds"] == bench.ROUNDS for line in lines)
    right = SearchBot.evaluations
    monkeypatch.setattr(
        SearchBot, "evaluations", lambda self, states: (right(self, states)[0], right(self, states)[1] + 1)
    )
    with pytest.raises(AssertionError, match="hyper: the search is off by"):
        bench_search.check_values(load_bot("hyper", "heuristic"), read_inputs(VARIANTS["hyper"]).states[:2])
