"""How well a language model predicts a text: strides, sums by word, character and byte, and what is refused."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from helpers import stir
from manyheads.config.models.compressive import CompressiveSettings
from manyheads.config.models.language_model import LanguageModelSettings
from manyheads.config.models.transformer_xl import TransformerXLSettings
from manyheads.data.tokens.running_text import train_text_tokenizer
from manyheads.errors import ManyheadsError
from manyheads.models.compressive import CompressiveTransformer
from manyheads.models.language_model import TransformerLanguageModel
from manyheads.models.transformer_xl import TransformerXL
from manyheads.tasks.measuring_text import (
    TextSizes,
    choose_memory,
    choose_stride,
    text_loss,
    text_scores,
    word_perplexity,
)

SIZES: dict[str, Any] = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 32, "dropout": 0.0}
VOCABULARY, LENGTH = 20, 12
LINES = ["the film was long", "and the héros was 愛 !", ""]
KINDS = ["characters", "words", "bytes", "bpe"]


@pytest.fixture(scope="module")
def plain() -> TransformerLanguageModel:
    torch.manual_seed(1)
    settings = LanguageModelSettings(**SIZES)
    return stir(TransformerLanguageModel.from_settings(settings, vocabulary=VOCABULARY), seed=2).eval()


@pytest.fixture(scope="module")
def remembering() -> TransformerXL:
    settings = TransformerXLSettings(**SIZES, memory=4)
    return stir(TransformerXL.from_settings(settings, vocabulary=VOCABULARY), seed=2).eval()


@pytest.fixture(scope="module")
def ids() -> np.ndarray:
    return np.random.default_rng(1).integers(VOCABULARY, size=50).astype(np.uint32)


def window_loss(model: TransformerLanguageModel, ids: np.ndarray, place: int, context: int) -> float:
    """Return the loss of the token after a place, seen from at most this many tokens before it."""
    text = torch.from_numpy(ids[max(0, place + 1 - context) : place + 1].astype(np.int64))[None]
    with torch.inference_mode():
        return -float(model(text)[0, -1].log_softmax(dim=-1)[int(ids[place + 1])])


def test_with_a_stride_of_one_every_token_has_the_full_context(plain, ids):
    expected = sum(window_loss(plain, ids, place, LENGTH) for place in range(len(ids) - 1))
    assert text_loss(plain, ids, length=LENGTH, stride=1) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("stride", [5, LENGTH])
def test_with_another_stride_each_has_what_its_piece_has_before_it(plain, ids, stride: int):
    tokens, done, expected = len(ids) - 1, 0, 0.0
    for begin in range(0, tokens, stride):
        end = min(begin + LENGTH, tokens)
        expected += sum(window_loss(plain, ids, place, place + 1 - begin) for place in range(max(done, begin), end))
        done = max(done, end)
    assert text_loss(plain, ids, length=LENGTH, stride=stride) == pytest.approx(expected, rel=1e-5)


def test_a_longer_memory_than_that_of_training_changes_what_is_measured(remembering, ids):
    short = text_loss(remembering, ids, length=LENGTH, stride=1)
    choose_memory(remembering, 20, tokens=len(ids))
    long = text_loss(remembering, ids, length=LENGTH, stride=1)
    choose_memory(remembering, 4, tokens=len(ids))
    assert long != pytest.approx(short, rel=1e-4)
    assert text_loss(remembering, ids, length=LENGTH, stride=1) == short


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_are_those_of_the_text_whatever_its_tokens_are(kind: str):
    tokenizer = train_text_tokenizer(LINES * 20, kind=kind, vocabulary=300 if kind == "bpe" else None)
    text = "\n" + "".join(f"{line}\n" for line in LINES)  # the first token, a line break for all, is not predicted
    found = TextSizes.of(np.array(tokenizer.encode(text), dtype=np.uint32), tokenizer)
    assert (found.words, found.characters, found.utf8) == (
        len(text.split()) + len(LINES),
        len(text) - 1,
        len(text.encode()) - 1,
    )
    tokens = {"words": found.words, "characters": found.characters, "bytes": found.utf8}
    assert found.tokens == tokens.get(kind, found.tokens)


def test_all_scores_come_from_one_sum():
    sizes = TextSizes(tokens=8, words=4, characters=16, utf8=32)
    nats = 64 * math.log(2.0)
    scores = {name: score.value for name, score in text_scores(nats, sizes).items()}
    assert scores == pytest.approx({"loss": nats / 8, "bits_per_byte": 2.0, "bits_per_character": 4.0})
    assert word_perplexity(nats, sizes).value == pytest.approx(2.0**16)


def test_what_cannot_be_is_refused(plain, remembering):
    settings = CompressiveSettings(**SIZES, memory=8, rate=4)
    compressive = CompressiveTransformer.from_settings(settings, vocabulary=VOCABULARY)
    for model, positions, message in (
        (plain, 5, "has no memory"),
        (remembering, 51, "--memory: a memory of 51 positions is longer than the text, which has 50 tokens"),
        (compressive, 10, "memory 10 is not divisible by the compression rate 4"),
    ):
        with pytest.raises(ManyheadsError, match=message):
            choose_memory(model, positions, tokens=50)
    assert (remembering.memory, compressive.memory) == (4, 8)
    for model, stride, message in (
        (remembering, 3, "there is no stride"),
        (plain, 13, "from 1 to data.length, 12, not 13"),
        (plain, 0, "from 1 to data.length, 12, not 0"),
    ):
        with pytest.raises(ManyheadsError, match=message):
            choose_stride(model, stride, length=LENGTH)
    assert choose_stride(plain, None, length=LENGTH) == LENGTH // 2
