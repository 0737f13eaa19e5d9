"""Sentences that are too long are cut between clauses or words, and the recipe decides whether texts are split."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.config.reading import build_recipe
from manyheads.decoding.text.splitting import Splitter, reads_prose, split_to_fit
from run_folders import PROSE


def shorter_than(limit: int):
    return lambda text: len(text) <= limit


class Letters:
    """A tokenizer whose tokens are letters."""

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def encode_all(self, texts: list[str], *, threads: int = 1) -> list[list[int]]:
        return [self.encode(text) for text in texts]


@LAW
@given(text=st.text(alphabet="ab .,;!?。，」\n\t", max_size=60), limit=st.integers(1, 20))
def test_every_part_fits_and_together_they_are_the_text(text, limit):
    for found in (split_to_fit(text, shorter_than(limit)), *parts_of_every_kind(text, limit)):
        assert all(len(part) <= limit for part in found.sentences)
        assert found.fill(found.sentences) == text


def parts_of_every_kind(text: str, limit: int):
    for by_sentence in (True, False):
        splitter = Splitter(Letters(), is_prose=True, by_sentence=by_sentence)
        yield splitter.split(text, longest=limit)


def test_clauses_come_before_words_and_the_middle_before_the_ends():
    text = "One, two three, four five, six"
    assert split_to_fit(text, shorter_than(16)).sentences == ["One, two three,", "four five, six"]
    assert split_to_fit(text, shorter_than(10)).sentences == ["One,", "two three,", "four five,", "six"]
    assert split_to_fit("one two three four", shorter_than(9)).sentences == ["one two", "three", "four"]
    assert split_to_fit("你好，我走。再见", shorter_than(5)).sentences == ["你好，", "我走。再见"]


def test_a_small_limit_does_not_make_every_word_a_part():
    text = "the dog that we saw in the garden ran away"
    parts = split_to_fit(text, shorter_than(12)).sentences
    assert len(parts) <= len(text.split()) / 2


def test_a_sentence_that_fits_is_left_alone():
    found = split_to_fit("One. Two.", shorter_than(9))
    assert (found.sentences, found.gaps) == (["One. Two."], ["", ""])


def test_a_word_that_is_too_long_is_cut_as_well_and_stays_one_word():
    found = split_to_fit("x" * 100, shorter_than(7))
    assert found.fill(found.sentences, "de") == "x" * 100


@pytest.mark.parametrize(
    ("tokenizer", "corpus", "expected"),
    [
        ("bpe", {"pairs": "text.tsv"}, True),
        ("unigram", {"source": "a", "target": "b"}, True),
        ("characters", {"pairs": "words.tsv"}, False),  # spelling to sounds
        ("symbols", {"pairs": "symbols.tsv"}, False),
        ("bpe", {"task": "dates"}, False),
    ],
)
def test_running_text_is_what_has_subwords_and_comes_from_files(tokenizer, corpus, expected):
    recipe = build_recipe({"data": {"train": corpus}, "tokenizer": {"kind": tokenizer}})
    assert reads_prose(recipe) is expected


def test_a_recipe_can_ask_for_whole_documents():
    assert build_recipe({"data": PROSE}).data.units == "sentences"
    documents = build_recipe({"data": {**PROSE, "units": "documents"}})
    assert documents.data.units == "documents" and reads_prose(documents)
    whole = Splitter(Letters(), is_prose=True, by_sentence=False)
    assert whole.split("One two. Three four.", longest=20).sentences == ["One two. Three four."]
    assert whole.split("One two. Three four.", longest=19).sentences == ["One two.", "Three four."]


def test_a_limit_of_none_reads_a_text_whole():
    splitter = Splitter(Letters(), is_prose=True, by_sentence=True)
    assert splitter.split("One two. Three four.", longest=0).sentences == ["One two. Three four."]
