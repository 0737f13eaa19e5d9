"""The token ids of a running text on disk: built once, keyed by content, memory-mapped for training."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from manyheads.data.batches.cache import cache_folder, new_store, stored_facts, write_facts
from manyheads.data.text.fingerprints import Fingerprints
from manyheads.data.tokens.running_text import LINE_BREAK
from manyheads.data.tokens.tokenizers import Tokenizer
from manyheads.errors import ManyheadsError

VERSION = 2  # of the format; part of the key
LINES = 10_000  # tokenised at once
IDS = "text.ids"


def text_lines(files: Sequence[Path], fingerprints: Fingerprints | None = None) -> Iterator[str]:
    """Yield the lines of files as if they were one, without their line breaks."""
    known = fingerprints or Fingerprints()
    for file in files:
        yield from known.lines(file)


def open_text(
    files: Sequence[Path], tokenizer: Tokenizer, *, threads: int = 1, fingerprints: Fingerprints | None = None
) -> NDArray[np.uint32]:
    """Return the ids [N] of a text, built the first time and cached; a line break follows each line."""
    known = fingerprints or Fingerprints()
    key = hashlib.sha256(f"text {VERSION} {known.of(files)}".encode() + tokenizer.model).hexdigest()[:32]
    folder = cache_folder() / "text" / key
    if stored_facts(folder) is None:
        with new_store(folder) as draft:
            with (draft / IDS).open("wb") as file:
                for ids in _chunks(text_lines(files, known), tokenizer, threads):
                    file.write(np.array(ids, dtype=np.uint32).tobytes())
            write_facts(draft, {"version": VERSION, "origin": str(files[0])})
    if (folder / IDS).stat().st_size == 0:
        raise ManyheadsError("this file is empty: there is nothing to learn from.", where=str(files[0]))
    return np.memmap(folder / IDS, dtype=np.uint32, mode="r")


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
