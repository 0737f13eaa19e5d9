"""The training loop: one for every model and task, on one process or many, resumable at any moment.

The learner (`learner`) takes the updates; this file is what happens between them: when to validate, save, publish and
stop. If several processes train together, the first one does all of that, and the others only take part in what needs
every process.
"""

from __future__ import annotations

import copy
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Literal

import torch

from manyheads.errors import ManyheadsError
from manyheads.processor import usable_cores
from manyheads.runs.card import versions
from manyheads.runs.checkpoints import Progress, saved_steps
from manyheads.runs.loading import fill_model
from manyheads.tasks.interface import Task, Validation
from manyheads.training.learner import Learner, NotFiniteError, Update
from manyheads.training.lookahead import Lookahead
from manyheads.training.machine.distributed import World, is_lost_peer
from manyheads.training.machine.speed import Stopwatch
from manyheads.training.optimisation.averaging import mean_of_checkpoints, steps_to_average, steps_to_keep
from manyheads.training.progress import Reporter, duration
from manyheads.training.state.background import Background
from manyheads.training.state.checkpoint import Snapshot, newest_checkpoint, prune_checkpoints, save_checkpoint
from manyheads.training.state.journal import Journal
from manyheads.training.state.publishing import Publisher
from manyheads.training.state.rescue import Rescue

Outcome = Literal["finished", "stopped early", "interrupted", "out of time", "nothing to do", "folder gone"]

# Reasons to stop, the strongest last: if processes differ, the strongest is used.
_REASONS: tuple[Outcome | None, ...] = (None, "out of time", "interrupted", "stopped early", "folder gone")


def thread_count(requested: int) -> int:
    """Return the number of threads: as requested, else OMP_NUM_THREADS, else every core this process may run on."""
    if requested:
        return requested
    variable = os.environ.get("OMP_NUM_THREADS", "")
    if variable.isdecimal() and int(variable):
        return int(variable)
    return usable_cores()


def _in_main_thread() -> bool:
    """Whether this is the main thread, the only one that may install signal handlers."""
    return threading.current_thread() is threading.main_thread()


