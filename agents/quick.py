"""Fast evaluation of many plays of one position: the same net, with its first layer in 16-bit whole numbers.

The plays of a position share what one side looks like: the sum of the first-layer rows that depend on one side
alone is kept until that side changes (`encoding.own_rows`), so that of some forty rows about twenty are added. Whole
numbers add up to the same sum in any order, so that a value does not depend on what was evaluated before.

Every hidden unit has its own scale, the largest with which no state can overflow 16 bits; the scale is undone in the
weights of the layer above. Against `net.evaluate` an output is off by some ten-thousandths
(tests/test_quick.py has the bound).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nardy_rl.agents.net import Net, Work, other_player, work_of
from nardy_rl.board import MY_PINS, OUTCOME, copy_into
from nardy_rl.dice import ROLLS
from nardy_rl.encoding import MAX_ACTIVE, cross_rows, own_rows
from nardy_rl.jit import inlined, inner, kernel
from nardy_rl.plays import MAX_PLAYS, plays
from nardy_rl.turns import is_over, owes, throw

LARGEST = np.float32(32767 - MAX_ACTIVE)  # room for the rounding of every row
FINEST = np.float32(4096)  # finer scales than this gain nothing
SLOTS = 8  # sides whose sums are kept: the plays of a position that hit change the opponent's side, too
STEPS = 2048  # of the table of the logistic function
REACH = np.float32(16)  # beyond it the function is 0 or 1 to seven digits


class Quick(NamedTuple):
    """A net's weights as the fast evaluation reads them; `quantise` fills them from `net`."""

    net: Net
    w1: np.ndarray  # int16[rows + 1, H1]; the last row is zero
    b1: np.ndarray  # int16[H1]
    w2: np.ndarray  # float32[H1 + 1, T]: of the layer above, by hidden unit, the unit's scale undone; T = H2 or K
    b2: np.ndarray  # float32[T]
    w3: np.ndarray  # float32[H3, H2]
    b3: np.ndarray  # float32[H3]
    w4: np.ndarray  # float32[K, H3 or H2]; no columns without a second hidden layer
    b4: np.ndarray  # float32[K]
    logistic: np.ndarray  # float32[STEPS + 2]: the logistic function from -REACH on
    bound: np.ndarray  # float32[H1]: room for the bounds of the units


class QuickWork(NamedTuple):
    """Buffers of one thread, and the sums of both sides that were evaluated last."""

    seen: np.ndarray  # uint32[2 * SLOTS, 6]: planes and pins of sides; the last word is 1 if the sum is good
    sums: np.ndarray  # int16[2 * SLOTS, H1]: bias and rows of these sides
    listed: np.ndarray  # int32[MAX_ACTIVE]
    h1: np.ndarray  # int16[H1 + 1], the last one 0
    active: np.ndarray  # int32[H1 + 4]: hidden units above zero
    top: np.ndarray  # float32[T]
    third: np.ndarray  # float32[H3]
    out: np.ndarray  # float32[K]
    values: np.ndarray  # float32[MAX_PLAYS]: of the plays at hand
    best: np.ndarray  # float32[K]: outputs of the best of them
    slow: Work  # of `net.evaluate`


def new_quick(net: Net) -> Quick:
    """A net's weights for the fast evaluation, without values: see `quantise`."""
    rows, h1 = net.w1.shape
    size, h2, h3 = len(net.b4), len(net.b2), len(net.b3)
    top = h2 or size
    x = np.arange(STEPS + 2) * (2 * float(REACH) / STEPS) - float(REACH)
    return Quick(
        net=net,
        w1=np.zeros((rows + 1, h1), np.int16),
        b1=np.zeros(h1, np.int16),
        w2=np.zeros((h1 + 1, top), np.float32),
        b2=np.zeros(top, np.float32),
        w3=np.zeros((h3, h2), np.float32),
        b3=np.zeros(h3, np.float32),
        w4=np.zeros((size, h3 or h2), np.float32),
        b4=np.zeros(size, np.float32),
        logistic=(1 / (1 + np.exp(-x))).astype(np.float32),
        bound=np.zeros(h1, np.float32),
    )


def quick_work_of(net: Net) -> QuickWork:
    """Fresh buffers for a net."""
    h1, size = net.w1.shape[1], len(net.b4)
    return QuickWork(
        seen=np.zeros((2 * SLOTS, 6), np.uint32),
        sums=np.zeros((2 * SLOTS, h1), np.int16),
        listed=np.zeros(MAX_ACTIVE, np.int32),
        h1=np.zeros(h1 + 1, np.int16),
        active=np.zeros(h1 + 4, np.int32),
        top=np.zeros(len(net.b2) or size, np.float32),
        third=np.zeros(len(net.b3), np.float32),
        out=np.zeros(size, np.float32),
        values=np.zeros(MAX_PLAYS, np.float32),
        best=np.zeros(size, np.float32),
        slow=work_of(net),
    )


# ---------------------------------------------------------------------------------------------- weights


