"""Our plays against those of other engines, position by position.

    python -m nardy_rl.experiments.compare --variant snake --positions 20000 --seed 1
    python -m nardy_rl.experiments.compare --engine openspiel --positions 5000

compares every legal play of that many positions, each with a roll, with gnubg's (needs the extra `gnubg`), in any
game whose rules of moving are gnubg's; or of backgammon with OpenSpiel's (needs the extra `openspiel`). For gnubg
half of the positions come from games of random play and half are put together at random; for OpenSpiel they are the
turns of games of random play there. It prints one JSON object: `compared`, `different` and `game_ending`, the
positions where we know more plays than gnubg because they end the game (docs/rules.md, section 2.5: gnubg insists on
the most dice even then); exit status 1 if any is different.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.batch import States, plays
from nardy_rl.board import OUTCOME, OWED, TURN, WORDS, pack, unpack
from nardy_rl.errors import BadOption, NardyError
from nardy_rl.position import Position
from nardy_rl.rules import rules_of
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS, parse_variant, variant_text

_OPENSPIEL_VARIANT = VARIANTS["backgammon"]
_GNUBG_RULES = rules_of(VARIANTS["backgammon"])
_CHUNK = 4096
_SIDE_BY_SIDE = 64  # games at a time
_OPENSPIEL_GAMES = 8  # games of some 100 turns at a time
_DECISIONS = 100  # about as many as a game of random play has: small samples reach its end too

Dice = NDArray[np.int64]
Boards = NDArray[np.int8]
Progress = Callable[[int], None]


def random_rolls(rng: np.random.Generator, n: int) -> Dice:
    """Dice int64[n, 2], the larger first."""
    return -np.sort(-rng.integers(1, 7, size=(n, 2)), axis=1)


def random_decisions(variant: Variant | str, n: int, seed: int) -> States:
    """States uint32[n, 16] that owe a stage, from games in which every play is drawn at random."""
    if isinstance(variant, str):
        variant = parse_variant(variant)
    rng = np.random.default_rng(seed)
    games = min(_SIDE_BY_SIDE, max(1, n // _DECISIONS))
    states = np.stack([Position.opening(variant, seed, game).state for game in range(games)])
    fresh, found, number = games, [], 0
    while number < n:
        found.append(states.copy())
        number += games
        after, first = plays(variant, states)
        states = after[first[:-1] + (rng.random(games) * np.diff(first)).astype(np.int64)]
        for i in np.flatnonzero(states[:, OUTCOME]):
            states[i] = Position.opening(variant, seed, fresh).state
            fresh += 1
        waiting = np.flatnonzero(states[:, OWED] == 0)
        rolls = random_rolls(rng, len(waiting))
        for i, (die1, die2) in zip(waiting, rolls, strict=True):
            states[i] = Position._trusted(variant, states[i].copy()).throw(die1, die2).state
    return np.concatenate(found)[:n]


def random_boards(n: int, seed: int, checkers: int = 15) -> Boards:
    """Boards int8[n, 2, 26] put together at random, so many checkers a side: no game need lead to them."""
    rng = np.random.default_rng(seed)
    boards = np.zeros((n, 2, 26), np.int8)
    for board in boards:
        share = rng.random()
        mine = rng.random(24) < share
        for side, own in ((0, mine), (1, ~mine[::-1])):
            reach = rng.choice([6, 6, 12, 24])  # how far back the rearmost checkers may stand
            points = 1 + np.flatnonzero(own & (np.arange(24) < reach))
            places = np.append(rng.permutation(points)[: rng.integers(1, 9)], [25] * (rng.random() < 0.2))
            off = rng.integers(0, checkers) if reach <= 6 else 0
            if not len(places):
                places = np.array([25])
            board[side, 0] = off
            np.add.at(board[side], rng.choice(places, size=checkers - off).astype(np.int64), 1)
    return boards


def states_of_boards(boards: NDArray[np.int8]) -> States:
    """States uint32[N, 16] before a throw of boards [N, 2, 26] in the view of the player who throws."""
    states = np.zeros((len(boards), WORDS), np.uint32)
    for state, board in zip(states, boards, strict=True):
        state[0:4], state[4:8] = pack(board[0]), pack(board[1])
    return states


def plays_and_boards(variant: Variant, states: States, dice: Dice) -> tuple[States, Boards, NDArray[np.int64]]:
    """All plays of some positions, as `batch.plays` has them, and their boards int8[M, 2, 26] in the view of the mover.

    Returns the afterstates, the boards, and where those of each position begin, int64[N + 1].
    """
    after, first = plays(variant, states, dice)
    boards = np.stack([unpack(after[:, 0:4]), unpack(after[:, 4:8])], axis=1)
    turned = np.repeat(states[:, TURN] & 1, np.diff(first)) != after[:, TURN] & 1
    boards[turned] = boards[turned][:, ::-1]
    return after, boards, first


def _own_plays(variant: Variant, states: States, dice: Dice) -> list[set[bytes]]:
    """For each position our plays, each as the bytes of the board int8[2, 26] in the view of the mover."""
    _, boards, first = plays_and_boards(variant, states, dice)
    return [{board.tobytes() for board in boards[a:b]} for a, b in zip(first, first[1:], strict=False)]


def has_gnubg() -> bool:
    """Is the optional package gnubg-nn installed."""
    return importlib.util.find_spec("gnubg_nn") is not None


def moves_as_gnubg(variant: Variant) -> bool:
    """Are the rules of moving those that gnubg knows: starts, scores and the opening may differ."""
    return rules_of(variant)._replace(opening_reroll=0) == _GNUBG_RULES


class Comparison:
    """Counts of positions whose plays agree with another engine's or not."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.counts = {"compared": 0, "different": 0, "game_ending": 0, "afterstates": 0}
        self.examples: list[str] = []

    def add(self, states: States, dice: Dice, theirs: Iterable[set[bytes]]) -> None:
        """Compare our plays of states awaiting a throw uint32[N, 16] with theirs, as `_own_plays` has them."""
        ours = _own_plays(self.variant, states, dice)
        for state, (die1, die2), mine, other in zip(states, dice, ours, theirs, strict=True):
            self.counts["compared"] += 1
            self.counts["afterstates"] += len(mine)
            if mine == other:
                continue
            if other < mine and all(after[0] == self.variant.checkers for after in mine - other):
                self.counts["game_ending"] += 1  # in what they lack all checkers of the mover are off
                continue
            self.counts["different"] += 1
            if len(self.examples) < 5:
                self.examples.append(f"{Position(self.variant, state).text} roll {die1}-{die2}")

    def result(self) -> dict[str, Any]:
        """The counts and up to five positions that differ, as text."""
        return {**self.counts, "examples": self.examples}


