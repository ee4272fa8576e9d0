"""A game with its doubling cube, in a match or for money: who may offer, take, drop, beaver and resign, and what
the game is worth (rules page, section 7). A layer above `Position`, which knows nothing of cubes and scores.

    game = GameState(Match("backgammon", 7), Position.opening("backgammon", seed=1))
    game = game.after("13/10 6/5").double().take().throw(6, 4)

The text of a `GameState` is that of its position and, after one more `|`, these words, in this order and only where
they differ from what is in brackets. `GameState.from_text` reads it; the text of a position alone is play for money
with the cube in the middle.

| word | meaning |
|---|---|
| `match=N` | a match to N points [play for money] |
| `score=A,B` | points of players 0 and 1 before this game [0,0] |
| `crawford` | this is the Crawford game |
| `cubeless` | the cube is not in play, though the game has one |
| `cube=N` | the value of the cube: the stake now in force [1] |
| `owner=P` | who owns the cube [nobody: it is in the middle] |
| `double`, `beaver` | an offer to double, or a beaver, waits for an answer |
| `resign=P,N` | player P offers to resign a game of N points before the cube, and waits for an answer |
| `won=P,N,HOW` | the game was ended by a `drop` or a `resign`: player P has won N points |
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from nardy_rl.errors import BadMatch, BadPosition, IllegalPlay
from nardy_rl.match import Match, Result
from nardy_rl.position import Position, Words, read_words
from nardy_rl.results import score_levels
from nardy_rl.variant import Variant
from nardy_rl.variants import variant_text

DOUBLE, BEAVER, RESIGN = "double", "beaver", "resign"


@dataclass(frozen=True)
class Cube:
    """The doubling cube. Immutable; raises BadMatch for a cube that cannot be."""

    value: int = 1
    """The stake in force: 1, 2, 4, ..."""
    owner: int | None = None
    """The player who alone may turn it; None: it is in the middle, and either may."""

    def __post_init__(self) -> None:
        if not isinstance(self.value, int) or self.value < 1 or self.value & (self.value - 1):
            raise BadMatch(f"a cube at {self.value}: it shows 1, 2, 4 and so on, each the double of the last")
        if self.owner not in (None, 0, 1):
            raise BadMatch(f"the cube's owner {self.owner}: it is player 0 or 1, or None for nobody")
        if (self.value == 1) is not (self.owner is None):
            where = "in the middle" if self.owner is None else f"owned by player {self.owner}"
            raise BadMatch(f"a cube at {self.value} {where}: it is in the middle at 1, and whoever took it owns it")

    def turned(self, owner: int) -> Cube:
        """The cube at twice its value, in the hands of `owner`."""
        return Cube(2 * self.value, owner)


class Offer(NamedTuple):
    """Something that the other player has to answer."""

    kind: str
    """"double", "beaver" or "resign"."""
    player: int
    """Who makes it."""
    level: int = 0
    """Of a resignation: the points that the game would count, before the cube."""


@dataclass(frozen=True)
class GameState:
    """One state of a game with its cube in a match. Immutable; every action gives another one.

    `actions` lists what the player who acts may do; anything else raises IllegalPlay with the reason. The
    constructor raises BadMatch for parts that do not fit together.
    """

    match: Match
    """The match before this game."""
    position: Position
    cube: Cube = Cube()
    """As it lies: an open offer has not turned it yet."""
    offer: Offer | None = None
    conceded: Result | None = None
    """The result of a game that ended by a drop or a resignation."""

    def __post_init__(self) -> None:
        if self.position.variant != self.match.variant:
            raise BadMatch(f"a position of {self.position.variant.id} in a match of {self.match.variant.id}")
        if self.match.over:
            raise BadMatch(f"the {self.match}, is over: no game is played in it")
        self._check_cube()
        if self.offer is not None:
            reason = replace(self, offer=None)._no_offer(self.offer)
            if reason:
                raise BadMatch(f"player {self.offer.player} cannot have offered {self.offer.kind!r}: {reason}")
        if self.conceded is not None:
            self._check_conceded(self.conceded)

    def _check_cube(self) -> None:
        if self.cube.value > 1 and not self.match.cube:
            raise BadMatch(f"a cube at {self.cube.value}, but in this {self.variant.id} the cube is not in play")
        if self.cube.value > 1 and self.match.crawford:
            raise BadMatch(f"a cube at {self.cube.value} in the Crawford game, in which nobody doubles")
        if self.cube.value > self.variant.cube_cap:
            raise BadMatch(f"a cube at {self.cube.value}, but its cap is {self.variant.cube_cap}")

    def _check_conceded(self, result: Result) -> None:
        if self.position.over:
            raise BadMatch("a game that was played to its end was not given up")
        if result.how == RESIGN:
            worth = {self.points(level) for level in score_levels(self.variant)}
        else:  # a double was dropped, or a beaver, which has doubled the stake
            times = {1, 2} if self.variant.beavers and self.match.money else {1}
            worth = {n * self.cube.value for n in times if self.match.cube and not self.match.crawford}
        if result.winner not in (0, 1) or result.how not in ("drop", RESIGN) or result.points not in worth:
            raise BadMatch(f"with the cube at {self.cube.value} no game can be given up as {tuple(result)}")

    # ------------------------------------------------------------------------------------ what holds now

    @property
    def variant(self) -> Variant:
        """The game."""
        return self.position.variant

    @property
    def player(self) -> int:
        """Who acts next, 0 or 1: who has to answer an offer, else who throws or plays; at the end the winner."""
        if self.offer is not None:
            return 1 - self.offer.player
        if self.conceded is not None and self.conceded.winner is not None:
            return self.conceded.winner
        return self.position.player

    @property
    def over(self) -> bool:
        """Has the game ended."""
        return self.conceded is not None or self.position.over

    @property
    def stake(self) -> int:
        """Points that a plain win is worth now: the cube."""
        return self.cube.value

    @property
    def result(self) -> Result | None:
        """How the game ended, or None while it goes on."""
        if self.conceded is not None or not self.position.over:
            return self.conceded
        level = int(self.position.score(self.position.player))
        return Result(self.position.player if level else None, self.points(level), "play")

    def score(self, player: int) -> int:
        """Points that a player wins by this finished game (negative: loses), the cube counted in."""
        if self.result is None:
            raise BadPosition(f"the game is not over, so nobody has a score yet: {self.text}")
        return self.result.points if player == self.result.winner else -self.result.points

    def points(self, level: int) -> int:
        """What a game won now is worth that the score table counts as `level`: times the cube.

        Jacoby (money with the cube only): gammons and backgammons count as plain wins until the cube is turned.
        """
        if self.match.money and self.match.cube and self.variant.jacoby and self.cube.value == 1:
            level = min(level, 1)
        return level * self.cube.value

    @property
    def next_match(self) -> Match:
        """The match after this finished game."""
        if self.result is None:
            raise BadPosition(f"the game is not over, so the score stands: {self.text}")
        return self.match.after(self.result)

    @property
    def actions(self) -> tuple[str, ...]:
        """What the player who acts may do: names of methods. Empty when the game is over."""
        if self.over:
            return ()
        if self.offer is None:
            start = ("after",) if self.position.owes else ("throw",)
            return (*start, *([] if self.no_double else [DOUBLE]), RESIGN)
        if self.offer.kind == RESIGN:
            return "accept", "refuse"
        return ("take", "drop", *([] if self._no_beaver(self.player) else [BEAVER]))

    @property
    def standing(self) -> str:
        """Score, cube and open offer in sentences; O is player 0, X is player 1."""
        match, cube, signs = self.match, self.cube, "OX"
        kind = "Money" if match.money else f"Match to {match.length}{', Crawford game' if match.crawford else ''}"
        said = [f"{kind}: O {match.score[0]}, X {match.score[1]}."]
        if match.cube:
            place = "in the middle" if cube.owner is None else f"with {signs[cube.owner]}"
            said.append(f"The cube is at {cube.value}, {place}.")
        if self.offer is not None:
            does = {
                DOUBLE: f"doubles to {2 * cube.value}",
                BEAVER: f"takes and doubles to {4 * cube.value} (beaver)",
                RESIGN: f"offers to resign {self.offer.level}",
            }
            said.append(f"{signs[self.offer.player]} {does[self.offer.kind]}, {signs[self.player]} is to answer.")
        if self.conceded is not None:
            points = f"{self.conceded.points} point{'s' * (self.conceded.points != 1)}"
            said.append(f"{signs[self.player]} has won {points} by a {self.conceded.how}.")
        return " ".join(said)

    def picture(self) -> str:
        """The board, score, cube and open offer as text; see `nardy_rl/picture.py`."""
        return f"{self.position.picture()}\n    {self.standing}"

    # ------------------------------------------------------------------------------------ throwing and playing

    def throw(self, die1: int, die2: int) -> GameState:
        """The state after the player has thrown these dice."""
        self._must_be_free("throw")
        return replace(self, position=self.position.throw(die1, die2))

    def after(self, play: str | Position) -> GameState:
        """The state after a play, as text (`24/18 13/11`) or as the position that it leads to."""
        self._must_be_free("play")
        if isinstance(play, str):
            return replace(self, position=self.position.after(play))
        if play not in self.position.plays():
            raise IllegalPlay(f"no play leads from {self.position.text} to {play.text}")
        return replace(self, position=play)

    def _must_be_free(self, act: str) -> None:
        if self.over:
            raise IllegalPlay(f"player {self.player} cannot {act}: the game is over")
        if self.offer is not None:
            raise IllegalPlay(f"nobody can {act}: player {self.player} has to answer the {self._offered}")

    @property
    def _offered(self) -> str:
        assert self.offer is not None
        return {RESIGN: "resignation"}.get(self.offer.kind, self.offer.kind)

    # ------------------------------------------------------------------------------------ offers

    @property
    def no_double(self) -> str:
        """Why the player who acts may not double now, or an empty string if he may."""
        cube = self.cube
        if not self.variant.cube:
            return f"{variant_text(self.variant)} has no doubling cube"
        if not self.match.cube:
            return "the cube is not in play"
        if self.over:
            return "the game is over"
        if self.offer is not None:
            return f"the {self._offered} is not answered yet"
        if self.match.crawford:
            return "this is the Crawford game"
        if cube.owner == 1 - self.position.player:
            return f"player {cube.owner} owns the cube"
        if 2 * cube.value > self.variant.cube_cap:
            return f"the cube is at its cap of {self.variant.cube_cap}"
        if not any(self.position.throws):
            return "the opening dice are not played yet"
        if self.position.owes:
            return "he has thrown, and the cube is offered before the throw"
        return ""

    def _no_beaver(self, player: int) -> str:
        """Why a player may not answer a double, or have answered it, by a beaver; empty if he may."""
        if not self.match.money:
            return "beavers are for money play only"
        if not self.variant.beavers:
            return f"beavers are off: the game is {self.variant.id}:beavers=true with them"
        if 4 * self.cube.value > self.variant.cube_cap:
            return f"it would turn the cube beyond its cap of {self.variant.cube_cap}"
        return "" if player != self.position.player else "it is the answer to a double of the other player"

    def _no_offer(self, offer: Offer) -> str:
        """Why an offer cannot be open in this state, which has none; empty if it can."""
        if offer.player not in (0, 1):
            return "the players are 0 and 1"
        if offer.kind == RESIGN:
            levels = score_levels(self.variant)
            if self.over:
                return "the game is over"
            return "" if offer.level in levels else f"a game is worth {', '.join(map(str, levels))} points"
        if offer.kind not in (DOUBLE, BEAVER):
            return f"an offer is {DOUBLE!r}, {BEAVER!r} or {RESIGN!r}"
        if offer.kind == BEAVER:
            return self.no_double or self._no_beaver(offer.player)
        return self.no_double if offer.player == self.position.player else "he is not to throw"

    def double(self) -> GameState:
        """The player who is to throw offers to double the stake."""
        if self.no_double:
            raise IllegalPlay(f"player {self.player} may not double: {self.no_double}")
        return replace(self, offer=Offer(DOUBLE, self.player))

    def beaver(self) -> GameState:
        """The player who was doubled takes, doubles again at once and keeps the cube (money, with `beavers`)."""
        self._must_answer(DOUBLE)
        reason = self._no_beaver(self.player)
        if reason:
            raise IllegalPlay(f"player {self.player} may not beaver: {reason}")
        return replace(self, offer=Offer(BEAVER, self.player))

    def resign(self, level: int = 1, player: int | None = None) -> GameState:
        """A player, if not stated who acts, offers to lose a game of `level` points before the cube.

        The levels are those of the game's score table: 1, a gammon or mars 2, a backgammon 3.
        """
        self._must_be_free("resign")
        offer = Offer(RESIGN, self.player if player is None else player, level)
        reason = self._no_offer(offer)
        if reason:
            raise IllegalPlay(f"player {offer.player} cannot resign {level}: {reason}")
        return replace(self, offer=offer)

    # ------------------------------------------------------------------------------------ answers

    def take(self) -> GameState:
        """A double or a beaver is accepted: the stake is doubled, or is four times what it was."""
        offer = self._must_answer(DOUBLE, BEAVER)
        owner = 1 - self.position.player
        cube = self.cube.turned(owner)
        return replace(self, cube=cube.turned(owner) if offer.kind == BEAVER else cube, offer=None)

    def drop(self) -> GameState:
        """A double or a beaver is refused: the stake before that offer is lost.

        Before a beaver that is the doubled stake: the beaver is a take and a double.
        """
        offer = self._must_answer(DOUBLE, BEAVER)
        points = self.cube.value * (2 if offer.kind == BEAVER else 1)
        return replace(self, offer=None, conceded=Result(offer.player, points, "drop"))

    def accept(self) -> GameState:
        """A resignation is accepted: the game is over."""
        offer = self._must_answer(RESIGN)
        return replace(self, offer=None, conceded=Result(self.player, self.points(offer.level), RESIGN))

    def refuse(self) -> GameState:
        """A resignation is refused: the game goes on."""
        self._must_answer(RESIGN)
        return replace(self, offer=None)

    def _must_answer(self, *kinds: str) -> Offer:
        if self.offer is None or self.offer.kind not in kinds:
            state = "the game is over" if self.over else f"the {self._offered} is" if self.offer else "no offer is open"
            named = " or ".join({RESIGN: "resignation"}.get(kind, kind) for kind in kinds)
            raise IllegalPlay(f"there is no {named} to answer: {state}{' open' * bool(self.offer)}")
        return self.offer

    # ------------------------------------------------------------------------------------ text

    @property
    def text(self) -> str:
        """The state on one line (see the module's page); `GameState.from_text` reads it back."""
        words = _words(self)
        return f"{self.position.text} | {' '.join(words)}" if words else self.position.text

    def __repr__(self) -> str:
        return f"GameState({self.text!r})"

    __str__ = __repr__

    @classmethod
    def from_text(cls, text: str, variant: Variant | None = None) -> GameState:
        """The state that a text describes; raises BadPosition or BadMatch saying what is wrong.

        variant: needed for a game that is not in the table, as in `Position.from_text`.
        """
        return _parse(text, variant)


def _words(g: GameState) -> list[str]:
    match, offer, won = g.match, g.offer, g.conceded
    words = [
        ("match", match.length),
        ("score", any(match.score) and f"{match.score[0]},{match.score[1]}"),
        ("crawford", match.crawford),
        ("cubeless", g.variant.cube and not match.cube),
        ("cube", g.cube.value > 1 and g.cube.value),
        ("owner", None if g.cube.owner is None else str(g.cube.owner)),
        (offer.kind if offer else "", offer and (f"{offer.player},{offer.level}" if offer.kind == RESIGN else True)),
        ("won", won and f"{won.winner},{won.points},{won.how}"),
    ]
    return [name if value is True else f"{name}={value}" for name, value in words if value]


_WORDS: Words = {
    "match": (r"([1-9]\d{0,4})", "a number of points"),
    "score": (r"(\d{1,5}),(\d{1,5})", "two numbers, as in 3,2"),
    "crawford": (r"()", ""),
    "cubeless": (r"()", ""),
    "cube": (r"([1-9]\d{0,4})", "its value, as in 4"),
    "owner": (r"([01])", "0 or 1"),
    DOUBLE: (r"()", ""),
    BEAVER: (r"()", ""),
    RESIGN: (r"([01]),(\d{1,2})", "a player and a number of points, as in 0,2"),
    "won": (rf"([01]),(\d{{1,5}}),(drop|{RESIGN})", "a player, points and drop or resign, as in 1,2,drop"),
}


def _parse(text: str, variant: Variant | None) -> GameState:
    line = " ".join(str(text).split())
    parts = line.split("|")
    position = Position.from_text("|".join(parts[:3]) if len(parts) == 4 else text, variant)
    found = read_words(parts[3], line, _WORDS) if len(parts) == 4 else {}

    def number(name: str, otherwise: int) -> int:
        return int(found[name][0]) if name in found else otherwise

    score = tuple(int(n) for n in found.get("score", ("0", "0")))
    crawford, cube = "crawford" in found, False if "cubeless" in found else None
    offers = [kind for kind in (DOUBLE, BEAVER, RESIGN) if kind in found]
    if len(offers) > 1:
        raise BadMatch(f"{' and '.join(offers)}: only one offer can be open, in position {line!r}")
    offer = None
    if offers == [RESIGN]:
        offer = Offer(RESIGN, *(int(n) for n in found[RESIGN]))
    elif offers:
        offer = Offer(offers[0], position.player if offers == [DOUBLE] else 1 - position.player)
    won = found.get("won")
    try:
        return GameState(
            Match(position.variant, number("match", 0), (score[0], score[1]), crawford, cube),
            position,
            Cube(number("cube", 1), int(found["owner"][0]) if "owner" in found else None),
            offer,
            Result(int(won[0]), int(won[1]), won[2]) if won else None,
        )
    except BadMatch as error:
        raise BadMatch(f"{error}, in position {line!r}") from None
