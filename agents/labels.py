"""Labels: nearly noise-free targets for the positions of self-play games, by looking at all 21 rolls.

A *settled* state awaits a throw or is over. From one that owes something, plays of the highest value lead on - by
whoever must act: stages of a progression, completed debts - until a settled state is reached: `follow`. So

    F(s) = the net's outputs of the settled state that s leads to (of s itself if it awaits a throw),
    E(s) = the mean over the 21 rolls of F(s with this roll thrown)            where s awaits a throw,

all in the view of the player of s. The label of the state at ply t of a game is the variance-reduced lambda-return

    label(t) = E(t) + lambda * flip(label(t + 1) - F(t + 1))                   where s(t) awaits a throw,
    label(t) = flip(label(t + 1))                                              where it owes something,

exact at the end of the game; `flip` changes the view where another player acts. What the roll that fell was worth more
than the mean roll is known and taken out, so that lambda can be near 1. After a random play, made to see more of the
game, the label is cut to E(t), or F(t), which do not depend on that play.

A *rollout* is such a line of play from the state itself, with lambda 1 and no random plays, to the end or truncated
after some plies; the mean of several is the dearest and the truest label (Tesauro and Galperin 1996).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nardy_rl.agents.net import Outputs, other_player
from nardy_rl.agents.quick import forget, quick_best, quick_value
from nardy_rl.agents.sieve import Ranked, Sieve, bring_forward, new_ranked, no_sieve
from nardy_rl.board import WORDS, copy_into
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS, below, roll, stream, uniform
from nardy_rl.jit import inlined, inner, kernel
from nardy_rl.plays import plays
from nardy_rl.starts import begin
from nardy_rl.turns import is_over, owes, throw

PLIES, MOST_ROLLOUTS = 1 << 16, 1 << 10  # of a game and of a state: every rollout has a stream of its own
_ROLLOUTS = np.uint64(0x726F6C6C)


class LabelSettings(NamedTuple):
    """Numbers that the labels depend on."""

    trace: float  # lambda
    explore: float  # probability of a random play
    margin: float  # how many points worse than the best it may be
    cap: int  # plays after which a game is cut


class Notes(NamedTuple):
    """What is kept of the plies of one game until it ends."""

    follows: np.ndarray  # float32[cap + 2, K]: F
    expected: np.ndarray  # float32[cap + 2, K]: E, or F where the state owes something
    turned: np.ndarray  # uint8[cap + 2]: does the other player act in the next state
    trace: np.ndarray  # float32[cap + 2]: weight of what the next state's label adds
    end: np.ndarray  # float32[K]: what the roll that falls leads to
    roll: np.ndarray  # float32[K]: what a roll leads to
    ahead: np.ndarray  # float32[K]
    row: np.ndarray  # uint32[16]: the state after the first play
    room: np.ndarray  # uint32[16]
    now: np.ndarray  # uint32[16]
    after: np.ndarray  # uint32[16]
    keep: int  # plays of a roll that the sieve lets through to the net; 0: all
    sieve: Sieve
    ranked: Ranked


def new_notes(outputs: Outputs, cap: int, keep: int = 0) -> Notes:
    """Room for the notes of games of up to `cap` plays; with `keep`, the sieve is still to be put in its place."""
    size = len(outputs.points)
    return Notes(
        follows=np.zeros((cap + 2, size), np.float32),
        expected=np.zeros((cap + 2, size), np.float32),
        turned=np.zeros(cap + 2, np.uint8),
        trace=np.zeros(cap + 2, np.float32),
        end=np.zeros(size, np.float32),
        roll=np.zeros(size, np.float32),
        ahead=np.zeros(size, np.float32),
        row=np.zeros(WORDS, np.uint32),
        room=np.zeros(WORDS, np.uint32),
        now=np.zeros(WORDS, np.uint32),
        after=np.zeros(WORDS, np.uint32),
        keep=keep,
        sieve=no_sieve(),
        ranked=new_ranked(keep),
    )


# ---------------------------------------------------------------------------------------------- one throw


@inlined
def turn_difference(outputs, x, k):
    """Output k of a difference x of outputs, in the other player's view."""
    d = x[outputs.flip_from[k]]
    return -d if k == 0 and not outputs.draws else d


