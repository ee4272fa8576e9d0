"""Adjusting results for luck: whose values are used, and how much of the luck is taken off.

At every throw the thrower is lucky by what the best reply to this roll is worth more than to the mean roll, by fixed
values of positions. That difference has mean zero whatever the values, so the result less a multiple of all signed
lucks has the same expectation as the result, and a smaller variance the better the values.

The multiple is fitted, so that values which are too extreme, or worth nothing, do no harm: pairs of games are dealt
into folds, and each fold uses the multiple that leaves the least variance in the *other* folds. It does not depend on
the dice of its own pairs, so the estimate has no bias.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, ValueBot, load_bot
from nardy_rl.agents.exact_bot import ExactBot
from nardy_rl.agents.policy import Policy, pretrained_for
from nardy_rl.agents.sieve import Sifted
from nardy_rl.errors import BadOption
from nardy_rl.experiments.paired import Duellists, Evaluator, Played, play_pairs
from nardy_rl.variant import Variant

FOLDS = 5
FEW = 20  # pairs below which the luck is taken off as it is
SIFTED_FROM = 200  # games from which the second that a sieve takes is worth it
TRIED_FROM = 1000  # games from which an evaluator is tried first
PILOT = 128  # games of such a trial
GOOD, USEFUL = 0.5, 0.25  # parts of the variance taken off: no other is tried; it is worth its time

Floats = NDArray[np.float64]


def pair_means(played: Iterable[Played]) -> tuple[Floats, Floats]:
    """Points and luck of bot a by pair, f64[P] each, a game."""
    parts = list(played)
    points = np.concatenate([part.points for part in parts])
    luck = np.concatenate([part.luck for part in parts])
    return points.reshape(-1, 2).mean(axis=1), luck.reshape(-1, 2).mean(axis=1)


def multiple(points: Floats, luck: Floats) -> float:
    """The multiple of the luck that leaves the least variance in the points; 1 if there is too little to say."""
    variance = luck.var() if len(luck) >= FEW else 0.0
    return float(((points - points.mean()) * luck).mean() / variance) if variance > 0 else 1.0


def adjusted(points: Floats, luck: Floats) -> tuple[Floats, float]:
    """Points of pairs less the fitted multiple of their luck, f64[P], and the mean multiple."""
    if len(points) < FOLDS * FEW // (FOLDS - 1):
        return points - luck, 1.0
    fold = np.arange(len(points)) % FOLDS
    multiples = np.array([multiple(points[fold != k], luck[fold != k]) for k in range(FOLDS)])
    return points - multiples[fold] * luck, float(multiples.mean())


def share_explained(points: Floats, luck: Floats) -> float:
    """The part of the variance of the points that the luck takes off, at most 1; below 0 if it adds some."""
    raw = points.var()
    return float(1 - adjusted(points, luck)[0].var() / raw) if raw > 0 else 0.0


def quick_evaluator(bot: ValueBot, games: int) -> Evaluator:
    """A bot's values as an evaluator of luck for so many games: through a sieve where that saves time."""
    return bot if games < SIFTED_FROM or isinstance(bot, ExactBot) else Sifted(bot)


def evaluator_named(variant: Variant, luck: str) -> Evaluator | str | None:
    """What a duel takes as its evaluator for the word auto, the word none, or a bot's name.

    Raises BadOption for a bot that does not value positions.
    """
    if luck in ("auto", "none"):
        return None if luck == "auto" else "none"
    bot = load_bot(variant, luck)
    if not isinstance(bot, ValueBot):
        raise BadOption(f"--luck {luck} has no values of positions to adjust with: take pretrained, pips or none")
    return bot


def _candidates(variant: Variant, a: Bot, b: Bot) -> list[ValueBot]:
    """Whose values may serve, the best first.

    The solution of the game, if it plays; the shipped policy; a trained duellist (of two the longer trained); the
    heuristic.
    """
    from nardy_rl.agents.heuristic import HeuristicBot

    found: list[ValueBot] = []
    found += [bot for bot in (a, b) if isinstance(bot, ExactBot)][:1]
    shipped = pretrained_for(variant)
    if shipped is not None:
        shipped.name = "pretrained"
        found.append(shipped)
    trained = [bot for bot in (a, b) if isinstance(bot, Policy)]
    found += sorted(trained, key=lambda bot: -bot.header.get("games", 0))[:1]
    return [*found, HeuristicBot(variant)]


def choose_evaluator(duel: Duellists, games: int, threads: int | None) -> tuple[Evaluator | None, str | None]:
    """The evaluator for a duel of so many games, and its name; None where none is worth its time.

    A long duel tries the candidates on some games of their own and takes the first that takes off half of the
    variance, else the best if it takes off a quarter. A short one takes the solution or the first policy there is.
    """
    candidates = _candidates(duel.variant, duel.a, duel.b)
    if games < TRIED_FROM:
        first = candidates[0]
        known = isinstance(first, Policy | ExactBot)
        return (quick_evaluator(first, games), first.name) if known else (None, None)
    best: tuple[float, Evaluator | None, str | None] = (USEFUL, None, None)
    for candidate in candidates:
        evaluator = quick_evaluator(candidate, games)
        trial = replace(duel, evaluator=evaluator, seed=~duel.seed)
        share = share_explained(*pair_means(play_pairs(trial, PILOT, threads)))
        if share > best[0]:
            best = (share, evaluator, candidate.name)
        if share >= GOOD:
            break
    return best[1:]
