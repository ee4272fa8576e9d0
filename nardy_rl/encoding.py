"""Inputs of a value net: a state as a short list of rows of the first weight matrix.

Every input is a number of times that a row counts, nearly always 0 or 1, and only the rows that count are listed, each
as often as it does: about 20 to 60 of some thousands. A state is encoded in the view of the player who acts next;
*mine* and *theirs* are each in their own numbering. Which blocks of rows a game has follows from its switches; `layout`
is the table of them, and `layout_digest` a hash of that table which every policy carries, so that a net is never fed
with another layout.

`plain` is the classical set: per side and point three unary units and a linear one, bar and borne off; one row a
checker. With it goes only what a state has besides: pinned checkers, and what is owed of a throw.
`patterns` adds what strong players look at: windows of made points, the barrier before the last checkers, shots,
pins, mobility, races; and for games whose throws can owe something, what is owed. `rich` adds to these whole
quadrants with their lone checkers, primes with what stands behind them, escapes, timing, and the lead in races.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.board import (
    EXTRA,
    FAR_MASK,
    GRACE,
    HANDED,
    HEAD_SHIFT,
    LARGER_OWED,
    MY_PINS,
    OWED,
    PLAYER,
    POINTS_MASK,
    SMALLER_OWED,
    THEIR_PINS,
    THROWS,
    TURN,
    across,
    count,
    made,
    occupied,
)
from nardy_rl.errors import BadOption
from nardy_rl.jit import highest, inlined, inner, kernel, lowest, popcount
from nardy_rl.rules import HIT, NO_CONTACT, PIN, Rules, rules_of
from nardy_rl.variant import Variant

VERSION = 1  # raised when the meaning of any row changes
MAX_ACTIVE = 128  # more rows than any state has
KINDS = ("plain", "patterns", "rich")

# Blocks of rows; `layout` says which a game has, how large they are and what they mean.
COUNTS, BAR_COUNT, BORNE_OFF, WINDOWS, BARRIER, BARRIER_AT, SECOND_BARRIER, SHOTS, BAR_BOARD, BACK = range(10)
PIPS, PIP_LEAD, RACE, PINNED, MOBILITY, OWED_STAGE, OWED_DICE, TURN_FLAGS, CALM, HEADS, PLAIN = range(10, 21)
QUADRANTS, HELD, PRIMES, SHOTS_BOARD, ESCAPES, TIMING, RACE_LEAD = range(21, 28)
BLOCKS = 28

_BAR_BIT = 1 << 25
_OUTFIELD = sum(1 << d for d in range(7, 19))
_NUMBERED = tuple(sum(1 << d for d in range(26) if d >> bit & 1) for bit in range(5))  # points by bits of their number


class Encoding(NamedTuple):
    """The kernel's view of a layout."""

    offsets: np.ndarray  # int64[BLOCKS]: first row of each block, -1 if the game has none
    size: int  # number of rows
    part: np.ndarray  # int32[size]: the part of the inputs a row belongs to; one row of a part counts at a time
    share: np.ndarray  # float32[size]: but so many times at most


