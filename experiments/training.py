"""Training by self-play: the loop around the kernels of `nardy_rl.agents.td`.

A run goes in rounds. In a round every thread plays and learns a fixed number of games; between rounds the clock is
looked at, progress shown, and now and then a checkpoint written. All that a run depends on is in its checkpoint, and
the dice of game number i are a function of the seed and i: with one thread and a budget in games, a run that was killed
and resumed gives the same policy, bit for bit, as one that was not.
"""

from __future__ import annotations

import json
import math
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nardy_rl.agents.net import Net, new_net, outputs_of, work_of
from nardy_rl.agents.policy import FILE_NAME, Policy, pretrained_path
from nardy_rl.agents.td import Adam, Settings, new_learner, self_play, zeros_like
from nardy_rl.encoding import encoding_of
from nardy_rl.errors import BadRun
from nardy_rl.experiments.config import TrainConfig, config_from
from nardy_rl.experiments.runs import (
    RESULTS,
    Progress,
    append_history,
    cut_history,
    load_checkpoint,
    new_folder,
    read_config,
    save_checkpoint,
    write_text,
)
from nardy_rl.plays import scratch
from nardy_rl.rules import rules_of
from nardy_rl.starts import start_of
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["TrainConfig", "config_from", "train"]

BASELINES = ("random", "pips", "heuristic")
HISTORY_SECONDS = 5.0
LINE_SECONDS = 30.0  # between progress lines where the screen cannot be redrawn


