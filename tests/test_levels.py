"""Levels: a bot weakened by noise of a known size, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.agents.bot import LEVELS as NAMES
from nardy_rl.agents.bot import all_plays
from nardy_rl.agents.levels import LEVELS, LevelBot, blur
from nardy_rl.board import OUTCOME
from nardy_rl.errors import BadBot
from nardy_rl.experiments.duel import duel
from nardy_rl.experiments.error_bench import score
from nardy_rl.experiments.errors_file import benchmark_for
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS


def thrown(game, number=50):
    """States with all their plays, as a bot is asked about them."""
    states = np.stack([Position.opening(game, seed=2, game=i).state for i in range(number)])
    return states, *all_plays(load_bot(game, "pips").rules, states)


def test_the_noise_is_normal_of_the_stated_size_and_spares_results():
    states, plays, first = thrown("backgammon", 400)
    plays = plays.copy()
    plays[::7, OUTCOME] = 1
    values = np.zeros(len(plays), np.float32)
    blur(states, plays, first, np.arange(400, dtype=np.uint64), 0.5, values)
    assert (values[::7] == 0).all()
    noise = values[plays[:, OUTCOME] == 0]
    assert abs(noise.mean()) < 0.02 and abs(noise.std() - 0.5) < 0.02
    assert abs((np.abs(noise) < 0.5).mean() - 0.6827) < 0.02
    assert len(np.unique(noise)) > 0.99 * len(noise)


def test_no_noise_is_the_bot_itself_and_the_same_bits_give_the_same_plays():
    bot = load_bot("backgammon", "pips")
    states, plays, first = thrown("backgammon")
    plays, draws = plays.copy(), np.arange(len(states), dtype=np.uint64)
    exact = LevelBot(bot, 0.0, "exact").pick(states, plays, first, draws)
    assert (exact == bot.pick(states, plays, first, draws)).all()
    club = load_bot("backgammon", "pips:beginner")
    first_time = club.pick(states, plays, first, draws)
    assert (first_time == club.pick(states, plays, first, draws)).all()
    assert (first_time != exact).any()
    assert (first_time != club.pick(states, plays, first, draws + np.uint64(1))).any()
    assert (club.values(plays) == bot.values(plays)).all()


def test_a_duel_with_a_level_does_not_depend_on_the_threads():
    a, b = load_bot("hyper", "heuristic:club"), load_bot("hyper", "heuristic")
    one, two = (duel("hyper", a, b, 200, 3, threads, "none") for threads in (1, 2))
    assert one.ppg == two.ppg and one.wins == two.wins


@pytest.mark.parametrize("game", ["backgammon", "classic", "plakoto"])
def test_levels_lose_more_the_lower_they_are(game):
    """By the error benchmark: the best is the policy, then master, club and beginner, each at least a tenth apart."""
    benchmark = benchmark_for(VARIANTS[game], None)
    names = ["pretrained", "pretrained:master", "pretrained:club", "pretrained:beginner"]
    losses = [score(load_bot(game, name), benchmark, 1)["loss"] for name in names]
    assert all(1.1 * better < worse for better, worse in zip(losses, losses[1:], strict=False)), losses


def test_levels_stack_on_other_bots_and_are_named():
    assert tuple(LEVELS) == NAMES
    assert load_bot("backgammon", "pips+bearoff:club").name == "pips+bearoff:club"
    with pytest.raises(BadBot, match="no values to blur"):
        load_bot("backgammon", "random:club")
    with pytest.raises(BadBot, match="'expert' is no level: levels are beginner, club, master"):
        load_bot("backgammon", "pips:expert")
    with pytest.raises(BadBot, match="'club' must stand at the end"):
        load_bot("backgammon", "pips:club@1ply")
    with pytest.raises(BadBot, match="pips:club has a level already"):
        load_bot("backgammon", "pips:club:master")
