"""Solved games: numbers, plays against the engine's, equities against a slow recursion, the bot, regret and labels."""

from __future__ import annotations

import json
from itertools import pairwise, product
from pathlib import Path

import naive
import numpy as np
import pytest

from nardy_rl.agents import load_bot, solution, solve, table_files
from nardy_rl.agents.exact_bot import ExactBot
from nardy_rl.agents.search import searching
from nardy_rl.agents.solvable import (
    model_of,
    numbers_of,
    positions_of,
    positions_with,
    put_position,
    solvable,
    win_points,
)
from nardy_rl.agents.solve_plays import AFTER_BITS, AFTER_MASK, all_plays
from nardy_rl.batch import over, plays, starts
from nardy_rl.board import BAR
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.errors import BadBot, BadOption, BadRun
from nardy_rl.experiments.cli import run
from nardy_rl.experiments.config import TrainConfig
from nardy_rl.experiments.duel import duel
from nardy_rl.experiments.games_file import read_games
from nardy_rl.experiments.lineage import lineage_of
from nardy_rl.experiments.runs import label_files, labels_digest, load_labels
from nardy_rl.experiments.solving import start_value, write_labels
from nardy_rl.experiments.trainer import Trainer
from nardy_rl.jit import kernel
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS, parse_variant, variant_text

ONE, TWO = "one@hyper:start=24:1", "two@hyper:start=24:1 23:1"
GAMES = [ONE, TWO, "hyper", "hyper:bearoff=exact"]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    """Tables are made anew in a folder of the test's own."""
    monkeypatch.setattr(table_files, "folder", lambda: tmp_path / "tables")
    monkeypatch.chdir(tmp_path)


@kernel
def set_up(places, checkers, mine, theirs, rows):
    for i in range(len(rows)):
        put_position(places, checkers, mine[i], rows[i], 0)
        put_position(places, checkers, theirs[i], rows[i], 4)


def can_stand(positions, mine, theirs):
    held = {int(x) for x in positions.places[mine]} - {0, BAR}
    return not held & {25 - int(x) for x in positions.places[theirs]}


def rows_of(positions, checkers, pairs):
    """States that await a throw, of pairs of numbers."""
    rows = np.zeros((len(pairs), 16), np.uint32)
    set_up(positions.places, np.int64(checkers), *np.array(pairs, np.int64).T, rows)
    return rows


def some_pairs(positions, number, seed=1):
    rng = np.random.default_rng(seed)
    drawn = rng.integers(1, len(positions.places), (2 * number, 2)).tolist()
    return [pair for pair in drawn if can_stand(positions, *pair)][:number]


# ------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize("checkers", [1, 2, 3])
def test_numbers_and_positions_are_each_others_inverse(checkers):
    positions = positions_with(checkers)
    size = len(positions.places)
    assert size == positions_of(checkers) == (26, 351, 3276)[checkers - 1]
    numbers = np.arange(size)
    rows = rows_of(positions, checkers, np.stack([numbers, numbers[::-1]], axis=1))
    found = np.zeros((size, 2), np.int64)
    numbers_of(positions.number, rows, found)
    assert (found[:, 0] == numbers).all() and (found[:, 1] == numbers[::-1]).all()


@pytest.mark.parametrize("checkers", [1, 2, 3])
def test_a_move_leads_to_a_smaller_number(checkers):
    positions = positions_with(checkers)
    for number, places in enumerate(positions.places[:, :checkers]):
        for k, here in product(range(checkers), range(1, 7)):
            if places[k]:
                after = places.copy()
                after[k] = max(after[k] - here, 0)
                key = tuple(sorted(map(int, after), reverse=True)) + (0,) * (3 - checkers)
                assert 0 <= positions.number[key] < number


# ------------------------------------------------------------------------------------------ plays


def listed_plays(positions, listed, mine, theirs, roll):
    """Pairs of numbers after the listed plays of a roll."""
    at = (int(positions.made[theirs]) * len(positions.places) + mine) * len(ROLLS) + roll
    found = []
    for play in listed.listed[listed.first[at] : listed.first[at + 1]].tolist():
        landed = play >> AFTER_BITS
        hits = sum((landed >> int(blot) & 1) << k for k, blot in enumerate(positions.blots[theirs]))
        found.append((play & AFTER_MASK, int(positions.hit[theirs, hits])))
    return found


