"""Endgame tables: equal to a slow search of its own, to the rules of every game they are for, and to gnubg's races."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from functools import cache

import naive
import numpy as np
import pytest

from nardy_rl.agents import endgame_bot, load_bot, table_files
from nardy_rl.agents.bearoff import BINOMIAL, POINTS, Model, fill_counts, model_of, number_of, positions_of
from nardy_rl.agents.bearoff_solve import list_plays, one_sided, positions_and_moves, two_sided
from nardy_rl.agents.endgame import put_outputs
from nardy_rl.agents.endgame_tables import endgame_of, has_endgame
from nardy_rl.agents.policy import pretrained_for
from nardy_rl.board import EXTRA, TURN
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS, parse_variant

MODELS = [
    Model(exact, frozen, extra)
    for exact, frozen, extra in itertools.product((False, True), (False, True), ("none", "once", "unlimited"))
]
EXACT_GAMES = ("crazy-gulbar", "crazy", "crazy-v2", "crazy-v3")  # exact bear-off with debts
OPTIONS = ("backgammon:bearoff=exact", "classic:bearoff=exact", "gulbar:bearoff=exact,completion=none")
GAMES = [game for game in VARIANTS if game not in EXACT_GAMES] + [*OPTIONS]


def sides_up_to(checkers):
    """All positions of a side of up to so many checkers: counts on points 1..6."""
    return [side for side in itertools.product(range(checkers + 1), repeat=POINTS) if sum(side) <= checkers]


def home_text(game, mine, theirs, extra=False):
    """A position in which both sides are home, player 0 to throw."""
    checkers = parse_variant(game).checkers
    sides = []
    for side in (mine, theirs):
        words = [f"{point}:{n}" for point, n in enumerate(side, 1) if n]
        sides.append(" ".join(words + [f"off:{checkers - sum(side)}"] * (sum(side) < checkers)))
    return f"{game} {sides[0]} | {sides[1]} | turn=0 throws=30,30" + " extra" * extra


# ------------------------------------------------------------------------------------------ a slow search


def oracle_model(model):
    """The oracle's rules with the model's bear-off."""
    options = {"bearoff": "exact" if model.exact else "standard", "freeze": "bearoff" if model.frozen else "never"}
    return naive.make("classic", options) | {"extra": model.extra}


@cache
def oracle_plays(model, side, larger, smaller):
    """What a side at home can play: the positions after it, and whether the same player throws again."""
    board = ["0" + "".join(f"{n:x}" for n in side) + "0" * 19, "01" + "0" * 24]
    state = {
        "board": board, "pinned": [[], []], "player": 0, "thrower": 0, "starter": 0, "throws": [20, 20], "dice": [],
        "double": False, "queue": [], "head_used": [0, 0], "handed": False, "idle": 0, "extra_used": False,
        "grace": False,
    }  # fmt: skip
    rules = oracle_model(model)
    found = set()
    for play in naive.plays(rules, naive.throw(rules, state, larger, smaller)):
        after = tuple(naive.read_board(play["board"][0])[1:7])
        found.add((after, "over" not in play["next"] and play["next"]["player"] == 0))
    return frozenset(found)


def slow_means(model, checkers, first):
    """Mean numbers of turns, by kind of throw and side, of the best play: until all is off, or the first checker is."""
    done = (0,) * POINTS
    means = ({done: 0.0}, {done: 0.0})
    for side in sorted(sides_up_to(checkers), key=number_of)[1:]:
        for kind in (0, 1):
            waiting, rest = 0.0, 0.0
            for larger, smaller in ROLLS:
                weight = (1 if larger == smaller else 2) / 36
                best = np.inf
                plays = oracle_plays(model, side, int(larger), int(smaller))
                if plays == {(side, False)} and kind == 0:
                    waiting += weight
                    continue
                for after, again in plays:
                    again = again and not (kind == 1 and model.extra == "once")
                    if first and sum(after) < sum(side):
                        after = done
                    if again and after != done:
                        value = means[int(model.extra == "once")][after] - 1
                    else:
                        value = means[0][after]
                    best = min(best, value)
                rest += weight * best
            means[kind][side] = (1 + rest) / (1 - waiting)
    return means


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_one_sided_tables_agree_with_a_slow_search(model):
    check_one_sided(model, 3)


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_one_sided_tables_agree_with_a_slow_search_of_four_checkers(model):
    check_one_sided(model, 4)


def check_one_sided(model, checkers):
    tables = one_sided(model, checkers)
    for name, first in (("off", False), ("first", True)):
        turns = tables[name].astype(np.float64)
        assert np.abs(turns.sum(axis=2) - 1).max() < 1e-6
        means = slow_means(model, checkers, first)
        for kind in range(len(turns)):
            for side, mean in means[kind].items():
                found = turns[kind, number_of(side)] @ np.arange(turns.shape[2])
                assert found == pytest.approx(mean, abs=2e-5), (model, name, kind, side)


def slow_equities(model, checkers, scores):
    """Equities by kind of throw and pair of sides, of best play on both sides."""
    done = (0,) * POINTS
    sides = sorted(sides_up_to(checkers), key=number_of)[1:]
    known = ({}, {})

    def moving(kind, mine, theirs):
        waiting, worth = 0.0, 0.0
        for larger, smaller in ROLLS:
            weight = (1 if larger == smaller else 2) / 36
            plays = oracle_plays(model, mine, int(larger), int(smaller))
            if plays == {(mine, False)}:
                waiting += weight
                continue
            best = -np.inf
            for after, again in plays:
                if after == done:
                    value = scores[sum(theirs)]
                elif again and not (kind == 1 and model.extra == "once"):
                    value = known[int(model.extra == "once")][after, theirs]
                else:
                    value = -known[0][theirs, after]
                best = max(best, value)
            worth += weight * best
        return worth, waiting

    pairs = sorted(itertools.product(sides, sides), key=lambda pair: number_of(pair[0]) + number_of(pair[1]))
    for a, b in pairs:
        of_a, wait_a = moving(0, a, b)
        of_b, wait_b = moving(0, b, a)
        known[0][a, b] = (of_a - wait_a * of_b) / (1 - wait_a * wait_b)
        of_extra, wait = moving(1, a, b)
        known[1][a, b] = of_extra - wait * (of_b - wait_b * of_a) / (1 - wait_a * wait_b)
    return known


def check_two_sided(model, checkers, scores):
    table = two_sided(model, scores, checkers)
    slow = slow_equities(model, checkers, scores)
    for kind in range(len(table)):
        for (a, b), equity in slow[kind].items():
            assert table[kind, number_of(a), number_of(b)] == pytest.approx(equity, abs=1e-5), (kind, a, b)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_two_sided_tables_agree_with_a_slow_search(model):
    check_two_sided(model, 2, tuple(range(16)))


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_two_sided_tables_agree_with_a_slow_search_of_four_checkers(model):
    check_two_sided(model, 4, (0, *[1] * 15))


def test_positions_are_numbered_without_gaps_and_moves_lead_to_smaller_numbers():
    counts = np.zeros((positions_of(15), POINTS), np.int8)
    fill_counts(counts)
    assert len(np.unique(counts, axis=0)) == len(counts) == 54264
    assert [number_of(side) for side in counts[::997].tolist()] == list(range(0, 54264, 997))
    assert BINOMIAL[21, 6] == 54264
    successors = positions_and_moves(Model(False, False, "none"), 15)[1]
    assert (successors < np.arange(len(counts))[:, None, None]).all()


# ------------------------------------------------------------------------------------------ the games


@pytest.mark.parametrize("game", GAMES)
def test_the_model_has_the_plays_of_the_game(game):
    variant = parse_variant(game)
    model = model_of(variant)
    checkers = min(4, variant.checkers)
    _, successors = positions_and_moves(model, checkers)
    first = np.zeros(21 * len(successors) + 1, np.int64)
    moves, listed = np.zeros(len(first) - 1, np.int8), np.zeros(200_000, np.int32)
    assert list_plays(successors, first, moves, listed) <= len(listed)
    rng = np.random.default_rng(5)
    sides = sides_up_to(checkers)[1:]
    for _ in range(25):
        mine, theirs = (sides[i] for i in rng.integers(len(sides), size=2))
        extra = variant.extra != "none" and bool(rng.integers(2))
        position = Position.from_text(home_text(game, mine, theirs, extra), variant)
        for roll, (larger, smaller) in enumerate(ROLLS):
            i = 21 * number_of(mine) + roll
            expected = set(listed[first[i] : first[i + 1]].tolist())
            plays = position.throw(larger, smaller).plays()
            assert not any(after.owes for after in plays)
            if any(after.over for after in plays):
                assert expected == {0}
                continue
            assert {number_of(after.counts[0][1:7].tolist()) for after in plays} == expected
            full = larger == smaller and moves[i] == 4
            again = variant.extra == "unlimited" or (variant.extra == "once" and not extra)
            assert {after.player for after in plays} == {0 if full and again else 1}
            assert {bool(after.state[TURN] & EXTRA) for after in plays} == {full and again}


@pytest.mark.parametrize("game", EXACT_GAMES)
def test_games_whose_throws_pass_on_are_refused(game):
    assert not has_endgame(VARIANTS[game])
    with pytest.raises(BadOption, match="passes on"):
        model_of(VARIANTS[game])
    with pytest.raises(BadBot, match=r"bot 'pips\+bearoff'"):
        load_bot(game, "pips+bearoff")


def test_a_last_throw_is_refused():
    with pytest.raises(BadOption, match="last throw"):
        endgame_of(parse_variant("classic:last_throw=true"))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder of its own for tables, shared by the tests here so that each is made once."""
    folder = tmp_path_factory.mktemp("tables")
    patch = pytest.MonkeyPatch()
    patch.setattr(table_files, "folder", lambda: folder)
    endgame_of.cache_clear()
    yield folder
    patch.undo()
    endgame_of.cache_clear()


