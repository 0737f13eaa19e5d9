"""No sentence that is held out, in any language, is in the training data."""

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.config.corpora import TokenizerSettings
from manyheads.config.reading import load_cut
from manyheads.data.cleaning.cutting import CorpusCut, HeldOutCounts, Sentences, add_sentences, cut, sentence_key
from manyheads.data.text.chinese import normalisation_rules, simplified
from manyheads.data.text.records import Pair
from manyheads.data.tokens.tokenizers import train_tokenizer
from manyheads.errors import ManyheadsError

few = st.integers(min_value=0, max_value=40)
pair_lists = st.lists(st.tuples(few, few), min_size=60, max_size=200, unique=True)


def written(language: str, numbers: list[tuple[int, int]]) -> list[Pair]:
    """Return pairs of sentences, of which some differ in nothing but their capitals and punctuation."""
    forms = ["Word {}.", "word {}!", "WORD {}"]
    return [Pair(forms[b % 3].format(a), f"{language} {forms[a % 3].format(b)}") for a, b in numbers]


def corpus(languages: tuple[str, str], pairs: list[Pair], *, test: int, valid: int, **more: Any) -> CorpusCut:
    """Return a corpus that is to be cut."""
    return CorpusCut(more.pop("name", None), languages, HeldOutCounts(test, valid, **more), list(pairs))


def assert_disjoint(cuts: list[CorpusCut]) -> None:
    """Check that no sentence that is held out is in the training data of any corpus."""
    held_out = defaultdict(set)
    for one in cuts:
        for pair in (*one.parts.valid, *one.parts.test, *one.parts.placeholders):
            for language, text in zip(one.languages, pair, strict=True):
                held_out[language].add(sentence_key(text))
    for one in cuts:
        for pair in one.parts.train:
            for language, text in zip(one.languages, pair, strict=True):
                assert sentence_key(text) not in held_out[language]
        kept = [pair for pair in one.pairs if pair in set(one.parts.train)]
        assert kept == one.parts.train


@LAW
@given(german=pair_lists, french=pair_lists, more_french=pair_lists)
def test_no_held_out_sentence_is_in_any_training_data(german, french, more_french):
    cuts = [
        corpus(("en", "de"), written("de", german), test=5, valid=3),
        corpus(("en", "fr"), written("fr", french), test=5, valid=3, name="law"),
        corpus(("en", "fr"), written("fr", more_french), test=2, valid=0, name="docs"),
    ]
    try:
        cut(cuts)
    except ManyheadsError:
        return  # the sentences repeat each other too often for that many
    for one in cuts:
        assert (len(one.parts.test), len(one.parts.valid)) == (one.held_out.test, one.held_out.valid)
    assert_disjoint(cuts)


@LAW
@given(numbers=pair_lists, order=st.randoms(use_true_random=False))
def test_the_cut_depends_on_the_texts_and_not_on_their_order(numbers, order):
    pairs = written("de", numbers)
    first = corpus(("en", "de"), pairs, test=4, valid=2)
    second = corpus(("en", "de"), order.sample(pairs, len(pairs)), test=4, valid=2)
    try:
        cut([first])
    except ManyheadsError:
        return
    cut([second])
    assert (first.parts.valid, first.parts.test) == (second.parts.valid, second.parts.test)


def test_too_many_are_refused():
    pairs = [Pair("a", "b"), Pair("A", "c")]
    with pytest.raises(ManyheadsError, match="2 pairs of en-de are to be held out, but there are only 1"):
        cut([corpus(("en", "de"), pairs, test=1, valid=1)])
    with pytest.raises(ManyheadsError, match=r"1 pairs of ui\.en-de with placeholders are to be held out"):
        cut([corpus(("en", "de"), pairs, test=0, valid=0, placeholders=1, name="ui")])


def test_what_is_kept_out_is_in_no_part_of_any_corpus():
    pairs = [Pair(f"sentence {i}", f"Satz {i}") for i in range(20)]
    german = corpus(("en", "de"), pairs, test=2, valid=2)
    french = corpus(("en", "fr"), [Pair(one.source, f"phrase {one.source}") for one in pairs], test=2, valid=2)
    keep_out: Sentences = {}
    add_sentences(keep_out, ("en", "de"), [Pair("SENTENCE 3!", "nothing else"), Pair("or other", "Satz 7.")])
    cut([german, french], keep_out=keep_out)
    german_sources, french_sources = (
        {pair.source for pairs in vars(one.parts).values() for pair in pairs} for one in (german, french)
    )
    assert not {"sentence 3", "sentence 7"} & german_sources
    assert "sentence 3" not in french_sources
    assert (german.dropped["kept_out"], french.dropped["kept_out"]) == (2, 1)


