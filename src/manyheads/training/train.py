"""Training as a function: from a recipe, or from files of pairs alone, to a run folder. It resumes by itself.

run = train("recipes/copy.yaml", out="runs/copy", changes=["training.steps=500"], progress=True)
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import nullcontext
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import torch

from manyheads.config.reading import load_recipe_for
from manyheads.config.recipe import RecipeBase
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.cleaning.first_look import FirstLook
from manyheads.errors import ManyheadsError
from manyheads.memory import keep_freed_memory
from manyheads.runs.claim import claimed
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import choose_device
from manyheads.runs.repair import check_to_train
from manyheads.tasks import task_for
from manyheads.tasks.interface import Machine, Task
from manyheads.training.defaults import same_files
from manyheads.training.files import INSTEAD, Files, refuse_text
from manyheads.training.fitting import ChosenFitting
from manyheads.training.machine.distributed import World
from manyheads.training.planning import Computer, longer, plan_run
from manyheads.training.progress import Reporter
from manyheads.training.resolve import ResolvedRecipe, resolve_recipe
from manyheads.training.starting_points import starting_point
from manyheads.training.state.finishing import finishing_in, seconds_of, with_end_of
from manyheads.training.summary import SUMMARISED, summary_of
from manyheads.training.trainer import Trainer, thread_count


def train(
    recipe: RecipeBase | PathLike[str] | str | None = None,
    *,
    files: Files | None = None,
    out: PathLike[str] | str | None = None,
    changes: Sequence[str] = (),
    max_minutes: float | None = None,
    finish_in: str | None = None,
    device: str = "auto",
    accept_changed_data: bool = False,
    progress: bool | Reporter = False,
) -> RunFolder:
    """Train a model and return its run folder. If the folder has checkpoints, training continues from the last one.

    In the main thread, Ctrl-C (in a notebook: Interrupt) ends training after the current step, with everything saved.

    Args:
        recipe: A recipe, or the path of one.
        files: Files to learn from, in place of a recipe. Tokenizer, model and training are then chosen to suit them.
        out: The run folder. By default `runs/NAME`, with the name of the recipe.
        changes: Changes to the recipe, such as `training.steps=1000`.
        max_minutes: Stop after this time, with everything saved. Where the recipe is chosen for files, or has
            `training.minutes`, training is planned to end in this time; a larger number continues a run that has ended.
        finish_in: End a run with the schedule `warmup_constant_decay` in this time, such as `2h`.
        device: Where to compute: `auto`, `cpu`, `cuda` or `mps`.
        accept_changed_data: Go on with files that have changed since the run learned from them, which is an error
            otherwise.
        progress: Whether to show progress, in a notebook or on standard error; or the `Reporter` that shows it, which
            afterwards has the summary of the training.

    Raises:
        ManyheadsError: If the recipe has a mistake, the data cannot be read or has changed, the folder has another run,
            or the loss is no longer a number.
    """
    begin = time.perf_counter()
    chosen = _choose(recipe, files, out, changes)
    settings = _with_end(chosen, max_minutes, finish_in)
    threads = _limit_threads_and_memory(settings)
    world = World.from_environment(choose_device(device))
    reporter = progress if isinstance(progress, Reporter) else Reporter(quiet=not progress)
    if not world.is_main:
        reporter = Reporter(quiet=True)
    machine = Machine(threads, processes=world.size, is_first=world.is_main, accept_changed_data=accept_changed_data)
    with world.joined(), claimed(chosen.run.path) if world.is_main else nullcontext():
        task = _planned_task(
            chosen, settings, machine, Computer(world.device, threads, begin), world, changes, reporter
        )
        torch.set_num_threads(thread_count(task.recipe.training.threads))
        limit = None if task.recipe.training.minutes is not None else max_minutes
        trainer = Trainer(task, device=world.device, reporter=reporter, max_minutes=limit, world=world)
        reporter.outcome = trainer.train()
    if progress and world.is_main and reporter.outcome in SUMMARISED:
        reporter.concluded(summary_of(trainer, reporter.outcome))
    return chosen.run


class _Choice(NamedTuple):
    """The recipe to train, its run folder, and whether it was chosen for its data, at this start or an earlier one."""

    recipe: RecipeBase
    run: RunFolder
    is_chosen: bool = False
    look: FirstLook | None = None  # at the data, if the recipe is chosen at this start


def _choose(
    recipe: RecipeBase | PathLike[str] | str | None,
    files: Files | None,
    out: PathLike[str] | str | None,
    changes: Sequence[str],
) -> _Choice:
    """Read the recipe, or choose one for the files.

    A recipe that was chosen is saved in the run folder, where the user may edit it; a later start uses that one.
    """
    look = FirstLook()
    settings, is_chosen = _resolve(recipe, files, changes, look)
    run = RunFolder(Path(out or Path("runs") / settings.name))
    if not is_chosen or not isinstance(settings, TranslationRecipe):
        return _Choice(settings, run)
    begun = run.begun_with()
    if begun is None or not same_files(begun, settings):
        return _Choice(settings, run, is_chosen=True, look=look)
    return _Choice(load_recipe_for(TranslationRecipe, run.recipe_file, changes), run, is_chosen=True)


def _resolve(
    recipe: RecipeBase | PathLike[str] | str | None, files: Files | None, changes: Sequence[str], look: FirstLook
) -> ResolvedRecipe:
    """Return the recipe, or one chosen for the files, of which exactly one must be given."""
    if recipe is None and files is not None:
        return ResolvedRecipe(files.recipe(changes, look), is_chosen=True)
    if recipe is None or files is not None:
        raise ManyheadsError(f"give {INSTEAD}.", cure="See: manyheads train --help")
    if not isinstance(recipe, RecipeBase):
        refuse_text(Path(recipe))
    return resolve_recipe(recipe, changes, look)


def _with_end(chosen: _Choice, minutes: float | None, finish_in: str | None) -> RecipeBase:
    """Return the recipe with the end that was fixed for the run before, or that follows from the time it may take."""
    recipe = with_end_of(chosen.run, chosen.recipe)
    if minutes is not None and recipe.training.minutes is not None:
        if not recipe.training.is_open_ended:
            recipe = longer(recipe, chosen.run, minutes)
        else:
            recipe = recipe.model_copy(update={"training": recipe.training.model_copy(update={"minutes": minutes})})
    return recipe if finish_in is None else finishing_in(seconds_of(finish_in), recipe, chosen.run)


def _limit_threads_and_memory(recipe: RecipeBase) -> int:
    """Let PyTorch use the threads of the recipe, which are returned, and keep oneDNN's memory small."""
    # oneDNN keeps a kernel with its memory for every shape it meets, by default 1,024 of them. Batches differ in shape,
    # and training 12 million parameters in bfloat16 grew past 9 GB in 300 steps; with 48 kernels it stayed below 7 GB,
    # at the same speed.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "48")
    threads = thread_count(recipe.training.threads)
    torch.set_num_threads(threads)
    keep_freed_memory()
    return threads


