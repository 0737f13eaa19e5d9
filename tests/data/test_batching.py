"""The laws of batches: everything once per epoch, never too much padding, the same whenever asked for."""

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyheads.config.corpora import DataSettings
from manyheads.config.special import SpecialIds
from manyheads.data.batches.pairs import PairBatch, PairBatches
from manyheads.data.batches.store import Store, open_store
from manyheads.data.text.corpora import Corpus
from manyheads.data.text.records import Pair
from manyheads.data.tokens.tokenizers import END, PAD, START, Tokenizers
from manyheads.errors import ManyheadsError

SPECIAL = SpecialIds(pad=PAD, start=START)
VOCABULARY = 50
Lengths = list[tuple[int, int]]


class OfLengths(Corpus):
    """A corpus of pairs with the given numbers of tokens; every token is drawn."""

    def __init__(self, lengths: Lengths) -> None:
        self._lengths = lengths

    def pairs(self) -> Iterator[Pair]:
        random = Random(1)
        for source, target in self._lengths:
            words = [str(random.randrange(4, VOCABULARY)) for _ in range(source + target)]
            yield Pair(" ".join(words[:source]), " ".join(words[source:]))

    def key(self) -> str:
        return repr(self._lengths)

    def origin(self) -> str:
        return "the test"


class Numbers:
    """A tokenizer that reads numbers."""

    model = b"numbers"

    def __len__(self) -> int:
        return VOCABULARY

    def encode_all(self, texts: list[str], *, threads: int = 1) -> list[list[int]]:
        return [[int(word) for word in text.split()] for text in texts]


def store_of(lengths: Lengths) -> Store:
    numbers = Numbers()
    return open_store(OfLengths(lengths), Tokenizers(numbers, numbers), DataSettings(train={"task": "copy"}))  # type: ignore[arg-type]


def batches_of(lengths: Lengths, *, tokens: int, seed: int = 1) -> PairBatches:
    return PairBatches(store_of(lengths), tokens=tokens, seed=seed, special=SPECIAL)


def epoch(batches: PairBatches, number: int = 0) -> list[PairBatch]:
    return [batches[i] for i in range(number * batches.per_epoch, (number + 1) * batches.per_epoch)]


LENGTHS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=80)
TOKENS = st.integers(41, 300)  # the longest sentence has 40 tokens and the end
SEEDS = st.integers(0, 2**63)


@given(LENGTHS, TOKENS, SEEDS)
def test_every_sentence_is_in_every_epoch_once(lengths: Lengths, tokens: int, seed: int):
    batches = batches_of(lengths, tokens=tokens, seed=seed)
    for number in (0, 1, 7):
        members = np.concatenate([batch.pairs for batch in epoch(batches, number)])
        assert sorted(members.tolist()) == list(range(len(lengths)))


@given(LENGTHS, TOKENS, SEEDS)
def test_no_batch_holds_more_padded_tokens_than_allowed(lengths: Lengths, tokens: int, seed: int):
    batches = batches_of(lengths, tokens=tokens, seed=seed)
    for number in (0, 3):
        for batch in epoch(batches, number):
            assert 0 < batch.source.size <= tokens
            assert 0 < batch.target_out.size <= tokens
            assert batch.source.shape[1] == batch.source_lengths.max()
            assert batch.target_out.shape[1] == batch.target_lengths.max()


@given(LENGTHS, TOKENS, SEEDS)
def test_a_batch_is_its_sentences_laid_out(lengths: Lengths, tokens: int, seed: int):
    store = store_of(lengths)
    pairs = list(OfLengths(lengths).pairs())
    for batch in epoch(PairBatches(store, tokens=tokens, seed=seed, special=SPECIAL)):
        for row, pair in enumerate(pairs[i] for i in batch.pairs):
            source, target = ([*map(int, side.split())] for side in pair)
            s, t = len(source) + 1, len(target) + 1
            assert (batch.source_lengths[row], batch.target_lengths[row]) == (s, t)
            assert batch.source[row].tolist() == [*source, END, *[PAD] * (batch.source.shape[1] - s)]
            assert batch.target_out[row].tolist() == [*target, END, *[PAD] * (batch.target_out.shape[1] - t)]
            assert batch.target_in[row].tolist() == [START, *target, *[PAD] * (batch.target_in.shape[1] - t)]


