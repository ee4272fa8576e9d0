"""The checker form of actions: one checker by one die at a time, with masks that look ahead.

An action is `(source - 1) * 6 + (die - 1)`, source 1..24 or 25 for the bar, die 1..6; action 150, `DONE`, is the empty
play and legal only where no checker can move. A play ends by itself with its last checker move. The *tree* of a
stage holds every position inside a play, by number of moves made, and the moves between them; only those from which
a legal play can be completed are offered, so every masked path is a legal play, and every legal play is the end of
some masked path.

    tree = new_tree()
    n = build(rules, row, tree)            # tree.after[:n] are the plays
    mask_into(tree, node, mask)            # node 0 is the start of the stage
    node = child(tree, node, action)       # -1 if the action is illegal
    play = leaf(tree, node)                # the play that the path has made, or -1 if it goes on
    state_into(rules, tree, node, state)   # the state inside the play
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.afterstates import MAX_PLAYS, Scratch, scratch, write_play
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
from nardy_rl.envs.actions import ActionForm
from nardy_rl.envs.game import Game
from nardy_rl.envs.observation import BOUND, HIDDEN
from nardy_rl.free import free_plays
from nardy_rl.jit import inlined, inner, kernel
from nardy_rl.plays import longest_wholes, looks_at_wholes, no_move
from nardy_rl.rules import PER_STAGE, PER_TURN, Rules
from nardy_rl.turns import USED_LARGER, USED_SMALLER

ACTIONS = BAR * 6 + 1
DONE = BAR * 6

# A node is a number: the moves made on the way to it, and its place among the nodes of that level.
_LEVEL_SHIFT = 13
_LOW = 0xFFFFFFFF  # a node of `free.py` holds two words of 32 bits in one of 64
_FIELD = 0xFFFF  # and an edge four of 16 bits
_PASSED = 5 << _LEVEL_SHIFT  # the node after the empty play
assert MAX_PLAYS <= 1 << _LEVEL_SHIFT


class Tree(NamedTuple):
    """The positions inside the plays of one stage. Its memory is its own, so that it stays until the next `build`."""

    scr: Scratch  # nodes, edges and the play at each leaf
    row: np.ndarray  # uint32[16]            the state that owes the stage
    after: np.ndarray  # uint32[MAX_PLAYS, 16] the states after each play
    number: np.ndarray  # int64[MAX_PLAYS]     of the plays of a stage, among those that `full_move=whole` leaves
    open: np.ndarray  # bool[5, MAX_PLAYS]    can a play be completed from the node
    first: np.ndarray  # int32[4, MAX_PLAYS]   where the node's edges begin; they stand together


def new_tree() -> Tree:
    """Fresh memory for a tree; pages are touched only when used."""
    return Tree(
        scr=scratch(),
        row=np.zeros(WORDS, np.uint32),
        after=np.empty((MAX_PLAYS, WORDS), np.uint32),
        number=np.zeros(MAX_PLAYS, np.int64),
        open=np.zeros((5, MAX_PLAYS), np.bool_),
        first=np.zeros((4, MAX_PLAYS), np.int32),
    )


# ---------------------------------------------------------------------------------------------- building


@inlined
def _number_kept(tree, n, kept):
    """Number the `kept` plays that are left in `scr.plays` of the n in `tree.after`, in the same order, and keep those.

    tree.number[i] becomes the new number of play i, or -1.
    """
    j = 0
    for i in range(n):
        same = j < kept
        for k in range(WORDS):
            same = same and tree.after[i, k] == tree.scr.plays[j, k]
        tree.number[i] = j if same else -1
        if same:
            copy_into(tree.after[j], tree.after[i])
            j += 1


@inlined
def _renumber_leaves(tree, moves):
    """Give the leaves the new numbers of their plays."""
    scr = tree.scr
    for level in range(1, moves + 1):
        for i in range(scr.sizes[level]):
            if scr.leaf[level, i] >= 0:
                scr.leaf[level, i] = tree.number[scr.leaf[level, i]]


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
                edge = scr.edges[level, e]
                node, end = edge >> 16 & _FIELD, edge & _FIELD
                if tree.first[level, node] < 0:
                    tree.first[level, node] = e
                tree.open[level, node] |= tree.open[level + 1, end]


@kernel
def build(rules, row, tree):
    """Build the tree of a state uint32[16] that owes a stage. Returns the number of plays.

    They are kept in `tree.after`, in an order of their own.
    """
    scr = tree.scr
    moves = np.int64(row[OWED]) >> 9 & 7
    n = free_plays(rules, row, scr)
    if n == 0:
        n = no_move(rules, row, scr)
    copy_into(tree.row, row)
    for i in range(n):
        copy_into(tree.after[i], scr.plays[i])
    if looks_at_wholes(rules, row):
        kept = longest_wholes(rules, row, scr, n)
        _number_kept(tree, n, kept)
        n = kept
        free_plays(rules, row, scr)  # the later stages were looked through in the same memory
        _renumber_leaves(tree, moves)
    _look_ahead(tree, moves)
    return n


# ---------------------------------------------------------------------------------------------- walking


@kernel
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
    while end < size and tree.scr.edges[level, end] >> 16 & _FIELD == i:
        end += 1
    return level, begin, end


@inlined
def _action(edge):
    """The action that an edge is."""
    return ((edge >> 32 & _FIELD) - 1) * 6 + (edge >> 48) - 1


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
        edge = tree.scr.edges[level, e]
        if tree.open[level + 1, edge & _FIELD]:
            mask[_action(edge)] = 1
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
        edge = tree.scr.edges[level, e]
        if _action(edge) == action:
            at = edge & _FIELD
            return (level + 1) << _LEVEL_SHIFT | at if tree.open[level + 1, at] else np.int64(-1)
    return np.int64(-1)


@kernel
def state_into(rules, tree, node, out):
    """The state inside a play, in the view of the player who makes it, into out uint32[16].

    The checkers as they stand, hits and pins included, and what of the stage is still to be played; the bound checkers
    in two words that are zero otherwise (`observation.py`); everything else as at the start of the stage.
    """
    row = tree.row
    copy_into(out, row)
    if node == 0 or node == _PASSED:
        return
    level = node >> _LEVEL_SHIFT
    at = tree.scr.nodes[level, node & (MAX_PLAYS - 1)]
    write_play(rules, row, out, at[0] & _LOW, at[0] >> 32, at[1] & _LOW, at[1] >> 32, at[2] & _LOW)
    out[BOUND], out[HIDDEN] = np.uint32(at[2] >> 32), np.uint32(at[3] & _LOW)
    deeds = at[3] >> 32
    owed = np.int64(row[OWED]) - (level << 9)
    if deeds & USED_LARGER:
        owed &= ~LARGER_OWED
    if deeds & USED_SMALLER:
        owed &= ~SMALLER_OWED
    out[OWED] = np.uint32(owed)
    if rules.head == PER_TURN or rules.head == PER_STAGE:
        out[TURN] = np.uint32(np.int64(row[TURN]) + ((count(row, 0, HEAD) - count(out, 0, HEAD)) << HEAD_SHIFT))


# ---------------------------------------------------------------------------------------------- one game


@kernel
def _walk(rules, tree, order, row, mask, state):
    """A generator that does what order int64[1] says each time: go on by that action, or build the tree of `row` (-1).

    Yields the number of the play that is complete, or -1, and fills mask int8[151] and state uint32[16]. A generator
    keeps its arguments, whose way from Python into a kernel takes longer than the walk.
    """
    node = np.int64(0)
    while True:
        if order[0] < 0:
            build(rules, row, tree)
            node = np.int64(0)
        else:
            node = child(tree, node, order[0])
        mask_into(tree, node, mask)
        state_into(rules, tree, node, state)
        yield leaf(tree, node)


class _Walker:
    """A tree of a game's rules in one thread, and the arrays through which its generator is spoken to."""

    def __init__(self, rules: Rules) -> None:
        self.order = np.zeros(1, np.int64)
        self.row = np.zeros(WORDS, np.uint32)
        self.mask = np.zeros(ACTIONS, np.int8)
        self.state = np.zeros(WORDS, np.uint32)
        self.turn = 0  # who used it last
        self.tree = new_tree()
        walk = _walk(rules, self.tree, self.order, self.row, self.mask, self.state)
        self.next: Callable[[], int] = walk.__next__


