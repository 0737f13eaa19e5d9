"""Converts between run folders and Hugging Face folders of Marian models. Needs no torch; an error writes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from manyheads.bounded.files import MOST_VOCABULARY, read_bytes
from manyheads.bounded.json_text import parse_settings
from manyheads.config.messages import build
from manyheads.config.reading import recipe_text
from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.data.tokens.sentencepiece_model import ModelType, model_type
from manyheads.data.tokens.tokenizers import Tokenizer, Tokenizers
from manyheads.errors import ManyheadsError
from manyheads.exchange.marian import (
    POSITIONS,
    config_from_marian,
    from_marian,
    marian_config,
    to_marian,
    unsupported_by_marian,
)
from manyheads.exchange.marian_tokenizer import MarianTokens, tokenizer_files
from manyheads.exchange.tags import exported_readme
from manyheads.exchange.tree import read_checked
from manyheads.runs.atomic import fresh_folder
from manyheads.runs.card import card_text
from manyheads.runs.checksums import cover
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import Arrays, read_weights, weights_bytes

Check = Callable[[Path, Path], None]
"""Called with the run folder and the Hugging Face folder before the result is moved into place; may raise to stop."""

_KINDS = {
    ModelType.UNIGRAM: "unigram",
    ModelType.BPE: "bpe",
    ModelType.WORD: "symbols",
    ModelType.CHARACTER: "characters",
}


def export_huggingface(run: RunFolder, out: Path, *, check: Check | None = None) -> None:
    """Write a run's model for `MarianMTModel.from_pretrained` and `MarianTokenizer.from_pretrained`."""
    config, recipe = run.config_for(TranslationConfig), run.recipe_for(TranslationRecipe)
    if keys := unsupported_by_marian(config):
        raise ManyheadsError(
            f"Marian does not support a model with {' and '.join(keys)}.",
            where=str(run.path),
            cure="Export it with '--to ctranslate2', or copy the run folder itself.",
        )
    arrays = to_marian(read_checked(run.weights_file, config), config)
    languages = (recipe.data.source_language, recipe.data.target_language)
    files = {
        **tokenizer_files(run.tokenizers(), config, languages=languages, longest=POSITIONS),
        "config.json": _json(marian_config(config)),
        "generation_config.json": _json(_generation_settings(config, recipe)),
        "model.safetensors": weights_bytes(arrays, metadata={"format": "pt"}),
    }
    if readme := exported_readme(run, recipe):
        files["README.md"] = readme  # Hugging Face shows this file
    with fresh_folder(out) as draft:
        for name, content in files.items():
            (draft / name).write_bytes(content)
        if check is not None:
            check(run.path, draft)


def import_huggingface(folder: Path, out: Path, *, check: Check | None = None) -> None:
    """Write a run folder from the Hugging Face folder of a Marian model (such as OPUS-MT's)."""
    values = _read_json(folder / "config.json")
    config = config_from_marian(values, where=str(folder / "config.json"))
    settings = _read_json(folder / "tokenizer_config.json", optional=True)
    tokens = _read_tokens(folder, settings)
    config = _with_unknown(config, tokens, where=str(folder / "vocab.json"))
    arrays, config = from_marian(read_arrays(folder), config, where=str(folder))
    tokenizers = tokens.tokenizers(config, where=str(folder))
    recipe = _recipe(folder, config, tokenizers, settings)
    facts = {
        "model": f"{recipe.model.kind}, {sum(array.size for array in arrays.values()):,} parameters",
        "imported from": str(values.get("_name_or_path") or folder.name),
        "training data": "unknown; see the source of the model",
    }
    with fresh_folder(out) as draft:
        run = RunFolder(draft)
        run.recipe_file.write_text(recipe_text(recipe), encoding="utf-8")
        run.write_config(config)
        run.write_tokenizers(tokenizers)
        run.weights_file.write_bytes(weights_bytes(arrays))
        run.card_file.write_text(card_text(recipe, facts=facts, scores={}), encoding="utf-8")
        run.checkpoints.mkdir()
        cover(draft)
        if check is not None:
            check(draft, folder)


