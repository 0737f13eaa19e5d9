"""Word vectors: every format gives the same rows, the right words are found, and faults are named by line."""

import gzip
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from manyheads.errors import ManyheadsError
from manyheads.exchange.vectors import load_vectors

TABLE = {
    "the": [0.5, -1.25, 3.0],
    "Haus": [1.0, 2.0, 3.0],
    "haus": [-1.0, -2.0, -3.0],
    "straße": [0.0, 0.0, 1e-3],
    "new\xa0york": [7.0, 8.0, 9.0],  # only a plain blank separates
    "42": [4.0, 2.0, 0.0],
}
Table = dict[str, list[float]]


def glove(table: Table) -> bytes:
    return "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in table.items()).encode()


def word2vec_text(table: Table) -> bytes:
    # The original program leaves a blank at the end of each line.
    return f"{len(table)} 3\n".encode() + glove(table).replace(b"\n", b" \n")


def word2vec_binary(table: Table, end: bytes = b"\n") -> bytes:
    rows = (word.encode() + b" " + struct.pack("<3f", *row) + end for word, row in table.items())
    return f"{len(table)} 3\n".encode() + b"".join(rows)


FORMATS: dict[str, Callable[[Table], bytes]] = {
    "glove": glove,
    "word2vec text": word2vec_text,
    "word2vec binary": word2vec_binary,
    "word2vec binary without newlines": lambda table: word2vec_binary(table, end=b""),
    "windows line ends": lambda table: glove(table).replace(b"\n", b"\r\n"),
    "tabs": lambda table: glove(table).replace(b" ", b"\t"),
    "no newline at the end": lambda table: glove(table).rstrip(b"\n"),
}


def written(tmp_path: Path, content: bytes, name: str = "vectors") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_same_rows(kind: str, compressed: bool, tmp_path: Path):
    content = FORMATS[kind](TABLE)
    path = written(tmp_path, gzip.compress(content) if compressed else content)
    vocabulary = [*reversed(TABLE), "absent"]
    vectors = load_vectors(path, vocabulary, width=3)
    assert vectors.matrix.dtype == np.float32
    assert vectors.matrix.shape == (7, 3)
    expected = np.array([*reversed(TABLE.values()), [0, 0, 0]], dtype=np.float32)
    np.testing.assert_array_equal(vectors.matrix, expected)
    assert vectors.found.tolist() == [True] * 6 + [False]


@pytest.mark.parametrize("row", [[1e-30, 0.0, -0.0], [0.11, 0.22, 0.33], [13.0, 10.0, 3.14], [2.3e-10, 5.5e-8, 1.0]])
@pytest.mark.parametrize("kind", ["word2vec text", "word2vec binary", "word2vec binary without newlines"])
def test_text_and_binary_are_told_apart_by_content(kind: str, row: list[float], tmp_path: Path):
    vectors = load_vectors(written(tmp_path, FORMATS[kind]({"a": row, "b": row})), ["b"])
    np.testing.assert_array_equal(vectors.matrix, np.array([row], dtype=np.float32))


def test_random_binary_vectors_are_never_taken_for_text(tmp_path: Path):
    random = np.random.default_rng(1)
    for _ in range(200):
        row = random.normal(scale=0.3, size=8).astype("<f4")
        content = b"1 8\nword " + row.tobytes()
        np.testing.assert_array_equal(load_vectors(written(tmp_path, content), ["word"]).matrix[0], row)


def test_a_newline_within_a_binary_vector_is_a_number(tmp_path: Path):
    row = struct.unpack("<3f", b"\n\n\n\x0a abc   \x3e")
    content = b"2 3\na " + struct.pack("<3f", *row) + b"b " + struct.pack("<3f", *row)
    np.testing.assert_array_equal(load_vectors(written(tmp_path, content), ["b"]).matrix[0], np.float32(row))


