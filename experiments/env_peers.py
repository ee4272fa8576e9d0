"""Other people's backgammon environments, to check against and to time beside ours: OpenSpiel and pgx.

They are optional packages, imported when first asked for. What each of them counts as a step differs (two checker
moves, one checker move), so everything here is counted in whole *turns*, the throw of a player with all that he
plays of it. Boards are `int8[N, 2, 26]` as in `peers.py`, dice `int64[N, 2]`. Times are CPU seconds of this
process.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.experiments.peers import need

Boards = NDArray[np.int8]
_NO_CUT = 10_000  # turns after which OpenSpiel would cut a game off
_PGX_BATCHES = (64, 256, 1024)
_PGX_STEPS = 64  # micro-steps of a batch in one call of compiled code
_PGX_PARTS = 5
_PGX_CHUNK = 1024  # states expanded at once


class Turns(NamedTuple):
    """Turns of some games as another program plays them."""

    boards: Boards  # int8[N, 2, 26]  before the turn, in the view of the player whose turn it is
    dice: NDArray[np.int64]  # int64[N, 2]
    ends: list[set[bytes]]  # the boards int8[2, 26] that the turn can lead to, in the same view, as bytes
    chosen: list[bytes]  # the one that was chosen
    points: NDArray[np.float64]  # float64[N]  what the player won by it if the game ended, else nan


# ---------------------------------------------------------------------------------------------- OpenSpiel


def _openspiel_game() -> Any:
    pyspiel = need("pyspiel", "open-spiel", "openspiel")
    return pyspiel.load_game("backgammon", {"scoring_type": "full_scoring", "max_player_turns": _NO_CUT})


def _openspiel_board(state: Any, player: int) -> Boards:
    """The board int8[2, 26] of a state in the view of a player, read from OpenSpiel's own observation."""
    tensor = np.array(state.observation_tensor(player))
    board = np.zeros((2, 26), np.int8)
    for side, start in ((0, 0), (1, 96)):
        units = tensor[start : start + 96].reshape(24, 4)  # are there one, two, three checkers; how many more
        counts = units @ [1, 2, 3, 1] + 3 * (units[:, 3] > 0)
        upwards = player == side  # player 0 moves to higher numbers
        board[side, 1:25] = counts[::-1] if upwards else counts
        board[side, 25], board[side, 0] = tensor[192 + 3 * side : 194 + 3 * side]
    return board


def _openspiel_ends(state: Any, player: int, found: dict[bytes, Any]) -> None:
    """Every board to which the turn can lead, with a state that has it."""
    for action in state.legal_actions():
        after = state.child(action)
        if after.is_terminal() or after.is_chance_node():
            found.setdefault(_openspiel_board(after, player).tobytes(), after)
        else:  # the second half of a double
            _openspiel_ends(after, player, found)


def openspiel_turns(games: int, seed: int) -> Turns:
    """All turns of some games of random play in OpenSpiel."""
    game, rng = _openspiel_game(), random.Random(seed)
    boards, dice, ends, chosen, points = [], [], [], [], []
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(outcomes, weights)[0])
            player = state.current_player()
            found: dict[bytes, Any] = {}
            _openspiel_ends(state, player, found)
            boards.append(_openspiel_board(state, player))
            dice.append(state.observation_tensor(player)[198:200])
            ends.append(set(found))
            chosen.append(rng.choice(sorted(found)))
            state = found[chosen[-1]]
            points.append(state.player_return(player) if state.is_terminal() else np.nan)
    return Turns(np.array(boards), np.array(dice, np.int64), ends, chosen, np.array(points))


def openspiel_loop(turns: int, seed: int) -> Callable[[], float]:
    """A function that plays games of random play through OpenSpiel's states, and returns turns per CPU second.

    The actions, and the outcomes of chance, are drawn beforehand: timed are the loop over `is_terminal`,
    `is_chance_node`, `legal_actions` and `apply_action`, and making new states.
    """
    game, rng = _openspiel_game(), random.Random(seed)
    sequence, played = [], 0
    while played < turns:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                sequence.append(rng.choices(outcomes, weights)[0])
                played += 1
            else:
                sequence.append(rng.choice(state.legal_actions()))
            state.apply_action(sequence[-1])

    def once() -> float:
        start = time.process_time()
        state = game.new_initial_state()
        for action in sequence:
            if state.is_terminal():
                state = game.new_initial_state()
            if not state.is_chance_node():
                state.legal_actions()
            state.apply_action(action)
        return played / (time.process_time() - start)

    return once


