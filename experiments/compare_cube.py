"""Our cube decisions against those of GNU Backgammon's program, at 0 plies.

    python -m nardy_rl.experiments.compare_cube --positions 300 --seed 1

Positions come from games of the shipped policy against itself. gnubg (the program, 1.07 or later) says of each its
outcome probabilities and what doubling and not doubling are worth. Half of the positions and more are within 0.10
points of a boundary: where gnubg's value of no double and of the right double differ by at most so much, or those of
take and drop. It prints one JSON object with these parts:

* `decisions`: our verdict by our net against gnubg's by its own: how many agree in action and answer, and every one
  that does not, with what ours costs by gnubg's values;
* `formula`: our formula with gnubg's probabilities against gnubg's values, for money: the greatest difference;
* `jacoby`: the same with the cube in the middle and the Jacoby rule;
* `match`: the same at scores of matches, with gnubg's match equity table in place of ours. Left out (`left_out`) are
  double and take where the taker can turn the cube back at no cost (we count on it, gnubg at 0 plies does not), and no
  double when both need two points (there gnubg takes the cube for dead, we do not).

Exit status 1 if fewer than 80 % of the decisions agree. Positions that gnubg looks up in its two-sided bear-off
database, exactly, are no test of a formula and are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, States, load_bot
from nardy_rl.agents.doubling import chances_from, cube_values, efficiency
from nardy_rl.board import OUTCOME, OWED, unpack
from nardy_rl.cube_equity import MINE, Chances, CubeEquities, Money, Terms, cube_equities
from nardy_rl.errors import BadOption, NardyError
from nardy_rl.experiments.gnubg_program import answers
from nardy_rl.experiments.paired import Duellists, play_pairs
from nardy_rl.match_table import LEVELS, SHARES, MatchTable, MatchTerms
from nardy_rl.variants import VARIANTS

NEAR = 0.10
TIE = 1e-6  # a verdict that costs no more by gnubg's values agrees
NO_CAP = 1 << 20  # gnubg's formula knows no highest cube
GATE = 0.80
LONGEST = 15  # points away in the matches of the third part
_GAME = VARIANTS["backgammon"]
_POOL = 8  # positions asked about for one that is chosen
_LOOKED_UP = 6  # checkers a side up to which gnubg has an exact table, if all are home

# Runs inside gnubg. Boards are (the opponent of the player on roll, that player); that player has number 1.
SCRIPT = """
import gnubg, json
gnubg.command("new session")
context = gnubg.evalcontext()
context["plies"] = 0
context["noise"] = 0.0
found = []
data = json.load(open(ASKED))
for asked in data["positions"]:
    board = tuple(map(tuple, asked["board"]))
    cube = gnubg.cubeinfo(asked["cube"], asked["owner"], 1, asked["length"], tuple(asked["score"]), asked["crawford"],
                          0)
    cube["jacoby"] = asked["jacoby"]
    context["cubeful"] = 0
    chances = gnubg.evaluate(board, cube, context)
    context["cubeful"] = 1
    found.append({"chances": chances[:5], "values": gnubg.cfevaluate(board, cube, context)[1:4]})
json.dump({"found": found, "table": gnubg.met(data["longest"])}, open(ANSWERS, "w"))
"""


@dataclass(frozen=True)
class Asked:
    """Positions with cube and score, in arrays of N."""

    states: States
    owners: list[int | None]  # MINE or None
    scores: list[tuple[int, int, int]] | None = None  # match length and score of the player on roll and the other

    def question(self, jacoby: bool) -> list[dict[str, Any]]:
        """What gnubg is asked."""
        mine, theirs = (unpack(self.states[:, side : side + 4])[:, 1:].tolist() for side in (0, 4))
        asked = []
        for i, owner in enumerate(self.owners):
            length, own, other = self.scores[i] if self.scores is not None else (0, 0, 0)
            cube = {"cube": 1 if owner is None else 2, "owner": -1 if owner is None else 1, "crawford": 0}
            asked.append(
                {"board": [theirs[i], mine[i]], "length": length, "score": [other, own], "jacoby": int(jacoby), **cube}
            )
        return asked


def positions(bot: Bot, n: int, seed: int) -> States:
    """Different states uint32[n, 16] awaiting a throw, from games of the bot against itself, drawn at random."""
    games = 2 * (n // 40 + 4)
    played = play_pairs(Duellists(bot.variant, bot, bot, seed), games, threads=1, keep_plays=True)
    states = np.concatenate([step.afterstates for part in played for step in part.plays])
    states = states[(states[:, OUTCOME] == 0) & (states[:, OWED] == 0)]
    counts = [unpack(states[:, side : side + 4]) for side in (0, 4)]
    exact = np.all([(c[:, 7:].sum(axis=1) == 0) & (c[:, 1:].sum(axis=1) <= _LOOKED_UP) for c in counts], axis=0)
    states = np.unique(states[~exact], axis=0)
    return states[np.random.default_rng(seed).permutation(len(states))[:n]]


def gnubg_says(asked: Asked, jacoby: bool = False) -> tuple[Chances, CubeEquities, Any]:
    """gnubg's chances, what it says the cube actions are worth, and its match equity table."""
    data, _ = answers(SCRIPT, {"positions": asked.question(jacoby), "longest": LONGEST})
    chances = chances_from(_GAME, np.array([one["chances"] for one in data["found"]]))
    values = np.array([one["values"] for one in data["found"]])
    return chances, CubeEquities(values[:, 0], values[:, 1], values[:, 2]), data["table"]


