"""Labels: the expected target of a throw, followed through debts and stages, against a slow recursion with Position."""

import numpy as np
import pytest

from nardy_rl.agents.labels import LabelSettings, expected_batch, label_games, new_notes, rollout_labels
from nardy_rl.agents.net import new_net, outputs_of
from nardy_rl.agents.quick import new_quick, quantise, quick_batch, quick_work_of
from nardy_rl.agents.sieve import FEATURES, Sieve, new_ranked, sift
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.encoding import encoding_of
from nardy_rl.plays import scratch
from nardy_rl.position import Position
from nardy_rl.rules import rules_of
from nardy_rl.starts import start_of
from nardy_rl.variants import parse_variant


class Player:
    """A random net of a game, and the slow way to its targets."""

    def __init__(self, game, seed=3, keep=0):
        self.variant = parse_variant(game)
        self.rules, self.encoding = rules_of(self.variant), encoding_of(self.variant)
        self.meaning = outputs_of(self.variant)
        self.net = new_net(self.encoding, self.meaning, (16, 8), seed)
        self.quick, self.work = new_quick(self.net), quick_work_of(self.net)
        self.scratch, self.notes = scratch(), new_notes(self.meaning, 400, keep)
        quantise(self.encoding, self.quick, self.work)

    def outputs(self, states):
        states = np.ascontiguousarray(states)
        out = np.zeros((len(states), len(self.meaning.points)), np.float32)
        values = np.zeros(len(states), np.float32)
        quick_batch(self.rules, self.encoding, self.quick, self.meaning, self.work, states, out, values)
        return out.astype(float), values.astype(float)

    def flip(self, x):
        y = x[self.meaning.flip_from].copy()
        if not self.meaning.draws:
            y[0] = 1 - y[0]
        return y

    def follow(self, position):
        """Outputs, for the player of the position, where the best plays lead until a throw is next."""
        if position.over or not position.owes:
            return self.outputs(position.state[None])[0][0]
        after = position.plays()
        _, values = self.outputs(np.stack([p.state for p in after]))
        signs = np.array([1 if p.player == position.player else -1 for p in after])
        best = after[int(np.argmax(signs * values))]
        out = self.follow(best)
        return out if best.player == position.player else self.flip(out)

    def expected(self, position):
        """The mean over the 21 rolls of what they lead to, for the player of the position."""
        if position.over or position.owes:
            return self.follow(position)
        throws = [position.throw(int(a), int(b)) for a, b in ROLLS]
        return ROLL_WEIGHTS @ np.stack([self.follow(p) for p in throws])

    def fast(self, states):
        out = np.zeros((len(states), len(self.meaning.points)), np.float32)
        expected_batch(
            self.rules, self.encoding, self.quick, self.meaning, self.work, self.scratch, self.notes, states, out
        )
        return out

    def games(self, number, settings, seed=7):
        states = np.zeros((20000, 16), np.uint32)
        labels = np.zeros((20000, len(self.meaning.points)), np.float32)
        counts = np.zeros(number, np.int64)
        done, n = label_games(
            self.rules, self.encoding, start_of(self.variant), self.quick, self.meaning, self.work, self.scratch,
            self.notes, np.uint64(seed), 0, number, settings, states, labels, counts,
        )  # fmt: skip
        assert done == number and n == counts.sum()
        return states[:n], labels[:n], counts


def small_positions(game, number, seed):
    """Positions late in random games: few checkers are left, so that every throw can be searched through in Python."""
    variant, rng = parse_variant(game), np.random.default_rng(seed)
    found, number_of_game = [], 0
    while len(found) < number:
        position = Position.opening(variant, seed=seed, game=number_of_game)
        number_of_game += 1
        late = []
        while not position.over:
            if not position.owes:
                position = position.throw(*(int(d) for d in rng.integers(1, 7, 2)))
            choices = position.plays()
            position = choices[rng.integers(len(choices))]
            late.append(position)
        found += [late[i] for i in rng.integers(max(0, len(late) - 30), len(late), 6)]
    return found[:number]


DEBTS = ["crazy-v1", "giul", "gulbar", "plakoto-express"]


@pytest.mark.parametrize("game", [*DEBTS, "backgammon", "caucasian"])
def test_targets_are_those_of_a_slow_recursion(game):
    player = Player(game)
    positions = small_positions(game, 24, seed=11)
    assert any(p.owes for p in positions) == (game in DEBTS)
    want = np.stack([player.expected(p) for p in positions])
    got = player.fast(np.stack([p.state for p in positions]))
    np.testing.assert_allclose(got, want, atol=1e-6)


def drawn_sieve(seed):
    """A sieve of random weights."""
    return Sieve(np.random.default_rng(seed).normal(size=(2, 2 * FEATURES)).astype(np.float32), 150)


