"""The cube in the hands of bots: chances of the outcomes by a bot's net, cubeful equities, what to do with the cube.

`verdict` judges one state of a game; `cube_values` judges many at once, also looking ahead some plies with the cube
in play. The arithmetic is in `nardy_rl/cube_equity.py`. A bot that knows outcome probabilities is asked for
them; one that knows values only is taken to see plain wins and losses, as far as they are worth so much. Of any other
bot nothing is known, and the race counts: a lead of a tenth of one's own pips is worth half a point, at most one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.baselines import PipsBot
from nardy_rl.agents.bot import Bot, States, ValueBot, all_plays, thrown
from nardy_rl.agents.engines import GnubgBot
from nardy_rl.agents.kinds import races
from nardy_rl.agents.policy import test_states
from nardy_rl.agents.search import SearchBot
from nardy_rl.board import OUTCOME, OWED, PLAYER, TURN, unpack
from nardy_rl.cube import GameState
from nardy_rl.cube_equity import (
    ANSWERS,
    DROP,
    MINE,
    NO_DOUBLE,
    THEIRS,
    Chances,
    CubeEquities,
    Floats,
    Money,
    Terms,
    cube_equities,
    dead_drop_point,
    dead_equity,
    equity,
)
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.match import Match
from nardy_rl.match_table import LONGEST, MatchTable, MatchTerms, match_table
from nardy_rl.results import can_draw, score_levels, score_table
from nardy_rl.rules import rules_of
from nardy_rl.variant import Variant

CONTACT_EFFICIENCY = 0.68
RACE_EFFICIENCY = (0.6, 0.7)  # from 40 pips of the player on roll to 120, in a straight line
RACE_PIPS = (40, 120)
PER_LEAD = 5.0  # points for a lead as large as one's own pip count

_LOT = np.zeros(1 << 14, np.uint64)  # random bits for bots that want some: looking ahead, none are drawn


# ------------------------------------------------------------------------------------------------- chances


def chances_from(variant: Variant, outputs: NDArray[np.floating[Any]]) -> Chances:
    """Chances of the outcomes from the outputs f[N, K] of a net of the variant (`net.py` says what they are).

    A draw counts as half a plain win and half a plain loss. Outputs that contradict each other, such as more gammons
    than wins, are cut to what is possible.
    """
    levels = score_levels(variant)
    size = len(levels)
    out = np.asarray(outputs, dtype=float)
    won = np.minimum.accumulate(np.clip(out[:, :size], 0, 1), axis=1)
    rest = 1 - won[:, :1]
    lost = np.hstack(
        [np.clip(out[:, size : size + 1], 0, rest) if can_draw(variant) else rest, out[:, out.shape[1] - size + 1 :]]
    )
    lost = np.minimum.accumulate(np.clip(lost[:, :size], 0, 1), axis=1)
    wins, losses = won - np.pad(won[:, 1:], ((0, 0), (0, 1))), lost - np.pad(lost[:, 1:], ((0, 0), (0, 1)))
    drawn = (rest - lost[:, :1])[:, 0]
    wins[:, 0] += drawn / 2
    losses[:, 0] += drawn / 2
    return Chances(levels, wins, losses)


def settled(variant: Variant, states: States, chances: Chances) -> Chances:
    """The chances with those of finished games replaced by their results."""
    over = np.flatnonzero(states[:, OUTCOME])
    if len(over):
        points = score_table(variant)[states[over, OUTCOME].astype(np.int64) - 1]
        won = np.equal.outer(points, np.array(chances.levels)).astype(float)
        drawn = points == 0
        won[drawn, 0] = 0.5
        chances.wins[over], chances.losses[over] = won, 0.0
        chances.losses[over[drawn], 0] = 0.5
    return chances


def chances_of(bot: Bot, states: States) -> Chances:
    """Chances of the outcomes for each state's player, by the bot."""
    if isinstance(bot, ValueBot) and bot.meaning is not None:
        found = chances_from(bot.variant, bot.evaluations(states)[0])
    elif isinstance(bot, GnubgBot) and bot.variant.score != "one":
        found = chances_from(bot.variant, bot.outputs(states))
    elif isinstance(bot, ValueBot) and not isinstance(bot, PipsBot):  # whose values are pips, not points
        found = chances_worth(bot.variant, bot.values(states).astype(float))
    else:
        mine, theirs = pips_of(states)
        found = chances_worth(bot.variant, np.clip(PER_LEAD * (theirs - mine) / np.maximum(mine, 1), -1, 1))
    return settled(bot.variant, states, found)


