"""The settings of a training run: one dataclass, whose field help is the documentation."""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nardy_rl.agents.kinds import NETS, has_kinds
from nardy_rl.agents.labels import MOST_ROLLOUTS
from nardy_rl.encoding import KINDS
from nardy_rl.errors import BadRun
from nardy_rl.variants import parse_variant, variant_definition

CLOCKS = ("wall", "cpu")
NOT_LEARNED = ("out", "checkpoint_seconds", "strength_minutes", "strength_games", "final_games")
"""Settings that change nothing of what is learned."""


def _setting(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True)
class TrainConfig:
    """One training run. With both minutes and games, whichever comes first ends it."""

    variant: str = _setting("backgammon", "the game, with options as on the command line")
    minutes: float = _setting(0.0, "minutes of training, compilation and evaluation not counted; 0: no limit")
    clock: str = _setting("wall", "what minutes are: wall, or cpu: CPU time of a thread, fair on a busy machine")
    games: int = _setting(0, "games of self-play; 0: no limit")
    seed: int = _setting(1, "of weights, dice and shuffling; with one thread the run is a function of it")
    threads: int = _setting(0, "threads that play and learn; 0: one for each core")
    out: str = _setting("", "the run's folder; empty: runs/VARIANT-sSEED-N")
    init: str = _setting(
        "", "start from a policy: a file, a run folder, pretrained, or a game's id, the one of that game"
    )
    inputs: str = _setting(
        "", "inputs of the net: plain, patterns or rich (nardy_rl/encoding.py); empty: as init has them, or what suits"
    )
    net: str = _setting("", "your own torch net and inputs, module:Class (docs/training.md); learned by TD alone")
    hidden: int = _setting(128, "units of the first hidden layer")
    hidden2: int = _setting(32, "units of the second hidden layer; 0: none")
    hidden3: int = _setting(0, "units of the third hidden layer; 0: none")
    nets: str = _setting("one", "one net, or kinds: generations teach a second one the races, where sides have passed")
    trace: float = _setting(0.5, "lambda of TD(lambda): 0 one step, 1 Monte Carlo")
    step_size: float = _setting(0.003, "step size of Adam at the start of TD")
    final_step_size: float = _setting(0.00002, "step size at the end of TD; between them half a cosine")
    explore: float = _setting(0.0, "probability of a random play in TD's self-play")
    minibatch: int = _setting(128, "positions of one Adam step of TD")
    block: int = _setting(32, "games whose positions are shuffled together before they are learned")
    td_share: float = _setting(0.2, "part of the budget spent on TD; the rest goes to generations of labels")
    td_games: int = _setting(100_000, "games that TD has first where that leaves half of the budget; else all is TD's")
    generation: int = _setting(500_000, "positions that a generation labels before it learns; 0: no generations")
    window: int = _setting(6_000_000, "labelled positions that are learned from: the last so many")
    passes: int = _setting(2, "passes over the window in a generation")
    refine_step_size: float = _setting(0.001, "step size of Adam at the start of a generation's passes; falls to 0")
    refine_minibatch: int = _setting(256, "positions of one Adam step in a generation")
    label_trace: float = _setting(0.85, "lambda of the variance-reduced labels: 0 expected targets one throw ahead")
    label_explore: float = _setting(0.12, "probability of a random play in the games that are labelled")
    label_margin: float = _setting(0.3, "points that such a random play may be worse than the best")
    label_keep: int = _setting(0, "plays of a roll that labels look at closely: those that a sieve ranks first; 0: all")
    rollouts: int = _setting(0, "label by the mean of so many rollouts of each position instead; 0: by its own game")
    rollout_plies: int = _setting(0, "plies after which rollouts are truncated; 0: they go to the end")
    average: float = _setting(0.0, "weights are averaged over about so many Adam steps of the passes; 0: not")
    labels: str = _setting("", "run folders, with commas between, whose labelled positions are learned first")
    first_passes: int = _setting(6, "passes of a fit that begins anew, from step_size down: see labels, final_hidden")
    final_hidden: int = _setting(256, "units of the first layer of a new net that ends the run; 0: none")
    final_labels: int = _setting(1_500_000, "labelled positions without which a run does not end with a new net")
    cap: int = _setting(4000, "plays after which a game of self-play is cut and bootstrapped")
    round: int = _setting(256, "games of a thread between two looks at the clock; part of what the seed determines")
    label_round: int = _setting(16, "the same for games that are labelled")
    gate_games: int = _setting(5000, "games after which a run that does not beat random is stopped; 0: never")
    checkpoint_seconds: float = _setting(30.0, "time between checkpoints")
    strength_minutes: float = _setting(1.0, "time between short duels against heuristic for the curves; 0: none")
    strength_games: int = _setting(400, "games of such a duel")
    final_games: int = _setting(1000, "games against each baseline at the end; 0: none")

    def __post_init__(self) -> None:
        # a user's own game is written out, so that the run can go on without the file
        object.__setattr__(self, "variant", variant_definition(parse_variant(self.variant)))
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if not value >= least:
                raise BadRun(f"setting {name}={value} must be at least {least}")
        for name in ("trace", "explore", "td_share", "label_trace", "label_explore"):
            if getattr(self, name) > 1:
                raise BadRun(f"setting {name}={getattr(self, name)} must be from 0 to 1")
        if self.hidden3 and not self.hidden2:
            raise BadRun(f"setting hidden3={self.hidden3} needs a second hidden layer: set hidden2, too")
        if self.rollouts >= MOST_ROLLOUTS:
            raise BadRun(f"setting rollouts={self.rollouts} must be less than {MOST_ROLLOUTS}")
        if self.net and (self.labels or self.rollouts):
            raise BadRun(f"setting net={self.net!r} learns by TD alone: leave out labels and rollouts")
        for name, known in (("inputs", ("", *KINDS)), ("clock", CLOCKS), ("nets", NETS)):
            if getattr(self, name) not in known:
                raise BadRun(f"setting {name}={getattr(self, name)!r} must be {' or '.join(filter(None, known))}")
        if self.nets != "one":
            self._check_kinds()
        if not self.minutes and not self.games:
            raise BadRun("a run needs an end: give minutes or games")

    def _check_kinds(self) -> None:
        """Raise BadRun where a net for races cannot be learned."""
        if not has_kinds(parse_variant(self.variant)):
            raise BadRun(
                f"setting nets={self.nets!r} needs a game of hits or pins, and {self.variant} has none: leave it out"
            )
        if self.net:
            raise BadRun(f"setting nets={self.nets!r} is for the built-in net: leave out net={self.net!r}")
        if not self.generation or self.td_share == 1:
            raise BadRun(
                f"setting nets={self.nets!r} learns its second net in generations: leave them part of the budget, with "
                f"generation more than 0 and td_share less than 1"
            )


