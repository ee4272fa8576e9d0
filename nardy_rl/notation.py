"""Checker moves as text, both ways: what people write for the play that leads from one position to another.

A play is the moves of its checkers, the farthest first, each in its player's own numbering: `24/18/13*` is a
checker that goes from 24 to 18 and on to 13, where it hits. The other signs:

| written | meaning |
|---|---|
| `bar/22` | enters from the bar |
| `6/off` | is borne off |
| `13/7(2)` | two checkers move alike |
| `*` | hits the lone enemy checker on that point (written once for each point) |
| `^` | pins it |
| `pass` | no move is possible |
| `grace` | the last checker came home with the last of these moves, so that one more stage is played |
| `owes=3x2,4x4` | the debt: what the player could not play of the throw, and the other has to play now |

Reading is more tolerant: any order, capitals, commas, `b` or `25` for the bar, `o` or `0` for off, points on the
way left out (`24/13`), and marks left out where they are not needed to tell two plays apart. A debt that is
written must be the one that the play leaves.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

import numpy as np

from nardy_rl.board import (
    BAR,
    GRACE,
    HEAD,
    MY_PINS,
    OFF,
    OUTSIDE,
    TURN,
    unpack,
)
from nardy_rl.errors import IllegalPlay
from nardy_rl.free import first_edge_to, free_plays
from nardy_rl.jit import kernel
from nardy_rl.lockstep import own_scratch
from nardy_rl.moves import closed_points, lone_points
from nardy_rl.plays import no_move
from nardy_rl.position import Position, _kernel_view, _owed_text, points_of
from nardy_rl.turns import MOVES_MASK, head_allowance

Step = tuple[int, int]
"""One checker by one die: from, to (25 the bar, 0 off)."""


# ------------------------------------------------------------------------------------------ which moves


@kernel
def _steps_to(rules, row, after, scr, steps):
    """The single-die moves of a play that leads from `row` to `after`, in a legal order.

    rules: Rules; row, after: uint32[16], the former owing a stage; scr: Scratch; steps: int64[4, 2], filled
    with (from, to). Returns the number of moves, or -1 if `after` follows from no play. All orders are tried
    forwards, as `free_plays` does; then a way is traced back from the end.
    """
    n = free_plays(rules, row, scr)
    if n == 0:
        n = no_move(rules, row, scr)
    found = -1
    for i in range(n):
        if (scr.plays[i] == after).all():
            found = i
            break
    if found < 0:
        return -1
    length = scr.deeds[found] & MOVES_MASK
    node = np.int64(0)
    if length:
        while scr.leaf[length, node] != found:
            node += 1
    for level in range(length - 1, -1, -1):
        node, source, die = first_edge_to(scr, level, node)
        steps[level, 0], steps[level, 1] = source, max(source - die, 0)
    return length


def steps_of(before: Position, after: Position) -> list[Step]:
    """The single-die moves of a play, in a legal order, (from, to) each; raises IllegalPlay if none is."""
    if before.over or not before.owes:
        before.plays()  # raises, saying why there is nothing to play
    steps = np.zeros((4, 2), np.int64)
    rules = _kernel_view(before.variant)[0]
    n = _steps_to(rules, np.array(before.state), np.array(after.state), own_scratch(), steps)
    if n < 0 or before.variant != after.variant:
        raise IllegalPlay(f"no play leads from {before.text} to {after.text}")
    return [(int(a), int(b)) for a, b in steps[:n]]


def _lone(before: Position) -> int:
    """The points, as a mask in the player's numbering, where a lone enemy checker may be hit or pinned."""
    return int(_lone_mask(_kernel_view(before.variant)[0], np.array(before.state)))


@kernel
def _lone_mask(rules, row):
    return lone_points(rules, row)


def _chains(steps: list[Step]) -> list[tuple[int, ...]]:
    """Moves linked into the ways of single checkers: a move goes on where an earlier one ended."""
    ways: list[list[int]] = []
    for start, end in steps:
        way = next((w for w in ways if w[-1] == start and start != BAR), None)
        if way is None:
            ways.append([start, end])
        else:
            way.append(end)
    return sorted((tuple(way) for way in ways), reverse=True)


def _name(point: int) -> str:
    return {OFF: "off", BAR: "bar"}.get(point, str(point))