@pytest.mark.parametrize("game", ["backgammon", "hyper", "khachapuri", "gulbar", "crazy-v1", "plakoto", OPTIONS[0]])
def test_a_value_is_the_mean_over_the_rolls_of_the_best_play(game, tables):
    """In the two-sided tables, through the rules, the turn machine and the bot: the Bellman equation."""
    variant = parse_variant(game)
    bot = load_bot(variant, "pips+bearoff")
    rng = np.random.default_rng(7)
    sides = [side for side in sides_up_to(3) if sum(side)]
    states = []
    for _ in range(60):
        mine, theirs = (sides[i] for i in rng.integers(len(sides), size=2))
        extra = variant.extra != "none" and bool(rng.integers(2))
        states.append(Position.from_text(home_text(game, mine, theirs, extra), variant).state)
    rows = np.stack(states)
    assert np.abs(bot.values(rows) - bot.throw_values(rows)).max() < 2e-6


def test_gammons_of_a_small_game_count(tables):
    """Three checkers a side with gammons: the loser who has borne off none loses two."""
    game = replace(VARIANTS["hyper"], id="small", name="Small", source="user", status="user's own", score="bg")
    endgame = endgame_of(game)
    lost = Position.from_text("small 1:1 off:2 | 6:3 | turn=0", game)
    even = Position.from_text("small 1:1 off:2 | 6:2 off:1 | turn=0", game)
    values = endgame_bot.EndgameBot(load_bot(game, "pips"), "small").values(np.stack([lost.state, even.state]))
    assert values.tolist() == [2, 1] and endgame.gammon == 1 and not endgame.plain


