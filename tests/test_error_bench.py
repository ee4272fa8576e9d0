"""Rollouts agree with exact values, and an error benchmark says what choices lose, survives a stop, and is checked."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.agents.bot import Bot
from nardy_rl.agents.sieve import Sifted
from nardy_rl.agents.visited import visited
from nardy_rl.batch import plays
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.experiments import error_bench as module
from nardy_rl.experiments.cli import run as nardy
from nardy_rl.experiments.error_bench import BuildSettings, build, score
from nardy_rl.experiments.errors_file import FOLDER, benchmark_for, read_benchmark, write_benchmark
from nardy_rl.experiments.rollout import rollout
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS

SMALL = BuildSettings(positions=12, trials=36, throws=2, seed=3)


@cache
def exact(text):
    """Points for player 0 of a race, by looking through all rolls and plays."""
    position = Position.from_text(text)
    if position.over:
        return position.score(0)
    if not position.owes:
        return sum(
            w * exact(position.throw(int(a), int(b)).text) for w, (a, b) in zip(ROLL_WEIGHTS, ROLLS, strict=True)
        )
    values = [exact(after.text) for after in position.plays()]
    best = max if position.player == 0 else min
    return best(values)


@pytest.mark.parametrize("layout", ("off:2 5:1 | off:2 6:1 | turn=0", "off:2 11:1 | off:2 13:1 | turn=1 starter=1"))
def test_a_rollout_comes_to_the_exact_value_and_says_how_near_it_is(layout):
    position = Position.from_text(f"hyper {layout}")
    bot = load_bot("hyper", "pips")  # a single checker has to run, so every bot plays alike
    got = rollout(bot, load_bot("hyper", "heuristic"), position.state[None], 36 * 40, threads=2)
    truth = exact(position.text) * (1 if position.player == 0 else -1)
    assert abs(got.points[0] - truth) < 4 * got.error[0] + 1e-9 and got.error[0] < 0.05


def test_a_rollout_of_one_throw_is_the_mean_of_the_best_replies():
    bot = load_bot("plakoto", "heuristic")
    states = visited(bot, 6, seed=2)
    got = rollout(bot, bot, states, 36, throws=1)
    assert got.points == pytest.approx(bot.throw_values(states), abs=1e-4)


def test_rollouts_do_not_depend_on_threads_or_company():
    bot = load_bot("backgammon", "heuristic")
    states = visited(bot, 5, seed=2, decisions=True)
    together = rollout(bot, bot, states, 36, seed=7, throws=3, threads=2)
    alone = [rollout(bot, bot, states[i : i + 1], 36, seed=7, throws=3, threads=1) for i in range(5)]
    assert together.points == pytest.approx([one.points[0] for one in alone], abs=1e-9)
    assert (together.error > 0).all()


def test_adjusting_for_luck_makes_a_rollout_more_exact_without_moving_it():
    bot = load_bot("backgammon", "pretrained")
    states = visited(bot, 3, seed=5)

    class Nothing:
        def roll_values(self, some):
            return np.zeros((len(some), 21), np.float32)

    plain, adjusted = rollout(bot, Nothing(), states, 180), rollout(bot, Sifted(bot), states, 180)
    assert (adjusted.error < 0.6 * plain.error).all()
    assert (abs(adjusted.points - plain.points) < 4 * np.hypot(plain.error, adjusted.error)).all()


@pytest.mark.parametrize("game", list(VARIANTS))
def test_decisions_are_states_with_several_plays_even_where_a_game_waits_for_ever(game):
    bot = load_bot(game, "heuristic")
    states = visited(bot, 20, seed=1, decisions=True)
    assert (np.diff(plays(game, states)[1]) > 1).all() and states.shape == (20, 16)


class Worst(Bot):
    """Takes the play that the benchmark says loses most, or the best one."""

    def __init__(self, benchmark, variant, pick_of):
        super().__init__(variant, "looks up")
        self.benchmark, self.pick_of = benchmark, pick_of

    def pick(self, states, plays, first, draws):
        return first[:-1] + np.array(
            [
                self.pick_of(self.benchmark.loss[a:b])
                for a, b in zip(self.benchmark.first, self.benchmark.first[1:], strict=False)
            ]
        )


@pytest.mark.parametrize("game", ("hyper", "plakoto-express", "crazy-v1"))
def test_scores_are_what_the_benchmark_says(game, tmp_path):
    bot = load_bot(game, "heuristic")
    made = build(bot, tmp_path / "e.npz", SMALL, threads=1)
    assert list(tmp_path.iterdir()) == [tmp_path / "e.npz"]
    assert made.about["player"] == "heuristic" and made.about["throws"] == 2 and len(made.states) == 12
    best = score(Worst(made, bot.variant, np.argmin), made)
    worst = score(Worst(made, bot.variant, np.argmax), made)
    assert best["loss"] == 0 and best["best"] == 1 and best["se"] == 0
    most = [made.loss[a:b].max() for a, b in zip(made.first, made.first[1:], strict=False)]
    assert worst["loss"] == pytest.approx(np.mean(np.array(most, float))) and worst["loss"] > 0.01
    own, drawn = score(bot, made), score(load_bot(game, "random"), made)
    assert 0 <= own["loss"] < drawn["loss"]
    assert {"variant", "bot", "positions", "loss", "se", "best", "blunders", "seconds", "player", "digest"} <= set(own)


def test_a_stopped_build_goes_on_and_one_can_be_made_larger(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PORTION", 5)
    bot, few = load_bot("hyper", "heuristic"), replace(SMALL, positions=7)
    whole = build(bot, tmp_path / "whole.npz", SMALL)
    real, calls = module._portion, []

    def stopping(*args):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(module, "_portion", stopping)
    with pytest.raises(KeyboardInterrupt):
        build(bot, tmp_path / "again.npz", few)
    assert len(read_benchmark(tmp_path / "again.npz").states) == 5
    first = build(bot, tmp_path / "again.npz", few)
    assert len(first.states) == 7 and len(calls) == 3
    again = build(bot, tmp_path / "again.npz", SMALL)
    assert again.about["digest"] == whole.about["digest"] != first.about["digest"]
    assert len(calls) == 5  # the rest of a portion of five, and two positions more
    assert len(build(bot, tmp_path / "again.npz", few).states) == 12 and len(calls) == 5
    with pytest.raises(BadOption, match="seed 3, not 4"):
        build(bot, tmp_path / "again.npz", replace(SMALL, seed=4))
    with pytest.raises(BadOption, match="player heuristic, not pips"):
        build(load_bot("hyper", "pips"), tmp_path / "again.npz", SMALL)


def test_the_command_builds_and_scores(tmp_path, capsys):
    file = str(tmp_path / "e.npz")
    small = ["--positions", "6", "--trials", "36", "--throws", "1", "--seed", "1"]
    assert nardy(["errors", "hyper", "--bot", "pips", "--build", file, *small, "--json"]) == 0
    built = json.loads(capsys.readouterr().out)
    assert built["positions"] == 6 and built["bot"] == "pips"
    made, meant = read_benchmark(file), BuildSettings(trials=36, throws=1)
    assert {name: made.about[name] for name in meant.as_about()} == meant.as_about()
    assert made.rolled.sum() > 2 * len(made.states)
    assert nardy(["errors", "hyper", "--bot", "random", "--file", file]) == 0
    assert "rolled out by pips" in capsys.readouterr().out
    assert nardy(["errors", "hyper", "--bot", "pips"]) == 2
    assert "no error benchmark comes with hyper" in capsys.readouterr().err


@pytest.mark.parametrize("game", sorted(file.stem for file in FOLDER.glob("*.npz")))
def test_the_benchmarks_in_the_package_tell_players_apart(game):
    made = benchmark_for(VARIANTS[game])
    loss = {name: score(load_bot(game, name), made)["loss"] for name in ("pretrained", "heuristic", "random")}
    assert loss["pretrained"] < loss["random"] / 3 and loss["heuristic"] < loss["random"] / 3


def test_what_is_no_benchmark_is_refused(tmp_path):
    bot = load_bot("hyper", "pips")
    made = build(bot, tmp_path / "e.npz", BuildSettings(positions=3, trials=36, throws=1))
    arrays = {name: getattr(made, name) for name in ("states", "first", "key", "loss", "rolled")}
    write_benchmark(
        tmp_path / "odd.npz", arrays | {"key": made.key + np.uint64(1)}, {"variant": "hyper", "player": "x"}
    )
    with pytest.raises(BadOption, match="other plays"):
        score(bot, read_benchmark(tmp_path / "odd.npz"))
    (tmp_path / "none.npz").write_bytes(b"nothing")
    data = bytearray((tmp_path / "e.npz").read_bytes())
    for at in range(len(data) // 3, len(data) // 3 + 60):
        data[at] ^= 255
    (tmp_path / "broken.npz").write_bytes(bytes(data))
    for name in ("none.npz", "broken.npz", "absent.npz"):
        with pytest.raises(BadOption):
            read_benchmark(tmp_path / name)
    with pytest.raises(BadOption, match="not of classic"):
        benchmark_for(VARIANTS["classic"], tmp_path / "e.npz")
    with pytest.raises(BadBot, match="does not value"):
        build(load_bot("hyper", "random"), tmp_path / "r.npz", SMALL)
    with pytest.raises(BadOption, match="two trials"):
        rollout(bot, bot, made.states, 1)
