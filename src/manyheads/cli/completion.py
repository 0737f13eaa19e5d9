"""Shell completion: imported only when needed, and without torch.

`manyheads --install-completion` installs it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import typer

from manyheads.errors import ManyheadsError

CONFIGURATION = "config.json"  # a folder with this file is a run, or a model of Hugging Face
DEPTH = 2  # levels of folders below the typed one
DEVICES = ("auto", "cpu", "cuda", "mps")


def models(incomplete: str) -> list[tuple[str, str]]:
    """Offer the models that come with the package, and the run folders below the typed folder."""
    from manyheads.runs.shipped import shipped_models

    typed = incomplete[: incomplete.rfind("/") + 1]
    place = Path(typed or ".")
    patterns = ["*/" * depth + CONFIGURATION for depth in range(1, DEPTH + 1)]
    found = sorted(file.parent for pattern in patterns for file in place.glob(pattern))
    runs = [(f"{typed}{path.relative_to(place).as_posix()}", "") for path in found]
    return [*((model.name, model.description) for model in shipped_models()), *runs]


def languages(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the target languages of the model typed so far."""
    from manyheads.config.tasks.translation import TranslationRecipe
    from manyheads.runs.folder import RunFolder

    try:
        data = RunFolder.open(_named(ctx, "model", "run", "start_from")).recipe_for(TranslationRecipe).data
    except ManyheadsError:
        return []
    return list(dict.fromkeys(target for _, target in data.directions))


def corpora(incomplete: str) -> list[tuple[str, str]]:
    """Offer the public corpora."""
    from manyheads.data.public.catalogue import CATALOGUE

    return [(corpus.name, corpus.description) for corpus in CATALOGUE]


def metrics(incomplete: str) -> list[str]:
    """Offer the metrics."""
    from typing import get_args

    from manyheads.config.values import Metric

    return [name for name in get_args(Metric) if name != "loss"]


def engines(incomplete: str) -> list[str]:
    """Offer the engines."""
    from manyheads.decoding.engines.choice import ENGINES

    return list(ENGINES)


def precisions(incomplete: str) -> list[str]:
    """Offer the precisions."""
    from manyheads.decoding.engines.choice import PRECISIONS

    return list(PRECISIONS)


def devices(incomplete: str) -> list[str]:
    """Offer the kinds of devices, whether this computer has them or not."""
    return list(DEVICES)


def recipe_keys(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Offer the keys of the recipe typed so far, for its task, each with its description."""
    from manyheads.config.reading import load_recipe
    from manyheads.config.recipe import RecipeBase
    from manyheads.config.tasks.translation import TranslationRecipe
    from manyheads.config.template import keys_of

    named = _named(ctx, "recipe", "what")
    schema: type[RecipeBase] = TranslationRecipe
    if named is not None and Path(named).is_file():
        with suppress(ManyheadsError):
            schema = type(load_recipe(Path(named)))
    return [(f"{key}=", description) for key, _, description in keys_of(schema)]


def _named(ctx: typer.Context, *names: str) -> str | None:
    """Return the value of the first of these parameters that has one so far.

    While the value of an option is being typed, the parser does not assign the words before it to the arguments.
    """
    arguments = [one.name for one in ctx.command.params if one.param_type_name == "argument"]
    given = {**dict(zip(arguments, ctx.args, strict=False)), **{k: v for k, v in ctx.params.items() if v}}
    return next((str(given[name]) for name in names if name in given), None)
