"""Kernels that play many games of an environment at once, all in arrays.

A step is `take_plays`, which plays an action in every game (a game that had ended starts anew), and `decide`, which
throws where nothing is owed and lists the plays of the new decisions; or, in the checker form, `step_checkers`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nardy_rl.board import OUTCOME, PLAYER, TURN, WORDS, copy_into
from nardy_rl.dice import roll, stream
from nardy_rl.envs.actions import LOSS
from nardy_rl.envs.checker import ACTIONS, build, child, leaf, mask_into, state_into
from nardy_rl.jit import inlined, kernel
from nardy_rl.plays import plays
from nardy_rl.starts import begin
from nardy_rl.turns import is_over, owes, throw


class Games(NamedTuple):
    """N games being played, one after the other in each place, and what became of them in the last step."""

    rows: np.ndarray  # uint32[N, 16]  the state: at the start of a stage, or finished
    streams: np.ndarray  # uint64[N]      random streams of the dice
    seeds: np.ndarray  # uint64[N]
    numbers: np.ndarray  # uint64[N]      of the games under their seeds
    made: np.ndarray  # int64[N]       plays made in the game
    counts: np.ndarray  # int64[N]       legal plays of the stage, 0 of a finished game
    first: np.ndarray  # int64[N]       where they begin in the room of plays
    ended: np.ndarray  # bool[N]        nothing more can be played in this game
    rewards: np.ndarray  # float64[N]     of the player who acted
    illegal: np.ndarray  # bool[N]        was the action illegal
    seen: np.ndarray  # uint32[N, 16]  checker form: the state inside the play
    masks: np.ndarray  # int8[N, 151]   checker form: the legal actions
    path: np.ndarray  # int64[N, 4]    checker form: the actions taken in the stage
    depth: np.ndarray  # int64[N]       checker form: how many they are


def new_games(n: int) -> Games:
    """Room for n games, none of which has begun."""
    return Games(
        rows=np.zeros((n, WORDS), np.uint32),
        streams=np.zeros(n, np.uint64),
        seeds=np.zeros(n, np.uint64),
        numbers=np.zeros(n, np.uint64),
        made=np.zeros(n, np.int64),
        counts=np.zeros(n, np.int64),
        first=np.zeros(n, np.int64),
        ended=np.ones(n, np.bool_),
        rewards=np.zeros(n, np.float64),
        illegal=np.zeros(n, np.bool_),
        seen=np.zeros((n, WORDS), np.uint32),
        masks=np.zeros((n, ACTIONS), np.int8),
        path=np.zeros((n, 4), np.int64),
        depth=np.zeros(n, np.int64),
    )


# ---------------------------------------------------------------------------------------------- starting


@kernel
def _start(rules, start, games, i, opening):
    """Begin the game of this number and seed in place i, from the opening or from the state that stands there."""
    random = games.streams[i : i + 1]
    stream(games.seeds[i], games.numbers[i], random)
    if opening:
        begin(rules, start, random, games.rows[i])
    games.made[i] = 0
    games.ended[i] = False
    games.illegal[i] = False
    games.rewards[i] = 0.0
    games.depth[i] = 0


@kernel
def start_games(rules, start, games, which, opening):
    """Begin games in the places which int64[K]; opening: False, from the states that stand there."""
    for i in which:
        _start(rules, start, games, i, opening)


@kernel
def _start_next(rules, start, games, i):
    """Begin the next game of the seed in place i."""
    games.numbers[i] += np.uint64(1)
    _start(rules, start, games, i, True)


@kernel
def start_next_games(rules, start, games, which):
    """Begin the next game of its seed in each of the places which int64[K]."""
    for i in which:
        _start_next(rules, start, games, i)


# ---------------------------------------------------------------------------------------------- acting


@inlined
def _lose(games, i):
    """The action in place i was illegal: the game is lost."""
    games.illegal[i] = True
    games.ended[i] = True
    games.rewards[i] = -LOSS


@inlined
def _take(games, i, after, points, max_plays):
    """Put the afterstate of a play in place i, and count what its player has won if the game is over."""
    row = games.rows[i]
    player = np.int64(row[TURN]) & PLAYER
    copy_into(row, after)
    games.made[i] += 1
    if is_over(row):
        won = np.float64(points[np.int64(row[OUTCOME]) - 1])
        games.rewards[i] = won if (np.int64(row[TURN]) & PLAYER) == player else -won
        games.ended[i] = True
    elif games.made[i] >= max_plays:
        games.ended[i] = True


@kernel
def take_plays(rules, start, points, max_plays, games, room, actions):
    """Play number actions[i] int64[N] in every game i; where the game had ended, the next one of its seed begins.

    rules, start: of the variant; points: see `score_table`; room: uint32[M, 16], the plays. Then call `decide`.
    """
    for i in range(len(actions)):
        games.illegal[i] = False
        if games.ended[i]:
            _start_next(rules, start, games, i)
        elif 0 <= actions[i] < games.counts[i]:
            games.rewards[i] = 0.0
            _take(games, i, room[games.first[i] + actions[i]], points, max_plays)
        else:
            _lose(games, i)


@kernel
def decide(rules, scr, games, which, room, done, at):
    """Throw where nothing is owed, in the places which int64[K], and list the plays in room uint32[M, 16].

    Begins with which[done], whose plays go to room[at:]. Stops before a place whose plays have no room; returns how
    many are done, and where the next plays go. Call again from there with a larger room.
    """
    while done < len(which):
        i = which[done]
        row = games.rows[i]
        n = np.int64(0)
        if not is_over(row):
            if not owes(row):
                die1, die2 = roll(games.streams[i : i + 1])
                throw(rules, row, die1, die2)
            n = plays(rules, row, scr)
            if at + n > len(room):
                break
            for k in range(n):
                copy_into(room[at + k], scr.plays[k])
        games.counts[i], games.first[i] = n, at
        at += n
        done += 1
    return done, at


# ---------------------------------------------------------------------------------------------- checker form


@inlined
def _throw_stage(games, i, rules):
    """Throw if nothing is owed in place i: its stage begins. Returns False, and shows the end, if the game is over."""
    row = games.rows[i]
    games.depth[i] = 0
    if is_over(row):
        games.counts[i] = 0
        copy_into(games.seen[i], row)
        for k in range(ACTIONS):
            games.masks[i, k] = 0
        return False
    if not owes(row):
        die1, die2 = roll(games.streams[i : i + 1])
        throw(rules, row, die1, die2)
    return True


@inlined
def _step_on(games, i, tree, node, action, points, max_plays):
    """Take an action at a node in place i; returns the next node, or -1 if a play is complete or the game is lost."""
    node = child(tree, node, action)
    if node < 0:
        _lose(games, i)
        return node
    play = leaf(tree, node)
    if play >= 0:
        _take(games, i, tree.after[play], points, max_plays)
        return np.int64(-1)
    games.path[i, games.depth[i]] = action
    games.depth[i] += 1
    return node


@kernel
def step_checkers(rules, start, points, max_plays, games, tree, which, actions, acting):
    """Take actions int64[N] of the checker form in the places which int64[K], and show what may be done next.

    Where the game had ended, the next one of its seed begins. acting: False takes no actions; it throws where nothing
    is owed and shows the starts of the stages.
    """
    for i in which:
        begins = not acting
        if acting:
            games.illegal[i] = False
            games.rewards[i] = 0.0
            if games.ended[i]:
                _start_next(rules, start, games, i)
                begins = True
        while True:  # once, or twice if a play is completed and another stage begins
            if begins and not _throw_stage(games, i, rules):
                break
            games.counts[i] = build(rules, games.rows[i], tree)
            node = np.int64(0)
            for k in range(games.depth[i]):
                node = child(tree, node, games.path[i, k])
            if not begins:
                node = _step_on(games, i, tree, node, actions[i], points, max_plays)
                if games.illegal[i]:
                    break
            if node >= 0:
                state_into(rules, tree, node, games.seen[i])
                mask_into(tree, node, games.masks[i])
                break
            begins = True


# ---------------------------------------------------------------------------------------------- what is seen


@kernel
def masks_into(games, out):
    """The legal actions of the afterstate form, into out int8[N, bound] of zeros."""
    for i in range(len(out)):
        if not games.ended[i]:
            for k in range(games.counts[i]):
                out[i, k] = 1
