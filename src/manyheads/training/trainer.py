"""The training loop: one for every model and task, resumable at any moment.

The random numbers of an update and its batches follow from the seed and the step. So a run that was interrupted and
goes on from a checkpoint takes the same updates as one that never stopped.
"""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Literal

import torch

from manyheads.data.batching import Batch
from manyheads.decoding.options import TranslationOptions
from manyheads.decoding.torch_engine import TorchEngine
from manyheads.decoding.translator import Translator
from manyheads.errors import ManyheadsError
from manyheads.metrics.scores import Score
from manyheads.runs.atomic import write_file
from manyheads.runs.card import card_text, versions
from manyheads.runs.loading import fill_parameters, parameter_arrays
from manyheads.runs.weights import weights_bytes
from manyheads.training.averaging import mean_of_checkpoints, steps_to_average, steps_to_keep
from manyheads.training.checkpoint import (
    MODEL,
    Progress,
    checkpoint_folder,
    newest_checkpoint,
    prune_checkpoints,
    save_checkpoint,
    saved_steps,
)
from manyheads.training.journal import Journal
from manyheads.training.objectives import TensorBatch, TranslationObjective
from manyheads.training.optimiser import make_optimiser, optimiser_arrays, restore_optimiser
from manyheads.training.preparation import Preparation, fresh_model
from manyheads.training.progress import Reporter, duration
from manyheads.training.schedule import learning_rate
from manyheads.training.speed import Stopwatch
from manyheads.training.validation import Findings, Validator

Outcome = Literal["finished", "stopped early", "interrupted", "out of time", "nothing to do"]


def thread_count(asked: int) -> int:
    """Return how many threads to use: as asked, or as OMP_NUM_THREADS says, or every core this process may run on."""
    if asked:
        return asked
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def step_seed(seed: int, step: int) -> int:
    """Return the seed of one update's random numbers, different for every step of every run."""
    return (seed * 1_000_003 + step) % (1 << 63)


