"""A sequential test keeps its error rates, its interval holds at every look, and it does not play for ever."""

from __future__ import annotations

import numpy as np
import pytest

from nardy_rl.errors import BadOption
from nardy_rl.experiments.sequential import LOOK, SequentialTest, read_test

RUNS, PAIRS = 300, 12_000


def pairs(rng, mean):
    """Pairs like those of backgammon: skewed results with draws of luck in them that the evaluator overstates."""
    luck = rng.normal(0, 0.6, PAIRS)
    rest = rng.choice([-1.5, -0.5, 0.0, 0.5, 1.0, 2.0], PAIRS, p=[0.08, 0.2, 0.4, 0.2, 0.08, 0.04])
    return mean + luck + 0.5 * (rest - 0.04), 1.6 * luck


def run(rng, mean, test):
    points, luck = pairs(rng, mean)
    held = True
    for i in range(0, PAIRS, 250):
        done = test.add(points[i : i + 250], luck[i : i + 250])
        between = test.interval()
        held = held and (between is None or between[0] <= mean <= between[1])
        if done:
            break
    return held


@pytest.mark.parametrize("truth, wrong", ((-0.03, "high"), (0.03, "low")))
def test_errors_are_as_rare_as_asked_for(truth, wrong):
    rng = np.random.default_rng(11)
    tests = [SequentialTest(-0.03, 0.03) for _ in range(RUNS)]
    held = [run(rng, truth, test) for test in tests]
    verdicts = [test.verdict for test in tests]
    assert None not in verdicts
    assert verdicts.count(wrong) / RUNS < 0.05 + 3 * np.sqrt(0.05 * 0.95 / RUNS)
    assert np.mean(held) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / RUNS)
    points, luck = pairs(rng, truth)
    fixed = (2 * 1.645 / 0.06) ** 2 * (points - luck / 1.6).var()  # pairs that a test of fixed length needs
    assert np.mean([test.pairs for test in tests]) < fixed


def test_luck_is_taken_off_by_a_multiple_that_earlier_pairs_decide():
    rng = np.random.default_rng(3)
    points, luck = pairs(rng, 0.1)
    test = SequentialTest(-5, 5, error=1e-9)
    test.add(points[:LOOK], luck[:LOOK])
    assert test.mean == pytest.approx((points - luck)[:LOOK].mean()) and test.pairs == LOOK  # nothing known yet
    test.add(points[LOOK : 2 * LOOK], luck[LOOK : 2 * LOOK])
    taken = np.cov(points[:LOOK], luck[:LOOK], ddof=0)[0, 1] / luck[:LOOK].var()
    values = np.concatenate([(points - luck)[:LOOK], (points - taken * luck)[LOOK : 2 * LOOK]])
    assert test.mean == pytest.approx(values.mean()) and test.variance == pytest.approx(values.var())
    assert test.se == pytest.approx(values.std() / np.sqrt(2 * LOOK))


def test_it_does_not_matter_in_which_portions_pairs_come():
    rng = np.random.default_rng(4)
    points, luck = pairs(rng, 0.2)
    whole, parts = SequentialTest(0.0, 0.1), SequentialTest(0.0, 0.1)
    assert whole.add(points, luck)
    for i in range(0, PAIRS, 7):
        if parts.add(points[i : i + 7], luck[i : i + 7]):
            break
    assert whole.as_dict() == parts.as_dict() and whole.verdict == "high" and whole.pairs % LOOK == 0
    assert abs(whole.llr) >= whole.bound


def test_equal_pairs_decide_nothing():
    test = SequentialTest(-0.1, 0.1)
    assert not test.add(np.zeros(1000), np.zeros(1000)) and test.verdict is None and test.interval() == (0, 0)


@pytest.mark.parametrize("text", ("", "1", "a,b", "0.1,0.1", "0.2,0.1", "nan,1", "1,2,3"))
def test_bounds_that_are_none_are_refused(text):
    with pytest.raises(BadOption, match="sequential"):
        read_test(text)


def test_bounds_and_errors_out_of_range():
    with pytest.raises(BadOption, match="between 0 and 0.5"):
        SequentialTest(0, 1, error=0.5)
    assert read_test("-0.01,0.02").low == -0.01