def chances_worth(variant: Variant, points: Floats) -> Chances:
    """Chances with these expected points f64[N]: of plain wins and losses, and of others only beyond their worth."""
    levels = score_levels(variant)
    size = np.minimum(np.abs(points), levels[-1])
    most = np.maximum(size, levels[0])
    won = np.stack([np.interp(most, levels, one) for one in np.eye(len(levels))], axis=1)
    p = np.clip((1 + size / levels[0]) / 2, 0.5, 1)[:, None]
    lost = np.eye(1, len(levels))
    ahead, behind = won * p, lost * (1 - p)
    better = points[:, None] >= 0
    return Chances(levels, np.where(better, ahead, behind), np.where(better, behind, ahead))


def pips_of(states: States) -> tuple[Floats, Floats]:
    """Pips f64[N] of each state's player and of the other one."""
    points = np.arange(26)
    return tuple(unpack(states[:, side : side + 4]).astype(float) @ points for side in (0, 4))  # type: ignore[return-value]


def efficiency(variant: Variant, states: States) -> Floats:
    """The cube's efficiency x f64[N] by kind of position.

    0.68 with contact. In a race from 0.6 at 40 pips of the player on roll to 0.7 at 120, and 0.6 once all checkers are
    home: the values of the GNU Backgammon manual ("Cubeful equities"), which are fitted to rollouts.
    """
    pips = pips_of(states)[0]
    home = ~np.any([unpack(states[:, side : side + 4])[:, 7:].any(axis=1) for side in (0, 4)], axis=0)
    race = np.where(home, RACE_EFFICIENCY[0], np.interp(pips, RACE_PIPS, RACE_EFFICIENCY))
    return np.where(races(rules_of(variant), np.ascontiguousarray(states)), race, CONTACT_EFFICIENCY)


# --------------------------------------------------------------------------------------------------- terms

_shares: WeakKeyDictionary[Bot, tuple[float, ...]] = WeakKeyDictionary()


def start_shares(bot: Bot) -> tuple[float, ...]:
    """The share of the games won that is won by each score level, at the start of a game, as the bot sees it.

    The mean after the openings of 64 games, of both sides, to three decimals. It makes the match equity table of the
    game. A bot without outcome probabilities sees plain wins only; one that searches goes by its net.
    """
    bot = searched(bot)[0]
    if bot not in _shares:
        levels = score_levels(bot.variant)
        counted = np.eye(1, len(levels))[0]
        if len(levels) > 1:
            found = chances_of(bot, test_states(bot.variant, 64))
            counted = (found.wins + found.losses).mean(axis=0)
        rounded = [round(float(share), 3) for share in counted / counted.sum()]
        _shares[bot] = (1 - sum(rounded[1:]), *rounded[1:])
    return _shares[bot]


def table_for(bot: Bot, match: Match) -> MatchTable | None:
    """The match equity table for what the players need in a match, by the bot's `start_shares`; None for money, and
    where a player needs more than 64 points: then the match is played as for money."""
    if match.needs is None or max(match.needs) > LONGEST:
        return None
    variant = match.variant
    return match_table(
        max(match.needs), score_levels(variant), start_shares(bot), crawford=bool(variant.crawford),
        cube=bool(match.cube), cap=variant.cube_cap if variant.cube else 1,
    )  # fmt: skip