@pytest.mark.parametrize("game", ["backgammon", "classic", "plakoto"])
def test_one_sided_values_are_near_the_two_sided_ones(game, tables):
    """A race of two distributions against best play: the difference is that a side may look at the other."""
    variant = VARIANTS[game]
    both = endgame_of(variant)
    raced = both._replace(equity=both.equity[:, :1, :1])
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(300):
        sides = [np.bincount(rng.integers(6, size=rng.integers(3, 7)), minlength=6) for _ in range(2)]
        rows.append(Position.from_text(home_text(game, *(side.tolist() for side in sides)), variant).state)
    found = []
    for tables_of in (both, raced):
        outputs, known = (
            np.zeros((len(rows), len(pretrained_for(variant).meaning.points)), np.float32),
            np.zeros(300, bool),
        )
        put_outputs(tables_of, np.stack(rows), known, outputs)
        assert known.all()
        found.append(outputs[:, 0].astype(float))
    assert np.abs(found[0] - found[1]).max() < 0.02
    assert np.abs(found[0] - found[1]).mean() < 0.002


@pytest.mark.parametrize("game", ["backgammon", "classic", "plakoto", "nackgammon", "hyper"])
def test_outputs_mean_what_a_net_s_outputs_mean(game, tables):
    """Their product with the points of the outcomes is the value."""
    from nardy_rl.agents.net import outputs_of

    variant = VARIANTS[game]
    bot, meaning = load_bot(variant, "pips+bearoff"), outputs_of(variant)
    rng = np.random.default_rng(2)
    rows = []
    for _ in range(100):
        sides = [np.bincount(rng.integers(6, size=variant.checkers - rng.integers(2)), minlength=6) for _ in range(2)]
        rows.append(Position.from_text(home_text(game, *(side.tolist() for side in sides)), variant).state)
    rows = np.stack(rows)
    outputs, known = np.zeros((100, len(meaning.points)), np.float32), np.zeros(100, bool)
    put_outputs(bot.endgame, rows, known, outputs)
    assert known.all()
    assert np.abs(meaning.constant + outputs @ meaning.points - bot.values(rows)).max() < 1e-5
    assert (outputs >= 0).all() and (outputs <= 1).all()
    evaluated = bot.evaluations(rows)
    assert (evaluated[1] == bot.values(rows)).all()


