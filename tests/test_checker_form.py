"""The checker form: the masked paths of a stage are its legal plays, all of them and nothing else."""

import copy

import naive
import numpy as np
import pytest

from nardy_rl.batch import plays
from nardy_rl.board import OWED, WORDS
from nardy_rl.cases import case_of_state
from nardy_rl.envs import checker
from nardy_rl.envs.actions import action_form
from nardy_rl.envs.game import Game
from nardy_rl.errors import IllegalPlay
from nardy_rl.experiments.compare import random_decisions
from nardy_rl.jit import kernel
from nardy_rl.options import options_of
from nardy_rl.plays import MAX_PLAYS
from nardy_rl.position import Position
from nardy_rl.rules import rules_of
from nardy_rl.variants import VARIANTS, parse_variant

OPTIONS = (
    "caucasian:bound_off=play",
    "caucasian:bound_hide=end",
    "classic:block=sport",
    "classic:last_throw=true",
    "crazy-gulbar:full_move=whole",
)


def mixed_states(variant, number, seed):
    """Decisions of random games of the table's game, half of them with equal dice."""
    states = random_decisions(VARIANTS[variant.id], 12 * number, seed)
    words = states[:, OWED].astype(np.int64)
    if variant.full_move == "whole":  # to look through many stages takes seconds a state
        words = words[(words >> 12 & 7) - (words >> 6 & 7) < 2]
    equal = (words & 7) == (words >> 3 & 7)
    rng = np.random.default_rng(seed)
    chosen = [rng.permutation(np.flatnonzero(of)) for of in (equal, ~equal)]
    return np.concatenate([states[chosen[0][: number // 2]], states[chosen[1][: number - number // 2]]])


@kernel
def walk_all(tree, mask, stack, met, reached):
    """Follow the masked paths of the tree; marks in reached bool[n] the plays that end one.

    stack: int64[M]; met: bool[6 * MAX_PLAYS], the nodes met, all False before. What follows at a node does not depend
    on the way to it, so that one visit stands for all the paths through it. Returns the number of nodes met, or -1 at
    one where mask and children disagree, or where there is nothing to do.
    """
    top, nodes = 1, 0
    stack[0] = 0
    while top:
        top -= 1
        node = stack[top]
        if met[node]:
            continue
        met[node] = True
        nodes += 1
        play = checker.leaf(tree, node)
        n = checker.mask_into(tree, node, mask)
        if (n > 0) == (play >= 0) or n != mask.sum():
            return -1
        if play >= 0:
            reached[play] = True
        for action in range(checker.ACTIONS):
            following = checker.child(tree, node, action)
            if (following >= 0) != (mask[action] == 1):
                return -1
            if following >= 0:
                stack[top] = following
                top += 1
    return nodes


def assert_paths_are_the_plays(variant, states):
    rules, tree = rules_of(variant), checker.new_tree()
    mask, stack = np.zeros(checker.ACTIONS, np.int8), np.zeros(1 << 16, np.int64)
    after, first = plays(variant, states)
    for i, state in enumerate(states):
        n = checker.build(rules, state, tree)
        expected = {row.tobytes() for row in after[first[i] : first[i + 1]]}
        assert n == len(expected) and {row.tobytes() for row in tree.after[:n]} == expected
        met, reached = np.zeros(6 * MAX_PLAYS, np.bool_), np.zeros(n, np.bool_)
        nodes = walk_all(tree, mask, stack, met, reached)
        assert nodes > 0 and reached.all(), Position(variant, state).text


@pytest.mark.parametrize("name", [*VARIANTS, *OPTIONS])
def test_the_masked_paths_of_200_stages_end_in_the_plays_and_in_all_of_them(name):
    variant = parse_variant(name)
    assert_paths_are_the_plays(variant, mixed_states(variant, 200, seed=4))


def test_the_masked_paths_of_a_stage_with_2140_plays_are_walked_too():
    fifteen = " ".join(f"{point}:1" for point in (24, 23, 22, 20, 19, 17, 16, 14, 13, 11, 10, 8, 7, 5, 4))
    position = Position.from_text(f"backgammon {fifteen} | 24:13 23:1 16:1 | turn=0 throws=20,20 dice=11")
    assert len(position.plays()) == 2140
    assert_paths_are_the_plays(position.variant, position.state[None])


# ---------------------------------------------------------------------------------------- beside the slow oracle


def oracle_moves(rules, state):
    """The oracle's nodes from which a play can be completed, each with its (action, next node); and the plays' ends."""
    ends = naive.stage_plays(rules, state)
    if rules["full_move"] == "whole" and rules["doubles"] == "progression":
        ends = naive.whole_progression(rules, state, ends)
    ends, moves = set(ends), {}

    def leads_to_a_play(node):
        if node not in moves:
            moves[node] = []
            dice = () if node.score is not None or node in ends else sorted(set(node.dice))
            for move in (move for die in dice for move in naive.single_moves(rules, state, node, die)):
                after = naive.after_move(rules, state, node, move)
                blind = rules["block"] == "sport" and naive.has_blind_block(rules, after.board, state["player"])
                if not blind and leads_to_a_play(after):
                    moves[node].append(((move.source - 1) * 6 + move.die - 1, after))
        return node in ends or bool(moves[node])

    assert leads_to_a_play(naive.root(state))
    return moves, ends


def inside_of(variant, tree, node):
    """Board, pins and dice inside a play, as the oracle has them."""
    row = np.zeros(WORDS, np.uint32)
    checker.state_into(rules_of(variant), tree, node, row)
    row[14:] = 0
    position, context = case_of_state(variant, row)
    return (*(tuple(map(naive.read_board, position["board"])), naive.stage_dice(context)), position["pinned"])


def play_after(variant, row):
    """An afterstate as the oracle's `canon` has it."""
    position, context = case_of_state(variant, row)
    return naive.canon(position | {"next": context})


def assert_same_paths(variant, rules, row):
    """Walk our tree and the oracle's together: the same board, actions and, at the end, the same play."""
    tree, mask = checker.new_tree(), np.zeros(checker.ACTIONS, np.int8)
    position, context = case_of_state(variant, row)
    state = position | context
    moves, ends = oracle_moves(rules, state)
    checker.build(rules_of(variant), row, tree)
    root = naive.root(state)
    # several of the oracle's nodes for one of ours: where a move may mean a free or a bound checker
    waiting, met = [(0, frozenset([root]))], set()
    while waiting:
        ours, theirs = waiting.pop()
        if (ours, theirs) in met:
            continue
        met.add((ours, theirs))
        checker.mask_into(tree, ours, mask)
        play = checker.leaf(tree, ours)
        for node in theirs:
            if play < 0:
                assert inside_of(variant, tree, ours) == (node.board, node.dice, [list(p) for p in node.pinned])
            if node != root:
                assert (node in ends) == (play >= 0)
            if play >= 0:
                assert play_after(variant, tree.after[play]) == naive.canon(naive.play_of(rules, state, node))
        following = {}
        for node in theirs:
            for action, after in moves[node]:
                following.setdefault(action, set()).add(after)
        if root in ends:  # nothing moves
            following = {checker.DONE: {root}} if ours == 0 else {}
        assert sorted(following) == np.flatnonzero(mask).tolist(), Position(variant, row).text
        waiting += [(int(checker.child(tree, ours, a)), frozenset(nodes)) for a, nodes in following.items()]


@pytest.mark.parametrize("name", [*VARIANTS, *OPTIONS])
def test_the_masks_are_those_of_the_slow_oracle(name):
    variant = parse_variant(name)
    base = options_of(VARIANTS[variant.id])
    rules = naive.make(variant.id, {key: value for key, value in options_of(variant).items() if value != base[key]})
    for state in mixed_states(variant, 8, seed=9):
        assert_same_paths(variant, rules, state)


# ---------------------------------------------------------------------------------------- one game


def played(forms, seed, steps):
    """Random legal actions in some games by turns; what each game's states and plays were, as bytes."""
    rng = np.random.default_rng(seed)
    seen = [[] for _ in forms]
    for _ in range(steps):
        draw = rng.random()
        for form, states in zip(forms, seen, strict=True):
            legal = np.flatnonzero(form.mask())
            if len(legal):
                states.append((form.state.tobytes(), form.step(int(legal[int(draw * len(legal))]))))
    return seen


def new_form(name, seed):
    game = Game(name)
    game.reset(seed)
    form = action_form("checker", game)
    form.begin()
    return form


def test_games_that_take_turns_in_one_thread_do_not_disturb_each_other():
    alone = [played([new_form("crazy-v1", seed)], 1, 300)[0] for seed in (1, 2)]
    assert played([new_form("crazy-v1", 1), new_form("crazy-v1", 2)], 1, 300) == alone


def test_a_copy_inside_a_play_goes_its_own_way():
    form = new_form("backgammon", 3)
    form.step(int(np.flatnonzero(form.mask())[0]))
    other = copy.deepcopy(form)
    last = int(np.flatnonzero(form.mask())[-1])
    assert form.step(int(np.flatnonzero(form.mask())[0]))
    assert other.step(last)
    fresh = new_form("backgammon", 3)
    fresh.step(int(np.flatnonzero(fresh.mask())[0]))
    fresh.step(last)
    assert other.state.tobytes() == fresh.state.tobytes() != form.state.tobytes()


def test_an_illegal_action_is_refused_and_changes_nothing():
    form = new_form("backgammon", 1)
    before = form.state.tobytes()
    for action in (checker.DONE, -1, 151, int(np.flatnonzero(form.mask() == 0)[0])):
        assert not form.is_legal(action)
        with pytest.raises(IllegalPlay, match=f"action {action} is not legal in backgammon 24:2"):
            form.step(action)
    assert form.state.tobytes() == before


def test_done_is_the_only_action_where_no_checker_can_move():
    game = Game("backgammon")
    game.reset(1, "backgammon 13:5 8:5 6:4 bar:1 | 6:2 5:2 4:2 3:3 2:3 1:3 | turn=0 throws=1,1 dice=31")
    form = action_form("checker", game)
    form.begin()
    assert np.flatnonzero(form.mask()).tolist() == [checker.DONE]
    assert form.step(checker.DONE) and game.plays_made == 1
