"""The attention of a translator between the words of given pairs: the target is forced, and every head is recorded.

Words are encoded one by one, so that each token belongs to a word: a piece never spans two words that spaces separate.
Chinese words are separated by spaces too, as gold alignments have them; the model is used to texts without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from manyheads.attention.recording import record_attention
from manyheads.data.tokens.tokenizers import Tokenizer
from manyheads.decoding.engines.torch import TorchEngine, in_batches
from manyheads.decoding.translator import Translator
from manyheads.inspection.kinds import Kind, attention_names
from manyheads.inspection.views import Array
from manyheads.models.interface import Tokens

BATCH = 32  # pairs


@dataclass(frozen=True)
class WordTokens:
    """The token ids of words, and which word each token belongs to."""

    ids: list[int]
    owners: list[int]
    words: int

    def membership(self) -> Array:
        """Return a matrix [words, T] with 1 where a token belongs to a word, and 0 elsewhere."""
        owned = np.asarray(self.owners, dtype=np.int64)
        membership: Array = (np.arange(self.words)[:, None] == owned[None, :]).astype(np.float32)
        return membership


def word_tokens(words: Sequence[str], tokenizer: Tokenizer) -> WordTokens:
    """Return the tokens of words that spaces separate."""
    encoded = [tokenizer.encode(word) for word in words]
    owners = [number for number, tokens in enumerate(encoded) for _ in tokens]
    return WordTokens([token for tokens in encoded for token in tokens], owners, len(words))


@dataclass(frozen=True)
class Seen:
    """The attention of all heads for one pair: [L, H, queries, keys] between tokens, end tokens included."""

    source: WordTokens
    target: WordTokens
    weights: dict[Kind, Array]
    tags: int
    """Tokens before the source that ask for a language."""

    def aligned(self, *, step: int) -> Array:
        """Return the weights [L, H, target words, source words] at the step that writes (0) or reads (1) a token.

        They are summed over the pieces of a source word, and averaged over those of a target word.
        """
        rows = slice(step, step + len(self.target.ids))
        columns = slice(self.tags, self.tags + len(self.source.ids))
        source, target = self.source.membership(), self.target.membership()
        between = self.weights["cross"][..., rows, columns] @ source.T
        aligned: Array = target @ between / np.maximum(target.sum(axis=1), 1)[:, None]
        return aligned


@dataclass(frozen=True)
class Forced:
    """A translator whose outputs are given."""

    translator: Translator

    @cached_property
    def engine(self) -> TorchEngine:
        """The engine, which must be PyTorch's: it records every head."""
        assert isinstance(self.translator.engine, TorchEngine)
        return self.translator.engine

    @cached_property
    def names(self) -> dict[Kind, list[str]]:
        """The names of the attentions of each kind."""
        return attention_names(self.engine.model)

    def look(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], *, to: str) -> list[Seen]:
        """Return what all heads look at for pairs of words, translated into a language."""
        tokenizers, languages = self.translator.tokenizers, self.translator.languages
        tag = languages.tag_ids(to) if languages else []
        sides = [
            (word_tokens(source, tokenizers.source), word_tokens(target, tokenizers.target)) for source, target in pairs
        ]
        return in_batches(
            lambda rows: list(self._look([sides[row] for row in rows], tag)),
            lengths=[len(source.ids) + len(target.ids) for source, target in sides],
            size=BATCH,
        )

    @torch.inference_mode()
    def _look(self, sides: Sequence[tuple[WordTokens, WordTokens]], tag: list[int]) -> Iterator[Seen]:
        """Yield what all heads look at for one batch."""
        special, model = self.engine.special, self.engine.model
        sources = Tokens.pad([[*tag, *one.ids, special.end] for one, _ in sides], padding=special.pad)
        targets = Tokens.pad([[special.start, *other.ids] for _, other in sides], padding=special.pad)
        with record_attention(model) as recording:
            model.decode(targets.ids, model.encode(sources))
        for row, (one, other) in enumerate(sides):
            read, written = len(tag) + len(one.ids) + 1, 1 + len(other.ids)
            sizes: dict[Kind, tuple[int, int]] = {
                "encoder": (read, read),
                "decoder": (written, written),
                "cross": (written, read),
            }
            weights = {
                kind: np.stack([recording[name][row, :, : sizes[kind][0], : sizes[kind][1]].numpy() for name in names])
                for kind, names in self.names.items()
            }
            yield Seen(one, other, weights, len(tag))
