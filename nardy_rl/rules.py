"""`Rules`: what a kernel needs to know of a game, as a tuple of whole numbers.

One compilation serves all games, because the rules are an argument. Games that differ only in their start or
their scoring have equal Rules.
"""

from __future__ import annotations

from typing import NamedTuple

from nardy_rl.variant import Variant

NO_CONTACT, HIT, PIN = 0, 1, 2
FREE, PER_TURN, PER_STAGE, RUNNER = 0, 1, 2, 3
NO_BLOCK, CLASSIC, SPORT, FEVGA = 0, 1, 2, 3
NEVER, BEAROFF, ALWAYS = 0, 1, 2
STOP_NO, STOP, GRACE_STOP = 0, 1, 2
NONE, ONCE, PING_PONG, UNLIMITED = 0, 1, 2, 2


class Rules(NamedTuple):
    """Switches of a game for the kernels; every field is an int, flags are 0 or 1."""

    parallel: int  # do both sides travel the same way round
    contact: int  # NO_CONTACT, HIT, PIN
    head: int  # FREE, PER_TURN, PER_STAGE, RUNNER
    pairs: int  # bit d set: two may leave the head on a first double d
    pairs_second: int  # only the second player has that allowance
    block: int  # NO_BLOCK, CLASSIC, SPORT, FEVGA
    exact: int  # bear off only from the point of the die
    freeze: int  # NEVER, BEAROFF, ALWAYS
    progression: int
    calm: int
    stop: int  # STOP_NO, STOP, GRACE_STOP
    whole: int  # the full-move rule binds the whole progression
    completion: int  # NONE, ONCE, PING_PONG
    scope_all: int  # not only doubles are completed
    void: int
    calm_pass: int
    home_completer_plays: int
    extra: int  # NONE, ONCE, UNLIMITED
    extra_if_cancelled: int
    mother: int
    hit_wins: int
    bound: int
    bound_off_play: int
    bound_hide_end: int
    last_throw: int
    plain: int  # every stage is a whole throw and nothing is ever passed on or thrown again
    opening_reroll: int


def rules_of(v: Variant) -> Rules:
    """The kernel's view of a variant."""
    return Rules(
        parallel=int(v.parallel),
        contact=("none", "hit", "pin").index(v.contact),
        head=("free", "turn", "stage", "runner").index(v.head),
        pairs=sum(1 << d for d in v.pairs),
        pairs_second=int(v.pairs_who == "second"),
        block=("none", "classic", "sport", "fevga").index(v.block),
        exact=int(v.bearoff == "exact"),
        freeze=("never", "bearoff", "always").index(v.freeze),
        progression=int(v.doubles == "progression"),
        calm=v.calm,
        stop=("no", "stop", "grace").index(v.stop),
        whole=int(v.full_move == "whole"),
        completion=("none", "once", "ping-pong").index(v.completion),
        scope_all=int(v.completion_scope == "all"),
        void=int(v.void),
        calm_pass=int(v.calm_pass),
        home_completer_plays=int(v.home_completer_plays),
        extra=("none", "once", "unlimited").index(v.extra),
        extra_if_cancelled=int(v.extra_if_cancelled),
        mother=int(v.mother),
        hit_wins=int(v.hit_wins),
        bound=int(v.bound),
        bound_off_play=int(v.bound_off == "play"),
        bound_hide_end=int(v.bound_hide == "end"),
        last_throw=int(v.last_throw),
        plain=int(v.doubles == "plain" and v.completion == "none" and v.extra == "none" and not v.last_throw),
        opening_reroll=int(v.opening == "reroll"),
    )
