"""Modifiers change what they should, leave symbols alone, change both sides consistently, and depend on the seed."""

import re
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.config.corpora import CorpusSettings, DataSettings, TokenizerSettings
from manyheads.config.modify import ModifySettings
from manyheads.config.special import SpecialIds
from manyheads.config.symbols import CLOSINGS, COPIES, OPENINGS, SYMBOL, SYMBOLS
from manyheads.data.batches.mixture import Mixture
from manyheads.data.batches.pairs import PairBatch, PairBatches
from manyheads.data.batches.store import open_store
from manyheads.data.lexicons.lexicon import Lexicon
from manyheads.data.modifiers.accents import without_accents
from manyheads.data.modifiers.joining import JoinedPairs
from manyheads.data.modifiers.letter_case import title_case, upper_case
from manyheads.data.modifiers.modification import modification
from manyheads.data.modifiers.numbers import other_numbers
from manyheads.data.modifiers.placeholders import with_copy_symbols, with_names_copied
from manyheads.data.modifiers.punctuation import without_final_punctuation
from manyheads.data.modifiers.tags import with_tags
from manyheads.data.modifiers.terms import with_term_hint
from manyheads.data.modifiers.typos import with_typos
from manyheads.data.text.combined import tagged
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.records import Pair
from manyheads.data.tokens.tokenizers import END, PAD, START, Tokenizers, train_tokenizers

LEXICON = Lexicon.from_entries(
    [("file", "Datei"), ("window", "Fenster"), ("save", "speichern"), ("red", "rote"), ("cat", "猫咪")]
)
SAVE = Pair("Please save the file.", "Bitte speichern Sie die Datei.")
seeds = st.integers(0, 10_000)


def symbols_of(text: str) -> list[str]:
    return SYMBOL.findall(text)


def test_capitals_reach_both_sides_but_no_symbol():
    pair = Pair("open <copy3> now", "öffne <copy3> jetzt")
    assert upper_case(pair, Random(1)) == Pair("OPEN <copy3> NOW", "ÖFFNE <copy3> JETZT")
    assert title_case(Pair("it's a cat", "es ist eine katze"), Random(1)) == Pair("It's A Cat", "Es Ist Eine Katze")


def test_a_source_without_letter_case_is_left_alone():
    pair = Pair("我爱中国", "I love China")
    assert upper_case(pair, Random(1)) is pair and title_case(pair, Random(1)) is pair


def test_final_punctuation_goes_on_both_sides_or_on_none():
    assert without_final_punctuation(Pair("你好。", "Hello!"), Random(1)) == Pair("你好", "Hello")
    for pair in (Pair("Save", "Speichern."), Pair("Is it?", "Ja"), Pair("!", "?")):
        assert without_final_punctuation(pair, Random(1)) == pair


@LAW
@given(seed=seeds)
def test_accents_go_in_the_source_alone(seed):
    pair = Pair("Ein müder Étudiant grüßt.", "Ein müder Étudiant grüßt.")
    found = without_accents(pair, Random(seed))
    assert found.target == pair.target
    assert found.source in ("Ein mueder Etudiant gruesst.", "Ein muder Etudiant grusst.")


def test_marks_that_a_script_cannot_do_without_stay():
    pair = Pair("हिन्दी が й", "x")
    assert without_accents(pair, Random(1)) == pair


@LAW
@given(seed=seeds)
def test_typos_change_a_word_of_the_source_and_no_symbol(seed):
    pair = Pair("Please restart <copy12> computer", "x")
    found = with_typos(pair, Random(seed))
    assert found.target == "x" and symbols_of(found.source) == ["<copy12>"]
    assert [word[0] for word in found.source.split()] == [word[0] for word in pair.source.split()]


@LAW
@given(seed=seeds)
def test_numbers_stay_equal_on_both_sides(seed):
    pair = Pair("In 2019 he paid 350 for 3 cars (1,250.50).", "2019 zahlte er 350 für 3 Autos (1.250,50).")
    found = other_numbers(pair, Random(seed))
    source, target = (re.findall(r"\d+", side) for side in found)
    assert source[:2] == target[:2] and len(source[0]) == 4 and len(source[1]) == 3
    assert source[2:] == ["3", "1", "250", "50"]


@LAW
@given(seed=seeds)
def test_placeholders_become_the_same_symbols_on_both_sides(seed):
    pair = Pair("{0} of {1} files in %s, %s", "%s, %s: {0} von {1} Dateien")
    found = with_copy_symbols(pair, Random(seed))
    source, target = map(symbols_of, found)
    assert sorted(source) == sorted(target) and len(set(source)) == 4 and set(source) <= set(COPIES)
    restored = dict(zip(source, ["{0}", "{1}", "%s", "%s"], strict=True))
    for side, text in zip(found, pair, strict=True):
        assert SYMBOL.sub(lambda symbol: restored[symbol[0]], side) == text