def compare_gnubg(variant: Variant, positions: int, seed: int, progress: Progress | None = None) -> dict[str, Any]:
    """Compare all plays of many positions of a game with gnubg's.

    Returns `compared`; `different`, the positions with another set of plays; `game_ending`, those that differ
    only by our further plays that end the game (not counted as different); `afterstates`, our plays in all;
    `examples`, up to five positions that differ, as text. `progress` is called with the number of positions
    done. Raises MissingExtra without gnubg-nn, and BadOption for a game whose moves gnubg does not know.
    """
    from nardy_rl.experiments.peers import gnubg_afterstates

    if not moves_as_gnubg(variant):
        known = ", ".join(name for name, v in VARIANTS.items() if moves_as_gnubg(v))
        raise BadOption(f"gnubg does not know the moves of {variant_text(variant)}; it knows those of {known}")
    half = positions // 2
    played = random_decisions(variant, positions - half, seed)
    dice = np.concatenate(
        [
            np.stack([played[:, OWED] & 7, played[:, OWED] >> 3 & 7], axis=1).astype(np.int64),
            random_rolls(np.random.default_rng([seed, 1]), half),
        ]
    )
    played[:, OWED] = 0
    states = np.concatenate([played, states_of_boards(random_boards(half, seed, variant.checkers))])
    comparison = Comparison(variant)
    for a in range(0, positions, _CHUNK):
        chunk, rolls = states[a : a + _CHUNK], dice[a : a + _CHUNK]
        boards = np.stack([unpack(chunk[:, 0:4]), unpack(chunk[:, 4:8])], axis=1)
        theirs = (
            {np.array(pair, np.int8).tobytes() for pair in gnubg_afterstates(board, die1, die2)}
            for board, (die1, die2) in zip(boards, rolls, strict=True)
        )
        comparison.add(chunk, rolls, theirs)
        if progress is not None:
            progress(comparison.counts["compared"])
    return comparison.result()


def compare_openspiel(turns: int, seed: int) -> dict[str, Any]:
    """Compare all plays of turns of backgammon, met in OpenSpiel's own games of random play, with OpenSpiel's.

    Returns what `compare_gnubg` does. Raises MissingExtra without OpenSpiel.
    """
    from nardy_rl.experiments.env_peers import openspiel_turns

    comparison, games = Comparison(_OPENSPIEL_VARIANT), 0
    while (missing := turns - comparison.counts["compared"]) > 0:
        met = openspiel_turns(_OPENSPIEL_GAMES, seed + games)
        games += 1
        comparison.add(states_of_boards(met.boards[:missing]), met.dice[:missing], met.ends[:missing])
    return comparison.result()


def main(arguments: list[str] | None = None) -> int:
    """The command line of this module."""
    parser = argparse.ArgumentParser(
        prog="python -m nardy_rl.experiments.compare",
        description="Compare our plays of random positions with another engine's.",
    )
    parser.add_argument("--engine", choices=("gnubg", "openspiel"), default="gnubg", help="default gnubg")
    parser.add_argument("--variant", default="backgammon", help="the game, with gnubg (default backgammon)")
    parser.add_argument("--positions", type=int, default=200_000, help="how many (default 200,000)")
    parser.add_argument("--seed", type=int, default=1, help="default 1")
    given = parser.parse_args(arguments)
    if given.positions < 1 or given.seed < 0:
        parser.error("--positions must be at least 1 and --seed not negative")
    try:
        variant = parse_variant(given.variant)
        if given.engine == "openspiel":
            if variant != _OPENSPIEL_VARIANT:
                parser.error(f"--variant {given.variant}: OpenSpiel plays backgammon only")
            result = compare_openspiel(given.positions, given.seed)
        else:
            report = partial(print, end=" ", file=sys.stderr)
            result = compare_gnubg(variant, given.positions, given.seed, report)
    except NardyError as error:
        parser.error(str(error))
    print(json.dumps({"variant": variant_text(variant), "engine": given.engine} | result))
    return 1 if result["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
