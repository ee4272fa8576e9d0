"""Bots: they choose legal plays in every game, come by their names, and say clearly what they cannot do."""

from __future__ import annotations

import re
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest

from nardy_rl.agents import Bot, ValueBot, load_bot
from nardy_rl.agents.bot import all_plays
from nardy_rl.agents.engines import EngineBot
from nardy_rl.agents.heuristic import HIT_CHANCES
from nardy_rl.batch import plays
from nardy_rl.board import OUTCOME, PLAYER, TURN
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.errors import BadBot, BadPolicy, IllegalPlay, MissingExtra, NardyError, UnknownVariant
from nardy_rl.experiments.bench import read_inputs
from nardy_rl.experiments.duel import duel
from nardy_rl.position import Position
from nardy_rl.rules import rules_of
from nardy_rl.variants import VARIANTS, parse_variant

ALL = list(VARIANTS)
HOUSE = ("random", "pips", "heuristic")


@pytest.mark.parametrize("game", ALL)
@pytest.mark.parametrize("name", HOUSE)
def test_a_bot_chooses_a_legal_play_in_every_game(game, name):
    bot = load_bot(game, name)
    position = Position.opening(game, seed=3)
    for die in (1, 4, 6, 5, 2, 3, 6, 6):
        if position.over:
            break
        while position.owes:
            after = bot.choose(position)
            assert after in position.plays()
            position = after
        if not position.over:
            position = position.throw(die, 6)


@pytest.mark.parametrize("game", ALL)
def test_values_are_from_the_state_s_own_player_and_exact_at_the_end(game):
    variant = VARIANTS[game]
    states = read_inputs(variant).states
    after, _ = plays(variant, states)
    ended = after[after[:, OUTCOME] > 0]
    bot = load_bot(variant, "heuristic")
    for state, value in zip(ended[:20], bot.values(ended), strict=False):
        position = Position(variant, state)
        assert value == position.score(position.player)
    values = bot.values(after)
    assert values.dtype == np.float32 and len(values) == len(after) and np.isfinite(values).all()
    assert abs(values).max() <= bot.table.max()


def test_a_value_bot_takes_the_first_of_the_best_plays():
    bot = load_bot("backgammon", "heuristic")
    assert isinstance(bot, ValueBot)
    states = read_inputs(bot.variant).states[:200]
    after, first = all_plays(rules_of(bot.variant), states)
    chosen = bot.pick(states, after, first, np.zeros(len(states), np.uint64))
    same = (after[:, TURN] & PLAYER) == np.repeat(states[:, TURN] & PLAYER, np.diff(first))
    values = np.where(same, bot.values(after), -bot.values(after))
    for i in range(len(states)):
        assert chosen[i] == first[i] + values[first[i] : first[i + 1]].argmax()


def test_roll_values_are_the_values_of_the_best_replies():
    bot = load_bot("plakoto", "heuristic")
    start = Position.start("plakoto")
    values = bot.roll_values(start.state[None])
    assert values.shape == (1, 21) and values.dtype == np.float32
    for k, (a, b) in enumerate(ROLLS):
        after = bot.choose(start.throw(int(a), int(b)))
        assert values[0, k] == -bot.values(after.state[None])[0]  # the opponent acts next
    assert bot.throw_values(start.state[None])[0] == pytest.approx(values[0] @ ROLL_WEIGHTS, abs=1e-6)


def test_a_random_bot_takes_every_play_equally_often():
    bot = load_bot("backgammon", "random")
    state = Position.start("backgammon").throw(3, 1).state
    n = 16_000
    after, first = all_plays(bot.rules, np.repeat(state[None], n, axis=0))
    draws = np.random.default_rng(1).integers(0, 2**64, size=n, dtype=np.uint64)
    chosen = bot.pick(np.repeat(state[None], n, axis=0), after, first, draws) - first[:-1]
    times = np.bincount(chosen, minlength=16)
    assert len(times) == 16 and abs(times - 1000).max() < 5 * np.sqrt(1000)


def test_pips_hits_when_it_can():
    position = Position.from_text("backgammon 24:2 13:5 8:3 6:5 | 24:2 13:5 8:2 6:5 5:1 | turn=0 throws=1,1 dice=42")
    assert "*" in position.move_text(load_bot("backgammon", "pips").choose(position))


