"""OpenSpiel: every game as a Python game with explicit chance nodes, on which its algorithms and bots run.

    import pyspiel
    from nardy_rl.envs import open_spiel

    open_spiel.register()
    game = pyspiel.load_game("nardy_classic(block=sport,max_plays=400)")
    state = game.new_initial_state()

A game's name is `nardy_` and its id, with underscores. Its parameters are the options of the game (rules page,
section 10; those of the cube are left out, since games here have none) and `max_plays`. OpenSpiel reads
`33-44` as a number gone wrong, so the doubles of `pairs` are written `d33-d44`. A decision is one play:
action i is the play to number i of `Position.plays()`, in the order of `batch.plays`; `action_to_string` is the move
text. Chance draws the start (`openings.py`) and every throw, one of 21 outcomes.

OpenSpiel knows no truncation: a game that reaches `max_plays` plays ends, and everybody's return is zero.

The observation, float32[126], is the `board` observation of `observation.py` in the view of the player asked for,
also when the other acts, followed by `acts`: has this player to act next, or has he won. It exists in every state:
before a throw its dice are 0. A position is all that a player has to know, so there is no tensor of the information
state; its string is the history.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from nardy_rl.dice import ROLLS
from nardy_rl.envs.actions import afterstate_bound
from nardy_rl.envs.game import MAX_GAME_PLAYS, as_variant
from nardy_rl.envs.observation import BOARD_SIZE, Observer
from nardy_rl.envs.openings import Opening, most_draws, most_outcomes, opening_of, roll_outcomes
from nardy_rl.errors import BadOption, BadPosition, IllegalPlay, MissingExtra
from nardy_rl.options import options_of, with_options, written
from nardy_rl.position import Position
from nardy_rl.results import score_levels
from nardy_rl.variant import Variant, changed
from nardy_rl.variants import VARIANTS, variant_text

try:
    import pyspiel
    from open_spiel.python.observation import IIGObserverForPublicInfoGame
except ImportError as error:
    raise MissingExtra("open-spiel", "openspiel") from error

_ROLL_OUTCOMES = roll_outcomes()
_registered: dict[str, Variant] = {}


def game_name(variant: Variant) -> str:
    """The name under which OpenSpiel knows a game."""
    return "nardy_" + variant.id.replace("-", "_")


def register(*variants: Variant | str) -> list[str]:
    """Make games known to `pyspiel.load_game`, all of the package unless some are given; returns their names.

    variants: games, ids, or TOML files that define one. Registering a game twice does nothing. Raises
    UnknownVariant or BadOption, the latter also if the name is taken by another game.
    """
    names = []
    for variant in map(as_variant, variants or VARIANTS.values()):
        name = game_name(variant)
        names.append(name)
        if _registered.get(name) == variant:
            continue
        if name in pyspiel.registered_names():
            raise BadOption(f"OpenSpiel has another game called {name!r}: give {variant_text(variant)!r} another id")
        _register_one(variant)
        _registered[name] = variant
    return names


def _register_one(variant: Variant) -> None:
    """Make one game known.

    OpenSpiel keeps what it calls to make a game, and lets go of it when Python is no more: a class survives that, a
    function ends the program with a fault.
    """
    game_type = _game_type(variant)

    class RegisteredGame(NardyGame):
        def __init__(self, params: Mapping[str, Any]) -> None:
            super().__init__(variant, game_type, params)

        def __reduce__(self) -> tuple[Any, ...]:
            return _loaded, (variant, str(self))

    pyspiel.register_game(game_type, RegisteredGame)


def _loaded(variant: Variant, text: str) -> pyspiel.Game:
    """A game of OpenSpiel from its text, registered before; for copies of a game in another process."""
    register(variant)
    return pyspiel.load_game(text)


# ---------------------------------------------------------------------------------------------- parameters


def _parameters(variant: Variant) -> dict[str, Any]:
    """The parameters of a game with their defaults: its options, without those of the cube, and `max_plays`."""
    options = options_of(changed(variant, {"cube": False}))
    return {name: _as_parameter(value) for name, value in options.items()} | {"max_plays": MAX_GAME_PLAYS}


def _as_parameter(value: Any) -> bool | int | str:
    """An option's value as OpenSpiel takes it; `_split` reads it."""
    if isinstance(value, tuple):
        return "-".join(f"d{double}{double}" for double in value) or "none"
    return value if isinstance(value, bool | int) else written(value)


def _split(variant: Variant, params: Mapping[str, Any]) -> tuple[Variant, int, dict[str, Any]]:
    """The game with the options given, the cap on plays, and the parameters that differ from the defaults."""
    defaults = _parameters(variant)
    given = {name: value for name, value in params.items() if value != defaults[name]}
    max_plays = given.get("max_plays", MAX_GAME_PLAYS)
    if max_plays < 1:
        raise BadOption(f"max_plays={max_plays}: the number of plays after which a game ends, at least 1")
    options = {name: value for name, value in given.items() if name != "max_plays"}
    if "pairs" in options:
        options["pairs"] = options["pairs"].replace("d", "")
    return with_options(variant, options), max_plays, given


def _game_type(variant: Variant) -> pyspiel.GameType:
    return pyspiel.GameType(
        short_name=game_name(variant),
        long_name=variant.name,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_parameters(variant),
    )


def _game_info(variant: Variant, max_plays: int) -> pyspiel.GameInfo:
    most = float(score_levels(variant)[-1])
    return pyspiel.GameInfo(
        num_distinct_actions=afterstate_bound(variant),
        max_chance_outcomes=most_outcomes(variant),
        num_players=2,
        min_utility=-most,
        max_utility=most,
        utility_sum=0.0,
        max_game_length=max_plays,
    )


