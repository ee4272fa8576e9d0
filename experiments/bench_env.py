"""How fast the environments are: a batch of games in the native vector environment, and one game alone.

Before anything is timed, the vector environment's numbers of plays are compared with those stored with the benchmark
positions, its games with those of the single environment, and, with rivals, the plays of turns met in the rival's own
games with theirs. The rivals are counted in whole turns, which in the game they know are our decisions. All games are
of random play.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.board import OUTCOME, TURN
from nardy_rl.envs.single import NardyEnv
from nardy_rl.envs.vector import NardyVectorEnv
from nardy_rl.errors import BadOption
from nardy_rl.experiments.bench import (
    alternate,
    has_package,
    is_usual_backgammon,
    one_core,
    per_cpu_second,
    read_inputs,
    result,
)
from nardy_rl.experiments.compare import plays_and_boards, states_of_boards
from nardy_rl.experiments.env_peers import Pgx, Turns, openspiel_environment, openspiel_loop, openspiel_turns
from nardy_rl.position import Position
from nardy_rl.results import score_table
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS, parse_variant, variant_text

GAMES = 1024  # of the vector environment
SEED = 1
_TURNS = 4000  # of a rival's or our games that are timed at a time
_COMPARED_GAMES = 8  # of the vector environment, each with the single one
_COMPARED_STEPS = 200
_RIVAL_GAMES = 4
_PGX_TURNS = 128
_NO_RIVALS: dict[str | None, Callable[[], float] | None] = {None: None}

Say = Callable[[str], None]


def bench_env(
    variants: Sequence[Variant | str] | None = None,
    peers: bool = False,
    seconds: float = 2.0,
    say: Say | None = None,
) -> list[dict[str, Any]]:
    """Decisions a second of the environments of some games, on packed boards, in the afterstate form.

    `vector_decisions_per_s`: the native vector environment, each action drawn at random below the number of plays, the
    draw included. `env_decisions_per_s`: the single environment, actions drawn beforehand. variants: None for all
    games. peers: measure pgx and OpenSpiel in the same rounds (in the game they know). seconds: CPU time of one round.
    Returns the lines of `nardy bench`. Raises AssertionError if results differ, BadOption for a time that is not
    positive.
    """
    if not seconds > 0:
        raise BadOption(f"seconds={seconds} must be more than 0")
    say = say or (lambda text: None)
    lines = []
    with one_core():
        for given in variants or VARIANTS.values():
            variant = parse_variant(given) if isinstance(given, str) else given
            known = peers and is_usual_backgammon(variant)
            say(f"{variant_text(variant)}: compiling, comparing")
            begun = time.perf_counter()
            assert_counts(variant)
            assert_same_games(variant)
            shared = {"compile_s": round(time.perf_counter() - begun, 2)}
            lines.append(_bench_vector(variant, known and has_package("pgx"), seconds, say) | shared)
            lines += [line | shared for line in _bench_single(variant, known and has_package("pyspiel"), seconds, say)]
    return lines


# ---------------------------------------------------------------------------------------------- equal first


def assert_counts(variant: Variant) -> None:
    """Raise AssertionError unless the vector environment has the stored number of plays in every benchmark position."""
    inputs = read_inputs(variant)
    counts = _counts(variant, inputs.states)
    wrong = np.flatnonzero(counts != inputs.counts)
    if len(wrong):
        i = int(wrong[0])
        raise AssertionError(f"{variant.id}: position {i} has {counts[i]} plays instead of {inputs.counts[i]}")


def _counts(variant: Variant, states: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The number of plays of each state uint32[N, 16] in the vector environment."""
    env = NardyVectorEnv(len(states), variant, observation="packed", action_mask=False)
    positions = [Position(variant, state) for state in states]
    counts: NDArray[np.int64] = env.reset(seed=SEED, options={"position": positions})[1]["plays"]
    return counts


def assert_same_games(variant: Variant) -> None:
    """Raise AssertionError unless games of the vector environment are those of the single one: states and rewards."""
    many = NardyVectorEnv(_COMPARED_GAMES, variant, observation="packed", action_mask=False)
    alone = [NardyEnv(variant, observation="packed") for _ in range(_COMPARED_GAMES)]
    rng = np.random.default_rng(SEED)
    _, info = many.reset(seed=SEED)
    for i, env in enumerate(alone):
        env.reset(seed=SEED + i)
    ended = np.zeros(_COMPARED_GAMES, np.bool_)
    for _ in range(_COMPARED_STEPS):
        actions = (rng.random(_COMPARED_GAMES) * info["plays"]).astype(np.int64)
        states, rewards, terminated, truncated, info = many.step(actions)
        for i, env in enumerate(alone):
            state, reward = (env.reset()[0], 0.0) if ended[i] else env.step(actions[i])[:2]
            if state.tobytes() != states[i].tobytes() or reward != rewards[i]:
                raise AssertionError(f"{variant.id}: game {i} of the vector environment is not that of the single one")
        ended = terminated | truncated


