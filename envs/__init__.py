"""Environments of all games for other libraries: Gymnasium, PettingZoo, OpenSpiel.

Importing this registers the games with Gymnasium, if it is installed, as `nardy_rl/Backgammon-v0` and so on;
`env_id` gives the id of a game. The environments are documented in docs/environments.md.
"""

if __name__ != "nardy_rl.envs":
    raise ImportError("import nardy_rl.envs instead of envs: this folder is the source of a part of nardy_rl")

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from nardy_rl.envs.registration import env_id, register_all

if TYPE_CHECKING:
    from nardy_rl.envs.single import NardyEnv as NardyEnv
    from nardy_rl.envs.vector import NardyVectorEnv as NardyVectorEnv

__all__ = ["NardyEnv", "NardyVectorEnv", "env_id", "register_all"]

if find_spec("gymnasium") is not None:
    register_all()


def __getattr__(name: str) -> Any:
    """Load an environment class only when it is asked for: the registration needs no compiler."""
    if name == "NardyEnv":
        return import_module("nardy_rl.envs.single").NardyEnv
    if name == "NardyVectorEnv":
        return import_module("nardy_rl.envs.vector").NardyVectorEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
