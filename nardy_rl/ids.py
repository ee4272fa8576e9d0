"""GNU Position ID and Match ID, both ways: the board in 14 characters, everything else in 12.

A Position ID is ten bytes in base 64. Their bits, the lowest of a byte first, list for the player who is *not* on
roll, then for the other, the points 1 to 24 and the bar in his own numbering: as many ones as checkers, then a
zero. It says neither who is on roll nor what is thrown; checkers that are missing are borne off.

A Match ID is nine bytes in base 64, read as one number with the lowest byte first:

| bits | content |
|---|---|
| 0-3 | the cube's value, as a power of two |
| 4-5 | its owner: player 0 or 1, 3 nobody |
| 6 | who is on roll |
| 7 | is it the Crawford game |
| 8-10 | 0 no game, 1 a game being played, 2 to 4 over |
| 11 | who has to decide: differs from who is on roll where an offer waits for his answer |
| 12 | is a double offered; after a beaver too, when the player on roll decides and the other owns the doubled cube |
| 13-14 | level of an offered resignation, 0 for none |
| 15-17, 18-20 | the dice, 0 before the throw |
| 21-35 | the match's length, 0 for money |
| 36-50, 51-65 | points of players 0 and 1 |
| 66 | set where Jacoby does not hold |

Our players 0 and 1 are gnubg's. Programs that read these know games of one kind only; positions of other games,
and states that have no bits, are refused with a sentence.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nardy_rl.board import BAR, OUTCOME, THROWER, THROWS, TURN, WORDS, pack
from nardy_rl.cube import BEAVER, DOUBLE, RESIGN, Cube, GameState, Offer
from nardy_rl.errors import BadMatch, BadPosition
from nardy_rl.match import Match
from nardy_rl.options import with_options
from nardy_rl.position import Position, crossed, outcome_off
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant, variant_text

Counts = NDArray[np.int64]
"""Checkers int64[2, 26] by player, each in his own numbering: 0 off, 1..24 points, 25 the bar."""

MEN = (15, 3)  # checkers of a side in the games that others' formats know
_POSITION_BITS, _MATCH_BITS = 80, 67
_PLACES = range(1, BAR + 1)  # points and bar, the nearest first


# ------------------------------------------------------------------------------------------ what can be said


def game_of(variant: Variant | str, form: str) -> Variant:
    """The variant, if a form such as "Position ID" can express it; raises BadPosition saying why not."""
    variant = parse_variant(variant) if isinstance(variant, str) else variant
    reason = None
    if variant.parallel:
        reason = "it is for games in which the two sides travel towards each other"
    elif variant.contact != "hit":
        reason = "it is for games in which a lone checker is hit; it has no word for a pin"
    elif variant.checkers not in MEN:
        reason = f"it is for games of {MEN[0]} or {MEN[1]} checkers a side, not of {variant.checkers}"
    elif variant.doubles != "plain" or variant.completion != "none" or variant.extra != "none":
        reason = "it is for games in which a throw is played by its thrower alone, and once"
    if reason:
        raise BadPosition(f"{form} cannot say a position of {variant_text(variant)}: {reason}")
    return variant


def counts_for(position: Position, form: str) -> Counts:
    """The checkers by player, if a form can express the position; raises BadPosition saying why not."""
    variant = game_of(position.variant, form)
    if position.owes and sum(moves for _, moves in position.owed) != (4 if len(set(position.dice)) == 1 else 2):
        raise BadPosition(f"{form} cannot say that part of the throw is played already: {position.text}")
    counts = position.counts.astype(np.int64)
    _check_nobody_hit(variant, counts, form)
    return counts


def _check_nobody_hit(variant: Variant, counts: Counts, what: str) -> None:
    if variant.hit_wins and counts[:, BAR].any():
        raise BadPosition(f"{what}: in {variant_text(variant)} a hit ends the game, so that nobody is on the bar")


def position_of(variant: Variant, counts: Counts, player: int, dice: Sequence[int], what: str) -> Position:
    """The position of a board that was read; `what` names the text in the error for one that cannot be.

    counts: as above, what is off filled in here; dice: two numbers, or none before a throw. How many throws
    there were no other format says: it counts as one each, so that the cube may be offered. Raises
    BadPosition.
    """
    _check_nobody_hit(variant, counts, what)
    for side in (0, 1):
        on_board = int(counts[side, 1:].sum())
        if on_board > variant.checkers:
            raise BadPosition(
                f"{what}: player {side} has {on_board} checkers; in {variant.id} a side has {variant.checkers}"
            )
        counts[side, 0] = variant.checkers - on_board
    gone = [int(counts[side, 0]) == variant.checkers for side in (0, 1)]
    if all(gone):
        raise BadPosition(f"{what}: neither player has a checker on the board")
    for point in _PLACES[:-1]:
        other = crossed(point, variant.parallel)
        if counts[0, point] and counts[1, other]:
            raise BadPosition(f"{what}: both players stand on player 0's {point}, player 1's {other}")
    if any(gone):
        player = gone.index(True)
        if any(dice):
            raise BadPosition(f"{what}: player {player} has borne off all, so that nobody throws any more")
    row = np.zeros(WORDS, np.uint32)
    row[0:4], row[4:8] = pack(counts[player]), pack(counts[1 - player])
    row[TURN] = player | (THROWER if player else 0)
    row[THROWS] = 1 | 1 << 16
    if any(gone):
        row[OUTCOME] = 1 + outcome_off(np.stack([counts[player], counts[1 - player]]).astype(np.int8), 1)
    position = Position(variant, row)
    return position.throw(*dice) if any(dice) else position


def state_of(game: GameState | Position) -> GameState:
    """A state as it is; a position alone as one of money play with the cube in the middle."""
    return game if isinstance(game, GameState) else GameState(Match(game.variant), game)


def check_unfinished(game: GameState, form: str) -> None:
    """Raise BadMatch for a game that a drop or a resignation has ended: a board does not show that."""
    if game.conceded is not None:
        raise BadMatch(f"{form} cannot say that the game was ended by a {game.conceded.how}: {game.text}")


# ------------------------------------------------------------------------------------------ bits and characters


def _encoded(number: int, length: int) -> str:
    """A number as `length` characters of base 64, its lowest byte first."""
    return base64.b64encode(number.to_bytes(length * 3 // 4, "little")).decode()[:length]


def _decoded(text: str, length: int, bits: int, name: str) -> int:
    """The number of an ID; raises BadPosition for one of the wrong length, alphabet or size."""
    if len(text) != length:
        raise BadPosition(f"{name} {text[:40]!r} has {len(text)} characters; it takes {length}")
    strange = re.search(r"[^A-Za-z0-9+/]", text)
    if strange:
        raise BadPosition(f"{name} {text!r}: {strange[0]!r} is none of the letters, digits, + and / that it is made of")
    number = int.from_bytes(base64.b64decode(text + "=" * (-length % 4)), "little")
    if number >> bits or _encoded(number, length) != text:
        raise BadPosition(f"{name} {text!r} has bits set beyond its {bits}; a character is mistyped")
    return number


def position_id(position: Position) -> str:
    """The GNU Position ID of a position, seen by the player on roll; raises BadPosition where there is none."""
    counts = counts_for(position, "a Position ID")
    number, at = 0, 0
    for side in (1 - position.player, position.player):
        for place in _PLACES:
            n = int(counts[side, place])
            number |= ((1 << n) - 1) << at
            at += n + 1
    return _encoded(number, 14)


def from_position_id(variant: Variant | str, text: str, player: int = 0, dice: Sequence[int] = ()) -> Position:
    """The position of a GNU Position ID; the ID does not say who is on roll and what is thrown.

    Raises BadPosition naming what is wrong: length, characters, too many checkers, a point held by both.
    """
    variant = game_of(variant, "a Position ID")
    if player not in (0, 1):
        raise BadPosition(f"player {player}: the players are 0 and 1")
    text = text.strip()
    number = _decoded(text, 14, _POSITION_BITS, "Position ID")
    counts = np.zeros((2, 26), np.int64)
    at = 0
    for side in (1 - player, player):
        for place in _PLACES:
            while number >> at & 1:
                counts[side, place] += 1
                at += 1
            at += 1
    if number >> at:
        raise BadPosition(f"Position ID {text!r} goes on after the last point; a character is mistyped")
    return position_of(variant, counts, player, dice, f"Position ID {text!r}")


def match_id(game: GameState | Position) -> str:
    """The GNU Match ID of a state; raises BadMatch or BadPosition where there is none.

    A beaver and a resignation that wait for an answer are said; a game that is over has no Match ID here.
    """
    game = state_of(game)
    counts_for(game.position, "a Match ID")
    if game.over:
        raise BadMatch(f"a Match ID is of a game that goes on: {game.text}")
    match, position, offer, cube = game.match, game.position, game.offer, game.cube
    doubled = offer is not None and offer.kind in (DOUBLE, BEAVER)
    if offer is not None and offer.kind == BEAVER:
        cube = cube.turned(offer.player)
    dice = position.dice or (0, 0)
    level = offer.level if offer is not None else 0
    jacoby = match.money and game.variant.jacoby
    number, at = 0, 0
    for value, bits in (
        (cube.value.bit_length() - 1, 4),
        (3 if cube.owner is None else cube.owner, 2),
        (position.player, 1),
        (int(bool(match.crawford)), 1),
        (1, 3),
        (game.player, 1),
        (int(doubled), 1),
        (level, 2),
        (dice[0], 3),
        (dice[1], 3),
        (match.length, 15),
        (match.score[0], 15),
        (match.score[1], 15),
        (int(not jacoby), 1),
    ):
        number |= value << at
        at += bits
    return _encoded(number, 12)


def gnubg_id(game: GameState | Position) -> str:
    """Position ID and Match ID with a colon between: the whole state."""
    return f"{position_id(state_of(game).position)}:{match_id(game)}"


def from_gnubg_id(variant: Variant | str, text: str) -> GameState:
    """The state of a Position ID and a Match ID with a colon between.

    The Jacoby bit sets the option `jacoby` in money play. Raises BadPosition or BadMatch.
    """
    variant = game_of(variant, "a Match ID")
    board, colon, rest = text.strip().partition(":")
    if not colon:
        raise BadPosition(f"{text!r} is not POSITION_ID:MATCH_ID")
    number = _decoded(rest, 12, _MATCH_BITS, "Match ID")

    def field(at: int, bits: int) -> int:
        return number >> at & (1 << bits) - 1

    fail = f"Match ID {rest!r}"
    if field(8, 3) > 1:
        raise BadMatch(f"{fail} is of a game that is over")
    if field(4, 2) == 2:
        raise BadMatch(f"{fail}: the cube's owner is neither a player nor nobody")
    dice = field(15, 3), field(18, 3)
    if max(dice) > 6 or (0 in dice) != (not any(dice)):
        raise BadMatch(f"{fail}: dice {dice[0]} and {dice[1]}")
    roller, decider, doubled, level = field(6, 1), field(11, 1), field(12, 1), field(13, 2)
    variant = with_flag(variant, "jacoby", not field(66, 1), field(21, 15))
    position = from_position_id(variant, board, roller, dice)
    value, owner = 1 << field(0, 4), None if field(4, 2) == 3 else field(4, 2)
    try:
        if doubled and level:
            raise BadMatch("a double and a resignation are offered, but only one can be open")
        if not doubled and not level and decider != roller:
            raise BadMatch(f"player {decider} has to decide, but no offer is open")
        offer = Offer(RESIGN, 1 - decider, level) if level else None
        if doubled and decider == roller:
            cube, offer = doubled_cube(value, owner, roller), Offer(BEAVER, 1 - roller)
        else:
            cube = Cube(value, owner)
            offer = Offer(DOUBLE, roller) if doubled else offer
        crawford = bool(field(7, 1))
        match = Match(variant, field(21, 15), (field(36, 15), field(51, 15)), crawford)
        return GameState(match, position, cube, offer)
    except BadMatch as error:
        raise BadMatch(f"{fail}: {error}") from None


def doubled_cube(value: int, owner: int | None, roller: int) -> Cube:
    """The cube as it lay before a double that was answered by a beaver, from how others write that: as taken."""
    if owner != 1 - roller or value < 2:
        raise BadMatch("a beaver is offered, but the cube is not doubled and with the player who was doubled")
    return Cube(value // 2, roller if value > 2 else None)


def with_flag(variant: Variant, option: str, wanted: bool, length: int) -> Variant:
    """The variant with `jacoby` or `beavers` as a text has it; both say something in money play with a cube only."""
    means_something = not length and variant.cube and (option != "jacoby" or variant.score == "bg")
    if not means_something or getattr(variant, option) == wanted:
        return variant
    return with_options(variant, {option: wanted})
