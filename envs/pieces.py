"""Checkers, dice and the cube as small pictures with transparent corners, for `render.py`.

Every piece is drawn four times too large and reduced, so that its edges are smooth, and is then kept: a frame only
pastes. Colours are RGB; player 0 is White and player 1 is Black.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from nardy_rl.errors import MissingExtra

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

Colour = tuple[int, int, int]

FACES: tuple[Colour, Colour] = ((247, 241, 227), (52, 47, 51))  # of the checkers and dice of players 0 and 1
RIMS: tuple[Colour, Colour] = ((138, 118, 92), (12, 10, 12))
MARKS: tuple[Colour, Colour] = ((45, 36, 30), (247, 241, 227))  # numbers and pips on those faces
PIN: Colour = (214, 48, 49)
CUBE: Colour = (243, 238, 226)

_LARGER = 4  # pieces are drawn this many times too large
_DIMMED = 70  # opacity, of 255, of a die that is played

_PIPS = {
    1: ((1, 1),),
    2: ((0, 0), (2, 2)),
    3: ((0, 0), (1, 1), (2, 2)),
    4: ((0, 0), (0, 2), (2, 0), (2, 2)),
    5: ((0, 0), (0, 2), (1, 1), (2, 0), (2, 2)),
    6: ((0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)),
}


def pillow() -> tuple[Any, Any, Any]:
    """Pillow's modules Image, ImageDraw and ImageFont; raises MissingExtra where it is not installed."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise MissingExtra("pillow", "render") from None
    return Image, ImageDraw, ImageFont


@lru_cache(maxsize=32)
def font(size: float) -> FreeTypeFont:
    """The font that Pillow brings, in a size in pixels."""
    letters: FreeTypeFont = pillow()[2].load_default(max(size, 1.0))
    return letters


def mixed(a: Colour, b: Colour, share: float) -> Colour:
    """The colour that is `share` of the way from a to b."""
    red, green, blue = (round(x + (y - x) * share) for x, y in zip(a, b, strict=True))
    return red, green, blue


def _blank(width: int, height: int) -> tuple[Image, ImageDraw]:
    image, draw, _ = pillow()
    picture = image.new("RGBA", (width * _LARGER, height * _LARGER), (0, 0, 0, 0))
    return picture, draw.Draw(picture)


def _disc(draw: ImageDraw, centre: float, radius: float, colour: tuple[int, ...], dx: float = 0, dy: float = 0) -> None:
    x, y = centre + dx, centre + dy
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)


@lru_cache(maxsize=32)
def checker(player: int, size: int) -> Image:
    """A checker seen from above, size by size pixels, with its shadow."""
    picture, draw = _blank(size, size)
    full = size * _LARGER
    middle, radius = full / 2, full * 0.46
    face, rim = FACES[player], RIMS[player]
    light, dark = mixed(face, (255, 255, 255), 0.35 if player == 0 else 0.28), mixed(face, rim, 0.35)
    _disc(draw, middle, radius, (0, 0, 0, 90), full * 0.015, full * 0.035)
    _disc(draw, middle, radius, rim)
    _disc(draw, middle, radius * 0.93, mixed(face, rim, 0.18))
    _disc(draw, middle, radius * 0.80, light, -full * 0.006, -full * 0.010)
    _disc(draw, middle, radius * 0.76, dark)
    _disc(draw, middle, radius * 0.70, face)
    return picture.reduce(_LARGER)


@lru_cache(maxsize=32)
def slab(player: int, width: int, height: int) -> Image:
    """A checker seen from the side, as it lies in the tray."""
    picture, draw = _blank(width, height)
    w, h = width * _LARGER - 1, height * _LARGER - 1
    face, rim = FACES[player], RIMS[player]
    draw.rounded_rectangle((0, 0, w, h), radius=h * 0.4, fill=rim)
    inset = max(h * 0.09, 2.0)
    draw.rounded_rectangle((inset, inset, w - inset, h - inset), radius=h * 0.32, fill=face)
    draw.line((h * 0.5, h * 0.5, w - h * 0.5, h * 0.5), fill=mixed(face, rim, 0.45), width=max(round(h * 0.12), 1))
    return picture.reduce(_LARGER)


@lru_cache(maxsize=128)
def die(value: int, player: int, size: int, played: bool) -> Image:
    """A die in the colour of the player who threw it; pale if its move is made."""
    picture, draw = _blank(size, size)
    full = size * _LARGER - 1
    face, rim, mark = FACES[player], RIMS[player], MARKS[player]
    draw.rounded_rectangle((0, 0, full, full), radius=full * 0.2, fill=rim)
    inset = full * 0.045
    draw.rounded_rectangle((inset, inset, full - inset, full - inset), radius=full * 0.17, fill=face)
    for column, row in _PIPS[value]:
        _disc(draw, 0, full * 0.095, mark, full * (0.26 + 0.24 * column), full * (0.26 + 0.24 * row))
    small = picture.reduce(_LARGER)
    if played:
        small.putalpha(small.getchannel("A").point(lambda a: a * _DIMMED // 255))
    return small


@lru_cache(maxsize=32)
def cube(value: int, size: int) -> Image:
    """The doubling cube with a number."""
    picture, draw = _blank(size, size)
    full = size * _LARGER - 1
    draw.rounded_rectangle((0, 0, full, full), radius=full * 0.14, fill=RIMS[0])
    inset = full * 0.045
    draw.rounded_rectangle((inset, inset, full - inset, full - inset), radius=full * 0.12, fill=CUBE)
    text = str(value)
    letters = font(full * (0.62, 0.56, 0.42, 0.32)[min(len(text), 4) - 1])
    draw.text((full / 2, full / 2), text, font=letters, fill=MARKS[0], anchor="mm", stroke_width=full * 0.012)
    return picture.reduce(_LARGER)


@lru_cache(maxsize=8)
def pin(size: int) -> Image:
    """The head of a pin, which marks a pinned checker."""
    picture, draw = _blank(size, size)
    full = size * _LARGER
    _disc(draw, full / 2, full * 0.48, mixed(PIN, (0, 0, 0), 0.45))
    _disc(draw, full / 2, full * 0.40, PIN)
    _disc(draw, full / 2, full * 0.12, mixed(PIN, (255, 255, 255), 0.7), -full * 0.12, -full * 0.12)
    return picture.reduce(_LARGER)
