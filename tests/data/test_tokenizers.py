"""Text survives its way through token ids, for every kind of tokenizer."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from manyheads.config.corpora import TokenizerKind, TokenizerSettings
from manyheads.data.text.records import Pair
from manyheads.data.tokens.tokenizers import (
    END,
    PAD,
    START,
    UNKNOWN,
    Tokenizer,
    Tokenizers,
    train_tokenizer,
    train_tokenizers,
)
from manyheads.errors import ManyheadsError

SYLLABLES = ["ba", "de", "fi", "go", "lu", "mä", "ñe", "pi", "ro", "su", "tö", "we"]


def sentences(count: int, seed: int = 1) -> list[str]:
    """Return made-up sentences of made-up words."""
    random = Random(seed)
    words = ["".join(random.choices(SYLLABLES, k=random.randint(1, 4))) for _ in range(300)]
    return [" ".join(random.choices(words, k=random.randint(1, 12))) for _ in range(count)]


PAIRS = [Pair(source, target.upper()) for source, target in zip(sentences(500, 1), sentences(500, 2), strict=True)]


def settings(**values: object) -> TokenizerSettings:
    return TokenizerSettings.model_validate(values)


def characters(texts: list[str]) -> Tokenizer:
    return train_tokenizer(texts, settings(normalization="identity"), kind="characters", vocabulary=None)


def spaced(text: str) -> str:
    """Return the text with single spaces between words, which is how SentencePiece sees it."""
    return " ".join(word for word in text.split(" ") if word)


# Not the tab, which SentencePiece reserves in training; nor its sign for a space, which becomes one; nor the null.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\r\u2581"), max_size=30)


@given(st.lists(TEXT, min_size=1, max_size=5))
def test_characters_spell_any_text(texts: list[str]):
    assume(any(spaced(text) for text in texts))
    tokenizer = characters(texts)
    for text in texts:
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == spaced(text)
        assert not {PAD, UNKNOWN, START, END} & set(ids)


@given(st.lists(st.lists(st.text("abcß四-<>_", min_size=1, max_size=4), max_size=6), min_size=1, max_size=5))
def test_symbols_are_what_stands_between_spaces(rows: list[list[str]]):
    assume(any(rows))
    texts = [" ".join(row) for row in rows]
    tokenizer = train_tokenizer(texts, settings(), kind="symbols", vocabulary=None)
    for row, text in zip(rows, texts, strict=True):
        ids = tokenizer.encode(text)
        assert len(ids) == len(row)
        assert tokenizer.decode(ids) == text
    assert len(tokenizer) == 4 + len({symbol for row in rows for symbol in row})


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("shared", [True, False])
def test_subwords_spell_the_text_they_were_trained_on(kind: str, shared: bool):
    tokenizers = train_tokenizers(PAIRS, settings(kind=kind, shared=shared, vocabulary=150))
    assert tokenizers.shared is shared
    assert len(tokenizers.source) == len(tokenizers.target) == 150
    for pair in PAIRS:
        source, target = tokenizers.source.encode(pair.source), tokenizers.target.encode(pair.target)
        assert tokenizers.source.decode(source) == pair.source
        assert tokenizers.target.decode(target) == pair.target
        assert not {PAD, UNKNOWN, START, END} & {*source, *target}
    if not shared:
        foreign = tokenizers.target.encode(PAIRS[0].source)
        assert UNKNOWN in foreign, "the target's tokenizer never saw small letters"


def test_each_side_may_have_a_kind_of_its_own():
    own = settings(kind="bpe", vocabulary=120, shared=False, target={"kind": "characters"})
    tokenizers = train_tokenizers(PAIRS, own)
    letters = {letter for pair in PAIRS for letter in pair.target}
    assert len(tokenizers.source) == 120
    assert len(tokenizers.target) == 4 + len(letters)


def test_a_small_corpus_gets_as_many_pieces_as_it_allows():
    tokenizers = train_tokenizers(PAIRS[:20], settings())
    assert 30 < len(tokenizers.source) < 8000
    assert tokenizers.source.decode(tokenizers.source.encode(PAIRS[0].source)) == PAIRS[0].source


@pytest.mark.parametrize("kind", ["bpe", "unigram", "characters", "symbols"])
def test_special_ids_are_the_same_everywhere(kind: str):
    tokenizers = train_tokenizers(PAIRS, settings(kind=kind))
    assert (PAD, UNKNOWN, START, END) == (0, 1, 2, 3)
    assert tokenizers.source.vocabulary()[:4] == ["<pad>", "<unk>", "<s>", "</s>"]
    assert len(tokenizers.source.vocabulary()) == len(tokenizers.source)
    ids = tokenizers.source.encode(PAIRS[0].source)
    assert tokenizers.source.decode([START, *ids, END, PAD, PAD]) == PAIRS[0].source
    assert tokenizers.source.decode([PAD, START, END]) == ""


def test_what_is_unknown_is_unknown():
    tokenizer = characters(["abc"])
    assert tokenizer.encode("axb") == [*tokenizer.encode("a"), UNKNOWN, tokenizer.encode("ab")[-1]]


def test_bytes_spell_what_is_unknown():
    tokenizers = train_tokenizers(PAIRS, settings(kind="bpe", vocabulary=400, byte_fallback=True))
    assert tokenizers.source.decode(tokenizers.source.encode("ba 四 ☃")) == "ba 四 ☃"


def test_many_texts_are_encoded_like_one():
    tokenizer = train_tokenizers(PAIRS, settings(vocabulary=150)).source
    texts = [*(pair.source for pair in PAIRS), "", " "]
    assert tokenizer.encode_all(texts, threads=2) == [tokenizer.encode(text) for text in texts]
    assert tokenizer.encode_all([]) == []


def test_many_texts_are_decoded_like_one():
    tokenizer = train_tokenizers(PAIRS, settings(vocabulary=150)).source
    rows = [[*tokenizer.encode(pair.source), END] for pair in PAIRS] + [[END], []]
    assert tokenizer.decode_all(rows, threads=2) == [tokenizer.decode(row) for row in rows]
    assert tokenizer.decode_all(rows)[-2:] == ["", ""]
    assert tokenizer.decode_all([]) == []


def test_training_again_gives_the_same_model():
    for kind in ("bpe", "unigram"):
        first, second = (train_tokenizers(PAIRS, settings(kind=kind, vocabulary=150)) for _ in range(2))
        assert first.source.vocabulary() == second.source.vocabulary()
        assert first.source.encode(PAIRS[0].source) == second.source.encode(PAIRS[0].source)


def test_normalisation_is_the_users_choice():
    texts = ["ﬁn ½ Ａ"]
    folded = train_tokenizer(texts, settings(normalization="nfkc"), kind="characters", vocabulary=None)
    kept = characters(texts)
    assert folded.decode(folded.encode("ﬁn")) == "fin"
    assert kept.decode(kept.encode("ﬁn")) == "ﬁn"


# --- On disk ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [True, False])
def test_files_hold_everything(tmp_path: Path, shared: bool):
    tokenizers = train_tokenizers(PAIRS, settings(vocabulary=150, shared=shared))
    for name, model in tokenizers.files().items():
        (tmp_path / name).write_bytes(model)
    again = Tokenizers.load(tmp_path)
    assert again.shared is shared
    assert again.files() == tokenizers.files()
    assert again.target.encode(PAIRS[0].target) == tokenizers.target.encode(PAIRS[0].target)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(ManyheadsError, match="missing") as caught:
        Tokenizers.load(tmp_path)
    assert caught.value.where == str(tmp_path / "source.model")


@pytest.mark.parametrize("damage", [b"", b"words", "half"])
def test_a_damaged_file_is_named(tmp_path: Path, damage: bytes | str):
    model = characters(["abc"]).model
    (tmp_path / "shared.model").write_bytes(model[: len(model) // 2] if isinstance(damage, str) else damage)
    with pytest.raises(ManyheadsError, match="SentencePiece") as caught:
        Tokenizers.load(tmp_path)
    assert caught.value.where == str(tmp_path / "shared.model")


# --- What can be wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_too_large_a_vocabulary_is_told_with_the_largest(kind: str):
    texts = [pair.source for pair in PAIRS[:50]]
    with pytest.raises(ManyheadsError, match="larger than this corpus allows") as caught:
        train_tokenizer(texts, settings(), kind=kind, vocabulary=20_000)
    assert caught.value.where == "tokenizer.vocabulary"
    largest = int(str(caught.value.cure).rstrip(".").split()[-1])
    assert len(train_tokenizer(texts, settings(), kind=kind, vocabulary=largest)) == largest
    with pytest.raises(ManyheadsError, match="larger than this corpus allows"):
        train_tokenizer(texts, settings(), kind=kind, vocabulary=largest + 1)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_too_small_a_vocabulary_is_told_with_the_smallest(kind: str):
    texts = [pair.source for pair in PAIRS]
    with pytest.raises(ManyheadsError, match="cannot hold every character") as caught:
        train_tokenizer(texts, settings(), kind=kind, vocabulary=10)
    assert caught.value.where == "tokenizer.vocabulary"
    smallest = int(str(caught.value.cure).split("at least ")[1].split(",")[0])
    assert len(train_tokenizer(texts, settings(), kind=kind, vocabulary=smallest)) == smallest
    with pytest.raises(ManyheadsError, match="cannot hold every character"):
        train_tokenizer(texts, settings(), kind=kind, vocabulary=smallest - 1)


@pytest.mark.parametrize("kind", ["bpe", "unigram", "characters", "symbols"])
def test_nothing_to_train_on_is_told(kind: str):
    with pytest.raises(ManyheadsError, match="no text to train a tokenizer on"):
        train_tokenizer([], settings(), kind=kind, vocabulary=None)


@pytest.mark.parametrize("kind", ["bpe", "unigram", "characters", "symbols"])
def test_empty_lines_alone_give_an_empty_tokenizer_or_a_sentence(kind: str):
    try:
        tokenizer = train_tokenizer(["", " ", ""], settings(), kind=kind, vocabulary=None)
    except ManyheadsError as error:
        assert "no text to train a tokenizer on" in str(error)
    else:
        assert tokenizer.encode("") == []


@pytest.mark.parametrize("kind", ["bpe", "unigram", "characters"])
@pytest.mark.parametrize("word", ["a" * 65_536, "ab" * 50_000, "\ufdfa" * 4000])
def test_a_word_that_the_trainer_would_abort_at(kind: TokenizerKind, word: str):
    lines = [word, *["ab cd ef gh", "cd ef ab gh"] * 50]
    tokenizer = train_tokenizer(lines, TokenizerSettings(kind=kind), kind=kind, vocabulary=None)
    assert tokenizer.decode(tokenizer.encode("ab cd")) == "ab cd"