def test_placeholders_are_held_out_where_both_sides_have_the_same():
    plain = [Pair(f"word {'x' * i}", f"Wort {'x' * i}") for i in range(1, 30)]
    good = [Pair(f"copied {'x' * i} %s files", f"%s Dateien kopiert {'x' * i}") for i in range(1, 10)]
    bad = [Pair(f"moved {'x' * i} {{0}} files", f"Dateien verschoben {'x' * i}") for i in range(1, 10)]
    one = corpus(("en", "de"), [*plain, *good, *bad], test=2, valid=2, placeholders=4, name="ui")
    cut([one])
    assert len(one.parts.placeholders) == 4
    assert set(one.parts.placeholders) <= set(good)
    assert_disjoint([one])


def test_short_texts_stay_in_training():
    pairs = [Pair("Yes", "Ja"), Pair("Cancel", "Abbrechen"), Pair("Close the door", "Mach zu"), Pair("No", "Nein")]
    one = corpus(("en", "de"), pairs, test=1, valid=0)
    cut([one], shortest=3)
    assert one.parts.test == [Pair("Close the door", "Mach zu")]
    assert len(one.parts.train) == 3


def test_sentences_of_marks_alone_are_different():
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
        for name in ("train", "valid", "test")
    }
    assert f"en-zh: {len(found['train'])} train, 1 valid, 1 test" in result.out
    every = [line for lines in found.values() for line in lines]
    assert not any("Blue" in line for line in every)  # another language
    assert not any("紅" in line for line in every)
    assert len(every) in (4, 5)  # "Go!" and "Go." are one sentence, so where one is held out the other is left out
    again = command("data", "cut", tmp_path / "cut.yaml", "--out", tmp_path / "out")
    again.refuses("there is something here already")


NAMED = """
test: 1
valid: 1
shortest: 2
clean: true
keep_out:
  - {{pairs: "{folder}/earlier.tsv", source_language: en, target_language: de}}
corpora:
  - {{name: ui, pairs: "{folder}/ui.tsv", source_language: en, target_language: de, placeholders: 2}}
  - {{name: ui, pairs: "{folder}/more.tsv", source_language: en, target_language: de, placeholders: 2}}
  - {{name: words, pairs: "{folder}/words.tsv", source_language: en, target_language: de, test: 0, valid: 0}}
"""


def test_the_command_cuts_and_cleans_each_corpus_by_name(command, tmp_path: Path):
    animals = ["fox", "dog", "cat", "bee", "owl", "eel", "ant", "cow"]
    sentences = [f"the {one} sleeps\tdas Tier {one} schläft" for one in animals]
    copied = [f"{{0}} copied a {one}\t{{0}} kopierte {one}" for one in animals]
    faulty = [
        "no translation of this\tno translation of this",
        "delete %s now\tjetzt löschen",
        "The FOX sleeps!!\tDas Tier fox schläft",
    ]
    (tmp_path / "ui.tsv").write_text("\n".join([*sentences, *faulty]), encoding="utf-8")
    (tmp_path / "more.tsv").write_text("\n".join(copied), encoding="utf-8")
    (tmp_path / "words.tsv").write_text("bee\tBiene\nowl\tEule\n", encoding="utf-8")
    (tmp_path / "earlier.tsv").write_text("BEE\tnichts\n", encoding="utf-8")
    (tmp_path / "cut.yaml").write_text(NAMED.format(folder=tmp_path), encoding="utf-8")
    result = command("data", "cut", tmp_path / "cut.yaml", "--out", tmp_path / "out", "--json")
    assert result.code == 0, result.err
    ui, words = json.loads(result.out)
    assert json.loads((tmp_path / "out" / "report.json").read_text()) == [ui, words]
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        *(f"{part}.ui.en-de.tsv.gz" for part in ("train", "valid", "test", "placeholders")),
        "train.words.en-de.tsv.gz",
        "report.json",
    }
    assert (ui["name"], ui["languages"], ui["read"]) == ("ui", ["en", "de"], 2 * len(animals) + len(faulty))
    assert {part: ui["parts"][part] for part in ("test", "valid", "placeholders")} == {
        "test": 1,
        "valid": 1,
        "placeholders": 2,
    }
    assert {kind: ui["dropped"][kind] for kind in ("copied", "placeholders")} == {"copied": 1, "placeholders": 1}
    assert words["dropped"] == {"kept_out": 1}
    train = gzip.decompress((tmp_path / "out" / "train.ui.en-de.tsv.gz").read_bytes()).decode().splitlines()
    assert sum("fox sleeps" in line.lower() for line in train) <= 1  # nearly the same pair twice, or held out
    shown = command("data", "cut", tmp_path / "cut.yaml", "--out", tmp_path / "again")
    assert "words.en-de: 1 train\n" in shown.out
    assert "copied" in shown.out


def test_corpora_that_are_cut_together_must_agree(tmp_path: Path):
    (tmp_path / "cut.yaml").write_text(
        "corpora:\n"
        "  - {name: a, pairs: a.tsv, source_language: en, target_language: de, test: 1}\n"
        "  - {name: a, pairs: b.tsv, source_language: en, target_language: de, test: 2}\n"
    )
    with pytest.raises(ManyheadsError, match="give them the same test, valid and placeholders"):
        load_cut(tmp_path / "cut.yaml")


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