class Trainer:
    """Trains a prepared run until its last step, its patience, its time or its user says stop."""

    def __init__(
        self,
        preparation: Preparation,
        *,
        device: torch.device,
        reporter: Reporter,
        max_minutes: float | None = None,
    ) -> None:
        self.preparation = preparation
        self.recipe, self.run = preparation.recipe, preparation.run
        self.device, self.reporter = device, reporter
        self._deadline = None if max_minutes is None else time.monotonic() + 60 * max_minutes
        self._interrupted = False
        self.model = fresh_model(preparation, device=device, tell=reporter.note)
        self.objective = TranslationObjective(self.model, smoothing=self.recipe.training.label_smoothing)
        self.optimiser = make_optimiser(self.model, self.recipe.training)
        self.progress = Progress(versions=versions())
        self.validator = self._validator()

    def _validator(self) -> Validator:
        """Return what measures the model on the validation data."""
        engine = TorchEngine(self.model, self.preparation.config)
        options = TranslationOptions.from_settings(self.recipe.decoding)
        translator = Translator.from_parts(engine, self.preparation.tokenizers, options)
        parts = self.preparation
        return Validator(self.recipe, parts.valid_pairs, parts.valid_batches, self.objective, translator)

    def train(self) -> Outcome:
        """Go on from the newest checkpoint, or start, and train."""
        self._restore()
        step, steps = self.progress.step, self.recipe.training.steps
        if step >= steps or self._out_of_patience():
            self._publish_final()
            reason = (
                f"step {step:,} of {steps:,}"
                if step >= steps
                else f"its best, since when nothing improved (step {step:,})"
            )
            self.reporter.note(f"Already at {reason}: nothing to do.")
            return "nothing to do"
        journal = Journal(self.run, step=step)
        try:
            with self.reporter, self._signals():
                self.reporter.begin(step, steps)
                outcome = self._loop(journal)
        finally:
            journal.close()
        self._conclude(outcome)
        return outcome

    def _loop(self, journal: Journal) -> Outcome:
        """Take updates, with validations and checkpoints between them, until there is a reason to stop."""
        settings, validation = self.recipe.training, self.recipe.validation
        watch = Stopwatch()
        self.objective.train()
        while self.progress.step < settings.steps:
            loss, norm, rate, tokens = self._update(self.progress.step)
            self.progress.step += 1
            watch.add(loss, tokens)
            step = self.progress.step
            if step % settings.log_every == 0:
                entry = watch.lap()
                journal.add({"step": step, "kind": "train", **entry, "rate": rate, "gradient_norm": norm})
                self.reporter.update(step, f"rate {rate:.1e} · {self._facts(watch)}")
            last = step == settings.steps
            if last or step % validation.every == 0:
                with watch.paused():
                    self._validate(journal, watch)
                    self._save()
            elif step % settings.checkpoint_every == 0:
                self._save()
            if self._out_of_patience():
                return "stopped early"
            if not last and (self._interrupted or self._out_of_time()):
                return "interrupted" if self._interrupted else "out of time"
        return "finished"

    def _update(self, step: int) -> tuple[float, float, float, int]:
        """Take update `step` (from 0); return mean loss per token, norm of the gradient, rate, and target tokens."""
        settings = self.recipe.training
        torch.manual_seed(step_seed(self.recipe.seed, step))
        first = step * settings.accumulate
        batches = [self.preparation.batches[first + i] for i in range(settings.accumulate)]
        count = sum(int(batch.target_lengths.sum()) for batch in batches)
        self.optimiser.zero_grad(set_to_none=True)
        losses = []
        for batch in batches:
            loss, _ = self.objective(TensorBatch.move(batch, self.device))
            (loss / count).backward()
            losses.append(loss.detach())
        total = float(torch.stack(losses).sum())
        limit = settings.clip_norm or math.inf
        norm = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), limit))
        if not math.isfinite(norm) or not math.isfinite(total):
            wrong = next((i for i, loss in enumerate(losses) if not math.isfinite(float(loss))), 0)
            raise self._not_finite(total / count, step, batches[wrong])
        rate = learning_rate(settings.schedule, step + 1, width=self.recipe.model.width, steps=settings.steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()
        return total / count, norm, rate, count

    def _not_finite(self, loss: float, step: int, batch: Batch) -> ManyheadsError:
        """Return the error for a loss or gradient that is no number, naming the batch; it was not learned from."""
        first = batch.source[0, : batch.source_lengths[0]].tolist()
        text = self.preparation.tokenizers.source.decode(first)[:80]
        return ManyheadsError(
            f"the loss is no longer a number (loss {loss}) at step {step + 1:,}, "
            f"in a batch of {len(batch.pairs)} pairs whose first source is {text!r}.",
            where=str(self.run.path),
            cure="The checkpoints before it are kept. Lower training.schedule.rate, lengthen training.schedule.warmup, "
            "or set training.clip_norm: 1.0",
        )

    def _validate(self, journal: Journal, watch: Stopwatch) -> None:
        """Measure the model, remember whether it is the best so far, and say so."""
        findings = self.validator.run()
        best = findings.score.better_than(self.progress.best_score)
        if best:
            self.progress.best_step, self.progress.best_score = self.progress.step, findings.score.value
        self.progress.scores[str(self.progress.step)] = findings.score.value
        self.progress.without_improvement = 0 if best else self.progress.without_improvement + 1
        journal.add({"step": self.progress.step, "kind": "validation", **findings.numbers()})
        steps = self.recipe.training.steps
        self.reporter.validated(self.progress.step, steps, findings, facts=self._facts(watch), best=best)
        if best:
            self._write_card(findings)

    def _facts(self, watch: Stopwatch) -> str:
        """Return loss, speed and time left as one short text."""
        left = watch.seconds_per_step() * (self.recipe.training.steps - self.progress.step)
        if self._deadline is not None:
            left = min(left, max(0.0, self._deadline - time.monotonic()))
        return f"loss {watch.recent_loss:.3f} · {watch.tokens_per_second():,.0f} tokens/s · {duration(left)} left"

    def _save(self) -> None:
        """Write a checkpoint, publish it if it is the best, and only then remove old ones."""
        checkpoints = self.run.checkpoints
        arrays = parameter_arrays(self.model)
        save_checkpoint(checkpoints, self.progress, arrays, optimiser_arrays(self.model, self.optimiser))
        if self.progress.best_step == self.progress.step:
            self._publish_best()
        prune_checkpoints(checkpoints, keep=steps_to_keep(saved_steps(checkpoints), self.progress, self.recipe))

    def _restore(self) -> None:
        """Go back to the newest intact checkpoint, if there is one."""
        checkpoint = newest_checkpoint(self.run.checkpoints, tell=self.reporter.note)
        if checkpoint is None:
            return
        where = str(checkpoint.folder)
        fill_parameters(self.model, checkpoint.model, where=where)
        self.progress = checkpoint.progress
        restore_optimiser(self.model, self.optimiser, checkpoint.optimiser, step=self.progress.step, where=where)
        self.reporter.note(f"Going on from step {self.progress.step:,} ({where}).")
        now = versions()
        changed = [
            f"{name} {old} → {now.get(name)}" for name, old in self.progress.versions.items() if now.get(name) != old
        ]
        if changed:
            self.reporter.note(f"Versions differ from the checkpoint's, so results may too: {', '.join(changed)}.")
        self.progress.versions = now

    def _publish_best(self) -> None:
        """Make the best checkpoint's weights the run's model."""
        best = self.progress.best_step
        if best is not None:
            weights = checkpoint_folder(self.run.checkpoints, best) / MODEL
            if weights.exists():
                write_file(self.run.weights_file, weights.read_bytes())

    def _conclude(self, outcome: Outcome) -> None:
        """Save what an interruption left unsaved, make sure there is a model to use, and say how to go on."""
        step, path = self.progress.step, self.run.path
        if outcome in ("interrupted", "out of time"):
            save_checkpoint(
                self.run.checkpoints,
                self.progress,
                parameter_arrays(self.model),
                optimiser_arrays(self.model, self.optimiser),
            )
            if outcome == "out of time" or not self.run.weights_file.exists():
                self._publish_latest()
            self.reporter.note(f"Stopped at step {step:,}; nothing is lost. Start the same command again to go on.")
        else:
            self._publish_final()
            early = " (no improvement any more)" if outcome == "stopped early" else ""
            self.reporter.note(f"Finished at step {step:,}{early}.")
        self.reporter.note(f"The model is in {path}; try: manyheads translate --model {path}")

    def _publish_final(self) -> None:
        """Make the best checkpoint's weights the run's model, or the mean of several if that is better still."""
        self._publish_best()
        steps = steps_to_average(saved_steps(self.run.checkpoints), self.progress, self.recipe)
        if len(steps) < 2:
            return
        folders = [checkpoint_folder(self.run.checkpoints, step) for step in steps]
        fill_parameters(self.model, mean_of_checkpoints(folders), where=str(self.run.checkpoints))
        findings = self.validator.run()
        better = findings.score.better_than(self.progress.best_score)
        verdict = "better than the best of them, so it is the model" if better else "no better than the best of them"
        self.reporter.note(
            f"The mean of {len(steps)} checkpoints (from step {steps[0]:,}): {findings.score}, {verdict}."
        )
        if better:
            write_file(self.run.weights_file, weights_bytes(parameter_arrays(self.model)))
            self._write_card(findings)

    def _publish_latest(self) -> None:
        """Make the weights of this moment the run's model if they are the best; training itself takes no notice."""
        findings = self.validator.run()
        self.reporter.validated(
            self.progress.step,
            self.recipe.training.steps,
            findings,
            facts="at the end of the time",
            best=False,
        )
        if findings.score.better_than(self.progress.best_score) or not self.run.weights_file.exists():
            write_file(self.run.weights_file, weights_bytes(parameter_arrays(self.model)))
            self._write_card(findings)

    def _write_card(self, findings: Findings) -> None:
        """Write the run's card."""
        parts = self.preparation
        parameters = sum(parameter.numel() for parameter in self.model.parameters())
        facts = {
            "model": f"{self.recipe.model.kind}, {parameters:,} parameters",
            "training data": parts.corpus.origin(),
            "pairs": f"{parts.store.tally.pairs:,}",
            "step": f"{self.progress.step:,} of {self.recipe.training.steps:,}",
            "command": f"manyheads train {self.run.recipe_file} --out {self.run.path}",
        }
        scores = {score.name: _score_text(score) for score in (findings.score, *findings.others)}
        write_file(self.run.card_file, card_text(self.recipe, facts=facts, scores=scores))

    def _out_of_patience(self) -> bool:
        """Whether as many validations as the patience allows brought nothing better."""
        patience = self.recipe.validation.patience
        return patience > 0 and self.progress.without_improvement >= patience

    def _out_of_time(self) -> bool:
        """Whether the user's time is up."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Let Ctrl-C and SIGTERM end training after the current update; a second Ctrl-C ends it at once."""

        def stop(number: int, frame: FrameType | None) -> None:
            """Remember that somebody asked."""
            if self._interrupted and number == signal.SIGINT:
                raise KeyboardInterrupt
            self._interrupted = True
            self.reporter.note("Stopping after this step, to save it (Ctrl-C again: at once) …")

        before = {one: signal.signal(one, stop) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def _score_text(score: Score) -> str:
    """Return a score with its signature, if it has one."""
    return f"{score.value:.2f}" + (f" ({score.signature})" if score.signature else "")
