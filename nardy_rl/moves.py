"""Single checker moves and the tests of blocks: what both generators of plays are made of (rules page, 2 and 5)."""

from __future__ import annotations

import numpy as np

from nardy_rl.board import (
    BAR,
    FAR_MASK,
    HEAD,
    HOME_MASK,
    MY_PINS,
    OUTSIDE,
    POINTS_MASK,
    across,
    made,
    occupied,
)
from nardy_rl.jit import highest, inlined, lowest
from nardy_rl.results import has_borne_off
from nardy_rl.rules import ALWAYS, BEAROFF, FEVGA, NO_BLOCK, NO_CONTACT, PIN

HEAD_BIT = 1 << HEAD
BAR_BIT = 1 << BAR


# ---------------------------------------------------------------------------------------------- single moves


@inlined
def closed_points(rules, row):
    """Points where no checker of the player may land, in his numbering; they stay so during a stage."""
    if rules.contact == NO_CONTACT:
        return across(occupied(row, 4), rules.parallel)
    closed = across(made(row, 4), rules.parallel)
    if rules.contact == PIN:
        closed |= np.int64(row[MY_PINS])
    return closed


@inlined
def lone_points(rules, row):
    """Points with a lone enemy checker that may be hit or pinned, in the player's numbering."""
    if rules.contact == NO_CONTACT:
        return np.int64(0)
    lone = occupied(row, 4) & ~made(row, 4) & POINTS_MASK
    return across(lone, rules.parallel) & ~np.int64(row[MY_PINS])


@inlined
def sources(rules, occ, pinned, closed, die):
    """Points from which one checker may move by this die, the head and the runner apart.

    occ: the player's points and bar; pinned: his pinned checkers' points; closed: see `closed_points`.
    """
    if occ & BAR_BIT:
        return BAR_BIT & ~(closed << die)
    movable = occ & ~pinned
    src = movable & ~(closed << die) & (np.int64(-2) << die)
    if rules.freeze == ALWAYS:
        src &= ~HOME_MASK
    if not occ & OUTSIDE:
        if rules.freeze == BEAROFF:
            src &= ~HOME_MASK
        if occ >> die & 1:
            src |= movable & (np.int64(1) << die)
        elif not rules.exact and occ and not occ >> die:
            src |= movable & (np.int64(1) << highest(occ))
    return src


@inlined
def landings(movable, closed, owed):
    """Points that a checker may come to land on in this stage, other restrictions apart."""
    larger, smaller = owed & 7, owed >> 3 & 7
    if larger != smaller:
        first, second = movable >> larger & ~closed, movable >> smaller & ~closed
        return first | second | (first >> smaller | second >> larger) & ~closed
    value, step, reached = owed >> 6 & 7, movable, np.int64(0)
    for _ in range(owed >> 9 & 7):
        step = step >> value & ~closed
        reached |= step
    return reached


# ---------------------------------------------------------------------------------------------- blocks


@inlined
def six_runs(points):
    """Bit q set where the six points q..q+5 (of 1..24) are all in the mask."""
    run = points & points >> 1
    run &= run >> 2
    return run & points >> 4 & points >> 5 & POINTS_MASK


@inlined
def is_blind_block(occ, enemy, enemy_off, parallel):
    """Does the player hold a block of six with no enemy checker in front of it or borne off?"""
    if enemy_off:
        return False
    runs = six_runs(across(occ, parallel))
    return runs != 0 and (enemy == 0 or lowest(runs) <= lowest(enemy))


@inlined
def locks_in(occ, enemy, parallel):
    """All enemy checkers stand on one point and the player holds the six in front of it (fevga, rule b)."""
    if enemy & (enemy - 1):
        return False
    q = lowest(enemy)
    return q >= 7 and (six_runs(across(occ, parallel)) >> (q - 6) & 1) != 0


@inlined
def fills_start(occ):
    """The player holds all six points 24..19 (fevga, rule a)."""
    return occ & (FAR_MASK & POINTS_MASK) == FAR_MASK & POINTS_MASK


@inlined
def is_permitted(rules, row, occ, may_lock):
    """Does the shape after a play obey the block rule of the game?"""
    if rules.block == NO_BLOCK:
        return True
    enemy = occupied(row, 4)
    if rules.block == FEVGA:
        if fills_start(occ):
            return False
        return may_lock or has_borne_off(row, 4) or not locks_in(occ, enemy, rules.parallel)
    return not is_blind_block(occ, enemy, has_borne_off(row, 4), rules.parallel)
