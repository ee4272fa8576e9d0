"""Analysis of a whole match: what every decision lost by a bot's values, and how lucky the throws were.

Errors are in equity normalised to the cube (EMG): 1 is what the stake in force is worth, in a match as for money. The
value of a play counts the cube in: the other player may double next. With a bot that searches, plays are judged by its
net first, and those that look best, and the one that was played, as deep as it searches; the cube as deep too.

* An error is doubtful from 0.04 on, an error from 0.08, a blunder from 0.16: gnubg's thresholds.
* `error_rate` is in thousandths (mEMG) a decision: plays that were not forced, and cube decisions that were close or
  made: where double and no double differ by 0.16 at most, or somebody doubled, took, dropped or missed a double.
* `snowie_rate` is in thousandths for each turn of either player, forced ones too, as the program Snowie counted.
* Luck is what a throw with its best play was worth more than the mean of all throws. It is not counted of the throw
  that begins a game.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from nardy_rl.agents.bot import ValueBot
from nardy_rl.agents.doubling import owner_for, roll_worths, searched, terms_of, verdict, worths_after
from nardy_rl.cube import BEAVER, DOUBLE, RESIGN, GameState
from nardy_rl.cube_equity import NO_DOUBLE, Floats
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.errors import BadMatch
from nardy_rl.match_file import Record, read_match
from nardy_rl.variant import Variant
from nardy_rl.variants import variant_text

DOUBTFUL, ERROR, BLUNDER = 0.04, 0.08, 0.16
CLOSE = 0.16
LOOKED_INTO = 5  # plays that are judged deeper than by the net alone, besides the one that was played
MOST_BYTES = 4_000_000  # of a match file
GRADES = ((BLUNDER, "blunder"), (ERROR, "error"), (DOUBTFUL, "doubtful"))
_COUNTS = {"blunder": "blunders", "error": "errors", "doubtful": "doubtful"}


def match_file(words: Sequence[str]) -> Path | None:
    """The match file that the words of a command line name: the last one, if it is a file or ends in .mat."""
    path = Path(words[-1])
    try:
        return path if path.suffix.lower() == ".mat" or path.is_file() else None
    except (OSError, ValueError):  # too long, or a NUL: a position, not a path
        return None


def read_record(path: Path, variant: Variant | None, otherwise: Variant) -> Record:
    """The match in a file; raises BadMatch for what cannot be read.

    variant: the game, None for the one that the file names; `otherwise` is taken where it names none.
    """
    if not path.is_file():
        raise BadMatch(f"there is no match file {str(path)!r}")
    if path.stat().st_size > MOST_BYTES:
        raise BadMatch(f"{path} has more than {MOST_BYTES:,} bytes, which no match file needs")
    text = path.read_text("utf-8", errors="replace")
    named = re.search(r'^\s*;\s*\[\s*variant\s*"', text, re.IGNORECASE | re.MULTILINE)
    return read_match(text, variant if variant is not None or named else otherwise)


def grade(error: float) -> str | None:
    """What an error is called: "doubtful", "error" or "blunder", None if it is none."""
    return next((name for least, name in GRADES if error >= least), None)


# ------------------------------------------------------------------------------------------------ decisions


def _decision(game: GameState, player: int, kind: str, played: str, best: str, error: float, worth: float) -> Any:
    error = max(error, 0.0)
    return {
        "player": player,
        "kind": kind,
        "dice": list(game.position.dice) or None,
        "played": played,
        "best": best,
        "error": error,
        "cost": max(worth, 0.0),
        "grade": grade(error),
        "position": game.text,
    }


def play_decision(bot: ValueBot, game: GameState, after: GameState) -> dict[str, Any] | None:
    """What a play lost; None if it was forced."""
    position = game.position
    plays = position.plays()
    if len(plays) == 1:
        return None
    net, depth = searched(bot)
    assert isinstance(net, ValueBot)
    states = np.stack([play.state for play in plays])
    played = next(i for i, play in enumerate(plays) if play == after.position)
    worth = worths_after(net, game, states)
    if depth:
        looked = np.unique([played, *np.argsort(-worth, kind="stable")[:LOOKED_INTO]])
        deeper = worths_after(net, game, states[looked], depth)
        worth = np.full(len(plays), -np.inf)
        worth[looked] = deeper
    best = int(worth.argmax())
    terms = terms_of(net, game.match, position.player)
    lost = float(worth[best] - worth[played])
    both = terms.per_cube(worth[[best, played]], game.stake)
    texts = [position.move_text(plays[i]) for i in (played, best)]
    return _decision(game, position.player, "play", texts[0], texts[1], float(both[0] - both[1]), lost)


def cube_decisions(bot: ValueBot, game: GameState, doubled: bool, answer: str | None) -> Iterator[dict[str, Any]]:
    """What was lost by doubling or not, and by the answer, if there was one; a clear case not to double is none."""
    said = verdict(bot, game)
    terms = terms_of(searched(bot)[0], game.match, game.position.player)
    if not said.may_double or not terms.gains(game.stake) and not doubled:
        return
    unit = 1.0 if said.match_chances is None else terms.worth(game.stake) - terms.worth(-game.stake)
    scale = game.stake if said.match_chances is None else unit / 2
    double, no_double = said.doubled, said.equities[NO_DOUBLE]
    error = said.best - (double if doubled else no_double)
    if doubled or error > 0 or abs(double - no_double) <= CLOSE:
        right = DOUBLE if double >= no_double else NO_DOUBLE
        made = DOUBLE if doubled else NO_DOUBLE
        yield _decision(game, game.position.player, "double", made, right, error, error * scale)
    if answer is not None and answer in said.equities:
        error = said.equities[answer] - double
        yield _decision(game, 1 - game.position.player, "answer", answer, said.answer, error, error * scale)


def luck(bot: ValueBot, game: GameState, thrown: GameState) -> tuple[float, float]:
    """Luck of a throw to the player who threw: in EMG, and in points or in chances to win the match."""
    net = searched(bot)[0]
    player = game.position.player
    terms = terms_of(net, game.match, player)
    worth: Floats = roll_worths(net, game.position.state[None], terms, game.stake, owner_for(game, player))[0]
    high, low = max(thrown.position.dice), min(thrown.position.dice)
    at = next(i for i, roll in enumerate(ROLLS) if sorted(roll) == [low, high])
    both = np.array([worth[at], worth @ ROLL_WEIGHTS])
    normal = terms.per_cube(both, game.stake)
    return float(normal[0] - normal[1]), float(both[0] - both[1])


def _answer(after: GameState) -> str | None:
    """How a double was answered, by the state after the answer."""
    if after.conceded is not None:
        return "drop" if after.conceded.how == "drop" else None
    return "beaver" if after.offer is not None and after.offer.kind == BEAVER else "take"


# ------------------------------------------------------------------------------------------------ the match


def analyse_match(bot: ValueBot, record: Record, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """The analysis of a match: the keys of `nardy analyse FILE.mat --json` (docs/cli.md)."""
    total = sum(len(states) - 1 for states in record.games)
    first = record.games[0][0].match
    done, decisions, throws = 0, [], []
    turns = [0, 0]
    for number, states in enumerate(record.games, 1):
        for i, (before, after) in enumerate(pairwise(states)):
            later = states[i + 2] if i + 2 < len(states) else None
            for one in _step(bot, before, after, later):
                decisions.append({"game": number, **one})
            if before.position.owes and before.position != after.position:
                turns[before.position.player] += 1
            elif not before.position.owes and after.position.owes and any(before.position.throws):
                gained, worth = luck(bot, before, after)
                throws.append((before.position.player, gained, worth))
            done += 1
            if progress is not None:
                progress(done, total)
    players = [_player(p, name, decisions, throws, turns) for p, name in enumerate(record.names)]
    return {
        "variant": variant_text(first.variant),
        "bot": bot.name,
        "match": first.length,
        "names": list(record.names),
        "games": [_game(states) for states in record.games],
        "thresholds": {name: least for least, name in GRADES},
        "players": players,
        "decisions": decisions,
    }


def _step(bot: ValueBot, before: GameState, after: GameState, later: GameState | None) -> Iterator[dict[str, Any]]:
    """The decisions that lead from a state to the next one."""
    if before.offer is not None or (after.offer is not None and after.offer.kind == RESIGN):
        return
    if before.position.owes:
        if before.position != after.position:
            found = play_decision(bot, before, after)
            if found is not None:
                yield found
    elif DOUBLE in before.actions:
        doubled = after.offer is not None and after.offer.kind == DOUBLE
        yield from cube_decisions(bot, before, doubled, _answer(later) if doubled and later is not None else None)


def _game(states: Sequence[GameState]) -> dict[str, Any]:
    result = states[-1].result
    return {
        "score": list(states[0].match.score),
        "crawford": bool(states[0].match.crawford),
        "result": None if result is None else result._asdict(),
    }


def _player(
    player: int, name: str, decisions: Sequence[Any], throws: Sequence[tuple[int, float, float]], turns: Sequence[int]
) -> dict[str, Any]:
    """What a player's decisions came to."""
    mine = [one for one in decisions if one["player"] == player]
    kinds = {kind: [one for one in mine if one["kind"] == kind] for kind in ("play", "double", "answer")}
    lost = sum(one["error"] for one in mine)
    lucky = [(gained, worth) for who, gained, worth in throws if who == player]
    return {
        "name": name,
        "turns": turns[player],
        "plays": len(kinds["play"]),
        "cube_decisions": len(kinds["double"]) + len(kinds["answer"]),
        **{plural: sum(one["grade"] == word for one in mine) for word, plural in _COUNTS.items()},
        "lost": lost,
        "lost_by_plays": sum(one["error"] for one in kinds["play"]),
        "lost_by_doubles": sum(one["error"] for one in kinds["double"]),
        "lost_by_answers": sum(one["error"] for one in kinds["answer"]),
        "cost": sum(one["cost"] for one in mine),
        "error_rate": 1000 * lost / len(mine) if mine else None,
        "snowie_rate": 1000 * lost / sum(turns) if sum(turns) else None,
        "luck": sum(gained for gained, _ in lucky),
        "luck_worth": sum(worth for _, worth in lucky),
    }


