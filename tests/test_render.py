"""The picture of a board shows what is on the board."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from nardy_rl import VARIANTS, BadOption, MissingExtra, Position
from nardy_rl.cube import Cube
from nardy_rl.position import crossed

pytest.importorskip("PIL", reason="pictures need Pillow: pip install 'nardy-rl[render]'")

from nardy_rl.envs import pieces, render  # noqa: E402
from nardy_rl.envs.render import picture_rgb  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
SCALE = render.WIDTH / 1000  # pixels a unit


def random_positions(variant: str, seed: int, number: int) -> list[Position]:
    """Positions of random games, every seventh, owing a play or not, finished ones too."""
    rng = np.random.default_rng(seed)
    found: list[Position] = []
    position = Position.opening(variant, seed)
    for i in range(7 * number):
        if i % 7 == 0:
            found.append(position)
        if position.over:
            position = Position.opening(variant, seed + i)
        elif not position.owes:
            position = position.throw(*(int(die) for die in rng.integers(1, 7, 2)))
        else:
            plays = position.plays()
            position = plays[int(rng.integers(len(plays)))]
    return found


def owner_at(frame: np.ndarray, x: float, y: float) -> int | None:
    """The player whose checker has its middle at (x, y), in units; None if there is none."""
    pixel = frame[round(y * SCALE), round(x * SCALE)].astype(int)
    near = [int(np.abs(pixel - face).max()) <= 3 for face in pieces.FACES]
    return near.index(True) if any(near) else None


def small_stacks(position: Position) -> list[tuple[int, int, int]]:
    """(White's point, player, number) of every stack that is not pinning and has no number on it; 0 where none is."""
    found = []
    for point in range(1, 25):
        other = crossed(point, position.variant.parallel)
        numbers = [int(position.counts[0, point]), int(position.counts[1, other])]
        if all(numbers) or max(numbers) > 5:
            continue
        found.append((point, int(numbers[1] > 0), max(numbers)))
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_checker_stands_where_the_position_says(variant: str) -> None:
    looked_at = 0
    for position in random_positions(variant, 3, 12):
        frame = picture_rgb(position)
        assert frame.shape == (600, 800, 3) and frame.dtype == np.uint8
        for point, player, number in small_stacks(position):
            edge, way = render._inwards(point)
            for i in range(5):
                y = edge + way * (26 + 51 * i)
                assert owner_at(frame, render._column(point), y) == (player if i < number else None), position.text
                looked_at += 1
    assert looked_at > 500


def test_tall_stacks_the_bar_and_the_trays_say_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    plain = render._Canvas.text
    monkeypatch.setattr(
        render._Canvas,
        "text",
        lambda self, x, y, text, *rest, **more: (written.append(text), plain(self, x, y, text, *rest, **more)),
    )
    picture_rgb(Position.from_text("snake 24:2 13:5 8:3 6:5 | bar:9 24:6 | turn=1 starter=1 throws=0,1 dice=65"))
    assert {"9", "6", "Snake", "Black is to play 6-5", "Black  369 pips", "off"} <= set(written)
    written.clear()
    picture_rgb(Position.from_text("backgammon 1:3 off:12 | 23:1 1:10 off:4 | turn=0 throws=50,49"))
    assert {"12 off", "4 off", "10", "White is to throw"} <= set(written)


@pytest.mark.parametrize("variant", ["backgammon", "classic"])
def test_points_are_numbered_for_the_player_who_acts(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers: dict[float, str] = {}

    def note(self: object, x: float, y: float, text: str, *rest: object, **more: object) -> None:
        if text.isdecimal() and y < 70:
            numbers[x] = text

    monkeypatch.setattr(render._Canvas, "text", note)
    for player, upper_row in ((0, range(13, 25)), (1, range(1, 13) if variant == "classic" else range(12, 0, -1))):
        numbers.clear()
        picture_rgb(Position.start(variant, starter=player))
        assert [numbers[x] for x in sorted(numbers)] == [str(d) for d in upper_row]


@pytest.mark.parametrize(
    ("text", "values", "later"),
    [
        ("backgammon 24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0 throws=1,0 dice=31", [(3, False), (1, False)], []),
        (
            "crazy-v1 24:13 1:2 | 24:14 1:1 | turn=1 thrower=0 throws=3,3 dice=53 owed=3 handed",
            [(5, True), (3, False)],
            [],
        ),
        (
            "crazy-v1 24:13 1:2 | 24:14 1:1 | turn=1 thrower=0 throws=3,3 dice=22 owed=4,5x4,6x4 handed",
            [(4, True), (4, True), (4, True), (4, False)],
            [5, 6],
        ),
    ],
)
def test_dice_that_are_played_are_pale(text: str, values: list[tuple[int, bool]], later: list[int]) -> None:
    position = Position.from_text(text)
    assert render._dice_shown(position) == (values, later)
    middle = render._MIDDLE_Y
    frame = picture_rgb(position)
    width = len(values) * 49 - 7 + len(later) * 26 + (10 if later else 0)
    left = 500 + (210 if position.player == 0 else -210) - width / 2
    for i, (_, played) in enumerate(values):
        corner = owner_at(frame, left + 49 * i + 5, middle - 8)  # beside the pips
        assert corner == (None if played else position.thrower)


def test_a_pinned_checker_shows_under_its_pinner_with_a_pin() -> None:
    free = "plakoto 24:14 10:1 | 24:14 14:1 | turn=0 throws=3,3 dice=21"
    pinned = "plakoto 24:14 10:1^ | 24:14 15:1 | turn=0 throws=3,3 dice=21"
    x, edge = render._column(10), render._LOWER
    for text, sees_pin in ((free, False), (pinned, True)):
        frame = picture_rgb(Position.from_text(text))
        pixel = frame[round((edge - 8) * SCALE), round(x * SCALE)].astype(int)
        assert bool(np.abs(pixel - pieces.PIN).max() < 40) is sees_pin
    assert owner_at(frame, x + 13, edge - 20) == 0  # the pinned checker
    assert owner_at(frame, x, edge - 26 - 0.55 * 52) == 1  # its pinner


def test_the_cube_is_shown_where_it_lies() -> None:
    position = Position.opening("backgammon", seed=7)
    plain = picture_rgb(position)
    frames = [picture_rgb(position, cube=cube) for cube in (Cube(), Cube(2, 0), Cube(2, 1))]
    rows = []
    for frame in frames:
        changed = np.argwhere((frame != plain).any(axis=2))
        assert changed[:, 1].max() < 80  # at the left
        rows.append(changed[:, 0].mean())
    assert rows[2] < 100 < 280 < rows[0] < 320 < 480 < rows[1]  # Black's, nobody's, White's
    assert (picture_rgb(position, cube=Cube(4, 0)) != frames[1]).any()


@pytest.mark.parametrize("size", [240, 641, 1200])
def test_the_size_is_the_width_and_equal_positions_give_equal_pictures(size: int) -> None:
    position = Position.opening("fevga", seed=1)
    first = picture_rgb(position, size)
    assert first.shape == (3 * size // 4, size, 3)
    render._empty_board.cache_clear()
    pieces.checker.cache_clear()
    assert (picture_rgb(Position.from_text(position.text), size) == first).all()


@pytest.mark.parametrize("size", [0, 239, 4001, 800.0, True])
def test_a_size_that_cannot_be_is_refused(size: object) -> None:
    with pytest.raises(BadOption, match="240 to 4000"):
        picture_rgb(Position.start("hyper"), size)  # type: ignore[arg-type]


def test_without_pillow_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtra, match=r"nardy-rl\[render\]"):
        picture_rgb(Position.start("hyper"))


def test_a_name_without_letters_in_the_font_is_replaced_by_the_id() -> None:
    from dataclasses import replace

    variant = replace(VARIANTS["classic"], id="mine", name="Моя", source="user")
    assert render._title(variant) == "mine"
    assert picture_rgb(Position.start(variant)).shape == (600, 800, 3)


def test_the_pictures_of_the_documentation_are_those_that_the_tool_makes() -> None:
    from PIL import Image

    spec = importlib.util.spec_from_file_location("pictures", ROOT / "tools" / "pictures.py")
    assert spec is not None and spec.loader is not None
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    for name, (text, cube) in pictures.BOARDS.items():
        with Image.open(pictures.FOLDER / f"{name}.png") as image:
            stored = np.asarray(image, dtype=int)
        made = picture_rgb(Position.from_text(text), pictures.WIDTH, cube)
        assert stored.shape == made.shape
        assert np.abs(stored - made).mean() < 1, name  # letters may differ a little between versions of Pillow
