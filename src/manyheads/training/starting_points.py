"""A model to start from, where there is too little to learn a language from."""

from __future__ import annotations

from manyheads.config.recipe import RecipeBase
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.cleaning.first_look import FirstLook
from manyheads.data.tokens.tokenizers import SUBWORDS
from manyheads.runs.shipped import shipped_models

FEW_PAIRS = 10_000


def starting_point(recipe: RecipeBase, look: FirstLook) -> str | None:
    """Return a sentence that names a model of the package to start from, if one knows the direction of few pairs."""
    if not isinstance(recipe, TranslationRecipe) or recipe.start_from is not None or look.count >= FEW_PAIRS:
        return None
    languages = look.direction
    if languages is None or recipe.tokenizer.kind not in SUBWORDS:
        return None
    source, target = (code.split("-")[0] for code in languages[:2])
    model = next((one.name for one in shipped_models() if f"{source}-{target}" in one.scores), None)
    if model is None:
        return None
    return (
        f"{look.count:,} pairs are few to learn a language from. The model '{model}' translates {source} → {target} "
        f"already: --start-from {model} --to {target} teaches it these."
    )
