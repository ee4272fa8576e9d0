"""Training by self-play: the loop around the rounds of `trainer.py`.

Between rounds the clock is looked at, progress shown, now and then a checkpoint written and the strength measured.
A run that does not beat `random` after its first games is stopped: something is wrong with it.
"""

from __future__ import annotations

import json
import math
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nardy_rl.agents.policy import FILE_NAME
from nardy_rl.experiments.config import TrainConfig, config_from
from nardy_rl.experiments.curves import Curves, Screen
from nardy_rl.experiments.lineage import known_before
from nardy_rl.experiments.runs import FIT, RESULTS, TD, new_folder, read_config, write_text
from nardy_rl.experiments.trainer import Trainer

if TYPE_CHECKING:
    from rich.console import Console

    from nardy_rl.experiments.own_trainer import OwnTrainer

__all__ = ["TrainConfig", "config_from", "train"]

BASELINES = ("random", "pips", "heuristic")
HISTORY_SECONDS = 5.0
GATE_DUEL = 400  # games against random that a run must win


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


def _duel(trainer: Trainer | OwnTrainer, opponent: str, games: int) -> dict[str, Any]:
    """The policy so far against a baseline, in raw paired games: quick, and far apart enough to need no adjustment."""
    from nardy_rl.agents import load_bot
    from nardy_rl.experiments.duel import duel

    policy = trainer.policy()
    policy.name = trainer.folder.name
    rival = load_bot(trainer.variant, opponent)
    result: dict[str, Any] = duel(
        trainer.variant, policy, rival, games, seed=trainer.config.seed, threads=trainer.threads, evaluator="none"
    ).as_dict()
    return result


def _trainer(config: TrainConfig, folder: Path) -> Trainer | OwnTrainer:
    """The trainer that the settings ask for."""
    if not config.net:
        return Trainer(config, folder)
    from nardy_rl.experiments.own_trainer import OwnTrainer

    return OwnTrainer(config, folder)


class Watch:
    """What is done between two rounds when it is time for it."""

    def __init__(self, trainer: Trainer | OwnTrainer, curves: Curves) -> None:
        self.trainer, self.curves = trainer, curves
        self.saved = self.noted = self.measured = trainer.progress.seconds
        self.generation = trainer.progress.generation

    def look(self) -> str | None:
        """Note, measure and save what is due; a reason why the run must stop, or None."""
        trainer, config, p = self.trainer, self.trainer.config, self.trainer.progress
        ended, self.generation = p.generation != self.generation, p.generation
        if p.seconds - self.noted > HISTORY_SECONDS or trainer.done >= 1:
            self.noted = p.seconds
            self._note()
        due = p.seconds - self.measured > 60 * config.strength_minutes and p.phase != FIT
        if config.strength_minutes and (due or ended) and trainer.done < 1:
            self.measured = p.seconds
            won = _duel(trainer, "heuristic", config.strength_games)
            self.curves.add(p, strength_ppg_heuristic=won["ppg"], strength_se_heuristic=won["se"])
        if config.gate_games and not p.gated and p.games >= config.gate_games:
            won = _duel(trainer, "random", GATE_DUEL)
            p.gated = bool(won["ppg"] > 2 * won["se"])
            self.curves.add(p, strength_ppg_random=won["ppg"], strength_se_random=won["se"])
            if not p.gated:
                return f"after {p.games:,} games the policy scores {won['ppg']:+.2f} a game against random"
        if ended or p.seconds - self.saved > config.checkpoint_seconds:
            self.saved = p.seconds
            trainer.save()
        return None

    def _note(self) -> None:
        trainer, p = self.trainer, self.trainer.progress
        scalars = {"selfplay_generation": p.generation, "selfplay_plays_per_game": trainer.plays_of_game}
        phase = trainer.phase_of_round
        if phase in (TD, FIT):
            scalars |= {"loss_value_rms": trainer.loss, "loss_step_size": trainer.step_size()}
            if not math.isnan(trainer.race_loss):
                scalars["loss_race_rms"] = trainer.race_loss
        unit = "fitted" if phase == FIT else "games"
        self.curves.add(p, **scalars, **{f"speed_{unit}_per_s": trainer.speed})


def _loop(trainer: Trainer | OwnTrainer, curves: Curves, console: Console) -> tuple[bool, str | None]:
    """Rounds until the budget is used: (False if the user interrupted, why the run was stopped)."""
    watch, screen, stopped = Watch(trainer, curves), Screen(console, trainer), None
    with _interrupts() as asked, ThreadPoolExecutor(trainer.threads) as pool, screen.bar:
        while trainer.done < 1 and not asked[0] and stopped is None:
            trainer.round(pool)
            screen.show()
            stopped = watch.look()
        trainer.save()
        return not asked[0], stopped


def train(config: TrainConfig | None, resume: Path | None = None, console: Console | None = None) -> dict[str, Any]:
    """Train as configured, or go on with the run in a folder; returns what the command prints.

    Keys: run, policy, games, games_per_s, minutes, results (a list of duels against the baselines), stopped (why the
    run was stopped before its end, or None). Ctrl-C saves, says how to go on, and raises KeyboardInterrupt. Raises
    BadRun, BadPolicy, UnknownVariant or BadOption for bad input, before anything is written.
    """
    if console is None:
        from rich.console import Console

        console = Console(quiet=True)
    if resume is not None:
        folder = Path(resume)
        config, before = read_config(folder)
        trainer = _trainer(config, folder)
        trainer.before = before
        trainer.resume()
    else:
        assert config is not None
        trainer = _trainer(config, Path())
        past = known_before(config)
        trainer.before = past.as_dict() if past else None
        trainer.folder = folder = new_folder(config, trainer.before)
    config = trainer.config
    with console.status("compiling the rules and the learner...") if console.is_terminal else nullcontext():
        trainer.make_buffers()
    curves = Curves(folder, console)
    try:
        finished, stopped = _loop(trainer, curves, console)
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
        "stopped": stopped,
    }
    write_text(folder / RESULTS, json.dumps(report, indent=1))
    return report