def test_a_word_is_found_exactly_and_else_lower_cased(tmp_path: Path):
    vocabulary = ["Haus", "HAUS", "haus", "The", "Straße"]
    expected = [TABLE[word] for word in ("Haus", "haus", "haus", "the", "straße")]
    for table in (TABLE, dict(reversed(TABLE.items()))):  # whichever comes first in the file
        vectors = load_vectors(written(tmp_path, glove(table)), vocabulary)
        np.testing.assert_array_equal(vectors.matrix, np.array(expected, dtype=np.float32))
        assert vectors.found.all()


def test_the_first_of_two_lines_for_one_word_stays(tmp_path: Path):
    vectors = load_vectors(written(tmp_path, b"a 1 2\na 3 4\n"), ["a"])
    assert vectors.matrix.tolist() == [[1.0, 2.0]]


def test_only_pieces_that_begin_a_word_are_looked_up(tmp_path: Path):
    vocabulary = ["<unk>", "</s>", "▁the", "the", "▁Haus", "▁", "▁absent", "42"]
    content = glove({**TABLE, "<unk>": [1.0, 1.0, 1.0]})
    vectors = load_vectors(written(tmp_path, content), vocabulary)
    assert vectors.found.tolist() == [False, False, True, False, True, False, False, False]
    assert vectors.looked_up.tolist() == [False, False, True, False, True, False, True, False]
    assert not vectors.matrix[~vectors.found].any()
    assert vectors.missing() == ["▁absent"]


def test_a_vocabulary_of_words_is_looked_up_whole(tmp_path: Path):
    vectors = load_vectors(written(tmp_path, glove(TABLE)), ["<unk>", "the", "42"])
    assert vectors.found.tolist() == [False, True, True]
    assert vectors.looked_up.all()


def test_words_with_blanks_as_in_the_largest_glove_file(tmp_path: Path):
    vectors = load_vectors(written(tmp_path, b"a 1 2\n. . . 3 4\nat name@domain 5 6\n"), [". . .", "at name@domain"])
    assert vectors.matrix.tolist() == [[3.0, 4.0], [5.0, 6.0]]


def test_the_report_says_how_many_and_which_are_missing(tmp_path: Path):
    path = written(tmp_path, "\n".join(f"w{number} 1 2" for number in range(2_000)).encode())
    words = [f"▁w{number}" for number in range(1_500)] + [f"▁x{number}" for number in range(400)] + ["ing"] * 100
    vectors = load_vectors(path, words)
    assert vectors.share == 0.75
    assert vectors.report() == (
        "found 1,500 of 2,000 pieces (75.0 %); 100 do not begin a word and were not looked up; "
        "missing, for example: ▁x0 ▁x1 ▁x2 ▁x3 ▁x4"
    )
    assert load_vectors(path, ["w1"]).report() == "found 1 of 1 pieces (100.0 %)"
    assert load_vectors(path, []).report() == "found 0 of 0 pieces (0.0 %)"


