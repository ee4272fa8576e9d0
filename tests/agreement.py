"""Do the engine and the slow oracle see the same plays, and the same continuations after them?

    python tests/agreement.py --decisions 50000 [--seed S] [GAME...]

compares decisions of random play, by default of all games, prints a line a game and ends with status 1 if any
decision differs. A GAME may have options, as in classic:block=sport.
"""

import argparse
import json
import sys
import time

import naive
import numpy as np

from nardy_rl.batch import plays
from nardy_rl.board import MY_PINS, OUTCOME, PLAYER, THEIR_PINS, TURN, unpack
from nardy_rl.cases import case_of_state
from nardy_rl.experiments.compare import random_decisions
from nardy_rl.options import options_of
from nardy_rl.position import points_of
from nardy_rl.variants import VARIANTS, parse_variant

_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)
_CHUNK = 1000


def oracle_rules(variant):
    """The oracle's rules of a game: its own table's, with the options in which the variant differs from ours."""
    table, options = VARIANTS[variant.id], {}
    for name, value in options_of(variant).items():
        if value != getattr(table, name):
            options[name] = list(value) if isinstance(value, tuple) else value
    if "start" in options:  # the oracle knows layouts by the name of a game
        options["start"] = next(name for name, game in VARIANTS.items() if game.start == options["start"])
    return naive.make(variant.id, options)


def engine_keys(variant, rows):
    """What `naive.canon` says of the engine's states uint32[N, 16]."""
    boards = _DIGITS[unpack(rows[:, :8].reshape(-1, 2, 4))].view("S26")[..., 0].astype(str)
    known, keys = {}, []
    for row, sides in zip(rows, boards.tolist(), strict=True):
        if row[TURN] & PLAYER:
            sides.reverse()
        context = row[8 : OUTCOME + 1].tobytes()
        if context not in known or row[OUTCOME]:  # the score of a finished game hangs on its board
            pins = [points_of(int(row[MY_PINS])), points_of(int(row[THEIR_PINS]))]
            if row[TURN] & PLAYER:
                pins.reverse()
            known[context] = tuple(pins), repr(sorted(case_of_state(variant, row)[1].items()))
        keys.append((tuple(sides), *known[context]))
    return keys


def differing(variant, states):
    """The states, as case files have them, in which engine and oracle see other plays or continuations."""
    rules = oracle_rules(variant)
    after, first = plays(variant, states)
    keys = engine_keys(variant, after)
    found = []
    for i, row in enumerate(states):
        position, continuation = case_of_state(variant, row)
        expected = {naive.canon(play) for play in naive.plays(rules, position | continuation)}
        mine = keys[first[i] : first[i + 1]]
        if set(mine) != expected or len(mine) != len(expected):
            found.append(position | continuation)
    return found


def main(arguments):
    """Compares the games that are named; 0 if all agree, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=list(VARIANTS), metavar="GAME")
    parser.add_argument("--decisions", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=12)
    given = parser.parse_args(arguments)
    wrong = 0
    for game in given.games:
        variant, begun = parse_variant(game), time.perf_counter()
        states = random_decisions(variant, given.decisions, given.seed)
        for at in range(0, len(states), _CHUNK):
            for state in differing(variant, states[at : at + _CHUNK]):
                wrong += 1
                print(f"\r{game}: they differ in {json.dumps(state)}")
            print(f"\r{game}: {min(at + _CHUNK, len(states)):,} decisions", end="", flush=True)
        print(f" in {time.perf_counter() - begun:.0f} s")
    print(f"{wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
