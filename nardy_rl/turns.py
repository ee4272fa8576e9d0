"""The turn machine: what a throw owes, who acts next, debts and their completion, extra throws (rules page, 4)."""

from __future__ import annotations

import numpy as np

from nardy_rl.board import (
    EXTRA,
    GRACE,
    HANDED,
    HEAD,
    HEAD_SHIFT,
    IDLE_SHIFT,
    LARGER_OWED,
    OUTCOME,
    OUTSIDE,
    OWED,
    PLAYER,
    SMALLER_OWED,
    STARTER,
    THROWS,
    TURN,
    count,
    occupied,
    swap_view,
)
from nardy_rl.jit import inlined, inner, kernel
from nardy_rl.results import DRAW, WON_BY_HIT, WON_BY_MOTHER, borne_off_outcome
from nardy_rl.rules import GRACE_STOP, NONE, ONCE, PER_STAGE, PER_TURN, PING_PONG, STOP_NO

# What a play did, besides the position it leads to (bits of a play's `deeds`).
MOVES_MASK = 7  # bits 0-2: checker moves made
USED_LARGER, USED_SMALLER = 8, 16  # dice of a non-double that were used
HOME_WITH_LAST = 32  # the last checker came home with the stage's last move
BY_HIT, BY_MOTHER, BY_DRAW = 64, 128, 256  # the game ended at once
EMPTIED = 512  # nothing is left on the board
ENDS_PLAY = BY_HIT | BY_MOTHER | BY_DRAW | EMPTIED


@inner
def dice_of(row):
    """The present throw: larger die, smaller die (0, 0 before a throw)."""
    owed = np.int64(row[OWED])
    return owed & 7, owed >> 3 & 7


@inlined
def is_over(row):
    """Has the game ended."""
    return row[OUTCOME] != 0


@inlined
def owes(row):
    """Is part of a throw still to be played."""
    return (np.int64(row[OWED]) >> 9 & 7) != 0


@kernel
def throw(rules, row, die1, die2):
    """The player to act throws: sets the dice and the stages that they owe, in place."""
    row[THROWS] += np.uint32(1)
    larger, smaller = max(die1, die2), min(die1, die2)
    if larger != smaller:
        owed = larger | smaller << 3 | 2 << 9 | LARGER_OWED | SMALLER_OWED
    else:
        last = larger
        if rules.progression:
            if (np.int64(row[THROWS]) & 0xFFFF) > rules.calm and occupied(row, 0) & OUTSIDE:
                last = np.int64(6)
        owed = larger | smaller << 3 | larger << 6 | 4 << 9 | last << 12
    row[OWED] = np.uint32(owed)


@inlined
def head_allowance(rules, row):
    """How many more checkers the player may take off his head in this stage (99: no limit, or a runner's rule)."""
    if rules.head != PER_TURN and rules.head != PER_STAGE:
        return np.int64(99)
    turn = np.int64(row[TURN])
    allowed = 1
    if rules.pairs and (turn & PLAYER) == (turn >> 1 & 1) and (np.int64(row[THROWS]) & 0xFFFF) == 1:
        owed = np.int64(row[OWED])
        larger = owed & 7
        if larger == (owed >> 3 & 7) and rules.pairs >> larger & 1:
            second = (turn & PLAYER) != (turn >> 2 & 1)
            in_first_stage = rules.head == PER_TURN or (owed >> 6 & 7) == larger
            if in_first_stage and (second or not rules.pairs_second):
                allowed = 2
    return np.int64(allowed - (turn >> HEAD_SHIFT & 15))


@inner
def pass_turn(row):
    """The throw is done: the opponent of the thrower throws next. In place; the row may be in either view."""
    turn = np.int64(row[TURN])
    thrower = turn >> 1 & 1
    if (turn & PLAYER) == thrower:
        swap_view(row)
    next_player = thrower ^ 1
    row[TURN] = np.uint32(next_player | next_player << 1 | turn & STARTER)
    row[OWED] = np.uint32(0)


