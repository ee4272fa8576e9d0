"""A game as data: the switches of the rules page, and which of them contradict each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from nardy_rl.errors import BadOption, did_you_mean

BACKGAMMON_START = "24:2 13:5 8:3 6:5"

# The values that a switch may have, where they can be counted. Any other value is refused.
CHOICES: dict[str, tuple[Any, ...]] = {
    "family": ("short", "long", "plakoto"),
    "contact": ("hit", "pin", "none"),
    "stack": (0, 24, 1),
    "random_start": (0, 1, 2),
    "opening": ("dice", "reroll"),
    "bearoff": ("standard", "exact"),
    "head": ("free", "turn", "stage", "runner"),
    "pairs_who": ("both", "second"),
    "block": ("none", "classic", "sport", "fevga"),
    "freeze": ("never", "bearoff", "always"),
    "doubles": ("plain", "progression"),
    "calm": tuple(range(101)),
    "stop": ("no", "stop", "grace"),
    "full_move": ("stage", "whole"),
    "completion": ("none", "once", "ping-pong"),
    "completion_scope": ("doubles", "all"),
    "extra": ("none", "once", "unlimited"),
    "bound_off": ("die", "play"),
    "bound_hide": ("landing", "end"),
    "sides": ("coin", "first", "second"),
    "score": ("bg", "oin/mars", "plakoto", "one", "left"),
    "cube_cap": (1, 2, 4, 8, 16, 32, 64),
}


@dataclass(frozen=True)
class Variant:
    """One game. The defaults are international backgammon; a game of the table states only what differs.

    Points are in their owner's numbering: 24 is farthest, 1 the last; `off` and `bar` are the other places.
    Switches that do not exist in this form, or contradict each other, raise BadOption when the variant is made.
    """

    id: str
    name: str
    native: str = ""  # the name in the source's language
    source: str = "001"  # which source document; see docs/rules.md
    family: str = "short"  # short, long or plakoto: which baselines and inputs fit
    status: str = "exact rules, trained player"

    parallel: bool = False  # do both sides travel the same way round
    contact: str = "hit"  # hit, pin or none: what a lone enemy checker allows
    start: str = BACKGAMMON_START
    start_other: str = ""  # the second side's start where it differs
    stack: int = 0  # 24 or 1: where the stack of a start in both readings stands
    start_stack_1: str = ""  # the start for stack = 1
    random_start: int = 0  # smallest stack of a random start; 0: the start is fixed
    opening: str = "dice"  # dice, reroll
    bearoff: str = "standard"  # standard, exact

    head: str = "free"  # turn, stage, free or runner: how many checkers may leave point 24
    pairs: tuple[int, ...] = ()  # first doubles with which two may leave the head
    pairs_who: str = "both"  # both, second
    block: str = "none"  # none, classic, sport, fevga
    freeze: str = "never"  # never, bearoff, always

    doubles: str = "plain"  # plain, progression
    calm: int = 0  # throws of a player before a progression comes into force
    stop: str = "no"  # no, stop, grace
    full_move: str = "stage"  # stage, whole
    completes: bool = False  # does the game know completion and extra throws at all
    completion: str = "none"  # none, once, ping-pong
    completion_scope: str = "doubles"  # doubles, all
    void: bool = False
    calm_pass: bool = False
    home_completer_plays: bool = True
    extra: str = "none"  # none, once, unlimited
    extra_if_cancelled: bool = False

    mother: bool = False  # does a pinned mother end the game
    hit_wins: bool = False  # does the first hit end the game
    bound: bool = False  # is a checker that hits at home bound
    bound_off: str = "die"  # die, play
    bound_hide: str = "landing"  # landing, end
    sides: str = "coin"  # coin, first, second: who has `start` when `start_other` differs

    score: str = "bg"  # bg, oin/mars, plakoto, one, left
    koks: bool = False
    last_throw: bool = False
    cube: bool = True
    jacoby: bool = False
    beavers: bool = False
    crawford: bool = True
    cube_cap: int = 64

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", self.id):
            raise BadOption(f"id={self.id!r} must be one word of letters, digits, - and _, as in short-nardy")
        for switch, values in CHOICES.items():
            value = getattr(self, switch)
            if value not in values or isinstance(value, bool):
                among = f"from {values[0]} to {values[-1]}" if switch == "calm" else f"one of {listed(values)}"
                near = did_you_mean(str(value), map(str, values))
                raise BadOption(f"{self.id}: {switch}={value} must be {among}{near}")
        if any(type(double) is not int or not 1 <= double <= 6 for double in self.pairs):
            raise BadOption(f"{self.id}: pairs={list(self.pairs)} must be a list of numbers from 1 to 6")
        for switch, needs, wanted in _CONTRADICTIONS:
            value = getattr(self, switch)
            if value != _DEFAULTS[switch] and not wanted(self):
                raise BadOption(f"{self.id}: {switch}={value!r} needs {needs}")
        for sentence, holds in _DEMANDS:
            if not holds(self):
                raise BadOption(f"{self.id}: {sentence}")
        self._check_start()

    def _check_start(self) -> None:
        sides = self.layouts  # raises for what is no layout
        if sum(sides[0]) != sum(sides[1]):
            raise BadOption(f"{self.id}: the two sides start with {sum(sides[0])} and {sum(sides[1])} checkers")
        if self.random_start and sum(sides[0]) != 15:
            raise BadOption(f"{self.id}: a random start has 15 checkers, not {sum(sides[0])}")
        for side in sides:
            if side[25] and self.contact != "hit":
                raise BadOption(f"{self.id}: a checker starts on the bar, which needs contact='hit'")
            if side[0] == sum(side):
                raise BadOption(f"{self.id}: the start has no checker on the board")
        for point in range(1, 25):
            other = point + (12 if point <= 12 else -12) if self.parallel else 25 - point
            if sides[0][point] and sides[1][other]:
                raise BadOption(
                    f"{self.id}: both sides start on one point, {point} of the one and {other} of the other"
                )

    @property
    def layouts(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The two start layouts, 26 counts each: of the first (standard) side and of the other."""
        first = parse_layout(self.start_stack_1 if self.stack == 1 else self.start)
        return first, parse_layout(self.start_other) if self.start_other else first

    @property
    def checkers(self) -> int:
        """Checkers of each side."""
        return sum(self.layouts[0])


