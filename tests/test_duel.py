"""Duels: paired games, the same whatever the batch or thread count, and an unbiased adjustment for luck."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.agents.bot import Bot
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.experiments.duel import duel
from nardy_rl.experiments.sequential import SequentialTest
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS, parse_variant

THREE = ("backgammon", "classic", "plakoto")


def same(result):
    """A result without its speed."""
    return replace(result, games_per_s=0.0)


def bots(game, a, b):
    return load_bot(game, a), load_bot(game, b)


@pytest.mark.parametrize("game", THREE)
def test_the_result_does_not_depend_on_threads_or_batches(game):
    a, b = bots(game, "pips", "random")
    judge = load_bot(game, "heuristic")
    first = duel(game, a, b, games=30, seed=7, threads=1, evaluator=judge)
    assert same(first) == same(duel(game, a, b, games=30, seed=7, threads=2, evaluator=judge, batch=8))
    assert same(first) == same(duel(game, a, b, games=30, seed=7, threads=3, evaluator=judge, batch=2))
    assert first.ppg != duel(game, a, b, games=30, seed=8, threads=1, evaluator=judge).ppg


@pytest.mark.parametrize("game", list(VARIANTS))
def test_equal_bots_that_draw_no_lots_score_exactly_nothing(game):
    bot = load_bot(game, "heuristic")
    played = duel(game, bot, bot, games=20, evaluator="none")
    assert played.ppg_raw == 0 and played.se_raw == 0 and played.ppg == 0
    assert played.games == 20 and not played.unfinished


@pytest.mark.parametrize("game", list(VARIANTS))
def test_all_games_can_be_played_out(game):
    played = duel(game, *bots(game, "random", "heuristic"), games=10, evaluator=load_bot(game, "pips"))
    assert played.unfinished == 0 and played.games == 10
    assert played.ppg_raw < 1 and np.isfinite(played.ppg) and np.isfinite(played.se)


@pytest.mark.parametrize("game", list(VARIANTS))
def test_a_bot_that_draws_lots_is_even_with_itself_within_the_error(game):
    bot = load_bot(game, "random")
    played = duel(game, bot, bot, games=600, seed=5, evaluator="none")
    assert 0 < abs(played.ppg_raw) < 4 * played.se_raw
    assert not played.unfinished


@pytest.mark.long
@pytest.mark.parametrize("game", list(VARIANTS))
def test_a_bot_that_draws_some_lots_is_even_with_itself_adjusted_for_luck(game):
    bot = Shifted(game)
    played = duel(game, bot, bot, games=1000, seed=6, evaluator=load_bot(game, "heuristic"))
    assert played.se > 0 and abs(played.ppg) < 4 * played.se and abs(played.ppg_raw) < 4 * played.se_raw


@pytest.mark.parametrize("game", THREE)
def test_adjusted_and_raw_means_agree(game):
    a, b = load_bot(game, "heuristic"), Shifted(game)
    played = duel(game, a, b, games=400, seed=3, evaluator=a)
    assert played.adjusted_by == "heuristic" and played.ppg != played.ppg_raw
    assert abs(played.ppg - played.ppg_raw) < 4 * np.hypot(played.se, played.se_raw)
    assert played.se < 1.02 * played.se_raw  # the multiple is fitted: even poor values do no harm


class Shifted(Bot):
    """The heuristic, but one decision in sixteen is drawn: nearly as strong, and seldom the same game."""

    def __init__(self, game):
        super().__init__(parse_variant(game), "shifted")
        self.inner = load_bot(game, "heuristic")

    def pick(self, states, plays, first, draws):
        chosen = self.inner.pick(states, plays, first, draws)
        drawn = first[:-1] + (draws % np.diff(first).astype(np.uint64)).astype(np.int64)
        return np.where(draws >> np.uint64(33) & np.uint64(15) == 0, drawn, chosen)


class Nonsense:
    """An evaluator whose values are noise, fixed for each state."""

    name = "nonsense"

    def roll_values(self, states):
        seeds = states.astype(np.uint64).sum(axis=1)
        return np.sin(seeds[:, None].astype(np.float64) * (1 + np.arange(21))).astype(np.float32)


def test_a_bad_evaluator_does_no_harm():
    played = duel("classic", *bots("classic", "pips", "random"), games=2000, evaluator=Nonsense())
    assert abs(played.multiple) < 0.1 and played.se < 1.02 * played.se_raw
    assert abs(played.ppg - played.ppg_raw) < 0.5 * played.se_raw


def test_both_games_of_a_pair_have_the_same_start_and_dice():
    seen = {}

    class Watch(Bot):
        parallel = False

        def __init__(self, game, name):
            super().__init__(parse_variant(game), name)

        def pick(self, states, plays, first, draws):
            for state in states:
                position = Position(self.variant, state)
                throw = sum(position.throws)
                seen.setdefault(throw, []).append((position.dice, position.counts.tobytes() if throw == 1 else b""))
            return first[:-1].copy()

    for game in ("backgammon", "snake", "randgammon-1", "classic"):
        seen.clear()
        duel(game, Watch(game, "a"), Watch(game, "b"), games=2, evaluator="none", seed=4)
        assert len(seen) > 20
        for throw, twice in seen.items():
            assert len(twice) in (1, 2) and len(set(twice)) == 1, throw


def test_an_odd_number_of_games_is_rounded_up_and_said():
    played = duel("hyper", *bots("hyper", "random", "random"), games=5, evaluator="none")
    assert played.games == 6 and played.notes == ("5 is odd: 6 games were played, two a pair",)


def test_unfinished_games_count_nothing_and_are_reported():
    played = duel("backgammon", *bots("backgammon", "random", "pips"), games=10, evaluator="none", cap=20)
    assert played.unfinished == 10 and played.ppg == 0 and played.wins == 0
    assert "10 of 10 games were unfinished after 20 plays" in played.notes[0]


def test_progress_reaches_the_end():
    calls = []
    duel(
        "hyper",
        *bots("hyper", "pips", "pips"),
        games=40,
        evaluator="none",
        progress=lambda *c: calls.append(c),
    )
    assert calls[-1] == (40, 40)
    assert all(0 <= done <= total for done, total in calls)


def test_results_as_plain_data():
    data = duel("hyper:cube_cap=1", *bots("hyper:cube_cap=1", "pips", "random"), games=2, evaluator="none").as_dict()
    keys = "variant a b games ppg se ppg_raw se_raw wins unfinished games_per_s"
    assert set(keys.split()) <= set(data)
    assert data["variant"] == "hyper:cube_cap=1" and data["a"] == "pips" and data["ppg"] == data["ppg_raw"]


@pytest.mark.parametrize("numbers", ({"games": 0}, {"games": -2}, {"threads": 0}, {"cap": 0}, {"batch": 0}))
def test_numbers_out_of_range(numbers):
    with pytest.raises(BadOption, match=f"{next(iter(numbers))}=.* at least 1"):
        duel("hyper", *bots("hyper", "pips", "pips"), **numbers)


def test_bots_for_another_game_are_refused():
    with pytest.raises(BadBot, match="'pips' was loaded for classic"):
        duel("sport", load_bot("sport", "pips"), load_bot("classic", "pips"))


def test_a_pick_that_is_no_play_is_refused_with_the_bot_s_name():
    class Astray(Bot):
        def pick(self, states, plays, first, draws):
            return first[1:].copy()  # one past the end

    with pytest.raises(BadBot, match="'astray' picked something that is no play"):
        duel("hyper", Astray(parse_variant("hyper"), "astray"), load_bot("hyper", "pips"), evaluator="none")


def test_the_games_of_a_duel_can_be_taken_for_matches():
    played = duel("backgammon", *bots("backgammon", "heuristic", "random"), games=60, evaluator="none", match=5)
    assert played.match["length"] == 5 and played.match["matches"] % 2 == 0
    assert played.match["games"] <= 60 and played.match["share"] > 0.8


def test_a_duel_stops_when_a_sequential_test_is_decided():
    a, b = bots("hyper", "heuristic", "random")
    results = [
        duel("hyper", a, b, games=4000, evaluator="none", sequential=SequentialTest(0.0, 0.2), threads=threads, batch=n)
        for threads, n in ((1, 512), (2, 64))
    ]
    assert same(results[0]) == same(results[1])
    assert results[0].sequential["verdict"] == "high" and results[0].games < 1000
    assert results[0].games == 2 * results[0].sequential["pairs"] and "too extreme" in results[0].notes[-1]
