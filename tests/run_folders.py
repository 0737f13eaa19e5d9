"""Run folders with random weights, for tests of exchange: complete in every file, in a second."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from helpers import stir
from manyheads.config.reading import build_recipe, recipe_text
from manyheads.config.tasks.translation import TranslationConfig
from manyheads.data.generated import task
from manyheads.data.text.records import Pair
from manyheads.data.tokens.tokenizers import train_tokenizers
from manyheads.models.build import build_model
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import model_arrays
from manyheads.runs.weights import weights_bytes

PROSE = {"train": {"pairs": "dates.tsv"}, "source_language": "en", "target_language": "de"}  # as if from a file of text
STARTS = {"start": 2, "end": 3, "pad": 0}


def pairs(count: int = 300) -> list[Pair]:
    """Return some dates, in the words of many languages, and their short forms."""
    return list(task("dates").pairs("train", count=count))


def make_run(
    path: Path,
    *,
    tokenizer: dict[str, Any] | None = None,
    data: dict[str, Any] | None = None,
    seed: int = 1,
    **model: Any,
) -> RunFolder:
    """Write a run whose weights are drawn at random."""
    one_direction = {"train": {"task": "dates"}, "source_language": "en", "target_language": "de"}
    sizes = {"width": 32, "encoder_layers": 2, "decoder_layers": 1, "dropout": 0.1}
    sizes |= {"heads": 4, "feed_forward": 48} if model.get("kind", "transformer") == "transformer" else {}
    recipe = build_recipe(
        {
            "name": path.name,
            "data": data or one_direction,
            "tokenizer": {"vocabulary": 300, **(tokenizer or {})},
            "model": {**sizes, **model},
        }
    )
    tokenizers = train_tokenizers(pairs(), recipe.tokenizer, recipe.data.tags)
    config = TranslationConfig(
        model=recipe.model,
        source_vocabulary=len(tokenizers.source),
        target_vocabulary=len(tokenizers.target),
        start=STARTS[recipe.tokenizer.start],
    )
    run = RunFolder(path)
    path.mkdir()
    run.recipe_file.write_text(recipe_text(recipe), encoding="utf-8")
    run.write_config(config)
    run.write_tokenizers(tokenizers)
    arrays = model_arrays(stir(build_model(config), seed=seed, gain=1.5))
    run.weights_file.write_bytes(weights_bytes(arrays))
    return run


def change_json(path: Path, **changes: Any) -> None:
    """Change keys of a JSON file; a change to None removes the key."""
    values = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    kept = {key: value for key, value in values.items() if value is not None}
    path.write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")


DIRECTIONS = (("en", "fr"), ("en", "de"), ("fr", "en"), ("de", "en"))


def make_multilingual_run(path: Path, directions: Sequence[tuple[str, str]] = DIRECTIONS) -> RunFolder:
    """Write a run with random weights that translates between English and two other languages."""
    corpora = [{"pairs": "dates.tsv", "source_language": one, "target_language": other} for one, other in directions]
    return make_run(path, data={"train": corpora, "held_out": 10})
