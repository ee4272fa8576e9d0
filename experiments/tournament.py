"""A tournament: every bot against every other in paired duels, and ratings with intervals.

Two ratings are given. *Points* is the least-squares one: the ratings whose differences are nearest to the points a game
of all duels; where everybody has met everybody it is a bot's mean over all bots, himself included with 0. *Elo* is
Bradley and Terry's model of the games won (a draw is half a game; each duel starts with half a game for both sides, so
that nobody is infinitely good), 400 log10 of the odds, with mean 0. Intervals come from resampling the pairs of games.

Duels are kept in a results file as they are finished; a tournament with the same file goes on where it was stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from nardy_rl.agents import load_bot
from nardy_rl.agents.bot import Bot
from nardy_rl.agents.policy import Policy
from nardy_rl.agents.search import layers
from nardy_rl.errors import BadBot
from nardy_rl.experiments.duel import duel
from nardy_rl.experiments.luck import Floats, evaluator_named
from nardy_rl.experiments.results_file import add_result, read_results
from nardy_rl.variants import parse_variant, variant_text

KIND = "tournament duel"
RESAMPLES = 1000
WITHIN = 0.95  # of the resampled ratings lie in the interval


def identity(bot: Bot) -> str:
    """A bot's name, with a digest of the weights where it has some: another net under the same name is another bot."""
    policy = next((layer for layer in layers(bot) if isinstance(layer, Policy)), None)
    return bot.name if policy is None else f"{bot.name} {policy.digest}"


def _pair_key(variant: str, a: str, b: str, games: int, seed: int, luck: str) -> tuple[Any, ...]:
    return variant, a, b, games, seed, luck


def tournament(
    variant: str,
    bots: Sequence[str],
    games: int,
    seed: int = 1,
    threads: int | None = None,
    luck: str = "auto",
    results: Path | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """All duels of `games` games each, and the ratings.

    luck: auto, none, or a bot whose values adjust. results: a file to go on from and to add to. progress: called with
    (what is played, games finished, games in all). Returns `variant, games, seed, duels`, a list of duels as of
    `nardy evaluate`, and `ratings`, the best first: `bot, points, points_low, points_high, elo, elo_low, elo_high`.
    Raises BadBot for fewer than two bots or the same one twice.
    """
    game = parse_variant(variant)
    if len(bots) < 2 or len(set(bots)) < len(bots):
        raise BadBot(f"a tournament of {', '.join(bots) or 'nobody'}: name two bots or more, each once")
    players = {name: load_bot(game, name) for name in bots}
    known = {name: identity(bot) for name, bot in players.items()}
    judge = evaluator_named(game, luck)
    done = {}
    if results is not None and results.exists():
        for line in read_results(results, KIND):
            r = line["result"]
            done[_pair_key(r["variant"], r["who"][0], r["who"][1], r["asked"], r["seed"], r["luck"])] = r
    duels = []
    meetings = list(combinations(bots, 2))
    for number, (a, b) in enumerate(meetings):
        key = _pair_key(variant_text(game), known[a], known[b], games, seed, luck)
        if key not in done:

            def report(finished: int, total: int, number: int = number, a: str = a, b: str = b) -> None:
                if progress is not None:
                    progress(f"{a} against {b}", number * total + finished, len(meetings) * total)

            played = duel(game, players[a], players[b], games, seed, threads, judge, progress=report)
            assert played.pairs is not None
            done[key] = played.as_dict() | {
                "a": a, "b": b, "who": [known[a], known[b]], "asked": games, "luck": luck,
                "pair_points": played.pairs.points.round(4).tolist(), "pair_wins": played.pairs.wins.tolist(),
            }  # fmt: skip
            if results is not None:
                add_result(results, KIND, done[key])
        duels.append(done[key] | {"a": a, "b": b})
    shown = [
        {k: v for k, v in d.items() if k not in ("pair_points", "pair_wins", "who", "asked", "luck")} for d in duels
    ]
    return {
        "variant": variant_text(game),
        "games": games,
        "seed": seed,
        "duels": shown,
        "ratings": ratings(list(bots), duels, seed),
    }


# ---------------------------------------------------------------------------------------------- ratings


def point_ratings(difference: Floats) -> Floats:
    """Ratings f64[N], mean 0, nearest to the differences f64[N, N] of all meetings (antisymmetric)."""
    return difference.mean(axis=1)


def elo_ratings(wins: Floats, steps: int = 100) -> Floats:
    """Bradley and Terry's ratings f64[N], mean 0, of the games that each has won of each, f64[N, N] (Newton's method).

    Half a game is added on both sides of every meeting.
    """
    won = wins + 0.5 * (1 - np.eye(len(wins)))
    met, strength = won + won.T, np.zeros(len(wins))  # the logarithm of the odds
    for _ in range(steps):
        chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        slope = met * chance * chance.T
        # the sums of strengths are free: the ones keep the mean where it is, at 0
        curvature = np.diag(slope.sum(axis=1)) - slope + 1
        step = np.linalg.solve(curvature, won.sum(axis=1) - (met * chance).sum(axis=1))
        strength = strength + np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-10:
            break
    return 400 / np.log(10) * (strength - strength.mean())


def ratings(bots: Sequence[str], duels: Sequence[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """Both ratings of every bot with their intervals, the best first; see `tournament`."""
    rng = np.random.default_rng(seed)
    place = {bot: i for i, bot in enumerate(bots)}
    points = [np.array(d["pair_points"]) for d in duels]
    wins = [np.array(d["pair_wins"]) for d in duels]
    difference, won = np.zeros((len(bots), len(bots))), np.zeros((len(bots), len(bots)))

    def both(draws: Sequence[Any]) -> tuple[Floats, Floats]:
        for d, p, w, which in zip(duels, points, wins, draws, strict=True):
            i, j = place[d["a"]], place[d["b"]]
            difference[i, j], won[i, j] = p[which].mean(), w[which].sum()
            difference[j, i], won[j, i] = -difference[i, j], 2 * len(p) - won[i, j]
        return point_ratings(difference), elo_ratings(won)

    in_points, in_elo = both([slice(None)] * len(duels))
    again = [both([rng.integers(0, len(p), len(p)) for p in points]) for _ in range(RESAMPLES)]
    tails = ((1 - WITHIN) / 2, (1 + WITHIN) / 2)
    point_bounds = np.quantile([p for p, _ in again], tails, axis=0)
    elo_bounds = np.quantile([e for _, e in again], tails, axis=0)
    rows = [
        {
            "bot": bot, "points": float(in_points[i]), "points_low": float(point_bounds[0, i]),
            "points_high": float(point_bounds[1, i]), "elo": float(in_elo[i]), "elo_low": float(elo_bounds[0, i]),
            "elo_high": float(elo_bounds[1, i]),
        }
        for bot, i in place.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: -row["points"])