def layout(variant: Variant, kind: str = "patterns") -> list[tuple[int, str, int, str]]:
    """The blocks of a game's inputs: (block, name, rows, meaning), in the order of their rows."""
    if kind not in KINDS:
        raise BadOption(f"unknown kind of inputs {kind!r}; there are {' and '.join(KINDS)}")
    r = rules_of(variant)
    if kind == "plain":
        return _plain_layout(r)
    blocking = "occupied" if r.contact == NO_CONTACT else "made"
    table = [
        (COUNTS, "counts", 336, "side x point 1..24 x number of checkers 1..7 (7: seven or more)"),
        (BORNE_OFF, "borne off", 32, "side x number borne off 0..15"),
        (
            WINDOWS,
            "windows",
            896,
            f"side x window of six points from 1, 4, .. 19 x mask of {blocking} points",
        ),
        (
            BARRIER,
            "barrier",
            128,
            f"side x mask of enemy {blocking} points in the six before the last checker",
        ),
        (BARRIER_AT, "barrier at", 3200, "the same, together with the last checker's point 1..25"),
        (SECOND_BARRIER, "second barrier", 128, "the same for the second last point"),
        (PIPS, "pips", 96, "side x pip count / 8"),
        (PIP_LEAD, "pip lead", 32, "(their pips - mine) / 8, from -16 to 15"),
        (BACK, "back", 32, "side x checkers on points 19..24 and the bar"),
    ]
    if r.contact == HIT:
        table += [
            (BAR_COUNT, "bar", 8, "side x checkers on the bar 1..4"),
            (BAR_BOARD, "bar board", 256, "side x (one, more on the bar) x mask of enemy made home points"),
        ]
    if r.contact != NO_CONTACT:
        table += [
            (SHOTS, "shots", 74, "side x how many of the 36 rolls hit or pin an enemy checker"),
            (RACE, "race", 337, "when the sides have passed each other: a constant, and counts again"),
        ]
    if r.contact == PIN:
        table += [_PINNED_ROWS]
    if r.contact != HIT:
        table += [(MOBILITY, "mobility", 48, "side x die 1..6 x points that can move by it (0, 1, 2, more)")]
    if kind == "rich":
        table += _rich_layout(r.contact)
    if not r.plain:
        table += _OWED_ROWS
    return table


_PINNED_ROWS = (PINNED, "pinned", 48, "side x point of a pinned checker")
_OWED_ROWS = [
    (OWED_STAGE, "owed stage", 168, "stage value 1..6 x moves left 1..4 x last stage 0..6"),
    (OWED_DICE, "owed dice", 12, "dice of a non-double still owed: larger 1..6, smaller 1..6"),
    (
        TURN_FLAGS,
        "turn flags",
        12,
        "thrower acts, handed, extra throw, grace, idle hand-overs 0..2 and others",
    ),
    (CALM, "calm", 32, "side x own throws made, up to the calm ones, at most 15"),
    (HEADS, "heads", 8, "side x checkers already taken off the head 0..3"),
]


def _plain_layout(r: Rules) -> list[tuple[int, str, int, str]]:
    """The blocks of the plain inputs."""
    meaning = "side x (point 1..24 x its first, second, third, every further checker; every one on the bar; and off)"
    table = [(PLAIN, "plain", 196, meaning)]
    if r.contact == PIN:
        table += [_PINNED_ROWS]
    if not r.plain:
        table += _OWED_ROWS
    return table


def _rich_layout(contact: int) -> list[tuple[int, str, int, str]]:
    """The blocks that only `rich` has."""
    table = [(QUADRANTS, "quadrants", 5832, "side x quadrant x (nobody, one, more) on each of its six points")]
    if contact == NO_CONTACT:
        return table
    table += [
        (HELD, "held", 512, "side x mask of made home points x enemy checkers there or on the bar 0..3"),
        (
            PRIMES,
            "primes",
            1024,
            "side x longest run of made points 2..6, from point 1..24, x enemies behind it 0..3",
        ),
        (SHOTS_BOARD, "shots and board", 518, "side x rolls that hit or pin x made home points 0..6 of that side"),
        (
            ESCAPES,
            "escapes",
            296,
            "side x rolls that take the last checker past six points x back checkers 0..3",
        ),
        (TIMING, "timing", 256, "side x pips of checkers on 7..18 to come home, / 3 x enemy checkers held 0..3"),
        (
            RACE_LEAD,
            "race lead",
            1024,
            "when the sides have passed: their pips - mine, -32..31 x my pips / 8",
        ),
    ]
    return table


def usual_kind(variant: Variant) -> str:
    """The kind of inputs with which a game is learned best in some minutes (docs/results/ablation.md)."""
    return "plain" if rules_of(variant).contact == NO_CONTACT else "patterns"


