"""Bots: who chooses a play. One protocol for games against people and for batches of thousands.

A `Bot` picks one play for each of many states at once (`pick`), or for one `Position` (`choose`). A
`ValueBot` has a value for every position and takes the play to the best one. `load_bot` makes a bot from its
name on the command line.
"""

from __future__ import annotations

import importlib
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.board import OUTCOME, PLAYER, TURN
from nardy_rl.dice import ROLL_WEIGHTS, ROLLS, next_random, stream
from nardy_rl.errors import BadBot, IllegalPlay, NardyError, did_you_mean
from nardy_rl.jit import kernel
from nardy_rl.lockstep import own_scratch, plays_into
from nardy_rl.results import score_table
from nardy_rl.rules import Rules, rules_of
from nardy_rl.turns import throw
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant, variant_text

if TYPE_CHECKING:
    from nardy_rl.agents.net import Outputs
    from nardy_rl.position import Position

States = NDArray[np.uint32]
"""States `uint32[N, 16]` (nardy_rl/board.py), each in the view of the player who acts next."""

GROUP = "nardy_rl.bots"
"""Entry point group under which an installed package may offer bots: `name = "package.module:Class"`."""

ROLL_CHUNK = 128  # states whose plays for all 21 rolls are looked at together: some 50,000 afterstates


# ---------------------------------------------------------------------------------------------- kernels


@kernel
def thrown(rules, rows, rolls, out):
    """Every state (uint32[N, 16], awaiting a throw) with every roll (int64[R, 2]); out: uint32[N * R, 16]."""
    r = len(rolls)
    for i in range(len(rows)):
        for k in range(r):
            out[i * r + k] = rows[i]
            throw(rules, out[i * r + k], rolls[k, 0], rolls[k, 1])


@kernel
def best_plays(states, plays, first, values, chosen, best):
    """The play of the highest value for each state's player; the first of equals.

    Fills chosen int64[N] and best f32[N]. values[j] belongs to the player of plays[j]: it counts with the
    opposite sign where that is the other player.
    """
    for i in range(len(states)):
        mover = states[i, TURN] & np.uint32(PLAYER)
        top, at = np.float32(-np.inf), first[i]
        for j in range(first[i], first[i + 1]):
            value = values[j] if plays[j, TURN] & np.uint32(PLAYER) == mover else -values[j]
            if value > top:
                top, at = value, j
        chosen[i], best[i] = at, top


@kernel
def settle_values(states, table, values):
    """Put the exact result for the state's player where a state is finished (table: see score_table)."""
    for i in range(len(states)):
        if states[i, OUTCOME]:
            values[i] = table[np.int64(states[i, OUTCOME]) - 1]


@kernel
def _one_draw(rng, draws):
    draws[0] = next_random(rng)


_own = threading.local()


def all_plays(rules: Rules, states: States) -> tuple[States, NDArray[np.int64]]:
    """Every play of states that all owe a stage, as `batch.plays` gives them, in memory that is used again.

    Returns plays uint32[M, 16] and first int64[N + 1]. The next call in the same thread overwrites the plays.
    """
    first = np.zeros(len(states) + 1, np.int64)
    if not hasattr(_own, "room"):
        _own.room = np.empty((1 << 14, 16), np.uint32)
    room: States = _own.room
    done = plays_into(rules, states, own_scratch(), room, first, 0)
    while done < len(states):
        larger = np.empty((2 * len(room), 16), np.uint32)
        larger[: first[done]] = room[: first[done]]
        room = _own.room = larger
        done = plays_into(rules, states, own_scratch(), room, first, done)
    return room[: first[-1]], first


# ---------------------------------------------------------------------------------------------- bots


