"""The compiler: one decorator for all kernels, and the bit tricks that Numba does not offer.

`kernel` is `numba.njit` with a disk cache that cannot go stale. Numba checks only the file of the function it
loads, not the files of the functions that one calls, so an upgrade of this package could run old code. The cache
therefore lives in a folder named after a hash of all kernel sources; another version never sees it.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import types
from numba.core import config
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])


def _source_hash() -> str:
    """Hash of every Python file that may hold kernels: this package and its learning code beside it."""
    import nardy_rl

    here = Path(nardy_rl.__file__).parent
    folders = [here, here / "agents", here.parent / "agents"]
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.glob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> str:
    """Where compiled kernels are kept: NUMBA_CACHE_DIR, else the user's cache folder, else a temporary one."""
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    version = _source_hash()
    folder = Path(base) / "nardy-rl" / version
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return str(folder)
    except OSError:
        pass
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return str(Path(tempfile.gettempdir()) / f"nardy-rl-{user}" / version)


CACHE_FOLDER = _cache_folder()


def _compiled(function: F, **options: bool) -> F:
    before = config.CACHE_DIR
    config.CACHE_DIR = CACHE_FOLDER
    try:
        return numba.njit(  # type: ignore[no-any-return]
            cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp"}, **options
        )(function)
    finally:
        config.CACHE_DIR = before


def kernel(function: F) -> F:
    """Compile a function of arrays and scalars: no GIL, cached on disk, floats may be reassociated."""
    return _compiled(function)


def inner(function: F) -> F:
    """A kernel that only kernels call: without the wrappers for Python it compiles in half the time."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inlined(function: F) -> F:
    """A small kernel on a hot path: always made part of its caller, so that its arguments cost nothing."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


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

else:

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
