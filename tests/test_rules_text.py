"""The rules as people read them: whole, cited, with every option and every reading, for any game that switches make."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nardy_rl.errors import BadOption
from nardy_rl.experiments.cli import run
from nardy_rl.experiments.rules_text import PAGE, WIDTH, Paragraph, RuleBook, rule_book, rules_text, unclear_options
from nardy_rl.experiments.rules_words import Picture
from nardy_rl.experiments.sources import _data, all_readings, places
from nardy_rl.options import OPTIONS, options_of, with_options, written
from nardy_rl.position import Position
from nardy_rl.variant import Variant, changed
from nardy_rl.variants import VARIANTS, parse_variant, read_variant

ROOT = Path(__file__).resolve().parent.parent
OTHERS = [
    "classic:block=sport,koks=true,last_throw=true",
    "crazy:freeze=bearoff,calm=0,extra=unlimited,full_move=whole",
    "crazy-v1:completion=none,stop=no,pairs=none",
    "gulbar:home_completer_plays=false,void=true,completion_scope=all",
    "caucasian:bound_off=play,bound_hide=end,jacoby=true,beavers=true,crawford=false,cube_cap=8",
    "shootout:stack=1",
    "sudden-death:start=shootout",
    "snake:sides=second",
    "fevga:block=none,bearoff=exact,freeze=always,opening=dice",
]
HEADINGS = {name: field.default for name, field in Variant.__dataclass_fields__.items()}
NOT_RULES = ("id", "name", "native", "source", "family", "status")


def paragraphs(book: RuleBook) -> list[Paragraph]:
    return [p for _, some in book.sections for p in some if isinstance(p, Paragraph)]


def proper(variant: Variant) -> str:
    """The text of a game's rules alone, without heading, options and sources."""
    book = rule_book(variant)
    return "\n".join([book.short, *(p.text for _, some in book.sections for p in some)])


# ------------------------------------------------------------------------------------------------- whole


@pytest.mark.parametrize("name", [*VARIANTS, *OTHERS])
def test_the_rules_of_a_game_are_whole_and_every_statement_has_a_source(name: str) -> None:
    variant = parse_variant(name)
    book, text = rule_book(variant), rules_text(variant)
    titles = {title for title, _ in book.sections}
    assert titles >= {
        "The board and the goal", "The start", "Who begins", "A turn", "Where a checker may land", "Bearing off",
        "The end and the score", "The cube", "Matches", "How plays are written",
    }  # fmt: skip
    assert ("The head" in titles) is variant.parallel and ("Blocks" in titles) is variant.parallel
    assert ("Doubles" in titles) is (variant.doubles == "progression" or variant.completes)
    for paragraph in paragraphs(book):
        assert paragraph.text.endswith(".") and "  " not in paragraph.text
        assert paragraph.references or set(paragraph.topics) <= {"picture", "notation"}
    assert {n for p in paragraphs(book) for n in p.references} == set(range(1, len(book.references) + 1))
    assert max(map(len, text.splitlines())) <= WIDTH and not re.search(r"None|True|False|\{|\}", text)
    (picture,) = [p.text for _, some in book.sections for p in some if isinstance(p, Picture)]
    board = Position.start(variant).picture().splitlines()
    assert picture.splitlines()[-17:] == board[2:-2] and picture in text
    for title, _ in book.sections:
        assert f"\n{title.upper()}\n" in text


@pytest.mark.parametrize("name", [*VARIANTS, *OTHERS])
def test_every_option_is_named_with_its_value_and_its_default(name: str) -> None:
    variant = parse_variant(name)
    listed = rules_text(variant).partition("\nOPTIONS\n")[2]
    for option, value in options_of(variant).items():
        default = getattr(VARIANTS[variant.id], option)
        entry = next(e for e in re.split(r"\n(?=  \w)", listed) if e.strip().startswith(f"{option}={written(value)}"))
        assert (f"; by default {written(default)}" in " ".join(entry.split())) is (value != default)
        assert ("⚑" in entry.splitlines()[0]) is (option in unclear_options(rule_book(variant)))


