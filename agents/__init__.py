"""Players: baselines, value networks, and how they learn."""

if __name__ != "nardy_rl.agents":
    raise ImportError("import nardy_rl.agents instead of agents: this folder holds a part of nardy_rl")

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nardy_rl.agents.bot import Bot as Bot
    from nardy_rl.agents.bot import ValueBot as ValueBot
    from nardy_rl.agents.bot import load_bot as load_bot
    from nardy_rl.agents.policy import Policy as Policy

__all__ = ["Bot", "Policy", "ValueBot", "load_bot"]


def __getattr__(name: str) -> Any:
    """Load what is asked for only then: the compiler is not needed to say `--help`."""
    import importlib

    if name in ("Bot", "ValueBot", "load_bot"):
        return getattr(importlib.import_module("nardy_rl.agents.bot"), name)
    if name == "Policy":
        return importlib.import_module("nardy_rl.agents.policy").Policy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
