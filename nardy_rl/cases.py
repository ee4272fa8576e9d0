"""Case files: positions with all their plays as JSON lines, and the check of the engine against them.

A line is one case: the game with its options, a state that is ready to be played, the distinct continuations
(`nexts`) and every legal play with the continuation that follows it. Boards are two strings of 26 hexadecimal
digits, player 0 first, each in its owner's numbering (off, points 1..24, bar); everything else bears the name
that the rules page uses. `state_of_case` and `case_of_state` translate between that and the engine's
uint32[16].
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from nardy_rl.board import (
    EXTRA,
    GRACE,
    HANDED,
    HEAD_SHIFT,
    HEAD_SHIFT_THEIRS,
    IDLE_SHIFT,
    MY_PINS,
    OUTCOME,
    OWED,
    PLAYER,
    THEIR_PINS,
    THROWS,
    TURN,
    WORDS,
    pack,
    unpack,
)
from nardy_rl.errors import BadOption, BadPosition, UnknownVariant, did_you_mean
from nardy_rl.lockstep import States, own_scratch
from nardy_rl.options import with_options
from nardy_rl.plays import plays
from nardy_rl.position import State, check_state, points_of, queue_of, word_of_queue
from nardy_rl.results import score_table
from nardy_rl.rules import rules_of
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS, parse_variant

Json = dict[str, Any]


# ------------------------------------------------------------------------------------------ a field of a case


def _field(data: Json, name: str, kind: type | tuple[type, ...]) -> Any:
    """A field that must be there and be of this type; a bool is no number."""
    if name not in data:
        raise BadPosition(f"the field {name!r} is missing")
    value = data[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise BadPosition(f"{name} is {json.dumps(value)}, which is no {getattr(kind, '__name__', kind)}")
    return value


def _number(data: Json, name: str, most: int) -> int:
    value: int = _field(data, name, int)
    if not 0 <= value <= most:
        raise BadPosition(f"{name} is {value}: it must be from 0 to {most}")
    return value


def _numbers(data: Json, name: str, most: int) -> tuple[int, int]:
    """A pair of numbers, one for each player."""
    value = _field(data, name, list)
    if len(value) != 2 or not all(type(n) is int and 0 <= n <= most for n in value):
        raise BadPosition(f"{name} is {json.dumps(value)}: it must be two numbers from 0 to {most}")
    return value[0], value[1]


def _boards(data: Json) -> list[list[int]]:
    boards = _field(data, "board", list)
    if len(boards) != 2 or not all(isinstance(b, str) and len(b) == 26 for b in boards):
        raise BadPosition(f"board is {json.dumps(boards)}: it must be two strings of 26 hexadecimal digits")
    try:
        return [[int(digit, 16) for digit in board] for board in boards]
    except ValueError:
        raise BadPosition(f"board is {json.dumps(boards)}: a digit is not hexadecimal") from None


def _pins(data: Json) -> list[tuple[int, ...]]:
    pins = data.get("pinned", [[], []])
    if not isinstance(pins, list) or len(pins) != 2 or not all(isinstance(side, list) for side in pins):
        raise BadPosition(f"pinned is {json.dumps(pins)}: it must be two lists of points")
    if not all(type(point) is int and 1 <= point <= 24 for side in pins for point in side):
        raise BadPosition(f"pinned is {json.dumps(pins)}: points are numbers from 1 to 24")
    return [tuple(sorted(side)) for side in pins]


# ------------------------------------------------------------------------------------------ states


def state_of_case(data: Json) -> State:
    """The state uint32[16] that a case's `state` describes; raises BadPosition for a field that is wrong.

    Only the fields are examined; `position.check_state` says whether they make a position of a game.
    """
    player = _number(data, "player", 1)
    boards, pins = _boards(data), _pins(data)
    row = np.zeros(WORDS, np.uint32)
    for i, side in enumerate((player, 1 - player)):
        row[4 * i : 4 * i + 4] = pack(np.array(boards[side]))
        row[MY_PINS + i] = sum(1 << point for point in pins[side])
    heads, throws = _numbers(data, "head_used", 15), _numbers(data, "throws", 0xFFFF)
    flags = sum(
        bit for name, bit in (("handed", HANDED), ("extra_used", EXTRA), ("grace", GRACE)) if _field(data, name, bool)
    )
    row[TURN] = (
        player
        | _number(data, "thrower", 1) << 1
        | _number(data, "starter", 1) << 2
        | flags
        | _number(data, "idle", 3) << IDLE_SHIFT
        | heads[player] << HEAD_SHIFT
        | heads[1 - player] << HEAD_SHIFT_THEIRS
    )
    row[THROWS] = throws[player] | throws[1 - player] << 16
    row[OWED] = _owed(data)
    return row


def _owed(data: Json) -> int:
    dice, queue = _field(data, "dice", list), _field(data, "queue", list)
    double = _field(data, "double", bool)
    if not all(isinstance(entry, list) and len(entry) == 2 for entry in queue):
        raise BadPosition(f"queue is {json.dumps(queue)}: its entries are [die, moves]")
    if not all(type(n) is int for n in (*dice, *(n for entry in queue for n in entry))):
        raise BadPosition(f"dice {json.dumps(dice)} and queue {json.dumps(queue)} must be whole numbers")
    if double is not (len(dice) == 2 and dice[0] == dice[1]):
        raise BadPosition(f"double is {json.dumps(double)}, but the dice are {json.dumps(dice)}")
    return word_of_queue(tuple(dice), tuple((die, moves) for die, moves in queue))


def case_of_state(variant: Variant, row: State) -> tuple[Json, Json]:
    """A state as a case file has it: its position (`board`, `pinned`) and its continuation.

    The two together are a case's `state`; of a finished game the continuation is `over` and `score`.
    """
    turn, owed = int(row[TURN]), int(row[OWED])
    player = turn & PLAYER

    def by_player(mine: Any, theirs: Any) -> list[Any]:
        return [mine, theirs] if player == 0 else [theirs, mine]

    position = {
        "board": by_player(*("".join(f"{c:x}" for c in unpack(row[i : i + 4])) for i in (0, 4))),
        "pinned": by_player(list(points_of(int(row[MY_PINS]))), list(points_of(int(row[THEIR_PINS])))),
    }
    if row[OUTCOME]:
        points = int(score_table(variant)[int(row[OUTCOME]) - 1])
        return position, {"over": True, "score": points if player == 0 else -points}
    throws = int(row[THROWS])
    dice = [owed & 7, owed >> 3 & 7] if owed else []
    return position, {
        "player": player,
        "thrower": turn >> 1 & 1,
        "starter": turn >> 2 & 1,
        "throws": by_player(throws & 0xFFFF, throws >> 16),
        "dice": dice,
        "double": bool(dice) and dice[0] == dice[1],
        "queue": [list(entry) for entry in queue_of(owed)],
        "head_used": by_player(turn >> HEAD_SHIFT & 15, turn >> HEAD_SHIFT_THEIRS & 15),
        "handed": bool(turn & HANDED),
        "idle": turn >> IDLE_SHIFT & 3,
        "extra_used": bool(turn & EXTRA),
        "grace": bool(turn & GRACE),
    }


# ------------------------------------------------------------------------------------------ the check


def _key(play: Json) -> str:
    """Two plays are the same when board, pins and continuation agree."""
    return json.dumps(play, sort_keys=True)


def _expected(case: Json) -> dict[str, Json]:
    nexts, listed = _field(case, "nexts", list), _field(case, "plays", list)
    found = {}
    for play in listed:
        if not isinstance(play, dict):
            raise BadPosition(f"a play is {json.dumps(play)}, which is no object")
        which = _number(play, "next", len(nexts) - 1)
        if not isinstance(nexts[which], dict):
            raise BadPosition(f"nexts[{which}] is {json.dumps(nexts[which])}, which is no object")
        _boards(play)
        whole = {"board": play["board"], "pinned": [list(side) for side in _pins(play)], "next": nexts[which]}
        found[_key(whole)] = whole
    return found


def _computed(variant: Variant, row: State) -> dict[str, Json]:
    scr = own_scratch()
    n = plays(rules_of(variant), row, scr)
    after: States = scr.plays[:n]
    found = {}
    for i in range(n):
        position, continuation = case_of_state(variant, after[i])
        whole = position | {"next": continuation}
        found[_key(whole)] = whole
    if len(found) != n:
        raise AssertionError(f"{variant.id}: the generator gave the same play twice")
    return found


def _variant(case: Json) -> Variant:
    name, options = _field(case, "variant", str), _field(case, "options", dict)
    if name not in VARIANTS and "@" not in name:  # a user's own game is written out (`variant_definition`)
        raise UnknownVariant(f"unknown variant {name!r}{did_you_mean(name, VARIANTS)}")
    return with_options(VARIANTS[name] if name in VARIANTS else parse_variant(name), options)


def check_case(case: Json) -> tuple[list[Json], list[Json]]:
    """The plays of a case that the engine misses, and those it has and the case does not.

    A play is a dict of board, pinned and next (the continuation). Raises BadPosition, BadOption or
    UnknownVariant for a case that makes no sense.
    """
    variant = _variant(case)
    row = state_of_case(_field(case, "state", dict))
    check_state(variant, row)
    if not row[OWED]:
        raise BadPosition("the state owes nothing: there is no play to compare")
    expected, found = _expected(case), _computed(variant, row)
    missing = [play for key, play in expected.items() if key not in found]
    extra = [play for key, play in found.items() if key not in expected]
    return missing, extra


def read_cases(path: str | Path) -> Iterator[tuple[int, Json]]:
    """The cases of a file with their line numbers; raises BadPosition for what cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    case = json.loads(line)
                except json.JSONDecodeError as error:
                    raise BadPosition(f"{path}:{number}: no JSON: {error}") from None
                if not isinstance(case, dict):
                    raise BadPosition(f"{path}:{number}: a case is a JSON object, not {line.strip()[:40]!r}")
                yield number, case
    except (OSError, UnicodeDecodeError) as error:
        raise BadPosition(f"cannot read the case file {str(path)!r}: {error}") from None


def check_files(paths: Iterable[str | Path]) -> Json:
    """Compare the engine with every case of some files.

    Returns `files` and `cases` (how many were read) and `differences`, a list of {id, missing, extra} for the
    cases that differ. Raises BadPosition, naming file and line, for what cannot be read as a case.
    """
    files, cases, differences = 0, 0, []
    for path in paths:
        files += 1
        for number, case in read_cases(path):
            try:
                missing, extra = check_case(case)
            except (BadPosition, BadOption, UnknownVariant) as error:
                raise BadPosition(f"{path}:{number}: {error}") from None
            cases += 1
            if missing or extra:
                name = str(case.get("id", f"{path}:{number}"))
                differences.append({"id": name, "missing": missing, "extra": extra})
    return {"files": files, "cases": cases, "differences": differences}