@pytest.mark.parametrize("name", VARIANTS)
def test_every_switch_of_a_game_that_is_not_backgammons_changes_its_text(name: str) -> None:
    variant = VARIANTS[name]
    for switch, default in HEADINGS.items():
        if switch in NOT_RULES or getattr(variant, switch) == default:
            continue
        try:
            other = changed(variant, {switch: default})
        except BadOption:  # nothing of the kind can stand beside the rest of the game
            continue
        if switch == "start" and variant.stack:
            continue  # a test of its own
        assert proper(other) != proper(variant), switch


def test_both_starts_of_a_game_with_two_are_told() -> None:
    for stack in (24, 1):
        text = proper(with_options(VARIANTS["shootout"], {"stack": stack}))
        assert "four on 24" in text and "four on 1." in text


@pytest.mark.parametrize("name", VARIANTS)
def test_the_text_comes_from_the_switches_and_not_from_the_name(name: str) -> None:
    variant = VARIANTS[name]
    assert proper(replace(variant, id="mine", name="Mine", native="", source="user")) == proper(variant)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_option_changes_the_text(name: str) -> None:
    variant = VARIANTS[name]
    for option, value in options_of(variant).items():
        samples = {"pairs": ("22", "none"), "start": ("hyper",)}.get(option, OPTIONS[option].values)
        if option in IDLE and IDLE[option](variant):
            continue
        for other in [other for other in samples if other != value][:3]:
            assert proper(with_options(variant, {option: other})) != proper(variant), (option, other)


# Options that say nothing in a game as it stands, because another one is off.
IDLE: dict[str, Any] = {
    "pairs_who": lambda v: not v.pairs,
    "calm_pass": lambda v: not v.calm,
    "completion_scope": lambda v: v.completion == "none",
    "extra_if_cancelled": lambda v: v.doubles == "plain",
}


