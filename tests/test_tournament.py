"""Tournaments: ratings are those of the models, intervals hold the truth, a stopped tournament goes on where it was."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.agents.policy import Policy
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.experiments import tournament as module
from nardy_rl.experiments.cli import run as nardy
from nardy_rl.experiments.results_file import read_results
from nardy_rl.experiments.tournament import elo_ratings, identity, point_ratings, ratings, tournament


def test_points_are_the_ratings_nearest_to_all_differences():
    rng = np.random.default_rng(1)
    d = rng.normal(size=(5, 5))
    d = d - d.T
    r = point_ratings(d)
    i, j = np.triu_indices(5, 1)
    design = np.zeros((len(i) + 1, 5))
    design[np.arange(len(i)), i], design[np.arange(len(i)), j] = 1, -1
    design[-1] = 1  # mean 0
    assert r == pytest.approx(np.linalg.lstsq(design, np.append(d[i, j], 0), rcond=None)[0])


def test_elo_is_bradley_and_terry_s():
    truth = np.array([150.0, 20.0, -170.0])
    chance = 1 / (1 + 10 ** ((truth[None, :] - truth[:, None]) / 400))
    wins = 1e6 * chance * (1 - np.eye(3))
    assert elo_ratings(wins) == pytest.approx(truth, abs=0.1)
    assert np.isfinite(elo_ratings(np.array([[0.0, 10.0], [0.0, 0.0]]))).all()


def test_intervals_hold_the_truth_nearly_always(monkeypatch):
    monkeypatch.setattr(module, "RESAMPLES", 200)
    truth = {"a": 0.2, "b": 0.0, "c": -0.2}
    rng, held = np.random.default_rng(2), []
    for seed in range(60):
        duels = [
            {"a": x, "b": y, "pair_points": truth[x] - truth[y] + rng.normal(0, 0.5, 200), "pair_wins": np.ones(200)}
            for x, y in (("a", "b"), ("a", "c"), ("b", "c"))
        ]
        for row in ratings(list(truth), duels, seed):
            held.append(row["points_low"] <= truth[row["bot"]] <= row["points_high"])
            assert row["elo"] == pytest.approx(0, abs=1e-6)
    assert 0.88 < np.mean(held) < 0.99


def test_a_stopped_tournament_goes_on_where_it_was(tmp_path, monkeypatch):
    file, bots = tmp_path / "results.jsonl", ["heuristic", "pips", "random"]
    whole = tournament("hyper", bots, 60, seed=3, threads=1)
    played = []
    real = module.duel

    def two_only(*args, **kwargs):
        if len(played) == 2:
            raise KeyboardInterrupt
        played.append(args[1:3])
        return real(*args, **kwargs)

    monkeypatch.setattr(module, "duel", two_only)
    with pytest.raises(KeyboardInterrupt):
        tournament("hyper", bots, 60, seed=3, threads=1, results=file)
    assert len(read_results(file)) == 2
    played.clear()
    resumed = tournament("hyper", bots, 60, seed=3, threads=1, results=file)
    monkeypatch.setattr(module, "duel", real)
    assert len(played) == 1 and len(read_results(file)) == 3
    strip = [{k: v for k, v in d.items() if k != "games_per_s"} for d in whole["duels"]]
    assert strip == [{k: v for k, v in d.items() if k != "games_per_s"} for d in resumed["duels"]]
    for a, b in zip(whole["ratings"], resumed["ratings"], strict=True):
        assert a["bot"] == b["bot"] and a["points"] == pytest.approx(b["points"], abs=1e-3) and a["elo"] == b["elo"]
    assert [row["bot"] for row in whole["ratings"]] == bots
    again = tournament("hyper", bots[::-1], 60, seed=3, threads=1, results=file)
    assert len(read_results(file)) == 6  # the other way round: other games, played anew
    assert again["ratings"][0]["bot"] == "heuristic"


def test_another_net_under_the_same_name_is_another_bot():
    bot = load_bot("backgammon", "pretrained")
    assert identity(bot) == identity(load_bot("backgammon", "pretrained")) != bot.name
    other = Policy(bot.variant, bot.net._replace(b1=bot.net.b1 + 1), bot.kind, {}, bot.name)
    assert identity(other) != identity(bot)
    assert identity(load_bot("hyper", "pips")) == "pips"


def test_the_command_prints_ratings_and_json(capsys):
    command = ["tournament", "hyper", "--bots", "pips,random", "--games", "40", "--luck", "none"]
    assert nardy(command) == 0
    table = capsys.readouterr().out
    assert "pips" in table and "Elo" in table and "40 games a duel" in table
    assert nardy([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {"variant", "games", "seed", "duels", "ratings"} == set(data)
    assert data["duels"][0]["a"] == "pips" and "pair_points" not in data["duels"][0]
    assert data["ratings"][0]["points"] == pytest.approx(data["duels"][0]["ppg"] / 2)


@pytest.mark.parametrize("bots", (["pips"], ["pips", "pips"], []))
def test_too_few_bots_or_one_twice(bots):
    with pytest.raises(BadBot, match="two bots or more"):
        tournament("hyper", bots, 10)


def test_luck_by_a_bot_without_values_is_refused():
    with pytest.raises(BadOption, match="no values"):
        tournament("hyper", ["pips", "random"], 10, luck="random")