def _rows(values: CubeEquities, chosen: NDArray[np.int64]) -> CubeEquities:
    return CubeEquities(*(value[chosen] for value in values if value is not None))


def distance(values: CubeEquities) -> NDArray[np.float64]:
    """How far positions are from a boundary, in points of the cube f64[N]."""
    double = np.abs(values.no_double - values.answered[1])
    return np.minimum(double, np.abs(values.take - values.drop))


def _ours(asked: Asked, chosen: NDArray[np.bool_], bot: Bot, owner: int | None) -> CubeEquities:
    return cube_values(bot, asked.states[chosen], Money(), 1, owner)


def by_owner(asked: Asked, values: Any) -> CubeEquities:
    """What `values(chosen, owner)` gives for the positions of each owner, put together in order."""
    found = np.zeros((3, len(asked.states)))
    for owner in (None, MINE):
        chosen = np.array([o == owner for o in asked.owners])
        found[:, chosen] = np.stack(values(chosen, owner)[:3])
    return CubeEquities(*found)


def decisions(asked: Asked, bot: Bot, theirs: CubeEquities) -> dict[str, Any]:
    """Our verdicts by the bot's net against gnubg's."""
    ours = by_owner(asked, lambda chosen, owner: _ours(asked, chosen, bot, owner))
    differ = []
    for i in range(len(asked.states)):
        if ours.names(i) != theirs.names(i):
            differ.append(_difference(asked, ours, theirs, i))
    differ = [one for one in differ if one["cost"] > TIE]
    near = distance(theirs) <= NEAR
    n = len(asked.states)
    costs = [one["cost"] for one in differ]
    return {
        "positions": n,
        "near": int(near.sum()),
        "agree": n - len(differ),
        "agreement": (n - len(differ)) / n,
        "same action": float(np.mean(ours.doubles == theirs.doubles)),
        "same answer": float(np.mean(ours.answered[0] == theirs.answered[0])),
        "mean cost": sum(costs) / n,
        "differences": sorted(differ, key=lambda one: -one["cost"]),
    }


def _difference(asked: Asked, ours: CubeEquities, theirs: CubeEquities, i: int) -> dict[str, Any]:
    """One disagreement; its cost is what our action, or our answer, loses by gnubg's values, whichever is more."""
    from nardy_rl.ids import position_id
    from nardy_rl.position import Position

    action = float(theirs.best[i] - (theirs.answered[1] if ours.doubles[i] else theirs.no_double)[i])
    answer = float((theirs.take, theirs.drop)[int(ours.answered[0][i])][i] - theirs.answered[1][i])
    return {
        "position_id": position_id(Position(_GAME, asked.states[i])),
        "cube": "in the middle" if asked.owners[i] is None else "owned",
        "ours": ", ".join(ours.names(i)),
        "gnubg": ", ".join(theirs.names(i)),
        "no_double": [float(ours.no_double[i]), float(theirs.no_double[i])],
        "take": [float(ours.take[i]), float(theirs.take[i])],
        "cost": max(action, answer),
    }


def greatest(ours: CubeEquities, theirs: CubeEquities) -> dict[str, float]:
    """The greatest and the mean difference of no double and of double and take."""
    apart = np.abs(np.stack(ours[:2]) - np.stack(theirs[:2]))
    return {"no double": float(apart[0].max()), "take": float(apart[1].max()), "mean": float(apart.mean())}