def test_a_game_of_a_user_has_its_rules_too(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('name = "Own"\nbase = "crazy"\nstart = "24:7"\nblock = "sport"\nhead = "free"\npairs = []\n')
    variant = read_variant(file)
    text = rules_text(variant)
    assert text.startswith("Own\nown\nlong family  ·  source: user's own definition\n")
    assert "7 on 24" in text and "Any number of checkers may leave" in text and "NAME = VALUE in its file" in text
    assert all(reference.startswith(PAGE) for reference in rule_book(variant).references)
    file.write_text('base = "backgammon"\nhead = "turn"\npairs = [2, 5]\n')
    text = rules_text(read_variant(file))
    assert "THE HEAD" in text and "2-2 or 5-5 lets two checkers leave" in text


def test_the_command_tells_programs_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "crazy", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["id"] == "crazy" and told["text"] == rules_text(VARIANTS["crazy"])
    assert set(told["options"]) == set(options_of(VARIANTS["crazy"]))
    assert all(facts["value"] == facts["default"] for facts in told["options"].values())
    head = next(s for s in told["sections"] if s["title"] == "The head")
    assert head["paragraphs"][0]["topics"] == ["head"]
    assert "Խելագարներ" in told["sources"][head["paragraphs"][0]["sources"][0] - 1]
    assert {"pairs", "full_move", "freeze", "calm_pass"} <= {r["option"] for r in told["readings"]}
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    section = page[page.index("## nardy rules") :].partition("\n## ")[0]
    assert set(told) <= set(re.findall(r"[a-z_]+", section))


# ------------------------------------------------------------------------------------------------- readings


def marks_of_the_page() -> tuple[str, set[int]]:
    """The rules page with its paragraphs on one line each, and where in it the marks of readings stand."""
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    text = re.sub(r"(?<=[^\n|])\n(?=[^\n|#*-])\s*", " ", text)
    about_the_mark = {m.start() for m in re.finditer(r"⚑(?= and is a \*\*rule option|\s+speaks of)", text)}
    assert len(about_the_mark) == 2
    return text, {m.start() for m in re.finditer("⚑", text)} - about_the_mark


def place_of(mark: str, text: str) -> int:
    """Where on the page the ⚑ stands that a reading names; `...` is anything within the line."""
    begin, dots, end = mark.rpartition("...")
    pattern = (re.escape(begin.strip()) + r"[^\n]*?" if dots else "") + f"({re.escape(end.strip())})"
    found = list(re.finditer(pattern, text))
    assert len(found) == 1, f"{mark!r} stands {len(found)} times on the rules page"
    return found[0].start(1) + found[0][1].index("⚑")


def test_every_mark_of_the_rules_page_is_explained_by_exactly_one_reading() -> None:
    text, marks = marks_of_the_page()
    explained = [place_of(mark, text) for reading in all_readings() for mark in reading.marks]
    assert len(explained) == len(set(explained)), "a mark is explained twice"
    missing = marks - set(explained)
    assert not missing, [text[max(0, at - 60) : at + 20] for at in sorted(missing)]
    assert set(explained) == marks


def test_every_reading_is_told_in_the_rules_of_its_games_and_its_option_plays_the_other_one() -> None:
    told = {name: [r for p in paragraphs(rule_book(v)) for r in p.readings] for name, v in VARIANTS.items()}
    for reading in all_readings():
        games = [name for name, some in told.items() if reading in some]
        assert games, reading.topic
        if reading.games:
            assert tuple(games) == reading.games
        for name in games if reading.option else ():
            for value in reading.other:
                other = with_options(VARIANTS[name], {reading.option: value})
                assert getattr(other, reading.option) != getattr(VARIANTS[name], reading.option)
                assert proper(other) != proper(VARIANTS[name])
                assert "is set instead" in " ".join(rules_text(other).split())
    text = " ".join(rules_text(VARIANTS["crazy"]).split())
    assert "The other reading, that never more than one leaves in a stage, is the option pairs=none." in text


# ------------------------------------------------------------------------------------------------- sources


def test_the_table_of_sources_fits_the_table_of_games() -> None:
    data = _data()
    assert list(data["told"]) == list(VARIANTS)
    used = {section for sections in data["told"].values() for section in sections}
    assert used == set(data["section"])
    for name, sections in data["told"].items():
        assert data["section"][sections[0]]["source"] == VARIANTS[name].source, name


def test_what_the_sources_tell_is_a_switch_with_its_value_or_a_topic_of_the_sentences() -> None:
    words = {topic for v in VARIANTS.values() for p in paragraphs(rule_book(v)) for topic in p.topics}
    for name, section in _data()["section"].items():
        for topic in (topic for topics in section["tells"] for topic in topics):
            switch, equals, value = topic.partition("=")
            if not equals:
                assert topic in words, (name, topic)
                continue
            games = [game for game, sections in _data()["told"].items() if name in sections]
            told = [
                game
                for game in games
                if any(place.heading == section["heading"] for place in places(VARIANTS[game], switch))
            ]
            assert told or switch == "pairs_who", f"no game takes {topic} from {name}"


def test_the_nearest_source_that_tells_the_value_is_cited() -> None:
    (place,) = places(VARIANTS["crazy"], "head")
    assert (place.source, place.heading, place.paragraph) == ("000", "Խելագարներ", 2)
    assert [place.paragraph for place in places(VARIANTS["classic"], "block")] == [1, 2]
    assert places(VARIANTS["classic"], "opening") == []  # only the game that plays the drawn dice is told
    assert str(places(VARIANTS["hyper"], "score")[0]) == "Georgian source (001), “ჰიპერ” (Hyper), paragraph 1"


def test_an_option_that_is_set_is_its_own_source() -> None:
    book = rule_book(parse_variant("classic:block=sport"))
    assert "the option block=sport, set for this text" in book.references
    assert not any("Դասական" in reference for reference in book.references)
