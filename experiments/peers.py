"""Other people's engines behind a few plain functions, to check against and to time beside ours.

Nothing here is needed to train or play: each rival is an optional package, imported when first asked for.
Boards are `int8[N, 2, 26]` in D numbering, axis 1: 0 = the player to move, 1 = his opponent, each in his own
numbering (0 borne off, 1..24 points, 25 bar). Dice are `[N, 2]`. Times are CPU seconds of this process, so
that a busy machine disturbs them less; every rival works in one thread. Conversions come before the clock.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.resources
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_rl.errors import MissingExtra

Afterstate = tuple[tuple[int, ...], tuple[int, ...]]
"""(mine[26], theirs[26]), each in its own numbering, in the view of the player who has just moved."""

GnubgBoard = list[list[int]]
"""[opponent[25], player to move[25]]: index 0 the own ace point, 24 the bar; what is off is left out."""


def need(module: str, package: str, extra: str) -> Any:
    """The module, or `MissingExtra` with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(package, extra) from error


# ---------------------------------------------------------------- gnubg-nn


def gnubg_boards(boards: NDArray[np.int8]) -> list[GnubgBoard]:
    """Boards `int8[N, 2, 26]` as gnubg_nn wants them: nested lists of int, which it reads fastest."""
    converted: list[GnubgBoard] = np.asarray(boards)[:, ::-1, 1:].tolist()
    return converted


def _pairs(dice: ArrayLike) -> list[tuple[int, int]]:
    """Dice `[N, 2]` as tuples of Python ints; gnubg_nn itself does not object to a die of 0 or 7."""
    rolls = np.asarray(dice)
    if rolls.size and (rolls.min() < 1 or rolls.max() > 6):
        raise ValueError("dice must be from 1 to 6")
    return [(int(a), int(b)) for a, b in rolls]


def gnubg_moves_count(boards: NDArray[np.int8], dice: ArrayLike) -> list[int]:
    """Distinct afterstates of each (position, roll); where nothing moves the empty play counts as one."""
    moves = need("gnubg_nn", "gnubg-nn", "gnubg").moves
    pairs = zip(gnubg_boards(boards), _pairs(dice), strict=True)
    return [max(1, len(moves(board, a, b))) for board, (a, b) in pairs]


def time_gnubg_moves(gboards: Sequence[GnubgBoard], dice: ArrayLike) -> float:
    """CPU seconds that gnubg's C generator takes for all (position, roll), keys only, called once each."""
    moves = need("gnubg_nn", "gnubg-nn", "gnubg").moves
    work = [(board, a, b) for board, (a, b) in zip(gboards, _pairs(dice), strict=True)]
    start = time.process_time()
    for board, a, b in work:
        moves(board, a, b)
    return time.process_time() - start


def gnubg_afterstates(board: NDArray[np.int8], d1: int, d2: int) -> set[Afterstate]:
    """All afterstates of one position `int8[2, 26]` by gnubg; the position itself where nothing moves."""
    gnubg_nn = need("gnubg_nn", "gnubg-nn", "gnubg")
    gboard = gnubg_boards(np.asarray(board)[None])[0]
    ((a, b),) = _pairs([(d1, d2)])
    after = [gnubg_nn.board_from_position_key(key) for key in gnubg_nn.moves(gboard, a, b)]
    checkers = int(np.asarray(board)[0].sum())
    return {(_with_off(mine, checkers), _with_off(theirs, checkers)) for theirs, mine in after or [gboard]}


def _with_off(side: Sequence[int], checkers: int) -> tuple[int, ...]:
    """One side of a gnubg board (25 numbers) with the number borne off in front (26 numbers)."""
    return (checkers - sum(side), *side)


@contextlib.contextmanager
def _without_cache(gnubg_nn: Any) -> Iterator[None]:
    """gnubg's nets without their cache of evaluations, which would multiply the figures two- to fivefold."""
    weights = str(importlib.resources.files("gnubg_nn") / "data" / "gnubg.weights")
    gnubg_nn.net_use(gnubg_nn.net_load(weights, 0))
    try:
        yield
    finally:
        gnubg_nn.net_use(gnubg_nn.net_load(weights, -1))  # the same nets with the usual cache, empty


def gnubg_evaluations_per_s(gboards: Sequence[GnubgBoard]) -> float:
    """Static (0-ply) evaluations per CPU second, uncached, one call from Python for each position."""
    gnubg_nn = need("gnubg_nn", "gnubg-nn", "gnubg")
    probabilities = gnubg_nn.probabilities
    with _without_cache(gnubg_nn):
        start = time.process_time()
        for board in gboards:
            probabilities(board, 0)
        seconds = time.process_time() - start
    return len(gboards) / seconds


@contextlib.contextmanager
def gnubg_chooser(boards: NDArray[np.int8], dice: ArrayLike, plies: int) -> Iterator[Callable[[int], object]]:
    """A function that lets gnubg choose its play in position number i, with a cache that is empty at the beginning."""
    gnubg_nn = need("gnubg_nn", "gnubg-nn", "gnubg")
    gboards, pairs = gnubg_boards(boards), _pairs(dice)
    with _without_cache(gnubg_nn):
        pass
    best_move = gnubg_nn.best_move
    yield lambda i: best_move(gboards[i], *pairs[i], n=plies)


# ---------------------------------------------------------------- OpenSpiel


def openspiel_random_games_per_s(seconds: float, seed: int = 1) -> float:
    """Games per CPU second between OpenSpiel's uniform random bots, played for about `seconds` of CPU time.

    Game, bots and loop are C++; Python starts each game. A double is two decisions there.
    """
    pyspiel = need("pyspiel", "open-spiel", "openspiel")
    game = pyspiel.load_game("backgammon")
    bots = [pyspiel.make_uniform_random_bot(player, seed + player) for player in (0, 1)]
    games = 0
    start = time.process_time()
    while (spent := time.process_time() - start) < seconds or not games:
        pyspiel.evaluate_bots(game.new_initial_state(), bots, seed + games)
        games += 1
    return games / spent


# ---------------------------------------------------------------- Open Sage


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Nothing reaches standard output, C++ streams included."""
    sys.stdout.flush()
    kept = os.dup(1)
    sink = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(sink, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(sink)
        os.close(kept)


def bgsage_td_games_per_s(games: int, hidden: int = 80, seed: int = 1) -> float:
    """Self-play games per CPU second of Open Sage's C++ TD(0) trainer: 196 inputs, from scratch, one thread.

    The first few hundred games of an untrained net are the longest: compare at the same number of games.
    """
    trainer = need("bgbot_cpp", "bgsage", "bgsage")
    with tempfile.TemporaryDirectory() as folder, _silent():  # it saves its net and reports as it goes
        start = time.process_time()
        trainer.td_train(
            n_games=games,
            alpha=0.1,
            n_hidden=hidden,
            eps=0.1,
            seed=seed,
            benchmark_interval=games + 1,
            model_name="peer",
            models_dir=folder,
        )
        seconds = time.process_time() - start
    return games / seconds