@pytest.mark.parametrize("game", GAMES)
def test_plays_are_those_of_the_engine(game):
    variant = parse_variant(game)
    positions = positions_with(variant.checkers)
    listed = all_plays(positions, variant.bearoff == "exact")
    pairs = some_pairs(positions, 600)
    rows = rows_of(positions, variant.checkers, pairs)
    for roll, dice in enumerate(ROLLS):
        after, first = plays(variant, rows, np.tile(dice, (len(rows), 1)))
        numbers = np.zeros((len(after), 2), np.int64)
        numbers_of(positions.number, after, numbers)
        going = ~over(after)
        numbers[going] = numbers[going][:, ::-1]  # the mover's first
        for i, (mine, theirs) in enumerate(pairs):
            engine = list(map(tuple, numbers[first[i] : first[i + 1]].tolist()))
            ours = listed_plays(positions, listed, mine, theirs, roll)
            assert sorted(engine) == sorted(set(ours)), (positions.places[[mine, theirs]], dice)


# ------------------------------------------------------------------------------------------ equities


def slow_equities(rules, score, checkers):
    """Values of all positions with one checker a side by the slow oracle: as many sweeps as it takes, in any order."""
    places = range(26)
    worth = {(m, t): 0.0 for m in places for t in places if m and t and (m == BAR or m + t != 25 or t == BAR)}

    def board(place):
        return "".join("1" if d == place else "0" for d in places)

    choices = {}
    for m, t in worth:
        for larger, smaller in ROLLS.tolist():
            state = {
                "board": [board(m), board(t)], "pinned": [[], []], "player": 0, "thrower": 0, "starter": 0,
                "throws": [20, 20], "dice": [], "double": False, "queue": [], "head_used": [0, 0], "handed": False,
                "idle": 0, "extra_used": False, "grace": False,
            }  # fmt: skip
            choices[m, t, larger, smaller] = [
                tuple(next(d for d in places if naive.read_board(side)[d]) for side in play["board"])
                for play in naive.plays(rules, naive.throw(rules, state, larger, smaller))
            ]
    change = 1.0
    while change > 1e-10:
        before = dict(worth)
        for m, t in worth:
            worth[m, t] = sum(
                weight * max(score if mine == 0 else -before[theirs, mine] for mine, theirs in choices[m, t, *roll])
                for roll, weight in zip(map(tuple, ROLLS.tolist()), ROLL_WEIGHTS, strict=True)
            )
        change = max(abs(worth[pair] - before[pair]) for pair in worth)
    return worth


def test_values_of_one_checker_a_side_are_those_of_a_slow_search_by_the_oracle():
    slow = slow_equities(naive.make("hyper", {}), 1.0, 1)
    found = solution.solve(parse_variant(ONE))
    known = found.equity[1:, 1:]
    assert np.isfinite(known).sum() == len(slow)
    for (m, t), value in slow.items():
        assert found.equity[m, t] == pytest.approx(value, abs=1e-6)  # of one checker the number is its place


@pytest.mark.parametrize("game", [TWO, TWO + ",score=bg", TWO + ",bearoff=exact", TWO + ",score=left"])
def test_two_checkers_a_side_satisfy_the_bellman_equation(game):
    variant = parse_variant(game)
    found = solution.solve(variant)
    checked = solution.check(variant, found, threads=2)
    assert checked.positions == np.isfinite(found.equity[1:, 1:]).sum() == 106_552
    assert checked.largest < 1e-6 and checked.mean < 1e-7
    assert np.nanmax(np.abs(found.equity)) <= 3


def test_the_check_finds_a_wrong_value():
    variant = parse_variant(ONE)
    found = solution.solve(variant)
    found.equity[7, 9] += np.float32(0.01)
    assert solution.check(variant, found, threads=1).largest > 0.005
    found.equity[7, 9] = np.nan
    assert not solution.check(variant, found, threads=1).largest < 1


def test_wins_count_as_the_score_says():
    positions = positions_with(3)
    points = win_points(parse_variant("three@hyper:score=bg"), positions)
    for places, expected in [((24, 23, 0), 1), ((6, 5, 1), 2), ((18, 5, 1), 2), ((19, 5, 1), 3), ((25, 5, 1), 3)]:
        assert points[positions.number[places]] == expected
    assert set(win_points(VARIANTS["hyper"], positions)[1:]) == {1}


# ------------------------------------------------------------------------------------------ the table


