"""Write the pictures of boards that the documentation shows into docs/images.

python tools/pictures.py
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from nardy_rl import Position
from nardy_rl.cube import Cube
from nardy_rl.envs.render import picture_rgb

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
WIDTH = 640

BOARDS: dict[str, tuple[str, Cube | None]] = {
    "backgammon": (
        "backgammon bar:1 22:1 19:2 18:1 13:2 8:3 6:5 | 21:1 16:1 14:1 13:5 8:2 4:2 2:3 | turn=0 throws=9,8 dice=31",
        Cube(2, owner=1),
    ),
    "plakoto": (
        "plakoto 24:3 22:2 20:2 12:2 11:1 10:1^ 7:1 6:1 3:1 2:1^ | 24:4 23:1 20:1 18:1^ 15:1 13:1^ 11:1 9:3 7:1 4:1 | "
        "turn=0 throws=13,12 dice=64",
        None,
    ),
    "crazy-v1": (
        "crazy-v1 24:10 20:2 18:1 8:2 | 24:8 23:1 22:1 14:1 2:1 1:3 | "
        "turn=0 thrower=1 starter=1 throws=3,4 dice=11 owed=2,3x4,4x4,5x4,6x4 head=0,1 handed",
        None,
    ),
}


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, (text, cube) in BOARDS.items():
        picture = Image.fromarray(picture_rgb(Position.from_text(text), WIDTH, cube))
        picture.save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
