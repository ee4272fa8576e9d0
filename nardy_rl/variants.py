"""The table of the 25 games, each from its source, and how a game is named on the command line or in a file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, unquote_plus

from nardy_rl.errors import BadOption, UnknownVariant, did_you_mean
from nardy_rl.options import options_of, read_pairs, with_options, written
from nardy_rl.variant import Variant

SOURCES = {
    "000": "Armenian source",
    "001": "Georgian source",
    "002": "Russian source",
    "004": "Ukrainian source",
    "user": "user's own definition",
}

# What the long games share, stated once; each entry below adds its own differences.
LONG: dict[str, Any] = dict(
    family="long", parallel=True, contact="none", start="24:15", opening="reroll", head="turn",
    pairs=(3, 4, 6), block="classic", score="oin/mars", cube=False, source="000",
)  # fmt: skip
COMPLETES: dict[str, Any] = dict(completes=True, completion="once")
GULBAR: dict[str, Any] = LONG | COMPLETES | dict(extra="once")
CRAZY: dict[str, Any] = LONG | COMPLETES | dict(doubles="progression", head="stage", bearoff="exact")
PING_PONG: dict[str, Any] = CRAZY | dict(
    source="002", stop="grace", completion="ping-pong", completion_scope="all", freeze="bearoff"
)  # fmt: skip
KHACHAPURI: dict[str, Any] = LONG | dict(start="24:4 6:11", head="free", pairs=())
FEVGA: dict[str, Any] = LONG | dict(head="runner", pairs=(), block="fevga")
CALM: dict[str, Any] = dict(doubles="progression", calm=5, stop="stop", void=True)
PLAKOTO: dict[str, Any] = dict(
    family="plakoto", contact="pin", start="24:15", opening="reroll", mother=True, score="plakoto", cube=False
)  # fmt: skip

VARIANTS: dict[str, Variant] = {
    v.id: v
    for v in (
        Variant("classic", "Long nardy, classic", "Դասական", **LONG),
        Variant("long-nardy", "Long nardy", "Довгі нарди", **LONG | dict(source="004", opening="dice")),
        Variant(
            "sport", "Sport nardy", "Սպորտային", **LONG | dict(opening="dice", pairs_who="second", block="sport")
        ),
        Variant("gulbar", "Gulbar", "Գյուլբար", **GULBAR),
        Variant(
            "crazy-gulbar", "Crazy gulbar", "Խելագար գյուլբար",
            **CRAZY | dict(head="turn", pairs=(1, 3, 4, 6), stop="grace", freeze="bearoff"),
        ),
        Variant("crazy", "Crazy nardy", "Խելագարներ", **CRAZY | CALM | dict(freeze="always")),
        Variant(
            "crazy-v1", "Crazy nardy, first version", "Бешеные нарды, первый вариант",
            **PING_PONG | dict(extra="unlimited", bearoff="standard", freeze="never"),
        ),
        Variant("crazy-v2", "Crazy nardy, second version", "Бешеные нарды, второй вариант", **PING_PONG),
        Variant("crazy-v3", "Crazy nardy, third version", "Бешеные нарды, третий вариант", **PING_PONG),
        Variant("khachapuri", "Khachapuri", "Խաչապուրի", **KHACHAPURI | COMPLETES | dict(extra="once", score="left")),
        Variant("tbilisi", "Tbilisi nardy", "Թբիլիսյան", **KHACHAPURI),
        Variant("fevga", "Fevga", "Fevga — Շտապել", **FEVGA),
        Variant("giul", "Giul", "Fevga խելագար — Giul", **FEVGA | COMPLETES | CALM),
        Variant("backgammon", "Backgammon", "Короткі нарди", source="004"),
        Variant("caucasian", "Caucasian backgammon", "კავკასიური", bound=True),
        Variant("nackgammon", "Nackgammon", "ნაკგამონი", start="24:2 23:2 13:4 8:3 6:4"),
        Variant("hyper", "Hypergammon", "ჰიპერ", start="24:1 23:1 22:1", score="one"),
        Variant("longgammon", "Longgammon", "ლონგგამონი", start="24:15"),
        Variant("randgammon-1", "Randgammon 1, with blots", "რანდგამონი–1", random_start=1),
        Variant("randgammon-2", "Randgammon 2, without blots", "რანდგამონი–2", random_start=2),
        Variant(
            "shootout", "Shootout", "სროლა", stack=24,
            start="24:4 22:1 20:1 18:1 16:1 14:1 12:1 10:1 8:1 6:1 4:1 2:1",
            start_stack_1="1:4 3:1 5:1 7:1 9:1 11:1 13:1 15:1 17:1 19:1 21:1 23:1",
        ),
        Variant("sudden-death", "Sudden death", "სროლა ადგილზე", hit_wins=True, score="one", cube=False),
        Variant("snake", "Snake", "გველუკა", start_other="bar:9 24:2 23:2 22:2"),
        Variant("plakoto", "Plakoto", "პლაკოტო", **PLAKOTO),
        Variant("plakoto-express", "Plakoto express", "გიჟური პლაკოტო", **PLAKOTO | COMPLETES | CALM),
    )
}  # fmt: skip


def parse_variant(text: str) -> Variant:
    """The game that a text names: an id, an id with options (`classic:block=sport`), or a TOML file.

    A game of one's own can also be written out, as `variant_definition` does it:
    `short-nardy@classic:start=24:7,pairs=none`. Raises UnknownVariant with the nearest id, or BadOption.
    """
    if text.endswith(".toml"):
        return read_variant(Path(text))
    name, _, tail = text.partition(":")
    given: dict[str, str] = {}
    for word in tail.split(",") if tail else ():
        option, equals, value = word.partition("=")
        if not equals or not value:
            raise BadOption(f"option {word!r} of {name} must be written NAME=VALUE, as in {name}:bearoff=exact")
        if option in given:
            raise BadOption(f"option {option!r} of {name} is given twice")
        given[option] = value
    own, at, base = name.partition("@")
    if at:
        return _own_variant(own, base, {option: _read_switch(option, value) for option, value in given.items()})
    if name not in VARIANTS:
        raise UnknownVariant(f"unknown variant {name!r}{did_you_mean(name, VARIANTS)}; `nardy variants` lists all")
    return with_options(VARIANTS[name], given)


def variant_text(variant: Variant) -> str:
    """A game's name on one line: its id, with every option that differs from the table's entry.

    `parse_variant` reads it back for the games of the table; `variant_definition` is for all.
    """
    base = VARIANTS.get(variant.id)
    if base is None:
        return variant.id
    changed = [f"{k}={written(v)}" for k, v in options_of(variant).items() if v != getattr(base, k)]
    return f"{variant.id}:{','.join(changed)}" if changed else variant.id


def variant_definition(variant: Variant) -> str:
    """A game written out in one word, so that `parse_variant` makes the same variant of it.

    For a game of the table that is `variant_text`. Any other is its id, the nearest game of the table, and every
    switch that differs from that game's: `short-nardy@classic:start=24:7,pairs=none`.
    """
    if variant.id in VARIANTS:
        return variant_text(variant)

    def differing(base: str) -> list[str]:
        usual = _own_switches(variant.id, base)
        return [name for name in usual if getattr(variant, name) != usual[name]]

    base = min(VARIANTS, key=lambda name: len(differing(name)))
    words = ",".join(f"{name}={_written_switch(getattr(variant, name))}" for name in differing(base))
    return f"{variant.id}@{base}:{words}" if words else f"{variant.id}@{base}"


def read_variant(path: Path) -> Variant:
    """A user's own game from a TOML file: `id`, `name`, optionally `base` (a game to start from), and switches.

    Raises UnknownVariant if the file cannot be read and BadOption for switches that do not exist or fit.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UnknownVariant(f"cannot read the variant file {str(path)!r}: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise UnknownVariant(f"{str(path)!r} is no TOML file: {error}") from None
    for name in ("source", "status"):
        if name in data:
            raise BadOption(f"{path}: unknown switch {name!r}: it says where the package's own games come from")
    base, own = data.pop("base", "backgammon"), data.pop("id", path.stem)
    switches = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
    try:
        return _own_variant(own, base, switches)
    except (BadOption, UnknownVariant) as error:
        raise type(error)(f"{path}: {error}") from None


def _own_switches(name: str, base: str) -> dict[str, Any]:
    """All switches of a game that is not of the table, before any is changed."""
    values = {switch: getattr(VARIANTS[base], switch) for switch in Variant.__dataclass_fields__ if switch != "id"}
    return values | {"name": name, "native": "", "source": "user", "status": "user's own"}


def _own_variant(name: Any, base: Any, switches: Mapping[str, Any]) -> Variant:
    """A game that is not of the table: the base with switches of the right types replaced."""
    if not isinstance(name, str) or name in VARIANTS:
        raise BadOption(f"id={name!r} must be a word that is no game of the table: give your game another id")
    if base not in VARIANTS:
        raise UnknownVariant(f"unknown base {base!r}{did_you_mean(str(base), VARIANTS)}; `nardy variants` lists all")
    values = _own_switches(name, base)
    for switch, value in switches.items():
        if switch not in values:
            raise BadOption(f"unknown switch {switch!r}{did_you_mean(switch, values)}")
        if type(value) is not type(values[switch]):
            raise BadOption(f"{switch}={value!r} must be {_KINDS[type(values[switch])]}")
        values[switch] = value
    return Variant(id=name, **values)


_KINDS = {bool: "true or false", int: "a whole number", str: "a text", tuple: "a list of doubles such as [3, 4, 6]"}


def _written_switch(value: Any) -> str:
    return quote_plus(value, safe=":/") if isinstance(value, str) else written(value)


def _read_switch(switch: str, text: str) -> Any:
    """A switch's value from the text that `_written_switch` makes of it."""
    usual = Variant.__dataclass_fields__[switch].default if switch in Variant.__dataclass_fields__ else ""
    if isinstance(usual, bool):
        return {"true": True, "false": False}.get(text, text)
    if isinstance(usual, int):
        return int(text) if text.isdecimal() else text
    if isinstance(usual, tuple):
        return read_pairs(text)
    return unquote_plus(text)