@given(LENGTHS, TOKENS, SEEDS, st.lists(st.integers(0, 10**9), min_size=1, max_size=5))
def test_a_batch_is_the_same_whenever_it_is_asked_for(lengths: Lengths, tokens: int, seed: int, indices: list[int]):
    first, second = (batches_of(lengths, tokens=tokens, seed=seed) for _ in range(2))
    forward = [digest(first[i]) for i in indices]
    assert [digest(second[i]) for i in reversed(indices)] == forward[::-1]
    assert [digest(first[i]) for i in indices] == forward


def digest(batch: PairBatch) -> str:
    """Return a hash of everything in a batch."""
    found = hashlib.sha256()
    for array in batch:
        found.update(f"{array.dtype} {array.shape}".encode() + array.tobytes())
    return found.hexdigest()


ELSEWHERE = """
import sys
sys.path.insert(0, sys.argv[1])
from test_batching import MANY, batches_of, digest
batches = batches_of(MANY, tokens=400, seed=5)
print(*(digest(batches[i]) for i in (0, 1, batches.per_epoch, 123_456_789)))
"""
MANY: Lengths = [(3 + i % 11, 2 + i % 7) for i in range(5000)]


def test_a_batch_is_the_same_in_another_process():
    batches = batches_of(MANY, tokens=400, seed=5)
    here = [digest(batches[i]) for i in (0, 1, batches.per_epoch, 123_456_789)]
    words = [sys.executable, "-c", ELSEWHERE, str(Path(__file__).parent)]
    there = subprocess.run(words, capture_output=True, check=True, text=True).stdout.split()
    assert there == here
    assert len(set(here)) == 4


def test_epochs_are_ordered_and_composed_differently():
    batches = batches_of(MANY, tokens=400)
    first, second = epoch(batches, 0), epoch(batches, 1)
    lengths = [[int(batch.target_lengths.max()) for batch in one] for one in (first, second)]
    assert lengths[0] != lengths[1], "the order of long and short batches changes"
    assert sorted(lengths[0]) == sorted(lengths[1])
    members = [{frozenset(batch.pairs.tolist()) for batch in one} for one in (first, second)]
    assert not members[0] & members[1], "no batch of many has the same members again"


def test_seeds_are_ordered_and_composed_differently():
    first, second = (epoch(batches_of(MANY, tokens=400, seed=seed)) for seed in (1, 2))
    members = [{frozenset(batch.pairs.tolist()) for batch in one} for one in (first, second)]
    assert not members[0] & members[1]


def test_batches_are_not_sorted_by_length():
    lengths = [int(batch.target_lengths.max()) for batch in epoch(batches_of(MANY, tokens=400))]
    assert abs(np.corrcoef(np.arange(len(lengths)), lengths)[0, 1]) < 0.2


def test_padding_is_little():
    random = Random(1)
    lengths = [(n, max(1, n + random.randint(-3, 3))) for n in (random.randint(1, 60) for _ in range(5000))]
    batches = epoch(batches_of(lengths, tokens=1024))
    real = sum(int(batch.target_lengths.sum()) for batch in batches)
    assert real / sum(batch.target_out.size for batch in batches) > 0.85
    filled = sum(max(batch.source.size, batch.target_out.size) for batch in batches)
    assert filled / (1024 * len(batches)) > 0.8, "batches are about as full as they may be"


@pytest.mark.parametrize("side", [0, 1])
def test_a_sentence_larger_than_a_batch_is_told(side: int):
    lengths = [(5, 5), (99, 5) if side == 0 else (5, 99)]
    with pytest.raises(ManyheadsError, match=r"100 tokens does not fit into a batch of 64") as caught:
        batches_of(lengths, tokens=64)
    assert caught.value.where == "training.batch_tokens"
    assert "data.max_length" in str(caught.value.cure)


def test_a_sentence_may_fill_a_batch():
    batches = batches_of([(63, 1), (1, 63), (5, 5)], tokens=64)
    assert sorted(len(batch.pairs) for batch in epoch(batches)) == [1, 1, 1]


def test_a_run_that_was_begun_earlier_goes_on_with_the_same_batches():
    batches = batches_of(MANY, tokens=400, seed=5)
    found = hashlib.sha256()
    for index in (*range(3 * batches.per_epoch), 10**9):
        found.update(digest(batches[index]).encode())
    assert (
        found.hexdigest() == "02175edf65a00629375e8c82fed457e77183dc18c201a3d7b04e4329cd7037c2"
    )  # of the first version of this file
