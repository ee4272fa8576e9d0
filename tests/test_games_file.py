"""Saved games are played again by the rules; results are appended whole; matches take games in their order."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.errors import BadOption, BadPosition, IllegalPlay
from nardy_rl.experiments.duel import duel
from nardy_rl.experiments.games_file import read_games
from nardy_rl.experiments.matches import Matches
from nardy_rl.experiments.paired import Played
from nardy_rl.experiments.results_file import add_result, read_results
from nardy_rl.variants import VARIANTS


@pytest.mark.parametrize("game", list(VARIANTS))
def test_every_saved_game_is_played_again_by_the_rules_and_gives_the_duel_s_result(game, tmp_path):
    a, b = load_bot(game, "heuristic"), load_bot(game, "random")
    played = duel(game, a, b, games=4, seed=2, threads=2, evaluator="none", save_games=tmp_path / "games.jsonl")
    games = list(read_games(tmp_path / "games.jsonl"))
    assert [saved.game for saved in games] == list(range(4))
    total = 0
    for saved in games:
        positions = list(saved.positions())
        assert positions[-1].over and len(positions) > len(saved.plays)
        assert saved.bots == (("random", "heuristic") if saved.game % 2 else ("heuristic", "random"))
        total += saved.points[saved.game % 2]
    assert total / 4 == pytest.approx(played.ppg_raw)
    assert games[0].start == games[1].start
    assert list(tmp_path.iterdir()) == [tmp_path / "games.jsonl"]


def test_a_game_that_was_cut_short_says_so(tmp_path):
    bots = load_bot("backgammon", "random"), load_bot("backgammon", "pips")
    duel("backgammon", *bots, games=2, evaluator="none", cap=20, save_games=tmp_path / "games.jsonl")
    for saved in read_games(tmp_path / "games.jsonl"):
        assert not saved.finished and saved.points == (0, 0) and len(saved.plays) == 20
        assert not list(saved.positions())[-1].over


def test_what_is_written_wrongly_is_refused_with_file_and_line(tmp_path):
    path = tmp_path / "games.jsonl"
    duel("hyper", load_bot("hyper", "pips"), load_bot("hyper", "pips"), games=2, evaluator="none", save_games=path)
    good = next(iter(read_games(path)))
    for change, error, said in (
        ({"plays": (good.plays[0], "66: 1/off(4)", *good.plays[2:])}, IllegalPlay, "line 1"),
        ({"plays": ("77: pass", *good.plays[1:])}, BadPosition, "no throw"),
        ({"plays": good.plays[:-1]}, BadPosition, "ends in"),
        ({"points": (good.points[1], good.points[0])}, BadPosition, "came to"),
        ({"start": "hyper nonsense"}, BadPosition, "line 1"),
        (
            {"plays": (good.plays[0], good.plays[1].partition(": ")[2], *good.plays[2:])},
            (BadPosition, IllegalPlay),
            "line 1",
        ),
    ):
        with pytest.raises(error, match=said):
            list(replace(good, **change).positions())
    path.write_text('{"game": 1}\n')
    with pytest.raises(BadPosition, match="line 1 is no saved game"):
        list(read_games(path))
    with pytest.raises(BadPosition, match="cannot read"):
        list(read_games(tmp_path / "absent"))
    with pytest.raises(BadOption, match="cannot write"):
        duel("hyper", load_bot("hyper", "pips"), load_bot("hyper", "pips"), 2, save_games=tmp_path / "no" / "games")


def test_results_say_where_they_come_from_and_are_appended_whole(tmp_path):
    path = tmp_path / "deep" / "results.jsonl"
    add_result(path, "evaluate", {"ppg": np.float32(0.5), "se": float("nan")})
    with path.open("a") as file:
        file.write('{"kind": "evalu')  # a kill in the middle of a line
    assert len(read_results(path)) == 1
    add_result(path, "other", {"x": 1})
    first, second = read_results(path)
    assert first["result"] == {"ppg": 0.5, "se": None} and second["kind"] == "other"
    assert {"started", "command", "commit", "python", "packages", "machine"} <= set(first)
    assert [line["kind"] for line in read_results(path, "evaluate")] == ["evaluate"]
    path.write_text("[]\n")
    with pytest.raises(BadOption, match="line 1, is no result"):
        read_results(path)
    with pytest.raises(BadOption, match="cannot add"):
        add_result(tmp_path, "evaluate", {})


def test_processes_that_add_at_the_same_time_lose_nothing(tmp_path):
    path = tmp_path / "results.jsonl"
    code = (
        "import sys; from pathlib import Path; from nardy_rl.experiments.results_file import _append\n"
        "for i in range(200): _append(Path(sys.argv[1]), (sys.argv[2] * 500).encode() + b'\\n')"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), mark]) for mark in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    lines = path.read_text().splitlines()
    assert sorted(set(lines)) == ["a" * 500, "b" * 500] and len(lines) == 400


def matches_of(game, length, points):
    """What games with these points come to as matches without the cube."""
    bot = load_bot(game, "random")
    matches = Matches(bot, bot, length, cube=False)
    matches.add(Played(0, points, np.zeros(len(points)), np.ones(len(points), bool)))
    return matches.summary()


def test_matches_take_games_in_their_order():
    points = np.array([1, -1, 2, -3, -1, 1, 3, 2, -2, 3, 1, -1], float)  # six pairs
    match = matches_of("backgammon", 3, points)
    # first match of a: 1 + 2 = 3: won; its pair: -1 - 3: lost. Then -1 + 3: won; 1 + 2: won. Then -2 + 1: not over.
    assert (match["length"], match["cube"], match["drops"]) == (3, False, 0)
    assert (match["matches"], match["games"], match["wins"], match["share"]) == (4, 8, 3, 0.75)
    assert match["se"] == pytest.approx(0.25)
    none = matches_of("backgammon", 25, points)
    assert none["matches"] == 0 and none["share"] is None and none["se"] is None


def test_a_long_match_is_won_by_the_better_player_as_often_as_can_be_reckoned():
    rng = np.random.default_rng(5)
    points = np.where(rng.random(60_000) < 0.6, 1.0, -1.0)
    match = matches_of("classic", 3, points)
    expected = sum(w * 0.6**3 * 0.4**k for k, w in enumerate((1, 3, 6)))
    assert abs(match["share"] - expected) < 4 * match["se"]


def test_the_file_of_results_is_json_lines(tmp_path):
    add_result(tmp_path / "r", "evaluate", {"a": "ნ"})
    assert json.loads((tmp_path / "r").read_text())["result"]["a"] == "ნ"
