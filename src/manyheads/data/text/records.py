"""What corpora and generated tasks are made of: a pair of texts to translate, or an example to label or to answer."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Pair(NamedTuple):
    """One training example: a source text and the target text it should become."""

    source: str
    target: str


class Example(NamedTuple):
    """A text with its label; or a question with a context, the answer, and where it starts in the context.

    `second` is the second text of a pair, and of a question its context. `start` counts characters from 0.
    """

    text: str
    answer: str = ""
    second: str | None = None
    start: int | None = None

    @property
    def source(self) -> str:
        """What is given, as one text."""
        return self.text if self.second is None else f"{self.text}\t{self.second}"

    @property
    def given(self) -> str | tuple[str, str]:
        """What a tokenizer gets: a text or a pair."""
        return self.text if self.second is None else (self.text, self.second)


def write_columns(file: Path, pairs: Iterable[Pair]) -> None:
    """Write pairs as two columns of a .tsv.gz; the same pairs always give the same bytes."""
    text = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)
    file.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