def terms_of(bot: Bot, match: Match, player: int) -> Terms:
    """What a player plays for in the present game of a match, or for money."""
    table = table_for(bot, match)
    cap = match.variant.cube_cap if match.cube else 1
    if table is None or match.needs is None:
        return Money(bool(match.money and match.cube and match.variant.jacoby), cap)
    needs = match.needs[player], match.needs[1 - player]
    return MatchTerms(table, needs, bool(match.cube) and not match.crawford, cap)


# -------------------------------------------------------------------------------------------- looking ahead


@dataclass
class _Node:
    """Positions in which somebody is to throw, or which are finished, and what follows from them."""

    states: States
    chances: Chances
    x: Floats
    over: NDArray[np.bool_]
    below: _Node | None = None  # the different positions after all rows' 21 rolls
    number: NDArray[np.int64] | None = None  # [N * 21]: which of them each is


def _after_plays(bot: Bot, states: States) -> States:
    """The states in which somebody is to throw again, or the game is over: the bot plays everything that is owed."""
    rows = states.copy()
    owing = np.flatnonzero((rows[:, OWED] != 0) & (rows[:, OUTCOME] == 0))
    while len(owing):
        some = np.ascontiguousarray(rows[owing])
        plays, first = all_plays(bot.rules, some)
        draws = np.resize(_LOT, len(some))
        rows[owing] = plays[bot.pick(some, plays, first, draws)]
        owing = owing[(rows[owing, OWED] != 0) & (rows[owing, OUTCOME] == 0)]
    return rows


def _tree(bot: Bot, states: States, plies: int) -> _Node:
    over = states[:, OUTCOME] != 0
    node = _Node(states, chances_of(bot, states), efficiency(bot.variant, states), over)
    if plies:
        rows = np.empty((len(states) * len(ROLLS), states.shape[1]), np.uint32)
        thrown(bot.rules, np.ascontiguousarray(states), ROLLS, rows)
        rows[np.repeat(over, len(ROLLS))] = np.repeat(states[over], len(ROLLS), axis=0)
        different, number = np.unique(_after_plays(bot, rows), axis=0, return_inverse=True)
        node.below, node.number = _tree(bot, different, plies - 1), number.reshape(-1)
    return node


def _value(node: _Node, terms: Terms, stake: int, owner: int | None) -> Floats:
    """Worth f64[N] to each row's player, who does not double now."""
    if node.below is None:
        worth = equity(node.chances, terms, stake, owner, node.x)
    else:
        worth = _worths_below(node, terms, stake, owner) @ ROLL_WEIGHTS
    if node.over.any():
        worth = np.where(node.over, dead_equity(node.chances, terms, stake), worth)
    return worth


def _worths_below(node: _Node, terms: Terms, stake: int, owner: int | None) -> Floats:
    """Worth f64[N, 21] to each row's player of his 21 throws."""
    assert node.below is not None
    players = np.repeat(node.states[:, TURN] & PLAYER, len(ROLLS))
    same = (node.below.states[node.number, TURN] & PLAYER) == players
    turned = None if owner is None else 1 - owner
    worth = _to_other(_best(node.below, terms.other, stake, turned), terms)[node.number]
    if same.any():
        worth = np.where(same, _best(node.below, terms, stake, owner)[node.number], worth)
    return worth.reshape(-1, len(ROLLS))


def _to_other(worth: Floats, terms: Terms) -> Floats:
    """A worth to the other player as a worth to this one: points change sign, chances of a match their complement."""
    return terms.worth(1) + terms.other.worth(-1) - worth


def _best(node: _Node, terms: Terms, stake: int, owner: int | None) -> Floats:
    """Worth f64[N] to each row's player, who may double now where he has the cube."""
    if owner == THEIRS or not terms.gains(stake):
        return _value(node, terms, stake, owner)
    found = _actions(node, terms, stake, owner, False)
    return np.where(node.over, found.no_double, found.best)


