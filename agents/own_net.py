"""A user's own net, with an encoding of its own: any torch module, named `module:Class`, learned by TD(lambda).

    class Mine(torch.nn.Module):
        def __init__(self, variant): ...
        def encode(self, states): ...          # uint32[N, 16] -> a tensor, or a tuple of tensors
        def forward(self, *x): ...             # -> float32[N, K], before the logistic function

K and what the outputs mean are the game's (`net.output_names(variant)`). The games of a block are played side by side,
so that all their plays are evaluated in one call.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import States, ValueBot, all_plays, best_plays
from nardy_rl.agents.net import Outputs, output_names, outputs_of
from nardy_rl.agents.policy import read_tensors, write_tensors
from nardy_rl.batch import acting, outcomes, over, owing, rolls, starts, streams, throw
from nardy_rl.errors import BadPolicy, BadRun, MissingExtra
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant, variant_definition, variant_text

try:
    import torch
except ImportError:
    raise MissingExtra("torch", "torch") from None

FORMAT = "nardy-rl own net 1"


def make_module(name: str, variant: Variant) -> torch.nn.Module:
    """The user's module `module:Class`, constructed with the game; raises BadRun with what is wrong with it.

    Nothing but a class of torch modules is called: the name may come from a policy's file.
    """
    module_name, colon, attribute = name.partition(":")
    if not colon:
        raise BadRun(f"net={name!r} must be written module:Class, as in net=mine:Mine")
    try:
        imported = importlib.import_module(module_name)
    except ImportError as error:
        raise BadRun(
            f"net={name!r}: cannot import {module_name!r} ({error}): run where Python finds it, or add its folder to "
            f"PYTHONPATH"
        ) from None
    make = getattr(imported, attribute, None)
    if make is None:
        raise BadRun(f"net={name!r}: {module_name} has no {attribute!r}; name a class that is in it")
    wanted = isinstance(make, type) and issubclass(make, torch.nn.Module)
    if not wanted or not callable(getattr(make, "encode", None)):
        raise BadRun(f"net={name!r}: it must be a class derived from torch.nn.Module, with a method encode(states)")
    module: torch.nn.Module = make(variant)
    return module


class OwnPolicy(ValueBot):
    """A user's net as a bot. Several threads may use it at once as far as the module allows."""

    def __init__(self, variant: Variant, module: torch.nn.Module, header: Mapping[str, Any], name: str) -> None:
        super().__init__(variant, name)
        self.module = module
        self.header = dict(header)
        self.meaning: Outputs = outputs_of(variant)

    def logits(self, states: States) -> torch.Tensor:
        """What the module says of states, before the logistic function: float32[N, K]."""
        x = self.module.encode(np.ascontiguousarray(states, dtype=np.uint32))
        out: torch.Tensor = self.module(*x) if isinstance(x, tuple) else self.module(x)
        if out.shape != (len(states), len(self.meaning.points)):
            wanted = f"[{len(states)}, {len(self.meaning.points)}]"
            raise BadPolicy(f"the net {self.name!r} gave an array {list(out.shape)} where {wanted} is wanted")
        return out

    def outputs(self, states: States) -> NDArray[np.float32]:
        """Cumulative probabilities f32[M, K] of the variant's outcomes."""
        with torch.no_grad():
            probabilities: NDArray[np.float32] = torch.sigmoid(self.logits(states)).numpy()
        return probabilities

    def estimate(self, states: States) -> NDArray[np.float32]:
        """Expected points f32[M] for each state's own player."""
        values = self.meaning.constant + self.outputs(states) @ self.meaning.points
        return values.astype(np.float32)

    def evaluations(self, states: States) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """See `ValueBot.evaluations`."""
        outputs, ended = self.outputs(states), over(states)
        outputs[ended] = self.meaning.exact[outcomes(states[ended])]
        return outputs, (self.meaning.constant + outputs @ self.meaning.points).astype(np.float32)

    def save(self, path: Path) -> None:
        """Write the weights and what they are for, atomically."""
        tensors = {name: w.detach().numpy() for name, w in self.module.state_dict().items()}
        header = {"format": FORMAT, "variant": variant_definition(self.variant), "outputs": output_names(self.variant)}
        write_tensors(path, tensors, self.header | header)

    @staticmethod
    def load(path: Path, variant: Variant | None = None) -> OwnPolicy:
        """The policy in a file written by `save`; its class must be importable. Raises BadPolicy or BadRun."""
        tensors, header = read_tensors(path)
        if header.get("format") != FORMAT:
            found = header.get("format")
            raise BadPolicy(f"{path} is no net of a user: its format is {found!r}, not {FORMAT!r}")
        variant = variant or parse_variant(header["variant"])
        if header["outputs"] != output_names(variant):
            raise BadPolicy(
                f"{path} is a policy for {header['variant']} and cannot play {variant_text(variant)}, whose outcomes "
                f"differ: give one trained in that game"
            )
        module = make_module(header["net"], variant)
        try:
            module.load_state_dict({name: torch.from_numpy(w.copy()) for name, w in tensors.items()})
        except RuntimeError as error:
            what = " ".join(str(error).split())
            raise BadPolicy(f"the weights in {path} do not fit the class {header['net']}: {what}") from None
        return OwnPolicy(variant, module, header, str(path))


# ---------------------------------------------------------------------------------------------- learning