def layout_digest(variant: Variant, kind: str = "patterns") -> str:
    """Hash of the layout and its version: two policies with equal digests have the same inputs."""
    text = repr((VERSION, kind, layout(variant, kind)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def encoding_of(variant: Variant, kind: str = "patterns") -> Encoding:
    """The kernel's view of the inputs of a game. Raises BadOption for an unknown kind."""
    offsets = np.full(BLOCKS, -1, np.int64)
    size = 0
    for block, _, rows, _ in layout(variant, kind):
        offsets[block] = size
        size += rows
    return Encoding(offsets, size, *_parts(variant, kind))


_PARTS = {
    BORNE_OFF: 2, WINDOWS: 14, BARRIER: 2, BARRIER_AT: 2, SECOND_BARRIER: 2, PIPS: 2, PIP_LEAD: 1, BACK: 2,
    BAR_COUNT: 2, BAR_BOARD: 2, SHOTS: 2, MOBILITY: 12, OWED_STAGE: 1, OWED_DICE: 2, CALM: 2, HEADS: 2,
    QUADRANTS: 8, HELD: 2, PRIMES: 2, SHOTS_BOARD: 2, ESCAPES: 2, TIMING: 2, RACE_LEAD: 1, PLAIN: 2,
}  # fmt: skip
"""Into how many equal parts a block falls of each of which at most one row is listed; of `plain` one a checker."""


def _parts(variant: Variant, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """`part` and `share` of the rows; a row of a block without parts stands for itself."""
    part: list[int] = []
    share: list[float] = []
    for block, _, rows, _ in layout(variant, kind):
        size = rows // _PARTS.get(block, rows)
        numbers, shares = [i // size for i in range(rows)], [1.0] * rows
        if block in (COUNTS, RACE):  # fifteen checkers: so many points with this number of them at most
            single = rows % 168
            numbers = [0] * single + [single + i // 168 for i in range(rows - single)]
            shares = [1.0] * single + [15 / (i % 7 + 1) for i in range(rows - single)]
        elif block == PLAIN:
            shares = [15.0] * rows
        part += [number + (part[-1] + 1 if part else 0) for number in numbers]
        share += shares
    return np.array(part, np.int32), np.array(share, np.float32)


# ---------------------------------------------------------------------------------------------- tables

_BASE3 = np.array([sum(3**i for i in range(6) if mask >> i & 1) for mask in range(64)], np.int32)
"""A mask of six points as a number whose digits are of base three."""


def _escaping_rolls() -> NDArray[np.int8]:
    """How many of the 36 rolls take a checker past the six points ahead of it: int8[4096], by mask of closed points.

    Bit i of the mask: the point 12 - i pips ahead is closed. The checker moves alone, by one die after the other.
    """
    table = np.zeros(4096, np.int8)
    for mask in range(4096):
        closed = {12 - i for i in range(12) if mask >> i & 1}
        for a in range(1, 7):
            for b in range(1, 7):
                if a != b:
                    table[mask] += a + b > 6 and a + b not in closed and not (a in closed and b in closed)
                else:
                    steps = [k * a for k in range(1, 5)]
                    free = [all(s not in closed for s in steps[: k + 1]) for k in range(4)]
                    table[mask] += any(step > 6 and ok for step, ok in zip(steps, free, strict=True))
    return table


_ESCAPES = _escaping_rolls()


# ---------------------------------------------------------------------------------------------- kernels


@inner
def hitting_rolls(occ, on_bar, closed, blots):
    """How many of the 36 rolls let a side hit (or pin) one of the blots, by one checker's direct or combined moves.

    All masks are in that side's own numbering; closed: points where it may not land.
    """
    if not blots:
        return np.int64(0)
    open_points = POINTS_MASK & ~closed
    start = _BAR_BIT if on_bar else occ
    direct = np.int64(0)  # dice that hit on their own
    for die in range(1, 7):
        if start >> die & blots or on_bar == 1 and occ >> die & POINTS_MASK & blots:
            direct |= np.int64(1) << die  # one on the bar: the other die brings it in (nearly always)
    misses = 6 - popcount(direct)
    total = 36 - misses * misses
    if on_bar > 1:
        return total
    for a in range(1, 7):
        if direct >> a & 1:
            continue
        via_a = start >> a & open_points
        for b in range(1, a):
            if not direct >> b & 1 and (via_a >> b | (start >> b & open_points) >> a) & blots:
                total += 2
        reach = via_a
        for _ in range(3):
            reach = reach >> a & open_points
            if reach & blots:
                total += 1
                break
    return total


@inlined
def _add(index, n, row):
    index[n] = row
    return n + 1


@inlined
def plain_rows(row, side, index, n):
    """List the plain rows of a side: one for each checker; returns how many are listed."""
    base, first = 4 * side, 98 * side
    mask = occupied(row, base) & POINTS_MASK
    while mask:
        point = lowest(mask)
        mask &= mask - 1
        for k in range(count(row, base, point)):
            n = _add(index, n, first + 4 * (point - 1) + min(k, 3))
    for _ in range(count(row, base, 25)):
        n = _add(index, n, first + 96)
    for _ in range(count(row, base, 0)):
        n = _add(index, n, first + 97)
    return n


@inner
def own_rows(rules, row, offsets, side, index, n):
    """List the rows that depend on one side's checkers alone (0 mine, 1 theirs); returns how many are listed.

    Between two states in which this side's planes and pins are equal these rows are equal.
    """
    base = 4 * side
    if rules.contact == PIN:
        mask = np.int64(row[MY_PINS + side])
        while mask:
            n = _add(index, n, offsets[PINNED] + 24 * side + lowest(mask) - 1)
            mask &= mask - 1
    if offsets[PLAIN] >= 0:
        return plain_rows(row, side, index, n)
    occ = occupied(row, base)
    strong = made(row, base) if rules.contact != NO_CONTACT else occ
    n = _counts(row, offsets[COUNTS] + 168 * side, base, index, n)
    n = _add(index, n, offsets[BORNE_OFF] + 16 * side + count(row, base, 0))
    for w in range(7):
        window = strong >> (1 + 3 * w) & 63
        if window:
            n = _add(index, n, offsets[WINDOWS] + 448 * side + 64 * w + window)
    back = np.int64(0)
    for k in range(4):
        back += popcount(np.int64(row[base + k]) & FAR_MASK) << k
    n = _add(index, n, offsets[BACK] + 16 * side + back)
    n = _add(index, n, offsets[PIPS] + 48 * side + min(pips(row, base) >> 3, 47))
    if rules.contact == HIT:
        on_bar = count(row, base, 25)
        if on_bar:
            n = _add(index, n, offsets[BAR_COUNT] + 4 * side + min(on_bar, 4) - 1)
    if offsets[QUADRANTS] >= 0:
        two = made(row, base)
        one = occ & ~two
        for q in range(4):
            shape = _BASE3[one >> (1 + 6 * q) & 63] + 2 * _BASE3[two >> (1 + 6 * q) & 63]
            if shape:
                n = _add(index, n, offsets[QUADRANTS] + 2916 * side + 729 * q + shape)
    return n


@inlined
def _counts(row, first, base, index, n):
    """List a row for every point of a side: its number of checkers."""
    mask = occupied(row, base) & POINTS_MASK
    while mask:
        point = lowest(mask)
        mask &= mask - 1
        n = _add(index, n, first + 7 * (point - 1) + min(count(row, base, point), 7) - 1)
    return n


@inner
def _against(rules, row, offsets, side, closed, blots, index, n):
    """List the rows of one side's checkers before the other's; closed, blots: enemy points, lone checkers.

    Both masks are in the numbering of the side.
    """
    base = 4 * side
    occ = occupied(row, base)
    if occ:
        last = highest(occ)
        ahead = (closed << 6) >> last & 63
        n = _add(index, n, offsets[BARRIER] + 64 * side + ahead)
        n = _add(index, n, offsets[BARRIER_AT] + 1600 * side + 64 * (last - 1) + ahead)
        rest = occ & ~(np.int64(1) << last)
        if rest:
            n = _add(index, n, offsets[SECOND_BARRIER] + 64 * side + ((closed << 6) >> highest(rest) & 63))
    if rules.contact != NO_CONTACT:
        on_bar = count(row, base, 25)
        if on_bar:
            board = across(closed, rules.parallel) >> 1 & 63
            n = _add(index, n, offsets[BAR_BOARD] + 128 * side + 64 * min(on_bar - 1, 1) + board)
        shots = hitting_rolls(occ, on_bar, closed, blots)
        n = _add(index, n, offsets[SHOTS] + 37 * side + shots)
        if offsets[HELD] >= 0:
            n = _holding(rules, row, offsets, side, closed, shots, index, n)
    if rules.contact != HIT:
        pins = np.int64(row[MY_PINS + side])
        for die in range(1, 7):
            can = popcount(occ & ~pins & ~(closed << die) & (np.int64(-2) << die))
            n = _add(index, n, offsets[MOBILITY] + 24 * side + 4 * (die - 1) + min(can, 3))
    return n


@inlined
def _longest_run(points):
    """Length and first point of the longest run of points in a mask, the lowest of equals; (0, 0) if none."""
    length, last = np.int64(0), np.int64(0)
    while points:
        last = points
        points &= points >> 1
        length += 1
    return length, lowest(last) if last else np.int64(0)


@inner
def _holding(rules, row, offsets, side, closed, shots, index, n):
    """Rows of `rich` about what a side holds and what holds it; closed and shots as in `_against`."""
    base, other = 4 * side, 4 - 4 * side
    two, occ = made(row, base) & POINTS_MASK, occupied(row, base)
    home = two >> 1 & 63
    held = np.int64(0)  # enemy checkers in my home or on the bar
    for k in range(4):
        held += popcount(np.int64(row[other + k]) & FAR_MASK) << k
    held = min(held, 3)
    n = _add(index, n, offsets[HELD] + 256 * side + 4 * home + held)
    n = _add(index, n, offsets[SHOTS_BOARD] + 259 * side + 7 * shots + popcount(home))
    length, first = _longest_run(two)
    if length >= 2:
        behind = across(((np.int64(1) << first) - 1) & POINTS_MASK, rules.parallel) | _BAR_BIT
        number = np.int64(0)
        for k in range(4):
            number += popcount(np.int64(row[other + k]) & behind) << k
        place = offsets[PRIMES] + 512 * side + 100 * (min(length, 6) - 2)
        n = _add(index, n, place + 4 * (first - 1) + min(number, 3))
    back, spare = np.int64(0), np.int64(0)
    for k in range(4):
        back += popcount(np.int64(row[base + k]) & FAR_MASK) << k
        far = np.int64(row[base + k]) & _OUTFIELD
        spare -= 6 * popcount(far) << k
        for bit in range(5):
            spare += popcount(far & _NUMBERED[bit]) << (k + bit)
    n = _add(index, n, offsets[TIMING] + 128 * side + 4 * min(spare // 3, 31) + held)
    if occ:
        ahead = (closed << 12) >> highest(occ) & 4095  # bit 11: one pip ahead
        n = _add(index, n, offsets[ESCAPES] + 148 * side + 4 * np.int64(_ESCAPES[ahead]) + min(back, 3))
    return n


@inner
def pips(row, side):
    """Pip count of a side (0 mine, 4 theirs): the sum of its checkers' distances, 25 for one on the bar."""
    total = np.int64(0)
    for k in range(4):
        plane = np.int64(row[side + k])
        for bit in range(5):  # of the points' numbers
            total += popcount(plane & _NUMBERED[bit]) << (k + bit)
    return total


@inner
def has_contact(rules, row):
    """Can the sides still meet (contrary games)?"""
    mine, theirs = occupied(row, 0), occupied(row, 4)
    if not mine or not theirs:
        return False
    return highest(mine) + highest(theirs) > 25 or (row[MY_PINS] | row[THEIR_PINS]) != 0


@inner
def _owed(row, offsets, index, n):
    """Rows of what the turn owes and of the counters that decide what comes."""
    owed, turn = np.int64(row[OWED]), np.int64(row[TURN])
    left = owed >> 9 & 7
    if left and owed >> 6 & 7:
        n = _add(index, n, offsets[OWED_STAGE] + 28 * ((owed >> 6 & 7) - 1) + 7 * (left - 1) + (owed >> 12 & 7))
    elif left:
        if owed & LARGER_OWED:
            n = _add(index, n, offsets[OWED_DICE] + (owed & 7) - 1)
        if owed & SMALLER_OWED:
            n = _add(index, n, offsets[OWED_DICE] + 6 + (owed >> 3 & 7) - 1)
    flags = ((turn ^ turn >> 1) & PLAYER) | (turn & HANDED) >> 2 | (turn & EXTRA) >> 2 | (turn & GRACE) >> 2
    for k in range(4):
        if flags >> k & 1:
            n = _add(index, n, offsets[TURN_FLAGS] + k)
    n = _add(index, n, offsets[TURN_FLAGS] + 4 + (turn >> 6 & 3))
    throws = np.int64(row[THROWS])
    n = _add(index, n, offsets[CALM] + min(throws & 0xFFFF, 15))
    n = _add(index, n, offsets[CALM] + 16 + min(throws >> 16, 15))
    if left:
        n = _add(index, n, offsets[HEADS] + min(turn >> HEAD_SHIFT & 15, 3))
        n = _add(index, n, offsets[HEADS] + 4 + min(turn >> (HEAD_SHIFT + 4) & 15, 3))
    return n


@inner
def cross_rows(rules, row, offsets, index, n):
    """List the rows that depend on both sides, or on the turn; returns how many are listed."""
    if offsets[PLAIN] < 0:
        n = _between(rules, row, offsets, index, n)
    if not rules.plain:
        n = _owed(row, offsets, index, n)
    return n


@inlined
def _between(rules, row, offsets, index, n):
    """List the rows that depend on both sides."""
    if rules.contact == NO_CONTACT:
        closed = across(occupied(row, 4), rules.parallel)
        their_closed = across(occupied(row, 0), rules.parallel)
        blots = their_blots = np.int64(0)
    else:
        my_pins, their_pins = np.int64(row[MY_PINS]), np.int64(row[THEIR_PINS])
        closed = across(made(row, 4), rules.parallel) | my_pins
        their_closed = across(made(row, 0), rules.parallel) | their_pins
        blots = across(occupied(row, 4), rules.parallel) & ~closed & ~across(their_pins, rules.parallel)
        their_blots = across(occupied(row, 0), rules.parallel) & ~their_closed & ~across(my_pins, rules.parallel)
    n = _against(rules, row, offsets, 0, closed, blots, index, n)
    n = _against(rules, row, offsets, 1, their_closed, their_blots, index, n)
    lead = pips(row, 4) - pips(row, 0)
    n = _add(index, n, offsets[PIP_LEAD] + min(max(lead >> 3, -16), 15) + 16)
    if rules.contact != NO_CONTACT and not has_contact(rules, row):
        n = _add(index, n, offsets[RACE])
        if offsets[RACE_LEAD] >= 0:
            mine = pips(row, 0) >> 3
            n = _add(index, n, offsets[RACE_LEAD] + 16 * (min(max(lead, -32), 31) + 32) + min(mine, 15))
        n = _counts(row, offsets[RACE] + 1, 0, index, n)
        n = _counts(row, offsets[RACE] + 169, 4, index, n)
    return n


@inlined
def encode_into(rules, encoding, row, index):
    """List the rows of a state in index int32[MAX_ACTIVE]; returns their number, beyond which it stays as it was."""
    n = own_rows(rules, row, encoding.offsets, 0, index, 0)
    n = own_rows(rules, row, encoding.offsets, 1, index, n)
    return cross_rows(rules, row, encoding.offsets, index, n)


@kernel
def encode_batch(rules, encoding, rows, index, number):
    """`encode_into` for many states: rows uint32[N, 16], index int32[N, MAX_ACTIVE], number int64[N]."""
    for i in range(len(rows)):
        number[i] = encode_into(rules, encoding, rows[i], index[i])


def listed(variant: Variant, states: np.ndarray, kind: str = "patterns") -> tuple[np.ndarray, np.ndarray]:
    """The rows of states uint32[N, 16], unchecked: index int32[N, MAX_ACTIVE], and which of it counts, bool alike.

    `nardy_rl.batch` has the checked faces of this.
    """
    index = np.zeros((len(states), MAX_ACTIVE), np.int32)
    number = np.zeros(len(states), np.int64)
    encode_batch(rules_of(variant), encoding_of(variant, kind), states, index, number)
    return index, np.arange(MAX_ACTIVE) < number[:, None]
