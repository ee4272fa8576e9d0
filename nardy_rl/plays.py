"""Move generation: every distinct legal play of a stage, as the state that follows it (rules page, 2, 5 and 6).

Two generators share the rules of `moves.py`. `ordered_plays` enumerates each play once, without a table, which is
exact as long as the order of the moves does not matter. Where it does (a freeze that begins inside the play, a
runner, a game that can end inside the play, ...), `free_plays` walks all orders and merges equal ones.
`order_matters` decides. With `full_move=whole` the later stages of a progression are looked through as well.
"""

from __future__ import annotations

import numpy as np

from nardy_rl.afterstates import KNOWN, MAX_PLAYS, Scratch, emit, scratch, settle_plays
from nardy_rl.board import (
    HEAD,
    HOME_MASK,
    MY_PINS,
    OUTCOME,
    OUTSIDE,
    OWED,
    PLAYER,
    THROWS,
    TURN,
    copy_into,
    count,
    occupied,
)
from nardy_rl.free import free_plays
from nardy_rl.jit import inlined, inner, kernel, lowest, popcount, product64
from nardy_rl.moves import closed_points, landings, lone_points
from nardy_rl.ordered import ordered_plays
from nardy_rl.results import checkers_left, has_borne_off
from nardy_rl.rules import BEAROFF, FEVGA, GRACE_STOP, RUNNER, SPORT
from nardy_rl.turns import MOVES_MASK, is_over, owes, surely_ends

__all__ = ["MAX_PLAYS", "Scratch", "order_matters", "plays", "scratch", "stage_plays"]

_VALUE, _STAMP = OUTCOME, OUTCOME + 1  # words of `scr.known` besides those of the state


@inlined
def order_matters(rules, row):
    """May the order of the moves decide what is legal or what follows, so that all orders must be tried?"""
    owed = np.int64(row[OWED])
    moves = owed >> 9 & 7
    occ = occupied(row, 0)
    if checkers_left(row, 0) <= moves:
        return True  # the game can end inside the play
    if rules.head == RUNNER and count(row, 0, HEAD) >= checkers_left(row, 0) + count(row, 0, 0) - 1:
        return True  # all on the head but one at most: the runner's rule is in force
    if rules.stop == GRACE_STOP or rules.freeze == BEAROFF:
        outside = np.int64(0)
        for k in range(4):
            outside += popcount(np.int64(row[k]) & OUTSIDE) << k
        if 0 < outside <= moves:
            return True  # the last checker may come home inside the play
    if rules.block == SPORT and not has_borne_off(row, 4) and lowest(occupied(row, 4)) >= 7:
        return True  # a transient blind block may arise
    if rules.block == FEVGA and not has_borne_off(row, 4):
        enemy = occupied(row, 4)
        if not enemy & (enemy - 1):
            return True  # all on one point: a lock may stand that must be opened
    if (rules.hit_wins or rules.bound) and ((owed & 7) == (owed >> 3 & 7) or rules.bound_off_play):
        lone = lone_points(rules, row) & landings(occ, closed_points(rules, row), owed)
        if (rules.hit_wins and lone) or lone & HOME_MASK:
            return True  # a hit in the middle of a double may end the game or bind a checker; two dice see to it
    if rules.mother and count(row, 4, HEAD) == 1 and count(row, 0, HEAD) <= moves:
        reached = landings(occ & ~np.int64(row[MY_PINS]), closed_points(rules, row), owed)
        return ((occ | reached) & 2) != 0  # the opponent's mother is or may be pinned
    return False


@inner
def stage_plays(rules, row, scr):
    """Every distinct legal play of the stage, as next states in `scr.plays`; returns their number, at least 1."""
    n = free_plays(rules, row, scr) if order_matters(rules, row) else ordered_plays(rules, row, scr)
    if n == 0:
        n = no_move(rules, row, scr)
    return n


@inner
def no_move(rules, row, scr):
    """The empty play, where there is no other, as play number 0. Returns 1."""
    n = emit(
        rules,
        row,
        scr,
        np.int64(0),
        np.int64(row[0]),
        np.int64(row[1]),
        np.int64(row[2]),
        np.int64(row[3]),
        np.int64(0),
        np.int64(0),
        surely_ends(rules, row, False),
    )
    settle_plays(rules, row, scr, n)
    return n


# ---------------------------------------------------------------------------------------------- whole plays


@inlined
def _moves_owed(row):
    """Checker moves that the stages of a double still owe."""
    owed = np.int64(row[OWED])
    return (owed >> 9 & 7) + 4 * ((owed >> 12 & 7) - (owed >> 6 & 7))


