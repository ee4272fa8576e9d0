"""The rules of one game as text for a person: its sentences, each with its source, and the readings they rest on.

Nothing here knows a game by name: a user's own variant gets its text as well. `rule_book` puts the rules together;
`rules_text` prints them for a terminal, and tools/game_pages.py writes them as a page of the documentation.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nardy_rl.experiments import rules_board, rules_end, rules_turn
from nardy_rl.experiments.rules_words import Paragraphs, Picture, Statement, listed, say
from nardy_rl.experiments.sources import Reading, places, readings, value_text
from nardy_rl.options import OPTIONS, options_of, written
from nardy_rl.position import Position
from nardy_rl.variant import Variant
from nardy_rl.variants import SOURCES, VARIANTS, variant_text

WIDTH = 92
PAGE = "docs/rules.md"
EXAMPLE, EXAMPLES = (3, 1), 4  # a throw from the start, and how many of its plays are shown
_DEFAULTS = {name: field.default for name, field in Variant.__dataclass_fields__.items()}


@dataclass(frozen=True)
class Paragraph:
    """A statement of the rules."""

    text: str
    topics: tuple[str, ...]
    references: tuple[int, ...]
    """Its sources, as numbers of `RuleBook.references`, the first of which is number 1."""
    readings: tuple[Reading, ...]
    """The readings it rests on (⚑); `reading_text` says them."""


@dataclass(frozen=True)
class RuleBook:
    """The whole rules of a game, ready to be laid out."""

    title: str
    short: str
    sections: tuple[tuple[str, tuple[Paragraph | Picture, ...]], ...]
    references: tuple[str, ...]


# ------------------------------------------------------------------------------------------------- putting together


def rule_book(variant: Variant) -> RuleBook:
    """Everything that holds in a game, section by section, with sources and readings."""
    sections = [(title, list(paragraphs)) for title, paragraphs in _sections(variant)]
    last_on = {t: s for _, some in sections for s in some if isinstance(s, Statement) for t in s.topics}
    references: dict[str, int] = {}

    def cited(statement: Statement) -> Paragraph:
        sources = [
            r for topic in statement.topics for r in _references(variant, topic, statement.page) if statement.page
        ]
        numbers = {references.setdefault(source, len(references) + 1) for source in sources}
        told = [r for topic in statement.topics if last_on[topic] is statement for r in readings(variant, topic)]
        return Paragraph(statement.text, statement.topics, tuple(sorted(numbers)), tuple(told))

    return RuleBook(
        title=f"{variant.name} ({variant.native})" if variant.native else variant.name,
        short=rules_board.in_short(variant),
        sections=tuple(
            (title, tuple(s if isinstance(s, Picture) else cited(s) for s in some)) for title, some in sections if some
        ),
        references=tuple(references),
    )


def _sections(v: Variant) -> Iterator[tuple[str, Paragraphs]]:
    """Titles and sentences, in the order of the text; a section may turn out empty."""
    opening = Position.start(v)
    yield "The board and the goal", rules_board.board(v)
    yield "The start", rules_board.start(v, _board_picture(opening))
    yield "Who begins", rules_board.opening(v)
    yield "A turn", rules_board.turn(v)
    yield "Where a checker may land", rules_board.landing(v)
    yield "The head", rules_turn.head(v)
    yield "Blocks", rules_turn.blocks(v)
    yield "Doubles", rules_turn.doubles(v)
    yield "What you cannot play", rules_turn.completion(v)
    yield "Bearing off", rules_end.bearing_off(v)
    yield "The end and the score", rules_end.score(v)
    yield "The cube", rules_end.cube(v)
    yield "Matches", rules_end.match(v)
    yield "How plays are written", _notation(opening)


def _board_picture(position: Position) -> str:
    """The board alone, without the lines about the game and whose turn it is."""
    return "\n".join(position.picture().splitlines()[2:-2])


def _notation(start: Position) -> Paragraphs:
    """How plays are written, with those of a first throw."""
    v = start.variant
    words = {"hit": ", bar for the bar and * for a hit", "pin": " and ^ for a pin", "none": ""}[v.contact]
    yield say(
        0,
        f"""A move is written FROM/TO by the mover's own numbers, with off for a checker that is borne off{words}; a (2)
        after it means two checkers. A play in which nothing can be moved is written pass.""",
        "notation",
    )  # fmt: skip
    if v.completion != "none":
        yield say(
            0,
            """What a play leaves for the other player to complete is written after it: owes=3x2,4x4 is two threes, then
            four fours.""",
            "notation",
        )  # fmt: skip
    if v.stop == "grace":
        yield say(0, "The word grace after a play says that the last checker came home with its last move.", "notation")
    thrown = start.throw(*EXAMPLE)
    plays = [thrown.move_text(after) for after in thrown.plays()]
    some = plays if len(plays) <= EXAMPLES else [*plays[: EXAMPLES - 1], f"{len(plays) - EXAMPLES + 1} more"]
    many = f"has {len(plays)} plays" if len(plays) > 1 else "has one play"
    yield say(
        0, f"From the start, O with a throw of {EXAMPLE[0]}-{EXAMPLE[1]} {many}: {listed(some, 'and')}.", "notation"
    )


def _default(variant: Variant, switch: str) -> Any:
    """The value of a switch in the table of games; for a user's game, that of backgammon."""
    return getattr(VARIANTS[variant.id], switch) if variant.id in VARIANTS else _DEFAULTS[switch]


def _references(variant: Variant, topic: str, page: int) -> list[str]:
    """What says so: an option that was set, the paragraphs of a source, or the rules page."""
    if variant.id in VARIANTS and topic in _DEFAULTS and getattr(variant, topic, None) != _default(variant, topic):
        return [f"the option {topic}={written(getattr(variant, topic))}, set for this text"]
    page_of_ours = f"{PAGE}, section {page}"
    if variant.id not in VARIANTS:
        return [page_of_ours]
    return [str(place) for place in places(variant, topic)] or [f"{page_of_ours}; told in no source document"]


