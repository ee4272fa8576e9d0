"""The checker form of actions: one checker by one die at a time, with masks that look ahead.

An action is `(source - 1) * 6 + (die - 1)`, source 1..24 or 25 for the bar, die 1..6; action 150, `DONE`, is the empty
play and legal only where no checker can move. A play ends by itself with its last checker move. The *tree* of a
stage holds every position inside a play, by number of moves made, and the moves between them; only those from which
a legal play can be completed are offered, so every masked path is a legal play, and every legal play is the end of
some masked path.

    tree = new_tree()
    n = build(rules, row, tree)            # tree.after[:n] are the plays, in the order of `plays`
    mask_into(tree, node, mask)            # node 0 is the start of the stage
    node = child(tree, node, action)       # -1 if the action is illegal
    play = leaf(tree, node)                # the play that the path has made, or -1 if it goes on
    board_into(rules, tree, node, state)   # the state inside the play
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nardy_rl.board import (
    BAR,
    HEAD,
    HEAD_SHIFT,
    LARGER_OWED,
    OWED,
    SMALLER_OWED,
    TURN,
    WORDS,
    copy_into,
    count,
)
from nardy_rl.jit import inlined, inner, kernel
from nardy_rl.plays import _DEEDS, _HITS, _TABLE, MAX_PLAYS, Scratch, free_plays, plays, scratch, write_play
from nardy_rl.rules import PER_STAGE, PER_TURN
from nardy_rl.turns import USED_LARGER, USED_SMALLER, settle

ACTIONS = BAR * 6 + 1
DONE = BAR * 6

# A node is a number: the moves made on the way to it, and its place among the nodes of that level.
_LEVEL_SHIFT = 13
_PASSED = 5 << _LEVEL_SHIFT  # the node after the empty play
assert MAX_PLAYS <= 1 << _LEVEL_SHIFT


class Tree(NamedTuple):
    """The positions inside the plays of one stage. Its memory is its own, so that it stays until the next `build`."""

    scr: Scratch  # nodes, edges and the play at each leaf
    row: np.ndarray  # uint32[16]            the state that owes the stage
    after: np.ndarray  # uint32[MAX_PLAYS, 16] the states after each play
    open: np.ndarray  # bool[5, MAX_PLAYS]    can a play be completed from the node
    first: np.ndarray  # int32[4, MAX_PLAYS]   where the node's edges begin; they stand together


def new_tree() -> Tree:
    """Fresh memory for a tree; pages are touched only when used."""
    return Tree(
        scr=scratch(),
        row=np.zeros(WORDS, np.uint32),
        after=np.empty((MAX_PLAYS, WORDS), np.uint32),
        open=np.zeros((5, MAX_PLAYS), np.bool_),
        first=np.zeros((4, MAX_PLAYS), np.int32),
    )


# ---------------------------------------------------------------------------------------------- building


@inlined
def _place(rows, i, row, scr, into):
    """Number of the row among `rows` that equals `row`, or -1; `into`: then row i of `rows` is put into the table."""
    h = np.int64(0x345678)
    for k in range(WORDS):
        h = (h ^ np.int64(row[k])) * np.int64(0x100000001B3)
        h ^= h >> 29
    slot = h & (_TABLE - 1)
    while scr.table[slot, 0] == scr.stamp[0]:
        same = True
        for k in range(WORDS):
            same = same and rows[scr.table[slot, 1], k] == row[k]
        if same:
            return scr.table[slot, 1]
        slot = (slot + 1) & (_TABLE - 1)
    if into:
        scr.table[slot, 0] = scr.stamp[0]
        scr.table[slot, 1] = i
    return np.int64(-1)


@inner
def _number_leaves(tree, moves, made, n):
    """Turn the numbers at the leaves, of `made` plays of this search, into those of `plays`; -1 for plays it drops."""
    scr = tree.scr
    scr.stamp[0] += 1
    for i in range(n):
        _place(tree.after, i, tree.after[i], scr, True)
    for j in range(made):
        scr.longest[j] = _place(tree.after, 0, scr.plays[j], scr, False)
    for level in range(1, moves + 1):
        for i in range(scr.sizes[level]):
            if scr.leaf[level, i] >= 0:
                scr.leaf[level, i] = scr.longest[scr.leaf[level, i]]


@inner
def _look_ahead(tree, moves):
    """Mark the nodes from which a play can be completed, from the end, and note where the edges of each begin."""
    scr = tree.scr
    for level in range(moves, -1, -1):
        for i in range(scr.sizes[level]):
            tree.open[level, i] = level > 0 and scr.leaf[level, i] >= 0
            if level < moves:
                tree.first[level, i] = -1
        if level < moves:
            for e in range(scr.edge_sizes[level]):
                node, end = scr.edges[level, e, 0], scr.edges[level, e, 3]
                if tree.first[level, node] < 0:
                    tree.first[level, node] = e
                tree.open[level, node] |= tree.open[level + 1, end]


@kernel
def build(rules, row, tree):
    """Build the tree of a state uint32[16] that owes a stage; returns the number of plays, kept in `tree.after`."""
    scr = tree.scr
    n = plays(rules, row, scr)
    for i in range(n):
        copy_into(tree.after[i], scr.plays[i])
    copy_into(tree.row, row)
    moves = np.int64(row[OWED]) >> 9 & 7
    made = free_plays(rules, row, scr)
    for j in range(made):
        settle(rules, row, scr.plays[j], scr.deeds[j])
    _number_leaves(tree, moves, made, n)
    _look_ahead(tree, moves)
    return n


# ---------------------------------------------------------------------------------------------- walking


@inlined
def leaf(tree, node):
    """The number of the play that is complete at a node, or -1."""
    if node == _PASSED:
        return np.int64(0)
    if node == 0:
        return np.int64(-1)
    return tree.scr.leaf[node >> _LEVEL_SHIFT, node & (MAX_PLAYS - 1)]


@inlined
def _edges(tree, node):
    """Level and place of a node that is no leaf, and where its edges begin and end."""
    level, i = node >> _LEVEL_SHIFT, node & (MAX_PLAYS - 1)
    size = tree.scr.edge_sizes[level]
    begin = np.int64(tree.first[level, i])
    if begin < 0:
        return level, size, size
    end = begin
    while end < size and tree.scr.edges[level, end, 0] == i:
        end += 1
    return level, begin, end


@kernel
def mask_into(tree, node, mask):
    """The legal actions at a node as ones in mask int8[151]; all zeros at a leaf. Returns their number."""
    for a in range(ACTIONS):
        mask[a] = 0
    if leaf(tree, node) >= 0:
        return 0
    if node == 0 and not tree.open[0, 0]:
        mask[DONE] = 1
        return 1
    level, begin, end = _edges(tree, node)
    n = 0
    for e in range(begin, end):
        if tree.open[level + 1, tree.scr.edges[level, e, 3]]:
            mask[(tree.scr.edges[level, e, 1] - 1) * 6 + tree.scr.edges[level, e, 2] - 1] = 1
            n += 1
    return n


@kernel
def child(tree, node, action):
    """The node to which an action leads, or -1 if it is illegal at this node."""
    if leaf(tree, node) >= 0:
        return np.int64(-1)
    if node == 0 and not tree.open[0, 0]:
        return np.int64(_PASSED) if action == DONE else np.int64(-1)
    level, begin, end = _edges(tree, node)
    for e in range(begin, end):
        at = np.int64(tree.scr.edges[level, e, 3])
        if (tree.scr.edges[level, e, 1] - 1) * 6 + tree.scr.edges[level, e, 2] - 1 == action:
            return (level + 1) << _LEVEL_SHIFT | at if tree.open[level + 1, at] else np.int64(-1)
    return np.int64(-1)


@kernel
def board_into(rules, tree, node, out):
    """The state inside a play, in the view of the player who makes it, into out uint32[16].

    The checkers as they stand, hits and pins included, and what of the stage is still to be played; everything else as
    at the start of the stage. Where a checker is bound (`bound` in the rules) is in the mask only.
    """
    row = tree.row
    copy_into(out, row)
    if node == 0 or node == _PASSED:
        return
    level = node >> _LEVEL_SHIFT
    at = tree.scr.nodes[level, node & (MAX_PLAYS - 1)]
    write_play(rules, row, out, at[0], at[1], at[2], at[3], at[_HITS])
    owed = np.int64(row[OWED]) - (level << 9)
    if at[_DEEDS] & USED_LARGER:
        owed &= ~LARGER_OWED
    if at[_DEEDS] & USED_SMALLER:
        owed &= ~SMALLER_OWED
    out[OWED] = np.uint32(owed)
    if rules.head == PER_TURN or rules.head == PER_STAGE:
        out[TURN] = np.uint32(np.int64(row[TURN]) + ((count(row, 0, HEAD) - count(out, 0, HEAD)) << HEAD_SHIFT))