@inner
def unit_bounds(encoding, net, bound, largest):
    """The largest sum, without sign, that each hidden unit can have in any state, into bound float32[H1].

    Of every part of the inputs (`Encoding.part`) one row counts at a time, `Encoding.share` times.
    """
    for j in range(bound.shape[0]):
        bound[j] = abs(net.b1[j])
        largest[j] = np.float32(0)
    for r in range(net.w1.shape[0]):
        if r > 0 and encoding.part[r] != encoding.part[r - 1]:
            for j in range(bound.shape[0]):
                bound[j] += largest[j]
                largest[j] = np.float32(0)
        share = encoding.share[r]
        for j in range(bound.shape[0]):
            largest[j] = max(largest[j], share * abs(net.w1[r, j]))
    for j in range(bound.shape[0]):
        bound[j] += largest[j]


@inlined
def _copy_layer(w, b, into_w, into_b):
    """Copy a layer's weights; of `into_w` there may be no columns."""
    for k in range(into_b.shape[0]):
        into_b[k] = b[k]
        for j in range(into_w.shape[1]):
            into_w[k, j] = w[k, j]


@kernel
def quantise(encoding, quick, work):
    """Fill `quick` with the weights of `quick.net`, and forget the sums in `work` that were made with others."""
    net = quick.net
    scale, bound = quick.bound, quick.bound
    unit_bounds(encoding, net, bound, np.zeros_like(bound))
    for j in range(scale.shape[0]):
        scale[j] = min(LARGEST / max(bound[j], np.float32(1)), FINEST)
        quick.b1[j] = np.int16(np.rint(net.b1[j] * scale[j]))
    for r in range(net.w1.shape[0]):
        for j in range(scale.shape[0]):
            quick.w1[r, j] = np.int16(np.rint(net.w1[r, j] * scale[j]))
    above, bias = (net.w2, net.b2) if net.w2.shape[0] else (net.w4, net.b4)
    for k in range(above.shape[0]):
        quick.b2[k] = bias[k]
        for j in range(scale.shape[0]):
            quick.w2[j, k] = above[k, j] / scale[j]
    _copy_layer(net.w3, net.b3, quick.w3, quick.b3)
    _copy_layer(net.w4, net.b4, quick.w4, quick.b4)
    forget(work)


@inlined
def forget(work):
    """Drop the kept sums: the weights have changed."""
    for slot in range(2 * SLOTS):
        work.seen[slot, 5] = np.uint32(0)


# ---------------------------------------------------------------------------------------------- evaluation


@inlined
def _add_rows(w1, listed, n, h):
    """h += the n listed rows, four at a time; the list is filled up with the last row of w1, which is zero."""
    while n & 3:
        listed[n] = w1.shape[0] - 1
        n += 1
    k = 0
    while k < n:
        a, b, c, d = listed[k], listed[k + 1], listed[k + 2], listed[k + 3]
        for j in range(w1.shape[1]):
            h[j] = np.int16(h[j] + w1[a, j] + w1[b, j] + w1[c, j] + w1[d, j])
        k += 4


@inlined
def _slot(row, side):
    """Where the sum of a side that looks like this is kept."""
    h = np.int64(row[4 * side]) * 0x9E3779B1 + np.int64(row[4 * side + 1]) * 0x85EBCA77
    h += np.int64(row[4 * side + 2]) * 0xC2B2AE3D + np.int64(row[MY_PINS + side]) * 0x27D4EB2F
    return side * SLOTS + ((h ^ h >> 32) >> 12 & (SLOTS - 1))


@inlined
def _is_kept(seen, slot, row, side):
    """Is the sum of this side kept in the slot."""
    return (
        (seen[slot, 0] ^ row[4 * side])
        | (seen[slot, 1] ^ row[4 * side + 1])
        | (seen[slot, 2] ^ row[4 * side + 2])
        | (seen[slot, 3] ^ row[4 * side + 3])
        | (seen[slot, 4] ^ row[MY_PINS + side])
        | (seen[slot, 5] ^ np.uint32(1))
    ) == 0


@inlined
def _keep(rules, encoding, quick, work, row, side, slot):
    """Sum up the bias and the rows of a side, and remember what it looks like."""
    n = own_rows(rules, row, encoding.offsets, side, work.listed, 0)
    h, sums, seen = work.h1, work.sums, work.seen
    for j in range(sums.shape[1]):
        h[j] = quick.b1[j]
    _add_rows(quick.w1, work.listed, n, h)
    for j in range(sums.shape[1]):
        sums[slot, j] = h[j]
    for k in range(4):
        seen[slot, k] = row[4 * side + k]
    seen[slot, 4], seen[slot, 5] = row[MY_PINS + side], np.uint32(1)


@inlined
def _logistic(quick, x):
    """The logistic function by its table, straight between two entries."""
    at = (min(max(x, -REACH), REACH) + REACH) * np.float32(STEPS / (2 * REACH))
    i = np.int32(at)
    part = at - np.float32(i)
    return quick.logistic[i] + part * (quick.logistic[i + 1] - quick.logistic[i])


