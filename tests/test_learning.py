"""Learning, on a game so small that it is solved exactly here: the net's values must come near the true ones."""

import numpy as np
import pytest

from nardy_rl.agents.policy import Policy
from nardy_rl.batch import plays
from nardy_rl.board import OUTCOME, THROWS, TURN
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.experiments.cli import run as main
from nardy_rl.position import Position
from nardy_rl.results import score_table
from nardy_rl.variants import parse_variant

GAMES = {  # one checker a side that meet, are hit and borne off; three a side that are borne off
    "meeting": 'base = "backgammon"\nstart = "24:1"\nscore = "one"\n',
    "bear-off": 'base = "backgammon"\nstart = "5:1 3:1 2:1"\n',
}
BOUND = 0.05  # root mean square error of a position's value, in points, over the states of the policy's own games
GENERATIONS = ["td_games=0", "generation=4000", "passes=6", "refine_minibatch=32"]
BOUND_TD = 0.15  # TD alone is a good deal behind


def tidy(states):
    """States that play on alike made equal: nothing depends on how many throws were made, or who started."""
    states = states.copy()
    states[:, THROWS] = 0
    states[:, TURN] = 0
    return states


class Solved:
    """Every state of a plain game that can be reached, and its value for the player who throws next."""

    def __init__(self, variant):
        self.variant = variant
        self.table = score_table(variant)
        self.number, self.states = {}, []
        self.children = []  # for each state: for each roll the numbers of the states after its plays
        waiting = self._add(tidy(Position.start(variant).state[None]))
        while waiting:
            rows = np.stack([self.states[i] for i in waiting])
            after, first = plays(variant, np.repeat(rows, 21, axis=0), np.tile(ROLLS, (len(rows), 1)))
            scores = self._scores(after)
            numbers = np.full(len(after), -1)
            fresh = []
            for j in np.flatnonzero(after[:, OUTCOME] == 0):
                numbers[j], new = self._number(tidy(after[j : j + 1])[0])
                fresh += [numbers[j]] if new else []
            for i in range(len(rows)):
                some = [slice(first[21 * i + k], first[21 * i + k + 1]) for k in range(21)]
                self.children.append([(numbers[s], scores[s]) for s in some])
            waiting = fresh
        self._iterate()

    def _scores(self, after):
        """Points of the mover where the game is over (he is then the winner), else 0."""
        over = after[:, OUTCOME] != 0
        return np.where(over, self.table[np.maximum(after[:, OUTCOME].astype(int), 1) - 1], 0).astype(float)

    def _number(self, state):
        key = state.tobytes()
        new = key not in self.number
        if new:
            self.number[key] = len(self.states)
            self.states.append(state)
        return self.number[key], new

    def _add(self, states):
        return [self._number(s)[0] for s in states]

    def _iterate(self):
        child = [c for rolls in self.children for c, _ in rolls]
        score = np.concatenate([s for rolls in self.children for _, s in rolls])
        starts = np.cumsum([0] + [len(c) for c in child[:-1]])
        child = np.concatenate(child)
        value = np.zeros(len(self.states))
        for _ in range(2000):
            worth = np.where(child >= 0, -value[child], score)
            best = np.maximum.reduceat(worth, starts).reshape(-1, 21)
            new = best @ ROLL_WEIGHTS
            change, value = np.abs(new - value).max(), new
            if change < 1e-9:
                break
        self.value = value

    def of(self, states):
        return np.array([self.value[self.number[s.tobytes()]] for s in tidy(states)])


def states_of_play(policy, solved, games):
    """States that await a throw, met when the policy plays against itself."""
    met, rng = [], np.random.default_rng(3)
    for game in range(games):
        position = Position.opening(policy.variant, seed=9, game=game)
        while not position.over:
            if not position.owes:
                met.append(position.state)
                position = position.throw(*(int(d) for d in rng.integers(1, 7, 2)))
            position = policy.choose(position)
    return np.stack(met)


@pytest.fixture(scope="module", params=GAMES)
def solved(request, tmp_path_factory):
    file = tmp_path_factory.mktemp("game") / "tiny.toml"
    file.write_text(GAMES[request.param])
    return file, Solved(parse_variant(str(file)))


def test_the_solution_is_one(solved):
    _, solution = solved
    start = solution.of(Position.start(solution.variant).state[None])[0]
    assert 300 < len(solution.states) < 6000
    assert 0 < start < 0.9, "the player who throws first is better off"
    assert np.abs(solution.value).max() <= 3


@pytest.mark.parametrize(
    ("recipe", "bound"),
    [
        (["generation=0"], BOUND_TD),
        (["td_share=0.5", *GENERATIONS], BOUND),
        (["td_share=0.5", *GENERATIONS, "hidden2=16", "hidden3=16"], BOUND),
        (["td_share=0.5", *GENERATIONS, "nets=kinds"], BOUND),
        (["td_share=0.5", *GENERATIONS, "rollouts=2"], BOUND),
        (["td_share=0.5", *GENERATIONS, "rollouts=2", "rollout_plies=2"], BOUND),
    ],
    ids=["td", "labels", "three layers", "nets by kind", "rollouts", "truncated rollouts"],
)
def test_values_come_near_the_solution(recipe, bound, solved, tmp_path):
    file, solution = solved
    settings = ["hidden=32", "hidden2=0", "final_games=0", "strength_minutes=0", "gate_games=0", *recipe]
    words = [word for setting in settings for word in ("--set", setting)]
    out = tmp_path / "run"
    assert main(["train", str(file), "--games", "12000", "--threads", "1", "--out", str(out), *words, "--json"]) == 0
    policy = Policy.load(out)
    states = states_of_play(policy, solution, 60)
    error = policy.values(states) - solution.of(states)
    rms = np.sqrt(np.mean(error**2))
    assert rms < bound
