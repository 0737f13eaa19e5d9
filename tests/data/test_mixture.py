"""Several corpora as one: each as often as its weight says, and every pair in time."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import prepared
from manyheads.config.reading import build_recipe
from manyheads.config.special import SpecialIds
from manyheads.data.batches.mixture import Mixture
from manyheads.data.batches.pairs import PairBatch, PairBatches
from manyheads.data.batches.store import Store, open_store
from manyheads.data.text.combined import Together, Weighted
from manyheads.data.text.corpora import Corpus
from manyheads.data.text.held_out import HeldOut, Without, open_corpora
from manyheads.data.text.records import Pair
from manyheads.data.tokens.tokenizers import PAD, START, TRAINING_PAIRS, Tokenizers, train_tokenizers
from manyheads.runs.folder import RunFolder

SPECIAL = SpecialIds(pad=PAD, start=START)
SYMBOLS = [f"w{i}" for i in range(30)]


class Given(Corpus):
    """A corpus of the pairs it is given."""

    def __init__(self, pairs: list[Pair]) -> None:
        self._pairs = pairs

    def pairs(self) -> Iterator[Pair]:
        return iter(self._pairs)

    def key(self) -> str:
        return repr(self._pairs)

    def origin(self) -> str:
        return f"{len(self._pairs)} pairs"


def recipe(train: object, **data: object):
    return build_recipe({"data": {"train": train, **data}, "tokenizer": {"kind": "symbols"}})


TOKENIZERS: Tokenizers = train_tokenizers([Pair(" ".join(SYMBOLS), "x")], recipe({"task": "copy"}).tokenizer)


def store_of(lengths: list[tuple[int, int]], shift: int = 0) -> Store:
    pairs = [
        Pair(
            " ".join(SYMBOLS[(i + j + shift) % 30] for j in range(s)), " ".join(SYMBOLS[(i * j) % 30] for j in range(t))
        )
        for i, (s, t) in enumerate(lengths)
    ]
    return open_store(Given(pairs), TOKENIZERS, recipe({"task": "copy"}).data)


def batches_of(mixture: Mixture | Store, seed: int = 1) -> PairBatches:
    return PairBatches(mixture, tokens=200, seed=seed, special=SPECIAL)


def seen(batches: PairBatches, epochs: int) -> Counter[int]:
    """Return how often each pair is seen in the first epochs."""
    return Counter(int(pair) for i in range(epochs * batches.per_epoch) for pair in batches[i].pairs)


def same(first: PairBatch, second: PairBatch) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))


LENGTHS = st.lists(st.tuples(st.integers(1, 25), st.integers(1, 25)), min_size=1, max_size=40)
WEIGHTS = st.floats(0.2, 4.0)


@given(LENGTHS, LENGTHS, WEIGHTS, WEIGHTS)
def test_every_pair_is_seen_as_often_as_its_class_is_drawn(first, second, one: float, other: float):
    batches = batches_of(Mixture([store_of(first), store_of(second, 1)], [one, other]))
    epochs = 7
    counts = seen(batches, epochs)
    for members, ranks in batches.order.classes():
        times = epochs * ranks / len(members)
        assert all(np.floor(times) <= counts[int(one)] <= np.ceil(times) for one in members), "none before its turn"
    assert set(counts) <= set(range(len(first) + len(second)))


@pytest.mark.parametrize("weights", [(1.0, 0.3), (0.5, 2.5), (1.0, 3.0), (0.01, 1.0)])
def test_weights_hold_over_an_epoch(weights: tuple[float, float]):
    many = [(3 + i % 11, 2 + i % 7) for i in range(3000)]
    few = [(2 + i % 9, 3 + i % 5) for i in range(700)]
    counts = seen(batches_of(Mixture([store_of(many), store_of(few, 1)], weights)), 1)
    of_first = sum(count for pair, count in counts.items() if pair < len(many))
    assert abs(of_first - weights[0] * len(many)) <= 1
    assert abs(sum(counts.values()) - of_first - weights[1] * len(few)) <= 1


def test_every_pair_is_seen_in_time():
    lengths = [(1 + i % 13, 1 + i % 6) for i in range(500)]
    counts = seen(batches_of(Mixture([store_of(lengths), store_of(lengths[:50], 1)], [0.3, 1.0])), 8)
    assert set(counts) == set(range(550))
    assert {counts[pair] for pair in range(500, 550)} == {8}


def test_a_mixed_batch_is_the_same_whenever_it_is_asked_for():
    lengths = [(1 + i % 13, 1 + i % 6) for i in range(500)]
    mixture = Mixture([store_of(lengths), store_of(lengths[:50], 1)], [0.3, 1.7])
    first, second = batches_of(mixture), batches_of(mixture)
    indices = [0, 3, 10**6, first.per_epoch]
    forward = [first[i] for i in indices]
    assert all(same(second[i], batch) for i, batch in zip(reversed(indices), reversed(forward), strict=True))


def test_a_mixed_batch_is_its_sentences_laid_out():
    lengths = [(1 + i % 13, 1 + i % 6) for i in range(90)]
    stores = [store_of(lengths), store_of(lengths[:50], 1)]
    batches = batches_of(Mixture(stores, [1.0, 2.0]))
    mixed = 0
    for index in range(batches.per_epoch):
        batch = batches[index]
        mixed += len({int(pair) < len(lengths) for pair in batch.pairs}) == 2
        for row, pair in enumerate(batch.pairs.tolist()):
            store, number = (stores[0], pair) if pair < len(lengths) else (stores[1], pair - len(lengths))
            (source,), (length,) = store.rows("source", np.array([number]), padding=PAD)
            assert batch.source[row].tolist() == [*source, *[PAD] * (batch.source.shape[1] - length)]
            (target,), (length,) = store.rows("target", np.array([number]), padding=PAD)
            assert batch.target_out[row].tolist() == [*target, *[PAD] * (batch.target_out.shape[1] - length)]
    assert mixed, "batches hold pairs of both"


def test_one_store_is_a_mixture_of_one():
    store = store_of([(1 + i % 13, 1 + i % 6) for i in range(300)])
    plain, alone = batches_of(store), batches_of(Mixture([store], [1.0]))
    assert plain.per_epoch == alone.per_epoch
    assert all(same(plain[i], alone[i]) for i in range(2 * plain.per_epoch))


def test_a_mixture_adds_up():
    stores = [store_of([(3, 4), (5, 6)]), store_of([(7, 8)], 1)]
    mixture = Mixture(stores, [1.0, 1.0])
    assert len(mixture) == mixture.tally.pairs == 3
    assert mixture.lengths("source").tolist() == [4, 6, 8]
    assert mixture.tokens("target") == 5 + 7 + 9


# --- Corpora ---------------------------------------------------------------------------------------------------------


def test_corpora_take_turns():
    together = Together([Given([Pair("a", "A"), Pair("b", "B"), Pair("c", "C")]), Given([Pair("x", "X")])])
    assert [pair.source for pair in together.pairs()] == ["a", "x", "b", "c"]


def test_a_large_corpus_does_not_starve_a_small_one(monkeypatch: pytest.MonkeyPatch):
    assert TRAINING_PAIRS > 100
    monkeypatch.setattr("manyheads.data.tokens.tokenizers.TRAINING_PAIRS", 100)
    large, small = Given([Pair("a b", "b a")] * 1000), Given([Pair("rare", "words")] * 10)
    tokenizers = train_tokenizers(Together([large, small]).pairs(), recipe({"task": "copy"}).tokenizer)
    assert {"▁rare", "▁words"} <= set(tokenizers.source.vocabulary())


SENTENCES = st.lists(st.builds(Pair, st.sampled_from("abcdefghij"), st.sampled_from("ABCDEFGHIJ")), min_size=2)


@given(SENTENCES, SENTENCES, st.data())
def test_nothing_that_is_held_out_is_in_another_corpus(first: list[Pair], second: list[Pair], data: st.DataObject):
    valid = HeldOut(Given(first), data.draw(st.integers(1, len(first) - 1)))
    sources, targets = {pair.source for pair in valid.pairs()}, {pair.target for pair in valid.pairs()}
    targets = set() if valid.cut.by_source_alone else targets
    left = Without(Given(second), valid)
    assert list(left.pairs()) == [pair for pair in second if pair.source not in sources and pair.target not in targets]
    assert all(second[number - 1] == pair for number, pair in left.numbered())
    assert len({left.key(), Given(second).key(), valid.key()}) == 3


# --- Recipes ---------------------------------------------------------------------------------------------------------

TASK = {"task": "reverse", "count": 60, "options": {"min_length": 2, "max_length": 6, "symbols": 8}}


def test_held_out_pairs_are_cut_off_the_first_of_several():
    mixed = recipe([TASK, {**TASK, "seed": 2}, TASK], held_out=10)
    train, valid, _ = open_corpora(mixed.data)
    held_out = list(valid.pairs())
    assert len(held_out) >= 10
    for corpus in train:
        assert not {pair.source for pair in corpus.pairs()} & {pair.source for pair in held_out}
        assert not {pair.target for pair in corpus.pairs()} & {pair.target for pair in held_out}


def test_a_list_of_one_corpus_is_that_corpus():
    assert recipe([TASK]) == recipe(TASK)


def test_several_corpora_are_prepared_as_one(tmp_path: Path):
    mixed = recipe([TASK, {**TASK, "seed": 2, "weight": 0.5}], valid={**TASK, "count": 10})
    said: list[str] = []
    parts = prepared(mixed, RunFolder(tmp_path / "run"), said.append)
    assert len(parts.store) == 120
    assert sum(seen(parts.stages[0], 1).values()) == 90
    assert "120 training pairs" in " ".join(said)
    assert RunFolder(tmp_path / "run").recipe() == mixed
    assert RunFolder(tmp_path / "run").begin(mixed) == []


def test_a_weighted_sample_has_each_corpus_in_its_share():
    large, small = (
        Given([Pair(name, str(number)) for number in range(n)]) for name, n in (("large", 900), ("small", 30))
    )
    for most, expected in ((10_000, {"large": 450, "small": 90}), (54, {"large": 45, "small": 9})):
        sample = Weighted([large, small], [0.5, 3.0], most=most)
        assert Counter(pair.source for pair in sample.pairs()) == expected
