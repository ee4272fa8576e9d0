"""XGID, both ways: a whole state on one line, as eXtreme Gammon, gnubg and many web pages take it.

    XGID=-b----E-C---eE---c-e----B-:0:0:1:52:0:0:3:0:10

Ten fields. Capitals are player 1 (X, below on such boards), small letters player 0 (O), as gnubg has it.

| field | content |
|---|---|
| 1 | 26 places: player 0's bar, player 1's points 1 to 24, player 1's bar; `-` empty, `A` one checker, `B` two, ... |
| 2 | the cube's value, as a power of two |
| 3 | its owner: 1 player 1, -1 player 0, 0 nobody |
| 4 | who is on roll: 1 player 1, -1 player 0 |
| 5 | the dice; `00` before the throw, `D` the player on roll has doubled, `B` and was beavered |
| 6, 7 | points of players 1 and 0 |
| 8 | in a match 1 in the Crawford game; for money 1 with Jacoby plus 2 with beavers |
| 9 | the match's length, 0 for money |
| 10 | the highest cube, as a power of two |
"""

from __future__ import annotations

import re

import numpy as np

from nardy_rl.board import BAR
from nardy_rl.cube import BEAVER, DOUBLE, RESIGN, Cube, GameState, Offer
from nardy_rl.errors import BadMatch, BadPosition
from nardy_rl.ids import Counts, check_unfinished, counts_for, game_of, position_of, state_of, with_flag
from nardy_rl.match import Match
from nardy_rl.options import OPTIONS, with_options
from nardy_rl.position import Position
from nardy_rl.variant import Variant

_PREFIX = "XGID="
_SIDES = {None: 0, 0: -1, 1: 1}
_OFFERS = {DOUBLE: "D", BEAVER: "B"}


def xgid(game: GameState | Position) -> str:
    """The XGID of a state; raises BadPosition or BadMatch where there is none."""
    game = state_of(game)
    counts = counts_for(game.position, "an XGID")
    check_unfinished(game, "an XGID")
    offer, match, variant = game.offer, game.match, game.variant
    if offer is not None and offer.kind == RESIGN:
        raise BadMatch(f"an XGID cannot say that a resignation is offered: {game.text}")
    dice = "".join(map(str, game.position.dice)) or "00"
    rules = int(bool(match.crawford)) if match.length else variant.jacoby + 2 * variant.beavers
    fields = (
        _board_text(counts),
        game.cube.value.bit_length() - 1,
        _SIDES[game.cube.owner],
        _SIDES[game.position.player],
        _OFFERS[offer.kind] if offer is not None else dice,
        match.score[1],
        match.score[0],
        rules,
        match.length,
        variant.cube_cap.bit_length() - 1,
    )
    return _PREFIX + ":".join(map(str, fields))


def _board_text(counts: Counts) -> str:
    text = ""
    for place in range(26):
        below, above = (counts[1, place] if place else 0), (counts[0, 25 - place] if place < BAR else 0)
        text += chr(ord("A") - 1 + int(below)) if below else chr(ord("a") - 1 + int(above)) if above else "-"
    return text


# ------------------------------------------------------------------------------------------ reading

_FIELDS = (
    ("the cube", r"\d{1,2}", "a power of two, as 1 for a cube at 2"),
    ("the cube's owner", r"-1|0|1", "1, 0 or -1"),
    ("who is on roll", r"-1|1", "1 or -1"),
    ("the dice", r"00|[1-6][1-6]|[DBR]", "two digits from 1 to 6, 00, D or B"),
    ("the score of player 1", r"\d{1,5}", "a number"),
    ("the score of player 0", r"\d{1,5}", "a number"),
    ("Crawford, or Jacoby and beavers", r"[0-3]", "a digit from 0 to 3"),
    ("the match's length", r"\d{1,5}", "a number"),
    ("the highest cube", r"\d{1,2}", "a power of two, as 6 for 64"),
)


def from_xgid(variant: Variant | str, text: str) -> GameState:
    """The state of an XGID, with `XGID=` before it or not; the last field may be missing.

    In money play its flags set the options `jacoby` and `beavers`, and a lower highest cube sets `cube_cap`,
    where the game has them. Raises BadPosition or BadMatch naming the field that is wrong.
    """
    variant = game_of(variant, "an XGID")
    line = text.strip().removeprefix(_PREFIX)
    what = f"XGID {line[:80]!r}"
    board, *fields = line.split(":")
    if len(fields) not in (len(_FIELDS) - 1, len(_FIELDS)):
        raise BadPosition(f"{what} has {len(fields) + 1} fields between its colons; it takes {len(_FIELDS) + 1}")
    for number, (field, (name, form, wanted)) in enumerate(zip(fields, _FIELDS, strict=False), 2):
        if not re.fullmatch(form, field):
            raise BadPosition(f"{what}: field {number}, {name}, is {field!r}; it needs {wanted}")
    counts = _board(board, what)
    dice, length, flags = fields[3], int(fields[7]), int(fields[6])
    if length and flags > 1:
        raise BadMatch(f"{what}: field 8 is {flags}; in a match it is 1 in the Crawford game and else 0")
    if dice == "R":
        raise BadMatch(f"{what}: a raccoon is offered, and these rules know none")
    variant = with_flag(with_flag(variant, "jacoby", bool(flags & 1), length), "beavers", bool(flags & 2), length)
    if len(fields) == len(_FIELDS):
        variant = _capped(variant, 1 << int(fields[8]))
    player = int(fields[2] == "1")
    thrown = tuple(int(die) for die in dice) if dice.isdecimal() and dice != "00" else ()
    position = position_of(variant, counts, player, thrown, what)
    offer = {"D": Offer(DOUBLE, player), "B": Offer(BEAVER, 1 - player)}.get(dice)
    owner = {"1": 1, "-1": 0}.get(fields[1])
    try:
        match = Match(variant, length, (int(fields[5]), int(fields[4])), bool(length and flags))
        return GameState(match, position, Cube(1 << int(fields[0]), owner), offer)
    except BadMatch as error:
        raise BadMatch(f"{what}: {error}") from None


def _board(text: str, what: str) -> Counts:
    if len(text) != 26:
        raise BadPosition(f"{what}: the board has {len(text)} places; it takes 26")
    counts = np.zeros((2, 26), np.int64)
    for place, sign in enumerate(text):
        if not re.fullmatch(r"[A-Oa-o-]", sign):
            raise BadPosition(f"{what}: {sign!r} on place {place}; it takes A to O, a to o, or - where nobody stands")
        if sign == "-":
            continue
        player = int(sign.isupper())
        if place == (0, BAR)[1 - player]:
            raise BadPosition(f"{what}: {sign!r} on place {place}, which is the other player's bar")
        counts[player, place if player else 25 - place] = ord(sign.upper()) - ord("A") + 1
    return counts


def _capped(variant: Variant, cap: int) -> Variant:
    """The variant with this highest cube where that is lower than its own."""
    if not variant.cube or cap >= variant.cube_cap or cap not in OPTIONS["cube_cap"].values:
        return variant
    return with_options(variant, {"cube_cap": cap})
