"""Pairs are the same however they are stored."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from manyheads.config.corpora import CorpusSettings
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError

PAIRS = [
    Pair("Ein Haus.", "A house."),
    Pair("  zwei  Häuser ", "two houses"),
    Pair("", ""),
    Pair("\u2028drei\u0085", '"three" \\ 3'),
    Pair("vier", "四"),
]


def lines(texts: list[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def tsv(pairs: list[Pair]) -> bytes:
    return lines([f"{pair.source}\t{pair.target}" for pair in pairs])


def jsonl(pairs: list[Pair], source: str = "source", target: str = "target") -> bytes:
    return lines([json.dumps({source: pair.source, "id": 1, target: pair.target}) for pair in pairs])


def packed(content: bytes) -> bytes:
    """Return the content compressed, always to the same bytes: without a time."""
    return gzip.compress(content, mtime=0)


def parallel(folder: Path, pack: Callable[[bytes], bytes] = bytes, suffix: str = "") -> CorpusSettings:
    (folder / f"s{suffix}").write_bytes(pack(lines([pair.source for pair in PAIRS])))
    (folder / f"t{suffix}").write_bytes(pack(lines([pair.target for pair in PAIRS])))
    return CorpusSettings(source=str(folder / f"s{suffix}"), target=str(folder / f"t{suffix}"))


def parallel_folders(folder: Path) -> CorpusSettings:
    for side in ("source", "target"):
        (folder / side).mkdir()
        for number, part in enumerate((PAIRS[:2], PAIRS[2:])):
            (folder / side / f"part-{number}").write_bytes(lines([getattr(pair, side) for pair in part]))
    return CorpusSettings(source=str(folder / "source"), target=str(folder / "target"))


def one_file(folder: Path, name: str, content: bytes, **settings: object) -> CorpusSettings:
    (folder / name).write_bytes(content)
    return CorpusSettings.model_validate({"pairs": str(folder / name), **settings})


def mixed_folder(folder: Path) -> CorpusSettings:
    place = folder / "mixed"
    place.mkdir()
    (place / "1.tsv").write_bytes(tsv(PAIRS[:2]))
    (place / "2.jsonl.gz").write_bytes(packed(jsonl(PAIRS[2:4])))
    (place / "3.tsv.gz").write_bytes(packed(tsv(PAIRS[4:])))
    return CorpusSettings(pairs=str(place))


KINDS: dict[str, Callable[[Path], CorpusSettings]] = {
    "parallel": parallel,
    "parallel .gz": lambda folder: parallel(folder, packed, ".gz"),
    "parallel folders": parallel_folders,
    "tsv": lambda folder: one_file(folder, "p.tsv", tsv(PAIRS)),
    "tsv by name of its own": lambda folder: one_file(folder, "p.txt", tsv(PAIRS)),
    "tsv .gz": lambda folder: one_file(folder, "p.tsv.gz", packed(tsv(PAIRS))),
    "tsv with other columns": lambda folder: one_file(
        folder,
        "p.tsv",
        lines([f"1\t{pair.target}\tx\t{pair.source}" for pair in PAIRS]),
        source_column=3,
        target_column=1,
    ),
    "jsonl": lambda folder: one_file(folder, "p.jsonl", jsonl(PAIRS)),
    "jsonl .gz": lambda folder: one_file(folder, "p.jsonl.gz", packed(jsonl(PAIRS))),
    "jsonl by name of its own": lambda folder: one_file(folder, "p.txt", jsonl(PAIRS), format="jsonl"),
    "jsonl with other keys": lambda folder: one_file(
        folder, "p.jsonl", jsonl(PAIRS, "de", "en"), source_column="de", target_column="en"
    ),
    "folder of both": mixed_folder,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_same_pairs_every_time(tmp_path: Path, kind: str):
    settings = KINDS[kind](tmp_path)
    corpus = open_corpus(settings, split="train")
    assert list(corpus.pairs()) == PAIRS
    assert list(corpus.pairs()) == PAIRS
    assert str(tmp_path) in corpus.origin()


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_stands_for_the_content(tmp_path: Path, kind: str):
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
    first, second, third = (KINDS[kind](tmp_path / name) for name in ("first", "second", "third"))
    changed = Path(third.pairs or third.target or "")
    changed = changed if changed.is_file() else sorted(changed.iterdir())[-1]
    content = changed.read_bytes()
    compressed = changed.suffix == ".gz"
    extra = lines(["new"]) if third.pairs is None else tsv([Pair("new", "neu")])
    changed.write_bytes(content + (gzip.compress(extra) if compressed else extra))
    keys = [open_corpus(settings, split="train").key() for settings in (first, second, third)]
    assert keys[0] == keys[1] != keys[2]


def test_a_key_stands_for_the_columns_too(tmp_path: Path):
    keys = {
        open_corpus(one_file(tmp_path, "p.tsv", tsv(PAIRS), **chosen), split="train").key()
        for chosen in ({}, {"source_column": 1, "target_column": 0}, {"format": "jsonl"})
    }
    assert len(keys) == 3


def test_a_generated_corpus_is_its_task(tmp_path: Path):
    settings = CorpusSettings(task="reverse", count=5, seed=3, options={"symbols": 4})
    corpus = open_corpus(settings, split="valid")
    pairs = list(corpus.pairs())
    assert len(pairs) == 5
    assert all(pair.target.split() == pair.source.split()[::-1] for pair in pairs)
    assert list(open_corpus(settings, split="valid").pairs()) == pairs
    others = [
        open_corpus(settings, split="train"),
        open_corpus(settings.model_copy(update={"count": 6}), split="valid"),
        open_corpus(settings.model_copy(update={"seed": 4}), split="valid"),
        open_corpus(settings.model_copy(update={"options": {"symbols": 5}}), split="valid"),
    ]
    assert len({corpus.key(), *(other.key() for other in others)}) == 5


# --- What can be wrong -----------------------------------------------------------------------------------------------


def refused(settings: CorpusSettings) -> ManyheadsError:
    with pytest.raises(ManyheadsError) as caught:
        list(open_corpus(settings, split="train").pairs())
    return caught.value


@pytest.mark.parametrize(("sources", "targets"), [(3, 5), (5, 3), (0, 2), (2, 0), (12_345, 12_344)])
def test_files_of_unequal_length_give_both_counts(tmp_path: Path, sources: int, targets: int):
    (tmp_path / "s").write_bytes(lines(["a"] * sources))
    (tmp_path / "t").write_bytes(lines(["b"] * targets))
    error = refused(CorpusSettings(source=str(tmp_path / "s"), target=str(tmp_path / "t")))
    assert f"the source has {sources:,} lines but the target has {targets:,}" in error.what
    assert str(tmp_path / "s") in str(error.where)
    assert str(tmp_path / "t") in str(error.where)
    assert error.cure


def test_a_line_that_is_missing_in_the_middle_is_told(tmp_path: Path):
    sources = ["x" * (7 * i % 83 + 3) for i in range(200)]
    targets = ["y" * (len(line) + 2) for line in sources]
    del targets[119]
    (tmp_path / "s").write_bytes(lines(sources))
    (tmp_path / "t").write_bytes(lines(targets))
    error = refused(CorpusSettings(source=str(tmp_path / "s"), target=str(tmp_path / "t")))
    assert error.cure is not None and error.cure.startswith("They seem to drift apart near line ")
    assert abs(int(error.cure.rstrip(".").split()[-1]) - 120) <= 3


@pytest.mark.parametrize("name", ["p.tsv", "p.jsonl"])
def test_an_empty_file_is_refused(tmp_path: Path, name: str):
    error = refused(one_file(tmp_path, name, b""))
    assert "empty" in error.what
    assert error.where == str(tmp_path / name)


def test_two_empty_files_are_refused(tmp_path: Path):
    (tmp_path / "s").touch()
    (tmp_path / "t").touch()
    error = refused(CorpusSettings(source=str(tmp_path / "s"), target=str(tmp_path / "t")))
    assert "empty" in error.what
    assert error.where == str(tmp_path / "s")


def test_a_line_with_too_few_columns_is_named(tmp_path: Path):
    error = refused(one_file(tmp_path, "p.tsv", b"a\tb\n\nalone\n"))
    assert error.where == f"{tmp_path / 'p.tsv'}:3"
    assert "has 1 tab-separated columns" in error.what
    assert "source_column" in str(error.cure)


@pytest.mark.parametrize(
    "line",
    ['{"source": "a"}', "[1, 2]", '"source"', "3", "null", "{", "words", '{"source": "a", "target": 3}'],
)
def test_a_line_that_is_not_the_object_it_should_be_is_named(tmp_path: Path, line: str):
    error = refused(one_file(tmp_path, "p.jsonl", f'{{"source": "a", "target": "b"}}\n\n{line}\n'.encode()))
    assert error.where == f"{tmp_path / 'p.jsonl'}:3"
    assert "'source' and 'target'" in error.what


def test_half_a_character_is_refused(tmp_path: Path):
    # JSON can spell half of a surrogate pair, which is no text: no tokenizer and no file could hold it.
    error = refused(one_file(tmp_path, "p.jsonl", b'{"source": "a", "target": "\\ud83d"}\n'))
    assert error.where == f"{tmp_path / 'p.jsonl'}:1"


def test_a_key_that_is_not_there_is_named(tmp_path: Path):
    error = refused(one_file(tmp_path, "p.jsonl", jsonl(PAIRS), source_column="de", target_column="en"))
    assert "'de' and 'en'" in error.what
    assert error.where == f"{tmp_path / 'p.jsonl'}:1"
