"""A run folder as Hugging Face's folder of a Marian model, and back. Without torch; nothing is written on refusal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from manyheads.config.messages import build
from manyheads.config.reading import recipe_text
from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.data.tokens.sentencepiece_model import ModelType, model_type
from manyheads.data.tokens.tokenizers import Tokenizer, Tokenizers
from manyheads.errors import ManyheadsError
from manyheads.exchange.marian import POSITIONS, from_marian, marian_settings, obstacles, settings_from, to_marian
from manyheads.exchange.marian_tokenizer import MarianTokens, tokenizer_files
from manyheads.exchange.tags import exported_page
from manyheads.exchange.tree import read_checked
from manyheads.runs.atomic import fresh_folder
from manyheads.runs.card import card_text
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import Arrays, read_weights, weights_bytes

Check = Callable[[Path, Path], None]
"""Looks at a run folder and a Hugging Face folder before either appears; what it raises, nothing of it is written."""

_KINDS = {
    ModelType.UNIGRAM: "unigram",
    ModelType.BPE: "bpe",
    ModelType.WORD: "symbols",
    ModelType.CHARACTER: "characters",
}


def export_huggingface(run: RunFolder, out: Path, *, check: Check | None = None) -> None:
    """Write a run's model for `MarianMTModel.from_pretrained` and `MarianTokenizer.from_pretrained`."""
    config, recipe = run.config_for(TranslationConfig), run.recipe_for(TranslationRecipe)
    if refused := obstacles(config):
        raise ManyheadsError(
            f"Marian cannot hold a model with {' and '.join(refused)}.",
            where=str(run.path),
            cure="'--to ctranslate2' can, and a run folder is free to copy as it is.",
        )
    arrays = to_marian(read_checked(run.weights_file, config), config)
    languages = (recipe.data.source_language, recipe.data.target_language)
    files = {
        **tokenizer_files(run.tokenizers(), config, languages=languages, longest=POSITIONS),
        "config.json": _json(marian_settings(config)),
        "generation_config.json": _json(_generation_settings(config, recipe)),
        "model.safetensors": weights_bytes(arrays, metadata={"format": "pt"}),
    }
    if page := exported_page(run, recipe):
        files["README.md"] = page  # where Hugging Face shows it
    with fresh_folder(out) as draft:
        for name, content in files.items():
            (draft / name).write_bytes(content)
        if check is not None:
            check(run.path, draft)


def import_huggingface(folder: Path, out: Path, *, check: Check | None = None) -> None:
    """Write a run folder for a Marian model (such as OPUS-MT's) in a Hugging Face folder."""
    values = _read_json(folder / "config.json")
    config = settings_from(values, where=str(folder / "config.json"))
    settings = _read_json(folder / "tokenizer_config.json", optional=True)
    tokens = _read_tokens(folder, settings)
    config = _with_unknown(config, tokens, where=str(folder / "vocab.json"))
    arrays, config = from_marian(_read_arrays(folder), config, where=str(folder))
    tokenizers = tokens.tokenizers(config, where=str(folder))
    recipe = _recipe(folder, config, tokenizers, settings)
    facts = {
        "model": f"{recipe.model.kind}, {sum(array.size for array in arrays.values()):,} parameters",
        "imported from": str(values.get("_name_or_path") or folder.name),
        "training data": "not known here; see where the model comes from",
    }
    with fresh_folder(out) as draft:
        run = RunFolder(draft)
        run.recipe_file.write_text(recipe_text(recipe), encoding="utf-8")
        run.write_config(config)
        run.write_tokenizers(tokenizers)
        run.weights_file.write_bytes(weights_bytes(arrays))
        run.card_file.write_text(card_text(recipe, facts=facts, scores={}), encoding="utf-8")
        run.checkpoints.mkdir()
        if check is not None:
            check(draft, folder)