def _actions(node: _Node, terms: Terms, stake: int, owner: int | None, beavers: bool) -> CubeEquities:
    if node.below is None and not node.over.any():
        return cube_equities(node.chances, terms, stake, owner, node.x, beavers)
    return CubeEquities(
        _value(node, terms, stake, owner),
        _value(node, terms, 2 * stake, THEIRS),
        np.full(len(node.states), terms.worth(stake)),
        _value(node, terms, 4 * stake, THEIRS) if beavers and 4 * stake <= terms.cap else None,
    )


def searched(bot: Bot) -> tuple[Bot, int]:
    """The bot by whose chances a bot that searches goes, and how many plies it looks ahead; other bots and 0."""
    return (bot.bot, bot.depth) if isinstance(bot, SearchBot) else (bot, 0)


def cube_values(
    bot: Bot, states: States, terms: Terms, stake: int, owner: int | None, beavers: bool = False, plies: int = 0
) -> CubeEquities:
    """What the cube actions are worth to the player of each state, who is to throw and may double.

    plies: throws to look ahead with the bot's plays before the model values the position; every player uses the cube
    on the way as the model tells him.
    """
    return _actions(_tree(bot, states, plies), terms, stake, owner, beavers)


def roll_worths(bot: Bot, states: States, terms: Terms, stake: int, owner: int | None) -> Floats:
    """Worth f64[N, 21], to the player of each state, of every throw with the bot's play of it; nobody doubles first."""
    return _worths_below(_tree(bot, states, 1), terms, stake, owner)


def best_values(bot: Bot, states: States, terms: Terms, stake: int, owner: int | None, plies: int = 0) -> Floats:
    """Worth f64[N] to the player of each state, who may double first if the cube is his; or whose game is over."""
    return _best(_tree(bot, states, plies), terms, stake, owner)


def worths_after(bot: Bot, game: GameState, after: States, plies: int = 0) -> Floats:
    """Worth f64[N] to the player who acts in a game of the states after his plays; the other one may double next."""
    player = game.position.player
    states = _after_plays(bot, after)
    mine = (states[:, TURN] & PLAYER).astype(np.int64) == player
    worth = np.zeros(len(states))
    for side in (player, 1 - player):
        chosen = mine if side == player else ~mine
        if chosen.any():
            terms = terms_of(bot, game.match, side)
            found = best_values(bot, states[chosen], terms, game.stake, owner_for(game, side), plies)
            worth[chosen] = found if side == player else _to_other(found, terms.other)
    return worth


def position_values(bot: Bot, states: States, terms: Terms, stake: int, owner: int | None, plies: int = 0) -> Floats:
    """Worth f64[N] to the player of each state, to throw, who does not double at this moment, or whose game is over."""
    return _value(_tree(bot, states, plies), terms, stake, owner)


# ------------------------------------------------------------------------------------------------ verdicts


@dataclass(frozen=True)
class Verdict:
    """What to do with the cube in one state, for the player who is to throw or has doubled.

    Equities are in points of the cube as it lies, for that player: 1 wins it, -1 loses it. In a match they are
    normalised so that the stake won and lost are worth 1 and -1; `match_chances` has chances to win the match.
    """

    player: int
    chances: Chances
    efficiency: float
    may_double: bool
    action: str  # "no double", "double" or "too good"
    answer: str  # "take", "drop" or "beaver"; the right answer if he does double
    equities: Mapping[str, float]  # "no double", and where he may double "take", "drop" and perhaps "beaver"
    match_chances: Mapping[str, float] | None  # the same as chances to win the match
    points: Mapping[str, float] | None  # where he may double: chances to win at which the answer turns, see `_points`

    @property
    def best(self) -> float:
        """The equity of the right action against the right answer."""
        return max(self.equities[NO_DOUBLE], self.doubled) if self.may_double else self.equities[NO_DOUBLE]

    @property
    def doubled(self) -> float:
        """The equity of a double against the right answer."""
        return self.equities[self.answer]

    @property
    def cubeless(self) -> float:
        """Expected points of the game before the cube."""
        return float(self.chances.points[0])


