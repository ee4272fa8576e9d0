"""Where the source documents tell of a game, and the readings chosen where they do not, from data/sources.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from nardy_rl.options import written
from nardy_rl.variant import Variant
from nardy_rl.variants import SOURCES, VARIANTS


@dataclass(frozen=True)
class Place:
    """A paragraph of a source document."""

    source: str  # the document's number
    heading: str
    english: str  # the heading in English
    paragraph: int

    def __str__(self) -> str:
        where = f"“{self.heading}” ({self.english})"
        return f"{SOURCES[self.source]} ({self.source}), {where}, paragraph {self.paragraph}"


@dataclass(frozen=True)
class Reading:
    """A reading chosen where the sources are silent or contradict themselves (⚑ on the rules page)."""

    title: str
    topic: str  # the statement of the rules it belongs to: a switch, or a word for what is none
    option: str  # the option that plays the other reading; empty if there is none
    games: tuple[str, ...]  # whose source is meant; empty: every game of which the statement is made
    page: int  # section of docs/rules.md
    silent: str  # what the source says and leaves open: a sentence
    chosen: str  # how it is read, and why: goes on after "read as: "
    otherwise: str  # the other reading: begins with "that"
    other: tuple[str, ...]  # values of the option that give it
    marks: tuple[str, ...]  # the marks on the page that it explains; "..." stands for anything in between


@cache
def _data() -> dict[str, Any]:
    text = files("nardy_rl.experiments").joinpath("data", "sources.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def all_readings() -> tuple[Reading, ...]:
    """Every reading, in the order of the rules page."""
    return tuple(
        Reading(
            title=entry["title"],
            topic=entry.get("topic", entry.get("option", "")),
            option=entry.get("option", ""),
            games=tuple(entry.get("games", ())),
            page=entry["page"],
            silent=entry["silent"],
            chosen=entry["chosen"],
            otherwise=entry["otherwise"],
            other=tuple(entry.get("other", ())),
            marks=tuple(entry["marks"]),
        )
        for entry in _data()["reading"]
    )


@cache
def _readings_by_game() -> dict[str, tuple[Reading, ...]]:
    """The readings of single games, by the game's id; under an empty id those of every game."""
    found: dict[str, tuple[Reading, ...]] = {}
    for reading in all_readings():
        for game in reading.games or ("",):
            found[game] = (*found.get(game, ()), reading)
    return found


def readings(variant: Variant, topic: str) -> list[Reading]:
    """The readings that a statement on this topic rests on in this game."""
    known = _readings_by_game()
    return [r for r in (*known.get(variant.id, ()), *known[""]) if r.topic == topic]


def value_text(value: Any) -> str:
    """The value of a switch as sources.toml has it."""
    return str(written(value)).replace("+", " ")


def places(variant: Variant, topic: str) -> list[Place]:
    """The paragraphs that tell a topic of a game, in the nearest section that does; none if no document does.

    A topic that is a switch must be told with the value that it has. Games of a user are told nowhere.
    """
    if topic in Variant.__dataclass_fields__:
        topic = f"{topic}={value_text(getattr(variant, topic))}"
    for name in _data()["told"].get(variant.id, ()) if variant.id in VARIANTS else ():
        section = _data()["section"][name]
        found = [
            Place(section["source"], section["heading"], section["english"], number)
            for number, topics in enumerate(section["tells"], 1)
            if topic in topics
        ]
        if found:
            return found
    return []
