"""What a user's own player answers when it is asked for a play, and which play that means."""

from __future__ import annotations

from typing import Any

import numpy as np

from nardy_rl.errors import BadBot, NardyError
from nardy_rl.position import Position


def ask(chooser: Any, name: str, position: Position) -> int:
    """The number, in `position.plays()`, of the play that `chooser.choose(position)` answers.

    The answer may be a Position, such a number, or the text of the moves. name: what the chooser is called in messages.
    Raises BadBot, with the name, if `choose` fails or its answer is no legal play.
    """
    try:
        answer = chooser.choose(position)
    except Exception as error:
        raise BadBot(f"the bot {name!r} failed in {position.text}: {error!r}") from error
    legal = position.plays()
    if isinstance(answer, str):
        try:
            return legal.index(position.after(answer))
        except NardyError as error:
            raise BadBot(f"the bot {name!r} answered {answer!r}: {error}") from None
    if isinstance(answer, (int, np.integer)) and not isinstance(answer, bool):
        if not 0 <= answer < len(legal):
            raise BadBot(
                f"the bot {name!r} answered {answer}, but {position.text} has {len(legal)} plays: "
                f"answer 0 to {len(legal) - 1}"
            )
        return int(answer)
    if isinstance(answer, Position):
        if answer not in legal:
            raise BadBot(
                f"the bot {name!r} answered {answer.text}, where no legal play of {position.text} "
                f"leads: answer one of position.plays()"
            )
        return legal.index(answer)
    raise BadBot(
        f"the bot {name!r} answered {answer!r}: choose() must return a Position, an index into "
        f"position.plays(), or move text"
    )