def owner_for(game: GameState, player: int) -> int | None:
    """The owner of a game's cube as the model names him."""
    return None if game.cube.owner is None else MINE if game.cube.owner == player else THEIRS


def verdict(bot: Bot, game: GameState, plies: int | None = None) -> Verdict:
    """What the bot says of the cube in a state in which somebody is to throw, or has just doubled or been beavered.

    plies: see `cube_values`; None takes the depth of the bot's own search.
    """
    bot, depth = searched(bot)
    plies = depth if plies is None else plies
    player = game.position.player
    terms = terms_of(bot, game.match, player)
    owner, stake = owner_for(game, player), game.stake
    may = game.offer is not None or not game.no_double
    node = _tree(bot, game.position.state[None], plies)
    beavers = bool(game.match.money and game.variant.beavers)
    if may:
        found = _actions(node, terms, stake, owner, beavers)
        action, answer = found.names()
    else:
        value = _value(node, terms, stake, owner)
        found = CubeEquities(value, value, value)
        action, answer = NO_DOUBLE, ANSWERS[0]
    names = (NO_DOUBLE, *ANSWERS[: 3 if found.beaver is not None else 2]) if may else (NO_DOUBLE,)
    worths = {name: worth for name, worth in zip(names, found, strict=False) if worth is not None}
    per_cube = {name: float(terms.per_cube(worth, stake)[0]) for name, worth in worths.items()}
    in_match = {n: float(w[0]) for n, w in worths.items()} if isinstance(terms, MatchTerms) else None
    x = float(node.x[0])
    points = _points(node.chances, terms, stake) if may else None
    return Verdict(player, node.chances, x, may, action, answer, per_cube, in_match, points)


def _points(chances: Chances, terms: Terms, stake: int) -> dict[str, float]:
    """Chances to win at which the answer turns: the taker's take points with a dead and a live cube; and what a gammon
    won or lost is worth besides the plain result at twice the stake, against winning instead of losing."""
    return {
        "take point, dead": float(1 - dead_drop_point(chances, terms, stake)[0]),
        "take point, live": float(1 - chances.drop_point(terms, stake)[0]),
        "gammon price": terms.gammon_price(2 * stake),
        "gammon price, taker": terms.other.gammon_price(2 * stake),
    }


def expected(bot: Bot, game: GameState, player: int) -> float:
    """Equity of playing on for a player, in points of the cube; of a throw that is not played, by the best play."""
    terms = terms_of(bot, game.match, game.position.player)
    rows = game.position.state[None]
    if game.position.owes:
        rows = _after_plays(bot, rows)
    mine = bool((rows[0, TURN] & PLAYER) == game.position.player)
    side = game.position.player if mine else 1 - game.position.player
    terms = terms_of(bot, game.match, side)
    value = position_values(bot, rows, terms, game.stake, owner_for(game, side))
    per_cube = float(terms.per_cube(value, game.stake)[0])
    return per_cube if side == player else -per_cube


def doubles(bot: Bot, game: GameState) -> bool:
    """Does the bot double, where it may."""
    terms = terms_of(bot, game.match, game.player)
    return terms.gains(game.stake) and verdict(bot, game).action == "double"


def answer_to_double(bot: Bot, game: GameState) -> str:
    """How the bot answers the double or the beaver that waits for it: "take", "drop" or "beaver"."""
    assert game.offer is not None
    said = verdict(bot, game)
    if game.offer.kind == "double":
        return said.answer
    beavered = said.equities.get("beaver", said.equities["take"])
    return DROP if beavered < -2 else "take"


def accepts(bot: Bot, game: GameState) -> bool:
    """Does the bot accept the resignation that waits for it: is it worth as much as playing on."""
    assert game.offer is not None
    player = game.player
    terms = terms_of(bot, game.match, player)
    offered = np.array([terms.worth(game.points(game.offer.level))])
    return float(terms.per_cube(offered, game.stake)[0]) >= expected(bot, game, player)
