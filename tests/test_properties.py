"""What must hold of every game, whatever is played.

`pytest -m long tests/test_properties.py -s` plays 10,000 random games of each and prints how long they were; so does,
for one game, `nardy stats GAME --games 10000 --bot random`.
"""

from functools import cache

import naive
import numpy as np
import pytest
from agreement import oracle_rules
from hypothesis import given, settings
from hypothesis import strategies as st

from nardy_rl.agents import load_bot
from nardy_rl.batch import plays
from nardy_rl.board import (
    MY_PINS,
    OUTCOME,
    OWED,
    PLAYER,
    POINTS_MASK,
    THEIR_PINS,
    TURN,
    WORDS,
    across,
    pack,
    swap_view,
    unpack,
)
from nardy_rl.cases import case_of_state
from nardy_rl.experiments.compare import random_decisions
from nardy_rl.experiments.stats import stats
from nardy_rl.jit import kernel
from nardy_rl.notation import steps_of
from nardy_rl.position import Position, check_state, crossed
from nardy_rl.results import score_table
from nardy_rl.variants import VARIANTS, parse_variant

GAMES = [*VARIANTS, "crazy-v1:full_move=whole", "classic:last_throw=true,koks=true", "caucasian:bound_hide=end"]


@cache
def met(name):
    """Decisions of random play, uint32[N, 16], and the states after each of their plays, with `first` as in `plays`."""
    variant = parse_variant(name)
    states = random_decisions(variant, 1500, seed=21)
    return variant, states, *plays(variant, states)


@cache
def ends(name):
    """The last states of twenty random games, uint32[20, 16]."""
    variant, rng, found = parse_variant(name), np.random.default_rng(22), []
    states = np.stack([Position.opening(variant, 22, game).state for game in range(20)])
    while len(states):
        after, first = plays(variant, states, rng.integers(1, 7, size=(len(states), 2)))
        states = after[first[:-1] + (rng.random(len(states)) * np.diff(first)).astype(np.int64)]
        found.append(states[states[:, OUTCOME] > 0])
        states = states[states[:, OUTCOME] == 0]
    return np.concatenate(found)


def counts_of(rows):
    """Checkers int[N, 2, 26] of the player who acts and of the other, each in his own numbering."""
    return unpack(rows[:, :8].reshape(-1, 2, 4)).astype(int)


@pytest.mark.parametrize("name", GAMES)
def test_checkers_are_conserved(name):
    variant, states, after, _ = met(name)
    for rows in (states, after):
        assert (counts_of(rows).sum(axis=2) == variant.checkers).all()
        assert (counts_of(rows) >= 0).all()


@pytest.mark.parametrize("name", GAMES)
def test_no_point_is_shared_except_by_a_pin(name):
    variant, states, after, _ = met(name)
    rows = np.concatenate([states, after])
    counts = counts_of(rows)
    for point in range(1, 25):
        other = crossed(point, variant.parallel)
        mine, theirs = counts[:, 0, point], counts[:, 1, other]
        my_pin = rows[:, MY_PINS] >> np.uint32(point) & 1 == 1
        their_pin = rows[:, THEIR_PINS] >> np.uint32(other) & 1 == 1
        assert ((mine > 0) & (theirs > 0) == (my_pin | their_pin)).all()
        assert not (my_pin & their_pin).any()
        assert (mine[my_pin] == 1).all() and (theirs[their_pin] == 1).all()


@pytest.mark.parametrize("name", GAMES)
def test_only_the_player_who_acts_moves_his_checkers_forward(name):
    _, states, after, first = met(name)
    before = np.repeat(counts_of(states), np.diff(first), axis=0)
    turned = (np.repeat(states[:, TURN], np.diff(first)) ^ after[:, TURN]) & PLAYER == 1
    now = counts_of(after)
    now[turned] = now[turned][:, ::-1]
    # checkers behind each point, the bar included: of the mover never more, of the other only those that were hit
    behind = [sides[:, :, ::-1].cumsum(axis=2)[:, :, ::-1] for sides in (before, now)]
    assert (behind[1][:, 0] <= behind[0][:, 0]).all()
    hit = now[:, 1, 25] - before[:, 1, 25]
    assert (hit >= 0).all()
    assert ((now[:, 1, :25] <= before[:, 1, :25]).all(axis=1)).all()


@pytest.mark.parametrize("name", GAMES)
def test_no_two_plays_of_a_decision_lead_to_the_same_state(name):
    _, _, after, first = met(name)
    rows = np.concatenate(
        [after, np.repeat(np.arange(len(first) - 1), np.diff(first))[:, None].astype(np.uint32)], axis=1
    )
    assert len(np.unique(rows, axis=0)) == len(rows)
    assert (np.diff(first) > 0).all()


@pytest.mark.parametrize("name", GAMES)
def test_every_state_that_is_met_can_stand_in_a_game(name):
    variant, states, after, _ = met(name)
    for row in np.concatenate([states[::5], after[::29]]):
        check_state(variant, row)


@pytest.mark.parametrize("name", GAMES)
def test_texts_are_read_back(name):
    variant, states, after, _ = met(name)
    for row in np.concatenate([states[::15], after[::151], ends(name)]):
        position = Position(variant, row)
        assert Position.from_text(position.text) == position


