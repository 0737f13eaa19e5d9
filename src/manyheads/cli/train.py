"""`manyheads train`: from a recipe, or from nothing but two text files, to a model. Resumes by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manyheads.cli.options import Changes, Device
from manyheads.errors import ManyheadsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from manyheads.config.recipe import AnyRecipe
    from manyheads.config.schema import Recipe
    from manyheads.runs.folder import RunFolder
    from manyheads.training.assignment import Assignment


def train(
    recipe: Annotated[
        Path | None, typer.Argument(help="A recipe, such as recipes/dates.yaml.", show_default=False)
    ] = None,
    source: Annotated[Path | None, typer.Option(help="Without a recipe: source text, one sentence per line.")] = None,
    target: Annotated[Path | None, typer.Option(help="Without a recipe: target text, parallel to the source.")] = None,
    valid_source: Annotated[
        Path | None, typer.Option(help="Validation source; cut off the data where missing.")
    ] = None,
    valid_target: Annotated[Path | None, typer.Option(help="Validation target.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder.", show_default="runs/NAME")] = None,
    max_minutes: Annotated[float | None, typer.Option(help="Stop, saved, after so many minutes.")] = None,
    device: Device = "auto",
    changes: Changes = None,
) -> None:
    """Train a model. Started again, it goes on where it was; Ctrl-C saves."""
    settings = _recipe(recipe, source, target, valid_source, valid_target, changes or [])
    folder = out or Path("runs") / settings.name

    import torch

    from manyheads.config.schema import Recipe
    from manyheads.runs.folder import RunFolder
    from manyheads.runs.loading import choose_device
    from manyheads.training.distributed import World
    from manyheads.training.progress import Reporter
    from manyheads.training.trainer import Trainer, thread_count

    threads = thread_count(settings.training.threads)
    torch.set_num_threads(threads)
    world = World.from_environment(choose_device(device))
    reporter = Reporter(quiet=not world.is_main)
    with world.joined():
        if not world.is_main:
            world.wait()  # until the first process has prepared everything
        preparation = _prepare(settings, RunFolder(folder), threads, reporter.note, begun=not world.is_main)
        if world.is_main:
            world.wait()
        if recipe is None and isinstance(settings, Recipe):
            reporter.note(f"Chose {_choice(settings)}; change it in {preparation.run.recipe_file} or with --set.")
        Trainer(preparation, device=world.device, reporter=reporter, max_minutes=max_minutes, world=world).train()


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
    return (
        f"a {model.preset} model ({model.encoder_layers} + {model.decoder_layers} layers, width {model.width}, "
        f"dropout {model.dropout}), {training.steps:,} steps of {training.batch_tokens:,} tokens, "
        f"{training.schedule.kind} rate {training.schedule.rate}"
    )


def _recipe(
    recipe: Path | None,
    source: Path | None,
    target: Path | None,
    valid_source: Path | None,
    valid_target: Path | None,
    changes: list[str],
) -> AnyRecipe:
    """Return the recipe that was given, or one chosen for the files that were."""
    from manyheads.config.recipe import load_any_recipe

    if (recipe is None) == (source is None):
        raise ManyheadsError("give either a recipe, or --source and --target.", cure="See: manyheads train --help")
    if recipe is not None:
        return load_any_recipe(recipe, changes)
    if source is None or target is None:
        raise ManyheadsError("--source needs a --target.", cure="Line N of the target translates line N of the source.")
    if (valid_source is None) != (valid_target is None):
        raise ManyheadsError("--valid-source and --valid-target belong together: give both or none.")
    from manyheads.training.defaults import recipe_for_files

    valid = None if valid_source is None or valid_target is None else (valid_source, valid_target)
    return recipe_for_files(source, target, valid=valid, changes=changes)
