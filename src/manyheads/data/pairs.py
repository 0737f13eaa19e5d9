"""A pair of texts, which is what every corpus and every generated task is made of."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Pair(NamedTuple):
    """One training example: a source text and the target text it should become."""

    source: str
    target: str


def write_columns(file: Path, pairs: Iterable[Pair]) -> None:
    """Write pairs as two columns of a .tsv.gz; the same pairs always give the same bytes."""
    text = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)
    file.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
