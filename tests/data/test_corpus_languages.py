"""Which languages the two sides of a corpus are in: by names, or detected."""

from __future__ import annotations

from pathlib import Path

import pytest

from manyheads.config.corpora import CorpusSettings
from manyheads.data.formats.detection import with_format
from manyheads.data.formats.languages import find_languages, surely_languages
from manyheads.errors import ManyheadsError

ENGLISH = ["The weather is very nice today.", "I would like to drink a cup of coffee.", "She works in a hospital."] * 20
GERMAN = ["Das Wetter ist heute sehr schön.", "Ich möchte eine Tasse Kaffee trinken.", "Sie arbeitet dort."] * 20
CHINESE = ["今天天气很好。", "我想喝一杯咖啡。", "她在医院工作。"] * 20


def files(folder: Path, source: str, target: str, texts: tuple[list[str], list[str]]) -> CorpusSettings:
    """Write two files and return the corpus."""
    for name, lines in zip((source, target), texts, strict=True):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return CorpusSettings(source=str(folder / source), target=str(folder / target))


def pairs(folder: Path, name: str, rows: list[tuple[str, str]], **keys: object) -> CorpusSettings:
    """Write a file of pairs and return the corpus, with the format that is detected."""
    (folder / name).write_text("".join(f"{one}\t{other}\n" for one, other in rows), encoding="utf-8")
    return CorpusSettings.model_validate(with_format({"pairs": str(folder / name), **keys}))


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("train.en", "train.de", ("en", "de")),
        ("train.en.gz", "train.zh.xz", ("en", "zh")),
        ("news-fr.txt", "news_it.txt.zst", ("fr", "it")),
        ("train.en", "train.tsv", None),
        ("train.en", "other.en", None),
        ("source", "target", None),
    ],
)
def test_the_names_of_files_say_the_languages(source: str, target: str, expected: tuple[str, str] | None):
    found = find_languages(CorpusSettings(source=source, target=target))
    assert (found and found[:2]) == expected


def test_what_is_given_wins_over_names():
    corpus = CorpusSettings(source="train.en", target="train.de")
    found = find_languages(corpus, target="zh-Hans")
    assert found is not None and found[:2] == ("en", "zh-Hans")
    found = find_languages(corpus, source="Dutch", target="German")
    assert found is not None and found[:2] == ("nl", "de")


def test_columns_are_named_by_a_header_or_by_their_keys(tmp_path: Path):
    by_header = pairs(tmp_path, "a.tsv", [("English", "German"), ("a", "b")])
    assert by_header.header
    assert str(find_languages(by_header)) == "en → de (by the names of the columns)"
    by_key = CorpusSettings(pairs="a.jsonl", source_column="fr", target_column="en")
    found = find_languages(by_key)
    assert found is not None and found[:2] == ("fr", "en")
    assert find_languages(CorpusSettings(pairs="corpus.de-en.tsv")) is None, "a name does not say which is which"


@pytest.mark.parametrize(("one", "other", "codes"), [(ENGLISH, GERMAN, ("en", "de")), (CHINESE, ENGLISH, ("zh", "en"))])
def test_languages_are_detected_in_texts(one: list[str], other: list[str], codes: tuple[str, str], tmp_path: Path):
    found = surely_languages(files(tmp_path, "source", "target", (one, other)))
    assert found == (*codes, "detected")


def test_the_name_of_a_file_of_pairs_narrows_the_choice(tmp_path: Path):
    corpus = pairs(tmp_path, "corpus.de-en.tsv", list(zip(ENGLISH, GERMAN, strict=True)))
    assert surely_languages(corpus)[:2] == ("en", "de")


@pytest.mark.parametrize(
    ("texts", "given", "message"),
    [
        ((ENGLISH, ENGLISH), {}, r"cannot be told apart \(source: en, target: en\)\. Name them: --so"),
        ((["7"] * 9, ["1 2"] * 9), {}, r"\(source: unknown, target: unknown\)"),
        ((["word"] * 9, ["WERD"] * 9), {"source": "en"}, r"\(source: en, target: unknown\)"),
        ((ENGLISH, GERMAN), {"source": "de", "target": "de"}, "both sides cannot be in 'de'"),
        ((ENGLISH, GERMAN), {"source": "e n", "target": "de"}, "'e n' is not the code of a language"),
    ],
)
def test_languages_that_cannot_be_told_apart_are_an_error(
    texts: tuple[list[str], list[str]], given: dict[str, str], message: str, tmp_path: Path
):
    with pytest.raises(ManyheadsError, match=message):
        surely_languages(files(tmp_path, "source", "target", texts), **given)
