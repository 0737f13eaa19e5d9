"""Files as documents: formats are found, encodings kept, and what is neither is refused in a sentence."""

from __future__ import annotations

import codecs
import gzip
import os
from pathlib import Path

import pytest

from document_examples import EXAMPLES, PO, XLIFF
from manyheads.documents import opening
from manyheads.documents.interface import Filling, Styled
from manyheads.documents.opening import FORMATS, OpenedDocument, open_document, read_document
from manyheads.documents.selection import Selection
from manyheads.errors import ManyheadsError

FORMATS_BY_NAME = {one.name: one for one in FORMATS}
COLUMNS = {"csv": "csv:English"}


def filled(opened: OpenedDocument, *, with_sources: bool = False) -> bytes:
    """Return a document with nothing filled in, or with its own sources."""
    sources = [one.source if with_sources else None for one in opened.document.segments]
    return opened.encode(opened.document.fill(sources, Filling("de")))


def test_there_is_an_example_of_every_format():
    assert set(EXAMPLES) == {one.name for one in FORMATS}


@pytest.mark.parametrize("name", [one.name for one in FORMATS])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_file_is_the_same_bytes_with_nothing_filled_in(name: str, ends: str):
    text = EXAMPLES[name].replace("\n", ends)
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        if name == "po" and encoding == "utf-16":
            continue  # gettext reads none
        content = text.encode(encoding)
        opened = read_document(content, f"file{FORMATS_BY_NAME[name].endings[0]}", format=COLUMNS.get(name))
        assert opened.format.name == name
        assert filled(opened) == content
        if opened.document.segments[0].target is None and FORMATS_BY_NAME[name].marks_unsure is False:
            assert filled(opened, with_sources=True) == content  # formats of one language


@pytest.mark.parametrize("name", [one.name for one in FORMATS if one.begins])
def test_a_format_is_found_by_how_a_file_begins(name: str):
    for encoding in ("utf-8", "utf-8-sig") if name == "po" else ("utf-8", "utf-8-sig", "utf-16"):
        for file in ("file", "file.xml"):
            assert read_document(EXAMPLES[name].encode(encoding), file).format.name == name


def test_an_unknown_format_is_named_with_all_that_are_known(tmp_path: Path):
    path = tmp_path / "file.unknown"
    path.write_text("text")
    with pytest.raises(ManyheadsError) as caught:
        open_document(path)
    assert str(path) in str(caught.value)
    assert all(one.name in str(caught.value) for one in FORMATS)
    with pytest.raises(ManyheadsError, match=r"there is no format 'jsn'\. Did you mean 'json'"):
        open_document(path, format="jsn")
    with pytest.raises(ManyheadsError, match="csv:COLUMN"):
        open_document(path, format="csv")


def test_columns_of_a_csv_are_named_with_the_format():
    content = b"English,German\none,\ntwo,zwei\n"
    opened = read_document(content, "file.csv", format="csv:English:German")
    assert [(one.source.text, one.target and one.target.text) for one in opened.document.segments] == [
        ("one", None),
        ("two", "zwei"),
    ]
    written = opened.encode(opened.document.fill([Styled("eins"), None], Filling("de")))
    assert written == b"English,German\none,eins\ntwo,zwei\n"


def test_a_compressed_file_is_compressed_again():
    content = EXAMPLES["po"].encode()
    opened = read_document(gzip.compress(content), "de.po.gz")
    text = opened.document.fill([None], Filling())
    assert gzip.decompress(opened.encode(text, "out.po.gz")) == opened.encode(text, "out.po") == content


@pytest.mark.parametrize(
    ("text", "name", "encoding"),
    [
        (XLIFF, "a.xlf", "iso-8859-1"),
        (XLIFF, "a.xlf", "windows-1252"),
        (PO, "a.po", "ISO-8859-15"),
        (PO, "a.po", "cp1252"),
    ],
)
def test_a_declared_encoding_is_kept(text: str, name: str, encoding: str):
    content = text.format(encoding=encoding).encode(encoding)
    opened = read_document(content, name)
    assert opened.document.segments[0].source.text == "café"
    assert filled(opened) == content
    translated = opened.document.fill([Styled("Київ")], Filling("uk"))
    if name == "a.xlf":  # which has a way to write any character
        again = read_document(opened.encode(translated), name)
        assert again.document.segments[0].target == Styled("Київ")
    else:
        with pytest.raises(ManyheadsError, match="the translation has 'К', which"):
            opened.encode(translated)


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (PO.format(encoding="UTF-8").encode("latin-1"), "a.po", "a.po:5: this file is not in utf-8"),
        (PO.format(encoding="ISO-8859-1").encode(), "a.po", "declares the encoding 'ISO-8859-1', and is in UTF-8"),
        (PO.format(encoding="rot13").encode(), "a.po", "encoding 'rot13', which it is not in or which is not known"),
        (PO.format(encoding="utf-16").encode(), "a.po", "encoding 'utf-16', which it is not in"),
        (XLIFF.format(encoding="idna").encode(), "a.xlf", "encoding 'idna'"),
        (XLIFF.format(encoding="none").encode(), "a.xlf", "encoding 'none'"),
        (codecs.BOM_UTF16_LE + b"a", "a.txt", "a.txt:1: this file is not in utf-16-le"),
        (b"one\ntwo\0\n", "a.txt", "a.txt:2: this file is not text"),
        (bytes(100), "a.json", "a.json:1: this file is not text"),
        (b"\x1f\x8b", "a.po.gz", "a.po.gz: this .gz file is damaged"),
        (gzip.compress(b"x" * 1000)[:-9], "a.txt.gz", "a.txt.gz: this .gz file is damaged"),
        (gzip.compress(bytes(opening.LARGEST + 1)), "a.txt.gz", "when it is unpacked"),
        (b"\n" + b"x" * (opening.LONGEST + 1), "a.txt", "a.txt:2: this text has 100,001 characters"),
    ],
)
def test_what_is_no_text_is_refused_in_a_sentence(content: bytes, name: str, message: str):
    with pytest.raises(ManyheadsError) as caught:
        read_document(content, name)
    assert message in str(caught.value)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path):
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(opening.LARGEST + 1)
    with pytest.raises(ManyheadsError, match="and at most"):
        open_document(path)
    with pytest.raises(ManyheadsError, match="cannot be read"):
        open_document(tmp_path / "missing.txt")


def test_real_files_are_the_same_bytes():
    folder = os.environ.get("MANYHEADS_DATA")
    paths = sorted(path for path in Path(folder or "none", "catalogues").glob("*.*") if path.suffix != ".md")
    if not paths:
        pytest.skip("needs real catalogues: set MANYHEADS_DATA to a folder that has catalogues/.")
    for path in paths:
        opened = open_document(path)
        assert filled(opened) == opened.content, path.name


def test_what_is_selected_follows_from_what_is_there():
    entries = ['msgid "a"\nmsgstr ""\n', '#, fuzzy\nmsgid "b"\nmsgstr "B"\n', 'msgid "c"\nmsgstr "C"\n']
    document = read_document("\n".join([EXAMPLES["po"], *entries]).encode(), "a.po").document
    names = {
        which: [one.styled.text for one in Selection.of(document, which).lines] for which in ("needed", "empty", "all")
    }
    assert names == {"needed": ["café", "a", "b"], "empty": ["café", "a"], "all": ["café", "a", "b", "c"]}
    counts = Selection.of(document, "needed").counts()
    assert (counts.texts, counts.left, counts.unsure, counts.to_translate, counts.words) == (4, 1, 1, 3, 3)
