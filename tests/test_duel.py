"""Duels: paired games, the same whatever the batch or thread count, and an unbiased adjustment for luck."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.agents.bot import Bot
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.experiments.duel import OPENING_WEIGHTS, duel
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


def test_random_against_itself_is_even_within_the_error():
    bot = load_bot("backgammon", "random")
    played = duel("backgammon", bot, bot, games=2000, evaluator="none")
    assert 0 < abs(played.ppg_raw) < 4 * played.se_raw
    assert 0.45 < played.wins / played.games < 0.55


@pytest.mark.parametrize("game", THREE)
def test_adjusted_and_raw_means_agree(game):
    a, b = load_bot(game, "heuristic"), Shifted(game)
    played = duel(game, a, b, games=400, seed=3, evaluator=a)
    assert played.adjusted_by == "heuristic" and played.ppg != played.ppg_raw
    assert abs(played.ppg - played.ppg_raw) < 4 * np.hypot(played.se, played.se_raw)
    if game != "classic":  # there the paired dice have taken away all luck that the heuristic sees
        assert played.se < 0.95 * played.se_raw


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


def test_a_bad_evaluator_adds_noise_but_no_bias():
    played = duel("classic", *bots("classic", "pips", "random"), games=2000, evaluator=Nonsense())
    assert played.se > played.se_raw
    assert abs(played.ppg - played.ppg_raw) < 4 * np.hypot(played.se, played.se_raw)


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


def test_the_opening_roll_is_one_of_fifteen():
    assert OPENING_WEIGHTS.sum() == pytest.approx(1) and ROLL_WEIGHTS.sum() == pytest.approx(1)
    assert (OPENING_WEIGHTS[ROLLS[:, 0] == ROLLS[:, 1]] == 0).all() and (OPENING_WEIGHTS > 0).sum() == 15


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