def test_chances_of_a_hit():
    for distances, of_36 in (((1,), 11), ((6,), 17), ((12,), 3), ((1, 2), 20), ((7, 8), 12), ((), 0)):
        assert HIT_CHANCES[sum(1 << (d - 1) for d in distances)] == pytest.approx(of_36 / 36, abs=1e-5)


@pytest.mark.parametrize("game", ("backgammon", "classic", "plakoto"))
@pytest.mark.parametrize("other, ppg", (("random", 1.5), ("pips", 1.2)))
def test_the_heuristic_is_clearly_stronger_than_the_baselines(game, other, ppg):
    played = duel(game, load_bot(game, "heuristic"), load_bot(game, other), games=400, evaluator="none")
    assert played.ppg_raw > ppg


@pytest.mark.parametrize("game", ("sudden-death", "crazy-gulbar", "hyper"))
def test_the_heuristic_is_stronger_where_a_race_is_hard_to_beat(game):
    played = duel(game, load_bot(game, "heuristic"), load_bot(game, "pips"), games=400, evaluator="none")
    assert played.ppg_raw > 3 * played.se_raw


# ---------------------------------------------------------------------------------------------- by name


@pytest.fixture
def users_module(tmp_path, monkeypatch):
    (tmp_path / "my_bots.py").write_text(
        textwrap.dedent("""
            class First:
                def __init__(self, variant):
                    self.variant = variant
                def choose(self, position):
                    return position.plays()[0]
            class Last(First):
                def choose(self, position):
                    return len(position.plays()) - 1
            class Text(First):
                def choose(self, position):
                    return position.move_text(position.plays()[0])
            class TooFar(First):
                def choose(self, position):
                    return 10_000
            class Cheats(First):
                def choose(self, position):
                    return type(position).start(position.variant)
            class Wrong(First):
                def choose(self, position):
                    return "24/1"
            class Shrugs(First):
                def choose(self, position):
                    return None
            class Breaks(First):
                def choose(self, position):
                    raise ZeroDivisionError("oops")
            class NoChoice:
                def __init__(self, variant):
                    pass
            class NoConstructor:
                def choose(self, position):
                    return 0
        """)
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_bots", raising=False)


@pytest.mark.parametrize("name", ("First", "Last", "Text"))
def test_a_user_s_own_bot_may_answer_with_a_position_an_index_or_a_text(users_module, name):
    bot = load_bot("backgammon", f"my_bots:{name}")
    assert isinstance(bot, Bot) and bot.name == f"my_bots:{name}"
    position = Position.opening("backgammon", seed=1)
    assert bot.choose(position) in position.plays()
    played = duel("backgammon", bot, load_bot("backgammon", "random"), games=2, evaluator="none")
    assert played.games == 2 and not played.unfinished


@pytest.mark.parametrize(
    "name, message",
    (
        ("TooFar", "answered 10000, but"),
        ("Cheats", "no legal play"),
        ("Wrong", "'24/1'"),
        ("Shrugs", "must return a Position"),
        ("Breaks", "failed in backgammon .*oops"),
    ),
)
def test_a_wrong_answer_names_the_bot(users_module, name, message):
    bot = load_bot("backgammon", f"my_bots:{name}")
    with pytest.raises(BadBot, match=f"my_bots:{name}.*{message}"):
        bot.choose(Position.opening("backgammon", seed=1))


def test_an_installed_entry_point_is_a_bot(users_module, monkeypatch):
    from importlib.metadata import EntryPoint

    point = EntryPoint(name="mine", value="my_bots:First", group="nardy_rl.bots")
    monkeypatch.setattr("nardy_rl.agents.bot.entry_points", lambda group: [point] if group == point.group else [])
    assert load_bot("classic", "mine").name == "mine"
    with pytest.raises(BadBot, match="'mime'; did you mean 'mine'"):
        load_bot("classic", "mime")


@pytest.mark.parametrize(
    "name, message",
    (
        ("heuristc", "unknown bot 'heuristc'; did you mean 'heuristic'"),
        ("random@2ply", "'random@2ply': random does not value positions"),
        ("heuristic@two", "'two' must be written like 1ply"),
        ("my_bots:Frist", "no 'Frist'; did you mean 'First'"),
        ("my_bots:NoChoice", "'my_bots:NoChoice' has no method choose"),
        ("my_bots:NoConstructor", "'my_bots:NoConstructor' could not be made"),
        ("not_a_module:Class", "cannot import 'not_a_module'"),
        ("gnubg@7ply", "'gnubg@7ply'"),
    ),
)
def test_a_bad_name_gets_one_sentence(users_module, name, message):
    with pytest.raises(BadBot, match=message) as caught:
        load_bot("backgammon", name)
    assert "\n" not in str(caught.value)


def test_folders_and_files_that_hold_no_policy(tmp_path):
    with pytest.raises(BadBot, match="no policy.safetensors"):
        load_bot("backgammon", str(tmp_path))
    with pytest.raises(BadPolicy):
        load_bot("backgammon", str(tmp_path / "none.safetensors"))
    (tmp_path / "policy.safetensors").write_bytes(b"junk")
    with pytest.raises(BadPolicy):
        load_bot("backgammon", str(tmp_path))


def test_unknown_games_and_games_without_a_pretrained_player():
    with pytest.raises(UnknownVariant):
        load_bot("backgamon", "random")
    with pytest.raises(BadBot, match="no pretrained policy comes with own"):
        load_bot(parse_variant("own@plakoto:start=24:7"), "pretrained")


@pytest.mark.parametrize(
    "game, bot, reason",
    (
        ("classic", "pubeval", "towards each other"),
        ("plakoto", "gnubg", "are hit"),
        ("hyper", "pubeval", "15 checkers"),
        ("caucasian", "gnubg", "bound"),
        ("sudden-death", "gnubg", "first hit"),
        ("backgammon:bearoff=exact", "gnubg", "bearoff=exact"),
        ("classic", "opensage", "towards each other"),
        ("hyper", "opensage", "15 checkers"),
    ),
)
def test_outside_bots_refuse_games_they_cannot_play(game, bot, reason):
    with pytest.raises(BadBot, match=f"{bot}.*{game}.*{reason}"):
        load_bot(game, bot)


@pytest.mark.parametrize(("name", "package"), [("gnubg", "gnubg_nn"), ("opensage", "bgsage")])
def test_engines_take_no_tables(name, package):
    pytest.importorskip(package)
    with pytest.raises(BadBot, match=f"{name} has no values for the tables"):
        load_bot("backgammon", f"{name}+bearoff")


def test_an_engine_that_answers_with_no_legal_play_is_told_of_with_the_position():
    class Stubborn(EngineBot):
        def best(self, mine, theirs, die1, die2):
            return mine, theirs  # as if nothing had been thrown

    position = Position.opening("backgammon", seed=1)
    with pytest.raises(BadBot, match=f"stubborn chose a play that is not legal at {re.escape(position.text)}"):
        Stubborn(position.variant, 0, "stubborn").choose(position)


def test_nothing_is_no_bot():
    with pytest.raises(BadBot, match="unknown bot ''"):
        load_bot("backgammon", "")


def test_outside_bots_without_their_package_say_what_to_install(monkeypatch):
    for bot, module, extra in (("gnubg", "gnubg_nn", "gnubg"), ("opensage", "bgsage", "bgsage")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtra, match=rf"nardy-rl\[{extra}\]"):
            load_bot("backgammon", bot)


def test_choose_wants_a_position_of_its_game_with_something_to_play():
    bot = load_bot("backgammon", "pips")
    with pytest.raises(BadBot, match="loaded for backgammon and cannot play classic"):
        bot.choose(Position.opening("classic", seed=1))
    with pytest.raises(IllegalPlay):
        bot.choose(Position.start("backgammon"))
    assert issubclass(BadBot, NardyError)


# ---------------------------------------------------------------------------------------------- gnubg and pubeval


def gnubg_board(state, first, second):
    """[first side, second side] as gnubg wants them; a side is where its planes begin."""
    from nardy_rl.board import unpack

    return [unpack(state[k : k + 4])[1:].tolist() for k in (first, second)]


def test_pubeval_scores_and_plays_as_gnubg_nn_does():
    gnubg_nn = pytest.importorskip("gnubg_nn")
    from nardy_rl.agents.outside import is_race, pubeval_scores, pubeval_weights
    from nardy_rl.jit import kernel

    @kernel
    def races(rows, found):
        for i in range(len(rows)):
            found[i] = is_race(rows[i])

    variant = parse_variant("backgammon")
    weights = pubeval_weights()
    start, scores = Position.start("backgammon").state[None], np.zeros(1, np.float32)
    pubeval_scores(start, np.zeros(1, np.int64), np.zeros(1, np.int64), weights, scores)
    assert scores[0] == pytest.approx(6.84055, abs=1e-5)

    states = read_inputs(variant).states
    race, scores = np.zeros(len(states), np.int64), np.zeros(len(states), np.float32)
    races(states, race)
    pubeval_scores(states, np.zeros(len(states), np.int64), race, weights, scores)
    theirs = [gnubg_nn.pub_eval_score(gnubg_board(state, 0, 4)) for state in states]
    assert 100 < race.sum() < len(states) - 100
    np.testing.assert_allclose(scores, theirs, atol=2e-5)

    bot = load_bot(variant, "pubeval")
    after, first = all_plays(bot.rules, states)
    chosen = bot.pick(states, after, first, np.zeros(len(states), np.uint64))
    differ = 0
    for i, state in enumerate(states):
        position = Position(variant, state)
        flat = gnubg_nn.pub_best_move(gnubg_board(state, 4, 0), *position.dice)
        counts = list(position.counts[position.player])
        for source, target in zip(flat[::2], flat[1::2], strict=True):
            counts[source + 1] -= 1
            counts[max(target + 1, 0)] += 1
        mine = Position(variant, after[chosen[i]]).counts[position.player]
        differ += counts != list(mine)
    assert differ <= 5  # ties, which it breaks in another way


def test_pubeval_beats_random_by_the_known_margin():
    pytest.importorskip("gnubg_nn")
    played = duel(
        "backgammon",
        load_bot("backgammon", "pubeval"),
        load_bot("backgammon", "random"),
        games=1000,
        evaluator="none",
    )
    assert played.ppg == pytest.approx(2.5, abs=0.1)


def test_gnubg_plays_its_own_best_move():
    gnubg_nn = pytest.importorskip("gnubg_nn")
    variant = parse_variant("nackgammon")
    bot = load_bot(variant, "gnubg")
    for game in range(20):
        position = Position.opening(variant, seed=5, game=game)
        after = bot.choose(position)
        player = position.player
        key = gnubg_nn.best_move(gnubg_board(position.state, 4, 0), *position.dice, n=0, b=1)[1]
        mine, theirs = gnubg_nn.board_from_position_key(key)
        assert list(after.counts[player][1:]) == list(mine)
        assert list(after.counts[1 - player][1:]) == list(theirs)


def test_open_sage_plays_whole_games_and_agrees_with_gnubg_on_most_opening_plays():
    pytest.importorskip("bgsage")
    pytest.importorskip("gnubg_nn")
    sage, gnubg, chance = (load_bot("backgammon", name) for name in ("opensage", "gnubg", "random"))
    assert duel("backgammon", sage, chance, games=20, evaluator="none").wins >= 19
    thrown = [Position.start("backgammon").throw(a, b) for a in range(1, 7) for b in range(1, a)]
    same = sum(sage.choose(position).text == gnubg.choose(position).text for position in thrown)
    assert same >= 10


def test_gnubg_plays_a_game_of_three_checkers():
    pytest.importorskip("gnubg_nn")
    played = duel("hyper", *(load_bot("hyper", name) for name in ("gnubg", "random")), games=200, evaluator="none")
    assert played.wins > 150
    with pytest.raises(BadBot, match="15 checkers"):
        load_bot(replace(VARIANTS["hyper"], id="bg-score", score="bg"), "gnubg")


def test_gnubg_at_a_depth_plays_whole_games():
    pytest.importorskip("gnubg_nn")
    a, b = load_bot("backgammon", "gnubg@1ply"), load_bot("backgammon", "gnubg")
    assert (a.name, b.name) == ("gnubg@1ply", "gnubg")
    assert duel("backgammon", b, load_bot("backgammon", "random"), games=4, evaluator="none").ppg_raw > 1
    position = Position.opening("backgammon", seed=1)
    assert a.choose(position) in position.plays()
