"""The table of the 25 games, each from its source, and how a game is named on the command line or in a file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from nardy_rl.errors import BadOption, UnknownVariant, did_you_mean
from nardy_rl.options import options_of, with_options, written
from nardy_rl.variant import Variant

SOURCES = {
    "000": "Armenian source",
    "001": "Georgian source",
    "002": "Russian source",
    "004": "Ukrainian source",
    "user": "user's own definition",
}
TRAINED = "exact rules, trained player"

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
        Variant("classic", "Long nardy, classic", "Դասական", status=TRAINED, **LONG),
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
        Variant("backgammon", "Backgammon", "Короткі нарди", source="004", status=TRAINED),
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
        Variant("plakoto", "Plakoto", "პლაკოტო", status=TRAINED, **PLAKOTO),
        Variant("plakoto-express", "Plakoto express", "გიჟური პლაკოტო", **PLAKOTO | COMPLETES | CALM),
    )
}  # fmt: skip


def parse_variant(text: str) -> Variant:
    """The game that a text names: an id, an id with options (`classic:block=sport`), or a TOML file.

    Raises UnknownVariant with the nearest id, or BadOption.
    """
    if text.endswith(".toml"):
        return read_variant(Path(text))
    name, _, tail = text.partition(":")
    if name not in VARIANTS:
        raise UnknownVariant(f"unknown variant {name!r}{did_you_mean(name, VARIANTS)}; `nardy variants` lists all")
    given: dict[str, str] = {}
    for word in tail.split(",") if tail else ():
        option, equals, value = word.partition("=")
        if not equals or not value:
            raise BadOption(f"option {word!r} of {name} must be written NAME=VALUE, as in {name}:bearoff=exact")
        if option in given:
            raise BadOption(f"option {option!r} of {name} is given twice")
        given[option] = value
    return with_options(VARIANTS[name], given)


def variant_text(variant: Variant) -> str:
    """The id with every option that differs from the table's entry; `parse_variant` reads it back."""
    base = VARIANTS.get(variant.id)
    if base is None:
        return variant.id
    changed = [f"{k}={written(v)}" for k, v in options_of(variant).items() if v != getattr(base, k)]
    return f"{variant.id}:{','.join(changed)}" if changed else variant.id


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
    base = data.pop("base", "backgammon")
    if base not in VARIANTS:
        raise UnknownVariant(f"{path}: unknown base {base!r}{did_you_mean(str(base), VARIANTS)}")
    fields = Variant.__dataclass_fields__
    values = {name: getattr(VARIANTS[base], name) for name in fields}
    values |= {"id": path.stem, "name": path.stem, "native": "", "source": "user", "status": "user's own"}
    for name, value in data.items():
        if name not in fields or name in ("source", "status"):
            raise BadOption(f"{path}: unknown switch {name!r}{did_you_mean(name, fields)}")
        value = tuple(value) if isinstance(value, list) else value
        if type(value) is not type(values[name]):
            raise BadOption(f"{path}: {name}={value!r} must be a {type(values[name]).__name__}")
        values[name] = value
    return Variant(**values)
