"""Weights to start from: those of another run, or pretrained word vectors."""

from __future__ import annotations

import torch
from torch import nn

from manyheads.config.models.transformer import VectorSettings
from manyheads.config.tasks.translation import TranslationConfig
from manyheads.data.text.files import resolve
from manyheads.data.tokens.tokenizers import Tokenizers
from manyheads.errors import ManyheadsError
from manyheads.exchange.vectors import load_vectors
from manyheads.models.transformer import Transformer
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import fill_model
from manyheads.runs.weights import read_weights
from manyheads.tasks.interface import Tell


def start_from(other: RunFolder, model: nn.Module, config: TranslationConfig, tell: Tell) -> None:
    """Fill the model with another run's weights; a model of another shape is refused, by the names of its settings."""
    earlier = other.config_for(TranslationConfig)
    before, now = earlier.model.model_dump(), config.model.model_dump()
    shape = {*before, *now} - {"preset", "dropout", "attention", "vectors"}
    different = [f"model.{key}" for key in sorted(shape) if before.get(key) != now.get(key)]
    different += ["tokenizer.start"] if earlier.start != config.start else []
    if different:
        raise ManyheadsError(
            f"the model of this recipe is not that of {other.path}; it differs in: {', '.join(different)}.",
            where="start_from",
            cure=f"Copy these from {other.recipe_file}.",
        )
    fill_model(model, read_weights(other.weights_file), where=str(other.weights_file))
    tell(f"Starting from the weights of {other.path}.")


def start_from_vectors(model: nn.Module, settings: VectorSettings, tokenizers: Tokenizers, tell: Tell) -> None:
    """Replace embeddings by pretrained vectors where a piece has one; freeze the matrices if asked."""
    assert isinstance(model, Transformer), "other models have no such settings"
    sides = (
        (settings.source, model.source.vectors, tokenizers.source),
        (settings.target, model.target.vectors, tokenizers.target),
    )
    for path, parameter, tokenizer in sides:
        if path is None:
            continue
        loaded = load_vectors(resolve(path), tokenizer.vocabulary(), width=parameter.shape[1])
        found = torch.from_numpy(loaded.found)
        with torch.no_grad():
            # Pretrained vectors have a scale of their own; ours have unit variance after the √d_model of the embedding.
            known = torch.from_numpy(loaded.matrix)[found]
            parameter[found] = known / known.std() * parameter.shape[1] ** -0.5
        parameter.requires_grad_(not settings.freeze)
        tell(f"{path}: {loaded.report()}")
