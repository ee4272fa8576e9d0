"""GNU Backgammon's own program (Debian's package `gnubg`), driven by commands or a script in its Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from nardy_rl.errors import BadBot


def program() -> str | None:
    """The path of gnubg, or None."""
    return shutil.which("gnubg") or shutil.which("/usr/games/gnubg")


def run(folder: Path, commands: str = "", script: Path | None = None) -> str:
    """What gnubg prints in a folder when it reads these commands, or runs a Python script."""
    path = program()
    if path is None:
        raise BadBot("there is no program gnubg here: install the package gnubg of Debian or Ubuntu")
    done = subprocess.run(
        [path, "-t", "-q", *(["-p", str(script)] if script else [])],
        input=f"{commands}\nquit\ny\n",
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=500,
        env=os.environ | {"HOME": str(folder), "LC_ALL": "C.UTF-8"},
    )
    return done.stdout + done.stderr


def answers(script: str, asked: Any) -> tuple[Any, str]:
    """What a script leaves in the file ANSWERS, as JSON, about what it finds in ASKED; and what gnubg printed."""
    with tempfile.TemporaryDirectory() as folder:
        asks, answer, file = (Path(folder) / name for name in ("asked.json", "answers.json", "script.py"))
        asks.write_text(json.dumps(asked))
        file.write_text(f"ASKED, ANSWERS = {str(asks)!r}, {str(answer)!r}\n{script}")
        said = run(Path(folder), script=file)
        if not answer.exists():
            raise RuntimeError(f"gnubg gave no answer: {said[-2000:]}")
        return json.loads(answer.read_text()), said