_own = threading.local()
_turns = itertools.count(1)  # one for all threads, so that no two walks are taken for the same


def _walker(rules: Rules) -> _Walker:
    """The walker of these rules in this thread."""
    walkers: dict[Rules, _Walker] = _own.__dict__.setdefault("walkers", {})
    if rules not in walkers:
        walkers[rules] = _Walker(rules)
    return walkers[rules]


class CheckerActions(ActionForm):
    """Actions of one checker by one die each; see the module's page for their numbers.

    The tree belongs to the thread. If another game has used it in between, it is built again.
    """

    size = ACTIONS

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._path: list[int] = []  # the actions taken in the present stage
        self._turn = 0
        self._state = game.state
        self._mask = np.zeros(ACTIONS, np.int8)

    def begin(self) -> None:
        """See `ActionForm.begin`."""
        self._path = []
        if self.game.n:
            self._do(-1)
        else:
            self._state, self._mask = self.game.state, np.zeros(ACTIONS, np.int8)

    @property
    def state(self) -> NDArray[np.uint32]:
        """See `ActionForm.state`."""
        return self._state

    def mask(self) -> NDArray[np.int8]:
        """See `ActionForm.mask`."""
        return self._mask.copy()

    def is_legal(self, action: int) -> bool:
        """See `ActionForm.is_legal`."""
        return 0 <= action < ACTIONS and bool(self._mask[action])

    def step(self, action: int) -> bool:
        """See `ActionForm.step`."""
        if not self.is_legal(action):
            raise self.illegal(action)
        play = self._do(action)
        if play < 0:
            self._path.append(action)
            return False
        after = _walker(self.game.rules).tree.after[play]
        self.game.step(int((self.game.plays == after).all(axis=1).argmax()))
        self.begin()
        return True

    def _do(self, action: int) -> int:
        """Take a legal action, or for -1 build the tree; the play that it completes, or -1."""
        walker = _walker(self.game.rules)
        orders = [action]
        if action < 0 or walker.turn != self._turn:
            walker.row[:] = self.game.state
            orders = [-1, *self._path, action] if action >= 0 else [-1]
        play = -1
        for walker.order[0] in orders:
            play = walker.next()
        walker.turn = self._turn = next(_turns)
        self._state, self._mask = walker.state.copy(), walker.mask.copy()
        return play
