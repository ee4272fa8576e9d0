"""Results kept: a file to which every measurement adds a line of JSON that says where it comes from.

    {"kind": "evaluate", "started": "2026-01-31 12:00:00 +0000", "command": "nardy evaluate ...", "commit": "1a2b3c4",
     "python": "3.12.1", "packages": {...}, "machine": {...}, "result": {...what --json prints...}}

Several processes may add to one file at the same time. A line is there whole or not at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nardy_rl.errors import BadOption
from nardy_rl.experiments.runs import provenance
from nardy_rl.experiments.screen import plain


def add_result(path: str | Path, kind: str, result: Mapping[str, Any]) -> None:
    """Add a result, with the provenance of this process. Raises BadOption if the file cannot be written."""
    line = json.dumps(plain({"kind": kind, **provenance(), "result": result}), ensure_ascii=False, allow_nan=False)
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _append(path, line.encode() + b"\n")
    except OSError as error:
        raise BadOption(f"cannot add a result to {str(path)!r}: {error.strerror}") from None


def _append(path: Path, line: bytes) -> None:
    """Add a line in one piece, on the disk when this returns; what a kill left of another line is cut off first."""
    with path.open("ab+") as file:
        _lock(file.fileno())
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 1, 0))
        if size and file.read(1) != b"\n":
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def _lock(descriptor: int) -> None:
    """Wait until no other process writes; where the system knows no such locks, do without."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def read_results(path: str | Path, kind: str | None = None) -> list[dict[str, Any]]:
    """The lines of a file, of one kind or all; what a kill left of a last line is left aside.

    Raises BadOption for a file that cannot be read or a line that is no result.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption(f"cannot read the results in {str(path)!r}: {error}") from None
    found = []
    for number, line in enumerate(text[: text.rfind("\n") + 1].splitlines(), 1):
        try:
            data = json.loads(line)
            if kind is None or data["kind"] == kind:
                found.append(dict(data, result=dict(data["result"])))
        except (ValueError, KeyError, TypeError):
            raise BadOption(f"{path}, line {number}, is no result: name a file that --results has written") from None
    return found
