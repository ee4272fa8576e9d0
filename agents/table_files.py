"""Tables that are computed once and then kept in the user's cache folder, checked whenever they are read.

A table is a safetensors file with the version, its name and a hash of its contents. One that is missing, damaged or of
another version is computed again; nothing in the folder is ever needed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.policy import read_tensors, write_tensors
from nardy_rl.errors import BadPolicy
from nardy_rl.jit import cache_base

VERSION = 1  # raised when the meaning of a table, or how it is computed, changes
FORMAT = "nardy-rl table"

Tables = dict[str, NDArray[Any]]


def folder() -> Path:
    """Where tables are kept: beside the compiled kernels (`jit.cache_base`)."""
    return cache_base() / "tables"


def digest(tables: Mapping[str, NDArray[Any]]) -> str:
    """Hash of the names, types, shapes and contents of tables."""
    found = hashlib.sha256()
    for name in sorted(tables):
        table = tables[name]
        found.update(f"{name} {table.dtype} {table.shape} ".encode())
        found.update(np.ascontiguousarray(table).data)
    return found.hexdigest()


def kept(name: str, compute: Callable[[], Tables]) -> Tables:
    """The tables of that name: from their file, or computed and then kept, where the folder can be written."""
    tables = read_kept(name)
    if tables is None:
        tables = compute()
        try:
            keep(name, tables)
        except OSError:
            pass  # no room, or no right to write: they are computed again next time
    return tables


def path_of(name: str) -> Path:
    """The file of the tables of that name."""
    return folder() / f"{name}-v{VERSION}.safetensors"


def keep(name: str, tables: Tables) -> None:
    """Write the tables of that name, atomically; raises OSError where that cannot be done."""
    header = {"format": FORMAT, "version": VERSION, "name": name, "sha256": digest(tables)}
    write_tensors(path_of(name), tables, header)


def read_kept(name: str, mapped: bool = False) -> Tables | None:
    """The tables of that name, if their file is there and holds what it should; mapped: as in `read_tensors`."""
    path = path_of(name)
    if not path.is_file():
        return None
    try:
        tables, header = read_tensors(path, mapped)
    except BadPolicy:
        return None
    said = [header.get(key) for key in ("format", "version", "name", "sha256")]
    return tables if said == [FORMAT, VERSION, name, digest(tables)] else None
