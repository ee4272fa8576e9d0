"""The board as text, always from player 0's side: his home is at the lower right.

Player 0 is O and player 1 is X. The numbers at the edges are both players' own: a move of X is written in the
X row. A pinned checker is a small o or x at the edge of the board, under the checkers that pin it. Stacks of
more than five show their number. In the long games both players go the same way round, from the upper right
to the left, along the bottom to the right; X's head is then at the lower left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nardy_rl.board import BAR, EXTRA, GRACE, TURN
from nardy_rl.variants import variant_text

if TYPE_CHECKING:
    from nardy_rl.position import Position

_ROWS = 5  # checkers shown of a stack
_SIGNS = "OX"


def _crossed(point: int, parallel: bool) -> int:
    from nardy_rl.position import crossed

    return crossed(point, parallel)


def _stack(sign: str, number: int) -> list[str]:
    """A stack of checkers from the edge inwards, `_ROWS` cells."""
    shown = [sign] * min(number, _ROWS)
    if number > _ROWS:
        shown[-1] = str(number)
    return shown + [""] * (_ROWS - len(shown))


def _point(p: Position, point: int) -> list[str]:
    """What stands on player 0's point, from the edge inwards."""
    other = _crossed(point, p.variant.parallel)
    mine, theirs = int(p.counts[0, point]), int(p.counts[1, other])
    if point in p.pins[0]:
        return (["o", *_stack("X", theirs)])[:_ROWS] if theirs < _ROWS else ["o", *_stack("X", theirs)[1:]]
    if other in p.pins[1]:
        return (["x", *_stack("O", mine)])[:_ROWS] if mine < _ROWS else ["x", *_stack("O", mine)[1:]]
    return _stack("O", mine) if mine else _stack("X", theirs)


def _row(cells: list[str], bar: str) -> str:
    left, right = cells[:6], cells[6:]
    return f"|{''.join(f'{c:>3}' for c in left)} |{bar:^5}|{''.join(f'{c:>3}' for c in right)} |"


def _numbers(sign: str, points: list[int]) -> str:
    left, right = points[:6], points[6:]
    return f" {sign}   {''.join(f'{d:>3}' for d in left)}        {''.join(f'{d:>3}' for d in right)}"


def _moves(queue: tuple[tuple[int, int], ...], double: bool) -> str:
    """What is owed: `5`, `3 3`, or of a progression `3 3, then four each of 4 5 6`."""
    if not double:
        return " ".join(str(die) for die, _ in queue)
    die, moves = queue[0]
    now = " ".join([str(die)] * moves)
    later = " ".join(str(die) for die, _ in queue[1:])
    return f"{now}, then four each of {later}" if later else now


def whose_turn(p: Position, names: Sequence[str] = _SIGNS) -> str:
    """Who acts and what he has to do, as a sentence without a full stop; names: of players 0 and 1."""
    me = names[p.player]
    if p.over:
        points = p.score(p.player)
        return f"{me} has won {points:g} point{'s' * (points != 1)}" if points else "The game is a draw"
    turn = int(p.state[TURN])
    if not p.owes:
        return f"{me} is to throw{' again' if turn & EXTRA else ''}"
    larger, smaller = p.dice
    throw = f"{larger}-{smaller}"
    whole = ((larger, 1), (smaller, 1))
    rest = "" if p.owed == whole and larger != smaller else f": {_moves(p.owed, larger == smaller)}"
    grace = " (the last stage)" if turn & GRACE else ""
    if p.thrower != p.player:
        return f"{me} is to complete {names[p.thrower]}'s {throw}{rest}{grace}"
    return f"{me} is to play {throw}{rest}{grace}"


def picture(p: Position) -> str:
    """The board of a position as lines of text (see the module's page), without a line feed at the end."""
    top, bottom = list(range(13, 25)), list(range(12, 0, -1))
    parallel = p.variant.parallel
    upper, lower = [_point(p, d) for d in top], [_point(p, d) for d in bottom]
    bars = [int(p.counts[player, BAR]) for player in (0, 1)]
    has_bar = p.variant.contact == "hit"
    on_bar = [_stack(sign, n) if has_bar else [""] * _ROWS for sign, n in zip(_SIGNS, bars, strict=True)]
    edge = f"    +{'-' * 19}+{' BAR ' if has_bar else '-----'}+{'-' * 19}+"
    lines = [
        _numbers("O", top),
        _numbers("X", [_crossed(d, parallel) for d in top]),
        edge,
        *("    " + _row([stack[i] for stack in upper], on_bar[0][i]) for i in range(_ROWS)),
        "    " + _row([""] * 12, ""),
        *("    " + _row([stack[i] for stack in lower], on_bar[1][i]) for i in reversed(range(_ROWS))),
        edge.replace(" BAR ", "-----"),
        _numbers("X", [_crossed(d, parallel) for d in bottom]),
        _numbers("O", bottom),
    ]
    notes = {4: _note(p, 1), len(lines) - 4: _note(p, 0)}
    lines = [f"{line}   {notes[i]}" if i in notes else line.rstrip() for i, line in enumerate(lines)]
    return "\n".join([f"    {p.variant.name} ({variant_text(p.variant)})", "", *lines, "", f"    {whose_turn(p)}."])


def _note(p: Position, player: int) -> str:
    counts = p.counts[player]
    pips = sum(point * int(counts[point]) for point in range(1, 26))
    return f"{_SIGNS[player]}: {pips} pips, {int(counts[0])} off"