@inner
def throw_again(row):
    """The throw is done and earned its thrower, who is the player, another. In place."""
    turn = np.int64(row[TURN])
    player = turn & PLAYER
    row[TURN] = np.uint32(player | player << 1 | turn & STARTER | EXTRA)
    row[OWED] = np.uint32(0)


@inner
def finish(row, outcome, winner):
    """End the game in place; winner is a player number."""
    turn = np.int64(row[TURN])
    if (turn & PLAYER) != winner:
        swap_view(row)
    row[TURN] = np.uint32(winner | winner << 1 | turn & STARTER)
    row[OWED] = np.uint32(0)
    row[OUTCOME] = np.uint32(1 + outcome)


@inner
def is_last_throw(row):
    """Is this the throw that is left to a player after the starter bore off all (option last_throw)."""
    return not occupied(row, 4) and not is_over(row)


@inner
def end_throw(rules, row):
    """Everything of the throw is played or lost: pass the turn, or count the game if this was the last throw."""
    turn = np.int64(row[TURN])
    if rules.last_throw:
        starter = turn >> 2 & 1
        side = 0 if (turn & PLAYER) == starter else 4
        if not occupied(row, side):
            finish(row, borne_off_outcome(row, 4 - side), starter)
            return
    pass_turn(row)


@inner
def set_stage(row, value, moves, last):
    """Replace what is owed of a double by `moves` moves of this value and the stages up to `last`."""
    row[OWED] = np.uint32(np.int64(row[OWED]) & 0x3F | value << 6 | moves << 9 | last << 12)


@inner
def hand_over(rules, row, moves):
    """What is owed goes to the other player, in place; False if it is lost instead. `moves` were made of the stage."""
    turn = np.int64(row[TURN])
    idle = np.int64(0)
    if rules.completion == PING_PONG and moves == 0:
        idle = (turn >> IDLE_SHIFT & 3) + 1
    if idle == 2 or not (rules.home_completer_plays or occupied(row, 4) & OUTSIDE):
        return False
    row[TURN] = np.uint32(turn & ~(3 << IDLE_SHIFT) | idle << IDLE_SHIFT | HANDED)
    swap_view(row)
    return True


@inner
def passes_on(rules, before, row, moves):
    """Does the unplayed rest of a throw go to the other player? `before` is the state before the play."""
    turn = np.int64(row[TURN])
    if rules.completion == NONE or (rules.last_throw and is_last_throw(row)):
        return False
    by_thrower = (turn & PLAYER) == (turn >> 1 & 1)
    if turn & HANDED:
        return rules.completion == PING_PONG or by_thrower
    if not by_thrower:
        return False
    owed = np.int64(before[OWED])
    larger, smaller = owed & 7, owed >> 3 & 7
    if larger != smaller:
        return rules.scope_all == 1
    if rules.void and moves == 0 and (owed >> 6 & 7) == larger and (owed >> 9 & 7) == 4:
        return False
    calm = rules.progression and (np.int64(row[THROWS]) & 0xFFFF) <= rules.calm
    return not calm or rules.calm_pass == 1


@inner
def earns_extra(rules, row, cancelled):
    """Does the player throw again, the stages of his throw being used up?"""
    turn = np.int64(row[TURN])
    larger, smaller = dice_of(row)
    if rules.extra == NONE or larger != smaller or turn & HANDED or (turn & PLAYER) != (turn >> 1 & 1):
        return False
    if rules.extra == ONCE and turn & EXTRA:
        return False
    if rules.last_throw and is_last_throw(row):
        return False
    return not cancelled or rules.extra_if_cancelled == 1