@inlined
def _layer_above(quick, work):
    """The sums of the layer above the first, from its units above zero, four at a time, into `work.top`."""
    active, h, top, w2 = work.active, work.h1, work.top, quick.w2
    m = np.int64(0)
    for j in range(h.shape[0] - 1):
        active[m] = j
        m += np.int64(h[j] > 0)
    copy_into(top, quick.b2)
    while m & 3:
        active[m] = h.shape[0] - 1
        m += 1
    k = 0
    while k < m:
        a, b, c, d = active[k], active[k + 1], active[k + 2], active[k + 3]
        xa, xb, xc, xd = np.float32(h[a]), np.float32(h[b]), np.float32(h[c]), np.float32(h[d])
        for i in range(top.shape[0]):
            top[i] += xa * w2[a, i] + xb * w2[b, i] + (xc * w2[c, i] + xd * w2[d, i])
        k += 4


@inlined
def _first_layer(rules, encoding, quick, work, row):
    """Sums of the hidden units into `work.h1`: one side's kept sum, the rows of the other, and those of both."""
    slot, other = _slot(row, 0), 1
    if not _is_kept(work.seen, slot, row, 0):
        theirs = _slot(row, 1)
        if not rules.plain and _is_kept(work.seen, theirs, row, 1):
            slot, other = theirs, 0  # the same player acts on: his plays change his side
        else:
            _keep(rules, encoding, quick, work, row, 0, slot)
            if not rules.plain:
                _keep(rules, encoding, quick, work, row, 1, theirs)
    h, sums = work.h1, work.sums
    for j in range(sums.shape[1]):
        h[j] = sums[slot, j]
    n = own_rows(rules, row, encoding.offsets, other, work.listed, 0)
    n = cross_rows(rules, row, encoding.offsets, work.listed, n)
    _add_rows(quick.w1, work.listed, n, h)


@inlined
def _third_layer(quick, work):
    """The sums of the third hidden layer, from those of the second in `work.top`, into `work.third`."""
    top, third = work.top, work.third
    for k in range(third.shape[0]):
        total = np.float32(0)
        for i in range(top.shape[0]):
            total += quick.w3[k, i] * max(top[i], np.float32(0))
        third[k] = total + quick.b3[k]


@inlined
def _outputs_of_top(quick, outputs, work):
    """The outputs from the sums in `work.top`, into `work.out`; returns their value in points."""
    out, value = work.out, np.float32(outputs.constant)
    top = work.third if work.third.shape[0] else work.top
    deep = quick.w4.shape[1] > 0
    _third_layer(quick, work)
    for k in range(out.shape[0]):
        total = np.float32(0)
        if deep:
            for i in range(top.shape[0]):
                total += quick.w4[k, i] * max(top[i], np.float32(0))
            total += quick.b4[k]
        else:
            total = top[k]
        x = _logistic(quick, total)
        out[k] = x
        value += outputs.points[k] * x
    return value


@inlined
def _value(rules, encoding, quick, outputs, work, row):
    """See `quick_value`."""
    if is_over(row):
        code = np.int64(row[OUTCOME]) - 1
        copy_into(work.out, outputs.exact[code])
        return outputs.scores[code]
    _first_layer(rules, encoding, quick, work, row)
    _layer_above(quick, work)
    return _outputs_of_top(quick, outputs, work)


@inner
def quick_value(rules, encoding, quick, outputs, work, row):
    """Outputs of a state into `work.out`, exact if the game is over; returns its value in points for its player."""
    return _value(rules, encoding, quick, outputs, work, row)


@inner
def quick_best(rules, encoding, quick, outputs, work, scr, row, n):
    """The best of the n plays in `scr.plays` for the player of `row`: its number and its value; the first of equals.

    `work.values` gets the values of all plays for the player of `row`, `work.best` the outputs of the best in its own
    view.
    """
    at, top = np.int64(0), np.float32(-1e9)
    for i in range(n):
        value = _value(rules, encoding, quick, outputs, work, scr.plays[i])
        if other_player(row, scr.plays[i]):
            value = -value
        work.values[i] = value
        if value > top:
            at, top = np.int64(i), value
            copy_into(work.best, work.out)
    return at, top


@kernel
def quick_batch(rules, encoding, quick, outputs, work, rows, out, values):
    """Outputs float32[N, K] and values float32[N] of states uint32[N, 16], for `quantise`d weights."""
    for i in range(len(rows)):
        values[i] = _value(rules, encoding, quick, outputs, work, rows[i])
        copy_into(out[i], work.out)


@kernel
def quick_roll_values(rules, encoding, quick, outputs, work, scr, rows, values):
    """Value, for the player who is to throw, of his best reply to each of the 21 rolls: float32[N, 21]."""
    row = np.zeros(rows.shape[1], np.uint32)
    for i in range(len(rows)):
        for k in range(ROLLS.shape[0]):
            copy_into(row, rows[i])
            if is_over(row) or owes(row):
                values[i, k] = quick_value(rules, encoding, quick, outputs, work, row)
                continue
            throw(rules, row, ROLLS[k, 0], ROLLS[k, 1])
            n = plays(rules, row, scr)
            values[i, k] = quick_best(rules, encoding, quick, outputs, work, scr, row, n)[1]
