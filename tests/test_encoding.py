"""Inputs: the layout table is true, every row stays within its block, and the views are symmetric."""

import numpy as np
import pytest

from nardy_rl import encoding as e
from nardy_rl.batch import encode
from nardy_rl.board import OUTCOME
from nardy_rl.errors import BadOption
from nardy_rl.experiments.compare import random_decisions
from nardy_rl.rules import rules_of
from nardy_rl.variants import VARIANTS

ALL = list(VARIANTS)


def encoded(variant, states, kind="patterns"):
    index = np.full((len(states), e.MAX_ACTIVE), -1, np.int32)
    number = np.zeros(len(states), np.int64)
    encoding = e.encoding_of(variant, kind)
    e.encode_batch(rules_of(variant), encoding, states, index, number)
    return index, number, encoding


@pytest.mark.parametrize("game", ALL)
@pytest.mark.parametrize("kind", e.KINDS)
def test_rows_are_within_the_layout_and_none_is_listed_twice(game, kind):
    variant = VARIANTS[game]
    states = random_decisions(variant, 400, seed=3)
    index, number, encoding = encoded(variant, states, kind)
    assert encoding.size == sum(rows for _, _, rows, _ in e.layout(variant, kind))
    assert number.max() < e.MAX_ACTIVE and number.min() > 0
    for i, n in enumerate(number):
        rows = index[i, :n]
        assert rows.min() >= 0 and rows.max() < encoding.size
        if kind != "plain":
            assert len(set(rows.tolist())) == n


def test_plain_inputs_are_the_classical_ones():
    variant = VARIANTS["backgammon"]
    states = random_decisions(variant, 300, seed=5)
    dense = encode(variant, states, "plain")
    from nardy_rl.board import unpack

    for state, x in zip(states, dense, strict=True):
        want = np.zeros(196, np.float32)
        for side in range(2):
            counts = unpack(state[4 * side : 4 * side + 4])
            for point in range(1, 25):
                n = counts[point]
                unit = 98 * side + 4 * (point - 1)
                want[unit : unit + 4] = [n >= 1, n >= 2, n >= 3, max(n - 3, 0)]
            want[98 * side + 96] = counts[25]
            want[98 * side + 97] = counts[0]
        np.testing.assert_allclose(x, want, atol=1e-6)


@pytest.mark.parametrize("game", ["backgammon", "plakoto"])
def test_shots_are_counted_as_by_the_move_generator(game):
    """With nobody on the bar the shots row is the number of rolls after which some play hits or pins a new checker.

    Combinations that need two checkers or the full-move rule are left out of the row on purpose, so a small part of
    the positions may differ; the bulk must agree.
    """
    from nardy_rl.batch import plays
    from nardy_rl.board import MY_PINS, OWED, TURN, unpack
    from nardy_rl.dice import ROLLS

    variant = VARIANTS[game]
    states = random_decisions(variant, 4000, seed=8)
    states = states[(unpack(states[:, :4])[:, 25] == 0)][:150].copy()
    states[:, OWED] = 0
    index, number, encoding = encoded(variant, states)
    first = encoding.offsets[e.SHOTS]
    agree = 0
    for i, state in enumerate(states):
        row = [r - first for r in index[i, : number[i]] if first <= r < first + 37]
        total = 0
        rows = np.repeat(state[None], 21, axis=0)
        after, starts = plays(variant, rows, ROLLS)
        for k, (a, b) in enumerate(ROLLS):
            some = after[starts[k] : starts[k + 1]]
            same = (some[:, TURN] & 1) == (state[TURN] & 1)
            if game == "backgammon":
                planes = np.where(same[:, None], some[:, 4:8], some[:, 0:4])
                touched = unpack(planes)[:, 25] > unpack(state[4:8])[25]
            else:
                pins = np.where(same, some[:, MY_PINS + 1], some[:, MY_PINS])
                touched = (pins & ~state[MY_PINS + 1]) != 0
            total += (1 if a == b else 2) * bool(touched.any())
        agree += row == [total]
    assert agree >= 0.8 * len(states)


def test_digests_tell_layouts_apart_and_do_not_depend_on_scores():
    digests = {game: e.layout_digest(VARIANTS[game]) for game in ALL}
    assert digests["backgammon"] == digests["nackgammon"] == digests["hyper"]
    assert len({digests["backgammon"], digests["classic"], digests["plakoto"], digests["crazy-v1"]}) == 4
    assert e.layout_digest(VARIANTS["backgammon"], "plain") != digests["backgammon"]


def test_an_unknown_kind_of_inputs_is_refused():
    with pytest.raises(BadOption, match="unknown kind of inputs .deep.; there are plain and patterns and rich"):
        e.layout(VARIANTS["backgammon"], "deep")


def test_finished_states_are_not_among_the_samples():
    assert not random_decisions(VARIANTS["classic"], 200, seed=1)[:, OUTCOME].any()


def test_escapes_are_counted_as_by_moving_one_checker():
    rng = np.random.default_rng(4)
    for mask in rng.integers(0, 4096, 200):
        closed = {pips for pips in range(1, 13) if mask >> (12 - pips) & 1}
        count = 0
        for a in range(1, 7):
            for b in range(1, 7):
                orders = [[a] * 4] if a == b else [[a, b], [b, a]]
                reached = set()
                for order in orders:
                    at = 0
                    for die in order:
                        if at + die in closed:
                            break
                        at += die
                        reached.add(at)
                count += any(at > 6 for at in reached)
        assert e._ESCAPES[mask] == count


def test_rich_inputs_say_what_stands_before_whom():
    from nardy_rl.position import Position

    text = "backgammon 24:2 8:3 7:2 6:2 5:2 4:2 2:2 | 24:1 22:1 13:6 6:5 5:2 | turn=0"
    state = Position.from_text(text).state
    index, number, encoding = encoded(VARIANTS["backgammon"], state[None], "rich")
    rows = index[0, : number[0]].tolist()

    def row(block):
        ends = sorted(o for o in encoding.offsets if o > encoding.offsets[block]) + [encoding.size]
        return [r - encoding.offsets[block] for r in rows if encoding.offsets[block] <= r < ends[0]]

    assert row(e.HELD) == [4 * 0b111010 + 2, 256 + 4 * 0b110000 + 2]  # points 2, 4, 5, 6 made; two of his there
    assert row(e.PRIMES) == [3 * 100 + 4 * (4 - 1) + 2, 512 + 0 * 100 + 4 * (5 - 1) + 2]
    assert row(e.TIMING)[0] == 4 * ((3 * 2 + 2 * 1) // 3) + 2
    assert row(e.QUADRANTS)[:3] == [2 * (3 + 27 + 81 + 243), 729 + 2 * (1 + 3), 3 * 729 + 2 * 243]
    assert not row(e.RACE_LEAD)
