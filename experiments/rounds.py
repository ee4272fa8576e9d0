"""The budget and the counters of a training run, which its rounds use up, whatever it learns with."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nardy_rl.experiments.config import TrainConfig
from nardy_rl.experiments.runs import DONE, TD, Progress
from nardy_rl.machine import cores
from nardy_rl.variant import Variant
from nardy_rl.variants import parse_variant


class Rounds:
    """The budget and the counters of a run, whatever it learns with."""

    def __init__(self, config: TrainConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.variant: Variant = parse_variant(config.variant)
        self.threads = config.threads or cores()
        self.progress = Progress()
        self.before: Mapping[str, Any] | None = None  # see `lineage.Before`
        self.seconds_of_round = 0.0
        self.done_in_round = 0  # games, or positions learned
        self.phase_of_round = TD
        self.loss = float("nan")
        self.race_loss = float("nan")  # of the net for races
        self.plays_of_game = float("nan")

    @property
    def done(self) -> float:
        """The part of the budget that is used, 0 to 1."""
        if self.progress.phase == DONE:
            return 1.0
        part = max(self._part_of_games, self._part_of_time)
        return min(part, 1.0) if self.progress.phase == TD else min(part, 0.9999)

    @property
    def _part_of_games(self) -> float:
        return self.progress.games / self.config.games if self.config.games else 0.0

    @property
    def _part_of_time(self) -> float:
        return self.progress.seconds / (60 * self.config.minutes) if self.config.minutes else 0.0

    @property
    def _seconds_left(self) -> float:
        return 60 * self.config.minutes - self.progress.seconds if self.config.minutes else math.inf

    @property
    def speed(self) -> float:
        """Games, or positions learned, a second in the last round."""
        return self.done_in_round / self.seconds_of_round if self.seconds_of_round else 0.0

    def _now(self) -> float:
        """Seconds on the run's clock."""
        return time.perf_counter() if self.config.clock == "wall" else time.process_time() / self.threads

    def text(self) -> str:
        """What is being done, in one line for a person."""
        return f"{self._games_text()}  loss {self.loss:.3f}"

    def _games_text(self) -> str:
        return f"{self.progress.games:,} games  {self.speed:,.0f} games/s  {self.plays_of_game:.0f} plays a game"

    def _count(self, games: int, plays: int, samples: int) -> None:
        p = self.progress
        self.done_in_round = games
        self.plays_of_game = plays / max(games, 1)
        p.games, p.plays, p.samples = p.games + games, p.plays + plays, p.samples + samples

    def _header(self) -> dict[str, Any]:
        """What a policy's file says of its run."""
        return {
            "games": self.progress.games,
            "minutes": round(self.progress.seconds / 60, 3),
            "seed": self.config.seed,
            "settings": {k: v for k, v in vars(self.config).items() if k not in ("out",)},
        } | ({"before": self.before} if self.before else {})
