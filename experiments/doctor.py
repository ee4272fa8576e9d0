"""Is this installation whole? Each check says what it looked at, whether it is needed, and what it found."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from nardy_rl.errors import NardyError
from nardy_rl.machine import cores
from nardy_rl.variants import VARIANTS

NEEDED = ("numpy", "numba", "click", "rich", "safetensors")
OPTIONAL = {
    "torch": "train by gradient with PyTorch and export policies: pip install torch",
    "gymnasium": "environments for other libraries: pip install gymnasium",
    "tensorboard": "curves of a training run: pip install tensorboard",
    "gnubg-nn": "the bots gnubg and pubeval: pip install 'nardy-rl[gnubg]'",
    "onnxruntime": "policies as ONNX files, with onnx: pip install 'nardy-rl[onnx]'",
    "open-spiel": "a rival in nardy bench --peers: pip install 'nardy-rl[openspiel]'",
    "bgsage": "the bot opensage, a rival in nardy bench --peers: pip install 'nardy-rl[bgsage]'",
    "pgx": "a rival in nardy bench --peers: pip install 'nardy-rl[pgx]'",
    "matplotlib": "plots: pip install 'nardy-rl[plot]'",
}
LONGEST_GAME = 4000


def examine() -> list[dict[str, Any]]:
    """All checks in order: `name`, `ok`, `needed`, `detail` each. A failed check never raises."""
    checks = [
        _checked("nardy-rl", True, lambda: _version("nardy-rl")),
        _checked("python", True, lambda: f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        _checked("cores", True, lambda: str(cores())),
    ]
    checks += [_checked(name, True, partial(_version, name)) for name in NEEDED]
    checks += [_optional(name, use) for name, use in OPTIONAL.items()]
    checks.append(_checked("kernel cache", True, _cache))
    checks.append(_checked("kernels compile", True, _kernels))
    checks.append(_checked("games are played", True, _games))
    checks += list(_policies())
    return checks


def _checked(name: str, needed: bool, look: Callable[[], str]) -> dict[str, Any]:
    try:
        return {"name": name, "ok": True, "needed": needed, "detail": look()}
    except Exception as error:  # whatever is wrong with the installation is the answer
        return {"name": name, "ok": False, "needed": needed, "detail": f"{type(error).__name__}: {error}"}


def _version(name: str) -> str:
    return importlib.metadata.version(name)


def _optional(name: str, use: str) -> dict[str, Any]:
    try:
        return {"name": name, "ok": True, "needed": False, "detail": _version(name)}
    except importlib.metadata.PackageNotFoundError:
        return {"name": name, "ok": False, "needed": False, "detail": f"for {use}"}


def _cache() -> str:
    """Compiled kernels are kept, so that only the first run waits for the compiler."""
    from nardy_rl.jit import cache_base

    folder = cache_base()
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise NardyError(f"cannot write to {folder}; set NUMBA_CACHE_DIR to a folder that can be written")
    return str(folder)


def _kernels() -> str:
    from nardy_rl.position import Position

    begin = time.perf_counter()
    for variant in VARIANTS.values():
        Position.opening(variant, seed=1).plays()
    return f"{time.perf_counter() - begin:.1f} s for {len(VARIANTS)} games"


def _games() -> str:
    """One random game of every variant, to its end."""
    from nardy_rl.position import Position

    count = 0
    for variant in VARIANTS.values():
        rng = np.random.default_rng(1)
        position = Position.opening(variant, seed=1)
        for _ in range(LONGEST_GAME):
            if position.over:
                break
            if not position.owes:
                first, second = rng.integers(1, 7, size=2)
                position = position.throw(int(first), int(second))
            plays = position.plays()
            position = plays[int(rng.integers(len(plays)))]
            count += 1
        if position.over and position.score(0) != -position.score(1):
            raise NardyError(f"the result of {variant.id} is not zero-sum: {position.text}")
    return f"{len(VARIANTS)} games, {count:,} plays"


def _policies() -> Iterator[dict[str, Any]]:
    """Every policy in the package is loaded, gives its test vector and is asked for a play."""
    for variant in VARIANTS.values():
        yield _checked(f"policy {variant.id}", True, partial(_policy, variant))


def _policy(variant: Any) -> str:
    from nardy_rl.agents.policy import TEST_TOLERANCE, pretrained_for
    from nardy_rl.position import Position

    bot = pretrained_for(variant)
    if bot is None:
        raise NardyError(f"no policy comes with {variant.id}: install nardy-rl anew")
    if bot.test_difference() > TEST_TOLERANCE:
        raise NardyError(f"the policy of {variant.id} does not give its test vector: install nardy-rl anew")
    position = Position.opening(variant, seed=1)
    return f"gives its test vector, plays {position.move_text(bot.choose(position))} with {position.dice}"
