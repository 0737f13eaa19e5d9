"""Files of pairs as people have them: TSV, CSV of spreadsheets, JSONL, compressed, with and without a header."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.config.corpora import CorpusSettings
from manyheads.data.formats.detection import with_format
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError

COMPRESSION: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstd.compress,
}
SPREADSHEET = (
    b"\xef\xbb\xbfEnglish,German\r\n"
    b'"He said ""yes"", then left.","Er sagte ""ja"", dann ging er."\r\n'
    b'"two\r\nlines",zwei Zeilen\r\n'
    b"plain,einfach\r\n"
)
PAIRS = [
    Pair('He said "yes", then left.', 'Er sagte "ja", dann ging er.'),
    Pair("two lines", "zwei Zeilen"),
    Pair("plain", "einfach"),
]
fields = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00", exclude_categories=["Cs"]), max_size=12)


def read(file: Path, **keys: Any) -> list[Pair]:
    return list(open_corpus(CorpusSettings.model_validate({"pairs": str(file), **keys}), split="train").pairs())


def detected(file: Path, **keys: Any) -> list[Pair]:
    settings = CorpusSettings.model_validate(with_format({"pairs": str(file), **keys}))
    return list(open_corpus(settings, split="train").pairs())


@pytest.mark.parametrize("ending", COMPRESSION)
def test_a_spreadsheet_is_read_as_it_was_written(ending: str, tmp_path: Path):
    file = tmp_path / f"pairs.csv{ending}"
    file.write_bytes(COMPRESSION[ending](SPREADSHEET))
    assert detected(file) == PAIRS
    assert read(file, format="csv", header=True) == PAIRS
    assert read(file, format="csv", source_column="German", target_column="English") == [
        Pair(pair.target, pair.source) for pair in PAIRS
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_found(delimiter: str, tmp_path: Path):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([("a, b", "c; d"), ("e", "f"), ("g;h,", "i")])
    file = tmp_path / "pairs.csv"
    file.write_text(text.getvalue(), encoding="utf-8")
    assert detected(file) == [Pair("a, b", "c; d"), Pair("e", "f"), Pair("g;h,", "i")]


@LAW
@given(rows=st.lists(st.tuples(fields, fields), min_size=1, max_size=6))
def test_what_a_writer_of_csv_writes_is_read(rows: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory):
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
    file = tmp_path_factory.mktemp("csv") / "pairs.csv"
    file.write_bytes(text.getvalue().encode("utf-8"))
    expected = [Pair(*(field.replace("\n", " ") for field in row)) for row in rows]
    assert read(file, format="csv") == expected


@pytest.mark.parametrize("ending", [ending for ending in COMPRESSION if ending])
def test_a_truncated_file_is_an_error(ending: str, tmp_path: Path):
    content = COMPRESSION[ending]("".join(f"a{number}\tb{number}\n" for number in range(9999)).encode())
    file = tmp_path / f"pairs.tsv{ending}"
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(ManyheadsError, match=rf"pairs\.tsv\{ending}:\d+: this \{ending} file is damaged"):
        read(file)


def test_a_header_of_a_tsv_file_is_found_and_names_columns(tmp_path: Path):
    file = tmp_path / "pairs.tsv"
    file.write_text("id\tsource\ttarget\n1\ta\tb\n2\tc\td\n", encoding="utf-8")
    assert detected(file, source_column="1", target_column="2") == [Pair("a", "b"), Pair("c", "d")]
    assert read(file, source_column="target", target_column="source") == [Pair("b", "a"), Pair("d", "c")]
    assert read(file, source_column=1, target_column=2)[0] == Pair("source", "target")  # a recipe states it


def test_the_first_pair_is_no_header_if_its_words_are_no_names(tmp_path: Path):
    file = tmp_path / "pairs.tsv"
    file.write_text("hello\thallo\nsource\tQuelle\n", encoding="utf-8")
    assert detected(file) == [Pair("hello", "hallo"), Pair("source", "Quelle")]


@pytest.mark.parametrize(
    ("content", "keys", "message"),
    [
        (b"a,b\nc\n", {}, r"pairs.csv:2: this line has 1 comma-separated columns, columns 0 and 1 \(from 0\)"),
        (b'a,b\n"c,d\ne,f\n', {}, r"pairs.csv:2: this record of a CSV file cannot be read"),
        (b"English,German\na,b\n", {"source_column": "Englisch", "target_column": "German"}, r"there is no column"),
        ("ä,b\n".encode("latin1"), {}, r"pairs.csv:1: this line is not UTF-8 \(byte 0xe4.*iconv -f latin1"),
        ("a,b\n".encode("utf-16"), {}, r"pairs.csv:1: this line is not UTF-8 .*iconv -f utf-16"),
        (b"", {}, r"this file is empty"),
    ],
    ids=["columns", "quotes", "name", "latin1", "utf-16", "empty"],
)
def test_a_faulty_file_is_an_error_that_names_the_line(
    content: bytes, keys: dict[str, Any], message: str, tmp_path: Path
):
    (tmp_path / "pairs.csv").write_bytes(content)
    with pytest.raises(ManyheadsError, match=f"(?s){message}"):
        read(tmp_path / "pairs.csv", format="csv", **keys)


# --- Every form, compressed or not, with any line ends, with and without a byte-order mark ---------------------------

PLAIN = [Pair("a house", "ein Haus"), Pair("我", "ich"), Pair("", ""), Pair("the end", "das Ende")]


def as_two_files(pairs: list[Pair]) -> dict[str, str]:
    """Return the contents of two parallel files, by the ending of their names."""
    return {side: "".join(f"{getattr(pair, side)}\n" for pair in pairs) for side in ("source", "target")}


def as_tsv(pairs: list[Pair]) -> dict[str, str]:
    return {"tsv": "".join(f"{one}\t{other}\n" if one else "\n" for one, other in pairs)}


def as_csv(pairs: list[Pair]) -> dict[str, str]:
    return {"csv": "".join(f'"{one}",{other}\n' if one else "\n" for one, other in pairs)}


def as_jsonl(pairs: list[Pair]) -> dict[str, str]:
    lines = (json.dumps({"source": one, "target": other}, ensure_ascii=False) if one else "" for one, other in pairs)
    return {"jsonl": "".join(f"{line}\n" for line in lines)}


def written(folder: Path, contents: dict[str, str], encode: Callable[[str], bytes], ending: str) -> dict[str, str]:
    """Write files and return the corpus that they are, as a recipe has it."""
    for kind, text in contents.items():
        (folder / f"train.{kind}{ending}").write_bytes(COMPRESSION[ending](encode(text)))
    paths = {kind: str(folder / f"train.{kind}{ending}") for kind in contents}
    return paths if "source" in paths else {"pairs": next(iter(paths.values()))}


def read_corpus(keys: dict[str, str]) -> list[Pair]:
    """Read a corpus as a training from files does."""
    return list(open_corpus(CorpusSettings.model_validate(with_format(keys)), split="train").pairs())


FORMS = [as_two_files, as_tsv, as_csv, as_jsonl]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "BOM"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("ending", COMPRESSION)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_alike(
    form: Callable[[list[Pair]], dict[str, str]], ending: str, newline: str, mark: bytes, tmp_path: Path
):
    keys = written(tmp_path, form(PLAIN), lambda text: mark + text.replace("\n", newline).encode(), ending)
    assert read_corpus(keys) == PLAIN


@pytest.mark.parametrize("ending", COMPRESSION)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoding", ["latin1", "utf-16"])
def test_another_encoding_is_one_sentence_with_file_and_line(
    encoding: str, form: Callable[[list[Pair]], dict[str, str]], ending: str, tmp_path: Path
):
    pairs = [Pair("a house", "ein Haus"), Pair("a door", "eine Tür")]
    keys = written(tmp_path, form(pairs), lambda text: text.encode(encoding), ending)
    line = 1 if encoding == "utf-16" else 2
    with pytest.raises(
        ManyheadsError, match=rf"train\.\w+{ending}:{line}: this line is not UTF-8.*iconv -f {encoding}"
    ):
        read_corpus(keys)


@pytest.mark.parametrize("ending", COMPRESSION)
@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        ("tsv", "a\tb\nc\n", "this line has 1 tab-separated columns, columns 0 and 1 .* are needed"),
        ("csv", '"a","b"\n"c"\n', "this line has 1 comma-separated columns, columns 0 and 1 .* are needed"),
        ("jsonl", '{"source": "a", "target": "b"}\n{"source": "c"}\n', "not a JSON object with the keys"),
    ],
)
def test_a_wrong_number_of_columns_is_one_sentence_with_file_and_line(
    kind: str, content: str, message: str, ending: str, tmp_path: Path
):
    keys = written(tmp_path, {kind: content}, str.encode, ending)
    with pytest.raises(ManyheadsError, match=rf"train\.{kind}{ending}:2: .*{message}"):
        read_corpus(keys)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04\x14\x00\x06\x00\x08\x00\xff", r"spreadsheet \(\.xlsx, \.ods\), not text\. Unpack it, or save"),
        *(
            (COMPRESSION[ending](b"a\tb\n"), rf"not text\. Let its name end with \{ending}")
            for ending in COMPRESSION
            if ending
        ),
        (bz2.compress(b"a\tb\n"), r"bzip2 file, not text\. Unpack it"),
    ],
    ids=["xlsx", "gz", "xz", "zst", "bz2"],
)
def test_a_file_that_is_no_text_is_named(content: bytes, message: str, tmp_path: Path):
    (tmp_path / "pairs.tsv").write_bytes(content)
    with pytest.raises(ManyheadsError, match=message):
        read(tmp_path / "pairs.tsv")


def test_training_reads_a_spreadsheet_and_says_so_in_the_recipe(command: Callable[..., Any], tmp_path: Path):
    rows = "".join(f'"{number}, {number + 1}";"{number + 1}"\r\n' for number in range(60))
    (tmp_path / "sums.csv").write_bytes(f"\ufeffquestion;answer\r\n{rows}".encode())
    command(
        *("train", "--pairs", tmp_path / "sums.csv", "--out", tmp_path / "run", "--set", "training.steps=2"),
        *("--set", "model.width=16", "--set", "model.heads=2", "--set", "validation.every=2"),
    ).succeeds()
    recipe = (tmp_path / "run" / "recipe.yaml").read_text(encoding="utf-8")
    assert "format: csv" in recipe and "header: true" in recipe and "delimiter: ;" in recipe
