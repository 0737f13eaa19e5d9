"""`manyheads train`: from a recipe, or from nothing but two text files, to a model. Resumes by itself."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
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
    start_from: Annotated[
        Path | None,
        typer.Option(help="Without a recipe: a run, or a model of the package, whose weights to start from."),
    ] = None,
    to: Annotated[str | None, typer.Option(help="With --start-from: the target's language, if it has several.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder.", show_default="runs/NAME")] = None,
    max_minutes: Annotated[float | None, typer.Option(help="Stop, saved, after so many minutes.")] = None,
    finish_in: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="End a run with the schedule warmup_constant_decay in this time, such as 2h: its last steps and the "
            "decay of the rate are fixed now, and written into its recipe.",
        ),
    ] = None,
    device: Device = "auto",
    changes: Changes = None,
) -> None:
    """Train a model. Started again, it goes on where it was; Ctrl-C saves."""
    files = Files(source, target, valid_source, valid_target, start_from, to)
    if recipe is not None and not files.are_none:
        raise ManyheadsError("give either a recipe, or --source and --target.", cure="See: manyheads train --help")
    settings, run, remark = _settings(recipe, files, out, changes or [])
    settings = _with_end(settings, run, finish_in)

    import torch

    from manyheads.memory import keep_freed_memory
    from manyheads.runs.claim import claimed
    from manyheads.runs.loading import choose_device
    from manyheads.training.distributed import World
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
    from manyheads.training.finishing import finishing_in, seconds_of, with_end_of

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

    A recipe that was chosen for files is the user's from then on: started again, the one in the run folder counts.
    """
    from manyheads.config.recipe import load_any_recipe, load_recipe
    from manyheads.runs.folder import RunFolder

    if recipe is not None:
        settings = load_any_recipe(recipe, changes)
        return settings, RunFolder(out or Path("runs") / settings.name), ""
    from manyheads.training.defaults import same_files

    chosen = files.recipe(changes)
    run = RunFolder(out or Path("runs") / chosen.name)
    begun = run.begun_with()
    if begun is None or not same_files(begun, chosen):
        return chosen, run, f"Chose {_choice(chosen)}; change it in {run.recipe_file} or with --set."
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


@dataclass(frozen=True)
class Files:
    """What is given in place of a recipe."""

    source: Path | None
    target: Path | None
    valid_source: Path | None
    valid_target: Path | None
    start_from: Path | None
    to: str | None

    @property
    def are_none(self) -> bool:
        """Whether nothing is given."""
        return not any(vars(self).values())

    def recipe(self, changes: list[str]) -> Recipe:
        """Return a recipe chosen for the files."""
        from manyheads.runs.folder import RunFolder
        from manyheads.training.defaults import recipe_for_files, recipe_for_fine_tuning

        if self.source is None or self.target is None:
            raise ManyheadsError(
                "give either a recipe, or --source and --target.",
                cure="Line N of the target translates line N of the source. See: manyheads train --help",
            )
        if (self.valid_source is None) != (self.valid_target is None):
            raise ManyheadsError("--valid-source and --valid-target belong together: give both or none.")
        valid = None if not self.valid_source or not self.valid_target else (self.valid_source, self.valid_target)
        if self.start_from is None:
            if self.to is not None:
                raise ManyheadsError("only with --start-from a language is needed.", where="--to", cure="Leave it out.")
            return recipe_for_files(self.source, self.target, valid=valid, changes=changes)
        base = RunFolder.open(self.start_from)
        return recipe_for_fine_tuning(base, self.source, self.target, to=self.to, valid=valid, changes=changes)
