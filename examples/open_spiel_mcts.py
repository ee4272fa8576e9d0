"""OpenSpiel's Monte Carlo tree search plays a game of this package.

    python examples/open_spiel_mcts.py --game "nardy_hyper(max_plays=400)" --simulations 100

Every game is a game of OpenSpiel with explicit chance nodes, so its algorithms need nothing else. The other seat has a
bot of this package. It prints the plays of the first game, and who won.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import pyspiel
from open_spiel.python.algorithms.mcts import MCTSBot, RandomRolloutEvaluator

from nardy_rl.agents import load_bot
from nardy_rl.envs import open_spiel


def play(game: pyspiel.Game, bots: Sequence[pyspiel.Bot], rng: np.random.RandomState, aloud: bool) -> list[float]:
    """One game; returns what players 0 and 1 have won."""
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
            action = int(rng.choice(outcomes, p=probabilities))
        else:
            action = bots[state.current_player()].step(state)
        if aloud:
            who = "chance" if state.is_chance_node() else f"player {state.current_player()}"
            print(f"  {who:9} {state.action_to_string(action)}")
        state.apply_action(action)
    return state.returns()


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, play, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="nardy_hyper(max_plays=400)", help="a game as OpenSpiel writes it")
    parser.add_argument("--opponent", default="random", help="a bot as in `nardy evaluate`")
    parser.add_argument("--simulations", type=int, default=50, help="simulations of the search for each play")
    parser.add_argument("--games", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)

    open_spiel.register()
    game = pyspiel.load_game(given.game)
    rng = np.random.RandomState(given.seed)
    search = MCTSBot(game, uct_c=2.0, max_simulations=given.simulations, evaluator=RandomRolloutEvaluator(1, rng))
    opponent = open_spiel.ChooserBot(load_bot(game.variant, given.opponent))
    points = []
    for number in range(given.games):
        seat = number % 2
        returns = play(game, [search, opponent] if seat == 0 else [opponent, search], rng, aloud=number == 0)
        points.append(returns[seat])
    print(f"{game}: MCTS with {given.simulations} simulations against {given.opponent}, {given.games} games")
    print(f"MCTS won {sum(p > 0 for p in points)} games and {np.mean(points):+.2f} points a game")


if __name__ == "__main__":
    main()