FAULTS = {
    "too few numbers": (
        b"a 1 2 3\nb 1 2\n",
        r"vectors:2: this vector has 2 numbers, but the others have 3\.",
    ),
    "too many numbers": (
        b"a 1 2 3\nb 1 2 3 4\n",
        r"vectors:2: this vector has 4 numbers, but the others have 3\.",
    ),
    "two blanks for a number": (b"a 1 2 3\nb 1  2\n", r"vectors:2: this vector has 2 numbers"),
    "too few after a header": (b"2 3\na 1 2\nb 1 2 3\n", r"vectors:2: this vector has 2 numbers"),
    "not a number": (b"a 1 2 3\nb 1 two 3\n", r"vectors:2: 'two' is not a number\."),
    "not a number after a header": (b"1 3\nb 1.5 two 3\n", r"vectors:2: 'two' is not a number\."),
    "infinite": (b"a 1 2 3\nb 1 inf 3\n", "vectors:2: .*infinite or not a number"),
    "too large": (b"a 1 2 3\nb 1 1e99 3\n", "vectors:2: .*infinite or not a number"),
    "not vectors at all": (b"{\n  'a': 1\n}\n", "vectors:1: this is not a word followed by numbers: '{'"),
    "prose": (
        b"It is a truth universally acknowledged\n",
        "vectors:1: this is not a word followed by numbers",
    ),
    "empty": (b"", "vectors: the file is empty"),
    "width 0": (b"5 0\n", "vectors:1: the header says that vectors have width 0"),
    "fewer words than promised": (b"3 2\na 1 2\nb 1 2\n", "promises 3 words, but the file has 2"),
    "only a header": (b"3 2\n", "promises 3 words, but the file has 0"),
    "binary, cut within a vector": (
        word2vec_binary({"a": [0.1, 0.2, 0.3], "b": [1, 2, 3]})[:-6],
        "at word 2 of the 2",
    ),
    "binary, cut within a word": (
        b"2 3\na " + struct.pack("<3f", 0.1, 0.2, 0.3) + b"\nb",
        "at word 2 of the 2",
    ),
    "binary, infinite": (word2vec_binary({"b": [0.1, float("nan"), 1]}), "vectors, word 1: .*not a number"),
}


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_file_and_line(fault: str, compressed: bool, tmp_path: Path):
    content, message = FAULTS[fault]
    path = written(tmp_path, gzip.compress(content) if compressed else content)
    with pytest.raises(ManyheadsError, match=message):
        load_vectors(path, ["b"])


def test_another_width_than_the_model_is_an_error_that_says_both(tmp_path: Path):
    for kind in FORMATS.values():
        with pytest.raises(ManyheadsError, match="the vectors have width 3, but the model has width 512"):
            load_vectors(written(tmp_path, kind(TABLE)), ["the"], width=512)


def test_a_damaged_or_missing_file_is_said_plainly(tmp_path: Path):
    whole = gzip.compress(os.urandom(50_000).hex().encode())
    with pytest.raises(ManyheadsError, match="damaged or cut short"):
        load_vectors(written(tmp_path, whole[:20_000]), ["a"])
    with pytest.raises(ManyheadsError, match="nowhere: cannot be read: No such file"):
        load_vectors(tmp_path / "nowhere", ["a"])
    with pytest.raises(ManyheadsError, match="cannot be read"):
        load_vectors(tmp_path, ["a"])


def test_a_large_file_needs_no_more_memory_than_its_rows(tmp_path: Path):
    # 60 MB of vectors; the process may not grow by a third of that.
    row = b" ".join(b"%.5f" % (number / 7) for number in range(100))
    with (tmp_path / "vectors").open("wb") as out:
        for number in range(75_000):
            out.write(b"w%d %s\n" % (number, row))
    code = (
        "import resource, sys\n"
        "from manyheads.exchange.vectors import load_vectors\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "found = load_vectors(sys.argv[1], ['w7', 'w74999']).found\n"
        "assert found.all()\n"
        "assert peak() - before < 20_000, peak() - before\n"
        "assert 'torch' not in sys.modules\n"
    )
    if sys.platform != "linux":
        pytest.skip("the unit of ru_maxrss is kilobytes on Linux only.")
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "vectors")], check=True)


def test_the_real_vectors():
    folder = os.environ.get("MANYHEADS_DATA")
    path = Path(folder or "") / "vectors" / "glove.wink-sg-100d.top40k.txt.gz"
    if not folder or not path.exists():
        pytest.skip("needs GloVe vectors: set MANYHEADS_DATA to a folder that has vectors/glove….txt.gz.")
    vectors = load_vectors(path, ["▁The", "▁the", "▁king", "▁queen", "▁cabbage", "ing", "▁Xqzzy"], width=100)
    assert vectors.found.tolist() == [True, True, True, True, True, False, False]
    np.testing.assert_array_equal(vectors.matrix[0], vectors.matrix[1])
    unit = vectors.matrix[:5] / np.linalg.norm(vectors.matrix[:5], axis=1, keepdims=True)
    assert unit[2] @ unit[3] > unit[2] @ unit[4] + 0.2  # a king is nearer to a queen than to a cabbage
