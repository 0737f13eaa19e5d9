"""Translation memories as sources of pairs: which texts of a unit are a pair, and which languages are chosen."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from manyheads.config.corpora import CorpusSettings
from manyheads.data.formats.detection import with_format
from manyheads.data.formats.memory_languages import find_direction
from manyheads.data.formats.memory_units import Direction, MemoryUnit, is_form_of
from manyheads.data.text.corpora import Corpus, open_corpus
from manyheads.data.text.fingerprints import Fingerprints
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError
from manyheads.runs.inputs import corpus_inputs, differences, records

Texts = Sequence[tuple[str, str]]
HELLO = (("en-GB", "Hello"), ("de-AT", "Servus"), ("de-DE", "Hallo"), ("fr", "Bonjour"))


def tmx(*units: Texts, source: str = "en-GB") -> bytes:
    """Return a TMX with these units."""
    body = "".join(
        "<tu>" + "".join(f'<tuv xml:lang="{code}"><seg>{text}</seg></tuv>' for code, text in unit) + "</tu>\n"
        for unit in units
    )
    return f'<tmx version="1.4">\n<header srclang="{source}"/>\n<body>\n{body}</body></tmx>'.encode()


def write(path: Path, content: bytes) -> str:
    """Write a file and the folders that it is in, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return str(path)


def opened(path: str | Path, source: str = "en", target: str = "de", **keys: Any) -> Corpus:
    """Open a memory with both languages given."""
    values = {"pairs": str(path), "source_column": source, "target_column": target, **keys}
    return open_corpus(CorpusSettings.model_validate(values), split="train")


# --- Languages -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "asked", "expected"),
    [
        ("de-AT", "de", True),
        ("de_AT", "de-at", True),
        ("sr@latin", "sr", True),
        ("de", "de-AT", False),
        ("deu", "de", False),
        ("zh-Hant-TW", "zh-Hant", True),
    ],
)
def test_a_language_stands_for_its_regional_forms(language: str, asked: str, expected: bool):
    assert is_form_of(language, asked) is expected


def test_each_form_of_the_target_is_a_pair_unless_a_region_is_asked_for():
    unit = MemoryUnit(1, HELLO)
    assert list(unit.pairs(Direction("en", "de"))) == [Pair("Hello", "Servus"), Pair("Hello", "Hallo")]
    assert list(unit.pairs(Direction("en", "de-DE"))) == [Pair("Hello", "Hallo")]
    assert list(unit.pairs(Direction("fr", "en"))) == [Pair("Bonjour", "Hello")]


@pytest.mark.parametrize(
    ("unit", "reason"),
    [
        (MemoryUnit(1, [("en", "a"), ("fr", "b")]), "in other languages"),
        (MemoryUnit(1, [("en", "a"), ("de", " \n")]), "not translated"),
        (MemoryUnit(1, [("en", "a"), ("de", "a ")]), "the same on both sides"),
        (MemoryUnit(1, [("en", "a"), ("de", "b")], is_unsure=True), "to be checked (fuzzy)"),
        (MemoryUnit(1, [("en", "a"), ("de", "")], is_unsure=True), "not translated"),
        (MemoryUnit(1, [("en", "a"), ("de", "b" * (1 << 22))]), "too long"),
    ],
)
def test_what_is_no_pair_has_a_reason(unit: MemoryUnit, reason: str):
    assert list(unit.pairs(Direction("en", "de"))) == [reason]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (None, "de", ("en", "de")),
        (None, "fr", ("en", "fr")),
        ("fr", "de-AT", ("fr", "de-AT")),
        ("fr", "en", ("fr", "en")),
    ],
)
def test_a_direction_is_found_by_what_the_memory_was_translated_from(
    source: str | None, target: str, expected: tuple[str, str], tmp_path: Path
):
    memory = write(tmp_path / "memory.tmx", tmx(HELLO))
    assert find_direction(memory, source=source, target=target) == expected


def test_a_region_that_is_asked_for_is_the_name_of_the_side(tmp_path: Path):
    memory = write(tmp_path / "memory.tmx", tmx(HELLO))
    assert find_direction(memory, source=None, target="de-AT") == ("en", "de-AT")
    assert list(opened(memory, "en", "de-AT").pairs()) == [Pair("Hello", "Servus")]


def test_two_languages_need_no_name(tmp_path: Path):
    memory = write(tmp_path / "memory.tmx", tmx((("en-US", "Yes"), ("de-DE", "Ja"))))
    assert find_direction(memory, source=None, target=None) == ("en", "de")


def test_a_language_may_begin_late(tmp_path: Path):
    early = [(("en-GB", f"{number}"), ("fr", f"no {number}")) for number in range(1100)]
    memory = write(tmp_path / "memory.tmx", tmx(*early, (("en-GB", "Yes"), ("de", "Ja"))))
    assert find_direction(memory, source=None, target="de") == ("en", "de")


