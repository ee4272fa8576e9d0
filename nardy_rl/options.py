"""Rule options: their values, the games each applies to, and how they are read from text.

The names are those of the rules page (docs/rules.md, section 10). `classic:block=sport,koks=true` on the command
line and `with_options(variant, {"block": "sport", "koks": True})` from Python are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nardy_rl.errors import BadOption, did_you_mean
from nardy_rl.variant import CHOICES, Variant, changed, parse_layout

FLAG = (True, False)


@dataclass(frozen=True)
class Option:
    """A rule option. `values` are those it may have; `applies` says for which games it exists."""

    values: tuple[Any, ...]
    applies: Callable[[Variant], bool]
    help: str
    read: Callable[[str], Any] | None = None  # for values that are not a choice

    def value(self, name: str, given: Any) -> Any:
        """The value from text or Python; raises BadOption naming the values it may have."""
        if self.read is not None:
            return self.read(given)
        if self.values == FLAG and isinstance(given, str):
            given = {"true": True, "false": False}.get(given.lower(), given)
        elif isinstance(self.values[0], int) and isinstance(given, str) and given.isdecimal():
            given = int(given)
        if given not in self.values or isinstance(given, bool) is not (self.values == FLAG):
            choices = ", ".join(written(v) for v in self.values)
            raise BadOption(
                f"option {name}={given} must be one of {choices}{did_you_mean(str(given), map(str, self.values))}"
            )
        return given


def read_pairs(given: Any) -> tuple[int, ...]:
    """Doubles as `33-44-66`, `none`, or a sequence of numbers from 1 to 6."""
    if isinstance(given, str):
        words = [] if given in ("none", "") else given.split("-")
        if any(len(w) != 2 or w[0] != w[1] for w in words):
            raise BadOption(f"option pairs={given} must be doubles such as 33-44-66, or none")
        given = [int(w[0]) if w[0].isdecimal() else 0 for w in words]
    numbers = tuple(sorted({int(v) for v in given}))
    if any(not 1 <= v <= 6 for v in numbers):
        raise BadOption(f"option pairs={given} must be doubles from 11 to 66, such as 33-44-66")
    return numbers


def read_start(given: Any) -> str:
    """A start layout: `24:2+13:5`, with + or spaces between, or the name of a game whose layout to take."""
    from nardy_rl.variants import VARIANTS

    text = str(given).replace("+", " ")
    if text in VARIANTS:
        return VARIANTS[text].start
    if ":" not in text:
        raise BadOption(f"option start={text} is neither a game nor a layout{did_you_mean(text, VARIANTS)}")
    parse_layout(text)
    return text


def written(value: Any) -> str:
    """An option's value as the command line takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "-".join(f"{v}{v}" for v in value) or "none"
    return str(value).replace(" ", "+")


def _progresses(v: Variant) -> bool:
    return v.doubles == "progression"


def _completes(v: Variant) -> bool:
    return v.completes


def _heads(v: Variant) -> bool:
    return v.head in ("turn", "stage")


OPTIONS: dict[str, Option] = {
    "opening": Option(CHOICES["opening"], lambda v: True, "does the starter play the opening dice or throw anew"),
    "start": Option((), lambda v: v.hit_wins or v.source == "user", "the start layout", read_start),
    "stack": Option((24, 1), lambda v: v.stack > 0, "where the stack of four stands"),
    "bearoff": Option(CHOICES["bearoff"], lambda v: True, "may a larger die bear off from the highest point"),
    "pairs": Option((), _heads, "first doubles with which two may leave the head", read_pairs),
    "pairs_who": Option(CHOICES["pairs_who"], _heads, "who has that allowance"),
    "block": Option(CHOICES["block"], lambda v: v.parallel, "which blocks of six are illegal"),
    "freeze": Option(CHOICES["freeze"], lambda v: v.parallel, "when no checker moves inside the home"),
    "calm": Option(CHOICES["calm"], _progresses, "throws before a progression comes into force"),
    "stop": Option(CHOICES["stop"], _progresses, "does a progression stop when all checkers are home"),
    "full_move": Option(CHOICES["full_move"], _progresses, "does the full-move rule bind a stage or the whole"),
    "completion": Option(CHOICES["completion"], _completes, "does the opponent play what was left"),
    "completion_scope": Option(CHOICES["completion_scope"], _completes, "of which throws"),
    "void": Option(FLAG, _completes, "a double that cannot be started passes nothing on"),
    "calm_pass": Option(FLAG, lambda v: v.completes and _progresses(v), "do calm doubles pass on what was left"),
    "home_completer_plays": Option(FLAG, _completes, "does a completer play when all his checkers are home"),
    "extra": Option(CHOICES["extra"], _completes, "another throw after a double fully played"),
    "extra_if_cancelled": Option(FLAG, lambda v: v.extra != "none", "also when higher stages were cancelled"),
    "bound_off": Option(CHOICES["bound_off"], lambda v: v.bound, "when a bound checker may be borne off"),
    "bound_hide": Option(CHOICES["bound_hide"], lambda v: v.bound, "where a bound checker may not hide"),
    "sides": Option(
        CHOICES["sides"],
        lambda v: bool(v.start_other),
        "who has the standard side: drawn, the starter, the other",
    ),
    "last_throw": Option(FLAG, lambda v: v.parallel, "one more throw when the starter bears off first"),
    "koks": Option(FLAG, lambda v: v.parallel and v.score == "oin/mars", "3 when the loser stands on 19 to 24"),
    "jacoby": Option(FLAG, lambda v: v.cube and v.score == "bg", "gammons count only once the cube was turned"),
    "beavers": Option(FLAG, lambda v: v.cube, "the taker may redouble at once and keep the cube"),
    "crawford": Option(FLAG, lambda v: v.cube, "no cube in the first game at match point"),
    "cube_cap": Option(CHOICES["cube_cap"], lambda v: v.cube, "the highest value of the cube"),
}


def options_of(variant: Variant) -> dict[str, Any]:
    """The options that apply to a game, with the values in force."""
    return {name: getattr(variant, name) for name, option in OPTIONS.items() if option.applies(variant)}


def with_options(variant: Variant, given: Mapping[str, Any]) -> Variant:
    """The same game with options replaced; raises BadOption for one that is unknown or does not apply."""
    values = {name: OPTIONS[name].value(name, value) for name, value in given.items() if name in OPTIONS}
    after = changed(variant, values)
    for name in given:
        if name not in OPTIONS:
            raise BadOption(f"unknown option {name!r} of {variant.id}{did_you_mean(name, options_of(variant))}")
        if not OPTIONS[name].applies(variant) and not OPTIONS[name].applies(after):
            known = ", ".join(options_of(variant))
            raise BadOption(f"option {name!r} does not apply to {variant.id}: its options are {known}")
    return after
