"""FIBS board strings, both ways: the line `board:You:him:...` of the backgammon server and of gnubg's sockets.

The line is for one reader, the player named first. After the two names come fifty numbers:

| numbers | content |
|---|---|
| 1-3 | the match's length, 9999 for money; the points of the first player and of the other |
| 4-29 | places 0 to 25: O's checkers are positive, X's negative; 0 and 25 are the bars |
| 30 | who is on roll: 1 O, -1 X, 0 when the game is over |
| 31-34 | dice of the first player and of the other, 0 where not thrown |
| 35 | the cube |
| 36, 37 | may the first player double, may the other, by where the cube lies; both where it is in the middle |
| 38 | has the other doubled, so that the first must answer |
| 39, 40 | is the first player O (1) or X (-1); does he move to higher places (1) or to lower ones (-1) |
| 41, 42 | the places of his home and bar |
| 43-46 | checkers off, then on the bar: the first player's, the other's |
| 47, 48 | moves that can be made, forced move: not used, 0 |
| 49 | is the Crawford game behind |
| 50 | for money 1 with beavers; in a match 0 in the Crawford game, else 1, as gnubg has it |

Our player 0 is O, player 1 X. A board is written for the player who acts, who moves to lower places, so that the
places are his own points. Jacoby and beavers are not read from a board.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from nardy_rl.board import BAR
from nardy_rl.cube import BEAVER, DOUBLE, RESIGN, Cube, GameState, Offer
from nardy_rl.errors import BadMatch, BadPosition
from nardy_rl.ids import Counts, check_unfinished, counts_for, doubled_cube, game_of, position_of, state_of
from nardy_rl.match import Match
from nardy_rl.position import Position
from nardy_rl.variant import Variant

UNLIMITED = 9999
_COUNT = 50


def fibs_board(game: GameState | Position, names: tuple[str, str] = ("O", "X")) -> str:
    """The FIBS board string of a state, for the player who acts; names: of players 0 and 1.

    Raises BadPosition or BadMatch where there is none.
    """
    game = state_of(game)
    form = "a FIBS board"
    counts = counts_for(game.position, form)
    check_unfinished(game, form)
    offer, match = game.offer, game.match
    if offer is not None and offer.kind == RESIGN:
        raise BadMatch(f"{form} cannot say that a resignation is offered: {game.text}")
    for name in names:
        if not re.fullmatch(r"[^:\s]+", name):
            raise BadMatch(f"the name {name!r} cannot stand in {form}: it takes no spaces and no colons")
    me, other = game.player, 1 - game.player
    colour, roller = (1, -1)[me], game.position.player
    places = [int(counts[me, place] if place else 0) * colour for place in range(BAR + 1)]
    for place in range(BAR):
        places[place] -= int(counts[other, BAR - place]) * colour
    thrown = list(game.position.dice) or [0, 0]
    cube = game.cube.turned(other) if offer is not None and offer.kind == BEAVER else game.cube
    may = [int(cube.owner in (None, player)) for player in (me, other)]  # gnubg takes 0 and 0 for an open double
    at_match_point = match.length > 0 and max(match.score) == match.length - 1
    numbers = [
        *(match.length or UNLIMITED, match.score[me], match.score[other]),
        *places,
        0 if game.over else (1, -1)[roller],
        *(thrown if roller == me else [0, 0]),
        *(thrown if roller == other else [0, 0]),
        *(cube.value, *may, int(offer is not None)),
        *(colour, -1, 0, BAR),
        *(int(n) for place in (0, BAR) for n in (counts[me, place], counts[other, place])),
        *(0, 0, int(at_match_point and not match.crawford)),
        int(not match.crawford if match.length else game.variant.beavers),
    ]
    return ":".join(["board", names[me], names[other], *map(str, numbers)])


# ------------------------------------------------------------------------------------------ reading


def from_fibs_board(variant: Variant | str, text: str, gnubg: bool = False) -> GameState:
    """The state of a FIBS board string; raises BadPosition or BadMatch naming the number that is wrong.

    gnubg: the line comes from gnubg's socket for external players. There O is gnubg's player 1 and X its player 0, but
    the names and the points are those of the one on roll and of the other; the dice are given twice, and number 38 says
    that a double is open, whoever has to answer it.
    """
    variant = game_of(variant, "a FIBS board")
    line = text.strip()
    what = f"FIBS board {line[:60]!r}"
    words = line.split(":")
    if words[0] != "board" or len(words) != 3 + _COUNT:
        raise BadPosition(f"{what}: it takes 'board', two names and {_COUNT} numbers, with colons between")
    n = [_number(word, i, what) for i, word in enumerate(words[3:], 1)]
    length, my_points, other_points = n[:3]
    turn, my_dice, other_dice = n[29], n[30:32], n[32:34]
    value, may, doubled, (colour, direction) = n[34], n[35:37], n[37], n[38:40]
    for at, allowed in ((30, (1, -1, 0)), (38, (0, 1)), (39, (1, -1)), (40, (1, -1))):
        if n[at - 1] not in allowed:
            wanted = ", ".join(map(str, allowed))
            raise BadPosition(f"{what}: number {at} is {n[at - 1]}; it must be one of {wanted}")
    me = int(colour == -1)
    roller = me if turn == colour else 1 - me
    dice = [die for die in (my_dice if roller == me else other_dice) if die]
    if len(dice) == 1 or any(not 1 <= die <= 6 for die in dice):
        raise BadPosition(f"{what}: dice {n[30:34]} are no throw of the player on roll")
    position = position_of(variant, _board(n[3:29], me, direction, what), roller, dice, what)
    if bool(turn) == position.over and not gnubg:
        raise BadPosition(f"{what}: number 30 is {turn}, but the game is {'' if position.over else 'not '}over")
    _check_borne_off(n, position, me, what)
    score = (my_points, other_points) if (roller if gnubg else me) == 0 else (other_points, my_points)
    may_be_crawford = variant.crawford and value == 1 and not n[48] and (may == [0, 0] or not n[49])
    try:
        cube, offer = _cube(value, may, me), None
        if doubled and cube.owner == 1 - roller:
            cube, offer = doubled_cube(value, cube.owner, roller), Offer(BEAVER, 1 - roller)
        elif doubled:
            offer = Offer(DOUBLE, roller)
        match = Match(variant, 0 if length == UNLIMITED else length, score, None if may_be_crawford else False)
        return GameState(match, position, cube, offer)
    except BadMatch as error:
        raise BadMatch(f"{what}: {error}") from None


def _number(word: str, at: int, what: str) -> int:
    if not re.fullmatch(r"-?\d{1,5}", word):
        raise BadPosition(f"{what}: number {at} is {word!r}")
    return int(word)


def _board(places: Sequence[int], me: int, direction: int, what: str) -> Counts:
    """Checkers by player of the places 0 to 25, which the first player, `me`, walks in a direction."""
    counts = np.zeros((2, 26), np.int64)
    for place, number in enumerate(places):
        if not number:
            continue
        player = int(number < 0)
        own = place if (direction == -1) is (player == me) else BAR - place
        if own == 0 or abs(number) > 15:
            raise BadPosition(
                f"{what}: {number} checkers on place {place}; it takes up to 15, on the own bar or a point"
            )
        counts[player, own] = abs(number)
    return counts


def _check_borne_off(n: Sequence[int], position: Position, me: int, what: str) -> None:
    """The numbers of checkers off and on the bar, which gnubg leaves 0, must not contradict the places."""
    for at, place in ((42, 0), (44, BAR)):
        said = n[at : at + 2]
        real = [int(position.counts[player, place]) for player in (me, 1 - me)]
        if any(said) and said != real:
            where = "on the bar" if place else "off"
            raise BadPosition(
                f"{what}: {said[0]} and {said[1]} checkers are said to be {where}, but it is {real[0]} and {real[1]}"
            )


def _cube(value: int, may: Sequence[int], me: int) -> Cube:
    """The cube of a board, which names no owner but who may double."""
    if value == 1:
        return Cube()
    if may[0] == may[1]:
        raise BadMatch(f"the cube is at {value}, but it is not said who alone may double")
    return Cube(value, me if may[0] else 1 - me)
