"""Luck: what cancels within a pair is left out, the fitted multiple has no bias, the sieve is near the bot's values."""

from __future__ import annotations

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.agents.sieve import FEATURES, Sifted, _list_changes
from nardy_rl.agents.visited import visited
from nardy_rl.batch import plays, rolls, streams, throw
from nardy_rl.board import OUTCOME, OWED, PLAYER, THROWS, TURN
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.experiments.luck import FEW, adjusted, choose_evaluator, multiple, share_explained
from nardy_rl.experiments.paired import Duellists, play_pairs
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS, parse_variant

THREE = ("backgammon", "classic", "plakoto")


def every_luck(who, part):
    """Luck of bot a in each game by the definition, all throws counted, the opening throw and equal ones too."""
    luck = np.zeros(len(part.points))
    counted = set()
    for step in part.plays:
        for game, state in zip(step.games, step.states, strict=True):
            position = Position(who.variant, state)
            number = sum(position.throws)
            if (game, number) in counted:  # the throw goes on
                continue
            counted.add((game, number))
            before = state.copy()
            before[OWED] = 0
            before[THROWS] -= 1
            values = who.evaluator.roll_values(before[None])[0].astype(float)
            high, low = position.dice
            weights = ROLL_WEIGHTS
            if number == 1 and who.variant.opening == "dice":
                weights = np.where(ROLLS[:, 0] == ROLLS[:, 1], 0.0, 1 / 15)
            gain = values[high * (high - 1) // 2 + low - 1] - values @ weights
            luck[game - part.first] += gain if (state[TURN] & PLAYER) == (game & 1) else -gain
    return luck


@pytest.mark.parametrize("game", THREE)
def test_only_luck_that_cancels_within_a_pair_is_left_out(game):
    who = Duellists(parse_variant(game), load_bot(game, "heuristic"), load_bot(game, "pips"), 3, load_bot(game, "pips"))
    for part in play_pairs(who, 12, 1, keep_plays=True):
        brute = every_luck(who, part).reshape(-1, 2).mean(axis=1)
        assert np.abs(brute).max() > 0.01
        assert part.luck.reshape(-1, 2).mean(axis=1) == pytest.approx(brute, abs=1e-6)


def test_the_fitted_multiple_is_the_least_squares_one():
    rng = np.random.default_rng(1)
    luck = rng.normal(size=5000)
    points = 0.3 + 0.4 * luck + 0.1 * rng.normal(size=5000)
    assert multiple(points, luck) == pytest.approx(np.polyfit(luck, points, 1)[0], abs=1e-9)
    values, mean = adjusted(points, luck)
    assert mean == pytest.approx(0.4, abs=0.01) and values.std() == pytest.approx(0.1, abs=0.01)
    assert share_explained(points, luck) > 0.9
    assert multiple(points[: FEW - 1], luck[: FEW - 1]) == 1 and multiple(points, np.zeros(5000)) == 1
    assert adjusted(points[:10], luck[:10])[0] == pytest.approx(points[:10] - luck[:10])


def test_the_fitted_multiple_brings_no_bias_even_with_few_skewed_pairs():
    rng = np.random.default_rng(2)
    luck = rng.exponential(size=(20_000, 30)) - 1  # mean 0, skewed: a multiple fitted to its own pairs would be biased
    points = 0.2 + luck**2 - 1 + 0.5 * luck
    means = [adjusted(p, x)[0].mean() for p, x in zip(points, luck, strict=True)]
    assert abs(np.mean(means) - 0.2) < 4 * np.std(means) / np.sqrt(len(means))
    own = [p.mean() - np.polyfit(x, p, 1)[0] * x.mean() for p, x in zip(points, luck, strict=True)]
    assert abs(np.mean(own) - 0.2) > 10 * np.std(own) / np.sqrt(len(own))  # the test can see such a bias


@pytest.mark.parametrize("game", THREE)
def test_a_sieve_keeps_nearly_all_of_what_the_rolls_are_worth(game):
    bot = load_bot(game, "pretrained")
    states = visited(bot, 150, seed=9, explore=0.0)
    exact, quick = bot.roll_values(states), Sifted(bot, fitted=200).roll_values(states)
    assert (quick <= exact + 2e-3).all()  # the best of fewer plays
    gain = exact - (exact @ ROLL_WEIGHTS)[:, None]
    off = gain - quick + (quick @ ROLL_WEIGHTS)[:, None]
    assert (off**2 @ ROLL_WEIGHTS).mean() < 0.12 * (gain**2 @ ROLL_WEIGHTS).mean()


@pytest.mark.parametrize("game", list(VARIANTS))
def test_a_sieve_works_in_every_game_and_does_not_depend_on_company(game):
    bot = load_bot(game, "heuristic")
    sifted = Sifted(bot, fitted=30)
    states = visited(bot, 40, seed=3)
    assert states.shape == (40, 16) and not states[:, OWED].any() and not states[:, OUTCOME].any()
    together = sifted.roll_values(states)
    assert np.array_equal(together[7:9], sifted.roll_values(states[7:9]))
    assert np.isfinite(together).all() and (together <= bot.roll_values(states) + 1e-5).all()
    assert np.array_equal(together, Sifted(bot, fitted=30).roll_values(states))


@pytest.mark.parametrize("game", list(VARIANTS))
def test_changes_of_a_play_tell_positions_apart(game):
    """Equal lists of changes from one position mean the same board: every feature that differs is listed."""
    variant = parse_variant(game)
    states = visited(load_bot(variant, "random"), 20, seed=4)
    rows = throw(variant, states, rolls(streams(20, 1)))
    after, first = plays(variant, rows)
    at = np.zeros(len(after) + 1, np.int64)
    rules = load_bot(variant, "random").rules
    _list_changes(rules, rows, after, first, np.zeros(0, np.int16), at)
    index = np.zeros(at[-1], np.int16)
    _list_changes(rules, rows, after, first, index, at)
    assert index.min() >= 0 and index.max() < 2 * FEATURES
    for i in range(20):
        seen = {}
        for j in range(first[i], first[i + 1]):
            key = tuple(sorted(index[at[j] : at[j + 1]]))
            board = (
                after[j, :10].tobytes()
                if (after[j, TURN] ^ rows[i, TURN]) & PLAYER
                else b"same" + after[j, :10].tobytes()
            )
            seen.setdefault(key, set()).add(board)
        crowded = [boards for boards in seen.values() if len(boards) > 1]
        assert not crowded or (after[first[i] : first[i + 1], :8].max() >> 3).any()  # more than seven on a point


def test_visited_positions_are_a_function_of_the_seed_and_from_all_stages():
    bot = load_bot("hyper", "heuristic")
    states = visited(bot, 200, seed=5)
    assert np.array_equal(states, visited(bot, 200, seed=5))
    assert not np.array_equal(states, visited(bot, 200, seed=6))
    thrown = (states[:, THROWS] & 0xFFFF) + (states[:, THROWS] >> 16)
    assert thrown.min() < 5 and thrown.max() > 20


OWN = "own@plakoto:start=24:7"  # no policy comes with it


def test_the_evaluator_is_the_shipped_policy_or_none_in_short_duels_and_tried_in_long_ones():
    for game, games, name in (("backgammon", 100, "pretrained"), (OWN, 100, None), (OWN, 2000, None)):
        who = Duellists(parse_variant(game), *(load_bot(parse_variant(game), bot) for bot in ("pips", "random")), 1)
        evaluator, found = choose_evaluator(who, games, 1)
        assert found == name and (evaluator is None) == (name is None)
    who = Duellists(
        parse_variant("backgammon"), load_bot("backgammon", "heuristic"), load_bot("backgammon", "pretrained"), 1
    )
    evaluator, found = choose_evaluator(who, 2000, 2)
    assert found == "pretrained" and isinstance(evaluator, Sifted)