class Step(NamedTuple):
    """The states met at one ply by the games of a block that were still going on."""

    games: NDArray[np.int64]
    states: States
    outputs: NDArray[np.float32]


def turned(outputs: Outputs, x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Outputs [N, K] in the view of the other player."""
    y = x[:, outputs.flip_from].copy()
    if not outputs.draws:
        y[:, 0] = 1 - y[:, 0]
    return y


def play_block(
    policy: OwnPolicy, seed: int, first: int, games: int, trace: float, explore: float, cap: int
) -> tuple[States, NDArray[np.float32], int]:
    """Play games number first, ... side by side; returns states uint32[N, 16], targets f32[N, K] and plays made.

    The targets are TD(lambda)'s, as in `td.py`. Game number i is the same game in any block, up to the last bits of
    the values.
    """
    rows, meaning = starts(policy.variant, games, seed, first=first), policy.meaning
    dice, lots = streams(games, seed, first=first), np.random.default_rng((seed, first))
    ahead = np.zeros((games, len(meaning.points)), np.float32)  # outputs at the end, then backwards targets
    going, steps, plays_made = np.arange(games), list[Step](), 0
    for ply in range(cap + 1):
        if ply:
            outputs = policy.outputs(rows[going])
            steps.append(Step(going, rows[going], outputs))
            ahead[going] = outputs  # if the game is cut here
        if ply == cap or not len(going):
            break
        rows[going] = _chosen(policy, rows[going], dice, going, explore, lots)
        plays_made += len(going)
        ended = over(rows[going])
        done = going[ended]
        ahead[done] = meaning.exact[outcomes(rows[done])]
        going = going[~ended]
    states, targets = [], []
    players = acting(rows)  # of the state after the one that is looked at
    for step in reversed(steps):
        other = players[step.games] != acting(step.states)
        target = np.where(other[:, None], turned(meaning, ahead[step.games]), ahead[step.games])
        ahead[step.games] = (1 - trace) * step.outputs + trace * target
        players[step.games] = acting(step.states)
        states.append(step.states)
        targets.append(target)
    return np.concatenate(states), np.concatenate(targets), plays_made


def _chosen(
    policy: OwnPolicy, rows: States, dice: NDArray[np.uint64], going: NDArray[np.int64], explore: float,
    lots: np.random.Generator,
) -> States:  # fmt: skip
    """The states after the plays that the policy chooses, dice thrown where a throw is due."""
    waiting = going[~owing(rows)]
    if len(waiting):
        some = dice[waiting]
        thrown = rolls(some)
        dice[waiting] = some
        rows = rows.copy()
        at = np.flatnonzero(~owing(rows))
        rows[at] = throw(policy.variant, rows[at], thrown)
    after, first = all_plays(policy.rules, rows)
    chosen, best = np.empty(len(rows), np.int64), np.empty(len(rows), np.float32)
    best_plays(rows, after, first, policy.values(after), chosen, best)
    if explore:
        strays = np.flatnonzero(lots.random(len(rows)) < explore)
        chosen[strays] = lots.integers(first[strays], first[strays + 1])
    return after[chosen]


class OwnLearner:
    """Adam on the cross-entropy between a policy's outputs and targets."""

    def __init__(self, policy: OwnPolicy) -> None:
        self.policy = policy
        self.optimiser = torch.optim.Adam(policy.module.parameters())
        self.loss = torch.nn.BCEWithLogitsLoss()

    def learn(
        self, states: States, targets: NDArray[np.float32], minibatch: int, step_size: float, rng: np.random.Generator
    ) -> float:
        """Learn every state once, in random order; returns the root mean square error of the value."""
        for group in self.optimiser.param_groups:
            group["lr"] = step_size
        order, squares = rng.permutation(len(states)), 0.0
        points = torch.from_numpy(self.policy.meaning.points)
        for some in np.array_split(order, max(1, len(order) // minibatch)):
            self.optimiser.zero_grad()
            wanted = torch.from_numpy(targets[some])
            logits = self.policy.logits(states[some])
            loss = self.loss(logits, wanted)
            loss.backward()
            self.optimiser.step()
            with torch.no_grad():
                squares += float((((torch.sigmoid(logits) - wanted) @ points) ** 2).sum())
        return float(np.sqrt(squares / max(len(states), 1)))

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Weights and moments, by name."""
        found = {f"net.{name}": w.detach().numpy() for name, w in self.policy.module.state_dict().items()}
        for i, key, value in self._moments():
            found[f"adam.{i}.{key}"] = np.atleast_1d(value.detach().numpy())
        return found

    def _moments(self) -> Iterator[tuple[int, str, torch.Tensor]]:
        for i, state in self.optimiser.state_dict()["state"].items():
            yield from ((i, key, value) for key, value in state.items())

    def restore(self, tensors: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `tensors` gave."""
        weights = {n.removeprefix("net."): torch.from_numpy(w) for n, w in tensors.items() if n.startswith("net.")}
        self.policy.module.load_state_dict(weights)
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("adam."):
                _, i, key = name.split(".", 2)
                moment = torch.from_numpy(value)
                state.setdefault(int(i), {})[key] = moment[0] if key == "step" else moment
        self.optimiser.load_state_dict({"state": state, "param_groups": self.optimiser.state_dict()["param_groups"]})
