"""Exact rules of 25 backgammon and nardy games, at speed, for players, programs and learners.

The public surface, with a guide in docs/python.md:

| what | for |
|---|---|
| `VARIANTS`, `parse_variant`, `with_options`, `Variant` | the games, their options, a game of your own |
| `Position` | one position: text, picture, plays, moves |
| `GameState`, `Match` | a game with its doubling cube, in a match or for money (docs/cube.md) |
| `nardy_rl.ids`, `xgid`, `fibs`, `forms`, `match_file` | other programs' notations (docs/notation.md) |
| `nardy_rl.batch` | many positions at once, as arrays: starts, throws, plays, scores, inputs of a net |
| `nardy_rl.agents`: `load_bot`, `Bot`, `ValueBot`, `Policy` | players, yours among them |
| the errors below | what each call can raise: one tree under `NardyError` |

Everything else may change. Whatever is heavy is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

from nardy_rl.errors import (
    BadBot,
    BadMatch,
    BadOption,
    BadPolicy,
    BadPosition,
    BadRun,
    IllegalPlay,
    MissingExtra,
    NardyError,
    UnknownVariant,
)

if TYPE_CHECKING:
    from nardy_rl.cube import GameState as GameState
    from nardy_rl.match import Match as Match
    from nardy_rl.options import with_options as with_options
    from nardy_rl.position import Position as Position
    from nardy_rl.variant import Variant as Variant
    from nardy_rl.variants import VARIANTS as VARIANTS
    from nardy_rl.variants import parse_variant as parse_variant

try:
    __version__ = metadata.version("nardy-rl")
except metadata.PackageNotFoundError:  # the sources, not installed
    __version__ = "0+unknown"

_LAZY = {
    "GameState": "nardy_rl.cube",
    "Match": "nardy_rl.match",
    "Position": "nardy_rl.position",
    "VARIANTS": "nardy_rl.variants",
    "Variant": "nardy_rl.variant",
    "parse_variant": "nardy_rl.variants",
    "with_options": "nardy_rl.options",
}

__all__ = [
    "VARIANTS",
    "BadBot",
    "BadMatch",
    "BadOption",
    "BadPolicy",
    "BadPosition",
    "BadRun",
    "GameState",
    "IllegalPlay",
    "Match",
    "MissingExtra",
    "NardyError",
    "Position",
    "UnknownVariant",
    "Variant",
    "__version__",
    "parse_variant",
    "with_options",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'nardy_rl' has no attribute {name!r}")
