"""Run mypy over the package: link the four source folders into one, as an installation has them.

mypy does not follow the hook of an editable install, which maps nardy_rl.envs to the folder envs and so on.
Arguments are handed on to mypy.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UPPER = ("envs", "agents", "experiments")


def main() -> int:
    """Returns mypy's exit status."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "nardy_rl"
        package.mkdir()
        for source in (ROOT / "nardy_rl").iterdir():
            if source.suffix == ".py" or source.name == "py.typed":
                (package / source.name).symlink_to(source)
        for name in UPPER:
            (package / name).symlink_to(ROOT / name)
        config, cache = ROOT / "pyproject.toml", ROOT / ".mypy_cache"
        command = [
            sys.executable,
            "-m",
            "mypy",
            f"--config-file={config}",
            f"--cache-dir={cache}",
            "-p",
            "nardy_rl",
        ]
        done = subprocess.run([*command, *sys.argv[1:]], cwd=folder, capture_output=True, text=True)
    for line in done.stdout.splitlines():  # name the real files
        upper = any(line.startswith(f"nardy_rl/{name}/") for name in UPPER)
        print(line.removeprefix("nardy_rl/") if upper else line)
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