# ------------------------------------------------------------------------------------------------ as tables

_ROWS = (
    ("unforced plays", "plays", "d"),
    ("cube decisions, close or made", "cube_decisions", "d"),
    ("doubtful (from 0.04)", "doubtful", "d"),
    ("errors (from 0.08)", "errors", "d"),
    ("blunders (from 0.16)", "blunders", "d"),
    ("lost by plays, EMG", "lost_by_plays", ".3f"),
    ("lost by doubling or not, EMG", "lost_by_doubles", ".3f"),
    ("lost by answers, EMG", "lost_by_answers", ".3f"),
    ("error rate, mEMG a decision", "error_rate", ".1f"),
    ("Snowie error rate", "snowie_rate", ".1f"),
    ("luck, EMG", "luck", "+.3f"),
)


def player_rows(data: Any) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of both players' totals, as `screen.table` takes them."""
    unit = "points" if not data["match"] else "chance to win the match"
    form = ".3f" if not data["match"] else ".2%"
    rows = (*_ROWS, (f"lost, {unit}", "cost", form), (f"luck, {unit}", "luck_worth", f"+{form}"))

    def cell(player: Any, key: str, shape: str) -> str:
        return "–" if player[key] is None else format(player[key], shape)

    made = [[name, *(cell(player, key, shape) for player in data["players"])] for name, key, shape in rows]
    return ["", *(f">{player['name']}" for player in data["players"])], made


def mistake_rows(data: Any, most: int) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the worst decisions."""
    worst = sorted((one for one in data["decisions"] if one["grade"]), key=lambda one: -one["error"])[:most]
    rows = [
        [str(one["game"]), data["names"][one["player"]], "-".join(map(str, one["dice"] or [])), one["played"]]
        + [one["best"], f"{one['error']:.3f}", one["grade"]]
        for one in worst
    ]
    return [">game", "player", "dice", "played", "best", ">lost", ""], rows
