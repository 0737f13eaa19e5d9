"""No sentence that is held out, in whatever language, is learned from."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.config.data import TokenizerSettings
from manyheads.config.recipe import load_cut
from manyheads.data.chinese import normalisation_rules, simplified
from manyheads.data.cutting import Parts, cut, sentence_key
from manyheads.data.pairs import Pair
from manyheads.data.tokenizers import train_tokenizer
from manyheads.errors import ManyheadsError

few = st.integers(min_value=0, max_value=40)
pair_lists = st.lists(st.tuples(few, few), min_size=60, max_size=200, unique=True)


def written(language: str, numbers: list[tuple[int, int]]) -> list[Pair]:
    """Return pairs of sentences, of which some differ in nothing but their capitals and punctuation."""
    forms = ["Word {}.", "word {}!", "WORD {}"]
    return [Pair(forms[b % 3].format(a), f"{language} {forms[a % 3].format(b)}") for a, b in numbers]


@LAW
@given(german=pair_lists, french=pair_lists)
def test_no_held_out_sentence_is_in_any_training_data(german, french):
    corpora = {("en", "de"): written("de", german), ("en", "fr"): written("fr", french)}
    try:
        parts = cut(corpora, valid=3, test=5)
    except ManyheadsError:
        return  # the sentences repeat each other too often for that many
    held_out = {"en": set(), "de": set(), "fr": set()}
    for (source, target), one in parts.items():
        assert (len(one.valid), len(one.test)) == (3, 5)
        for pair in (*one.valid, *one.test):
            held_out[source].add(sentence_key(pair.source))
            held_out[target].add(sentence_key(pair.target))
    for (source, target), one in parts.items():
        assert not {sentence_key(pair.source) for pair in one.train} & held_out[source]
        assert not {sentence_key(pair.target) for pair in one.train} & held_out[target]
        kept = [pair for pair in corpora[source, target] if pair in set(one.train)]
        assert kept == one.train


@LAW
@given(numbers=pair_lists, order=st.randoms(use_true_random=False))
def test_the_cut_depends_on_the_texts_and_not_on_their_order(numbers, order):
    pairs = written("de", numbers)
    mixed = order.sample(pairs, len(pairs))
    try:
        first = cut({("en", "de"): pairs}, valid=2, test=4)["en", "de"]
    except ManyheadsError:
        return
    second = cut({("en", "de"): mixed}, valid=2, test=4)["en", "de"]
    assert (first.valid, first.test) == (second.valid, second.test)


def test_too_many_are_refused():
    with pytest.raises(ManyheadsError, match="en-de are to be held out, but there are only 1"):
        cut({("en", "de"): [Pair("a", "b"), Pair("A", "c")]}, valid=1, test=1)


def test_sentences_of_marks_alone_are_told_apart():
    assert sentence_key("?!") != sentence_key("...")
    assert sentence_key("Tom's here.") == sentence_key("toms HERE")


CUT = """
test: 1
valid: 1
simplified: [zh]
corpora:
  - {{pairs: "{folder}/a.tsv", source_language: en, target_language: zh}}
  - pairs: "{folder}/b.tsv"
    source_column: 2
    target_column: 3
    keep: {{1: [cmn_Hant]}}
    source_language: en
    target_language: zh
"""


def test_the_command_writes_three_parts_of_each_two_languages(command, tmp_path: Path):
    (tmp_path / "a.tsv").write_text("I love you.\t我爱你。\nGo!\t走！\nHello.\t你好。\n", encoding="utf-8")
    (tmp_path / "b.tsv").write_text(
        "eng\tcmn_Hant\tRed\t紅\neng\tyue\tBlue\t藍\neng\tcmn_Hant\tGo.\t走。\n", encoding="utf-8"
    )
    (tmp_path / "cut.yaml").write_text(CUT.format(folder=tmp_path), encoding="utf-8")
    result = command("data", "cut", tmp_path / "cut.yaml", "--out", tmp_path / "out")
    assert result.code == 0
    found = {
        name: gzip.decompress((tmp_path / "out" / f"{name}.en-zh.tsv.gz").read_bytes()).decode().splitlines()
        for name in vars(Parts())
    }
    assert f"en-zh: {len(found['train'])} train, 1 valid, 1 test" in result.out
    every = [line for lines in found.values() for line in lines]
    assert not any("Blue" in line for line in every)  # another language
    assert not any("紅" in line for line in every)
    assert len(every) in (4, 5)  # "Go!" and "Go." are one sentence, so where one is held out the other is left out
    again = command("data", "cut", tmp_path / "cut.yaml", "--out", tmp_path / "out")
    again.refuses("there is something here already")


def test_languages_must_be_named(tmp_path: Path):
    (tmp_path / "cut.yaml").write_text("corpora: [{pairs: a.tsv, source_language: en}]", encoding="utf-8")
    with pytest.raises(ManyheadsError, match="must name its source_language and its target_language"):
        load_cut(tmp_path / "cut.yaml")


def test_traditional_characters_become_simplified_ones():
    assert simplified("漢語，愛中國。") == "汉语，爱中国。"
    rules = dict(line.split("\t") for line in normalisation_rules().splitlines())
    assert rules[f"{ord('漢'):04X}"] == f"{ord('汉'):04X}"
    assert rules[f"{ord('ﬁ'):04X}"] == f"{ord('f'):04X} {ord('i'):04X}"
    assert rules["0065 0301"] == f"{ord('é'):04X}"
    assert f"{ord('a'):04X}" not in rules


def test_punctuation_is_read_narrow_and_written_as_wide_as_what_it_follows():
    texts = ["你好吗？我很好，谢谢！", "How are you? Fine, thanks!", "愛"] * 10
    settings = TokenizerSettings(kind="characters", normalization="nfkc_simplified")
    tokenizer = train_tokenizer(texts, settings, kind="characters", vocabulary=None)
    assert tokenizer.encode("你好吗？") == tokenizer.encode("你好吗?")
    assert tokenizer.encode("愛") == tokenizer.encode("爱")
    for text in texts[:2]:
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert b"tsv" not in tokenizer.model  # the rules are inside, and where they came from is nobody's business
