"""Search: against a slow recursion over positions in games of all kinds, with and without filters; bots by name."""

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.agents.bot import all_plays
from nardy_rl.agents.heuristic import HeuristicBot
from nardy_rl.agents.kinds import has_kinds
from nardy_rl.agents.net import new_net, outputs_of
from nardy_rl.agents.policy import KindsPolicy, Policy
from nardy_rl.agents.search import FILTERS, REPLIES, SearchBot, layers, use_threads, without_search
from nardy_rl.agents.search_net import Kept
from nardy_rl.batch import plays
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.encoding import encoding_of
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.experiments.compare import random_decisions
from nardy_rl.experiments.tournament import identity
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS, parse_variant

ALL = Kept(1000, 1000, 1e9)  # no play is left out
GAMES = sorted(VARIANTS)


def policy(game, seed=3):
    """A random net of a game, as a bot."""
    variant = parse_variant(game)
    return Policy(variant, new_net(encoding_of(variant), outputs_of(variant), (16, 8), seed), "patterns", {}, "random")


def kinds(game):
    """Two random nets of a game, as a bot."""
    one, other = policy(game), policy(game, seed=4)
    return KindsPolicy(one.variant, one.net, other.net, "patterns", {}, "random")


def flip(bot, outputs):
    """Outputs float64[K] in the view of the other player."""
    if bot.meaning is None:
        return outputs
    turned = outputs[bot.meaning.flip_from]
    if not bot.meaning.draws:
        turned[0] = 1 - turned[0]
    return turned


class Slow:
    """The value of a position by plain recursion over `Position`, which remembers nothing."""

    def __init__(self, bot, kept):
        self.bot, self.kept = bot, kept

    def static(self, position):
        outputs, values = self.bot.evaluations(position.state[None])
        return outputs[0].astype(float), float(values[0])

    def for_player(self, player, position, found):
        outputs, value = found
        return found if position.player == player else (flip(self.bot, outputs), -value)

    def replies(self, position):
        """The plays that are looked into, the best by the bot itself first."""
        after = position.plays()
        outputs, values = self.bot.evaluations(np.stack([p.state for p in after]))
        mine = [v if p.player == position.player else -v for v, p in zip(values, after, strict=True)]
        order = sorted(range(len(after)), key=lambda i: (-mine[i], i))
        near = [i for i in order[: self.kept.most] if mine[i] >= mine[order[0]] - self.kept.margin]
        return [after[i] for i in dict.fromkeys(order[: self.kept.least] + near)]

    def value(self, position, depth):
        """Outputs and value, so many throws ahead, for the position's player."""
        if position.over or (not position.owes and depth == 0):
            return self.static(position)
        if position.owes:
            found = [self.for_player(position.player, p, self.value(p, depth)) for p in self.replies(position)]
            return max(found, key=lambda pair: pair[1])
        found = [self.value(position.throw(int(a), int(b)), depth - 1) for a, b in ROLLS]
        outputs = sum(w * outputs for w, (outputs, _) in zip(ROLL_WEIGHTS, found, strict=True))
        return outputs, sum(w * value for w, (_, value) in zip(ROLL_WEIGHTS, found, strict=True))


def met(game, number, seed=5):
    """Positions of random games: half owe something of a throw, half are what a play led to."""
    states = random_decisions(game, 40 * number, seed)[::80]
    after, first = plays(parse_variant(game), states)
    return np.concatenate([states, after[first[:-1]]])


def late(game, number, seed=2):
    """Positions late in random games, in which few plays are left."""
    variant, rng, found = parse_variant(game), np.random.default_rng(seed), []
    for game_number in range(100):
        position, line = Position.opening(variant, seed, game_number), []
        while not position.over:
            if not position.owes:
                position = position.throw(*(int(die) for die in rng.integers(1, 7, 2)))
            choices = position.plays()
            position = choices[rng.integers(len(choices))]
            line.append(position.state)
        found += [line[i] for i in rng.integers(max(0, len(line) - 5), len(line), 2)]
        if len(found) >= number:
            break
    return np.stack(found[:number])