def test_states_outside_the_tables_keep_the_bot_s_value(tables):
    bot = load_bot("backgammon", "pips+bearoff")
    opening = Position.opening("backgammon", seed=4)
    rows = np.stack([after.state for after in opening.plays()])
    assert (bot.values(rows) == bot.inner.values(rows)).all()
    owing = Position.from_text(home_text("backgammon", (1, 0, 0, 0, 0, 2), (0, 3, 0, 0, 0, 0))).throw(6, 1)
    assert bot.values(owing.state[None]) == bot.inner.values(owing.state[None])


def test_a_bot_with_tables_is_one_without_where_no_play_leads_to_them(tables):
    bot = load_bot("backgammon", "pips+bearoff")
    texts = [
        "backgammon 24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0",
        home_text("backgammon", *[(2, 2, 2, 0, 0, 0)] * 2),
    ]
    rows = np.stack([Position.from_text(text).state for text in texts])
    assert (bot.roll_values(rows)[0] == bot.inner.roll_values(rows)[0]).all()
    assert bot.roll_values(rows)[1] @ ROLL_WEIGHTS == pytest.approx(bot.values(rows)[1], abs=1e-6)


def test_a_bot_without_values_is_refused():
    with pytest.raises(BadBot, match="no values"):
        load_bot("backgammon", "random+bearoff")


# ------------------------------------------------------------------------------------------ files


def test_tables_are_kept_and_checked_when_read(tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "folder", lambda: tmp_path)
    made = []

    def compute():
        made.append(1)
        return {"a": np.arange(6, dtype=np.float32)}

    for _ in range(2):
        assert (table_files.kept("some", compute)["a"] == np.arange(6)).all()
    assert len(made) == 1
    file = next(tmp_path.glob("some-v*.safetensors"))
    damaged = bytearray(file.read_bytes())
    damaged[-1] ^= 1
    for contents in (bytes(damaged), damaged[:40], b"", json.dumps({}).encode()):
        file.write_bytes(contents)
        before = len(made)
        assert (table_files.kept("some", compute)["a"] == np.arange(6)).all()
        assert len(made) == before + 1
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(table_files, "folder", lambda: tmp_path / "file")
    assert table_files.kept("some", lambda: {"a": np.ones(1, np.float32)})["a"] == 1


# ------------------------------------------------------------------------------------------ gnubg


@pytest.mark.long
def test_races_agree_with_gnubg():
    """gnubg keeps its one-sided distributions in 16 bits and its two-sided table of six checkers exactly."""
    gnubg_nn = pytest.importorskip("gnubg_nn")
    variant = VARIANTS["backgammon"]
    endgame = endgame_of(variant)
    rng = np.random.default_rng(11)
    rows, theirs = [], []
    for number in range(2000):
        most = 6 if number % 2 else 15
        sides = [np.bincount(rng.integers(6, size=rng.integers(1, most + 1)), minlength=6) for _ in range(2)]
        rows.append(Position.from_text(home_text("backgammon", *(side.tolist() for side in sides)), variant).state)
        boards = [[*side.tolist(), *[0] * 19] for side in sides]
        theirs.append(gnubg_nn.probabilities([boards[1], boards[0]], 0))
    outputs, known = np.zeros((len(rows), 5), np.float32), np.zeros(len(rows), bool)
    put_outputs(endgame, np.stack(rows), known, outputs)
    off = np.abs(outputs - np.array(theirs, np.float32))
    print("largest differences", off.max(axis=0), "mean", off.mean(axis=0))
    assert known.all()
    assert off[:, 0].max() < 3e-4
