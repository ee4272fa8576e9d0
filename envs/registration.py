"""The ids under which Gymnasium knows the games: `nardy_rl/Backgammon-v0` and so on, one for each of the table."""

from __future__ import annotations

from nardy_rl.variants import VARIANTS

NAMESPACE, VERSION = "nardy_rl", 0


def env_id(name: str) -> str:
    """The environment's id of a game of the table: `long-nardy` is `nardy_rl/LongNardy-v0`."""
    return f"{NAMESPACE}/{''.join(word.capitalize() for word in name.split('-'))}-v{VERSION}"


def register_all() -> None:
    """Register every game of the table with Gymnasium; those already there are left as they are."""
    from gymnasium.envs.registration import register, registry

    for name in VARIANTS:
        if env_id(name) not in registry:
            register(
                env_id(name),
                entry_point="nardy_rl.envs.single:NardyEnv",
                vector_entry_point="nardy_rl.envs.vector:NardyVectorEnv",
                kwargs={"variant": name},
            )