def test_placeholders_that_differ_are_left_alone():
    pair = Pair("{0} files", "{1} Dateien")
    assert with_copy_symbols(pair, Random(1)) == pair


@LAW
@given(seed=seeds)
def test_names_become_symbols(seed):
    found = with_names_copied(Pair("We met Tom in NATO.", "Wir trafen Tom bei der NATO."), Random(seed))
    source, target = map(symbols_of, found)
    assert sorted(source) == sorted(target) and 1 <= len(source) <= 2


@LAW
@given(seed=seeds)
def test_tags_enclose_words_that_translate_each_other(seed):
    found = with_tags(SAVE, Random(seed), LEXICON)
    inside = [
        {
            number: re.search(f"{opening}(.+?){closing}", side)[1]
            for number, (opening, closing) in numbered
            if opening in side
        }
        for side in found
        for numbered in [list(enumerate(zip(OPENINGS, CLOSINGS, strict=True)))]
    ]
    assert inside[0] and inside[0].keys() == inside[1].keys()
    for number, text in inside[0].items():
        assert (text, inside[1][number]) in {("file", "Datei"), ("save", "speichern")}
    assert Pair(*(SYMBOL.sub("", side) for side in found)) == SAVE


@LAW
@given(seed=seeds)
def test_the_word_of_a_term_hint_is_in_the_target(seed):
    found = with_term_hint(SAVE, Random(seed), LEXICON)
    word, term = re.search("<term>(.+?)<means>(.+?)</term>", found.source).groups()
    assert word in ("file", "save") and term in found.target
    assert symbols_of(found.target) == []


def test_words_that_could_be_two_are_not_linked():
    assert LEXICON.links(Pair("a file and a file", "eine Datei")) == []
    assert LEXICON.links(Pair("a file", "Datei für Datei")) == []


def test_words_without_spaces_are_linked():
    (link,) = LEXICON.links(Pair("A cat.", "一只猫咪。"))
    assert link.target == (2, 4)
    back = Lexicon.from_entries([("猫咪", "cat")]).links(Pair("一只猫咪。", "A cat."))
    assert back[0].source == (2, 4) and back[0].target == (2, 5)


# --- In a batch ------------------------------------------------------------------------------------------------------