@pytest.mark.parametrize("name", GAMES)
def test_moves_are_read_back(name):
    variant, states, after, first = met(name)
    for i in range(0, len(states), 60):
        position = Position(variant, states[i])
        for row in after[first[i] : first[i + 1]][:12]:
            play = Position(variant, row)
            assert position.after(position.move_text(play)) == play


@pytest.mark.parametrize("name", GAMES)
def test_scores_are_zero_sum_and_those_of_the_table(name):
    variant, over = parse_variant(name), ends(name)
    table = score_table(variant)
    assert len(over) == 20 and not over[:, OWED].any()
    for row in over:
        position = Position(variant, row)
        points = [position.score(player) for player in (0, 1)]
        assert points[0] == -points[1]
        assert points[position.player] == table[int(row[OUTCOME]) - 1] >= 0


@pytest.mark.parametrize("name", VARIANTS)
def test_every_play_uses_the_most_dice(name):
    """Against the oracle's list of all sequences of single moves, before its own full-move rule."""
    variant, states, after, first = met(name)
    rules = oracle_rules(variant)
    for i in range(0, len(states), 40):
        position, continuation = case_of_state(variant, states[i])
        state = position | continuation
        nodes = naive.obeying_blocks(rules, state, list(naive.sequences(rules, state)))
        if rules["binds"]:
            nodes = naive.unbound(rules, nodes)
        most = max(len(node.used) for node in nodes)
        before = Position(variant, states[i])
        for row in after[first[i] : first[i + 1]]:
            play = Position(variant, row)
            assert play.over or len(steps_of(before, play)) == most


@pytest.mark.parametrize("name", ["crazy-v1", "crazy-gulbar", "giul", "plakoto-express"])
def test_plays_that_count_the_whole_progression_are_some_of_the_stages(name):
    _, states, after, first = met(name)
    whole, at = plays(f"{name}:full_move=whole", states)
    fewer = 0
    for i in range(len(states)):
        of_stage = {row.tobytes() for row in after[first[i] : first[i + 1]]}
        of_whole = {row.tobytes() for row in whole[at[i] : at[i + 1]]}
        assert of_whole and of_whole <= of_stage
        fewer += of_whole < of_stage
    assert fewer > 20


# ---------------------------------------------------------------------------------------- words of a state


@kernel
def points_across(mask, parallel):
    """A mask of points in the other side's numbering."""
    return across(mask, parallel)


@kernel
def turned_round(row):
    """Turn a state round, in place."""
    swap_view(row)


@settings(deadline=None)  # the kernels are compiled at the first call
@given(st.integers(0, POINTS_MASK >> 1), st.booleans())
def test_points_across_twice_are_the_same(points, parallel):
    mask = points << 1
    other = points_across(np.int64(mask), np.int64(parallel))
    assert points_across(np.int64(other), np.int64(parallel)) == mask
    assert {crossed(d, parallel) for d in range(1, 25) if mask >> d & 1} == {d for d in range(26) if other >> d & 1}


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=WORDS, max_size=WORDS))
def test_a_state_turned_round_twice_is_the_same(words):
    row = np.array(words, np.uint32)
    row[TURN] &= 0xFFFF
    once = row.copy()
    turned_round(once)
    assert (once[:4] == row[4:8]).all() and once[TURN] & PLAYER != row[TURN] & PLAYER
    turned_round(once)
    assert (once == row).all()


@settings(deadline=None)
@given(st.lists(st.integers(0, 15), min_size=26, max_size=26))
def test_planes_hold_the_counts_of_checkers(counts):
    assert unpack(pack(np.array(counts))).tolist() == counts


@given(st.sampled_from(sorted(VARIANTS)), st.integers(0, 2**62), st.integers(0, 1000))
@settings(max_examples=100, deadline=None)
def test_an_opening_is_a_function_of_seed_and_number_and_can_stand_in_a_game(name, seed, game):
    position = Position.opening(name, seed, game)
    assert position == Position.opening(name, seed, game)
    check_state(position.variant, position.state)
    assert position.throws[position.starter] == 1 and position.player == position.thrower == position.starter
    assert Position.from_text(position.text) == position


# ---------------------------------------------------------------------------------------- the ends of games


@pytest.mark.parametrize("name", GAMES)
def test_random_games_end(name):
    variant = parse_variant(name)
    told = stats(variant, load_bot(variant, "random"), games=50, seed=5, threads=1)
    assert told["unfinished"] == 0 and sum(result["games"] for result in told["results"]) == 50


@pytest.mark.parametrize("name", VARIANTS)
def test_a_game_that_the_cap_cuts_off_is_reported_and_has_no_winner(name):
    variant = VARIANTS[name]
    told = stats(variant, load_bot(variant, "random"), games=20, seed=5, threads=1, cap=1)
    assert told["unfinished"] + sum(result["games"] for result in told["results"]) == 20
    assert told["unfinished"] >= 15 and told["decisions"] == 20


@pytest.mark.long
@pytest.mark.parametrize("name", VARIANTS)
def test_ten_thousand_random_games_end(name):
    variant = VARIANTS[name]
    told = stats(variant, load_bot(variant, "random"), games=10_000, seed=1)
    length = told["plies"]
    print(f"\n{name}: {length['mean']:.1f} plays a game, at most {length['longest']}, {told['unfinished']} unfinished")
    # Where checkers never move inside the home, both sides can wait for each other for ever: rare, and told.
    assert told["unfinished"] <= (10 if variant.freeze == "always" else 0)