def formula(asked: Asked, chances: Chances, theirs: CubeEquities, jacoby: bool = False) -> dict[str, Any]:
    """Our formula with gnubg's chances against gnubg's values, for money."""
    x = efficiency(_GAME, asked.states)
    terms = Money(jacoby, NO_CAP)

    def values(chosen: NDArray[np.bool_], owner: int | None) -> CubeEquities:
        stake = 1 if owner is None else 2
        found = cube_equities(chances.rows(chosen), terms, stake, owner, x[chosen])
        return CubeEquities(*(terms.per_cube(value, stake) for value in found if value is not None))

    return {"positions": len(asked.states), **greatest(by_owner(asked, values), theirs)}


def table_of(theirs: Any) -> MatchTable:
    """gnubg's match equity table as one of ours."""
    before = np.zeros((LONGEST + 1, LONGEST + 1))
    after = np.ones(LONGEST + 1)
    before[0], after[1:] = 1.0, np.array(theirs[1])[:LONGEST]
    before[1:, 1:] = np.array(theirs[0])[:LONGEST, :LONGEST]
    return MatchTable(LEVELS, SHARES, before, after)


def match_formula(states: States, seed: int) -> dict[str, Any]:
    """Our formula with gnubg's chances and table against gnubg's values, at random scores before the Crawford game."""
    rng = np.random.default_rng(seed)
    needs = rng.integers(2, LONGEST + 1, (len(states), 2))
    scores = [(LONGEST, LONGEST - int(mine), LONGEST - int(other)) for mine, other in needs]
    owners = [MINE if needs[i, 0] > 2 and rng.random() < 0.4 else None for i in range(len(states))]
    asked = Asked(states, owners, scores)
    chances, theirs, table = gnubg_says(asked)
    ours, x = table_of(table), efficiency(_GAME, states)
    found, apart = np.zeros((3, len(states))), np.zeros((2, len(states)), np.bool_)
    for i, owner in enumerate(owners):
        stake = 1 if owner is None else 2
        terms: Terms = MatchTerms(ours, (int(needs[i, 0]), int(needs[i, 1])))
        values = cube_equities(chances.rows([i]), terms, stake, owner, x[i : i + 1])
        found[:, i] = [terms.per_cube(value, stake)[0] for value in values[:3] if value is not None]
        apart[:, i] = stake == 1 and max(needs[i]) == 2, terms.other.free(2 * stake)
    found[:2] = np.where(apart, np.stack(theirs[:2]), found[:2])
    return {"positions": len(states), "left_out": int(apart.sum()), **greatest(CubeEquities(*found), theirs)}


def compare(n: int, seed: int, bot_name: str = "pretrained") -> dict[str, Any]:
    """The three comparisons, over n positions each."""
    bot = load_bot(_GAME, bot_name)
    pool = positions(bot, _POOL * n, seed)
    rng = np.random.default_rng(seed)
    owners: list[int | None] = [MINE if own else None for own in rng.random(len(pool)) < 1 / 3]
    asked = Asked(pool, owners)
    chances, theirs, _ = gnubg_says(asked)
    near = distance(theirs) <= NEAR
    chosen = np.concatenate([np.flatnonzero(near)[: 2 * n // 3], np.flatnonzero(~near)])[:n]
    some = Asked(pool[chosen], [owners[i] for i in chosen])
    with_jacoby = Asked(some.states, [None] * n)
    by_jacoby = gnubg_says(with_jacoby, jacoby=True)
    return {
        "bot": bot_name,
        "decisions": decisions(some, bot, _rows(theirs, chosen)),
        "formula": formula(some, chances.rows(chosen), _rows(theirs, chosen)),
        "jacoby": formula(with_jacoby, by_jacoby[0], by_jacoby[1], jacoby=True),
        "match": match_formula(some.states, seed),
    }


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bot", default="pretrained")
    given = parser.parse_args(arguments)
    try:
        if given.positions < 3:
            raise BadOption(f"--positions {given.positions} must be at least 3")
        found = compare(given.positions, given.seed, given.bot)
    except NardyError as error:
        parser.exit(2, f"compare_cube: {error}\n")
    print(json.dumps(found, indent=1))
    return 0 if found["decisions"]["agreement"] >= GATE else 1


if __name__ == "__main__":
    sys.exit(main())
