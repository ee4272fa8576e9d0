"""Kinds of position that can have nets of their own: with contact, and the race after the sides have passed each other.

A race is what the inputs call one (`encoding.has_contact`). It stays one to the end of the game, since nobody can be
hit or pinned any more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import States
from nardy_rl.encoding import has_contact
from nardy_rl.jit import kernel
from nardy_rl.rules import NO_CONTACT, Rules, rules_of
from nardy_rl.variant import Variant

NETS = ("one", "kinds")  # a net for all positions, or one for each kind


@kernel
def _mark_races(rules, rows, race):
    for i in range(len(rows)):
        race[i] = rules.contact != NO_CONTACT and not has_contact(rules, rows[i])


def races(rules: Rules, states: States) -> NDArray[np.bool_]:
    """Which states uint32[N, 16] are races: bool[N]. Of finished ones it means nothing."""
    race = np.empty(len(states), np.bool_)
    _mark_races(rules, states, race)
    return race


def has_kinds(variant: Variant) -> bool:
    """Are there two kinds of position in the game? Only where hits or pins end with the contact."""
    return bool(rules_of(variant).contact != NO_CONTACT)
