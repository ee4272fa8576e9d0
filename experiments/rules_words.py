"""What the sentences of the rules are made of: statements, pictures, and how numbers are said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_WORDS = ("no", "one", "two", "three", "four", "five", "six")


@dataclass(frozen=True)
class Statement:
    """One paragraph of the rules.

    `topics` are what it is about: switches of the variant, or words of their own for what no game changes. They lead to
    its sources and to the readings it rests on. `page` is the section of docs/rules.md that says it exactly; 0: none.
    """

    text: str
    topics: tuple[str, ...]
    page: int


@dataclass(frozen=True)
class Picture:
    """Lines that are shown as they are."""

    text: str


Paragraphs = Iterator[Statement | Picture]


def say(page: int, text: str, *topics: str) -> Statement:
    """A statement; the text may be given with line breaks and indentation."""
    return Statement(" ".join(text.split()), topics, page)


def number(n: int) -> str:
    """A number as a word if it is small."""
    return _WORDS[n] if n < len(_WORDS) else str(n)


def listed(words: list[str], joint: str) -> str:
    """`a, b or c`."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" {joint} " + words[-1]
