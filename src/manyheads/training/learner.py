"""The state of training: the model, its optimiser and its moving average, and how one update changes them.

The random numbers of an update follow from the seed, the step and the process. So a run that continues from a
checkpoint takes the same updates as one that was never interrupted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import torch

from manyheads.attention.scheduled import Scheduled
from manyheads.runs.loading import fill_model, model_arrays, whole, whole_arrays
from manyheads.runs.weights import Arrays
from manyheads.tasks.interface import Task
from manyheads.training.machine.distributed import World
from manyheads.training.machine.precision import choose_precision
from manyheads.training.optimisation.gradient_noise import add_gradient_noise
from manyheads.training.optimisation.moving_average import MovingAverage
from manyheads.training.optimisation.optimiser import make_optimiser, optimiser_arrays, restore_optimiser
from manyheads.training.optimisation.schedule import learning_rate
from manyheads.training.state.checkpoint import Checkpoint, Snapshot


class Update(NamedTuple):
    """The facts of one update: mean loss per target token, gradient norm, learning rate, and target tokens."""

    loss: float
    norm: float
    rate: float
    tokens: int


class NotFiniteError(Exception):
    """A loss or a gradient is not finite; the weights were not updated."""

    def __init__(self, loss: float, batch: Any) -> None:  # noqa: ANN401 (each task has batches of its own)
        super().__init__(f"loss {loss}")
        self.loss, self.batch = loss, batch


def step_seed(seed: int, step: int, rank: int = 0) -> int:
    """Return the seed of one update's random numbers, different for every step of every run and for every process."""
    return (seed * 1_000_003 + step + (rank << 40)) % (1 << 63)


class Learner:
    """A model in training, together with the other processes' copies or shards of it."""

    def __init__(self, task: Task[Any, Any], model: torch.nn.Module, world: World) -> None:
        self.model, self.recipe, self.world = model, task.recipe, world
        self._width = task.config.model.width
        self._scheduled = [part for part in model.modules() if isinstance(part, Scheduled)]
        settings = self.recipe.training
        self.precision = choose_precision(settings, world.device)
        self.precision.configure_torch()
        self.objective = task.objective(model)
        if self.precision.compiled:
            self.objective.compile_stacks()
        self._parallel: torch.nn.Module = self.objective
        if world.size > 1:
            from manyheads.training.machine.parallel import spread

            self._parallel = spread(self.objective, world, settings.sharding)
        self.optimiser = make_optimiser(model, settings, factors=self.precision.dtype)
        self.average = MovingAverage(model, settings.moving_average) if settings.moving_average else None

    def update(self, step: int, batches: Sequence[Any]) -> Update:
        """Take update `step` (from 0) on this process's batches."""
        settings = self.recipe.training
        torch.manual_seed(step_seed(self.recipe.seed, step, self.world.rank))
        for part in self._scheduled:
            part.at_step(step)
        count = int(self.world.total(sum(map(self.objective.count, batches))))
        losses = self._gradients(batches, count)
        total = self.world.total(float(torch.stack(losses).sum()))
        limit = settings.clip_norm or math.inf
        norm = float(whole(torch.nn.utils.clip_grad_norm_(self.model.parameters(), limit)))
        if not math.isfinite(norm) or not math.isfinite(total):
            wrong = next((i for i, loss in enumerate(losses) if not math.isfinite(float(loss))), 0)
            raise NotFiniteError(total / count, batches[wrong])
        if settings.gradient_noise:
            seed = step_seed(self.recipe.seed, step)  # of no process: all copies of the weights get the same noise
            add_gradient_noise(self.model.parameters(), scale=settings.gradient_noise, seed=seed, step=step)
        rate = learning_rate(settings.schedule, step + 1, width=self._width, steps=settings.steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()
        if self.average is not None:
            self.average.update(step + 1)
        return Update(total / count, norm, rate, count)

    def _gradients(self, batches: Sequence[Any], count: int) -> list[torch.Tensor]:
        """Compute the gradients of the mean loss over all `count` tokens; return each batch's summed loss."""
        self.optimiser.zero_grad(set_to_none=True)
        losses = []
        for left, batch in zip(reversed(range(len(batches))), batches, strict=True):
            with self._gradient_sync(enabled=left == 0):
                with self.precision.autocast():
                    loss, _ = self._parallel(self.objective.move(batch, self.world.device))
                # The processes' gradients are averaged; the factor `size` turns the average into the sum.
                (loss * (self.world.size / count)).backward()
            losses.append(loss.detach())
        return losses

    def _gradient_sync(self, *, enabled: bool) -> AbstractContextManager[None]:
        """Average the block's gradients over all processes, if there are several and it is enabled."""
        if self.world.size == 1:
            return nullcontext()
        from manyheads.training.machine.parallel import gradient_sync

        return gradient_sync(self._parallel, enabled=enabled)

    def snapshot(self) -> Snapshot:
        """Return a copy of everything that training has changed; every process must call this."""
        average = None if self.average is None else _copies(self.average.arrays())
        moments = optimiser_arrays(self.model, self.optimiser)
        carried = {name: self.world.sum(tensor) for name, tensor in self.objective.carried().items()}
        return Snapshot(_copies(model_arrays(self.model)), _copies(moments), average, _copies(whole_arrays(carried)))

    def restore(self, checkpoint: Checkpoint) -> None:
        """Restore the state of a checkpoint."""
        where, saved = str(checkpoint.folder), checkpoint.snapshot
        fill_model(self.model, saved.model, where=where)
        restore_optimiser(self.model, self.optimiser, saved.optimiser, step=checkpoint.progress.step, where=where)
        if self.average is not None:  # one that the recipe adds only now starts from the weights
            self.average.restore(saved.published, where=where)
        self.objective.restore({name: torch.from_numpy(array) for name, array in saved.carried.items()})


def _copies(arrays: Arrays) -> Arrays:
    """Return copies of arrays, which later updates do not change."""
    return {name: array.copy() for name, array in arrays.items()}
