"""The board of a position as a picture, `uint8[H, W, 3]`.

Player 0 is White and player 1 is Black. The board always lies as White sees it, so that it does not turn between two
frames of a film: his home is at the lower right. The numbers at the edges are the points of the player who acts, in
his own numbering, and the arrows show which way he goes. In the long games, in which both go the same way round, the
two heads are marked, and Black bears off at the upper left.

The dice have the colour of the player who threw them, lie on the side of the player who plays them, and are pale
where their move is made; small dice are the stages that follow, four moves each. A pin's head marks a pinned checker.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nardy_rl.board import BAR, HEAD
from nardy_rl.cube import Cube
from nardy_rl.envs import pieces
from nardy_rl.envs.pieces import Colour, font, mixed, pillow
from nardy_rl.errors import BadOption
from nardy_rl.picture import whose_turn
from nardy_rl.position import Position, crossed
from nardy_rl.variant import Variant

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

WIDTH = 800
"""Width of a picture in pixels where none is given; the height is always three quarters of it."""

SMALLEST, LARGEST = 240, 4000
NAMES = ("White", "Black")

# Geometry, in thousandths of the width. The board is symmetrical about its centre (_MIDDLE_X, _MIDDLE_Y).
_UNITS, _HEIGHT = 1000.0, 750.0
_LEFT, _TOP, _BOTTOM = 14.0, 46.0, 704.0
_TRAY, _FRAME, _POINT, _BAR_WIDTH = 62.0, 13.0, 60.0, 60.0
_EDGE = 26.0  # height of the band with the numbers
_CHECKER, _STACK = 52.0, 5
_POINT_LENGTH = 250.0
_MIDDLE_X, _MIDDLE_Y = 500.0, (_TOP + _BOTTOM) / 2
_HALF = 6 * _POINT
_INNER_LEFT = _MIDDLE_X - _BAR_WIDTH / 2 - _HALF
_RIGHT_TRAY = _UNITS - _INNER_LEFT + _FRAME + _TRAY / 2  # the middle of the trays at the right
_UPPER, _LOWER = _TOP + _EDGE, _BOTTOM - _EDGE  # where the points begin
_DIE, _SMALL_DIE, _DIE_GAP = 42.0, 21.0, 7.0
_SLAB = 17.0
_CUBE_SIZE = 46.0

_BACKGROUND: Colour = (33, 31, 32)
_WOOD: Colour = (92, 57, 36)
_WOOD_EDGE: Colour = (60, 36, 22)
_FELT: Colour = (58, 99, 90)
_POINTS: tuple[Colour, Colour] = ((214, 184, 138), (166, 78, 54))
_TEXT: Colour = (240, 232, 216)
_FAINT: Colour = (178, 166, 148)

_SHARPER = 3  # the empty board is drawn this many times too large


def picture_rgb(position: Position, size: int = WIDTH, cube: Cube | None = None) -> NDArray[np.uint8]:
    """The position as a picture uint8[3 * size // 4, size, 3], RGB.

    size: the width in pixels, 240 to 4000. cube: the doubling cube, as `GameState.cube` has it, or None to show none.
    Equal arguments give equal pictures. Raises BadOption for another size, and MissingExtra without Pillow.
    """
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or not SMALLEST <= size <= LARGEST:
        raise BadOption(f"size={size!r}: the width of a picture is a whole number from {SMALLEST} to {LARGEST} pixels")
    canvas = _Canvas(int(size), position)
    _draw_edges(canvas)
    _draw_checkers(canvas)
    _draw_trays(canvas)
    if cube is not None:
        _draw_cube(canvas, cube)
    _draw_dice(canvas)
    _draw_text(canvas)
    return np.asarray(canvas.image.convert("RGB"))


class _Canvas:
    """A picture under way: the image, and drawing on it in thousandths of the width."""

    def __init__(self, size: int, position: Position) -> None:
        _, draw, _ = pillow()
        self.position = position
        self.parallel = position.variant.parallel
        self.counts = position.counts
        self.scale = size / _UNITS
        self.image: Image = _empty_board(size).copy()
        self.draw: ImageDraw = draw.Draw(self.image)

    def pixels(self, units: float) -> int:
        return max(round(units * self.scale), 1)

    def paste(self, piece: Image, x: float, y: float) -> None:
        """Put a piece with its centre at (x, y)."""
        left, top = round(x * self.scale - piece.width / 2), round(y * self.scale - piece.height / 2)
        self.image.paste(piece, (left, top), piece)

    def text(
        self, x: float, y: float, text: str, size: float, colour: Colour, anchor: str = "mm", bold: bool = False
    ) -> None:
        """Write at (x, y), which the anchor says what of the text it is (Pillow's anchors)."""
        weight = size * self.scale * 0.02 if bold else 0
        letters = font(size * self.scale)
        at = (x * self.scale, y * self.scale)
        self.draw.text(at, text, font=letters, fill=colour, anchor=anchor, stroke_width=weight)

    def checker(self, player: int, x: float, y: float, number: int = 0) -> None:
        """A checker with its centre at (x, y), and a number on it unless that is 0."""
        self.paste(pieces.checker(player, self.pixels(_CHECKER)), x, y)
        if number:
            self.text(x, y, str(number), 21, pieces.MARKS[player], bold=True)


# ---------------------------------------------------------------------------------------------- where things are


def _column(point: int) -> float:
    """The middle of White's point 1..24 from left to right."""
    place = point - 13 if point > 12 else 12 - point  # 0..11 from the left
    gap = _BAR_WIDTH if place >= 6 else 0.0
    return _INNER_LEFT + (place + 0.5) * _POINT + gap


def _is_upper(point: int) -> bool:
    """Is White's point in the upper half."""
    return point > 12


def _own_number(point: int, player: int, parallel: bool) -> int:
    """A point of White in the numbering of a player."""
    return point if player == 0 else crossed(point, parallel)


def _tray_of(player: int, parallel: bool) -> tuple[float, bool]:
    """The middle of the tray in which a player's checkers lie when borne off, and whether it is an upper one."""
    return (_UNITS - _RIGHT_TRAY if player and parallel else _RIGHT_TRAY), bool(player)


# ---------------------------------------------------------------------------------------------- the empty board


@lru_cache(maxsize=4)
def _empty_board(size: int) -> Image:
    """The board without anything that depends on the position, `size` pixels wide."""
    image, draw_module, _ = pillow()
    scale = size * _SHARPER / _UNITS
    board = image.new("RGB", (size * _SHARPER, 3 * size // 4 * _SHARPER), _BACKGROUND)
    draw = draw_module.Draw(board)

    def box(left: float, top: float, right: float, bottom: float, fill: Colour, line: Colour, radius: float) -> None:
        corners = tuple(v * scale for v in (left, top, right, bottom))
        draw.rounded_rectangle(corners, radius * scale, fill=fill, outline=line, width=round(2 * scale))

    box(_LEFT, _TOP, _UNITS - _LEFT, _BOTTOM, _WOOD, _WOOD_EDGE, 12)
    for left in (_INNER_LEFT, _INNER_LEFT + _HALF + _BAR_WIDTH):
        box(left - 2, _UPPER - 2, left + _HALF + 2, _LOWER + 2, _FELT, _WOOD_EDGE, 0)
    for x in (_RIGHT_TRAY, _UNITS - _RIGHT_TRAY):
        for upper in (True, False):
            _draw_tray_box(box, x, upper)
    for point in range(1, 25):
        x, base = _column(point), _UPPER if _is_upper(point) else _LOWER
        tip = base + (_POINT_LENGTH if _is_upper(point) else -_POINT_LENGTH)
        colour = _POINTS[(point + _is_upper(point)) % 2]
        corners = [(x - _POINT / 2 + 2, base), (x + _POINT / 2 - 2, base), (x, tip)]
        draw.polygon([(a * scale, b * scale) for a, b in corners], fill=colour)
    middle = _MIDDLE_X * scale
    draw.line((middle, _UPPER * scale, middle, _LOWER * scale), fill=mixed(_WOOD, _WOOD_EDGE, 0.7), width=round(scale))
    small: Image = board.reduce(_SHARPER)
    return small


def _draw_tray_box(box: Callable[..., None], x: float, upper: bool) -> None:
    """One tray; box: draws a rounded rectangle."""
    top, bottom = (_UPPER, _MIDDLE_Y - 32) if upper else (_MIDDLE_Y + 32, _LOWER)
    box(x - _TRAY / 2 + 3, top - 2, x + _TRAY / 2 - 3, bottom + 2, mixed(_WOOD_EDGE, _BACKGROUND, 0.4), _WOOD_EDGE, 5)


# ---------------------------------------------------------------------------------------------- parts of a frame


def _draw_edges(canvas: _Canvas) -> None:
    """The numbers of the points, the heads of the long games, and the way in which the player who acts goes."""
    player = canvas.position.player
    for point in range(1, 25):
        y = _TOP + _EDGE / 2 + 1 if _is_upper(point) else _BOTTOM - _EDGE / 2 - 1
        number = str(_own_number(point, player, canvas.parallel))
        heads = [side for side in (0, 1) if _own_number(point, side, canvas.parallel) == HEAD]
        if canvas.parallel and heads:
            _draw_head(canvas, _column(point), y, number, heads[0])
        else:
            canvas.text(_column(point), y, number, 17, _TEXT)
    leftwards_above = player == 0 or canvas.parallel
    _draw_arrow(canvas, _TOP + _EDGE / 2, leftwards_above, player)
    _draw_arrow(canvas, _BOTTOM - _EDGE / 2, not leftwards_above, player)


def _draw_head(canvas: _Canvas, x: float, y: float, number: str, owner: int) -> None:
    s = canvas.scale
    box = ((x - 30) * s, (y - 10) * s, (x + 30) * s, (y + 10) * s)
    canvas.draw.rounded_rectangle(box, 9 * s, fill=pieces.FACES[owner])
    canvas.text(x - 14, y, number, 15, pieces.MARKS[owner])
    canvas.text(x + 11, y, "head", 12.5, pieces.MARKS[owner])


def _draw_arrow(canvas: _Canvas, y: float, leftwards: bool, player: int) -> None:
    """Three chevrons in the frame at the bar, on the colour of the player."""
    s, way = canvas.scale, -1 if leftwards else 1
    box = ((_MIDDLE_X - 24) * s, (y - 9) * s, (_MIDDLE_X + 24) * s, (y + 9) * s)
    canvas.draw.rounded_rectangle(box, 9 * s, fill=pieces.FACES[player])
    for i in (-1, 0, 1):
        x = _MIDDLE_X + 12 * i
        corners = [((x - 3 * way) * s, (y - 5) * s), ((x + 3 * way) * s, y * s), ((x - 3 * way) * s, (y + 5) * s)]
        canvas.draw.line(corners, fill=pieces.MARKS[player], width=canvas.pixels(2.5), joint="curve")


def _draw_checkers(canvas: _Canvas) -> None:
    for point in range(1, 25):
        owners = [(side, _own_number(point, side, canvas.parallel)) for side in (0, 1)]
        standing = [(side, int(canvas.counts[side, own])) for side, own in owners if canvas.counts[side, own]]
        if not standing:
            continue
        pinned = next((side for side, own in owners if own in canvas.position.pins[side]), None)
        if pinned is None:
            _draw_stack(canvas, point, *standing[0])
        else:
            pinners = next(pair for pair in standing if pair[0] != pinned)
            _draw_pinned(canvas, point, pinned)
            _draw_stack(canvas, point, *pinners, raised=0.55)
    for player in (0, 1):
        _draw_bar(canvas, player)


def _inwards(point: int) -> tuple[float, int]:
    """The edge of a point and the direction, +1 down or -1 up, in which a stack grows from it."""
    return (_UPPER, 1) if _is_upper(point) else (_LOWER, -1)


def _spacing(number: int, room: float) -> float:
    """The distance between the centres of checkers in a stack that overlaps if there is no room."""
    return min(_CHECKER - 1, (room - _CHECKER) / max(number - 1, 1))


def _draw_stack(canvas: _Canvas, point: int, player: int, number: int, raised: float = 0.0) -> None:
    """The checkers of a player on a point; raised: how much of a checker the stack begins above the edge."""
    edge, way = _inwards(point)
    room = _STACK * (_CHECKER - 1) - raised * _CHECKER
    step = _spacing(number, room)
    for i in range(number):
        y = edge + way * (_CHECKER * (0.5 + raised) + i * step)
        canvas.checker(player, _column(point), y, number if i == number - 1 and number > _STACK else 0)


def _draw_pinned(canvas: _Canvas, point: int, player: int) -> None:
    edge, way = _inwards(point)
    x, y = _column(point), edge + way * _CHECKER / 2
    canvas.checker(player, x, y)
    canvas.paste(pieces.pin(canvas.pixels(12)), x, edge + way * 10)


def _draw_bar(canvas: _Canvas, player: int) -> None:
    """A player's checkers on the bar: White's above, where they enter, Black's below."""
    number = int(canvas.counts[player, BAR])
    way = -1 if player == 0 else 1
    step = _spacing(number, _STACK * (_CHECKER - 1))
    for i in range(number):
        y = _MIDDLE_Y + way * (34 + _CHECKER / 2 + i * step)
        canvas.checker(player, _MIDDLE_X, y, number if i == number - 1 and number > _STACK else 0)


def _draw_trays(canvas: _Canvas) -> None:
    """The checkers that are borne off, from the edge inwards, and their number."""
    for player in (0, 1):
        number = int(canvas.counts[player, 0])
        x, upper = _tray_of(player, canvas.parallel)
        edge, way = (_UPPER, 1) if upper else (_LOWER, -1)
        slab = pieces.slab(player, canvas.pixels(_TRAY - 14), canvas.pixels(_SLAB - 1))
        for i in range(number):
            canvas.paste(slab, x, edge + way * (_SLAB * (i + 0.5) + 2))
        y = _TOP + _EDGE / 2 if upper else _BOTTOM - _EDGE / 2
        canvas.text(x, y, f"{number} off" if number else "off", 15, _TEXT if number else _FAINT)


def _draw_cube(canvas: _Canvas, cube: Cube) -> None:
    """The cube at the left: in the middle, or at its owner's end."""
    y = _MIDDLE_Y
    if cube.owner is not None:
        y = _LOWER - _CUBE_SIZE / 2 - 6 if cube.owner == 0 else _UPPER + _CUBE_SIZE / 2 + 6
    canvas.paste(pieces.cube(cube.value, canvas.pixels(_CUBE_SIZE)), _UNITS - _RIGHT_TRAY, y)


def _dice_shown(position: Position) -> tuple[list[tuple[int, bool]], list[int]]:
    """The dice of the present stage as (value, is it played), and the values of the stages after it."""
    larger, smaller = position.dice
    owed = position.owed
    if larger != smaller:
        left = {die for die, _ in owed}
        return [(die, die not in left) for die in (larger, smaller)], []
    value, moves = owed[0]
    return [(value, i < 4 - moves) for i in range(4)], [stage for stage, _ in owed[1:]]


def _draw_dice(canvas: _Canvas) -> None:
    position = canvas.position
    if not position.owes:
        return
    dice, later = _dice_shown(position)
    side = _HALF / 2 + _BAR_WIDTH / 2
    x = _MIDDLE_X + (side if position.player == 0 else -side)
    width = len(dice) * (_DIE + _DIE_GAP) - _DIE_GAP + len(later) * (_SMALL_DIE + 5) + (10 if later else 0)
    x -= width / 2
    for value, played in dice:
        piece = pieces.die(value, position.thrower, canvas.pixels(_DIE), played)
        canvas.paste(piece, x + _DIE / 2, _MIDDLE_Y)
        x += _DIE + _DIE_GAP
    x += 10 if later else 0
    for value in later:
        canvas.paste(pieces.die(value, position.thrower, canvas.pixels(_SMALL_DIE), False), x, _MIDDLE_Y)
        x += _SMALL_DIE + 5


def _draw_text(canvas: _Canvas) -> None:
    """The game, whose turn it is, and both sides' pips."""
    position = canvas.position
    upper, lower = _TOP / 2, (_BOTTOM + _HEIGHT) / 2
    canvas.text(_LEFT + 6, upper, _title(position.variant), 20, _TEXT, "lm", bold=True)
    small = canvas.pixels(26)
    canvas.paste(pieces.checker(position.player, small), _LEFT + 18, lower)
    canvas.text(_LEFT + 38, lower, whose_turn(position, NAMES), 20, _TEXT, "lm", bold=True)
    for player, y in ((1, upper), (0, lower)):
        pips = int(np.arange(1, 26) @ canvas.counts[player, 1:])
        canvas.text(_UNITS - _LEFT - 6, y, f"{NAMES[player]}  {pips} pips", 17, _TEXT, "rm")


def _title(variant: Variant) -> str:
    """The game's English name; its id where the font has no letters for the name."""
    return variant.name if variant.name.isascii() else variant.id