@inlined
def turn_outputs(outputs, x, k):
    """Output k of outputs x, in the other player's view."""
    v = x[outputs.flip_from[k]]
    return np.float32(1) - v if k == 0 and not outputs.draws else v


@inner
def follow(rules, encoding, quick, outputs, work, scr, notes, row, out):
    """From a state that owes something go on to a settled one, in place, by the best plays of whoever acts.

    `out` gets its outputs in the view of the player that `row` had at the start; `notes.row` is the state after
    the first play, and the result whether another player acts in it.
    """
    turned, other_first, stages = 0, 0, 0
    while owes(row):
        n = plays(rules, row, scr)
        if 0 < notes.keep < n:
            n = bring_forward(rules, notes.sieve, row, scr, n, notes.keep, notes.ranked)
        at = quick_best(rules, encoding, quick, outputs, work, scr, row, n)[0]
        other = np.int64(other_player(row, scr.plays[at]))
        turned ^= other
        copy_into(row, scr.plays[at])
        if stages == 0:
            other_first = other
            copy_into(notes.row, row)
        stages += 1
    for k in range(out.shape[0]):
        out[k] = turn_outputs(outputs, work.best, k) if turned else work.best[k]
    return other_first


@inner
def expected_outputs(rules, encoding, quick, outputs, work, scr, notes, row, thrown, next_row, out):
    """E of a state that awaits a throw, into `out`: the mean over the rolls of what the best plays lead to.

    thrown: number of the roll that falls, or -1; `next_row` becomes the state after the best play with it, and the
    result is whether another player acts there. room: uint32[16]. `notes.end` gets F of that state, in the view
    of the player of `row`.
    """
    end, room = notes.roll, notes.room
    for k in range(out.shape[0]):
        out[k] = np.float32(0)
    other = np.int64(0)
    for r in range(ROLLS.shape[0]):
        copy_into(room, row)
        throw(rules, room, ROLLS[r, 0], ROLLS[r, 1])
        first = follow(rules, encoding, quick, outputs, work, scr, notes, room, end)
        weight = np.float32(ROLL_WEIGHTS[r])
        for k in range(out.shape[0]):
            out[k] += weight * end[k]
        if r == thrown:
            other = first
            copy_into(next_row, notes.row)
            copy_into(notes.end, end)
    return other


# ---------------------------------------------------------------------------------------------- one game


@inner
def random_reply(rng, n, value, top, margin):
    """The number of a random play among those not more than `margin` points worse than the best."""
    good = np.int64(0)
    for i in range(n):
        good += value[i] >= top - margin
    left = below(rng, good)
    for i in range(n):
        if value[i] >= top - margin:
            if left == 0:
                return np.int64(i)
            left -= 1
    return np.int64(0)


@inner
def label_back(outputs, notes, plies, labels, first):
    """Labels of the plies 0..plies-1 of a game, backwards, into labels[first:]; ply `plies` is the end."""
    size = notes.end.shape[0]
    ahead = notes.ahead  # label - F of the next state, in its own view
    for k in range(size):
        ahead[k] = np.float32(0)
    for t in range(plies - 1, -1, -1):
        for k in range(size):
            d = turn_difference(outputs, ahead, k) if notes.turned[t] else ahead[k]
            labels[first + t, k] = notes.expected[t, k] + notes.trace[t] * d
        for k in range(size):
            ahead[k] = labels[first + t, k] - notes.follows[t, k]