def move_text(before: Position, after: Position) -> str:
    """The checker moves of the play that leads from one position to another (see the module's page)."""
    steps = steps_of(before, after)
    mark = "*" if before.variant.contact == "hit" else "^"
    lone = _lone(before)
    words = [] if steps else ["pass"]
    for way, number in Counter(_chains(steps)).items():
        word = _name(way[0])
        for point in way[1:]:
            word += "/" + _name(point)
            if point and lone >> point & 1:
                word += mark
                lone &= ~(1 << point)
        words.append(word + (f"({number})" if number > 1 else ""))
    if int(after.state[TURN]) & GRACE and not int(before.state[TURN]) & GRACE:
        words.append("grace")
    debt = _debt(before, after)
    return " ".join([*words, f"owes={debt}"] if debt else words)


def _debt(before: Position, after: Position) -> str:
    """What a play leaves for the other player to complete, as a position's text has it; empty for nothing."""
    return _owed_text(after.owed) if after.player != before.player else ""


# ------------------------------------------------------------------------------------------ reading


class _Wanted(NamedTuple):
    """What a text says."""

    ways: list[tuple[int, ...]]  # each checker's points, the first where it starts
    marks: set[int]  # points with a mark: hit or pinned there
    grace: bool
    debt: str | None  # what is owed by the other player; None where the text does not say


_DEBT = re.compile(r"\bowes=(\S*)")
_WORD = re.compile(r"((?:bar|off|b|o|\d{1,2})(?:/(?:bar|off|b|o|\d{1,2})[*^]?)+)(?:\(([1-9])\))?")
_PASSES = ("pass", "-", "")


def _read(moves: str, fail: _Failure) -> _Wanted:
    ways, marks, grace = [], set(), False
    debt = _DEBT.search(moves.lower())
    text = _DEBT.sub("", moves.lower()).strip()
    for word in [] if text in _PASSES else text.replace(",", " ").split():
        if word == "grace":
            grace = True
            continue
        match = _WORD.fullmatch(word)
        if match is None:
            raise fail(f"{word!r} is not FROM/TO, as in 24/18, bar/22, 6/off or 13/7(2)")
        way = []
        for place in match[1].split("/"):
            bare = place.rstrip("*^")
            point = {"bar": BAR, "b": BAR, "off": OFF, "o": OFF}.get(bare)
            point = int(bare) if point is None else point
            if point > BAR:
                raise fail(f"there is no point {point}")
            if bare != place:
                marks.add(point)
            way.append(point)
        if any(a <= b for a, b in zip(way, way[1:], strict=False)):
            raise fail(f"{word!r} does not go forward: checkers move to lower numbers")
        ways += [tuple(way)] * int(match[2] or 1)
    return _Wanted(ways, marks, grace, debt[1] if debt else None)


class _Failure:
    """Makes the error for a play that cannot be made."""

    def __init__(self, before: Position, moves: str) -> None:
        roll = "-".join(map(str, before.dice))
        self.start = f"illegal play {moves.strip() or 'pass'} for {roll} in {before.text}"

    def __call__(self, reason: str) -> IllegalPlay:
        return IllegalPlay(f"{self.start}: {reason}")


def find_play(before: Position, moves: str) -> Position:
    """The position after the play that a text describes; raises IllegalPlay saying why there is none."""
    plays = before.plays()
    fail = _Failure(before, moves)
    wanted = _read(moves, fail)
    board = _own_side(before).astype(int)
    for way in wanted.ways:
        board[way[0]] -= 1
        board[way[-1]] += 1
    fitting = [after for after in plays if (_side_of(after, before.player) == board).all()]
    if len(fitting) > 1:
        fitting = _narrowed(before, wanted, fitting)
    elif fitting:
        _check_marks(before, wanted, fitting[0], fail)
    if not fitting:
        raise fail(_reason(before, wanted, plays))
    if len(fitting) > 1:
        texts = [before.move_text(after) for after in fitting]
        if texts.count(moves.strip()) != 1:
            raise fail(f"it could be {' or '.join(texts)}; write it in full")
        # written in full: the game may end by one die, without the hit that two would make
        fitting = [fitting[texts.index(moves.strip())]]
    debt = _debt(before, fitting[0])
    if wanted.debt not in (None, debt):
        raise fail(f"it leaves {debt or 'nothing'} to be played by the other player, not {wanted.debt}")
    return fitting[0]


def _own_side(p: Position) -> np.ndarray:
    return unpack(p.state[0:4])


def _side_of(p: Position, player: int) -> np.ndarray:
    return unpack(p.state[0:4] if p.player == player else p.state[4:8])


def _struck(before: Position, after: Position) -> set[int]:
    """Points, in the mover's numbering, where the play hits or pins."""
    lone = set(points_of(_lone(before)))
    return {end for _, end in steps_of(before, after) if end in lone}


