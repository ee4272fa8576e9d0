"""Positions as they are met in play: what a fit, a benchmark of errors or a picture of a game is made from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, States, all_plays
from nardy_rl.batch import over, owing, rolls, starts, streams, throw

GAMES = 64  # games in lockstep
CAP = 1000  # plays after which a game is left: in some both sides can be shut in for ever


def visited(
    bot: Bot, number: int, seed: int = 1, explore: float = 0.1, every: int = 4, decisions: bool = False
) -> States:
    """`number` states uint32[number, 16] from games that a bot plays against itself; a function of its arguments.

    They await a throw, or, with `decisions`, owe a stage that can be played in several ways. explore: probability that
    a play is drawn at random, so that what the bot would avoid is met as well. every: one of so many states of a game
    is taken, so that neighbours are not too alike.
    """
    found: list[States] = []
    taken, game = 0, 0
    rng = np.random.default_rng(seed)
    while taken < number:
        rows = starts(bot.variant, GAMES, seed, first=game)
        dice = streams(GAMES, seed, first=game)
        game += GAMES
        phase = rng.integers(0, every, GAMES)  # not the same throws of every game
        for _ in range(CAP):
            if not len(rows):
                break
            waiting = ~owing(rows)
            before = rows
            rows = throw(bot.variant, rows, rolls(dice))
            plays, first = all_plays(bot.rules, rows)
            fitting = np.diff(first) > 1 if decisions else waiting
            here = (rows if decisions else before)[fitting & (phase % every == 0)]
            found.append(here)
            taken += len(here)
            phase = phase + fitting
            rows = _chosen(bot, rows, plays, first, explore, rng)
            going = ~over(rows)
            rows, dice, phase = rows[going], dice[going], phase[going]
    return np.concatenate(found)[_spread(taken, number)]


def _chosen(
    bot: Bot, rows: States, plays: States, first: NDArray[np.int64], explore: float, rng: np.random.Generator
) -> States:
    """The rows after one play in each."""
    draws = rng.integers(0, 1 << 64, len(rows), dtype=np.uint64)
    chosen = np.asarray(bot.pick(rows, plays, first, draws), np.int64)
    drawn = first[:-1] + rng.integers(0, np.diff(first))
    taken: States = plays[np.where(rng.random(len(rows)) < explore, drawn, chosen)]
    return taken


def _spread(taken: int, number: int) -> NDArray[np.int64]:
    """`number` of `taken` indices, evenly spread, so that all stages of the games are among them."""
    return np.arange(number) * taken // number
