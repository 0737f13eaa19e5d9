"""Sampled pieces spell the same text, differ as often as they should, and depend on the seed alone."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from math import exp
from pathlib import Path
from random import Random

import numpy as np
import pytest

from manyheads.config.corpora import DataSettings, TokenizerSettings
from manyheads.config.messages import build
from manyheads.config.special import SpecialIds
from manyheads.data.batches.pairs import PairBatch, PairBatches
from manyheads.data.batches.store import open_store
from manyheads.data.text.corpora import Corpus
from manyheads.data.text.records import Pair
from manyheads.data.tokens.subword_sampling import BpeDropout, SubwordSampler, UnigramSampling, resampling
from manyheads.data.tokens.tokenizers import END, PAD, START, UNKNOWN, Tokenizer, Tokenizers, train_tokenizers
from manyheads.errors import ManyheadsError

SYLLABLES = ["ba", "de", "fi", "go", "lu", "mä", "ñe", "pi", "ro", "su", "tö", "we"]
KINDS = ["bpe", "unigram"]


def sentences(count: int, seed: int) -> list[str]:
    """Return made-up sentences of words that hardly ever come twice, so that pieces are syllables and pairs of them."""
    random = Random(seed)
    return [
        " ".join("".join(random.choices(SYLLABLES, k=random.randint(1, 6))) for _ in range(random.randint(1, 10)))
        for _ in range(count)
    ]


PAIRS = [Pair(source, target) for source, target in zip(sentences(400, 1), sentences(400, 2), strict=True)]


class Given(Corpus):
    """The pairs above, and one with a character that no tokenizer knows."""

    def pairs(self) -> Iterator[Pair]:
        yield from [*PAIRS, Pair("ba ☃ delufi", "☃")]

    def key(self) -> str:
        return "the pairs of this test"

    def origin(self) -> str:
        return "the test"


def settings(kind: str, sampling: float, **values: object) -> TokenizerSettings:
    return build(
        TokenizerSettings, {"kind": kind, "vocabulary": 150, "sampling": sampling, **values}, origin="the test"
    )


@cache
def tokenizers_of(kind: str) -> Tokenizers:
    return train_tokenizers(PAIRS, settings(kind, 0.0))


def batches_of(kind: str, sampling: float, *, longest: int = 256, seed: int = 1) -> PairBatches:
    tokenizers = tokenizers_of(kind)
    data = DataSettings.model_validate({"train": {"task": "copy"}, "max_length": longest})
    return PairBatches(
        open_store(Given(), tokenizers, data),
        tokens=600,
        seed=seed,
        special=SpecialIds(pad=PAD, start=START),
        resampling=resampling(tokenizers, settings(kind, sampling), longest=longest),
    )


def same(first: PairBatch, second: PairBatch) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))


def tokens_of(batches: PairBatches) -> int:
    return sum(int(batches[i].source_lengths.sum()) for i in range(batches.per_epoch))


def sample(sampler: SubwordSampler, ids: list[int], seed: int = 1, *, times: int = 1) -> list[list[int]]:
    """Return as many samples of the same sentence."""
    rows = np.repeat(np.arange(times), len(ids))
    found, rows = sampler(np.array(ids * times), rows, np.random.default_rng(seed))
    return [found[rows == row].tolist() for row in range(times)]


@pytest.mark.parametrize("kind", KINDS)
def test_sampled_batches_spell_the_same_text(kind: str):
    tokenizer = tokenizers_of(kind).source
    plain, sampled = batches_of(kind, 0.0), batches_of(kind, 0.3)
    for index in range(2 * plain.per_epoch):
        stored, drawn = plain[index], sampled[index]
        assert np.array_equal(stored.pairs, drawn.pairs)
        for side in ("source", "target_out"):
            for before, after in zip(getattr(stored, side), getattr(drawn, side), strict=True):
                assert tokenizer.decode(after) == tokenizer.decode(before)
    assert tokens_of(sampled) > tokens_of(plain)


@pytest.mark.parametrize("kind", KINDS)
def test_sampled_batches_are_laid_out_like_others(kind: str):
    batches = batches_of(kind, 0.3)
    for index in range(batches.per_epoch):
        batch = batches[index]
        for row in range(len(batch.pairs)):
            s, t = int(batch.source_lengths[row]), int(batch.target_lengths[row])
            assert batch.source[row, s - 1] == batch.target_out[row, t - 1] == END
            assert not {PAD, END} & {*batch.source[row, : s - 1].tolist(), *batch.target_out[row, : t - 1].tolist()}
            assert set(batch.source[row, s:].tolist()) <= {PAD}
            assert batch.target_in[row, 0] == START
            assert np.array_equal(batch.target_in[row, 1:t], batch.target_out[row, : t - 1])
            assert set(batch.target_in[row, t:].tolist()) <= {PAD}
        assert batch.source.shape[1] == batch.source_lengths.max()
        assert batch.target_out.shape[1] == batch.target_lengths.max()


@pytest.mark.parametrize("kind", KINDS)
def test_a_sampled_batch_is_the_same_whenever_it_is_asked_for(kind: str):
    first, second = batches_of(kind, 0.2), batches_of(kind, 0.2)
    forward = [first[i] for i in (0, 7, 123_456)]
    assert all(same(second[i], batch) for i, batch in zip((123_456, 7, 0), reversed(forward), strict=True))
    assert not same(first[7], batches_of(kind, 0.2, seed=2)[7])


def test_epochs_cut_the_same_sentence_differently():
    batches = batches_of("bpe", 0.3)
    seen = [
        {int(pair): tuple(row) for i in range(batches.per_epoch) for pair, row in _rows(batches[i + k])}
        for k in (0, batches.per_epoch)
    ]
    assert sum(seen[0][pair] != seen[1][pair] for pair in seen[0]) > len(PAIRS) / 2


def _rows(batch: PairBatch) -> Iterator[tuple[int, list[int]]]:
    """Yield each pair of a batch with the ids of its source."""
    for pair, row, length in zip(batch.pairs, batch.source, batch.source_lengths, strict=True):
        yield int(pair), row[:length].tolist()


ELSEWHERE = """
import sys
sys.path.insert(0, sys.argv[1])
from test_subword_sampling import batches_of
print(*(batches_of(kind, 0.3)[5].source.tobytes().hex() for kind in ("bpe", "unigram")))
"""


def test_a_sampled_batch_is_the_same_in_another_process():
    here = [batches_of(kind, 0.3)[5].source.tobytes().hex() for kind in KINDS]
    words = [sys.executable, "-c", ELSEWHERE, str(Path(__file__).parent)]
    assert subprocess.run(words, capture_output=True, check=True, text=True).stdout.split() == here


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_would_be_too_long_or_have_unknown_pieces_stay(kind: str):
    tokenizer = tokenizers_of(kind).source
    longest = 20
    plain, sampled = batches_of(kind, 0.0, longest=longest), batches_of(kind, 0.6, longest=longest)
    for index in range(plain.per_epoch):
        stored, drawn = plain[index], sampled[index]
        assert drawn.source_lengths.max() <= longest + 1
        for (_, before), (_, after) in zip(_rows(stored), _rows(drawn), strict=True):
            assert tokenizer.decode(after) == tokenizer.decode(before)
            assert before == after or UNKNOWN not in before


def test_without_sampling_nothing_changes():
    tokenizers = tokenizers_of("bpe")
    assert resampling(tokenizers, settings("bpe", 0.0), longest=9) == {}


def test_bpe_without_dropout_merges_as_the_tokenizer_does():
    tokenizer = tokenizers_of("bpe").source
    sampler = BpeDropout(tokenizer, 0.0)
    for pair in PAIRS:
        ids = tokenizer.encode(pair.source)
        assert sample(sampler, ids) == [ids]


def test_more_dropout_makes_more_pieces():
    tokens = [tokens_of(batches_of("bpe", dropout)) for dropout in (0.0, 0.1, 0.3, 0.6, 0.9)]
    assert tokens == sorted(set(tokens))


def test_every_merge_dropped_leaves_characters():
    tokenizer = tokenizers_of("bpe").source
    (ids,) = sample(BpeDropout(tokenizer, 0.999_999), tokenizer.encode("balu gomä"))
    assert tokenizer.pieces(ids) == [*"▁balu▁gomä"]


def all_segmentations(word: str, pieces: dict[str, float]) -> dict[tuple[str, ...], float]:
    """Return every way to cut a word into pieces, and its score."""
    if not word:
        return {(): 0.0}
    return {
        (word[:cut], *rest): pieces[word[:cut]] + score
        for cut in range(1, len(word) + 1)
        if word[:cut] in pieces
        for rest, score in all_segmentations(word[cut:], pieces).items()
    }


@pytest.mark.parametrize("alpha", [0.1, 0.5])
def test_unigram_segmentations_come_as_often_as_they_should(alpha: float):
    tokenizer = tokenizers_of("unigram").source
    scores = dict(zip(tokenizer.vocabulary()[4:], tokenizer.scores()[4:], strict=True))
    weights = {way: exp(alpha * score) for way, score in all_segmentations("▁balugo", scores).items()}
    times = 20_000
    drawn = sample(UnigramSampling(tokenizer, alpha), tokenizer.encode("balugo"), times=times)
    found = Counter(tuple(tokenizer.pieces(ids)) for ids in drawn)
    assert set(found) <= set(weights)
    for way, weight in weights.items():
        share = weight / sum(weights.values())
        assert found[way] / times == pytest.approx(share, abs=5 * (share / times) ** 0.5 + 1e-4), way


def test_a_word_of_any_length_can_be_drawn():
    tokenizer = tokenizers_of("unigram").source
    ids = tokenizer.encode("balugomä" * 300)
    (drawn,) = sample(UnigramSampling(tokenizer, 0.2), ids)
    assert tokenizer.decode(drawn) == tokenizer.decode(ids)
    assert drawn != ids


def test_bytes_are_never_merged_or_cut():
    tokenizer = train_tokenizers(PAIRS, settings("bpe", 0.0, vocabulary=400, byte_fallback=True)).source
    ids = tokenizer.encode("ba四☃lugo ☃")
    for drawn in sample(BpeDropout(tokenizer, 0.5), ids, times=20):
        assert tokenizer.decode(drawn) == "ba四☃lugo ☃"


@pytest.mark.parametrize("kind", ["characters", "symbols"])
def test_what_can_be_cut_in_one_way_only_is_refused(kind: str):
    with pytest.raises(ManyheadsError, match=f"sampling needs subwords .* {kind}"):
        settings(kind, 0.1)


def test_a_side_of_characters_is_left_alone():
    own = settings("bpe", 0.1, shared=False, target={"kind": "characters"})
    assert list(resampling(train_tokenizers(PAIRS, own), own, longest=9)) == ["source"]


def test_a_tokenizer_knows_its_special_pieces():
    tokenizer: Tokenizer = tokenizers_of("bpe").source
    assert [number for number in range(len(tokenizer)) if tokenizer.is_special(number)] == [0, 1, 2, 3]