@inner
def stage_done(rules, row, deeds):
    """The stage of a double is used up: the next stage, another throw, or the end of this one. In place."""
    turn = np.int64(row[TURN])
    owed = np.int64(row[OWED])
    value, last = owed >> 6 & 7, owed >> 12 & 7
    by_thrower = (turn & PLAYER) == (turn >> 1 & 1)
    cancelled = turn & GRACE and value < 6
    if last > value:
        thrower_out = occupied(row, 0 if by_thrower else 4) & OUTSIDE
        grace = rules.stop == GRACE_STOP and by_thrower and deeds & HOME_WITH_LAST
        if rules.stop == STOP_NO or thrower_out or grace:
            turn &= ~(3 << IDLE_SHIFT)
            if rules.head == PER_STAGE:
                turn &= ~(0xFF << HEAD_SHIFT)
            if not (rules.stop == STOP_NO or thrower_out):
                last = value + 1
                turn |= GRACE
            row[TURN] = np.uint32(turn)
            set_stage(row, value + 1, np.int64(4), last)
            return
        cancelled = True
    if earns_extra(rules, row, cancelled):
        throw_again(row)
    else:
        end_throw(rules, row)


@inner
def stuck(rules, before, row, deeds):
    """The player cannot use up the stage: the rest goes to the other player or is lost. In place."""
    turn = np.int64(row[TURN])
    owed = np.int64(row[OWED])
    moves = deeds & MOVES_MASK
    by_thrower = (turn & PLAYER) == (turn >> 1 & 1)
    if (owed & 7) == (owed >> 3 & 7):
        value, left, last = owed >> 6 & 7, (owed >> 9 & 7) - moves, owed >> 12 & 7
        if by_thrower and rules.stop != STOP_NO and not occupied(row, 0) & OUTSIDE:
            last = value
        set_stage(row, value, left, last)
    else:
        if deeds & USED_LARGER:
            owed &= ~LARGER_OWED
        if deeds & USED_SMALLER:
            owed &= ~SMALLER_OWED
        row[OWED] = np.uint32(owed - (moves << 9))
    if not (passes_on(rules, before, row, moves) and hand_over(rules, row, moves)):
        end_throw(rules, row)


@inlined
def surely_ends(rules, row, used_up):
    """Does a play that uses up the stage, or that does not, end the throw whatever else it does?

    Then nothing goes on, is handed over or earned, the mover was the thrower and his opponent throws next. Of
    a play that ends the game it says nothing.
    """
    turn, owed = np.int64(row[TURN]), np.int64(row[OWED])
    if rules.last_throw or turn & HANDED:
        return False
    double = (owed & 7) == (owed >> 3 & 7)
    if used_up:
        return not double or (rules.extra == NONE and (owed >> 12 & 7) <= (owed >> 6 & 7))
    return rules.completion == NONE or not (double or rules.scope_all)


@inner
def settle(rules, before, row, deeds):
    """Turn a bare play into the next state, in place.

    `before` is the state in which the play was made; `row` holds the position after it in the mover's view with
    every other word still as before; `deeds` says what the play did. Afterwards the row is in the view of whoever
    acts next, or finished with the winner as player.
    """
    turn = np.int64(row[TURN])
    player = turn & PLAYER
    if deeds & (BY_HIT | BY_MOTHER | BY_DRAW):
        outcome = WON_BY_HIT if deeds & BY_HIT else WON_BY_MOTHER if deeds & BY_MOTHER else DRAW
        finish(row, np.int64(outcome), player)
        return
    if not occupied(row, 0):
        if rules.last_throw and not occupied(row, 4):
            finish(row, np.int64(DRAW), player)
        elif rules.last_throw and player == (turn >> 2 & 1):
            row[TURN] = np.uint32(turn & STARTER | player | player << 1)
            pass_turn(row)
        else:
            finish(row, borne_off_outcome(row, 4), player)
        return
    if rules.head == PER_TURN or rules.head == PER_STAGE:
        left_head = count(before, 0, HEAD) - count(row, 0, HEAD)
        row[TURN] = np.uint32(turn + (left_head << HEAD_SHIFT))
    left = (np.int64(before[OWED]) >> 9 & 7) - (deeds & MOVES_MASK)
    if left:
        stuck(rules, before, row, deeds)
    elif (np.int64(row[OWED]) & 7) == (np.int64(row[OWED]) >> 3 & 7):
        stage_done(rules, row, deeds)
    else:
        end_throw(rules, row)