_LEAST: dict[str, float] = {
    "minutes": 0, "games": 0, "seed": 0, "threads": 0, "hidden": 1, "hidden2": 0, "hidden3": 0, "trace": 0,
    "step_size": 0, "final_step_size": 0, "explore": 0, "minibatch": 1, "block": 1, "cap": 10, "round": 1,
    "checkpoint_seconds": 0, "strength_minutes": 0, "strength_games": 2, "final_games": 0, "td_share": 0, "td_games": 0,
    "generation": 0, "window": 1, "passes": 1, "first_passes": 1, "rollouts": 0, "rollout_plies": 0,
    "refine_step_size": 0, "refine_minibatch": 1, "label_trace": 0, "label_explore": 0, "label_margin": 0,
    "label_keep": 0,    "final_hidden": 0, "final_labels": 1, "average": 0, "label_round": 1, "gate_games": 0,
}  # fmt: skip


def settings_table() -> list[tuple[str, Any, str]]:
    """Every setting: its name, its default, what it means."""
    return [(f.name, f.default, f.metadata["help"]) for f in dataclasses.fields(TrainConfig)]


def config_from(file: Path | None, sets: Iterable[str] = (), **given: Any) -> TrainConfig:
    """Settings from a TOML file, then KEY=VALUE words, then keywords; later ones win.

    Without minutes and games anywhere a run has five minutes. Raises BadRun for an unreadable file, a setting that
    does not exist, or a value of the wrong kind.
    """
    values: dict[str, Any] = {}
    if file is not None:
        try:
            data = tomllib.loads(Path(file).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise BadRun(f"cannot read the settings in {str(file)!r}: {error}") from None
        for name, value in data.items():
            values[_known(name)] = value
    for word in sets:
        name, equals, text = word.partition("=")
        if not equals:
            raise BadRun(f"--set {word} must be written KEY=VALUE, as in --set hidden=80")
        values[_known(name)] = text
    values |= {_known(name): value for name, value in given.items()}
    if not values.get("minutes") and not values.get("games"):
        values["minutes"] = 5.0
    return TrainConfig(**{name: _typed(name, value) for name, value in values.items()})


def _known(name: str) -> str:
    names = [f.name for f in dataclasses.fields(TrainConfig)]
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; the settings are {', '.join(names)}"
        raise BadRun(f"unknown setting {name!r}{hint}")
    return name


def _typed(name: str, value: Any) -> Any:
    """A value as its field's type; text is read, and a whole number is a float where one is wanted."""
    kind: Any = type(TrainConfig.__dataclass_fields__[name].default)
    if kind is str:
        return str(value)
    try:
        if isinstance(value, bool) or (kind is int and isinstance(value, float) and value != int(value)):
            raise ValueError
        return kind(value)
    except (TypeError, ValueError, OverflowError):
        what = "a whole number" if kind is int else "a number"
        raise BadRun(f"setting {name}={value!r} must be {what}") from None