def _generation_settings(config: TranslationConfig, recipe: TranslationRecipe) -> dict[str, Any]:
    """Return Hugging Face's `generation_config.json`. Its length penalty is |y|^α, close to the paper's."""
    return {
        "decoder_start_token_id": config.start,
        "eos_token_id": config.end,
        "forced_eos_token_id": config.end,
        "pad_token_id": config.pad,
        "bad_words_ids": [[token] for token in sorted({config.pad, config.start} - {config.end})] or None,
        "num_beams": recipe.decoding.beam,
        "length_penalty": recipe.decoding.length_penalty,
        "no_repeat_ngram_size": recipe.decoding.no_repeat_ngram,
        "max_length": POSITIONS // 2,  # Hugging Face's own default would truncate after 20 tokens
    }


def read_arrays(folder: Path) -> Arrays:
    """Read the weights from one or more safetensors files. Pickles are never opened."""
    files = sorted(folder.glob("model*.safetensors"))
    if not files:
        raise ManyheadsError(
            "this folder has no model.safetensors, and other formats (pickles) are not read.",
            where=str(folder),
            cure="MarianMTModel.from_pretrained(folder).save_pretrained(folder) writes one.",
        )
    return {name: array for file in files for name, array in read_weights(file).items()}


def _read_tokens(folder: Path, settings: dict[str, Any]) -> MarianTokens:
    """Read the SentencePiece models and the vocabulary files."""
    source = _read_ids(folder / "vocab.json")
    separate = bool(settings.get("separate_vocabs"))
    unknown = settings.get("unk_token", "<unk>")
    unknown = unknown.get("content") if isinstance(unknown, dict) else unknown
    if not isinstance(unknown, str):
        raise ManyheadsError("'unk_token' must be a text.", where=str(folder / "tokenizer_config.json"))
    return MarianTokens(
        source_model=Tokenizer.load(folder / "source.spm").model,
        target_model=Tokenizer.load(folder / "target.spm").model,
        source_ids=source,
        target_ids=_read_ids(folder / "target_vocab.json") if separate else source,
        unknown=unknown,
    )


def _with_unknown(config: TranslationConfig, tokens: MarianTokens, *, where: str) -> TranslationConfig:
    """Return the configuration with the id of the unknown token, which must be the same on both sides."""
    ids = {tokens.source_ids.get(tokens.unknown), tokens.target_ids.get(tokens.unknown)}
    (number,) = ids if len(ids) == 1 else (None,)
    if number is None:
        raise ManyheadsError(f"'{tokens.unknown}' has no id that is the same on both sides.", where=where)
    return config.model_copy(update={"unknown": number})


def _recipe(
    folder: Path, config: TranslationConfig, tokenizers: Tokenizers, settings: dict[str, Any]
) -> TranslationRecipe:
    """Return what is known of the recipe: the model's shape, the tokenizer's kind, and the decoding options."""
    generation = _read_json(folder / "generation_config.json", optional=True)
    start = {config.pad: "pad", config.end: "end"}.get(config.start, "start")
    shared = config.transformer.tie == "all" or tokenizers.shared
    kinds = [_KINDS[model_type(tokenizer.model)] for tokenizer in (tokenizers.source, tokenizers.target)]
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
    """Return the content of a required file."""
    try:
        return read_bytes(path, most=MOST_VOCABULARY)
    except FileNotFoundError:
        raise ManyheadsError(
            f"this folder is not a Marian model: it has no {path.name}.", where=str(path.parent)
        ) from None
    except OSError as error:
        raise ManyheadsError(f"this file cannot be read: {error.strerror}.", where=str(path)) from None


def _read_json(path: Path, *, optional: bool = False) -> dict[str, Any]:
    """Read a JSON object; a missing optional file gives an empty one."""
    if optional and not path.exists():
        return {}
    try:
        values = parse_settings(_read(path))
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise ManyheadsError("this file is not a JSON object.", where=str(path))
    return values


def _read_ids(path: Path) -> dict[str, int]:
    """Read the id of each piece."""
    ids = _read_json(path)
    for piece, number in ids.items():
        if not isinstance(number, int) or isinstance(number, bool):
            raise ManyheadsError(f"the id of the piece {piece[:40]!r} is not a whole number.", where=str(path))
    return ids


def _json(values: dict[str, Any]) -> bytes:
    """Return values as the content of a JSON file."""
    return (json.dumps(values, indent=2) + "\n").encode("utf-8")
