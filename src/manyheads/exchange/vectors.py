"""Pretrained word vectors (Word2Vec, GloVe) for the rows of an embedding.

Three formats are read, each plain or gzip-compressed. They are recognised by their content, not by the file name:

| format | content |
|---|---|
| GloVe text | `word v1 … vD` per line |
| word2vec text (also fastText's `.vec`) | a first line `count width`, then lines as in GloVe |
| word2vec binary | a first line `count width`, then for each word the word, a space, and D float32 numbers |

The file is streamed, and only vectors of words in the vocabulary are kept. So a file of many gigabytes needs no more
memory than the embedding itself.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from manyheads.bounded.files import require_regular
from manyheads.errors import ManyheadsError

WORD_START = "▁"  # SentencePiece's marker for the beginning of a word
_LOWER_CASED, _EXACT = 1, 2  # how well a word of the file matches a row; the better match is kept
_LONGEST_LINE = 1 << 20
_LONGEST_WORD = 1 << 16
_WIDEST = 1 << 16

Entry = tuple[int, bytes, bytes]  # line (or number, in a binary file), word, and its numbers, not yet parsed


@dataclass(frozen=True)
class Vectors:
    """The vectors that a file has for the pieces of a vocabulary."""

    matrix: NDArray[np.float32]
    """[V, D]: the vector of each piece; zeros where the file has none."""
    found: NDArray[np.bool_]
    """[V]: whether the file has a vector for the piece."""
    looked_up: NDArray[np.bool_]
    """[V]: whether the piece was looked up; a subword that does not begin a word is not."""
    vocabulary: tuple[str, ...]

    @property
    def share(self) -> float:
        """The fraction of the vocabulary that was found, from 0 to 1."""
        return float(self.found.mean()) if len(self.found) else 0.0

    def missing(self, limit: int | None = None) -> list[str]:
        """Return the pieces that were looked up and not found, in the order of the vocabulary."""
        rows = np.flatnonzero(self.looked_up & ~self.found)[:limit]
        return [self.vocabulary[row] for row in rows]

    def report(self) -> str:
        """Return one sentence for the user: how many pieces were found, and examples of missing ones."""
        count = int(self.found.sum())
        text = f"found {count:,} of {len(self.vocabulary):,} pieces ({100 * self.share:.1f} %)"
        if within := int((~self.looked_up).sum()):
            text += f"; {within:,} do not begin a word and were not looked up"
        if examples := self.missing(5):
            text += f"; missing, for example: {' '.join(examples)}"
        return text


def load_vectors(path: Path | str, vocabulary: Sequence[str], *, width: int | None = None) -> Vectors:
    """Read the vectors of a vocabulary from a Word2Vec or GloVe file; row i belongs to the piece with id i.

    A piece is looked up as it is, then in lower case. If the vocabulary is SentencePiece's (some piece begins with
    `▁`), only pieces that begin a word are looked up, without the marker. `width` is the width of the model; a file of
    another width is an error.
    """
    path = Path(path)
    with _readable(path):
        require_regular(path)
        layout = _detect(path)
        if width is not None and layout.width != width:
            raise ManyheadsError(
                f"the vectors have width {layout.width}, but the model has width {width}.",
                where=str(path),
                cure=f"Give the model width {layout.width}, or take vectors of width {width}.",
            )
        table = _VectorTable(vocabulary, layout.width)
        with _open(path) as stream:
            entries = _binary_entries if layout.binary else _text_entries
            for number, word, raw in entries(stream, layout, path):
                if rows := table.rows(word):
                    table.fill(rows, _parse(raw, layout, path, number))
    return Vectors(table.matrix, table.match > 0, table.looked_up, tuple(vocabulary))


class _VectorTable:
    """The rows to fill. An exact match replaces a lower-case match; of two equal matches, the first one is kept."""

    def __init__(self, vocabulary: Sequence[str], width: int) -> None:
        self.matrix = np.zeros((len(vocabulary), width), dtype=np.float32)
        self.match = np.zeros(len(vocabulary), dtype=np.int8)
        self.looked_up = np.zeros(len(vocabulary), dtype=np.bool_)
        self._by_word: dict[bytes, list[tuple[int, int]]] = {}
        subwords = any(piece.startswith(WORD_START) for piece in vocabulary)
        for row, piece in enumerate(vocabulary):
            word = piece.removeprefix(WORD_START)
            if not word or (subwords and not piece.startswith(WORD_START)):
                continue
            self.looked_up[row] = True
            self._add(word, row, _EXACT)
            if word.lower() != word:
                self._add(word.lower(), row, _LOWER_CASED)

    def _add(self, word: str, row: int, match: int) -> None:
        """Add a row to fill with the vector of a word."""
        # Keys are bytes, because decoding every word of a large file would cost more than looking it up.
        self._by_word.setdefault(word.encode("utf-8", "surrogatepass"), []).append((row, match))

    def rows(self, word: bytes) -> list[tuple[int, int]]:
        """Return the rows, each with its match, for which this word is a better match than their current one."""
        return [(row, match) for row, match in self._by_word.get(word, ()) if match > self.match[row]]

    def fill(self, rows: list[tuple[int, int]], vector: NDArray[np.float32]) -> None:
        """Write a vector [D] into rows that `rows` returned."""
        for row, match in rows:
            self.matrix[row] = vector
            self.match[row] = match


@dataclass(frozen=True)
class _Layout:
    """The layout of a file, detected from its beginning."""

    width: int
    binary: bool
    words: int | None  # from the header; None without a header


def _detect(path: Path) -> _Layout:
    """Detect the layout of a file from its first line."""
    with _open(path) as stream:
        first = stream.readline(_LONGEST_LINE)
        if not first:
            raise ManyheadsError("the file is empty.", where=str(path), cure="Download it again.")
        fields = first.split()
        if len(fields) == 2 and all(field.isdigit() and len(field) < 19 for field in fields):
            words, width = int(fields[0]), int(fields[1])
            if not 0 < width <= _WIDEST:
                raise ManyheadsError(f"the header says that vectors have width {width:,}.", where=f"{path}:1")
            return _Layout(width, _is_binary(stream.read(4096 + 64 * width), width), words)
    numbers = fields[1:]
    if not numbers or not all(_is_number(field) for field in numbers):
        raise ManyheadsError(
            f"this is not a word followed by numbers: {_shown(first)}.",
            where=f"{path}:1",
            cure="Give a file of word vectors: word2vec (text or binary) or GloVe (text).",
        )
    return _Layout(len(numbers), binary=False, words=None)


def _is_binary(beginning: bytes, width: int) -> bool:
    """Return whether the data after the header is float32 numbers: bytes that no line of text would have."""
    _, _, after_word = beginning.partition(b" ")
    line, newline, _ = after_word.partition(b"\n")
    if line.strip() and all(_is_number(field) for field in line.split()):
        return False
    # As text, D numbers take at least 2·D − 1 bytes, so a newline before that is a byte of a float32.
    ends_early = bool(newline) and len(line) < 2 * width - 1
    printable = all(32 <= byte < 127 or byte in b"\t\r" for byte in line)
    return ends_early or not printable


def _text_entries(stream: io.BufferedReader, layout: _Layout, path: Path) -> Iterator[Entry]:
    """Yield the entries of a text file."""
    words, start = 0, 1
    if layout.words is not None:
        stream.readline()
        start = 2
    lines = iter(lambda: stream.readline(_LONGEST_LINE), b"")
    for number, raw in enumerate(lines, start=start):
        if len(raw) == _LONGEST_LINE:
            raise ManyheadsError("this line is too long for a word and its vector.", where=f"{path}:{number}")
        line = raw.strip()
        if line:
            words += 1
            yield number, *_split(line, layout.width, path, number)
    if layout.words is not None and words != layout.words:
        raise ManyheadsError(
            f"the header promises {layout.words:,} words, but the file has {words:,}.",
            where=str(path),
            cure="The file may be cut short; download it again.",
        )


def _split(line: bytes, width: int, path: Path, number: int) -> tuple[bytes, bytes]:
    """Return the word and its numbers as text. Parsing is the slowest part, and most words are not needed."""
    if line.count(b" ") == width and b"\t" not in line:
        word, _, numbers = line.partition(b" ")
        return word, numbers
    fields = line.split()
    # GloVe's largest file has words with spaces in them ('. . .'); a number before the last D is not a word.
    if len(fields) <= width or (len(fields) > width + 1 and _is_number(fields[-width - 1])):
        raise _wrong_length(len(fields) - 1, width, path, number)
    return b" ".join(fields[:-width]), b" ".join(fields[-width:])


def _wrong_length(given: int, width: int, path: Path, number: int) -> ManyheadsError:
    """Return the error for a vector of another length than the first."""
    return ManyheadsError(
        f"this vector has {given} numbers, but the others have {width}.",
        where=f"{path}:{number}",
        cure="The line may be cut short, or run into the next one; download the file again.",
    )


def _binary_entries(stream: io.BufferedReader, layout: _Layout, path: Path) -> Iterator[Entry]:
    """Yield the entries of a binary file."""
    stream.readline()
    words, size = layout.words or 0, 4 * layout.width
    for number in range(1, words + 1):
        word = _binary_word(stream)
        values = stream.read(size) if word is not None else b""
        if word is None or len(values) < size:
            raise ManyheadsError(
                f"the file is cut short at word {number:,} of the {words:,} that its header promises.",
                where=str(path),
                cure="Download it again.",
            )
        yield number, word, values


def _binary_word(stream: io.BufferedReader) -> bytes | None:
    """Read up to the space that ends a word; None if there is no space."""
    word = b""
    while (ahead := stream.peek(64)) and len(word) < _LONGEST_WORD:
        blank = ahead.find(b" ")
        word += stream.read(blank + 1 if blank >= 0 else len(ahead))
        if blank >= 0:
            # The original program ends each vector with a newline, others do not.
            return word[:-1].lstrip(b"\n")
    return None


def _parse(raw: bytes, layout: _Layout, path: Path, number: int) -> NDArray[np.float32]:
    """Return the numbers of an entry as a vector [D]."""
    if layout.binary:
        return _finite(np.frombuffer(raw, dtype="<f4"), f"{path}, word {number}")
    fields = raw.split()
    if len(fields) != layout.width:
        raise _wrong_length(len(fields), layout.width, path, number)
    for field in fields:
        if not _is_number(field):
            raise ManyheadsError(f"{_shown(field)} is not a number.", where=f"{path}:{number}")
    return _finite(np.array([float(field) for field in fields]), f"{path}:{number}")


def _finite(values: NDArray[np.floating], where: str) -> NDArray[np.float32]:
    """Return numbers as float32; raise an error if one is infinite or not a number."""
    with np.errstate(over="ignore"):
        vector = values.astype(np.float32)
    if not np.isfinite(vector).all():
        # A single one would turn the whole model into NaN at the first step.
        raise ManyheadsError("this vector holds a number that is infinite or not a number.", where=where)
    return vector


def _is_number(field: bytes) -> bool:
    """Return whether a field can be read as a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def _shown(text: bytes) -> str:
    """Return the beginning of a text in quotes, for an error message."""
    shown = text.decode("utf-8", "replace").strip()
    return f"'{shown[:40]}…'" if len(shown) > 40 else f"'{shown}'"


def _open(path: Path) -> io.BufferedReader:
    """Open the file; decompress it if its first bytes are those of gzip."""
    with path.open("rb") as stream:
        compressed = stream.read(2) == b"\x1f\x8b"
    if compressed:
        return io.BufferedReader(cast(io.RawIOBase, gzip.open(path, "rb")))
    return path.open("rb")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Raise a `ManyheadsError` for a missing or damaged file."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ManyheadsError(
            f"the compressed file is damaged or cut short ({error}).",
            where=str(path),
            cure="Download it again.",
        ) from error
    except OSError as error:
        raise ManyheadsError(f"cannot be read: {error.strerror or error}.", where=str(path)) from error