EVERYTHING = ModifySettings(
    numbers=0.5,
    placeholders=0.5,
    names=0.5,
    final_punctuation=0.5,
    upper_case=0.25,
    title_case=0.25,
    accents=0.25,
    typos=0.25,
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> CorpusSettings:
    """Four hundred pairs of made-up sentences with numbers, names, placeholders and accents."""
    random = Random(3)
    words = ["file", "window", "save", "open", "müde", "étudiant", "computer", "restart", "Straße", "house"]

    def sentence() -> str:
        body = " ".join(random.choices(words, k=random.randint(2, 8)))
        return f"{body} {{0}} Tom {random.randrange(10, 9999)}."

    lines = [f"{text}\t{text.upper()}" for text in (sentence() for _ in range(400))]
    file = tmp_path_factory.mktemp("modifiers") / "pairs.tsv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return CorpusSettings(pairs=str(file), source_language="en", target_language="de")


@pytest.fixture(scope="module")
def tokenizers(corpus: CorpusSettings) -> Tokenizers:
    settings = TokenizerSettings(kind="bpe", vocabulary=520, symbols=True, byte_fallback=True)
    return train_tokenizers(open_corpus(corpus, split="train").pairs(), settings, corpus.tags)


def store_of(corpus: CorpusSettings, tokenizers: Tokenizers, monkeypatch: pytest.MonkeyPatch, folder: Path):
    monkeypatch.setenv("MANYHEADS_CACHE", str(folder))
    whole = tagged(open_corpus(corpus, split="train"), corpus.tags)
    return open_store(whole, tokenizers, DataSettings(train=corpus))


def batches_of(store, tokenizers: Tokenizers, corpus: CorpusSettings, settings: ModifySettings, *, seed: int = 1):
    changes = modification(settings, [corpus], tokenizers, longest=256)
    special = SpecialIds(pad=PAD, start=START)
    return PairBatches(Mixture([store], [1.0]), tokens=600, seed=seed, special=special, modification=changes)


def texts(batch: PairBatch, tokenizers: Tokenizers) -> list[tuple[str, str]]:
    return list(
        zip(
            tokenizers.source.decode_all(batch.source.tolist()),
            tokenizers.target.decode_all(batch.target_out.tolist()),
            strict=True,
        )
    )


def test_every_symbol_is_one_piece_wherever_it_stands(tokenizers):
    for symbol in SYMBOLS:
        pieces = tokenizers.source.pieces(tokenizers.source.encode(f"file{symbol}, file"))
        assert pieces.count(symbol) == 1
        assert tokenizers.source.decode(tokenizers.source.encode(f"file {symbol}, file")) == f"file {symbol}, file"


def test_a_batch_is_changed_by_its_number_and_the_seed_alone(corpus, tokenizers, monkeypatch, tmp_path):
    store = store_of(corpus, tokenizers, monkeypatch, tmp_path)
    one, again, other = (batches_of(store, tokenizers, corpus, EVERYTHING, seed=seed) for seed in (1, 1, 2))
    plain = batches_of(store, tokenizers, corpus, ModifySettings())
    backwards = [again[index] for index in reversed(range(one.per_epoch))][::-1]
    for index in range(one.per_epoch):
        assert all(np.array_equal(*both) for both in zip(one[index], backwards[index], strict=True))
    assert any(texts(one[i], tokenizers) != texts(other[i], tokenizers) for i in range(one.per_epoch))
    assert any(texts(one[i], tokenizers) != texts(plain[i], tokenizers) for i in range(one.per_epoch))


def test_changed_rows_keep_their_tag_and_their_end(corpus, tokenizers, monkeypatch, tmp_path):
    batches = batches_of(store_of(corpus, tokenizers, monkeypatch, tmp_path), tokenizers, corpus, EVERYTHING)
    (tag,) = tokenizers.source.encode("<2de>")
    for batch in (batches[index] for index in range(batches.per_epoch)):
        assert (batch.source[:, 0] == tag).all()
        rows = np.arange(len(batch.source))
        assert (batch.source[rows, batch.source_lengths - 1] == END).all()
        assert (batch.target_out[rows, batch.target_lengths - 1] == END).all()


def test_what_needs_more_tokens_is_done_to_whole_batches_which_keep_their_size(
    corpus, tokenizers, monkeypatch, tmp_path
):
    store = store_of(corpus, tokenizers, monkeypatch, tmp_path)
    capitals = batches_of(store, tokenizers, corpus, ModifySettings(upper_case=0.5))
    plain = batches_of(store, tokenizers, corpus, ModifySettings())
    changed = 0
    for index in range(capitals.per_epoch):
        before, after = plain[index], capitals[index]
        assert max(after.source.size, after.target_in.size) <= max(before.source.size, before.target_in.size)
        assert len(after.pairs) == len(after.source) == len(after.target_out)
        sources = [text.removeprefix("<2de>") for text, _ in texts(after, tokenizers)]
        assert len({text == text.upper() for text in sources}) == 1
        changed += sources[0] == sources[0].upper()
    assert 0 < changed < capitals.per_epoch


def test_without_shares_nothing_changes(corpus, tokenizers):
    assert modification(ModifySettings(joined=0.5), [corpus], tokenizers, longest=99) is None


def test_a_corpus_can_be_left_out(corpus, tokenizers, monkeypatch, tmp_path):
    store = store_of(corpus, tokenizers, monkeypatch, tmp_path)
    left_out = corpus.model_copy(update={"modified": False})
    plain, spared = (
        batches_of(store, tokenizers, one, settings)
        for one, settings in ((corpus, ModifySettings()), (left_out, EVERYTHING))
    )
    assert texts(plain[0], tokenizers) == texts(spared[0], tokenizers)


# --- Joined pairs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "between"), [("de", " "), ("zh", "")])
def test_neighbours_are_joined_in_twos_and_threes(corpus, tokenizers, monkeypatch, tmp_path, language, between):
    store = store_of(corpus, tokenizers, monkeypatch, tmp_path)
    languages = {"source": "en", "target": language}
    joined = JoinedPairs(store, tokenizers, prefix="<2de>", languages=languages, longest=256)
    pairs = list(open_corpus(corpus, split="train").pairs())
    assert len(joined) == 2 * (len(pairs) // 5)
    ids, lengths = joined.rows("source", np.array([0, 1]), padding=PAD)
    first, second = tokenizers.source.decode_all(ids.tolist())
    assert first == "<2de> " + " ".join(pair.source for pair in pairs[:2])
    assert second == "<2de> " + " ".join(pair.source for pair in pairs[2:5])
    ids, lengths = joined.rows("target", np.array([1]), padding=PAD)
    assert tokenizers.target.decode(ids[0].tolist()) == between.join(pair.target for pair in pairs[2:5])
    if between:  # words begin as they do alone
        assert lengths[0] == joined.lengths("target")[1]


def test_groups_that_are_too_long_have_fewer_members(corpus, tokenizers, monkeypatch, tmp_path):
    store = store_of(corpus, tokenizers, monkeypatch, tmp_path)
    longest = int(np.maximum(store.lengths("source"), store.lengths("target")).max())
    joined = JoinedPairs(store, tokenizers, prefix="<2de>", languages={}, longest=longest)
    assert joined.lengths("source").max() <= longest + 1 and joined.lengths("target").max() <= longest + 1
