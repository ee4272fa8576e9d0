"""An error benchmark: how many points a game a bot's choices lose, known in seconds.

Building one takes positions from a player's own play, with a roll each, and rolls out every play that could be the best
with that player (`rollout.py`); of the others the player's values of the 21 rolls must do. The file is written after
every few positions, so that a build that was stopped goes on, and a benchmark can be made larger. Scoring asks a bot
for its choices and looks up what they lose.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, States, ValueBot
from nardy_rl.agents.sieve import Sifted, of_player
from nardy_rl.agents.visited import visited
from nardy_rl.batch import plays as plays_of
from nardy_rl.board import OUTCOME, OWED, PLAYER, TURN
from nardy_rl.dice import ROLL_WEIGHTS
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.experiments.errors_file import (
    ARRAYS,
    ErrorBenchmark,
    benchmark_for,
    keys_of,
    read_benchmark,
    write_benchmark,
)
from nardy_rl.experiments.luck import Floats
from nardy_rl.experiments.paired import checked_choices
from nardy_rl.experiments.rollout import rollout
from nardy_rl.experiments.runs import provenance
from nardy_rl.experiments.tournament import identity
from nardy_rl.variants import variant_text

PORTION = 25  # positions between two saves
BLUNDER = 0.1  # points a game that a choice loses


@dataclass(frozen=True)
class BuildSettings:
    """How a benchmark is made; see `build`."""

    positions: int = 2000
    trials: int = 72
    throws: int = 0
    candidates: int = 8
    margin: float = 0.08
    seed: int = 1
    explore: float = 0.05

    def as_about(self) -> dict[str, Any]:
        """All but how many positions: two benchmarks that agree in this are the beginning of the same one."""
        return {name: value for name, value in asdict(self).items() if name != "positions"}


def one_ply(bot: ValueBot, plays: States, players: NDArray[np.uint32]) -> Floats:
    """Values f64[M] of plays for given players, one roll further where the next thing is a throw."""
    values = of_player(bot, plays, players).astype(np.float64)
    waits = (plays[:, OWED] == 0) & (plays[:, OUTCOME] == 0)
    ahead = bot.roll_values(plays[waits]).astype(np.float64) @ ROLL_WEIGHTS
    same = (plays[waits, TURN] & np.uint32(PLAYER)) == players[waits]
    values[waits] = np.where(same, ahead, -ahead)
    return values


def _portion(bot: ValueBot, quick: Sifted, states: States, s: BuildSettings, threads: int | None) -> dict[str, Any]:
    """The arrays of a benchmark of some positions."""
    after, first = plays_of(bot.variant, states)
    group = np.repeat(np.arange(len(states)), np.diff(first))
    players = (states[:, TURN] & np.uint32(PLAYER))[group]
    values = one_ply(bot, after, players)
    best = np.maximum.reduceat(values, first[:-1])
    order = np.lexsort((-values, group))
    rank = np.empty(len(after), np.int64)
    rank[order] = np.arange(len(after)) - first[group[order]]
    rolled = (rank < s.candidates) & (values > best[group] - s.margin * float(bot.table.max()))
    points = rollout(bot, quick, after[rolled], s.trials, s.seed, s.throws, threads).points
    same = (after[rolled, TURN] & np.uint32(PLAYER)) == players[rolled]
    rolled_out = np.full(len(after), -np.inf)
    rolled_out[rolled] = np.where(same, points, -points)
    top = np.maximum.reduceat(rolled_out, first[:-1])
    # a play that was not rolled out loses what its value is behind, and at least as much as the worst that was
    worst = np.minimum.reduceat(np.where(rolled, rolled_out, np.inf), first[:-1])
    loss = np.where(rolled, top[group] - rolled_out, np.maximum(best[group] - values, (top - worst)[group]))
    return {
        "states": states, "first": first.astype(np.int32), "key": keys_of(after),
        "loss": loss.astype(np.float16), "rolled": rolled,
    }  # fmt: skip


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The arrays of several portions as one."""
    whole = {name: np.concatenate([part[name] for part in parts]) for name in ARRAYS if name != "first"}
    sizes = np.concatenate([np.diff(part["first"]) for part in parts])
    return {**whole, "first": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)}