def agree(bot, states, depth, kept, atol=1e-5):
    slow = Slow(bot, kept)
    want = [slow.value(Position(bot.variant, state), depth) for state in states]
    searching = SearchBot(bot, max(depth, 1), replies=kept._replace(margin=kept.margin / float(bot.table.max())))
    outputs, values = searching.ahead(states, depth)
    np.testing.assert_allclose(values, [value for _, value in want], atol=atol)
    np.testing.assert_allclose(outputs, [outputs for outputs, _ in want], atol=atol)


@pytest.mark.parametrize("game", GAMES)
def test_one_ply_of_the_net_is_that_of_a_slow_recursion(game):
    agree(policy(game), met(game, 6), 1, REPLIES)


@pytest.mark.parametrize("game", GAMES)
def test_one_ply_of_other_values_is_that_of_a_slow_recursion(game):
    agree(HeuristicBot(parse_variant(game)), met(game, 4), 1, REPLIES)


@pytest.mark.parametrize("game", ["giul", "gulbar", "plakoto-express", "hyper", "caucasian"])
@pytest.mark.parametrize("make", [policy, lambda game: HeuristicBot(parse_variant(game))], ids=["net", "other"])
def test_no_filter_looks_into_every_play(game, make):
    agree(make(game), late(game, 4), 1, ALL)


@pytest.mark.parametrize("make", [policy, lambda game: HeuristicBot(parse_variant(game))], ids=["net", "other"])
@pytest.mark.parametrize("game", ["hyper", "giul"])
def test_two_plies_are_those_of_a_slow_recursion(game, make):
    agree(make(game), late(game, 2, seed=3), 2, Kept(1, 2, 0.1))


@pytest.mark.parametrize("game", ["backgammon", "plakoto"])
def test_two_nets_are_searched_with_each_in_its_positions(game):
    assert has_kinds(parse_variant(game))
    agree(kinds(game), met(game, 4), 1, Kept(2, 2, 0.0))