@inner
def label_line(rules, encoding, quick, outputs, work, scr, notes, rng, settings, t, states, labels, first):
    """Play on from `notes.now`, which is ply t, and label the states met: of ply 0, 1, ... from number `first` on.

    t = -1 for the opening throw of a game, which is no sample: its roll is not drawn from all 21. Of ply 0 the state
    itself must be in its place. Returns the number of plies labelled.
    """
    row, after, room = notes.now, notes.after, notes.room
    while True:
        other, trace = np.int64(0), np.float32(1)
        explores = settings.explore > 0 and uniform(rng) < settings.explore
        if owes(row):
            copy_into(room, row)
            other = follow(rules, encoding, quick, outputs, work, scr, notes, room, notes.end)
            copy_into(after, notes.row)
            if t >= 0:
                copy_into(notes.expected[t], notes.end)
                copy_into(notes.follows[t], notes.end)
        else:
            quick_value(rules, encoding, quick, outputs, work, row)
            copy_into(notes.follows[t], work.out)
            die1, die2 = roll(rng)
            high, low = max(die1, die2), min(die1, die2)
            thrown = high * (high - 1) // 2 + low - 1
            other = expected_outputs(
                rules, encoding, quick, outputs, work, scr, notes, row, thrown, after, notes.expected[t]
            )
            trace = np.float32(settings.trace)
            if explores:
                throw(rules, row, die1, die2)
        if explores:
            n = plays(rules, row, scr)
            top = quick_best(rules, encoding, quick, outputs, work, scr, row, n)[1]
            chosen = random_reply(rng, n, work.values, top, settings.margin)
            other, trace = np.int64(other_player(row, scr.plays[chosen])), np.float32(0)
            copy_into(after, scr.plays[chosen])
        if t >= 0:
            notes.turned[t] = other
            notes.trace[t] = trace
        copy_into(row, after)
        t += 1
        if is_over(row) or t >= settings.cap:
            label_back(outputs, notes, t, labels, first)
            return t
        copy_into(states[first + t], row)


@kernel
def label_games(
    rules, encoding, start, quick, outputs, work, scr, notes, seed, game, games, settings, states, labels, counts
):
    """Play games number game..game+games-1 of a seed by the net and label the states met.

    states: uint32[M, 16] and labels: float32[M, K] get them one game after the other, counts: int64[games] how many of
    each. Stops before a game that may not have room (settings.cap + 1 states). Returns games and states done.
    """
    rng = np.zeros(1, np.uint64)
    forget(work)
    done = np.int64(0)
    for g in range(games):
        if done + settings.cap + 1 > len(states):
            return np.int64(g), done
        stream(seed, game + g, rng)
        begin(rules, start, rng, notes.now)
        counts[g] = label_line(
            rules, encoding, quick, outputs, work, scr, notes, rng, settings, np.int64(-1), states, labels, done
        )
        done += counts[g]
    return np.int64(games), done


@kernel
def rollout_labels(
    rules, encoding, quick, outputs, work, scr, notes, seed, game, counts, rollouts, settings, states, labels, line
):
    """Label states by rollouts: the mean of so many lines of play, each with the luck of its rolls taken out.

    states: uint32[N, 16], met in games number game, game + 1, ..., `counts` int64[G] of each; their labels
    float32[N, K] are overwritten. A line goes on to the end of the game or, truncated, for settings.cap plies, after
    which the net's expected outputs stand for the rest. line: room for one, states uint32[cap + 1, 16] and labels
    float32[cap + 1, K].
    """
    rng = np.zeros(1, np.uint64)
    forget(work)
    s = np.int64(0)
    for g in range(len(counts)):
        for t in range(counts[g]):
            for k in range(labels.shape[1]):
                labels[s, k] = np.float32(0)
            for r in range(rollouts):
                stream(seed ^ _ROLLOUTS, ((game + g) * PLIES + t) * MOST_ROLLOUTS + r, rng)
                copy_into(notes.now, states[s])
                label_line(
                    rules, encoding, quick, outputs, work, scr, notes, rng, settings, np.int64(0), line[0], line[1],
                    np.int64(0),
                )  # fmt: skip
                for k in range(labels.shape[1]):
                    labels[s, k] += line[1][0, k] / np.float32(rollouts)
            s += 1


@kernel
def expected_batch(rules, encoding, quick, outputs, work, scr, notes, rows, out):
    """E (or F, where something is owed; exact where the game is over) of states uint32[N, 16]: float32[N, K]."""
    room = notes.room
    forget(work)
    for i in range(len(rows)):
        if is_over(rows[i]):
            quick_value(rules, encoding, quick, outputs, work, rows[i])
            copy_into(out[i], work.out)
        elif owes(rows[i]):
            copy_into(room, rows[i])
            follow(rules, encoding, quick, outputs, work, scr, notes, room, out[i])
        else:
            expected_outputs(rules, encoding, quick, outputs, work, scr, notes, rows[i], -1, notes.after, out[i])