def _positions(bot: ValueBot, settings: BuildSettings, number: int) -> States:
    """The positions of portion `number`, the same however many portions there will be."""
    seed = settings.seed + (number << 32)
    states = visited(bot, PORTION, seed, settings.explore, every=7, decisions=True)
    return states[np.random.default_rng(seed).permutation(PORTION)]  # a cut portion has all stages of a game as well


def build(
    bot: Bot,
    path: str | Path,
    settings: BuildSettings,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ErrorBenchmark:
    """Build the benchmark of a bot's game with that bot in a file, or go on with the one that is there.

    positions: how many. trials: of a rollout, best a multiple of 36. throws: after how many a trial ends with the bot's
    value; 0: at the end of the game. candidates, margin: rolled out are so many plays of a position at most, of those
    whose value by the 21 rolls is nearer to the best than this share of the highest score. seed: of positions and dice.
    explore: share of random plays on the way to the positions. The file is written every few positions. Raises BadBot
    for a bot that does not value positions, BadOption if the file holds a benchmark made otherwise.
    """
    if not isinstance(bot, ValueBot):
        raise BadBot(
            f"the bot {bot.name!r} does not value positions, so it cannot roll them out: take a trained policy"
        )
    about = {"variant": variant_text(bot.variant), "player": identity(bot), **settings.as_about()}
    parts = _begun(path, about)
    done, total = sum(len(part["states"]) for part in parts), settings.positions
    quick = Sifted(bot) if done < total else None
    while done < total:
        assert quick is not None
        states = _positions(bot, settings, done // PORTION)[done % PORTION :][: total - done]
        parts = [_joined([*parts, _portion(bot, quick, states, settings, threads)])]
        write_benchmark(path, parts[0], about | {"built": time.strftime("%Y-%m-%d"), "origin": provenance()})
        done += len(states)
        if progress is not None:
            progress(done, total)
    return benchmark_for(bot.variant, path)


def _begun(path: str | Path, about: dict[str, Any]) -> list[dict[str, Any]]:
    """The arrays in the file of a build, if there is one; it must be of the same build."""
    if not Path(path).exists():
        return []
    found = read_benchmark(path)
    other = [name for name, value in about.items() if found.about.get(name) != value]
    if other:
        raise BadOption(
            f"{path} holds a benchmark with {other[0]} {found.about.get(other[0])}, not {about[other[0]]}: "
            "give another file, or the settings that it was built with"
        )
    return [{name: getattr(found, name) for name in ARRAYS}]


# ---------------------------------------------------------------------------------------------- scoring


def score(bot: Bot, benchmark: ErrorBenchmark, seed: int = 1) -> dict[str, Any]:
    """What a bot's choices lose: see the keys in docs/cli.md. Raises BadOption if the rules give other plays by now."""
    states = benchmark.states
    after, first = plays_of(bot.variant, states)
    begun = time.perf_counter()
    draws = np.random.default_rng(seed).integers(0, 1 << 64, len(states), dtype=np.uint64)
    chosen = checked_choices(bot, bot.pick(states, after, first, draws), first)
    seconds = time.perf_counter() - begun
    keys = keys_of(after[chosen])
    lost, rolled = np.empty(len(states)), np.empty(len(states), np.bool_)
    for i in range(len(states)):
        span = slice(benchmark.first[i], benchmark.first[i + 1])
        at = np.flatnonzero(benchmark.key[span] == keys[i])
        if len(at) != 1 or first[i + 1] - first[i] != span.stop - span.start:
            raise BadOption(
                f"position {i} of the benchmark has other plays by the rules of this release: build it anew"
            )
        lost[i], rolled[i] = benchmark.loss[span][at[0]], benchmark.rolled[span][at[0]]
    n = len(states)
    return {
        "variant": benchmark.about["variant"],
        "bot": bot.name,
        "positions": n,
        "loss": float(lost.mean()),
        "se": float(lost.std(ddof=1) / np.sqrt(n)) if n > 1 else None,
        "best": float((lost == 0).mean()),
        "blunders": float((lost > BLUNDER).mean()),
        "not_rolled_out": float((~rolled).mean()),
        "seconds": seconds,
        "player": benchmark.about["player"],
        "digest": benchmark.about["digest"],
    }