def assert_same_turns(variant: Variant, turns: Turns, rival: str, complete: bool) -> int:
    """Raise AssertionError unless ours and a rival's plays of turns are the same, and the points of games that end.

    complete: False for a rival that has no rule of the most dice: it must have all of our plays. Returns in how many of
    the turns it has more.
    """
    states = states_of_boards(turns.boards)
    after, boards, first = plays_and_boards(variant, states, turns.dice)
    thrown = [Position(variant, state).throw(a, b).state for state, (a, b) in zip(states, turns.dice, strict=True)]
    counts, points, more = _counts(variant, np.stack(thrown)), score_table(variant), 0
    for k, theirs in enumerate(turns.ends):
        rows = slice(first[k], first[k + 1])
        ours = [board.tobytes() for board in boards[rows]]
        same = set(ours) == theirs if complete else set(ours) <= theirs
        if not same or len(set(ours)) != len(ours) or counts[k] != len(ours):
            raise AssertionError(f"{variant.id}: turn {k} of {rival}'s games: {counts[k]} plays, not {len(theirs)}")
        more += len(theirs) > len(ours)
        if not np.isnan(turns.points[k]):
            row = after[rows][ours.index(turns.chosen[k])]
            won = points[int(row[OUTCOME]) - 1] if row[OUTCOME] and not row[TURN] & 1 else None
            if won != turns.points[k]:
                raise AssertionError(f"{variant.id}: turn {k} of {rival}'s games: {won} points, not {turns.points[k]}")
    return more


# ---------------------------------------------------------------------------------------------- timing


def _vector_rate(variant: Variant, games: int = GAMES) -> Callable[[float], float]:
    """A function of CPU seconds that plays random decisions for about so long, and returns decisions per CPU second."""
    env = NardyVectorEnv(games, variant, observation="packed", action_mask=False)
    rng = np.random.default_rng(SEED)
    _, info = env.reset(seed=SEED)
    plays = info["plays"]

    def once() -> int:
        nonlocal plays
        actions = (rng.random(games) * plays).astype(np.int64)
        plays = env.step(actions)[4]["plays"]
        return games

    return lambda seconds: per_cpu_second(once, seconds)


def _single_rate(variant: Variant) -> Callable[[float], float]:
    """The same for the single environment, with actions drawn beforehand: whole games, over and over."""
    env = NardyEnv(variant, observation="packed")
    rng = np.random.default_rng(SEED)
    actions: list[int] = []
    ends: list[bool] = []
    _, info = env.reset(seed=SEED)
    while len(actions) < _TURNS or not ends[-1]:
        actions.append(int(rng.random() * info["plays"]))
        _, _, terminated, truncated, info = env.step(actions[-1])
        ends.append(terminated or truncated)
        if ends[-1]:
            _, info = env.reset()
    sequence = list(zip(actions, ends, strict=True))

    def once() -> int:
        env.reset(seed=SEED)
        for action, ended in sequence:
            env.step(action)
            if ended:
                env.reset()
        return len(sequence)

    return lambda seconds: per_cpu_second(once, seconds)


def _rounds_of(once: Callable[[], float], seconds: float) -> Callable[[], float]:
    """The mean rate of a rival's rounds until the CPU time is used up."""

    def rate() -> float:
        rates: list[float] = []
        begun = time.process_time()
        while time.process_time() - begun < seconds or not rates:
            rates.append(once())
        return len(rates) / sum(1 / r for r in rates)

    return rate


def _bench_vector(variant: Variant, with_pgx: bool, seconds: float, say: Say) -> dict[str, Any]:
    name, more = variant_text(variant), {"games": GAMES}
    rival = None
    if with_pgx:
        say(f"{name}: comparing with pgx, choosing its batch")
        pgx = Pgx()
        turns = pgx.turns(_PGX_TURNS, SEED)
        more |= {"peer_turns_compared": len(turns.dice), "peer_turns_with_more_plays": 0}
        more["peer_turns_with_more_plays"] = assert_same_turns(variant, turns, "pgx", complete=False)
        more["peer_games"], once = pgx.best_batch(seconds, SEED)

        def rival() -> float:
            return once(seconds)

    say(f"{name}: timing the vector environment")
    ours = _vector_rate(variant)
    return result(
        variant, "vector_decisions_per_s", alternate(lambda: ours(seconds), rival), "decisions/s", "pgx", **more
    )


def _bench_single(variant: Variant, with_openspiel: bool, seconds: float, say: Say) -> list[dict[str, Any]]:
    name, rivals = variant_text(variant), _NO_RIVALS
    if with_openspiel:
        say(f"{name}: comparing with OpenSpiel")
        assert_same_turns(variant, openspiel_turns(_RIVAL_GAMES, SEED), "OpenSpiel", complete=True)
        rivals = {
            "openspiel rl_environment": openspiel_environment(_TURNS, SEED),
            "openspiel states": openspiel_loop(_TURNS, SEED),
        }
    say(f"{name}: timing the single environment")
    ours = _single_rate(variant)
    lines = []
    for peer, once in rivals.items():
        rival = None if once is None else _rounds_of(once, seconds)
        measured = alternate(lambda: ours(seconds), rival)
        lines.append(result(variant, "env_decisions_per_s", measured, "decisions/s", peer))
    return lines
