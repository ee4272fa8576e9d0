"""The engine against the slow oracle (tests/naive.py), which reads the same rules page by another method."""

import numpy as np
import pytest
from agreement import differing

from nardy_rl.board import OWED
from nardy_rl.errors import BadOption
from nardy_rl.experiments.compare import random_decisions
from nardy_rl.free import free_plays
from nardy_rl.jit import kernel
from nardy_rl.lockstep import own_scratch
from nardy_rl.options import OPTIONS, options_of, with_options
from nardy_rl.ordered import ordered_plays
from nardy_rl.plays import order_matters
from nardy_rl.rules import rules_of
from nardy_rl.variants import VARIANTS, variant_text

# Options that change nothing in the plays of a state; those that change the start have their own tests.
APART = ("jacoby", "beavers", "crawford", "cube_cap", "opening", "stack", "sides")
SAMPLES = {
    "calm": (0, 2),
    "pairs": ((), (1, 2, 3, 4, 5, 6)),
    "start": (VARIANTS["shootout"].start,),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_two_thousand_random_decisions_agree_with_the_oracle(name):
    assert differing(VARIANTS[name], random_decisions(name, 2000, seed=11)) == []


def readings(name):
    """The game with every other value of every option that touches its play."""
    variant = VARIANTS[name]
    for option, now in options_of(variant).items():
        if option in APART:
            continue
        for value in SAMPLES.get(option, OPTIONS[option].values):
            if option == "calm_pass" and not variant.calm:
                yield with_options(variant, {"calm": 3, option: value})
            elif value != now:
                yield with_options(variant, {option: value})


@pytest.mark.parametrize("name", VARIANTS)
def test_random_decisions_agree_with_the_oracle_under_every_option(name):
    for variant in readings(name):
        assert differing(variant, random_decisions(variant, 200, seed=5)[::8]) == [], variant_text(variant)


def mixtures(name, number):
    """The game with random choices of all the options that touch its play."""
    rng = np.random.default_rng(7)
    while number:
        options = {}
        for option in options_of(VARIANTS[name]):
            values = SAMPLES.get(option, OPTIONS[option].values)
            if option not in APART:
                options[option] = values[rng.integers(len(values))]
        try:
            yield with_options(VARIANTS[name], options)
            number -= 1
        except BadOption:  # two of them contradict each other
            pass


@pytest.mark.parametrize("name", [name for name in VARIANTS if VARIANTS[name].completes])
def test_random_decisions_agree_with_the_oracle_under_mixed_options(name):
    for variant in mixtures(name, 8):
        assert differing(variant, random_decisions(variant, 100, seed=6)[::5]) == [], variant_text(variant)


@pytest.mark.long
@pytest.mark.parametrize("name", VARIANTS)
def test_fifty_thousand_random_decisions_agree_with_the_oracle(name):
    states = random_decisions(name, 50_000, seed=12)
    for at in range(0, len(states), 1000):
        assert differing(VARIANTS[name], states[at : at + 1000]) == []


@pytest.mark.long
@pytest.mark.parametrize("name", VARIANTS)
def test_five_hundred_random_decisions_of_every_option_agree_with_the_oracle(name):
    for variant in readings(name):
        assert differing(variant, random_decisions(variant, 500, seed=13)) == [], variant_text(variant)
    for variant in mixtures(name, 40):
        assert differing(variant, random_decisions(variant, 200, seed=14)) == [], variant_text(variant)


@kernel
def both_ways(rules, row, scr, ordered, free):
    """The next states by the two generators; their numbers, or -1, -1 where the order of moves matters."""
    if order_matters(rules, row):
        return -1, -1
    n = ordered_plays(rules, row, scr)
    for i in range(n):
        ordered[i] = scr.plays[i]
    m = free_plays(rules, row, scr)
    for i in range(m):
        free[i] = scr.plays[i]
    return n, m


@pytest.mark.parametrize("name", VARIANTS)
def test_the_two_generators_agree_where_the_order_of_moves_is_free(name):
    variant = VARIANTS[name]
    rules, scr = rules_of(variant), own_scratch()
    ordered, free = np.empty_like(scr.plays), np.empty_like(scr.plays)
    compared = 0
    for state in random_decisions(variant, 1000, seed=3):
        n, m = both_ways(rules, state, scr, ordered, free)
        if n < 0:
            continue
        compared += 1
        one, other = ({row.tobytes() for row in rows} for rows in (ordered[:n], free[:m]))
        assert one == other and len(one) == n == m, state
    assert compared > 300 or name in ("sudden-death", "hyper", "crazy-gulbar")


def test_random_decisions_reach_every_kind_of_double():
    states = random_decisions("crazy-v1", 3000, seed=1)
    stages = {(int(word) & 7, int(word) >> 6 & 7) for word in states[:, OWED] if word & 7 == word >> 3 & 7}
    assert {(double, stage) for double in range(1, 7) for stage in range(double, 7)} <= stages