# ---------------------------------------------------------------------------------------------- the protocol


class NardyGame(pyspiel.Game):  # type: ignore[misc]
    """A game with its options. Attributes: `variant`, and `max_plays`, after which a game ends with zero for all."""

    def __init__(self, variant: Variant, game_type: pyspiel.GameType, params: Mapping[str, Any]) -> None:
        self.variant, self.max_plays, given = _split(variant, params)
        super().__init__(game_type, _game_info(self.variant, self.max_plays), given)

    def new_initial_state(self, position: str | None = None) -> NardyState:
        """The start of a game before anything is drawn, or any position from its text."""
        return NardyState(self, position)

    def max_chance_nodes_in_history(self) -> int:
        """The draws of the start, and one throw a play."""
        return most_draws(self.variant) + self.max_plays

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """OpenSpiel's way to ask for observations."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return BoardObserver(self.variant, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class NardyState(pyspiel.State):  # type: ignore[misc]
    """A state of a game. OpenSpiel copies its attributes for a clone, and saves them with the history."""

    def __init__(self, game: NardyGame, position: str | None = None) -> None:
        super().__init__(game)
        self._at: Opening | Position = opening_of(game.variant)
        if position is not None:
            self._at = Position.from_text(position, game.variant)
        self._plays_left = game.max_plays

    @property
    def position(self) -> Position | None:
        """The position, None while the start is being drawn."""
        return self._at if isinstance(self._at, Position) else None

    def current_player(self) -> int:
        """0, 1, or OpenSpiel's numbers for chance and the end."""
        if self.is_terminal():
            return pyspiel.PlayerId.TERMINAL
        if isinstance(self._at, Opening) or not self._at.owes:
            return pyspiel.PlayerId.CHANCE
        return self._at.player

    def is_terminal(self) -> bool:
        """Is the game over, or cut off by `max_plays`."""
        return isinstance(self._at, Position) and (self._at.over or self._plays_left == 0)

    def returns(self) -> list[float]:
        """Points of players 0 and 1, zero before the end and when the game was cut off."""
        if isinstance(self._at, Opening) or not self._at.over:
            return [0.0, 0.0]
        return [self._at.score(0), self._at.score(1)]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """(outcome, probability) of the next draw or throw."""
        outcomes = self._at.outcomes() if isinstance(self._at, Opening) else _ROLL_OUTCOMES
        return [(i, probability) for i, (_, probability) in enumerate(outcomes)]

    def _legal_actions(self, player: int) -> list[int]:
        assert isinstance(self._at, Position)
        return list(range(len(self._at.plays())))

    def _apply_action(self, action: int) -> None:
        if isinstance(self._at, Position) and self._at.owes:
            self._at = self._one_of(self._at.plays(), action)
            self._plays_left -= 1
        elif isinstance(self._at, Position):
            self._at = self._at.throw(*(int(die) for die in self._one_of(ROLLS, action)))
        else:
            self._one_of(self._at.outcomes(), action)
            self._at = self._at.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if isinstance(self._at, Position) and self._at.owes:
            return self._at.move_text(self._one_of(self._at.plays(), action))
        outcomes = _ROLL_OUTCOMES if isinstance(self._at, Position) else self._at.outcomes()
        name: str = self._one_of(outcomes, action)[0]
        return name

    def _one_of(self, possible: Any, action: int) -> Any:
        """What an action stands for; raises IllegalPlay if it is none."""
        if not 0 <= action < len(possible):
            raise IllegalPlay(f"action {action}: the actions are numbered 0 to {len(possible) - 1} in {self}")
        return possible[action]

    def __str__(self) -> str:
        """The text of the position; while the start is drawn, the draws so far."""
        if isinstance(self._at, Opening):
            return f"{variant_text(self._at.variant)}: the start is drawn; history: {self.history_str() or 'nothing'}"
        return self._at.text


class BoardObserver:
    """Observations of the board by one player. `tensor` float32[126]; `dict` has its parts `board` and `acts`."""

    def __init__(self, variant: Variant, params: Any = None) -> None:
        if params:
            raise BadOption(f"observation parameters {params}: there are none")
        self._observer = Observer(variant, "board")
        self.tensor = np.zeros(BOARD_SIZE + 1, np.float32)
        self.dict = {"board": self.tensor[:BOARD_SIZE], "acts": self.tensor[BOARD_SIZE:]}

    def set_from(self, state: NardyState, player: int) -> None:
        """Fill the tensor with what a player sees of a state."""
        at = state._at
        row = at.row if isinstance(at, Opening) else at.state
        self.dict["board"][:] = self._observer.of(row, row[None], player)
        self.dict["acts"][:] = isinstance(at, Position) and at.player == player

    def string_from(self, state: NardyState, player: int) -> str:
        """The position's text, which is the same for both."""
        return str(state)


# ---------------------------------------------------------------------------------------------- bots


class Chooser(Protocol):
    """What a bot of this package can do."""

    def choose(self, position: Position) -> Position:
        """The position after its play."""


class ChooserBot(pyspiel.Bot):  # type: ignore[misc]
    """A player of this package as a bot of OpenSpiel: anything with `choose`, such as `load_bot("classic", "pips")`."""

    def __init__(self, chooser: Chooser) -> None:
        super().__init__()
        self._chooser = chooser

    def step(self, state: NardyState) -> int:
        """The action for a state in which somebody has to play; raises BadPosition for another."""
        position = state.position
        if position is None or not position.owes:
            raise BadPosition(f"{state}: a bot chooses plays, and here is none to choose")
        return position.plays().index(self._chooser.choose(position))

    def restart_at(self, state: NardyState) -> None:
        """Nothing: it remembers no game."""

    def restart(self) -> None:
        """Nothing: it remembers no game."""
