"""The endgame tables of a game: made by `bearoff_solve.py` when they are first needed, and kept (`table_files.py`)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from nardy_rl.agents.bearoff import Model, model_of
from nardy_rl.agents.bearoff_solve import SMALL, one_sided, two_sided
from nardy_rl.agents.endgame import Endgame
from nardy_rl.agents.table_files import kept
from nardy_rl.errors import BadOption
from nardy_rl.results import can_draw, score_levels, score_table
from nardy_rl.variant import Variant


def has_endgame(variant: Variant) -> bool:
    """Are there endgame tables for a game; `endgame_of` says why not."""
    try:
        model_of(variant)
    except BadOption:
        return False
    return True


@lru_cache(maxsize=8)
def _one_sided(model: Model) -> dict[str, np.ndarray]:
    return kept(f"one-sided-{model.name}", lambda: one_sided(model))


@lru_cache(maxsize=8)
def _two_sided(model: Model, scores: tuple[int, ...], checkers: int) -> np.ndarray:
    points = "-".join(map(str, scores[1 : checkers + 1]))
    return kept(
        f"two-sided-{model.name}-{points}", lambda: {"equity": two_sided(model, scores, checkers)}
    )["equity"]  # fmt: skip


@lru_cache(maxsize=32)
def endgame_of(variant: Variant) -> Endgame:
    """The tables of a game, made in seconds when they are first needed and then kept in the user's cache folder.

    Raises BadOption, with the reason, for a game whose bear-off they do not fit. Where a win counts more points than a
    plain win and a gammon (score `left`), there is only the two-sided table.
    """
    model = model_of(variant)
    table = score_table(variant)
    scores = tuple(int(table[left]) for left in range(16))
    few = min(SMALL, variant.checkers)
    equity = _two_sided(model, scores, few)
    levels = score_levels(variant)
    more = levels.index(2) if 2 in levels else -1
    draws = can_draw(variant)
    none = np.zeros((len(model.again), 0, 1), np.float32)
    raced = len(set(scores[1 : variant.checkers])) <= 1
    tables = _one_sided(model) if raced else {"off": none, "first": none}
    return Endgame(
        off=tables["off"],
        first=tables["first"],
        equity=equity,
        checkers=variant.checkers,
        gammon=scores[variant.checkers] - scores[1],
        plain=int(set(scores[1 : few + 1]) == {1}),
        more=more,
        lose_more=-1 if more < 0 else len(levels) + more - (0 if draws else 1),
        lose=len(levels) if draws else -1,
    )