class Bot(ABC):
    """A player of one game.

    Attributes: `name` (as given on the command line), `variant`, and `parallel`: may several threads ask it
    at the same time. A subclass gives `pick`.
    """

    parallel = True

    def __init__(self, variant: Variant, name: str, seed: int = 1) -> None:
        self.variant = variant
        self.name = name
        self.rules = rules_of(variant)
        self._draws = np.zeros(1, np.uint64)
        stream(np.uint64(seed & 0xFFFFFFFFFFFFFFFF), np.int64(0), self._draws)

    @abstractmethod
    def pick(
        self, states: States, plays: States, first: NDArray[np.int64], draws: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """One play for each state.

        states: uint32[N, 16], each owing a stage; plays: uint32[M, 16], all their plays; first: int64[N + 1]:
        state i has plays[first[i]:first[i + 1]], never none; draws: uint64[N], fresh random bits.
        Returns int64[N]: indices into plays.
        """

    def choose(self, position: Position) -> Position:
        """The position after this bot's play in `position`, which must owe a play.

        Raises BadBot for a position of another game, and IllegalPlay if there is nothing to play.
        """
        if position.variant != self.variant:
            raise BadBot(
                f"the bot {self.name!r} was loaded for {variant_text(self.variant)} and cannot play "
                f"{variant_text(position.variant)}: load it for that game"
            )
        if position.over or not position.owes:
            raise IllegalPlay(f"nothing to play in {position.text}: throw first, or the game is over")
        states = position.state[None]
        plays, first = all_plays(self.rules, states)
        draws = np.zeros(1, np.uint64)
        _one_draw(self._draws, draws)
        chosen = plays[self.pick(states, plays, first, draws)[0]]
        return next(after for after in position.plays() if (after.state == chosen).all())

    def __repr__(self) -> str:
        return f"<bot {self.name} for {variant_text(self.variant)}>"


class ValueBot(Bot):
    """A bot that values positions and takes the play to the best one; the first of equals.

    A subclass gives `estimate`. `roll_values` makes any of them an evaluator for adjusting luck in duels. `meaning`
    says what its outputs mean (`net.outputs_of`); None for one that knows values only.
    """

    meaning: Outputs | None = None

    def __init__(self, variant: Variant, name: str) -> None:
        super().__init__(variant, name)
        self.table = score_table(variant)

    @abstractmethod
    def estimate(self, states: States) -> NDArray[np.float32]:
        """Expected points f32[M] for each state's own player; finished states may get any value."""

    def values(self, states: States) -> NDArray[np.float32]:
        """Expected points f32[M] for each state's own player; the exact result where the game is over."""
        values = self.estimate(states)
        settle_values(states, self.table, values)
        return values

    def evaluations(self, states: States) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Outputs f32[M, K] of states as `meaning` has them, and `values`; K is 0 where the bot knows no outcomes."""
        return np.empty((len(states), 0), np.float32), self.values(states)

    def pick(
        self, states: States, plays: States, first: NDArray[np.int64], draws: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Bot.pick`; draws are not used."""
        return self._best(states, plays, first)[0]

    def _best(
        self, states: States, plays: States, first: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        chosen, best = np.empty(len(states), np.int64), np.empty(len(states), np.float32)
        best_plays(states, plays, first, self.values(plays), chosen, best)
        return chosen, best

    def roll_values(self, states: States) -> NDArray[np.float32]:
        """Value f32[N, 21] of the best reply to each roll of `dice.ROLLS`, for the player of each state.

        states: uint32[N, 16], each awaiting a throw.
        """
        rolls = len(ROLLS)
        result = np.empty((len(states), rolls), np.float32)
        room = np.empty((ROLL_CHUNK * rolls, 16), np.uint32)
        for begin in range(0, len(states), ROLL_CHUNK):
            some = states[begin : begin + ROLL_CHUNK]
            rows = room[: len(some) * rolls]
            thrown(self.rules, some, ROLLS, rows)
            plays, first = all_plays(self.rules, rows)
            result[begin : begin + len(some)] = self._best(rows, plays, first)[1].reshape(-1, rolls)
        return result

    def throw_values(self, states: States) -> NDArray[np.float32]:
        """Value f32[N] of states that await a throw, one roll and play ahead: the mean of `roll_values`."""
        return (self.roll_values(states) @ ROLL_WEIGHTS).astype(np.float32)


class UserBot(Bot):
    """Somebody's own bot: an object whose `choose(position)` returns a Position, an index or a move text.

    The index counts in `position.plays()`. One thread at a time asks it, in the order of the games.
    """

    parallel = False

    def __init__(self, variant: Variant, name: str, inner: Any) -> None:
        super().__init__(variant, name)
        self.inner = inner

    def choose(self, position: Position) -> Position:
        """See `Bot.choose`; raises BadBot, with the bot's name, for an answer that is no legal play."""
        return position.plays()[self._answer(position)]

    def _answer(self, position: Position) -> int:
        from nardy_rl.answers import ask

        return ask(self.inner, self.name, position)

    def pick(
        self, states: States, plays: States, first: NDArray[np.int64], draws: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Bot.pick`; asks `choose` state by state."""
        from nardy_rl.position import Position

        answers = [self._answer(Position(self.variant, state)) for state in states]
        return first[:-1] + np.array(answers, np.int64)


# ---------------------------------------------------------------------------------------------- by name


def _depth(name: str) -> tuple[str, int | None]:
    """A bot's name and the depth written after it: `gnubg@2ply` is (`gnubg`, 2)."""
    base, at, depth = name.rpartition("@")
    if not at:
        return name, None
    match = re.fullmatch(r"(\d+)-?ply", depth)
    if not match:
        raise BadBot(f"bot {name!r}: the depth {depth!r} must be written like 1ply")
    return base, int(match[1])


def _pretrained(variant: Variant) -> Bot:
    from nardy_rl.agents.policy import pretrained_path

    path = pretrained_path(variant)
    if path is None:
        raise BadBot(
            f"no pretrained policy comes with {variant_text(variant)}: train one with  nardy train "
            f"{variant_text(variant)}"
        )
    return _from_file(variant, "pretrained", path)


def _from_file(variant: Variant, name: str, path: Path) -> Bot:
    from nardy_rl.agents.policy import load_policy

    policy = load_policy(path, variant)
    policy.name = name
    return policy


def _random(variant: Variant) -> Bot:
    from nardy_rl.agents.baselines import RandomBot

    return RandomBot(variant)


def _pips(variant: Variant) -> Bot:
    from nardy_rl.agents.baselines import PipsBot

    return PipsBot(variant)


def _heuristic(variant: Variant) -> Bot:
    from nardy_rl.agents.heuristic import HeuristicBot

    return HeuristicBot(variant)


def _pubeval(variant: Variant) -> Bot:
    from nardy_rl.agents.outside import PubevalBot

    return PubevalBot(variant)


def _exact(variant: Variant) -> Bot:
    bot: Bot = importlib.import_module("nardy_rl.agents.exact_bot").exact_bot(variant)
    return bot


def _engine(variant: Variant, name: str, depth: int, text: str) -> Bot:
    bot: Bot = getattr(importlib.import_module("nardy_rl.agents.engines"), ENGINES[name])(variant, depth, text)
    return bot


BOTS: dict[str, Callable[[Variant], Bot]] = {
    "random": _random,
    "pips": _pips,
    "heuristic": _heuristic,
    "pretrained": _pretrained,
    "pubeval": _pubeval,
    "exact": _exact,
}
"""Bots by name, without depth."""

ENGINES = {"gnubg": "GnubgBot", "opensage": "OpenSageBot"}
"""Bots that search themselves, by name: their classes in `engines.py`."""

NAMES = (*BOTS, *ENGINES)
LEVELS = ("beginner", "club", "master")
"""Weaker players: what may follow a bot's name, as in `pretrained:club` (`levels.py`)."""


def _user_bot(variant: Variant, name: str, make: Callable[[Variant], Any]) -> Bot:
    """A user's class, constructed with the variant; wrapped unless it is a Bot already."""
    try:
        inner = make(variant)
    except NardyError:
        raise
    except Exception as error:
        raise BadBot(f"the bot {name!r} could not be made for {variant_text(variant)}: {error!r}") from error
    if isinstance(inner, Bot):
        inner.name = name
        return inner
    if not callable(getattr(inner, "choose", None)):
        raise BadBot(f"the bot {name!r} has no method choose(position): give its class one")
    return UserBot(variant, name, inner)


def _imported(variant: Variant, name: str) -> Bot:
    """The bot `module:Class`."""
    module_name, _, attribute = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        if module_name.removesuffix("+bearoff") in NAMES:
            wrong = "must stand at the end, after the depth" if attribute in LEVELS else "is no level"
            raise BadBot(f"bot {name!r}: {attribute!r} {wrong}: levels are {', '.join(LEVELS)}") from None
        raise BadBot(
            f"bot {name!r}: cannot import {module_name!r} ({error}): run where Python finds it, or add "
            f"its folder to PYTHONPATH"
        ) from None
    if not hasattr(module, attribute):
        near = did_you_mean(attribute, dir(module))
        raise BadBot(f"bot {name!r}: {module_name} has no {attribute!r}{near}")
    return _user_bot(variant, name, getattr(module, attribute))


def load_bot(variant: str | Variant, text: str) -> Bot:
    """The bot that a text names, for one game.

    variant: an id with options as on the command line, or a Variant. text: `random`, `pips`, `heuristic`,
    `pretrained`, `pubeval`, `exact`, `gnubg`, `opensage`, the path of a policy file or of a run folder,
    `module:Class`, or an entry point of the group `nardy_rl.bots`; then a depth, as in `pretrained@1ply`, for a bot
    that values positions (`search.py`). `+bearoff` after the name of such a bot makes it look endgames up in tables
    (`endgame.py`).
    `external:HOST:PORT` is another program's player (`external.py`). A level after all that, as in `pretrained:club`,
    weakens a bot (`levels.py`).

    Raises BadBot for an unknown bot or one that cannot play this game, BadPolicy for a bad policy file,
    MissingExtra where an optional package is needed.
    """
    if isinstance(variant, str):
        variant = parse_variant(variant)
    inner, colon, level = text.rpartition(":")
    if colon and level in LEVELS:
        weaker: Bot = importlib.import_module("nardy_rl.agents.levels").at_level(load_bot(variant, inner), level, text)
        return weaker
    name, depth = _depth(text)
    if name in ENGINES:
        return _engine(variant, name, depth or 0, text)
    bot = _bot_named(variant, name)
    if depth:  # by name, so that the kernels here are not compiled anew when the search changes
        search = importlib.import_module("nardy_rl.agents.search")
        searching: Bot = search.searching(bot, depth, text)
        return searching
    return bot


def _bot_named(variant: Variant, name: str) -> Bot:
    if name in BOTS:
        return BOTS[name](variant)
    if name in ENGINES:  # before `+bearoff`, which says why it cannot take one
        return _engine(variant, name, 0, name)
    if name.endswith("+bearoff"):
        inner = _bot_named(variant, name.removesuffix("+bearoff"))
        with_tables: Bot = importlib.import_module("nardy_rl.agents.endgame_bot").with_endgame(inner, name)
        return with_tables
    if name.startswith("external:"):
        external: Bot = importlib.import_module("nardy_rl.agents.external").ExternalBot(variant, name)
        return external
    installed = {point.name: point for point in entry_points(group=GROUP)}
    if name in installed:
        try:
            make = installed[name].load()
        except Exception as error:
            where = installed[name].value
            raise BadBot(f"the installed bot {name!r} ({where}) does not load: {error!r}") from error
        return _user_bot(variant, name, make)
    path = Path(name)
    if name and path.is_dir():
        if not (path / "policy.safetensors").is_file():
            raise BadBot(f"the folder {name!r} holds no policy.safetensors: name a run folder or a file")
        return _from_file(variant, name, path / "policy.safetensors")
    if path.is_file() or path.suffix == ".safetensors":
        return _from_file(variant, name, path)
    if ":" in name:
        return _imported(variant, name)
    known = [*NAMES, *installed]
    raise BadBot(
        f"unknown bot {name!r}{did_you_mean(name, known)}; bots are {', '.join(known)}, a policy file, a run "
        f"folder, or module:Class"
    )
