"""What a training run shows while it goes on: curves for the history and TensorBoard, and live progress."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nardy_rl.experiments.runs import Progress, append_history

if TYPE_CHECKING:
    from rich.console import Console

    from nardy_rl.experiments.rounds import Rounds

LINE_SECONDS = 30.0  # between progress lines where the screen cannot be redrawn


class Curves:
    """Scalars for the history file and for TensorBoard, which may be missing."""

    def __init__(self, folder: Path, console: Console) -> None:
        self.folder = folder
        self.writer: Any = None
        try:
            from tensorboard.summary import Writer

            self.writer = Writer(str(folder))
        except ImportError:
            console.print("no curves for TensorBoard: install it with  pip install tensorboard")

    def add(self, progress: Progress, **scalars: float) -> None:
        """Record scalars named `group_name`, as `group/name` in TensorBoard."""
        line = {"games": progress.games, "minutes": round(progress.seconds / 60, 4)}
        append_history(self.folder, line | {k: float(f"{v:.6g}") for k, v in scalars.items()})
        if self.writer is not None:
            for name, value in scalars.items():
                self.writer.add_scalar(name.replace("_", "/", 1), value, progress.games)

    def close(self) -> None:
        """Write what is left."""
        if self.writer is not None:
            self.writer.close()


class Screen:
    """Live progress: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self, console: Console, trainer: Rounds) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        self.console, self.trainer = console, trainer
        self.begun = self.printed = time.perf_counter()
        self.first = trainer.done
        self.bar = Progress(
            TextColumn("{task.fields[text]}"), BarColumn(), TextColumn("{task.fields[left]}"),
            console=console, transient=True, disable=not console.is_terminal,
        )  # fmt: skip
        self.task = self.bar.add_task("training", total=1.0, text="", left="")

    def show(self) -> None:
        """Show games, speed, loss and the time that is left."""
        t = self.trainer
        text = t.text()
        used, now = t.done - self.first, time.perf_counter()
        left = (now - self.begun) * (1 - t.done) / used if used > 0 else float("nan")
        remaining = "" if math.isnan(left) else f"{int(left) // 60}:{int(left) % 60:02d} left"
        self.bar.update(self.task, completed=t.done, text=text, left=remaining)
        if not self.console.is_terminal and now - self.printed > LINE_SECONDS:
            self.printed = now
            self.console.print(f"{text}  {remaining}")