def listed(values: Sequence[Any]) -> str:
    """Values as a message lists them."""
    return ", ".join(map(str, values))


# A switch that is not at its default, what it needs, and whether that is there.
_CONTRADICTIONS: list[tuple[str, str, Callable[[Any], bool]]] = [
    ("pairs", "a head allowance per turn or stage", lambda v: v.head in ("turn", "stage")),
    ("pairs_who", "pairs", lambda v: bool(v.pairs)),
    ("block", "parallel play without contact", lambda v: v.parallel and v.contact == "none"),
    ("freeze", "parallel play without contact", lambda v: v.parallel and v.contact == "none"),
    ("calm", "doubles that are a progression", lambda v: v.doubles == "progression"),
    ("stop", "doubles that are a progression", lambda v: v.doubles == "progression"),
    ("full_move", "doubles that are a progression", lambda v: v.doubles == "progression"),
    ("completion", "a game that knows completion", lambda v: v.completes),
    ("extra", "a game that knows completion", lambda v: v.completes),
    ("completion_scope", "completion", lambda v: v.completion != "none"),
    ("void", "completion", lambda v: v.completion != "none"),
    ("calm_pass", "completion and calm throws", lambda v: v.completion != "none" and v.calm > 0),
    ("home_completer_plays", "completion", lambda v: v.completion != "none"),
    ("extra_if_cancelled", "an extra throw", lambda v: v.extra != "none"),
    ("mother", "contact 'pin'", lambda v: v.contact == "pin"),
    ("hit_wins", "contact 'hit'", lambda v: v.contact == "hit"),
    ("bound", "contact 'hit'", lambda v: v.contact == "hit"),
    ("bound_off", "bound", lambda v: v.bound),
    ("bound_hide", "bound", lambda v: v.bound),
    ("sides", "two different starts", lambda v: bool(v.start_other)),
    ("koks", "score 'oin/mars'", lambda v: v.score == "oin/mars"),
    ("last_throw", "parallel play", lambda v: v.parallel),
    ("jacoby", "a cube and score 'bg'", lambda v: v.cube and v.score == "bg"),
    ("beavers", "a cube", lambda v: v.cube),
    ("crawford", "a cube", lambda v: v.cube),
    ("cube_cap", "a cube", lambda v: v.cube),
]
# What holds of every game, whatever its defaults, and the sentence if it does not.
_DEMANDS: list[tuple[str, Callable[[Variant], bool]]] = [
    ("parallel play and family='long' go together", lambda v: v.parallel is (v.family == "long")),
    ("contact='pin' and family='plakoto' go together", lambda v: (v.contact == "pin") is (v.family == "plakoto")),
    ("parallel play needs contact='none'", lambda v: not v.parallel or v.contact == "none"),
    ("head='runner' needs parallel play", lambda v: v.head != "runner" or v.parallel),
    ("a random start is one for both sides", lambda v: not (v.random_start and (v.start_other or v.stack))),
    ("a random start needs contrary play, parallel=false", lambda v: not (v.random_start and v.parallel)),
    ("stack and start_stack_1 go together", lambda v: (v.stack > 0) is bool(v.start_stack_1)),
    ("stack is for a start that both sides have", lambda v: not (v.stack and v.start_other)),
]
_DEFAULTS = {name: field.default for name, field in Variant.__dataclass_fields__.items()}


def changed(variant: Variant, values: Mapping[str, Any]) -> Variant:
    """The variant with switches replaced; those that lose their meaning by it fall back to their defaults.

    Without completion, say, its scope says nothing any more. A switch that is given itself is never dropped:
    a contradiction raises BadOption.
    """
    fields = {name: getattr(variant, name) for name in _DEFAULTS} | dict(values)
    trial = SimpleNamespace(**fields)
    for switch, _, wanted in _CONTRADICTIONS:
        if switch not in values and not wanted(trial):
            fields[switch] = _DEFAULTS[switch]
    return Variant(**fields)


def parse_layout(text: str) -> tuple[int, ...]:
    """Counts of a layout such as `24:2 13:5 bar:1` (26 numbers: off, points 1..24, bar)."""
    counts = [0] * 26
    for word in text.split():
        point, _, number = word.partition(":")
        place = {"off": 0, "bar": 25}.get(point, int(point) if point.isdecimal() else -1)
        if not 0 <= place <= 25 or not number.isdecimal() or counts[place]:
            raise BadOption(f"layout {text!r}: {word!r} is not POINT:NUMBER, or the point is named twice")
        counts[place] = int(number)
    if not 1 <= sum(counts) <= 15:
        raise BadOption(f"layout {text!r} has {sum(counts)} checkers; a side has 1 to 15")
    return tuple(counts)


def layout_text(counts: tuple[int, ...]) -> str:
    """A layout as text, farthest point first; the inverse of `parse_layout`."""
    names = {0: "off", 25: "bar"}
    return " ".join(f"{names.get(d, d)}:{counts[d]}" for d in range(25, -1, -1) if counts[d])
