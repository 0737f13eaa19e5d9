"""Lines come out of files as they went in, and a file that cannot be read says where and why."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyheads.data.text.files import read_lines, resolve, text_files
from manyheads.errors import ManyheadsError

# Everything Unicode calls a line separator, except the newline itself, which ends a line here.
LINES = st.lists(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]) | st.sampled_from("\v\f\x85"))
)


def readable(line: str) -> bool:
    return not line.endswith("\r") and not line.startswith("\ufeff")


@given(LINES.map(lambda lines: list(filter(readable, lines))))
def test_only_newlines_end_lines(tmp_path_factory: pytest.TempPathFactory, lines: list[str]):
    path = tmp_path_factory.mktemp("lines") / "text"
    content = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(content)
    packed = path.with_suffix(".gz")
    packed.write_bytes(gzip.compress(content))
    assert list(read_lines(path)) == lines
    assert list(read_lines(packed)) == lines


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"one\ntwo", ["one", "two"]),
        (b"one\r\ntwo\r\n", ["one", "two"]),
        (b"\n\n", ["", ""]),
        (b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n", ["one", "\ufefftwo"]),  # a byte-order mark is one only at the start
        ("a\u2028b\u0085c\vd\n".encode(), ["a\u2028b\u0085c\vd"]),
    ],
)
def test_line_ends(tmp_path: Path, content: bytes, lines: list[str]):
    (tmp_path / "text").write_bytes(content)
    assert list(read_lines(tmp_path / "text")) == lines


def test_a_line_that_is_not_utf8_is_named(tmp_path: Path):
    path = tmp_path / "text"
    path.write_bytes(b"gut\ngut\n" + b"na\xefve\n" + b"gut\n")
    with pytest.raises(ManyheadsError) as caught:
        list(read_lines(path))
    assert caught.value.where == f"{path}:3"
    assert "not UTF-8 (byte 0xef at column 3)" in caught.value.what
    assert "iconv" in (caught.value.cure or "")


WHOLE = gzip.compress(b"".join(b"line %d\n" % i for i in range(1000)), mtime=0)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(WHOLE[:-200], id="cut off"),
        pytest.param(WHOLE[:5], id="cut off in its head"),
        pytest.param(b"these are plain words", id="not packed at all"),
        pytest.param(WHOLE[:300] + bytes(20) + WHOLE[320:], id="overwritten in the middle"),
        pytest.param(WHOLE[:-8] + bytes(8), id="wrong checksum"),
        pytest.param(WHOLE[:10] + b"\xff" + WHOLE[11:], id="not a deflate stream"),
    ],
)
def test_a_damaged_gz_file_is_named(tmp_path: Path, content: bytes):
    path = tmp_path / "text.gz"
    path.write_bytes(content)
    with pytest.raises(ManyheadsError, match="damaged") as caught:
        list(read_lines(path))
    assert str(path) in str(caught.value)


def test_a_folder_is_its_files_in_order_of_their_names(tmp_path: Path):
    for name in ("b.txt", "a.txt", "c.txt", ".hidden"):
        (tmp_path / name).write_text(name)
    (tmp_path / "sub").mkdir()
    assert [path.name for path in text_files(str(tmp_path), role="source")] == ["a.txt", "b.txt", "c.txt"]


def test_an_empty_folder_is_refused(tmp_path: Path):
    with pytest.raises(ManyheadsError, match="folder of the target is empty") as caught:
        text_files(str(tmp_path), role="target")
    assert caught.value.where == str(tmp_path)


def test_a_missing_file_is_named_with_its_role(tmp_path: Path):
    with pytest.raises(ManyheadsError, match=r"no such file for the source.*Check the path") as caught:
        text_files(str(tmp_path / "train.en"), role="source")
    assert caught.value.where == str(tmp_path / "train.en")


def test_data_paths_lead_to_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MANYHEADS_DATA", str(tmp_path))
    assert resolve("data:multi30k/train.en") == tmp_path / "multi30k" / "train.en"
    with pytest.raises(ManyheadsError, match="manyheads data get"):
        text_files("data:multi30k/train.en", role="source")
    monkeypatch.delenv("MANYHEADS_DATA")
    assert resolve("data:x") == Path("data/x")


def test_the_home_folder_may_be_written_short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert resolve("~/train.en") == tmp_path / "train.en"
