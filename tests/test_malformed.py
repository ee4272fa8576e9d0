"""Texts from outside that are damaged: each is read, or refused in one sentence; none crashes, hangs or grows."""

from __future__ import annotations

import random
import time
import tracemalloc
from pathlib import Path

import pytest

from nardy_rl.cube import GameState
from nardy_rl.errors import NardyError
from nardy_rl.experiments.gnubg_socket import answer
from nardy_rl.experiments.line_protocol import Session
from nardy_rl.fibs import fibs_board, from_fibs_board
from nardy_rl.forms import FORMS, read_state, write_state
from nardy_rl.ids import from_gnubg_id, from_position_id
from nardy_rl.match import Match
from nardy_rl.match_file import read_match
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS, parse_variant
from nardy_rl.xgid import from_xgid

FILES = Path(__file__).parent / "matches"
BACKGAMMON = VARIANTS["backgammon"]
CHARACTERS = "0123456789 :|/*^()=,.-@+xXboarfturn\t\0é\u0661½\ud7ff" + chr(0x1F3B2)


def states():
    """States of a game with everything that texts can say, and of other games."""
    start = GameState(Match(BACKGAMMON, 7, (2, 5)), Position.opening(BACKGAMMON, seed=1))
    for number in range(6):
        yield start
        start = start.after(start.position.plays()[number % len(start.position.plays())])
        if number == 2:
            start = start.double().take()
        start = start.throw(number + 1, 6 - number)
    for name in ("crazy-gulbar", "plakoto", "classic:koks=true", "hyper"):
        yield GameState(Match(name), Position.opening(name, seed=3))


def seeds():
    """Whole texts by what reads them: (reader, text)."""
    for state in states():
        yield GameState.from_text, state.text
        yield lambda text, game=state.variant: read_state(game, text), state.text
        yield parse_variant, state.text.split()[0]
        if state.variant is not BACKGAMMON:
            continue
        yield lambda text: from_position_id(BACKGAMMON, text), write_state(state, "position-id")
        yield lambda text: from_gnubg_id(BACKGAMMON, text), write_state(state, "gnubg-id")
        yield lambda text: from_xgid(BACKGAMMON, text), write_state(state, "xgid")
        for gnubg in (False, True):
            yield lambda text, gnubg=gnubg: from_fibs_board(BACKGAMMON, text, gnubg), fibs_board(state)
        for form in FORMS:
            if form not in ("picture", "match-id"):
                yield lambda text: read_state(BACKGAMMON, text), write_state(state, form)
    for file in sorted(FILES.glob("*.mat")):
        yield (
            lambda text: read_match(text, "backgammon:beavers=true"),
            file.read_text(encoding="utf-8")[:1500].rpartition("\n")[0],
        )
    session = Session("pips")

    def protocol(text: str) -> None:
        session.answer("newgame backgammon")
        if not text.startswith("dice"):
            session.answer("dice 31")
        said = session.answer(" ".join(text.split("\n")))
        assert "\n" not in said and "\r" not in said and said
        if said.startswith("error"):
            raise NardyError(said)

    for line in (
        "dice 42",
        "play 8/5 6/5",
        "plays",
        "value",
        "newgame backgammon 1 7",
        f"position {Position.start('hyper').text}",
        "go",
    ):
        yield protocol, line


def damaged(rng: random.Random, text: str) -> str:
    """The text with one to four changes: characters exchanged, left out, put in, parts doubled, cut or exchanged."""
    for _ in range(rng.randint(1, 4)):
        i, j = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        j = min(j, i + 12)
        kind = rng.randrange(6)
        if kind == 0:
            text = text[:i] + rng.choice(CHARACTERS) + text[i + 1 :]
        elif kind == 1:
            text = text[:i] + text[j:]
        elif kind == 2:
            text = text[:i] + "".join(rng.choice(CHARACTERS) for _ in range(rng.randint(1, 4))) + text[i:]
        elif kind == 3:
            text = text[:j] + text[i:j] * rng.choice((1, 2, 40)) + text[j:]
        elif kind == 4:
            text = text[:i]
        else:
            text = text[:i] + str(rng.choice((-1, 0, 16, 99, 10**6, 10**30))) + text[j:]
    return text


def refused(read, text: str) -> bool:
    """Is a text refused; whatever else than a NardyError of one sentence comes is a failure of the test."""
    began = time.perf_counter()
    try:
        read(text)
    except NardyError as error:
        said = str(error)
        assert said and "\n" not in said and len(said) < 1500 + 4 * len(text), (text, said)
        return True
    except Exception as error:
        raise AssertionError(f"{text!r} ended in {error!r}") from error
    finally:
        assert time.perf_counter() - began < 20, text
    return False


def check_damaged(number: int, seed: int) -> None:
    readers = list(seeds())
    for read, text in readers:
        assert not refused(read, text), text
    rng = random.Random(seed)
    refusals = sum(refused(read, damaged(rng, text)) for read, text in (rng.choice(readers) for _ in range(number)))
    assert 0.3 * number < refusals < number


def test_damaged_texts_are_read_or_refused_in_one_sentence():
    check_damaged(1500, 1)


@pytest.mark.long
def test_a_hundred_thousand_damaged_texts_are_read_or_refused_in_one_sentence():
    check_damaged(100_000, 2)


def test_random_characters_are_refused_in_one_sentence():
    rng = random.Random(5)
    readers = [read for read, _ in seeds()]
    for _ in range(1000):
        text = "".join(rng.choice(CHARACTERS) for _ in range(rng.randrange(60)))
        refused(rng.choice(readers), text)


def test_long_texts_are_refused_without_growing():
    long = 20_000
    texts = ["24:2 " * long, "|" * long, ":" * long, "board:" + "1:" * long, "9" * long, "hyper " + "off:1 " * long]
    tracemalloc.start()
    for text in texts:
        for read in {id(read): read for read, _ in seeds()}.values():
            try:
                read(text)
            except NardyError as error:
                assert "\n" not in str(error)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500e6


def test_gnubg_s_boards_are_answered_or_refused_in_one_sentence():
    from nardy_rl.agents import load_bot

    bot = load_bot("backgammon", "pips")
    board = fibs_board(next(states()))
    rng = random.Random(9)
    for _ in range(800):
        refused(lambda text: answer(bot, text), damaged(rng, board))