@pytest.mark.parametrize("game", ["backgammon", "crazy-v1", "plakoto"])
def test_the_kernel_and_the_search_of_any_bot_find_the_same(game):
    bot = policy(game)
    states = met(game, 4)
    kernel, other = SearchBot(bot, 2), SearchBot(bot, 2)
    other.bot = _Hidden(bot)
    for a, b in zip(kernel.evaluations(states[-3:]), other.evaluations(states[-3:]), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


class _Hidden(HeuristicBot):
    """A policy that does not look like one."""

    def __init__(self, bot):
        super().__init__(bot.variant)
        self.inner, self.meaning = bot, bot.meaning

    def evaluations(self, states):
        return self.inner.evaluations(states)


# ---------------------------------------------------------------------------------------------- choosing


def by_hand(bot, position, filters):
    """The plays of a position by a search, the best first, as (number, plies, value)."""
    after, slow = position.plays(), Slow(bot, REPLIES)
    scale = float(bot.table.max())
    found = {i: (0, slow.for_player(position.player, p, slow.static(p))[1]) for i, p in enumerate(after)}
    left = list(found)
    for depth, kept in enumerate(filters, 1):
        left.sort(key=lambda i: (-found[i][1], i))
        top = found[left[0]][1]
        near = [i for i in left[: kept.most] if found[i][1] >= top - kept.margin * scale]
        left = sorted(set(left[: kept.least]) | set(near))
        for i in left:
            found[i] = depth, slow.for_player(position.player, after[i], slow.value(after[i], depth))[1]
    return sorted(((i, *found[i]) for i in found), key=lambda one: (-one[1], -one[2], one[0]))


@pytest.mark.parametrize("game", ["backgammon", "crazy-v1", "classic", "plakoto"])
def test_the_search_goes_on_with_the_plays_that_the_filters_keep(game):
    bot = policy(game)
    states = random_decisions(game, 200, 3)[::40]
    after, first = plays(bot.variant, states)
    looked = SearchBot(bot, 1).look(states, after, first)
    for i, state in enumerate(states):
        mine = slice(first[i], first[i + 1])
        want = by_hand(bot, Position(bot.variant, state), FILTERS[:1])
        assert np.argsort(looked.rank[mine]).tolist() == [number for number, _, _ in want]
        order = [number for number, _, _ in want]
        assert looked.plies[mine][order].tolist() == [plies for _, plies, _ in want]
        np.testing.assert_allclose(looked.values[mine][order], [value for _, _, value in want], atol=1e-5)


@pytest.mark.parametrize("game", ["backgammon", "crazy-v1"])
@pytest.mark.parametrize("name", ["net", "heuristic"])
def test_choices_are_the_same_whatever_the_batch_the_threads_and_the_table(game, name):
    bot = policy(game) if name == "net" else HeuristicBot(parse_variant(game))
    states = random_decisions(game, 400, 3)[::10]
    after, first = plays(bot.variant, states)
    draws = np.zeros(len(states), np.uint64)
    one = SearchBot(bot, 1)
    whole = one.pick(states, after, first, draws)
    looked = one.look(states, after, first)
    np.testing.assert_array_equal(whole, np.flatnonzero(looked.rank == 0))
    for other in (SearchBot(bot, 1, cache_mb=0.001), SearchBot(bot, 1)):
        use_threads(other, 3)
        again = other.look(states, after, first)
        for a, b in zip(looked, again, strict=True):
            np.testing.assert_array_equal(a, b)
        assert other.pick(states, after, first, draws).tolist() == whole.tolist()
        for i in (0, 7, len(states) - 1):
            own, begins = all_plays(bot.rules, states[i : i + 1])
            alone = other.pick(states[i : i + 1], own, begins, draws[:1])[0]
            assert (own[alone] == after[whole[i]]).all()


def test_a_search_asks_once_for_what_it_has_found():
    bot = policy("backgammon")
    states = met("backgammon", 4)
    states = states[states[:, 11] == 0]
    search = SearchBot(bot, 1)
    first = search.evaluations(states)
    bot.net.w4[...] = 0
    bot._quick.w4[...] = 0
    np.testing.assert_array_equal(search.evaluations(states)[0], first[0])
    assert np.abs(SearchBot(bot, 1).evaluations(states)[0] - first[0]).max() > 1e-3


def test_a_bot_is_searched_by_name_and_plays_by_the_search():
    position = Position.opening("backgammon", seed=3)
    bot = load_bot("backgammon", "pretrained@1ply")
    assert (bot.name, bot.depth, bot.bot.name) == ("pretrained@1ply", 1, "pretrained")
    values = bot.values(np.stack([p.state for p in position.plays()]))
    assert bot.choose(position) == position.plays()[int(np.argmin(values))]
    assert isinstance(load_bot("backgammon", "pretrained@0ply"), Policy)
    assert load_bot("crazy-v1", "heuristic@2ply").depth == 2
    assert load_bot("classic", "pips@1-ply").depth == 1


def test_a_search_is_known_by_the_net_that_it_searches_by():
    one, other = policy("backgammon"), policy("backgammon", seed=4)
    names = {identity(SearchBot(net, depth)) for net in (one, other) for depth in (1, 2)}
    assert len(names) == 4 and identity(SearchBot(one, 1)) == identity(SearchBot(policy("backgammon"), 1))
    weak = load_bot("backgammon", "pretrained@1ply:club")
    assert [bot.name for bot in layers(weak)] == ["pretrained@1ply:club", "pretrained@1ply", "pretrained"]
    assert without_search(weak).name == "pretrained" and without_search(one) is one


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("random@1ply", "'random@1ply': random does not value positions, so it cannot search"),
        ("pretrained@4ply", "'pretrained@4ply': a search takes 1 to 3 plies"),
    ],
)
def test_a_search_that_cannot_be_is_refused_in_one_sentence(name, message):
    with pytest.raises(BadBot, match=message):
        load_bot("backgammon", name)


@pytest.mark.parametrize("settings", [{"depth": 0}, {"replies": Kept(2, 1, 0.0)}, {"filters": [Kept(1, 1, -1.0)]}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(BadOption):
        SearchBot(**{"bot": policy("hyper"), "depth": 1} | settings)
