"""The token ids of a running text on disk: built once, keyed by content, memory-mapped for training."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from manyheads.data.batches.store import cache_folder
from manyheads.data.text.files import read_lines
from manyheads.data.text.fingerprints import Fingerprints
from manyheads.data.tokens.running_text import LINE_BREAK
from manyheads.data.tokens.tokenizers import Tokenizer
from manyheads.errors import ManyheadsError

LINES = 10_000  # tokenised at once


def text_lines(files: Sequence[Path]) -> Iterator[str]:
    """Yield the lines of files as if they were one, without their line breaks."""
    for file in files:
        yield from read_lines(file)


def open_text(files: Sequence[Path], tokenizer: Tokenizer, *, threads: int = 1) -> NDArray[np.uint32]:
    """Return the ids [N] of a text, built the first time and cached; a line break follows each line."""
    key = hashlib.sha256(f"text {Fingerprints().of(files)}".encode() + tokenizer.model).hexdigest()[:32]
    place = cache_folder() / "text" / f"{key}.ids"
    if not place.exists():
        _write(place, _chunks(text_lines(files), tokenizer, threads))
    if place.stat().st_size == 0:
        raise ManyheadsError("this file is empty: there is nothing to learn from.", where=str(files[0]))
    return np.memmap(place, dtype=np.uint32, mode="r")


def _write(place: Path, chunks: Iterator[list[int]]) -> None:
    """Write ids to a temporary file and rename it when it is complete."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".", delete=False) as draft:
            try:
                for ids in chunks:
                    draft.write(np.array(ids, dtype=np.uint32).tobytes())
                draft.close()
                Path(draft.name).replace(place)
            finally:
                Path(draft.name).unlink(missing_ok=True)
    except OSError as error:
        raise ManyheadsError(
            f"the token store cannot be written: {error.strerror or error}.",
            where=str(place.parent),
            cure="Make room, or point MANYHEADS_CACHE at another disk.",
        ) from None


def _chunks(lines: Iterator[str], tokenizer: Tokenizer, threads: int) -> Iterator[list[int]]:
    """Yield the ids of several lines at a time."""
    chunk: list[str] = []
    for line in lines:
        chunk.append(f"{line}{LINE_BREAK}")
        if len(chunk) == LINES:
            yield [token for row in tokenizer.encode_all(chunk, threads=threads) for token in row]
            chunk = []
    if chunk:
        yield [token for row in tokenizer.encode_all(chunk, threads=threads) for token in row]
