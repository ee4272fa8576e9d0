"""The state of a training run and its rounds: TD, then generations of labelling and fitting.

A run goes in rounds; in a round every thread plays a number of games, or learns a slice of a pass. Between rounds the
clock is looked at. Phases:

    td      games of TD(lambda) (nardy_rl/agents/td.py), for `td_share` of the budget
    label   games whose positions get labels (labels.py), played by the net as it is
    fit     passes over the labelled positions of the window (refine.py); then `label` again, or the end

A run with labels enough (`final_labels`) ends with a fit from scratch: a new, wider net (`final_hidden`) learns the
window. While it does, the net that made the labels is the player.

With nets=kinds a second net goes along from the first generation on: it learns the races among the positions of a fit,
when the first net learns them all, and values races in the policy. The games of the run are played by the first.

All that a run depends on is in its checkpoint, and the dice of game number i are a function of the seed and i: with one
thread and a budget in games, a run that was killed and resumed gives the same policy, bit for bit, as one that was not.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import States
from nardy_rl.agents.kinds import races
from nardy_rl.agents.labels import LabelSettings, Notes, label_games, new_notes, rollout_labels
from nardy_rl.agents.net import new_net, outputs_of
from nardy_rl.agents.policy import FILE_NAME, RACE_PREFIX, Policy, policy_of
from nardy_rl.agents.quick import Quick, QuickWork, new_quick, quantise, quick_work_of
from nardy_rl.agents.refine import falling, fit, fit_order, move_mean
from nardy_rl.agents.sieve import FITTED
from nardy_rl.agents.sieve import fit as fit_sieve
from nardy_rl.agents.td import Learner, Settings, new_learner, self_play
from nardy_rl.agents.transfer import transferred
from nardy_rl.encoding import encoding_of, usual_kind
from nardy_rl.errors import BadRun
from nardy_rl.experiments.config import TrainConfig
from nardy_rl.experiments.learned import Learned, copied
from nardy_rl.experiments.lineage import init_path
from nardy_rl.experiments.rounds import Rounds
from nardy_rl.experiments.runs import (
    DONE,
    FINAL_PART,
    FIT,
    LABEL,
    RACE_PART,
    TD,
    cut_history,
    label_files,
    labels_digest,
    labels_file,
    load_checkpoint,
    load_labels,
    save_checkpoint,
    save_labels,
)
from nardy_rl.experiments.window import Labelled, Window, joined
from nardy_rl.plays import Scratch, scratch
from nardy_rl.rules import rules_of
from nardy_rl.starts import start_of

SLICE = 64  # minibatches of a thread between two looks at the clock
FITS_A_SECOND = 50_000  # positions learned a second by one thread, before it is measured
MOST_TD = 0.5  # with less than the rest, labels do not bring what more TD would
SMALLEST_REST = 2.0  # fits that must have room after one that is not the last


class Memory(NamedTuple):
    """What one thread works with."""

    quick: Quick
    fast: QuickWork
    scratch: Scratch
    learner: Learner
    notes: Notes


class Trainer(Rounds):
    """A run of the built-in net: weights, buffers and labelled positions."""

    def __init__(self, config: TrainConfig, folder: Path) -> None:
        super().__init__(config, folder)
        self.rules = rules_of(self.variant)
        self.start = start_of(self.variant)
        self.outputs = outputs_of(self.variant)
        self.digest = labels_digest(self.variant)
        init = self._init_policy()
        self.kind = config.inputs or (init.kind if init else usual_kind(self.variant))
        self.encoding = encoding_of(self.variant, self.kind)
        self.first, self.race = self._first_nets(init)
        self.final: Learned | None = None  # the net that the run ends with, while it is fitted
        self.window = Window()
        self.written: dict[int, int] = {}  # labelled positions that are on the disk, by generation
        self.material: Labelled | None = None  # of the present fit
        self.races: NDArray[np.bool_] | None = None  # which positions of it the net for races learns
        self.order: tuple[int, NDArray[np.int64]] | None = None  # of the present pass
        self.sifted = 0  # generation that the sieve in the notes was fitted for
        if config.labels:
            self._first_labels(config.labels.split(","))
        elif self._td_share == 0:
            self.progress.generation = 1
            self._label_next()

    def _init_policy(self) -> Policy | None:
        """The policy that the run starts from, if it is not to start from random weights."""
        config = self.config
        if not config.init:
            return None
        path = init_path(config.init, self.variant)
        policy = Policy.load(path)
        if config.inputs not in ("", policy.kind):
            raise BadRun(f"--init {path} has {policy.kind} inputs, the run {config.inputs}: set inputs={policy.kind}")
        return policy

    def _first_nets(self, policy: Policy | None) -> tuple[Learned, Learned | None]:
        """The net that the run starts from, and the net for races, if it starts from a policy that has one."""
        config = self.config
        if policy is None:
            return self._new((config.hidden, config.hidden2, config.hidden3)), None
        nets = policy.nets if config.nets == "kinds" else {"": policy.net}
        learned = {
            prefix: Learned(transferred(net, policy.kind, policy.variant, self.variant, config.seed), self.threads)
            for prefix, net in nets.items()
        }
        return learned[""], learned.get(RACE_PREFIX)

    def _new(self, hidden: tuple[int, int, int]) -> Learned:
        """Random weights to learn."""
        return Learned(new_net(self.encoding, self.outputs, hidden, self.config.seed), self.threads)

    @property
    def _players(self) -> list[Learned]:
        """The nets of the policy so far: one, or two."""
        return [self.first] if self.race is None else [self.first, self.race]

    @property
    def _learned(self) -> list[Learned]:
        """All that the present phase learns."""
        return self._players if self.final is None else [self.final]

    def _first_labels(self, runs: list[str]) -> None:
        """Take over the labelled positions of other runs, to be learned first; the last run counts as the newest."""
        files: list[Path] = []
        for run in runs:
            found = label_files(Path(run))
            if not found:
                raise BadRun(f"setting labels: there are no labelled positions in the folder {run!r}")
            files += found
        for i, file in enumerate(files):
            self.window.add(i - len(files), load_labels(file, self.digest))
        self.window.trim(self.config.window)
        self._begin_fit(last=False)

    def resume(self) -> None:
        """Go on from the last checkpoint of the folder."""
        nets, steps, self.progress = load_checkpoint(self.folder)
        self.first = Learned.restored(nets, steps, "", self.threads)
        self.race, self.final = (
            Learned.restored(nets, steps, part, self.threads) if f"{part}steps" in steps else None
            for part in (RACE_PART, FINAL_PART)
        )
        p = self.progress
        if p.phase in (LABEL, FIT):
            self._load_window()
        cut_history(self.folder, p.games)

    def _load_window(self) -> None:
        """The labelled positions of the run as they were at its checkpoint."""
        p = self.progress
        for file in label_files(self.folder):
            generation = int(file.stem)
            if generation > p.generation or (generation == p.generation and not p.labelled):
                continue
            states, labels = load_labels(file, self.digest)
            if generation == p.generation:
                states, labels = states[: p.labelled], labels[: p.labelled]
            self.window.add(generation, (states, labels))
            self.written[generation] = len(states)
        if self.window.parts:
            self.window.trim(self.config.window)

    def make_buffers(self) -> None:
        """Allocate each thread's memory and compile the kernels."""
        self.memory = self._memory(self.first)
        self._play(0, 0, 0, 0.0)
        if self.config.generation:
            self._label(0, 0, 0)
            nothing = np.zeros((0, 16), np.uint32), np.zeros((0, len(self.outputs.points)), np.float32)
            self._fit(0, self.first, nothing, np.zeros(0, np.int64), self.config.refine_minibatch, 0.0)
            if self.config.nets == "kinds":
                races(self.rules, nothing[0])
        if self.final is not None:
            self.memory = self._memory(self.final)

    def _memory(self, learned: Learned) -> list[Memory]:
        """Each thread's memory for a net of this shape."""
        net, samples = learned.net, 3 * self.config.cap + 128 * self.config.block
        return [
            Memory(
                new_quick(net),
                quick_work_of(net),
                scratch(),
                learned.learner(new_learner(net, samples), thread),
                new_notes(self.outputs, self.config.cap, self.config.label_keep),
            )
            for thread in range(self.threads)
        ]

    # ------------------------------------------------------------------------------------------ budget

    @property
    def _td_share(self) -> float:
        """The part of the budget that TD takes: all of it where `td_games`, at the speed so far, are more than half."""
        c, p = self.config, self.progress
        if not c.generation:
            return 1.0
        if p.phase != TD or not c.td_share or not p.games:
            return c.td_share
        share = max(c.td_share, self.done * c.td_games / p.games)
        return share if share <= MOST_TD or share == c.td_share else 1.0

    def step_size(self) -> float:
        """The step size now: half a cosine over the phase."""
        c, p = self.config, self.progress
        if p.phase == TD:
            return falling(c.step_size, c.final_step_size, self.done / max(self._td_share, 1e-9))
        if p.phase != FIT:
            return 0.0
        part = p.fitted / self.fit_size
        if p.last and c.minutes:
            part = max(part, (p.seconds - p.fit_from) / max(60 * c.minutes - p.fit_from, 1e-9))
        return falling(c.step_size if self._fits_anew else c.refine_step_size, 0.0, part)

    @property
    def fit_size(self) -> int:
        """Positions that the present fit learns in all its passes."""
        return max(self._passes * len(self.window), 1)

    @property
    def _passes(self) -> int:
        """Passes of the present fit."""
        return self.config.first_passes if self._fits_anew else self.config.passes

    @property
    def _fits_anew(self) -> bool:
        """Does the present fit begin anew: with the labels of another run (generation 0), or the final net."""
        return self.progress.generation == 0 or self.final is not None

    @property
    def _ends_anew(self) -> bool:
        """Will the run, if it ends now, end with a new net."""
        return self.config.final_hidden > 0 and len(self.window) >= self.config.final_labels

    @property
    def _fit_seconds(self) -> float:
        """How long a fit over the window will take."""
        return self.config.passes * len(self.window) / (self.progress.fit_speed or FITS_A_SECOND * self.threads)

    @property
    def _last_seconds(self) -> float:
        """How long the fit that ends the run will take; of a new net it takes time as its width."""
        if not self._ends_anew:
            return self._fit_seconds
        wider = self.config.final_hidden / len(self.first.net.b1)
        return self._fit_seconds * wider * self.config.first_passes / self.config.passes

    # ------------------------------------------------------------------------------------------ rounds

    def text(self) -> str:
        """See `Rounds.text`."""
        p = self.progress
        if p.phase == FIT:
            part = p.fitted / self.fit_size
            what = f"generation {p.generation}" if self.final is None else "the final net"
            return f"{what}: learning {len(self.window):,} positions, {part:.0%}  loss {self.loss:.3f}"
        if p.phase == LABEL:
            return f"generation {p.generation}: {p.labelled:,} positions labelled  {self._games_text()}"
        return super().text()

    def round(self, pool: ThreadPoolExecutor) -> None:
        """One round of the present phase with all threads, and on to the next phase where that is due."""
        begun = self._now()
        p = self.progress
        phase = self.phase_of_round = p.phase
        if phase == TD:
            self._td_round(pool)
        elif phase == LABEL:
            self._label_round(pool)
        elif phase == FIT:
            self._fit_round(pool)
        self.seconds_of_round = self._now() - begun
        p.seconds += self.seconds_of_round
        if phase == FIT:
            p.fit_speed = 0.9 * (p.fit_speed or self.speed) + 0.1 * self.speed
        self._next_phase()

    def _next_phase(self) -> None:
        p, c = self.progress, self.config
        if p.phase == TD and self.done >= self._td_share:
            self.first.take(self.first.net)
            p.generation = 1
            if self.done < 1:
                self._label_next()
            else:
                p.phase = DONE
        elif p.phase == LABEL:
            out_of_games = self._part_of_games >= 1
            out_of_time = self._seconds_left <= self._last_seconds
            room = self._seconds_left > self._last_seconds + self._fit_seconds
            if out_of_games or out_of_time or (p.labelled >= c.generation and room):
                self._begin_fit(last=out_of_games or out_of_time)
        elif p.phase == FIT and (p.fitted >= self.fit_size or (p.last and self._seconds_left <= 0)):
            for learned in self._learned:
                learned.take(learned.mean if c.average else learned.net)
            if self.final is not None:
                self.first, self.final = self.final, None
            p.generation, p.labelled, p.fitted = p.generation + 1, 0, 0
            self.material = self.races = self.order = None
            no_room = not self._ends_anew and self._seconds_left <= SMALLEST_REST * self._fit_seconds
            if p.last or self._part_of_games >= 1 or no_room:
                p.phase = DONE
            else:
                self._label_next()

    def _label_next(self) -> None:
        """On to the games that are labelled. Before the first of them the net for races is made, from the other."""
        self.progress.phase = LABEL
        if self.config.nets == "kinds" and self.race is None:
            self.race = Learned(copied(self.first.net), self.threads)

    def _jobs(self, games: int) -> list[tuple[int, int, int]]:
        """Games for the threads of a round: (thread, first game, how many)."""
        left = self.config.games - self.progress.games if self.config.games else 1 << 62
        jobs, game = [], self.progress.games
        for thread in range(self.threads):
            some = min(games, left)
            jobs.append((thread, game, some))
            game, left = game + some, left - some
        return jobs

    def _clear_loss(self) -> None:
        for learned in self._learned:
            learned.errors[:] = 0

    # ------------------------------------------------------------------------------------------ TD

    def _td_round(self, pool: ThreadPoolExecutor) -> None:
        self._clear_loss()
        step_size, jobs = self.step_size(), self._jobs(self.config.round)
        made = [job.result() for job in [pool.submit(self._play, *job, step_size) for job in jobs]]
        self._count(games_of(jobs), sum(plays for plays, _ in made), sum(samples for _, samples in made))
        self.loss = self.first.loss

    def _play(self, thread: int, game: int, games: int, step_size: float) -> tuple[int, int]:
        c, memory = self.config, self.memory[thread]
        settings = Settings(step_size, c.trace, c.explore, c.minibatch, c.cap)
        made: tuple[int, int] = self_play(
            self.rules, self.encoding, self.start, self.first.adam, self.outputs, memory.quick, memory.fast,
            memory.scratch, memory.learner, np.uint64(c.seed), game, games, c.block, settings,
        )  # fmt: skip
        return made

    # ------------------------------------------------------------------------------------------ labels

    def _fit_sieve(self) -> None:
        """Fit the sieve that stands before the net while it labels."""
        sieve = fit_sieve(self.policy(), FITTED, self.config.seed)[0]
        self.memory = [memory._replace(notes=memory.notes._replace(sieve=sieve)) for memory in self.memory]
        self.sifted = self.progress.generation

    def _label_round(self, pool: ThreadPoolExecutor) -> None:
        if self.config.label_keep and self.sifted != self.progress.generation:
            self._fit_sieve()
        jobs = self._jobs(self.config.label_round)
        made = [job.result() for job in [pool.submit(self._label, *job) for job in jobs]]
        for some in made:
            self.window.add(self.progress.generation, some)
        positions = sum(len(states) for states, _ in made)
        self._count(games_of(jobs), positions, positions)
        self.progress.labelled += positions

    def _label(self, thread: int, game: int, games: int) -> Labelled:
        """Labelled positions of some games."""
        c, memory = self.config, self.memory[thread]
        settings = LabelSettings(c.label_trace, c.label_explore, c.label_margin, c.cap)
        quantise(self.encoding, memory.quick, memory.fast)
        room = 2 * c.cap + 128 * c.label_round
        states, labels = np.zeros((room, 16), np.uint32), np.zeros((room, len(self.outputs.points)), np.float32)
        counts = np.zeros(max(games, 1), np.int64)
        parts = []
        while True:
            played, n = label_games(
                self.rules, self.encoding, self.start, memory.quick, self.outputs, memory.fast, memory.scratch,
                memory.notes, np.uint64(c.seed), game, games, settings, states, labels, counts,
            )  # fmt: skip
            if c.rollouts:
                self._roll_out(memory, game, counts[:played], states[:n], labels[:n])
            parts.append((states[:n].copy(), labels[:n].copy()))
            game, games = game + played, games - played
            if not games:
                return joined(parts)

    def _roll_out(
        self, memory: Memory, game: int, counts: NDArray[np.int64], states: States, labels: NDArray[np.float32]
    ) -> None:
        """Replace the labels of the states of some games by rollouts."""
        c = self.config
        plies = min(c.rollout_plies or c.cap, c.cap)
        line = np.zeros((plies + 1, 16), np.uint32), np.zeros((plies + 1, labels.shape[1]), np.float32)
        rollout_labels(
            self.rules, self.encoding, memory.quick, self.outputs, memory.fast, memory.scratch, memory.notes,
            np.uint64(c.seed), game, counts, c.rollouts, LabelSettings(1.0, 0.0, 0.0, plies), states, labels, line,
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------ fits

    def _begin_fit(self, last: bool) -> None:
        p = self.progress
        if not len(self.window):
            p.phase = DONE
            return
        for generation in self.window.trim(self.config.window):
            labels_file(self.folder, generation).unlink(missing_ok=True)
        p.phase, p.fitted, p.fit_from, p.last = FIT, 0, p.seconds, last
        if last and self._ends_anew:
            self.final = self._new((self.config.final_hidden, self.config.hidden2, self.config.hidden3))
            self.memory = self._memory(self.final)
        for learned in self._learned:
            learned.begin_fit()

    def _fit_round(self, pool: ThreadPoolExecutor) -> None:
        self._clear_loss()
        p, c = self.progress, self.config
        if self.material is None:
            self.material = self.window.all()
            self.races = races(self.rules, self.material[0]) if self.race and self.final is None else None
        number, begin = divmod(p.fitted, len(self.material[0]))
        if self.order is None or self.order[0] != number:
            self.order = number, fit_order(c.seed, p.generation, number, len(self.material[0]))
        slice_of = SLICE * c.refine_minibatch
        some = self.order[1][begin : begin + slice_of * self.threads]
        step_size = self.step_size()
        parts = [some[t * slice_of : (t + 1) * slice_of] for t in range(self.threads)]
        jobs = [pool.submit(self._fit_part, t, part, step_size) for t, part in enumerate(parts)]
        for job in jobs:
            job.result()
        if c.average:
            for learned in self._learned:
                move_mean(learned.mean, learned.net, 1 - math.exp(-len(some) / c.refine_minibatch / c.average))
        self.done_in_round = len(some)
        p.fitted += len(some)
        self.loss = self._learned[0].loss
        self.race_loss = self.race.loss if self.race else self.race_loss

    def _fit_part(self, thread: int, part: NDArray[np.int64], step_size: float) -> None:
        """A thread's part of a round of a fit: positions by number, all for one net, races for the net for races."""
        assert self.material is not None
        size = self.config.refine_minibatch
        self._fit(thread, self._learned[0], self.material, part, size, step_size)
        if self.race is not None and self.races is not None and len(part):
            some = part[self.races[part]]  # in about as many steps as the first net makes: with fewer it lags behind
            self._fit(thread, self.race, self.material, some, max(1, round(len(some) * size / len(part))), step_size)

    def _fit(
        self, thread: int, learned: Learned, material: Labelled, which: NDArray[np.int64], minibatch: int,
        step_size: float,
    ) -> None:  # fmt: skip
        memory = self.memory[thread]
        fit(
            self.rules, self.encoding, learned.net, learned.adam, self.outputs, memory.fast.slow,
            learned.learner(memory.learner, thread), *material, which, minibatch, step_size,
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------ files

    def policy(self) -> Policy:
        """The policy so far. It shares the weights: use it before the next round, or save it."""
        fitting = self.progress.phase == FIT
        prefixes = ("", RACE_PREFIX)[: len(self._players)]
        nets = {
            prefix: learned.player if fitting else learned.net
            for prefix, learned in zip(prefixes, self._players, strict=True)
        }
        return policy_of(self.variant, nets, self.kind, self._header(), str(self.folder))

    def save(self) -> None:
        """Write labelled positions, checkpoint and policy."""
        for generation, size in self.window.sizes.items():
            if generation > 0 and self.written.get(generation) != size:
                save_labels(self.folder, generation, self.window.of(generation), self.digest)
                self.written[generation] = size
        nets, steps = self.first.saved("")
        for part, learned in ((RACE_PART, self.race), (FINAL_PART, self.final)):
            if learned is not None:
                more, more_steps = learned.saved(part)
                nets, steps = nets | more, steps | more_steps
        save_checkpoint(self.folder, nets, steps, self.progress)
        self.policy().save(self.folder / FILE_NAME)


def games_of(jobs: list[tuple[int, int, int]]) -> int:
    """How many games the jobs of a round play."""
    return sum(games for _, _, games in jobs)