def _generation_settings(config: TranslationConfig, recipe: TranslationRecipe) -> dict[str, Any]:
    """Return how Hugging Face is to search; its length penalty is |y|^α, which is near the paper's but not the same."""
    return {
        "decoder_start_token_id": config.start,
        "eos_token_id": config.end,
        "forced_eos_token_id": config.end,
        "pad_token_id": config.pad,
        "bad_words_ids": [[one] for one in sorted({config.pad, config.start} - {config.end})] or None,
        "num_beams": recipe.decoding.beam,
        "length_penalty": recipe.decoding.length_penalty,
        "no_repeat_ngram_size": recipe.decoding.no_repeat_ngram,
        "max_length": POSITIONS // 2,  # Hugging Face's own default would cut after 20 tokens
    }


def _read_arrays(folder: Path) -> Arrays:
    """Read the weights, in one file or several; a pickle is never opened."""
    files = sorted(folder.glob("model*.safetensors"))
    if not files:
        raise ManyheadsError(
            "this folder has no model.safetensors, and other formats (pickles) are not read.",
            where=str(folder),
            cure="MarianMTModel.from_pretrained(folder).save_pretrained(folder) writes one.",
        )
    return {name: array for file in files for name, array in read_weights(file).items()}


def _read_tokens(folder: Path, settings: dict[str, Any]) -> MarianTokens:
    """Read the SentencePiece models and the vocabularies."""
    source = _read_json(folder / "vocab.json")
    separate = bool(settings.get("separate_vocabs"))
    unknown = settings.get("unk_token", "<unk>")
    return MarianTokens(
        source_model=Tokenizer.load(folder / "source.spm").model,
        target_model=Tokenizer.load(folder / "target.spm").model,
        source_ids=source,
        target_ids=_read_json(folder / "target_vocab.json") if separate else source,
        unknown=unknown if isinstance(unknown, str) else unknown["content"],
    )


def _with_unknown(config: TranslationConfig, tokens: MarianTokens, *, where: str) -> TranslationConfig:
    """Return the configuration with the id of the unknown token, which both sides must share."""
    ids = {tokens.source_ids.get(tokens.unknown), tokens.target_ids.get(tokens.unknown)}
    (number,) = ids if len(ids) == 1 else (None,)
    if number is None:
        raise ManyheadsError(f"'{tokens.unknown}' has no id that is the same on both sides.", where=where)
    return config.model_copy(update={"unknown": number})


def _recipe(
    folder: Path, config: TranslationConfig, tokenizers: Tokenizers, settings: dict[str, Any]
) -> TranslationRecipe:
    """Return a recipe as far as it is known: the model's shape, the tokenizer's kind, and how to search."""
    generation = _read_json(folder / "generation_config.json", optional=True)
    start = {config.pad: "pad", config.end: "end"}.get(config.start, "start")
    shared = config.transformer.tie == "all" or tokenizers.shared
    kinds = [_KINDS[model_type(one.model)] for one in (tokenizers.source, tokenizers.target)]
    values = {
        "name": folder.resolve().name,
        "data": {
            "train": {"source": "unknown", "target": "unknown"},
            "source_language": settings.get("source_lang"),
            "target_language": settings.get("target_lang"),
        },
        "tokenizer": {
            "kind": kinds[0],
            "shared": shared,
            "target": None if shared else {"kind": kinds[1]},
            "start": start,
        },
        "model": config.model.model_dump(),
        "decoding": {
            "beam": generation.get("num_beams") or 1,
            "length_penalty": 1.0 if generation.get("length_penalty") is None else generation["length_penalty"],
            "no_repeat_ngram": generation.get("no_repeat_ngram_size") or 0,
        },
    }
    return build(TranslationRecipe, values, origin=str(folder))


def _read(path: Path) -> bytes:
    """Read a file that must be there."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ManyheadsError(
            f"this folder is not a Marian model: it has no {path.name}.", where=str(path.parent)
        ) from None
    except OSError as error:
        raise ManyheadsError(f"this file cannot be read: {error.strerror}.", where=str(path)) from None


def _read_json(path: Path, *, optional: bool = False) -> dict[str, Any]:
    """Read a JSON object; an optional file that is missing is an empty one."""
    if optional and not path.exists():
        return {}
    try:
        values = json.loads(_read(path))
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise ManyheadsError("this file is not a JSON object.", where=str(path))
    return values


def _json(values: dict[str, Any]) -> bytes:
    """Return settings as a JSON file."""
    return (json.dumps(values, indent=2) + "\n").encode("utf-8")