def test_a_run_that_was_stopped_goes_on_and_ends_with_the_same_table():
    variant = parse_variant(TWO)
    whole = solution.solve(variant)
    path = table_files.path_of(solution.name_of(model_of(variant)))
    path.unlink()

    class Stopped(Exception):
        pass

    def stop(sweep):
        if sweep.number == 5:
            raise Stopped

    with pytest.raises(Stopped):
        solution.solve(variant, stop)
    assert solution.read_solution(variant) is None
    numbers = []
    again = solution.solve(variant, lambda sweep: numbers.append(sweep.number))
    assert numbers[0] == 5 and again.sweeps == whole.sweeps
    assert again.equity.tobytes() == whole.equity.tobytes()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_the_table_is_memory_mapped_and_changes_to_it_stay_out_of_the_file():
    variant = parse_variant(TWO)
    equity = solution.solve(variant).equity
    path = table_files.path_of(solution.name_of(model_of(variant)))
    before = path.read_bytes()
    found = solution.read_solution(variant).equity
    base = found
    while not isinstance(base, np.memmap):
        base = base.base
    assert Path(base.filename) == path and found.tobytes() == equity.tobytes()
    found[7, 9] = 1
    assert path.read_bytes() == before


def test_a_damaged_table_is_no_solution():
    variant = parse_variant(ONE)
    solution.solve(variant)
    path = table_files.path_of(solution.name_of(model_of(variant)))
    whole = path.read_bytes()
    for damaged in (b"", whole[:-4], whole[:-4] + b"wxyz", whole.replace(b'"F32"', b'"I32"')):
        path.write_bytes(damaged)
        assert solution.read_solution(variant) is None


def test_games_that_differ_only_in_their_start_share_a_table():
    assert model_of(parse_variant("a@hyper:start=24:3")) == model_of(VARIANTS["hyper"])
    assert model_of(parse_variant("hyper:bearoff=exact")) != model_of(VARIANTS["hyper"])


@pytest.mark.parametrize("game", [game for game in VARIANTS if game not in solvable()])
def test_other_games_are_refused_with_the_reason(game):
    with pytest.raises(BadOption, match=r"cannot be solved: .*; games that can are hyper"):
        model_of(VARIANTS[game])
    with pytest.raises(BadBot, match="cannot be solved"):
        load_bot(game, "exact")


# ------------------------------------------------------------------------------------------ the bot


def test_the_bot_refuses_a_game_that_has_not_been_solved():
    with pytest.raises(BadBot, match="run  nardy solve hyper  first"):
        load_bot("hyper", "exact")


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("tables")
        patch.setattr(table_files, "folder", lambda: folder)
        return ExactBot(parse_variant(TWO), solution.solve(parse_variant(TWO)))


def test_the_bot_is_loaded_by_name_once_the_game_is_solved():
    variant = parse_variant(ONE)
    equity = solution.solve(variant).equity
    bot = load_bot(variant, "exact")
    assert isinstance(bot, ExactBot) and bot.solution.equity.tobytes() == equity.tobytes()


def test_values_are_means_over_the_rolls_of_the_best_plays(exact):
    position = Position.opening(exact.variant, seed=3)
    for _ in range(12):
        if position.over:
            break
        afters = position.plays()
        worth = [-float(exact.values(after.state[None])[0]) for after in afters if not after.over]
        worth += [1.0] * sum(after.over for after in afters)
        assert exact.values(position.state[None])[0] == pytest.approx(max(worth), abs=1e-6)
        position = exact.choose(position)
        if not position.over:
            state = position.state[None]
            assert exact.roll_values(state)[0] @ ROLL_WEIGHTS == pytest.approx(exact.values(state)[0], abs=1e-6)
            outputs, values = exact.evaluations(state)
            assert 2 * outputs[0, 0] - 1 == pytest.approx(values[0], abs=1e-6)
            position = position.throw(int(ROLLS[5, 0]), int(ROLLS[5, 1]))


def test_outputs_are_left_out_where_wins_differ():
    variant = parse_variant(TWO + ",score=bg")
    bot = ExactBot(variant, solution.solve(variant))
    assert bot.meaning is None and bot.evaluations(starts(variant, 3, thrown=False))[0].shape == (3, 0)


def test_the_start_is_worth_the_mean_of_its_opening_throws(exact):
    mean, weight = 0.0, 0
    for larger, smaller in ROLLS.tolist():
        if larger != smaller:
            rows = starts(exact.variant, 1, thrown=False)
            after, _ = plays(exact.variant, rows, np.array([[larger, smaller]]))
            mean, weight = mean + float(np.max(-exact.values(after))), weight + 1
    assert start_value(exact) == pytest.approx(mean / weight, abs=1e-6)


def test_search_looks_ahead_with_the_table_and_finds_the_same(exact):
    states = starts(exact.variant, 20, seed=2)
    deeper = searching(exact, 1, "exact@1ply")
    assert np.abs(deeper.values(states) - exact.values(states)).max() < 1e-5