def reading_text(variant: Variant, reading: Reading) -> str:
    """A reading as a paragraph: what is unclear, how it is read, and which option plays the other reading."""
    if not reading.option:
        return f"{reading.silent} Read as: {reading.chosen}. No option plays the other reading, {reading.otherwise}."
    default = f"{reading.option}={written(_default(variant, reading.option))}"
    others = [f"{reading.option}={value}" for value in reading.other]
    value = value_text(getattr(variant, reading.option))
    if f"{reading.option}={value}" == default.replace("+", " "):
        option = f"the option {' or '.join(others)}" if reading.option else "not an option"
        return f"{reading.silent} Read as: {reading.chosen}. The other reading, {reading.otherwise}, is {option}."
    return (
        f"{reading.silent} By default ({default}) it is read as: {reading.chosen}. Here "
        f"{reading.option}={written(getattr(variant, reading.option))} is set instead."
    )


# ------------------------------------------------------------------------------------------------- options


def options_table(variant: Variant) -> dict[str, dict[str, Any]]:
    """Every option of a game: `value` in force, `default` of the table, the `values` it may have, `help`."""
    base = VARIANTS.get(variant.id, variant)
    return {
        name: {
            "value": _plain(value),
            "default": _plain(getattr(base, name)),
            "values": [_plain(v) for v in OPTIONS[name].values] or None,
            "form": _values(name),
            "help": OPTIONS[name].help,
        }
        for name, value in options_of(variant).items()
    }


def _plain(value: Any) -> Any:
    """An option's value for JSON: flags and numbers as they are, the rest as the command line takes it."""
    return value if isinstance(value, bool | int) else written(value)


def _values(name: str) -> str:
    values = OPTIONS[name].values
    if len(values) > 10:
        return f"{values[0]} to {values[-1]}"
    if values:
        return ", ".join(written(v) for v in values)
    return {"pairs": "doubles such as 33-44-66, or none"}.get(name, "a game's id, or a layout such as 24:2+13:5")


def as_data(variant: Variant) -> dict[str, Any]:
    """The rules for a program: the keys of `nardy rules --json`, without the text for a terminal."""
    book = rule_book(variant)
    shown = [p for _, some in book.sections for p in some if isinstance(p, Paragraph)]
    return {
        "id": variant.id,
        "variant": variant_text(variant),
        "name": variant.name,
        "native": variant.native,
        "source": variant.source,
        "source_name": SOURCES[variant.source],
        "short": book.short,
        "sections": [
            {
                "title": title,
                "paragraphs": [
                    {"picture": p.text}
                    if isinstance(p, Picture)
                    else {"text": p.text, "topics": list(p.topics), "sources": list(p.references)}
                    for p in some
                ],
            }
            for title, some in book.sections
        ],
        "readings": [
            {
                "title": r.title,
                "topic": r.topic,
                "option": r.option or None,
                "default": _plain(_default(variant, r.option)) if r.option else None,
                "other": list(r.other),
                "text": reading_text(variant, r),
            }
            for p in shown
            for r in p.readings
        ],
        "sources": list(book.references),
        "options": options_table(variant),
    }


def source_text(variant: Variant) -> str:
    """Which document a game comes from."""
    return SOURCES[variant.source] + (f" ({variant.source})" if variant.source != "user" else "")


# ------------------------------------------------------------------------------------------------- for a terminal


def rules_text(variant: Variant) -> str:
    """The whole rules of a game, ready to print: in short, every rule in force, options, sources."""
    book = rule_book(variant)
    lines = [
        book.title,
        variant_text(variant),
        f"{variant.family} family  ·  source: {source_text(variant)}",
        "",
        *_wrapped(book.short),
    ]
    for title, paragraphs in book.sections:
        lines += ["", title.upper()]
        for paragraph in paragraphs:
            if isinstance(paragraph, Picture):
                lines += ["", *paragraph.text.splitlines(), ""]
                continue
            sources = f" [{', '.join(map(str, paragraph.references))}]" if paragraph.references else ""
            lines += _wrapped(paragraph.text + sources, "- ", "  ")
            for reading in paragraph.readings:
                lines += _wrapped(reading_text(variant, reading), "  ⚑ ", "    ")
    lines += ["", *_options_lines(variant, book), "", "SOURCES"]
    for number, reference in enumerate(book.references, 1):
        lines += _wrapped(reference, f"[{number}] ".rjust(5), "     ")
    return "\n".join(lines) + "\n"


def _wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def unclear_options(book: RuleBook) -> set[str]:
    """The options that play the other reading of something that the sources leave unclear in this game."""
    paragraphs = [p for _, some in book.sections for p in some if isinstance(p, Paragraph)]
    return {reading.option for p in paragraphs for reading in p.readings}


def _options_lines(variant: Variant, book: RuleBook) -> Iterator[str]:
    yield "OPTIONS"
    how = f"{variant.id}:NAME=VALUE,NAME=VALUE in place of {variant.id}"
    if variant.id not in VARIANTS:
        how = "NAME = VALUE in its file"
    yield from _wrapped(f"Other rules for this game: {how}. ⚑ marks an option that plays the other reading.")
    unclear = unclear_options(book)
    for name, option in options_table(variant).items():
        value, default = written(option["value"]), written(option["default"])
        mark = " ⚑" if name in unclear else ""
        changed = f"; by default {default}" if value != default else ""
        yield f"  {name}={value}{mark}"
        yield from _wrapped(f"{option['help']}: {option['form']}{changed}", "      ", "      ")
