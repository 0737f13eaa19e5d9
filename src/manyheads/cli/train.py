"""`manyheads train`: from a recipe, or from nothing but files of pairs, to a model. Resumes by itself."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manyheads.cli import completion
from manyheads.cli.options import Changes, Device, PairsFormat, SourceColumn, TargetColumn
from manyheads.cli.training_files import INSTEAD, Columns, Files, refuse_text
from manyheads.errors import ManyheadsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from manyheads.config.recipe import AnyRecipe
    from manyheads.config.schema import Recipe
    from manyheads.runs.folder import RunFolder
    from manyheads.training.assignment import Assignment


StartFrom = Annotated[
    Path | None,
    typer.Option(
        help="Without a recipe: a run, or a model of the package, whose weights to start from.",
        autocompletion=completion.models,
    ),
]
TargetLanguage = Annotated[
    str | None,
    typer.Option(
        help="With --start-from: the target's language, if it has several.", autocompletion=completion.languages
    ),
]
FinishIn = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="End a run with the schedule warmup_constant_decay in this time, such as 2h: its last steps and the "
        "decay of the rate are fixed now, and written into its recipe.",
    ),
]


def train(
    recipe: Annotated[
        Path | None, typer.Argument(help="A recipe, such as recipes/dates.yaml.", show_default=False)
    ] = None,
    source: Annotated[Path | None, typer.Option(help="Without a recipe: source text, one sentence per line.")] = None,
    target: Annotated[Path | None, typer.Option(help="Without a recipe: target text, parallel to the source.")] = None,
    pairs: Annotated[Path | None, typer.Option(help="Without a recipe: a TSV or JSONL file with both sides.")] = None,
    pairs_format: PairsFormat = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    valid_source: Annotated[
        Path | None, typer.Option(help="Validation source; cut off the data where missing.")
    ] = None,
    valid_target: Annotated[Path | None, typer.Option(help="Validation target.")] = None,
    valid_pairs: Annotated[Path | None, typer.Option(help="Validation pairs, in the form of --pairs.")] = None,
    start_from: StartFrom = None,
    to: TargetLanguage = None,
    out: Annotated[Path | None, typer.Option(help="The run folder.", show_default="runs/NAME")] = None,
    max_minutes: Annotated[float | None, typer.Option(help="Stop, saved, after so many minutes.")] = None,
    finish_in: FinishIn = None,
    device: Device = "auto",
    changes: Changes = None,
) -> None:
    """Train a model. Started again, it goes on where it was; Ctrl-C saves."""
    columns = Columns(pairs_format, source_column, target_column)
    files = Files(source, target, pairs, columns, valid_source, valid_target, valid_pairs, start_from, to)
    if recipe is not None and not files.are_none:
        raise ManyheadsError(f"give {INSTEAD}.", cure="See: manyheads train --help")
    settings, run, remark = _settings(recipe, files, out, changes or [])
    settings = _with_end(settings, run, finish_in)

    # oneDNN keeps a kernel with its memory for every shape it meets, by default 1,024 of them. Batches differ in shape,
    # and training 12 million parameters in bfloat16 grew past 9 GB in 300 steps; with 48 kernels it stayed below 7 GB,
    # at the same speed.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "48")
    import torch

    from manyheads.memory import keep_freed_memory
    from manyheads.runs.claim import claimed
    from manyheads.runs.loading import choose_device
    from manyheads.training.machine.distributed import World
    from manyheads.training.progress import Reporter
    from manyheads.training.trainer import Trainer, thread_count

    threads = thread_count(settings.training.threads)
    torch.set_num_threads(threads)
    keep_freed_memory()
    world = World.from_environment(choose_device(device))
    reporter = Reporter(quiet=not world.is_main)
    with world.joined(), claimed(run.path) if world.is_main else nullcontext():
        if not world.is_main:
            world.wait()  # until the first process has prepared everything
        preparation = _prepare(settings, run, threads, reporter.note, begun=not world.is_main)
        if world.is_main:
            world.wait()
        if remark:
            reporter.note(remark)
        Trainer(preparation, device=world.device, reporter=reporter, max_minutes=max_minutes, world=world).train()


def _with_end(recipe: AnyRecipe, run: RunFolder, finish_in: str | None) -> AnyRecipe:
    """Return the recipe with the end that was fixed for the run before, or is to be fixed now."""
    from manyheads.config.schema import Recipe
    from manyheads.training.state.finishing import finishing_in, seconds_of, with_end_of

    if not isinstance(recipe, Recipe):
        if finish_in is not None:
            raise ManyheadsError(f"this is not for {recipe.task.replace('_', ' ')}.", where="--finish-in")
        return recipe
    ending = with_end_of(run, recipe)
    return ending if finish_in is None else finishing_in(seconds_of(finish_in), ending, run)


def _settings(
    recipe: Path | None, files: Files, out: Path | None, changes: list[str]
) -> tuple[AnyRecipe, RunFolder, str]:
    """Return the recipe to train, the run folder, and what to say about a recipe that the user did not write.

    A recipe that was chosen is the user's from then on: started again, the one in the run folder counts.
    """
    from manyheads.config.recipe import load_recipe
    from manyheads.config.schema import Recipe
    from manyheads.runs.folder import RunFolder
    from manyheads.training.defaults import same_files

    settings, chosen = (files.recipe(changes), True) if recipe is None else _load(recipe, changes)
    run = RunFolder(out or Path("runs") / settings.name)
    if not chosen or not isinstance(settings, Recipe):
        return settings, run, ""
    begun = run.begun_with()
    if begun is None or not same_files(begun, settings):
        return settings, run, f"Chose {_choice(settings)}; change it in {run.recipe_file} or with --set."
    own = load_recipe(run.recipe_file, changes)
    return own, run, f"Going on with {run.recipe_file}: {_choice(own)}."


def _prepare(
    recipe: AnyRecipe, run: RunFolder, threads: int, tell: Callable[[str], None], *, begun: bool
) -> Assignment:
    """Prepare the run that the recipe's task asks for."""
    from manyheads.config.bert import BertRecipe

    if isinstance(recipe, BertRecipe):
        from manyheads.training.bert_preparation import prepare_bert

        return prepare_bert(recipe, run, tell=tell, begun=begun)
    from manyheads.training.preparation import prepare

    return prepare(recipe, run, threads=threads, tell=tell, begun=begun)


def _choice(recipe: Recipe) -> str:
    """Say in a line what was chosen for a corpus."""
    model, training = recipe.model, recipe.training
    preset = f"{model.preset} model" if model.preset else "model"
    judged = "" if recipe.metric == "bleu" else f", best by {recipe.metric}"
    return (
        f"a {preset} ({model.encoder_layers} + {model.decoder_layers} layers, width {model.width}, "
        f"dropout {model.dropout}), {training.steps:,} steps of {training.batch_tokens:,} tokens, "
        f"{training.schedule.kind} rate {training.schedule.rate}{judged}"
    )


def _load(path: Path, changes: list[str]) -> tuple[AnyRecipe, bool]:
    """Return a recipe, and whether its model and training were chosen because it has data alone."""
    from manyheads.config.recipe import load_any_recipe
    from manyheads.training.defaults import recipe_left_open

    refuse_text(path)
    chosen = recipe_left_open(path, changes)
    return (load_any_recipe(path, changes), False) if chosen is None else (chosen, True)