# ------------------------------------------------------------------------------------------ regret and labels


def test_regret_is_nothing_for_the_solution_and_what_is_lost_for_others(exact):
    none = duel(exact.variant, exact, exact, games=40, evaluator="none").regret
    assert none["of"] == "exact" and none["millipoints_a_game"] == 0 and none["best"] == 1
    assert none["decisions"] > 40
    pips = load_bot(exact.variant, "pips")
    for order in ((pips, exact), (exact, pips)):
        played = duel(exact.variant, *order, games=4000, seed=4)
        regret = played.regret
        assert regret["of"] == "pips" and 0 < regret["best"] < 1
        assert regret["millipoints"] < regret["millipoints_a_game"]
        # what pips loses by its plays is what it loses by the game
        lost = -played.ppg if order[0] is pips else played.ppg
        assert abs(1000 * lost - regret["millipoints_a_game"]) < 4 * np.hypot(1000 * played.se, regret["se_a_game"]) + 1
    assert duel(exact.variant, pips, pips, games=2, evaluator="none").regret is None


def test_regret_is_that_of_every_decision_by_hand(exact):
    """Games replayed from what was saved: the loss of each choice by the plays of `Position` and their values."""
    pips = load_bot(exact.variant, "pips")
    played = duel(exact.variant, pips, exact, games=6, seed=6, evaluator="none", save_games="games.jsonl")
    lost, decisions = 0.0, 0
    for game in read_games("games.jsonl"):
        positions = list(game.positions(exact.variant))
        for position, chosen in pairwise(positions):
            if not position.owes or game.bots[position.player] != "pips":
                continue
            worth = {}
            for after in position.plays():
                value = float(exact.values(after.state[None])[0])
                worth[after.text] = value if after.player == position.player else -value
            lost += max(worth.values()) - worth[chosen.text]
            decisions += len(worth) > 1
    assert played.regret["decisions"] == decisions
    assert played.regret["millipoints_a_game"] == pytest.approx(1000 * lost / 6, abs=1e-3)
    assert played.regret["millipoints"] == pytest.approx(1000 * lost / decisions, abs=1e-3)


def test_labels_are_chances_to_win_and_are_read_as_a_runs(exact, tmp_path):
    said = write_labels(exact, tmp_path / "labels", 700, 1, 0.25, lambda done, total: None)
    assert said["labelled"] == 700
    (step,) = lineage_of(tmp_path / "labels").steps
    words = "--labels runs/labels --positions 700 --explore 0.25 --seed 1"
    assert step.command == f"nardy solve {variant_text(exact.variant)} {words}"
    (file,) = label_files(tmp_path / "labels")
    states, labels = load_labels(file, labels_digest(exact.variant))
    assert states.shape == (700, 16) and labels.shape == (700, 1) and labels.dtype == np.float32
    assert np.abs(2 * labels[:, 0] - 1 - exact.values(states)).max() < 1e-6
    assert 0 <= labels.min() < 0.2 and 0.8 < labels.max() <= 1
    with pytest.raises(BadRun, match="choose another folder"):
        write_labels(exact, tmp_path / "labels", 10, 1, 0.25, lambda done, total: None)


# ------------------------------------------------------------------------------------------ the command


def test_a_folder_that_has_labels_is_refused_before_the_game_is_solved(capsys):
    (Path("some") / "labels").mkdir(parents=True)
    assert run(["solve", TWO, "--labels", "some"]) == 2
    assert "choose another folder" in capsys.readouterr().err
    assert solution.read_solution(parse_variant(TWO)) is None


def test_the_command_solves_checks_and_labels(capsys):
    assert run(["solve", TWO, "--check", "--json"]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert data["made"] and data["passed"] and data["largest"] < 1e-6 and data["positions"] == 106_552
    assert "sweep 2: 100%" in err
    assert run(["solve", TWO, "--labels", "some", "--positions", "300"]) == 0
    assert "300 labelled positions" in capsys.readouterr().out
    trainer = Trainer(TrainConfig(variant=TWO, games=1, labels="some", hidden=8, threads=1), Path("run"))
    assert len(trainer.window) == 300
    assert run(["solve", "backgammon"]) == 2
    assert "15 checkers a side" in capsys.readouterr().err


@pytest.mark.long
def test_the_whole_game_is_solved():
    variant = VARIANTS["hyper"]
    found = solution.solve(variant)
    checked = solution.check(variant, found)
    assert found.equity.size == 10_732_176 and checked.positions == np.isfinite(found.equity[1:, 1:]).sum()
    assert checked.largest < 1e-6
    assert solve.SETTLED >= found.change
