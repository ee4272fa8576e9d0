"""Matches to a number of points, without a cube, made of the games of a duel.

The bots of a duel do not look at the score, so the games of a match are like any others: a match takes games in the
order of their numbers until a player has the points. Matches come in pairs as games do: one takes the first games of
the pairs, the other the second ones, with the same dice and swapped seats; the next two begin when both are over.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nardy_rl.experiments.luck import Floats
from nardy_rl.match import Match, Result
from nardy_rl.variant import Variant


def _after(match: Match, points: float) -> Match:
    """The match after a game that gave player 0, here bot a, so many points; a match that is over stays as it is."""
    if match.over:
        return match
    winner = None if points == 0 else int(points < 0)
    return match.after(Result(winner, abs(int(points)), "play"))


def play_matches(variant: Variant, length: int, points: Floats) -> dict[str, Any]:
    """Matches to `length` points made of games, whose points for bot a are f64[N], N even.

    Returns `length`, `matches` (an even number; games left over make no match), `games` used, `wins` of bot a, `share`
    of them and its standard error `se` over pairs of matches; None where there are no or too few matches.
    """
    new = Match(variant, length, cube=False)
    pair, wins, used = [new, new], [], 0
    for i in range(0, len(points), 2):
        pair = [_after(match, game) for match, game in zip(pair, points[i : i + 2], strict=True)]
        if all(match.over for match in pair):
            wins.append([match.winner == 0 for match in pair])
            pair, used = [new, new], i + 2
    shares = np.array(wins, dtype=float).reshape(-1, 2).mean(axis=1)
    n = len(shares)
    return {
        "length": length,
        "matches": 2 * n,
        "games": used,
        "wins": int(2 * shares.sum()),
        "share": float(shares.mean()) if n else None,
        "se": float(shares.std(ddof=1) / np.sqrt(n)) if n > 1 else None,
    }