@inlined
def _goes_on(row, after):
    """Is a state after a play still the same player's turn to play stages of the same throw?"""
    return not is_over(after) and owes(after) and not (np.int64(row[TURN]) ^ np.int64(after[TURN])) & PLAYER


@inlined
def _place(row):
    """Where in `known` a state belongs."""
    h = np.uint64(0x345678)
    for k in range(0, THROWS, 2):
        h = product64(h ^ (np.uint64(row[k]) << np.uint64(32) | np.uint64(row[k + 1])), np.uint64(0x9E3779B97F4A7C15))
        h ^= h >> np.uint64(29)
    return np.int64(h & np.uint64(KNOWN - 1))


@inlined
def _recall(scr, row):
    """The most moves that can be made from a state that was looked through, or -1 if it is not remembered."""
    entry = scr.known[_place(row)]
    if np.int64(entry[_STAMP]) != scr.stamp[1] & 0xFFFFFFFF:
        return np.int64(-1)
    for k in range(THROWS):
        if entry[k] != row[k]:
            return np.int64(-1)
    return np.int64(entry[_VALUE])


@inlined
def _remember(scr, row, moves):
    """Keep the most moves that can be made from a state, in the place of whatever was there."""
    entry = scr.known[_place(row)]
    for k in range(THROWS):
        entry[k] = row[k]
    entry[_VALUE], entry[_STAMP] = np.uint32(moves), np.uint32(scr.stamp[1] & 0xFFFFFFFF)


@inlined
def _keep_plays(scr, depth, n):
    """Put the n plays in `scr.plays` by as those of the stage at this depth, none of them looked through."""
    for k in range(n):
        copy_into(scr.more[depth, k], scr.plays[k])
        scr.made[depth, k] = scr.deeds[k] & MOVES_MASK
    scr.size[depth], scr.at[depth] = n, 0


@inner
def _open_stage(rules, row, scr, depth):
    """Make the plays of a later stage and begin to look through them."""
    _keep_plays(scr, depth, stage_plays(rules, row, scr))
    scr.longest[depth, 0], scr.longest[depth, 1] = 0, _moves_owed(row)


@inner
def _most_moves(rules, row, scr):
    """The most moves that the player can make in the stages that he is owed from a state on.

    Depth first, a depth for each stage. States looked through are remembered as long as their place is not
    taken; a stage is left as soon as all that is owed can be played.
    """
    depth = 1
    _open_stage(rules, row, scr, depth)
    while True:
        rest = np.int64(0)
        if scr.at[depth] == scr.size[depth]:
            rest = scr.longest[depth, 0]
            if depth == 1:
                return rest
            depth -= 1
            _remember(scr, scr.more[depth, scr.at[depth]], rest)
        else:
            after = scr.more[depth, scr.at[depth]]
            if _goes_on(row, after):
                rest = _recall(scr, after)
                if rest < 0:
                    depth += 1
                    _open_stage(rules, after, scr, depth)
                    continue
        longest = max(scr.longest[depth, 0], scr.made[depth, scr.at[depth]] + rest)
        scr.longest[depth, 0] = longest
        scr.at[depth] = scr.size[depth] if longest == scr.longest[depth, 1] else scr.at[depth] + 1


@inner
def longest_wholes(rules, row, scr, n):
    """Keep, of the n plays of a stage, those from which the most moves of the progression can be made.

    Plays that end the game are kept whatever they make. Returns how many there are.
    """
    scr.stamp[1] += 1
    _keep_plays(scr, 0, n)
    most, kept = np.int64(0), 0
    for i in range(n):
        if _goes_on(row, scr.more[0, i]):
            scr.made[0, i] += _most_moves(rules, scr.more[0, i], scr)
        most = max(most, scr.made[0, i])
    for i in range(n):
        if scr.made[0, i] == most or is_over(scr.more[0, i]):
            copy_into(scr.plays[kept], scr.more[0, i])
            kept += 1
    return kept


@inlined
def looks_at_wholes(rules, row):
    """Does the full-move rule look beyond the present stage?"""
    return rules.whole and (np.int64(row[OWED]) >> 12 & 7) > (np.int64(row[OWED]) >> 6 & 7)


@inlined
def turn_plays(rules, row, scr):
    """As `plays`, for kernels."""
    n = stage_plays(rules, row, scr)
    if looks_at_wholes(rules, row):
        n = longest_wholes(rules, row, scr, n)
    return n


@kernel
def plays(rules, row, scr):
    """Every distinct legal play of a state that owes a stage, as next states in `scr.plays`.

    rules: Rules; row: uint32[16] with something owed; scr: Scratch of this thread. Returns the number of plays, at
    least 1 (the pass). Each next state is in the view of the player who then acts, or finished.
    """
    return turn_plays(rules, row, scr)