def _planned_task(
    chosen: _Choice,
    recipe: RecipeBase,
    machine: Machine,
    computer: Computer,
    world: World,
    changes: Sequence[str],
    reporter: Reporter,
) -> Task[Any, Any]:
    """Return the task with its data prepared, and with all that its recipe left open decided.

    The first process prepares and decides; the others wait, and then read what it has written.
    """
    if not world.is_main:
        world.wait()
        recipe = chosen.run.recipe() if recipe.training.is_open_ended else recipe
        task = task_for(recipe).prepare(recipe, chosen.run, machine, reporter.note)
    else:
        if chosen.look is not None and not reporter.is_quiet:
            for line in chosen.look.remarks():
                reporter.note(line)
            if advice := starting_point(chosen.recipe, chosen.look):
                reporter.note(advice)
        check_to_train(chosen.run.path, tell=reporter.note)
        task = task_for(recipe).prepare(recipe, chosen.run, machine, reporter.note)
        fitting = ChosenFitting.with_changes(changes) if chosen.is_chosen else None
        task = plan_run(task, computer, fitting=fitting, tell=reporter.note)
        world.wait()
    if chosen.is_chosen:
        reporter.note(_remark(task.recipe, chosen))
    return task


def _remark(recipe: RecipeBase, chosen: _Choice) -> str:
    """Return what was chosen for the data, in a line."""
    assert isinstance(recipe, TranslationRecipe)
    if chosen.look is None:
        return f"Continuing with {chosen.run.recipe_file}: {_described(recipe)}."
    return f"Chose {_described(recipe)}; change it in {chosen.run.recipe_file} or with --set."


def _described(recipe: TranslationRecipe) -> str:
    """Return what was chosen for a corpus, in a line."""
    training, metric = recipe.training, "" if recipe.metric == "bleu" else f", best by {recipe.metric}"
    return (
        f"{recipe.model.summary}, {training.steps:,} steps of {training.batch_tokens:,} tokens, "
        f"{training.schedule.kind} rate {training.schedule.rate}{metric}"
    )
