"""The forms in which a state is written, by name, and reading a text whose form is not stated.

| form | what it says | see |
|---|---|---|
| `text` | everything | `nardy_rl/position.py`, `nardy_rl/cube.py` |
| `picture` | everything, for people; not read | `nardy_rl/picture.py` |
| `position-id` | the board | `nardy_rl/ids.py` |
| `match-id` | all but the board; read only after a Position ID | `nardy_rl/ids.py` |
| `gnubg-id` | both, with a colon between | `nardy_rl/ids.py` |
| `xgid` | everything but an offered resignation | `nardy_rl/xgid.py` |
| `fibs` | the same, without Jacoby and beavers | `nardy_rl/fibs.py` |
"""

from __future__ import annotations

import re
from collections.abc import Callable

from nardy_rl.cube import GameState
from nardy_rl.errors import BadOption, BadPosition, did_you_mean
from nardy_rl.fibs import fibs_board, from_fibs_board
from nardy_rl.ids import from_gnubg_id, from_position_id, gnubg_id, match_id, position_id, state_of
from nardy_rl.position import Position
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS, variant_text
from nardy_rl.xgid import from_xgid, xgid

FORMS: dict[str, Callable[[GameState], str]] = {
    "text": lambda game: game.text,
    "position-id": lambda game: position_id(game.position),
    "match-id": match_id,
    "gnubg-id": gnubg_id,
    "xgid": xgid,
    "fibs": fibs_board,
    "picture": lambda game: game.picture(),
}
"""How a state is written, by the name of the form."""

_READERS: list[tuple[str, str, Callable[[Variant, str], GameState]]] = [
    ("fibs", r"board:.*", from_fibs_board),
    ("text", r".*\|.*", lambda variant, text: _from_text(variant, text)),
    ("xgid", r"(XGID=.*|[^:\s]*(:[^:\s]*){8,9})", from_xgid),
    ("gnubg-id", r"[^:\s]*:[^:\s]*", from_gnubg_id),
    ("position-id", r"\S{14}", lambda variant, text: state_of(from_position_id(variant, text))),
]


def write_state(game: GameState, form: str) -> str:
    """A state in the form of that name.

    Raises BadOption for a form that does not exist, BadPosition or BadMatch for a state that it cannot say.
    """
    if form not in FORMS:
        raise BadOption(f"there is no form {form!r}{did_you_mean(form, FORMS)}; the forms are {', '.join(FORMS)}")
    return FORMS[form](game)


def read_state(variant: Variant, text: str) -> tuple[str, GameState]:
    """The name of a text's form and the state that it describes; raises BadPosition or BadMatch.

    A Position ID alone is read as money play with player 0 to throw.
    """
    line = " ".join(text.split())
    for form, pattern, read in _READERS:
        if re.fullmatch(pattern, line):
            return form, read(variant, line)
    raise BadPosition(
        f"{line[:80]!r} is no position: it takes a text such as {Position.start(variant).text!r}, a Position ID, "
        "POSITION_ID:MATCH_ID, an XGID or a FIBS board"
    )


def _from_text(variant: Variant, text: str) -> GameState:
    own = variant.id not in VARIANTS
    game = GameState.from_text(text, variant if own else None)
    if game.variant.name != variant.name:
        raise BadPosition(f"the text is of {variant_text(game.variant)}, not of {variant_text(variant)}: {text!r}")
    return game
