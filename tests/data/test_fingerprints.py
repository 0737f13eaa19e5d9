"""A fingerprint stands for the bytes that are on the disk now, and costs no reading where a file was read before."""

import gzip
import hashlib
import os
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from manyheads.data.text.files import read_lines
from manyheads.data.text.fingerprints import Fingerprints
from manyheads.errors import ManyheadsError

TEXT = "".join(f"line {i}\n" for i in range(1000)).encode()
PLAIN, PACKED, PADDED = "plain", "packed.gz", "padded.gz"
CONTENTS = {PLAIN: TEXT, PACKED: gzip.compress(TEXT), PADDED: gzip.compress(TEXT) * 2 + bytes(100), "empty": b""}


@pytest.fixture(params=CONTENTS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path: Path = tmp_path / request.param
    path.write_bytes(CONTENTS[request.param])
    return path


def expected(*paths: Path) -> str:
    """Return the fingerprint of files by its definition: the sha256 of the sha256 of each."""
    checksums = [hashlib.sha256(path.read_bytes()).digest() for path in paths]
    return hashlib.sha256(b"".join(checksums)).hexdigest()


def rewrite(path: Path, content: bytes) -> None:
    """Write a file at another time than before, however coarse the clock of the file system is."""
    before = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))


def test_a_fingerprint_is_of_the_content_alone(tmp_path: Path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"same")
    second.write_bytes(b"same")
    assert Fingerprints().of([first]) == Fingerprints().of([second])
    second.write_bytes(b"sane")
    assert Fingerprints().of([first]) != Fingerprints().of([second])


def test_a_fingerprint_knows_where_one_file_ends(tmp_path: Path):
    for name, content in {"ab": b"ab", "c": b"c", "a": b"a", "bc": b"bc"}.items():
        (tmp_path / name).write_bytes(content)
    fingerprints = Fingerprints()
    assert fingerprints.of([tmp_path / "ab", tmp_path / "c"]) != fingerprints.of([tmp_path / "a", tmp_path / "bc"])


def test_a_file_is_hashed_while_its_lines_are_read(path: Path, opened: Counter[Path]):
    fingerprints = Fingerprints()
    lines = list(read_lines(path, open_bytes=fingerprints.open))
    assert lines == list(read_lines(path))
    opened.clear()
    found = fingerprints.of([path])
    assert opened[path] == 0
    assert found == expected(path)
    assert list(read_lines(path, open_bytes=fingerprints.open)) == lines


def test_a_file_that_was_not_read_is_read_once(path: Path, opened: Counter[Path]):
    fingerprints = Fingerprints()
    found = fingerprints.of([path]), fingerprints.of([path])
    assert opened[path] == 1
    assert found == (expected(path), expected(path))


def test_the_beginning_of_a_file_is_not_its_fingerprint(tmp_path: Path):
    path, fingerprints = tmp_path / "text", Fingerprints()
    path.write_bytes(TEXT * 1000)
    assert list(islice(read_lines(path, open_bytes=fingerprints.open), 2)) == ["line 0", "line 1"]
    assert fingerprints.of([path]) == expected(path)


@pytest.mark.parametrize("content", [TEXT.swapcase(), TEXT + TEXT, b""], ids=["as long", "longer", "empty"])
def test_a_file_that_changes_gets_another_fingerprint(tmp_path: Path, content: bytes):
    path, fingerprints = tmp_path / "text", Fingerprints()
    path.write_bytes(TEXT)
    list(read_lines(path, open_bytes=fingerprints.open))
    rewrite(path, content)
    assert fingerprints.of([path]) == expected(path)


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path: Path):
    path, fingerprints = tmp_path / "text", Fingerprints()
    path.write_bytes(TEXT)
    lines = read_lines(path, open_bytes=fingerprints.open)
    next(lines)
    rewrite(path, TEXT.swapcase())
    list(lines)
    assert fingerprints.of([path]) == expected(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ManyheadsError, match="cannot be read") as caught:
            Fingerprints().of([path])
        assert caught.value.where == str(path)


def test_a_device_has_no_fingerprint():
    with pytest.raises(ManyheadsError, match="this is a device"):
        Fingerprints().checksum(Path("/dev/zero"))
    with pytest.raises(ManyheadsError, match="this is a device"):
        Fingerprints().of([Path("/dev/zero")])