def test_only_the_plays_that_the_sieve_ranks_first_are_looked_at():
    keep, sieve = 3, drawn_sieve(5)
    player, other = Player("backgammon", keep=keep), Player("backgammon")
    player.notes = player.notes._replace(sieve=sieve)
    states = np.stack([p.state for p in small_positions("backgammon", 24, seed=11) if not p.over])
    kept, number = np.zeros((keep, 21 * len(states), 16), np.uint32), np.zeros(21 * len(states), np.int64)
    sift(player.rules, sieve, ROLLS, player.scratch, new_ranked(keep), states, kept, number)
    assert (number == keep).mean() > 0.5
    want = np.zeros((len(states), len(player.meaning.points)))
    for at in range(21 * len(states)):
        outputs, values = player.outputs(kept[: number[at], at])  # of the opponent, who throws next
        want[at // 21] += ROLL_WEIGHTS[at % 21] * player.flip(outputs[np.argmin(values)])
    got = player.fast(states)
    np.testing.assert_allclose(got, want, atol=1e-6)
    assert np.abs(got - other.fast(states)).max() > 0.001  # where the best play is left out


@pytest.mark.parametrize("game", ["crazy-v1", "backgammon"])
def test_labels_run_back_along_the_game(game):
    player = Player(game)
    trace = 0.8
    states, labels, counts = player.games(2, LabelSettings(trace, 0.0, 0.0, 400))
    follows = np.stack([player.follow(Position(player.variant, s)) for s in states])
    ends = np.cumsum(counts) - 1
    some = [t for t in range(len(states)) if t in ends or t % 7 == 0 or Position(player.variant, states[t]).owes]
    for t in some[:60]:
        position = Position(player.variant, states[t])
        if t in ends:  # the play that ends the game, or one to it: nothing is added
            want = player.expected(position)
        else:
            other = Position(player.variant, states[t + 1]).player != position.player
            if position.owes:
                want = player.flip(labels[t + 1]) if other else labels[t + 1]
            else:
                ahead = labels[t + 1] - follows[t + 1]
                zero = np.zeros_like(ahead)
                step = player.flip(ahead) - player.flip(zero) if other else ahead
                want = player.expected(position) + trace * step
        np.testing.assert_allclose(labels[t], want, atol=2e-6)


def test_after_a_random_play_a_label_is_the_expected_target():
    player = Player("backgammon")
    states, labels, _ = player.games(1, LabelSettings(0.9, 1.0, 100.0, 60))
    np.testing.assert_allclose(labels, player.fast(states), atol=1e-7)


def test_random_plays_stay_within_the_margin():
    player = Player("backgammon")
    best = player.games(1, LabelSettings(0.9, 0.0, 0.0, 60))[0]
    same = player.games(1, LabelSettings(0.9, 0.0, 100.0, 60))[0]
    np.testing.assert_array_equal(best, same)


def rolled_out(player, states, rollouts, plies):
    labels = np.zeros((len(states), len(player.meaning.points)), np.float32)
    line = np.zeros((plies + 1, 16), np.uint32), np.zeros((plies + 1, labels.shape[1]), np.float32)
    rollout_labels(
        player.rules, player.encoding, player.quick, player.meaning, player.work, player.scratch, player.notes,
        np.uint64(1), 0, np.array([len(states)]), rollouts, LabelSettings(1.0, 0.0, 0.0, plies), states, labels, line,
    )  # fmt: skip
    return labels


@pytest.mark.parametrize("game", ["crazy-v1", "backgammon"])
def test_a_rollout_of_one_ply_is_the_expected_target(game):
    player = Player(game)
    states = np.stack([p.state for p in small_positions(game, 12, seed=2)])
    np.testing.assert_allclose(rolled_out(player, states, 2, 1), player.fast(states), atol=1e-6)


def test_rollouts_come_out_at_the_true_value_of_the_players_own_play():
    """Three checkers a side that are borne off: the value of playing by a random net is known by recursion."""
    player = Player("backgammon")
    text = "backgammon 6:1 5:1 3:1 off:12 | 6:1 4:1 2:1 off:12 | turn=0"
    start = Position.from_text(text)
    known = {}

    def value(position):
        """Outputs for the player of a position that awaits a throw, or is over, when both play by the net."""
        if position.over:
            return player.outputs(position.state[None])[0][0]
        key = position.state[:8].tobytes()
        if key not in known:
            total = 0
            for weight, (a, b) in zip(ROLL_WEIGHTS, ROLLS, strict=True):
                thrown = position.throw(int(a), int(b))
                after = thrown.plays()
                _, values = player.outputs(np.stack([p.state for p in after]))
                signs = np.array([1 if p.player == position.player else -1 for p in after])
                best = after[int(np.argmax(signs * values))]
                out = value(best)
                total = total + weight * (out if best.player == position.player else player.flip(out))
            known[key] = total
        return known[key]

    lines = rolled_out(player, np.tile(start.state, (8000, 1)), 1, 60)
    error = lines.std(axis=0) / np.sqrt(len(lines))
    assert np.all(error < 0.01)
    np.testing.assert_array_less(np.abs(lines.mean(axis=0) - value(start)), 4 * error + 1e-6)


def test_rollouts_are_a_function_of_the_seed_and_each_has_dice_of_its_own():
    player = Player("backgammon")
    states = np.stack([p.state for p in small_positions("backgammon", 3, seed=4) if not p.over])
    one, many = rolled_out(player, states, 1, 200), rolled_out(player, states, 50, 200)
    np.testing.assert_array_equal(rolled_out(player, states, 50, 200), many)
    np.testing.assert_array_equal(rolled_out(player, states, 1, 200), one)
    assert np.abs(one - many).max() > 1e-3
