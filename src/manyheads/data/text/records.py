"""The items of corpora and generated tasks: a pair of texts, or an example with a label or an answer."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Pair(NamedTuple):
    """One training example: a source text and its target text."""

    source: str
    target: str


class Example(NamedTuple):
    """A text with its label; or a question with its context, its answer, and the start of the answer in the context.

    `second` is the second text of a pair, or the context of a question. `start` is counted in characters from 0.
    """

    text: str
    answer: str = ""
    second: str | None = None
    start: int | None = None

    @property
    def source(self) -> str:
        """The input as one text."""
        return self.text if self.second is None else f"{self.text}\t{self.second}"

    @property
    def given(self) -> str | tuple[str, str]:
        """The input of a tokenizer: a text or a pair of texts."""
        return self.text if self.second is None else (self.text, self.second)


def write_columns(file: Path, pairs: Iterable[Pair]) -> None:
    """Write pairs as two columns of a .tsv.gz; the same pairs always give the same bytes."""
    text = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)
    file.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