@pytest.mark.parametrize(
    ("source", "target", "header", "sentence"),
    [
        (None, None, "en", "which target language? There is en → de, en → fr."),
        (None, "de", "*all*", "which source language? There is en → de, fr → de."),
        (None, "pl", "en", "there is no translation into pl: there is de → en, de → fr, en → de, en → fr, fr → de, "),
    ],
)
def test_a_choice_that_is_left_is_a_question(
    source: str | None, target: str | None, header: str, sentence: str, tmp_path: Path
):
    memory = write(tmp_path / "memory.tmx", tmx(HELLO, source=header))
    with pytest.raises(ManyheadsError) as raised:
        find_direction(memory, source=source, target=target)
    assert sentence in str(raised.value)


def test_a_corpus_without_languages_is_refused(tmp_path: Path):
    memory = write(tmp_path / "memory.tmx", tmx(HELLO))
    with pytest.raises(ManyheadsError, match="which two languages of this memory"):
        open_corpus(CorpusSettings(pairs=memory), split="train")


def test_the_languages_of_a_corpus_choose_its_pairs_in_both_directions(tmp_path: Path):
    memory = write(tmp_path / "memory.tmx", tmx((("en", "Yes"), ("fr", "Oui"))))
    settings = CorpusSettings(pairs=memory, source_language="en", target_language="fr", both_ways=True)
    read = [list(open_corpus(one, split="train").pairs()) for one in settings.directions]
    assert read == [[Pair("Yes", "Oui")], [Pair("Oui", "Yes")]]


# --- Files and folders -----------------------------------------------------------------------------------------------


def test_a_folder_is_read_with_its_folders_in_order(tmp_path: Path):
    write(tmp_path / "b.tmx", tmx((("en", "two"), ("de", "zwei"))))
    write(tmp_path / "a" / "z.tmx.gz", gzip.compress(tmx((("en", "one"), ("de", "eins")))))
    write(tmp_path / "a" / "notes.txt", b"not a memory")
    write(tmp_path / ".git" / "c.tmx", b"not looked at")
    corpus = opened(tmp_path)
    assert corpus.remarks() == []  # nothing was read yet
    assert list(corpus.pairs()) == [Pair("one", "eins"), Pair("two", "zwei")]
    (remark,) = corpus.remarks()
    assert "a/notes.txt" in remark
    assert ".git" not in remark


def test_what_is_left_out_is_counted_when_all_is_read(tmp_path: Path):
    units = [HELLO, (("en", "a"), ("de", "")), (("en", "b"), ("fr", "c")), (("en", "ok"), ("de", "ok"))]
    memory = write(tmp_path / "memory.tmx", tmx(*units, (("en", "d"), ("fr", "e"))))
    corpus = opened(memory, "en", "de-DE")
    next(corpus.pairs())
    assert corpus.remarks() == []
    assert list(corpus.pairs()) == list(corpus.pairs()) == [Pair("Hello", "Hallo")]
    (remark,) = corpus.remarks()
    assert f"units read: {len(units) + 1};" in remark
    for reason in ("4 in other languages (there is ", "en-GB"):
        assert reason in remark


def test_a_memory_without_the_languages_says_which_it_has(tmp_path: Path):
    memory = write(tmp_path / "memory.tmx", tmx(HELLO))
    with pytest.raises(ManyheadsError, match=r"no pair of pl and de .*there is en-GB, de-AT, de-DE, fr"):
        list(opened(memory, "pl", "de").pairs())


def test_the_key_is_that_of_bytes_and_languages(tmp_path: Path):
    memory = write(tmp_path / "memory.tmx", tmx(HELLO))
    key = opened(memory).key()
    assert opened(shutil.copy(memory, tmp_path / "copy.tmx")).key() == key
    assert opened(memory, target="fr").key() != key
    write(tmp_path / "memory.tmx", tmx(HELLO, HELLO))
    assert opened(memory).key() != key


def test_a_recipe_names_the_languages_that_were_found(tmp_path: Path):
    memory = write(tmp_path / "memory.tmx", tmx(HELLO))
    found = with_format({"pairs": memory, "target_column": "fr"})
    assert found == {"pairs": memory, "format": "memories", "source_column": "en", "target_column": "fr"}


def test_files_of_one_name_in_two_folders_are_two_inputs(tmp_path: Path):
    files = [tmp_path / name / "memory.tmx" for name in ("a", "b")]
    for file in files:
        write(file, tmx((("en", file.parent.name), ("de", "x"))))
    settings = CorpusSettings(pairs=str(tmp_path), source_column="en", target_column="de")
    before = records(list(corpus_inputs(settings, "training")), Fingerprints(), None)
    assert [record.name for record in before] == ["a/memory.tmx", "b/memory.tmx"]
    write(files[1], tmx((("en", "other"), ("de", "x"))))
    now = records(list(corpus_inputs(settings, "training")), Fingerprints(), None)
    (change,) = differences(before, now)
    assert f"{tmp_path}/b/memory.tmx" in change
