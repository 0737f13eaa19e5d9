"""How well a language model predicts a text.

All scores come from one sum, the loss of the whole text in nats. Divided by words, characters or bytes instead of
tokens, it does not depend on the tokenizer, so that models with different ones can be compared.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from manyheads.data.tokens.tokenizers import Tokenizer
from manyheads.errors import ManyheadsError
from manyheads.metrics.scores import Score, perplexity
from manyheads.models.interface import LanguageModel, RememberingLanguageModel
from manyheads.tasks.loss import fused_loss

ROWS = 32  # read at once


@dataclass(frozen=True)
class TextSizes:
    """How long a text is, without its first token, which nothing predicts.

    Words are what white space separates, and line breaks, as they are counted for WikiText.
    """

    tokens: int
    words: int
    characters: int
    utf8: int

    @classmethod
    def of(cls, ids: NDArray[np.uint32], tokenizer: Tokenizer) -> TextSizes:
        """Return those of the text that ids [N] spell."""
        text = tokenizer.decode(ids[1:].tolist())
        words = len(text.split()) + text.count("\n")
        return cls(len(ids) - 1, words, len(text), len(text.encode("utf-8")))


def text_scores(nats: float, sizes: TextSizes) -> dict[str, Score]:
    """Return the loss per token, in nats, and the bits per byte and per character."""
    bits = nats / math.log(2.0)
    values = {
        "loss": nats / max(1, sizes.tokens),
        "bits_per_byte": bits / max(1, sizes.utf8),
        "bits_per_character": bits / max(1, sizes.characters),
    }
    return {name: Score(name, value, higher_is_better=False) for name, value in values.items()}


def word_perplexity(nats: float, sizes: TextSizes) -> Score:
    """Return the perplexity per word of a text whose summed loss is given."""
    return Score("word_perplexity", perplexity(nats / max(1, sizes.words)), higher_is_better=False)


def choose_memory(model: LanguageModel[Any], positions: int | None, *, tokens: int) -> None:
    """Let a model remember this many positions of a text of `tokens` tokens; None leaves what it was trained with."""
    if positions is None:
        return
    cause = None
    if not isinstance(model, RememberingLanguageModel):
        cause = "this model has no memory, so it cannot have a longer one"
    elif positions > tokens:
        cause = f"a memory of {positions:,} positions is longer than the text, which has {tokens:,} tokens"
    else:
        try:
            model.memory = positions
        except ValueError as error:
            cause = str(error)
    if cause is not None:
        raise ManyheadsError(f"{cause}.", where="--memory")


def choose_stride(model: LanguageModel[Any], stride: int | None, *, length: int) -> int:
    """Return how many tokens after one another the pieces begin that a model reads.

    By default, every token but the first ones has at least half of the context that training had.
    """
    if stride is None:
        return max(1, length // 2)
    if isinstance(model, RememberingLanguageModel):
        raise ManyheadsError(
            "this model reads a text once, with its memory: there is no stride.",
            where="--stride",
            cure="--memory lets it remember more.",
        )
    if not 1 <= stride <= length:
        raise ManyheadsError(f"a stride is from 1 to data.length, {length}, not {stride}.", where="--stride")
    return stride


@torch.inference_mode()
def text_loss(model: LanguageModel[Any], ids: NDArray[np.uint32], *, length: int, stride: int) -> float:
    """Return the summed loss, in nats, of all tokens of a text but the first.

    The model reads pieces of `length` tokens that begin every `stride` tokens. Of each piece, those tokens count that
    the piece before did not have; with a stride of 1, all have the full context. A model that remembers reads the text
    once, piece after piece.
    """
    if isinstance(model, RememberingLanguageModel):
        return _remembered_loss(model, ids, length=length)
    vectors, bias = model.output_vectors, model.output_bias
    total = 0.0
    for (size, counted), alike in itertools.groupby(_pieces(len(ids) - 1, length, stride), lambda one: one[1:]):
        begins = [begin for begin, *_ in alike]
        for some in (begins[first : first + ROWS] for first in range(0, len(begins), ROWS)):
            places = np.array(some)[:, None] + np.arange(size + 1)
            text = torch.from_numpy(ids[places].astype(np.int64)).to(vectors.device)
            hidden = model.decode(text[:, :-1]).hidden[:, -counted:].flatten(0, 1)
            total += float(fused_loss(hidden, vectors, bias, text[:, -counted:].flatten(), smoothing=0.0))
    return total


def _remembered_loss(model: RememberingLanguageModel[Any], ids: NDArray[np.uint32], *, length: int) -> float:
    """Return the summed loss of a text that is read once, with the memory of all before each piece."""
    vectors, bias = model.output_vectors, model.output_bias
    total, memory = 0.0, None
    for begin in range(0, len(ids) - 1, length):
        text = torch.from_numpy(ids[None, begin : begin + length + 1].astype(np.int64)).to(vectors.device)
        decoded, memory = model.decode_piece(text[:, :-1], memory)
        total += float(fused_loss(decoded.hidden[0], vectors, bias, text[0, 1:], smoothing=0.0))
    return total


def _pieces(tokens: int, length: int, stride: int) -> Iterator[tuple[int, int, int]]:
    """Yield where each piece of a text begins, its length, and how many of its last tokens count."""
    done = 0
    for begin in range(0, tokens, stride):
        end = min(begin + length, tokens)
        if end > done:
            yield begin, end - begin, end - done
            done = end
