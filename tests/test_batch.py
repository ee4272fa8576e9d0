"""The batched face of the engine: it says of many states what `Position` says of one, and refuses what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nardy_rl import batch
from nardy_rl.batch import (
    acting,
    encode,
    encode_sparse,
    inputs,
    outcomes,
    over,
    owing,
    plays,
    rolls,
    scores,
    starts,
    streams,
    throw,
    unpack,
)
from nardy_rl.errors import BadOption, BadPosition, NardyError
from nardy_rl.position import Position
from nardy_rl.results import DRAW
from nardy_rl.variants import VARIANTS

GAMES = [*VARIANTS, "classic:last_throw=true,koks=true"]


def random_games(name: str, n: int, seed: int, first: int = 0) -> tuple[list[Any], Any]:
    """Games of random play in lockstep, with arrays alone: all states met in each step, and the last state of each."""
    states, dice = starts(name, n, seed, first=first), streams(n, seed, first=first)
    draws = streams(n, seed + 1, first=first)
    met = []
    while not over(states).all():
        met.append(states)
        live = ~over(states)
        after, start = plays(name, states[live])
        some = draws[live]
        chosen = start[:-1] + (rolls(some)[:, 0] * 7 + rolls(some)[:, 1]) % np.diff(start)
        draws[live] = some
        states = states.copy()
        states[live] = after[chosen]
        met.append(states)
        states = throw(name, states, rolls(dice))
    return met, states


# ------------------------------------------------------------------------------------------------- games and dice


@pytest.mark.parametrize("name", GAMES)
def test_starts_are_the_openings_of_single_games(name: str) -> None:
    states = starts(name, 20, seed=5, first=3)
    assert states.shape == (20, 16) and states.dtype == np.uint32
    for i, state in enumerate(states):
        assert Position(name, state) == Position.opening(name, seed=5, game=3 + i)


@pytest.mark.parametrize("name", GAMES)
def test_a_start_that_is_not_thrown_is_the_opening_without_its_throw(name: str) -> None:
    before, opened = starts(name, 20, seed=5, thrown=False), starts(name, 20, seed=5)
    assert not owing(before).any() and (acting(before) == acting(opened)).all()
    assert all(Position(name, state).throws == (0, 0) for state in before)
    dice = np.array([Position(name, state).dice for state in opened])
    assert (throw(name, before, dice) == opened).all()


def test_a_game_has_the_same_dice_in_every_batch() -> None:
    whole, part = streams(50, seed=9), streams(10, seed=9, first=20)
    for _ in range(5):
        assert (rolls(whole)[20:30] == rolls(part)).all()
    assert not (rolls(streams(50, seed=9)) == rolls(streams(50, seed=10))).all()


def test_all_rolls_are_equally_likely_and_tell_nothing_of_the_opening() -> None:
    n = 36_000
    dice = rolls(streams(n, seed=1))
    seen = np.bincount((dice[:, 0] - 1) * 6 + dice[:, 1] - 1, minlength=36)
    assert seen.sum() == n and abs(seen - 1000).max() < 150  # five standard deviations
    opening = np.array([Position("classic", state).dice for state in starts("classic", 2000, seed=1)])
    same = (np.sort(opening, axis=1) == np.sort(dice[:2000], axis=1)).all(axis=1).mean()
    assert 0.02 < same < 0.09  # 11 of 216 by chance


def test_throwing_leaves_alone_what_owes_or_is_finished_and_changes_no_argument() -> None:
    met, last = random_games("hyper", 30, seed=2)
    mixed = np.concatenate([met[0], met[5], last])
    kept = mixed.copy()
    after = throw("hyper", mixed, np.full((len(mixed), 2), 3))
    assert (mixed == kept).all()
    still = owing(mixed) | over(mixed)
    assert still.any() and not still.all()
    assert (after[still] == mixed[still]).all()
    for state, thrown in zip(mixed[~still], after[~still], strict=True):
        assert Position("hyper", state).throw(3, 3).state.tolist() == thrown.tolist()


@pytest.mark.parametrize("name", ["backgammon", "crazy-v1", "plakoto"])
def test_a_game_is_the_same_game_in_every_batch(name: str) -> None:
    _, together = random_games(name, 12, seed=4)
    for i in (0, 7, 11):
        _, alone = random_games(name, 1, seed=4, first=i)
        assert (alone[0] == together[i]).all()


# --------------------------------------------------------------------------------------------- looking into states


@pytest.mark.parametrize("name", GAMES)
def test_arrays_say_what_positions_say(name: str) -> None:
    met, last = random_games(name, 6, seed=3)
    states = np.concatenate([*met[:: max(1, len(met) // 40)], last])
    facts = zip(owing(states), over(states), acting(states), scores(name, states), outcomes(states), strict=True)
    boards, turned = unpack(states), unpack(states, by="turn")
    for i, (owes, ended, player, score, outcome) in enumerate(facts):
        position = Position(name, states[i])
        assert (owes, ended, player) == (position.owes, position.over, position.player)
        assert (outcome >= 0) is np.bool_(position.over)
        wanted = [position.score(p) for p in (0, 1)] if position.over else [0, 0]
        assert score.tolist() == wanted and score.dtype == np.float32
        assert (boards.checkers[i] == position.counts).all()
        assert [tuple(np.flatnonzero(side)) for side in boards.pinned[i]] == list(position.pins)
        order = [position.player, 1 - position.player]
        assert (turned.checkers[i] == boards.checkers[i][order]).all()
        assert (turned.pinned[i] == boards.pinned[i][order]).all()


def test_pins_and_draws_were_among_them() -> None:
    met, last = random_games("plakoto", 300, seed=3)
    assert unpack(np.concatenate(met[::10])).pinned.any()
    drawn = outcomes(last) == DRAW
    assert drawn.any() and not scores("plakoto", last)[drawn].any()
    assert not np.signbit(scores("plakoto", last)[drawn]).any()


# ------------------------------------------------------------------------------------------------------- inputs


@pytest.mark.parametrize("kind", ["plain", "patterns"])
@pytest.mark.parametrize("name", ["backgammon", "crazy-v1", "plakoto-express", "fevga"])
def test_the_table_of_inputs_covers_every_column_once(name: str, kind: str) -> None:
    table = inputs(name, kind)
    states = starts(name, 30, seed=1)
    dense = encode(name, states, kind)
    assert dense.shape == (30, sum(block.size for block in table)) and dense.dtype == np.float32
    ends = [0, *(block.first + block.size for block in table)]
    assert [block.first for block in table] == ends[:-1]
    assert len({block.name for block in table}) == len(table) and all(block.meaning for block in table)


def test_sparse_inputs_are_the_dense_ones() -> None:
    met, _ = random_games("crazy-v1", 20, seed=8)
    states = np.concatenate(met[::7])
    listed = encode_sparse("crazy-v1", states)
    dense = np.zeros((len(states), listed.size), np.float32)
    for i in range(len(states)):
        span = slice(listed.first[i], listed.first[i + 1])
        np.add.at(dense[i], listed.column[span], 1)
    assert (dense == encode("crazy-v1", states)).all()
    assert (np.diff(listed.first) > 10).all() and listed.first[-1] == len(listed.column)


def test_what_the_table_says_of_the_plain_inputs_is_so() -> None:
    start = starts("backgammon", 1, thrown=False)
    mine = encode("backgammon", start, "plain")[0, :98]
    points = mine[:96].reshape(24, 4)
    assert points[5].tolist() == [1, 1, 1, 2] and points[23].tolist() == [1, 1, 0, 0]  # five on 6, two on 24
    assert points.any(axis=1).sum() == 4 and mine[96:].tolist() == [0, 0]


def test_no_states_give_no_rows() -> None:
    none = starts("backgammon", 0)
    after, first = plays("backgammon", none)
    assert (after.shape, first.tolist()) == ((0, 16), [0])
    assert encode("backgammon", none, "plain").shape == (0, 196)
    assert unpack(none).checkers.shape == (0, 2, 26) and scores("backgammon", none).shape == (0, 2)
    assert rolls(streams(0)).shape == (0, 2)


# ------------------------------------------------------------------------------------------------------- refusals

START = starts("backgammon", 2)
REFUSED: list[tuple[Any, type[NardyError], str]] = [
    (lambda: starts("backgammon", -1), BadOption, "n=-1"),
    (lambda: starts("backgammon", 2.0), BadOption, "n=2.0"),  # type: ignore[arg-type]
    (lambda: starts("backgammon", 2, seed=-3), BadOption, "seed=-3"),
    (lambda: starts("backgammon", 2, seed=1 << 63), BadOption, "seed="),
    (lambda: starts("backgamon", 2), NardyError, "did you mean 'backgammon'"),
    (lambda: streams(2, first=-1), BadOption, "first=-1"),
    (lambda: rolls(np.zeros(3)), BadPosition, "streams"),  # type: ignore[arg-type]
    (lambda: rolls(streams(6)[::2]), BadPosition, "one piece"),
    (lambda: throw("backgammon", START, [[1, 7], [1, 1]]), BadPosition, "dice[0]"),
    (lambda: throw("backgammon", START, [[1, 6]]), BadPosition, "[2, 2]"),
    (lambda: throw("backgammon", START[0], [[1, 6]]), BadPosition, "uint32[N, 16]"),
    (lambda: plays("backgammon", starts("backgammon", 1, thrown=False)), BadPosition, "owes nothing"),
    (lambda: plays("backgammon", START.astype(np.int64)), BadPosition, "int64"),
    (lambda: over(START[:, :8]), BadPosition, "uint32[2, 8]"),
    (lambda: unpack(START, by="mover"), BadOption, "by='mover'"),
    (lambda: encode("backgammon", START, "pattern"), BadOption, "'pattern'"),
    (lambda: inputs("backgammon", "all"), BadOption, "'all'"),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED, ids=[words for _, _, words in REFUSED])
def test_what_is_wrong_is_refused_with_a_sentence(call: Any, error: type[NardyError], words: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_a_finished_state_cannot_be_played() -> None:
    _, last = random_games("hyper", 2, seed=1)
    with pytest.raises(BadPosition, match=r"states\[0\] is finished"):
        plays("hyper", last)


def test_the_page_of_the_module_lists_its_functions() -> None:
    assert batch.__doc__ is not None
    for function in (starts, streams, rolls, throw, plays, owing, over, acting, outcomes, scores, unpack, inputs):
        assert f"`{function.__name__}`" in batch.__doc__ and function.__doc__