class Trainer:
    """Trains a prepared run until its last step, the end of its patience or time, or an interruption."""

    def __init__(
        self,
        task: Task[Any, Any],
        *,
        device: torch.device,
        reporter: Reporter,
        max_minutes: float | None = None,
        world: World | None = None,
    ) -> None:
        self.task = task
        self.recipe, self.run = task.recipe, task.run
        self.world = world or World(device=torch.device(device))
        self.reporter = reporter
        self._deadline = None if max_minutes is None else time.monotonic() + 60 * max_minutes
        self._interrupted = self._peer_lost = False
        self.model = task.new_model(device=self.world.device, tell=reporter.note)
        parameters = sum(parameter.numel() for parameter in self.model.parameters())
        self.learner = Learner(task, self.model, self.world)
        self.progress = Progress(versions=self._environment())
        self.measured = self._measured_model()
        self.validator = task.validator(self.measured)
        self.publisher = Publisher(task, parameters=parameters)
        self._saving = Background("checkpoints")
        self._rescue = Rescue(self.run)

    def _environment(self) -> dict[str, str]:
        """Return everything but the recipe that the last digits of a result depend on."""
        machine = {
            "device": self.world.device.type,
            "threads": str(torch.get_num_threads()),
            "processes": str(self.world.size),
        }
        return {**versions(), **machine}

    def _measured_model(self) -> torch.nn.Module:
        """Return the model to validate: the one in training, or a second one that receives the weights to publish."""
        learns_alone = self.world.size == 1 and self.learner.average is None
        if learns_alone or not self.world.is_main:
            return self.model
        return self.task.same_model().to(self.world.device)

    def train(self) -> Outcome:
        """Train from the newest checkpoint, or from the beginning if there is none."""
        self._restore()
        step, steps = self.progress.step, self.recipe.training.steps
        if step >= steps or self._out_of_patience():
            self._publish_final()
            reason = (
                f"step {step:,} of {steps:,}"
                if step >= steps
                else f"its best; validation no longer improved (step {step:,})"
            )
            self.reporter.note(f"Already at {reason}: nothing to do.")
            return "nothing to do"
        journal = Journal(self.run, step=step, tell=self.reporter.note) if self.world.is_main else None
        lookahead = Lookahead(self.task.batches_at)
        try:
            with self.reporter, self._signals():
                self.reporter.note(f"Computing in {self.learner.precision.sentence()}")
                self.reporter.begin(step, steps)
                outcome = self._guarded_loop(journal, lookahead)
            self._conclude(outcome)
        finally:
            lookahead.close()
            self._saving.close()
            if journal is not None:
                journal.close()
        return outcome

    def _guarded_loop(self, journal: Journal | None, lookahead: Lookahead) -> Outcome:
        """Take updates; if another process dies meanwhile, save the state and raise an error that says so."""
        try:
            return self._loop(journal, lookahead)
        except ManyheadsError:
            if self.world.size == 1 and self._rescue.is_needed:
                return "folder gone"
            raise
        except RuntimeError as error:
            if self.world.size > 1 and is_lost_peer(error):
                if _in_main_thread():  # torchrun is about to end this process too; let it print its message first
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                self._peer_lost = True
                raise self._lost_peer() from error
            raise

    def _loop(self, journal: Journal | None, lookahead: Lookahead) -> Outcome:
        """Take updates, with validations and checkpoints between them, until there is a reason to stop."""
        settings, every = self.recipe.training, self.recipe.validation.every
        watch = Stopwatch(peak=self.learner.precision.peak())
        self.learner.objective.train()
        while self.progress.step < settings.steps:
            update, flops = self._update(lookahead)
            watch.add(update.loss, update.tokens, flops)
            step = self.progress.step
            if journal is not None and step % settings.log_every == 0:
                facts = {**watch.lap(), "rate": update.rate, "gradient_norm": update.norm}
                journal.add({"step": step, "kind": "train", **facts})
            if journal is not None and (step % settings.log_every == 0 or self.reporter.is_overdue):
                self.reporter.update(step, f"rate {update.rate:.1e} · {self._facts(watch)}")
            last = step == settings.steps
            if last or step % every == 0:
                with watch.paused():
                    self._measure(journal, watch)
            elif step % settings.checkpoint_every == 0:
                self._save(self.learner.snapshot())
            if not last and (reason := self._reason_to_stop()):
                return reason
        return "stopped early" if self._out_of_patience() else "finished"

    def _update(self, lookahead: Lookahead) -> tuple[Update, int]:
        """Take the next update, on this process's batches; return its facts and its FLOPs on this process."""
        indices, following = self._shares()
        batches = lookahead.take(self.progress.step, indices, following)
        try:
            update = self.learner.update(self.progress.step, batches)
        except NotFiniteError as error:
            raise self._not_finite(error) from None
        self.progress.step += 1
        self.progress.batches += self.recipe.training.accumulate * self.world.size
        return update, sum(map(self.learner.objective.flops, batches))

    def _shares(self) -> tuple[range, range]:
        """Return the indices of this process's batches for the next update, and for the one after."""
        world, count = self.world, self.recipe.training.accumulate * self.world.size
        first = self.task.first_batch(self.progress.step, self.progress.batches)
        now = range(first + world.rank, first + count, world.size)
        return now, range(now.start + count, now.stop + count, world.size)

    def _not_finite(self, error: NotFiniteError) -> ManyheadsError:
        """Return the error for a loss or gradient that is not finite, which names the batch."""
        return ManyheadsError(
            f"the loss is no longer a number (loss {error.loss}) at step {self.progress.step + 1:,}, "
            f"in {self.task.describe(error.batch)}.",
            where=str(self.run.path),
            cure="The checkpoints before it are kept. Lower training.schedule.rate, lengthen training.schedule.warmup, "
            "or set training.clip_norm: 1.0",
        )

    def _lost_peer(self) -> ManyheadsError:
        """Return the error for the death of another process; unless it is sharded, the state is saved first."""
        self._saving.finish()
        if self.world.is_main and self.recipe.training.sharding == "none":
            # An exchange of gradients failed, so the weights are those of the last complete update.
            save_checkpoint(self.run.checkpoints, self.progress, self.learner.snapshot())
        saved = max(saved_steps(self.run.checkpoints), default=0)
        return ManyheadsError(
            f"another of the {self.world.size} processes died at step {self.progress.step + 1:,}.",
            where=str(self.run.path),
            cure=f"The checkpoint of step {saved:,} is good: start the same command again to continue from it.",
        )

    def _measure(self, journal: Journal | None, watch: Stopwatch) -> None:
        """Validate the model, record and report whether it is the best so far, and save it."""
        snapshot = self.learner.snapshot()
        if journal is not None:
            validation = self._validate(snapshot)
            best = validation.score.better_than(self.progress.best_score)
            if best:
                self.progress.best_step, self.progress.best_score = self.progress.step, validation.score.value
            self.progress.scores[str(self.progress.step)] = validation.score.value
            self.progress.without_improvement = 0 if best else self.progress.without_improvement + 1
            journal.add({"step": self.progress.step, "kind": "validation", **validation.numbers()})
            steps = self.recipe.training.steps
            self.reporter.validated(self.progress.step, steps, validation, facts=self._facts(watch), best=best)
            if best:
                self.publisher.card(validation, step=self.progress.step)
        self._save(snapshot)

    def _validate(self, snapshot: Snapshot) -> Validation:
        """Validate the weights that would be published."""
        if self.measured is not self.model:
            fill_model(self.measured, snapshot.published, where=str(self.run.path))
        return self.validator.run()

    def _facts(self, watch: Stopwatch) -> str:
        """Return the training loss, speed and remaining time as one short text."""
        left = watch.seconds_per_step() * (self.recipe.training.steps - self.progress.step)
        if self._deadline is not None:
            left = min(left, max(0.0, self._deadline - time.monotonic()))
        return f"training loss {watch.recent_loss:.3f} · {watch.speed()} · {duration(left)} left"

    def _save(self, snapshot: Snapshot) -> None:
        """Write a checkpoint in the background, publish it if it is the best, and only then remove old ones."""
        if not self.world.is_main:
            return
        checkpoints, progress = self.run.checkpoints, copy.deepcopy(self.progress)

        def work() -> None:
            """Save, publish, prune; the folder is consistent wherever this is interrupted."""
            save_checkpoint(checkpoints, progress, snapshot)
            if progress.best_step == progress.step:
                self.publisher.weights(snapshot.published)
            prune_checkpoints(checkpoints, keep=steps_to_keep(saved_steps(checkpoints), progress, self.recipe))

        self._saving.start(work)

    def _restore(self) -> None:
        """Go back to the newest intact checkpoint, if there is one."""
        checkpoint = newest_checkpoint(self.run.checkpoints, tell=self.reporter.note)
        if checkpoint is None:
            return
        self.learner.restore(checkpoint)
        self.progress = checkpoint.progress
        self.reporter.note(f"Continuing from step {self.progress.step:,} ({checkpoint.folder}).")
        now = self._environment()
        changed = [
            f"{name} {old} → {now.get(name)}" for name, old in self.progress.versions.items() if now.get(name) != old
        ]
        if changed:
            self.reporter.note(f"The environment has changed, so results may differ slightly: {', '.join(changed)}.")
        self.progress.versions = now

    def _conclude(self, outcome: Outcome) -> None:
        """Save the state after an interruption, make sure there is a model to use, and report how to continue."""
        step, path = self.progress.step, self.run.path
        if outcome == "folder gone" or self._folder_is_gone():
            raise self._rescued()
        if outcome in ("interrupted", "out of time"):
            self._save_last(outcome)
            self.reporter.note(f"Stopped at step {step:,}; nothing is lost. Start the same command again to continue.")
        else:
            self._publish_final()
            early = " (no further improvement)" if outcome == "stopped early" else ""
            self.reporter.note(f"Finished at step {step:,}{early}.")
        self.reporter.note(f"The model is in {path}.")

    def _save_last(self, outcome: Outcome) -> None:
        """Save the present state, and make sure there is a published model."""
        snapshot = self.learner.snapshot()
        self._saving.finish()
        if not self.world.is_main:
            return
        save_checkpoint(self.run.checkpoints, self.progress, snapshot)
        if outcome == "out of time" or not self.publisher.has_model:
            self._publish_latest(snapshot)

    def _publish_final(self) -> None:
        """Publish the best checkpoint's weights, or the mean of several if that is better."""
        self._saving.finish()
        if not self.world.is_main:
            return
        self.publisher.best(self.progress, tell=self.reporter.note)
        steps = steps_to_average(saved_steps(self.run.checkpoints), self.progress, self.recipe)
        mean = mean_of_checkpoints(self.run.checkpoints, steps, tell=self.reporter.note)
        if mean is None:
            return
        fill_model(self.measured, mean.weights, where=str(self.run.checkpoints))
        validation = self.validator.run()
        better = validation.score.better_than(self.progress.best_score)
        verdict = "better than the best of them, so it is the model" if better else "no better than the best of them"
        self.reporter.note(
            f"The mean of {len(mean.steps)} checkpoints (from step {mean.steps[0]:,}): {validation.score}, {verdict}."
        )
        if better:
            self.publisher.weights(mean.weights)
            self.publisher.card(validation, step=self.progress.step)

    def _publish_latest(self, snapshot: Snapshot) -> None:
        """Publish the present weights if they are the best; the progress of training does not change."""
        validation = self._validate(snapshot)
        self.reporter.validated(
            self.progress.step,
            self.recipe.training.steps,
            validation,
            facts="out of time",
            best=False,
        )
        if validation.score.better_than(self.progress.best_score) or not self.publisher.has_model:
            self.publisher.weights(snapshot.published)
            self.publisher.card(validation, step=self.progress.step)

    def _reason_to_stop(self) -> Outcome | None:
        """Return why training should stop after this step, the same for all processes, or None."""
        reason: Outcome | None = None
        if self._deadline is not None and time.monotonic() >= self._deadline:
            reason = "out of time"
        if self._interrupted:
            reason = "interrupted"
        if self._out_of_patience():
            reason = "stopped early"
        if self.world.is_main and self._rescue.is_needed:
            reason = "folder gone"
        return _REASONS[int(self.world.largest(_REASONS.index(reason)))]

    def _folder_is_gone(self) -> bool:
        """Whether the run folder is no longer where it was, the same for all processes."""
        return bool(self.world.largest(int(self.world.is_main and self._rescue.is_needed)))

    def _rescued(self) -> ManyheadsError:
        """Save the state beside a run folder that is gone; return the error that says so, for every process."""
        snapshot = self.learner.snapshot()
        with suppress(ManyheadsError):  # what was being written found no folder either
            self._saving.finish()
        if self.world.is_main:
            return self._rescue.save(self.progress, snapshot)
        return ManyheadsError("this folder was renamed or deleted during training.", where=str(self.run.path))

    def _out_of_patience(self) -> bool:
        """Whether there was no improvement in as many validations as the patience allows."""
        patience = self.recipe.validation.patience
        return bool(patience > 0 and self.progress.without_improvement >= patience)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Let Ctrl-C and SIGTERM end training after the current update; a second Ctrl-C ends it at once.

        Python delivers signals to the main thread alone, so training in another thread leaves them as they are.
        """
        if not _in_main_thread():
            yield
            return

        def stop(number: int, frame: FrameType | None) -> None:
            """Remember the request."""
            if self._interrupted and number == signal.SIGINT:
                raise KeyboardInterrupt
            self._interrupted = True
            self.reporter.note("Stopping after this step, to save it (Ctrl-C again: at once) …")

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                if not self._peer_lost:
                    signal.signal(number, handler)
