"""Write tests/games: of every game one whole game of random play, with its dice and plays.

    python tools/golden_games.py

A file GAME.txt has a line for each decision, the text of the position with the dice thrown, and after `=>` the play;
the last line is the position at the end and what player 0 wins. Game 0 of seed 1 is played, each play drawn from the
distinct ones in the order of their texts. A test plays the games again: a file that changes shows a change of rules,
of the random streams, or of the texts. Write them anew only where that is meant, and look at the difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nardy_rl.dice import below, roll, stream
from nardy_rl.jit import kernel
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "games"
SEED = 1
DICE_AND_PLAYS = 1 << 32  # number of the stream that dice and plays are drawn from; the opening has its own


@kernel
def _draw(rng, n):
    """A number below n."""
    return below(rng, n)


def lines(name: str) -> Iterator[str]:
    """The lines of a game's file."""
    rng = np.zeros(1, np.uint64)
    stream(np.uint64(SEED), np.uint64(DICE_AND_PLAYS), rng)
    position = Position.opening(VARIANTS[name], SEED)
    while not position.over:
        if not position.owes:
            position = position.throw(*roll(rng))
        plays = sorted(position.plays(), key=lambda after: after.text)
        after = plays[_draw(rng, len(plays))]
        yield f"{position.text} => {position.move_text(after)}"
        position = after
    yield f"{position.text} => {position.score(0):+g}"


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    for name in VARIANTS:
        (FOLDER / f"{name}.txt").write_text("\n".join(lines(name)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