def openspiel_environment(turns: int, seed: int) -> Callable[[], float]:
    """A function that plays games of random play in OpenSpiel's `rl_environment`; returns turns per CPU second.

    The actions are drawn beforehand, in the same games; the environment throws its dice itself.
    """
    rl = need("open_spiel.python.rl_environment", "open-spiel", "openspiel")
    rng = random.Random(seed)

    class Counting(rl.ChanceEventSampler):  # type: ignore[misc, name-defined]
        thrown = 0

        def __call__(self, state: Any) -> Any:
            self.thrown += 1
            return super().__call__(state)

    def made(sampler: Any) -> Any:
        return rl.Environment(_openspiel_game(), chance_event_sampler=sampler)

    sampler = Counting(seed)
    environment, actions = made(sampler), []
    step = environment.reset()
    while sampler.thrown < turns or not step.last():
        if step.last():
            step = environment.reset()
        legal = step.observations["legal_actions"][step.observations["current_player"]]
        actions.append(rng.choice(legal))
        step = environment.step([actions[-1]])

    def once() -> float:
        environment = made(rl.ChanceEventSampler(seed))
        start = time.process_time()
        step = environment.reset()
        for action in actions:
            if step.last():
                step = environment.reset()
            step = environment.step([action])
        return sampler.thrown / (time.process_time() - start)

    return once


# ---------------------------------------------------------------------------------------------- pgx