def _stops(wanted: _Wanted) -> set[int]:
    """Points that a text names as landings."""
    return {point for way in wanted.ways for point in way[1:]}


def _narrowed(before: Position, wanted: _Wanted, fitting: list[Position]) -> list[Position]:
    """Of plays that move the same checkers those that hit or pin, and have `grace`, as the text says."""
    lone = set(points_of(_lone(before)))
    said = wanted.marks | _stops(wanted) & lone
    struck = {after: _struck(before, after) for after in fitting}
    moves = {after: len(steps_of(before, after)) for after in fitting}
    kept = [after for after in fitting if said <= struck[after]]
    complete = sum(len(way) - 1 for way in wanted.ways)
    if wanted.marks or all(complete == moves[after] for after in kept):
        kept = [after for after in kept if struck[after] == said]
    graced = [after for after in kept if bool(int(after.state[TURN]) & GRACE) is wanted.grace]
    return graced if len(kept) > 1 else kept


def _check_marks(before: Position, wanted: _Wanted, after: Position, fail: _Failure) -> None:
    wrong = wanted.marks - _struck(before, after)
    if wrong:
        verb = "pinned" if before.variant.contact == "pin" else "hit"
        raise fail(f"nothing is {verb} on {_name(max(wrong))}")


def _reason(before: Position, wanted: _Wanted, plays: list[Position]) -> str:
    """Why no legal play fits, where that is cheaply known."""
    side = _own_side(before)
    leaving = Counter(way[0] for way in wanted.ways)
    for point, number in leaving.items():
        if point in _stops(wanted):
            continue  # it may have moved on, and the text says so in two words
        if not side[point]:
            return f"no checker of player {before.player} stands on {_name(point)}"
        if number > side[point]:
            return f"only {side[point]} of player {before.player}'s checkers stand on {_name(point)}"
        if int(before.state[MY_PINS]) >> point & 1:
            return f"the checker on {point} is pinned"
    if not wanted.ways:
        return f"there are moves to make, such as {before.move_text(plays[0])}"
    longest = max(len(steps_of(before, after)) for after in (plays if len(plays) < 50 else plays[:1]))
    if longest == 0:
        return "no checker can move, the only play is pass"
    if side[BAR] and any(point != BAR for point in leaving) and leaving[BAR] < side[BAR]:
        return "checkers on the bar enter first"
    allowed = _allowance(before)
    if leaving[HEAD] > allowed:
        spelled = {0: "no more checkers", 1: "one checker", 2: "two checkers"}.get(allowed, f"{allowed} checkers")
        return f"{spelled} may leave the head"
    closed = int(_closed_mask(_kernel_view(before.variant)[0], np.array(before.state)))
    for point in sorted(_stops(wanted), reverse=True):
        if closed >> point & 1:
            return f"the point {point} is closed"
    if any(way[-1] == OFF for way in wanted.ways) and _stays_outside(side, wanted):
        return "checkers are borne off only when all are home"
    dice = {die for die, _ in before.owed[: 1 if before.dice[0] == before.dice[1] else 2]}
    for way in wanted.ways:
        for start, end in zip(way, way[1:], strict=False):
            if end != OFF and start - end not in _reaches(before):
                numbers = " or ".join(map(str, sorted(dice, reverse=True)))
                return f"{_name(start)}/{_name(end)} is no move of {numbers}"
    made = sum(len(way) - 1 for way in wanted.ways)
    if made < longest and all(way[i] - way[i + 1] in dice for way in wanted.ways for i in range(len(way) - 1)):
        return f"{longest} moves can be made, so they must be"
    return f"it is not among the {len(plays)} legal plays"


def _stays_outside(side: np.ndarray, wanted: _Wanted) -> bool:
    """Is a checker left outside the home that does not move."""
    left = side.astype(int)
    for way in wanted.ways:
        left[way[0]] -= 1
    return any(left[d] > 0 for d in range(26) if OUTSIDE >> d & 1)


def _reaches(before: Position) -> set[int]:
    """The distances that one checker can go in this stage."""
    (value, number), *rest = before.owed
    if before.dice[0] == before.dice[1]:
        return {value * k for k in range(1, number + 1)}
    single = {die for die, _ in before.owed}
    return single | {sum(single)}


def _allowance(before: Position) -> int:
    return int(_head_allowance(_kernel_view(before.variant)[0], np.array(before.state)))


@kernel
def _head_allowance(rules, row):
    return head_allowance(rules, row)


@kernel
def _closed_mask(rules, row):
    return closed_points(rules, row)
