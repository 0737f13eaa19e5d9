"""A tag is one token before each source sentence of its corpus, and nothing else changes."""

from pathlib import Path

import numpy as np
import pytest

from helpers import prepared
from manyheads.config.corpora import CorpusSettings, TokenizerSettings
from manyheads.config.messages import build
from manyheads.config.reading import build_recipe
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.batches.store import store_key
from manyheads.data.text.combined import Tagged
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.held_out import open_corpora
from manyheads.data.text.records import Pair
from manyheads.data.tokens.tokenizers import PAD, Tokenizer, train_tokenizers
from manyheads.errors import ManyheadsError
from manyheads.runs.folder import RunFolder

TASK = {"task": "reverse", "count": 200, "options": {"min_length": 2, "max_length": 9, "symbols": 12}}
KINDS = ["bpe", "unigram", "characters", "symbols"]
TAGS = ("<bt>", "<web>")


def recipe(kind: str, **tokenizer: object) -> TranslationRecipe:
    train = [TASK, {**TASK, "seed": 2, "tag": "<bt>"}, {**TASK, "seed": 3, "tag": "<web>"}]
    values = {"data": {"train": train, "valid": {**TASK, "count": 5}}, "tokenizer": {"kind": kind, **tokenizer}}
    return build_recipe({**values, "model": {"tie": "target"}})


def tokenizer_of(kind: str, tags: tuple[str, ...]) -> Tokenizer:
    pairs = [pair for corpus in open_corpora(recipe(kind).data)[0] for pair in corpus.pairs()]
    return train_tokenizers(pairs, TokenizerSettings.model_validate({"kind": kind}), tags).source


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_tag_is_the_first_token_of_each_source(tmp_path: Path, kind: str, shared: bool):
    parts = prepared(recipe(kind, shared=shared), RunFolder(tmp_path), lambda text: None)
    source = parts.tokenizers.source
    numbers = {tag: source.encode(tag) for tag in TAGS}
    assert all(len(ids) == 1 for ids in numbers.values())
    assert len({ids[0] for ids in numbers.values()}) == 2
    corpora = open_corpora(parts.recipe.data).train
    for store, corpus, tag in zip(parts.store.stores, corpora, ["", *TAGS], strict=True):
        for index, pair in enumerate(corpus.pairs()):
            (row,), (length,) = store.rows("source", np.array([index]), padding=PAD)
            ids = row[: length - 1].tolist()
            assert ids[:1] == numbers[tag] if tag else ids[0] not in (one[0] for one in numbers.values())
            assert sum(ids.count(one[0]) for one in numbers.values()) == (1 if tag else 0)
            assert source.decode(ids) == pair.source


@pytest.mark.parametrize("kind", KINDS)
def test_tagged_text_is_cut_as_without_the_tag(kind: str):
    tokenizer = tokenizer_of(kind, TAGS)
    for text in ("a b c", "c", "a a b"):
        assert tokenizer.encode(f"<bt> {text}") == [*tokenizer.encode("<bt>"), *tokenizer.encode(text)]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_tag_is_never_cut_by_sampling(tmp_path: Path, kind: str):
    parts = prepared(recipe(kind, sampling=0.5), RunFolder(tmp_path), lambda text: None)
    (tag,) = parts.tokenizers.source.encode("<bt>")
    stored = {len(parts.store.stores[0]) + i for i in range(len(parts.store.stores[1]))}
    for index in range(parts.stages[0].per_epoch):
        batch = parts.stages[0][index]
        assert all((row[0] == tag) == (pair in stored) for row, pair in zip(batch.source, batch.pairs, strict=True))


def test_the_store_of_a_tagged_corpus_is_another():
    tokenizers = train_tokenizers([Pair("a b", "b a")], TokenizerSettings(kind="symbols"), TAGS)
    plain = open_corpus(build(CorpusSettings, TASK, origin="the test"), split="train")
    settings = recipe("symbols").data
    keys = {store_key(one, tokenizers, settings) for one in (plain, *(Tagged(plain, tag) for tag in TAGS))}
    assert len(keys) == 3


def test_an_empty_source_stays_empty(tmp_path: Path):
    (tmp_path / "pairs.tsv").write_text("a\tb\n\tc\n", encoding="utf-8")
    corpus = open_corpus(CorpusSettings(pairs=str(tmp_path / "pairs.tsv")), split="train")
    assert [pair.source for pair in Tagged(corpus, "<bt>").pairs()] == ["<bt> a", ""]


@pytest.mark.parametrize("tag", ["", " ", "<b t>", " <bt>", "<s>", "<pad>"])
def test_what_cannot_be_a_tag_is_refused(tag: str):
    with pytest.raises(ManyheadsError, match="the tag"):
        build(CorpusSettings, {**TASK, "tag": tag}, origin="the test")


def test_a_tag_that_normalisation_changes_is_told():
    with pytest.raises(ManyheadsError, match=r"'＜ｂｔ＞' cannot be one token.*such as <bt>"):
        train_tokenizers([Pair("a b", "b a")], TokenizerSettings(kind="characters"), ["＜ｂｔ＞"])


def test_the_held_out_cut_looks_below_the_tag():
    values = {"data": {"train": [TASK, {**TASK, "tag": "<bt>"}], "held_out": 20}, "tokenizer": {"kind": "symbols"}}
    train, valid, _ = open_corpora(build_recipe(values).data)
    held_out = {pair.source for pair in valid.pairs()}
    assert not {pair.source.removeprefix("<bt> ") for pair in train[1].pairs()} & held_out
    assert all(pair.source.startswith("<bt> ") for pair in train[1].pairs())


def test_what_is_held_out_of_a_tagged_corpus_has_the_tag():
    values = {"data": {"train": {**TASK, "tag": "<bt>"}, "held_out": 20}, "tokenizer": {"kind": "symbols"}}
    train, valid, _ = open_corpora(build_recipe(values).data)
    assert all(pair.source.startswith("<bt> ") for corpus in (*train, valid) for pair in corpus.pairs())