class Trainer:
    """Weights, buffers and counters of one run."""

    def __init__(self, config: TrainConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.variant: Variant = parse_variant(config.variant)
        self.rules = rules_of(self.variant)
        self.start = start_of(self.variant)
        self.encoding = encoding_of(self.variant, config.inputs)
        self.outputs = outputs_of(self.variant)
        self.threads = config.threads or os.cpu_count() or 1
        self.net = self._first_net()
        self.adam = Adam(zeros_like(self.net), zeros_like(self.net))
        self.steps = np.zeros(self.threads, np.int64)
        self.progress = Progress()
        self.seconds_of_round = 0.0
        self.loss = float("nan")
        self.plays_of_game = float("nan")

    def _first_net(self) -> Net:
        config = self.config
        if not config.init:
            return new_net(self.encoding, self.outputs, (config.hidden, config.hidden2), config.seed)
        path = pretrained_path(self.variant) if config.init == "pretrained" else Path(config.init)
        if path is None:
            raise BadRun(f"--init pretrained: no policy comes with {config.variant}; give a file or a run folder")
        policy = Policy.load(path, self.variant)
        if policy.kind != config.inputs:
            raise BadRun(f"--init {path} has {policy.kind} inputs, the run {config.inputs}: set inputs={policy.kind}")
        return Net(*(w.copy() for w in policy.net))

    def resume(self) -> None:
        """Go on from the last checkpoint of the folder."""
        self.net, self.adam, self.steps, self.progress = load_checkpoint(self.folder)
        if len(self.steps) != self.threads:
            self.steps = np.full(self.threads, self.steps.max(), np.int64)
        cut_history(self.folder, self.progress.games)

    def make_buffers(self) -> None:
        """Allocate each thread's memory and compile the kernels."""
        samples = 3 * self.config.cap + 128 * self.config.block
        self.buffers = [(work_of(self.net), scratch(), new_learner(self.net, samples)) for _ in range(self.threads)]
        for i, (_, _, learner) in enumerate(self.buffers):
            learner.steps[0] = self.steps[i]
        self._play(0, 0, 0, 0.0)

    def _play(self, thread: int, game: int, games: int, step_size: float) -> tuple[int, int]:
        config = self.config
        work, scr, learner = self.buffers[thread]
        settings = Settings(step_size, config.trace, config.explore, config.minibatch, config.cap)
        made: tuple[int, int] = self_play(
            self.rules, self.encoding, self.start, self.net, self.adam, self.outputs, work, scr, learner,
            np.uint64(config.seed), game, games, config.block, settings,
        )  # fmt: skip
        return made

    @property
    def done(self) -> float:
        """The part of the budget that is used, 0 to 1."""
        by_games = self.progress.games / self.config.games if self.config.games else 0.0
        by_time = self.progress.seconds / (60 * self.config.minutes) if self.config.minutes else 0.0
        return min(1.0, max(by_games, by_time))

    def step_size(self) -> float:
        """The step size now: half a cosine over the budget."""
        c = self.config
        return c.final_step_size + (c.step_size - c.final_step_size) * 0.5 * (1 + math.cos(math.pi * self.done))

    def play_round(self, pool: ThreadPoolExecutor) -> None:
        """One round of all threads; counters and means of the round are updated."""
        begun = time.perf_counter()
        left = self.config.games - self.progress.games if self.config.games else 1 << 62
        step_size, game, jobs = self.step_size(), self.progress.games, []
        for thread, (_, _, learner) in enumerate(self.buffers):
            games = min(self.config.round, left)
            learner.loss[:] = 0
            jobs.append(pool.submit(self._play, thread, game, games, step_size))
            game, left = game + games, left - games
        made = [job.result() for job in jobs]
        played = game - self.progress.games
        self.seconds_of_round = time.perf_counter() - begun
        plays = sum(plays for plays, _ in made)
        loss = np.sum([learner.loss for _, _, learner in self.buffers], axis=0)
        self.plays_of_game, self.loss = plays / played, math.sqrt(loss[0] / max(loss[1], 1))
        self.steps = np.array([learner.steps[0] for _, _, learner in self.buffers])
        p = self.progress
        p.games, p.plays, p.samples = game, p.plays + plays, p.samples + sum(samples for _, samples in made)
        p.seconds += self.seconds_of_round

    def policy(self) -> Policy:
        """The policy so far. It shares the weights: use it before the next round, or save it."""
        header = {
            "games": self.progress.games,
            "minutes": round(self.progress.seconds / 60, 3),
            "seed": self.config.seed,
            "settings": {k: v for k, v in vars(self.config).items() if k not in ("out",)},
        }
        return Policy(self.variant, self.net, self.config.inputs, header, str(self.folder))

    def save(self) -> None:
        """Write checkpoint and policy."""
        save_checkpoint(self.folder, self.net, self.adam, self.steps, self.progress)
        self.policy().save(self.folder / FILE_NAME)


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

    def __init__(self, console: Console, trainer: Trainer) -> None:
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
        speed = t.config.round * t.threads / t.seconds_of_round if t.seconds_of_round else 0.0
        text = (
            f"{t.progress.games:,} games  {speed:,.0f} games/s  {t.plays_of_game:.0f} plays a game  loss {t.loss:.3f}"
        )
        used, now = t.done - self.first, time.perf_counter()
        left = (now - self.begun) * (1 - t.done) / used if used > 0 else float("nan")
        remaining = "" if math.isnan(left) else f"{int(left) // 60}:{int(left) % 60:02d} left"
        self.bar.update(self.task, completed=t.done, text=text, left=remaining)
        if not self.console.is_terminal and now - self.printed > LINE_SECONDS:
            self.printed = now
            self.console.print(f"{text}  {remaining}")


@contextmanager
def _interrupts() -> Iterator[list[bool]]:
    """While this lasts, Ctrl-C (and a polite kill) only sets the flag that is yielded; a second one interrupts."""
    asked = [False]

    def ask(number: int, frame: Any) -> None:
        if asked[0]:
            raise KeyboardInterrupt
        asked[0] = True

    try:
        before = {s: signal.signal(s, ask) for s in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: leave signals alone
        yield asked
        return
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _duel(trainer: Trainer, opponent: str, games: int) -> dict[str, Any]:
    """The policy so far against a baseline, in raw paired games: quick, and far apart enough to need no adjustment."""
    from nardy_rl.agents import load_bot
    from nardy_rl.experiments.duel import duel

    policy = Policy(trainer.variant, trainer.net, trainer.config.inputs, {}, trainer.folder.name)
    rival = load_bot(trainer.variant, opponent)
    result: dict[str, Any] = duel(
        trainer.variant, policy, rival, games, seed=trainer.config.seed, threads=trainer.threads, evaluator="none"
    ).as_dict()
    return result


def _loop(trainer: Trainer, curves: Curves, console: Console) -> bool:
    """Play rounds until the budget is used; False if the user interrupted."""
    config, progress = trainer.config, trainer.progress
    saved = noted = progress.seconds
    measured = progress.seconds
    screen = Screen(console, trainer)
    with _interrupts() as asked, ThreadPoolExecutor(trainer.threads) as pool, screen.bar:
        while trainer.done < 1 and not asked[0]:
            trainer.play_round(pool)
            screen.show()
            now = progress.seconds
            if now - noted > HISTORY_SECONDS or trainer.done >= 1:
                noted = now
                speed = config.round * trainer.threads / trainer.seconds_of_round
                curves.add(
                    progress,
                    selfplay_plays_per_game=trainer.plays_of_game,
                    loss_value_rms=trainer.loss,
                    loss_step_size=trainer.step_size(),
                    speed_games_per_s=speed,
                )
            if now - saved > config.checkpoint_seconds:
                saved = now
                trainer.save()
            if config.strength_minutes and now - measured > 60 * config.strength_minutes and trainer.done < 1:
                measured = now
                won = _duel(trainer, "heuristic", config.strength_games)
                curves.add(progress, strength_ppg_heuristic=won["ppg"], strength_se_heuristic=won["se"])
        trainer.save()
        return not asked[0]


def train(config: TrainConfig | None, resume: Path | None = None, console: Console | None = None) -> dict[str, Any]:
    """Train as configured, or go on with the run in a folder; returns what the command prints.

    Keys: run, policy, games, games_per_s, minutes, results (a list of duels against the baselines). Ctrl-C saves, says
    how to go on, and raises KeyboardInterrupt. Raises BadRun, BadPolicy, UnknownVariant or BadOption for bad input,
    before anything is written.
    """
    if console is None:
        from rich.console import Console

        console = Console(quiet=True)
    if resume is not None:
        folder = Path(resume)
        trainer = Trainer(read_config(folder), folder)
        trainer.resume()
    else:
        assert config is not None
        trainer = Trainer(config, Path())
        trainer.folder = folder = new_folder(config)
    config = trainer.config
    with console.status("compiling the rules and the learner...") if console.is_terminal else nullcontext():
        trainer.make_buffers()
    curves = Curves(folder, console)
    try:
        finished = _loop(trainer, curves, console)
        p = trainer.progress
        if not finished:
            console.print(f"saved after {p.games:,} games; go on with  nardy train --resume {folder}")
            raise KeyboardInterrupt
        results = []
        with console.status("playing against the baselines...") if console.is_terminal else nullcontext():
            for name in BASELINES if config.final_games else ():
                results.append(_duel(trainer, name, config.final_games))
                curves.add(p, **{f"strength_final_{name}": results[-1]["ppg"]})
    finally:
        curves.close()
    report = {
        "run": str(folder),
        "policy": str(folder / FILE_NAME),
        "games": p.games,
        "games_per_s": p.games / p.seconds if p.seconds else 0.0,
        "minutes": p.seconds / 60,
        "results": results,
    }
    write_text(folder / RESULTS, json.dumps(report, indent=1))
    return report
