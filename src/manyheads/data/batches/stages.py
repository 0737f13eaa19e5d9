"""The batches of each stage of training: which corpora are read, how often, and how their pairs are changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from manyheads.config.corpora import CorpusSettings, DataSettings
from manyheads.config.special import SpecialIds
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.batches.mixture import Mixture, Rows
from manyheads.data.batches.pairs import PairBatches
from manyheads.data.batches.store import Side, Store
from manyheads.data.modifiers.joining import MEAN, SMALLEST, JoinedPairs
from manyheads.data.modifiers.modification import modification
from manyheads.data.tokens.subword_sampling import resampling
from manyheads.data.tokens.tokenizers import Tokenizers, reserved_symbols, tag_piece


def stage_batches(
    recipe: TranslationRecipe, stores: Sequence[Store], tokenizers: Tokenizers, special: SpecialIds
) -> tuple[PairBatches, ...]:
    """Return the batches of each stage of the training; corpora of weight 0 are left out of a stage."""
    data = recipe.data
    whole = [*map(tag_piece, data.tags), *reserved_symbols(recipe.tokenizer)]
    sampled = resampling(tokenizers, recipe.tokenizer, longest=data.max_length, whole=whole)
    parts = list(_parts(data, stores, tokenizers))
    stages = []
    for stage in range(len(recipe.training.stages) + 1):
        present = [part for part in parts if part.corpus.weight_in(stage)]
        mixture = Mixture(
            [part.rows for part in present], [part.share * part.corpus.weight_in(stage) for part in present]
        )
        corpora = [part.corpus for part in present]
        changes = modification(data.modify, corpora, tokenizers, longest=data.max_length)
        stages.append(
            PairBatches(
                mixture,
                tokens=recipe.training.batch_tokens,
                seed=recipe.seed,
                special=special,
                modification=changes,
                resampling=sampled,
            )
        )
    return tuple(stages)


class _Part(NamedTuple):
    """Training rows, their corpus, and how often they are used relative to its weight."""

    rows: Rows
    corpus: CorpusSettings
    share: float


def _parts(data: DataSettings, stores: Sequence[Store], tokenizers: Tokenizers) -> Iterator[_Part]:
    """Yield each corpus and, if the recipe joins neighbouring pairs, a view of it with joined pairs."""
    joined = data.modify.joined
    for corpus, store in zip(data.corpora, stores, strict=True):
        yield _Part(store, corpus, 1.0)
        if joined and corpus.modified and len(store) >= SMALLEST:
            languages: dict[Side, str | None] = {
                "source": corpus.source_language or data.source_language,
                "target": corpus.target_language or data.target_language,
            }
            prefix = " ".join(corpus.tags)
            rows = JoinedPairs(store, tokenizers, prefix=prefix, languages=languages, longest=data.max_length)
            yield _Part(rows, corpus, MEAN * joined / (1.0 - joined))
