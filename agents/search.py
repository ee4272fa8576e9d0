"""Search: a bot that looks some throws ahead with the values of another, `pretrained@1ply` by name.

Depth is counted as gnubg does: `0ply` is the bot itself, which values the positions after its plays; `1ply` looks at
the 21 rolls of the opponent and his best replies; and so on. A ply is one throw with all that is played of it, by
whoever plays it: stages of a progression, completions. What the value of a state is: `search_net.py`.

Not every play is looked into. Of the plays of the position to be played in, each ply goes on with those that the ply
before thought best (`FILTERS`); of a reply, those that the bot itself thinks best (`REPLIES`). Values that were found
are kept in a table of fixed size. The built-in net is searched by a kernel, others many states at a time; the result
depends neither on the table, nor on the threads, nor on how many states are asked for at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, States, ValueBot, thrown
from nardy_rl.agents.policy import KindsPolicy, Policy
from nardy_rl.agents.search_any import Evaluations, Floats, ahead, groups, kept_plays, of_movers, ranks
from nardy_rl.agents.search_net import Kept, Room, Table, ahead_batch, new_room, new_table
from nardy_rl.board import WORDS
from nardy_rl.dice import ROLLS
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.lockstep import own_scratch
from nardy_rl.machine import cores

MOST_PLIES = 3
CACHE_MB = 16.0  # of the table of each thread
PORTION = 4  # states that a thread takes at a time

FILTERS = (Kept(2, 8, 0.06), Kept(2, 5, 0.03), Kept(1, 3, 0.02))
"""Plays of a position that go on to the first ply, the second, ...; margins in shares of the highest score."""

REPLIES = Kept(1, 1, 0.0)
"""Replies that are looked into: the best by the bot itself, as gnubg has it."""


class Looked(NamedTuple):
    """What a search found of plays, for the player who makes them."""

    outputs: Floats  # f32[M, K]; K is 0 for a bot that knows values only
    values: Floats  # f32[M], in points
    plies: NDArray[np.int64]  # [M]: how deep each was looked into
    rank: NDArray[np.int64]  # [M]: its place among the plays of its state: the deeper first, then the better


class SearchBot(ValueBot):
    """A bot that plays by the values of `bot`, so many plies deep.

    `threads` are those of one call of `pick`, `look` or `evaluations`; duels call from threads of their own and leave
    it at 1. Several threads may use it at once if they may use `bot`.
    """

    def __init__(
        self, bot: ValueBot, depth: int, name: str | None = None, filters: Sequence[Kept] = FILTERS,
        replies: Kept = REPLIES, cache_mb: float = CACHE_MB,
    ) -> None:  # fmt: skip
        """Raises BadOption for a depth that is not from 1 to 3, or a filter that keeps nothing."""
        if not 1 <= depth <= MOST_PLIES:
            raise BadOption(f"a search of {depth} plies: it takes 1 to {MOST_PLIES}, such as {bot.name}@1ply")
        for kept in (*filters, replies):
            if not 1 <= kept.least <= kept.most or not kept.margin >= 0:
                raise BadOption(f"{kept} keeps no play: it takes 1 <= least <= most, and a margin of 0 or more")
        super().__init__(bot.variant, name or f"{bot.name}@{depth}ply")
        self.bot, self.depth = bot, depth
        self.meaning, self.parallel = bot.meaning, bot.parallel
        scale = float(self.table.max())
        self.filters = [kept._replace(margin=kept.margin * scale) for kept in filters[:depth]]
        self.filters += self.filters[-1:] * (depth - len(self.filters))
        self.replies = replies._replace(margin=replies.margin * scale)
        self.cache_mb = cache_mb
        self.threads = 1
        self._own = threading.local()
        self._lock = threading.Lock()
        self._pool: tuple[int, ThreadPoolExecutor] | None = None

    # ------------------------------------------------------------------------------------ values

    def evaluations(self, states: States) -> Evaluations:
        """Outputs and values of states, `depth` throws ahead; see `ValueBot.evaluations`."""
        return self.ahead(states, self.depth)

    def estimate(self, states: States) -> Floats:
        """See `ValueBot.estimate`; `depth` throws ahead."""
        return self.ahead(states, self.depth)[1]

    def outputs(self, states: States) -> Floats:
        """Cumulative probabilities f32[M, K] of the outcomes, `depth` throws ahead; [M, 0] if the bot knows none."""
        return self.ahead(states, self.depth)[0]

    def roll_values(self, states: States) -> Floats:
        """See `ValueBot.roll_values`; only the replies that are kept are looked into."""
        rows = np.empty((len(states) * len(ROLLS), WORDS), np.uint32)
        thrown(self.rules, states, ROLLS, rows)
        return self.ahead(rows, self.depth)[1].reshape(-1, len(ROLLS))

    def ahead(self, states: States, depth: int) -> Evaluations:
        """Outputs and values of states uint32[N, 16], so many throws ahead."""
        rows = np.ascontiguousarray(states, dtype=np.uint32)
        threads = min(self.threads, -(-len(rows) // PORTION)) if self.bot.parallel else 1
        if threads <= 1:
            return self._ahead(rows, depth)
        parts = [rows[i : i + PORTION] for i in range(0, len(rows), PORTION)]
        found = list(self._workers().map(lambda part: self._ahead(part, depth), parts))
        return np.concatenate([outputs for outputs, _ in found]), np.concatenate([values for _, values in found])

    def _ahead(self, rows: States, depth: int) -> Evaluations:
        """See `ahead`; in this thread."""
        bot = self.bot
        if not isinstance(bot, Policy) or isinstance(bot, KindsPolicy):
            return ahead(bot, rows, depth, self.replies)
        room, table = self._memory(bot)
        outputs, values = np.empty((len(rows), len(bot.meaning.points)), np.float32), np.empty(len(rows), np.float32)
        ahead_batch(
            bot.rules, bot.encoding, bot._weights(), bot.meaning, bot._work(), own_scratch(), room, table,
            self.replies, rows, np.int64(depth), outputs, values,
        )  # fmt: skip
        return outputs, values

    def _workers(self) -> ThreadPoolExecutor:
        """The threads, which stay with their memory from one call to the next."""
        with self._lock:
            if self._pool is None or self._pool[0] != self.threads:
                self._pool = self.threads, ThreadPoolExecutor(self.threads)
            return self._pool[1]

    def _memory(self, bot: Policy) -> tuple[Room, Table]:
        """This thread's memory."""
        if not hasattr(self._own, "memory"):
            room = new_room(bot.meaning, self.depth, self.replies.most)
            self._own.memory = room, new_table(bot.meaning, self.cache_mb)
        memory: tuple[Room, Table] = self._own.memory
        return memory

    # ------------------------------------------------------------------------------------ plays

    def look(self, states: States, plays: States, first: NDArray[np.int64]) -> Looked:
        """What the search finds of all plays of states; arguments as of `Bot.pick`."""
        return self._look(states[groups(first)], plays, first, False)

    def pick(
        self, states: States, plays: States, first: NDArray[np.int64], draws: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Bot.pick`; draws are not used."""
        chosen = first[:-1].copy()
        free = np.flatnonzero(np.diff(first) > 1)
        if len(free):
            which = np.isin(groups(first), free)
            numbers = np.flatnonzero(which)
            begins = np.searchsorted(numbers, first[np.append(free, len(states))])
            looked = self._look(states[groups(first)[which]], plays[which], begins, True)
            chosen[free] = numbers[looked.rank == 0]
        return chosen

    def _look(self, movers: States, plays: States, first: NDArray[np.int64], only_best: bool) -> Looked:
        """See `look`; movers: uint32[M, 16]. only_best: a play that has no rival left is not looked into further."""
        found = of_movers(self.meaning, movers, plays, self.bot.evaluations(plays))
        outputs, values = found[0].copy(), found[1].copy()
        plies, chosen, begins = np.zeros(len(plays), np.int64), np.arange(len(plays)), first
        for depth, kept in enumerate(self.filters, 1):
            chosen = chosen[kept_plays(kept, values[chosen], begins)]
            begins = np.searchsorted(chosen, first)
            rivals = chosen[np.diff(begins)[groups(begins)] > 1] if only_best else chosen
            deeper = of_movers(self.meaning, movers[rivals], plays[rivals], self.ahead(plays[rivals], depth))
            outputs[rivals], values[rivals] = deeper
            plies[chosen] = depth
        return Looked(outputs, values, plies, ranks(first, values, plies))


def searching(bot: Bot, depth: int, name: str) -> SearchBot:
    """The bot that searches by the values of another; raises BadBot for one without values, or too deep a search."""
    if not isinstance(bot, ValueBot):
        raise BadBot(f"bot {name!r}: {bot.name} does not value positions, so it cannot search: name it without a depth")
    if depth > MOST_PLIES:
        raise BadBot(
            f"bot {name!r}: a search takes 1 to {MOST_PLIES} plies; name it {bot.name}@{MOST_PLIES}ply at most"
        )
    if isinstance(bot, SearchBot):
        raise BadBot(f"bot {name!r}: {bot.name} searches already: name one depth")
    return SearchBot(bot, depth, name)


def use_threads(bot: Bot, threads: int | None = None) -> None:
    """Let a bot that searches use so many threads in one call, by default all cores; other bots stay as they are."""
    if isinstance(bot, SearchBot):
        bot.threads = threads or cores()


def layers(bot: Bot) -> Iterator[Bot]:
    """A bot, and those that it is made around, from the outside in."""
    inner: object = bot
    while isinstance(inner, Bot):
        yield inner
        inner = inner.bot if isinstance(inner, SearchBot) else getattr(inner, "inner", None)


def without_search(bot: ValueBot) -> ValueBot:
    """The bot whose own values a bot searches by, or the bot itself where nothing is searched."""
    return next((layer.bot for layer in layers(bot) if isinstance(layer, SearchBot)), bot)