class Pgx:
    """pgx's backgammon on the CPU: its single-checker steps, compiled for batches of games of random play."""

    def __init__(self) -> None:
        """Raises MissingExtra without pgx."""
        pgx = need("pgx", "pgx", "pgx")
        self.jax = need("jax", "pgx", "pgx")
        self.env = pgx.make("backgammon")
        self.cpu = self.jax.devices("cpu")[0]
        with self.jax.default_device(self.cpu):
            self.init = self.jax.jit(self.jax.vmap(self.env.init))
            self.step = self.jax.jit(self.jax.vmap(self.env.step))
            self.run = self.jax.jit(self._run)

    def _draw(self, mask: Any, key: Any) -> Any:
        """A random legal action of a mask bool[156], by one random number."""
        jnp = self.jax.numpy
        number = self.jax.random.uniform(key) * mask.sum()
        return jnp.argmax(jnp.cumsum(mask) > number)

    def _micro_step(self, state: Any, key: Any) -> tuple[Any, Any]:
        """One checker move, or the first state of a new game after the end; was it the last move of its turn."""
        from pgx.experimental.wrappers import auto_reset

        draw, step = self.jax.random.split(key)
        action = self._draw(state.legal_action_mask, draw)
        after = auto_reset(self.env.step, self.env.init)(state, action, step)
        return after, after.terminated | (after._turn != state._turn)

    def _run(self, states: Any, key: Any) -> tuple[Any, Any]:
        """Some micro-steps of a batch of games: the states, and how many turns were completed."""
        games = states.terminated.shape[0]

        def once(states: Any, key: Any) -> tuple[Any, Any]:
            after, done = self.jax.vmap(self._micro_step)(states, self.jax.random.split(key, games))
            return after, done.sum()

        after, done = self.jax.lax.scan(once, states, self.jax.random.split(key, _PGX_STEPS))
        return after, done.sum()

    def turns_per_s(self, games: int, seed: int) -> Callable[[float], float]:
        """A function of CPU seconds that plays a batch of games for about so long; it returns turns per CPU second."""
        with self.jax.default_device(self.cpu):
            key = self.jax.random.PRNGKey(seed)
            states = self.init(self.jax.random.split(key, games))
            states, done = self.run(states, key)  # compiles
            done.block_until_ready()

        def once(seconds: float) -> float:
            nonlocal states, key
            total = 0
            with self.jax.default_device(self.cpu):
                start = time.process_time()
                while (spent := time.process_time() - start) < seconds or not total:
                    key, used = self.jax.random.split(key)
                    states, done = self.run(states, used)
                    total += int(done)
            return total / spent

        return once

    def best_batch(self, seconds: float, seed: int) -> tuple[int, Callable[[float], float]]:
        """The batch size with the most turns a second, and its function."""
        tried = {games: self.turns_per_s(games, seed) for games in _PGX_BATCHES}
        rates = {games: once(seconds) for games, once in tried.items()}
        best = max(rates, key=lambda games: rates[games])
        return best, tried[best]

    def turns(self, number: int, seed: int) -> Turns:
        """Turns met in games of random play, with every board that pgx lets the player reach."""
        jax = self.jax
        with jax.default_device(self.cpu):
            states = self.init(jax.random.split(jax.random.PRNGKey(seed), number))
            for part in range(_PGX_PARTS):  # of a game and more
                states, _ = self.run(states, jax.random.PRNGKey(seed + 1 + part))
            fresh = np.asarray(states._played_dice_num) == 0
            states = jax.tree.map(lambda leaf: leaf[fresh & ~np.asarray(states.terminated)], states)
            ends = self._ends(states)
        boards = _pgx_boards(np.asarray(states._board))
        dice = np.asarray(states._dice).astype(np.int64) + 1
        return Turns(boards, dice, ends, [b""] * len(boards), np.full(len(boards), np.nan))

    def _ends(self, states: Any) -> list[set[bytes]]:
        """Every board to which the turns of a batch of states can lead, by trying all of pgx's legal moves."""
        jax = self.jax
        ends: list[set[bytes]] = [set() for _ in range(states.terminated.shape[0])]
        place = np.arange(len(ends))  # the turn that each state of the frontier belongs to
        while len(place):
            which, actions = np.nonzero(np.asarray(states.legal_action_mask))
            states, place, turns = (
                jax.tree.map(lambda leaf, w=which: leaf[w], states),
                place[which],
                states._turn[which],
            )
            states = self._stepped(states, actions)
            turned = np.asarray(states._turn != turns)
            over = turned | np.asarray(states.terminated)
            boards = np.asarray(states._board)
            views = np.where(turned[:, None], _pgx_flipped(boards), boards)
            for i, end in zip(place[over], _pgx_boards(views[over]), strict=True):
                ends[i].add(end.tobytes())
            keys = np.column_stack([place, boards, np.sort(np.asarray(states._playable_dice), axis=1)])
            _, first = np.unique(keys, axis=0, return_index=True)
            kept = first[~over[first]]
            states, place = jax.tree.map(lambda leaf, k=kept: leaf[k], states), place[kept]
        return ends

    def _stepped(self, states: Any, actions: NDArray[np.int64]) -> Any:
        """The states after one action each, made in chunks of one size, so that one compilation does."""
        jax, parts = self.jax, []
        keys = jax.random.split(jax.random.PRNGKey(0), _PGX_CHUNK)
        for a in range(0, len(actions), _PGX_CHUNK):
            index = np.minimum(np.arange(a, a + _PGX_CHUNK), len(actions) - 1)
            parts.append(self.step(jax.tree.map(lambda leaf, i=index: leaf[i], states), actions[index], keys))
        return jax.tree.map(lambda *leaves: np.concatenate(leaves)[: len(actions)], *parts)


def _pgx_flipped(boards: NDArray[np.int32]) -> NDArray[np.int32]:
    """pgx's boards int32[N, 28] in the view of the other player."""
    return -np.concatenate([boards[:, 23::-1], boards[:, 25:23:-1], boards[:, 27:25:-1]], axis=1)


def _pgx_boards(boards: NDArray[np.int32]) -> Boards:
    """Boards int8[N, 2, 26] of pgx's int32[N, 28]: its player is positive and moves up, his bar is 24, his off 26."""
    out = np.zeros((len(boards), 2, 26), np.int8)
    for side, view in enumerate((boards, _pgx_flipped(boards))):
        mine = view.clip(min=0)
        out[:, side, 1:25] = mine[:, 23::-1]
        out[:, side, 25], out[:, side, 0] = mine[:, 24], mine[:, 26]
    return out
