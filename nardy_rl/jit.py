"""The compiler: one decorator for all kernels, and the bit tricks that Numba does not offer.

`kernel` is `numba.njit` with a disk cache that cannot go stale. Numba checks only the file of the function it
loads, not the files of the functions that one calls, so an upgrade of this package could run old code. The cache
of a module therefore lives in a folder named after a hash of its source and of all the modules of this package that it
imports, directly or not; another version never sees it, and a change elsewhere does not make it compile anew. Kernels
of a file that was run without being registered as a module are not kept: a later process could not find their module.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba import types
from numba.core import config
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])


_IMPORT = re.compile(r"^\s*(?:from|import)\s+(nardy_rl[\w.]*)", re.MULTILINE)


@cache
def _imports(module: str) -> tuple[bytes, tuple[str, ...]]:
    """Hash of a module's source, and the modules of this package that it imports anywhere in it."""
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None) or getattr(find_spec(module) if loaded is None else None, "origin", None)
    source = Path(file).read_bytes() if file else b""
    return hashlib.sha256(source).digest(), tuple(_IMPORT.findall(source.decode()))


def sources(module: str) -> set[str]:
    """A module, and all modules of this package that it imports, directly or not."""
    seen: set[str] = set()
    waiting = [module, __name__]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += _imports(name)[1]
    return seen


@cache
def source_hash(module: str) -> str:
    """Hash of the sources that a module's kernels are made from."""
    digest = hashlib.sha256()
    for name in sorted(sources(module)):
        digest.update(name.encode() + b" " + _imports(name)[0])
    return digest.hexdigest()[:16]


@cache
def cache_base() -> Path:
    """Where compiled kernels are kept: NUMBA_CACHE_DIR, else the user's cache folder, else a temporary one."""
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(base) / "nardy-rl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"nardy-rl-{user}"


def cache_folder(module: str) -> Path:
    """The folder of a module's compiled kernels, named after the hash of the sources they are made from."""
    return cache_base() / f"{module.rpartition('.')[2]}-{source_hash(module)}"


def _compiled(function: F, **options: bool) -> F:
    before = config.CACHE_DIR
    keep = function.__module__ in sys.modules
    if keep:
        config.CACHE_DIR = str(cache_folder(function.__module__))
    try:
        return numba.njit(  # type: ignore[no-any-return]
            cache=keep, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp"}, **options
        )(function)
    finally:
        config.CACHE_DIR = before


def kernel(function: F) -> F:
    """Compile a function of arrays and scalars: no GIL, cached on disk, floats may be reassociated."""
    return _compiled(function)


# Kernels that only kernels call need no wrappers for Python, and compile in half the time without. Their callers
# hold the arrays, so they count no references either (`_nrt`): counting for every row that is looked at takes as
# much time as making the plays. The price: they can make no arrays of their own.
_ONLY_CALLED_BY_KERNELS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}


def inner(function: F) -> F:
    """A kernel that only kernels call; it must not allocate."""
    return _compiled(function, **_ONLY_CALLED_BY_KERNELS)


def inlined(function: F) -> F:
    """A small `inner` kernel on a hot path: always made part of its caller, so that its arguments cost nothing."""
    return _compiled(function, **_ONLY_CALLED_BY_KERNELS, forceinline=True)


if config.DISABLE_JIT:  # plain Python: for coverage and debugging, same answers

    def lowest(mask: int) -> int:
        """Number of the lowest set bit (mask must not be 0)."""
        mask = int(mask)
        return (mask & -mask).bit_length() - 1

    def highest(mask: int) -> int:
        """Number of the highest set bit (mask must be positive)."""
        return int(mask).bit_length() - 1

    def popcount(mask: int) -> int:
        """Number of set bits of a mask that is not negative."""
        return int(mask).bit_count()

    def reverse32(mask: int) -> int:
        """Reverse the low 32 bits: bit i becomes bit 31 - i."""
        return int(f"{int(mask) & 0xFFFFFFFF:032b}"[::-1], 2)

    def sum64(a: Any, b: Any) -> Any:
        """Sum of two uint64 modulo 2^64; NumPy's own would warn of the overflow."""
        return np.uint64((int(a) + int(b)) & 0xFFFFFFFFFFFFFFFF)

    def product64(a: Any, b: Any) -> Any:
        """Product of two uint64 modulo 2^64; NumPy's own would warn of the overflow."""
        return np.uint64((int(a) * int(b)) & 0xFFFFFFFFFFFFFFFF)

else:

    @inlined
    def sum64(a: Any, b: Any) -> Any:
        return a + b

    @inlined
    def product64(a: Any, b: Any) -> Any:
        return a * b

    def _int64_intrinsic(emit: Callable[[Any, Any], Any]) -> Any:
        """An int64 -> int64 function made of LLVM instructions."""

        @intrinsic
        def wrapped(typingctx, mask):  # type: ignore[no-untyped-def]
            def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
                return emit(builder, args[0])

            return types.int64(types.int64), codegen

        return wrapped

    def _bit(value: int) -> Any:
        from llvmlite import ir

        return ir.Constant(ir.IntType(1), value)

    def _int64(value: int) -> Any:
        from llvmlite import ir

        return ir.Constant(ir.IntType(64), value)

    lowest = _int64_intrinsic(lambda b, x: b.cttz(x, _bit(1)))
    highest = _int64_intrinsic(lambda b, x: b.sub(_int64(63), b.ctlz(x, _bit(1))))
    popcount = _int64_intrinsic(lambda b, x: b.ctpop(x))
    reverse32 = _int64_intrinsic(lambda b, x: b.lshr(b.bitreverse(x), _int64(32)))
