"""The real catalogues that documents are tested with, and changes that stand for translations."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from manyheads.documents.interface import Document, Filling, Styled


def real_texts(pattern: str) -> dict[str, str]:
    """Return the text of each real catalogue whose name matches, by its name."""
    folder = os.environ.get("MANYHEADS_DATA")
    paths = sorted((Path(folder or "") / "catalogues").glob(pattern)) if folder else []
    if not paths:
        pytest.skip(f"needs real catalogues: set MANYHEADS_DATA to a folder that has catalogues/{pattern}.")
    return {path.name: _content(path).decode("utf-8") for path in paths}


def _content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def upper(content: Styled) -> Styled:
    """Stand for a translation of the same length."""
    same = (character if len(character.upper()) != 1 else character.upper() for character in content.text)
    return Styled("".join(same), content.tags)


def unchanged(document: Document, language: str | None = "de") -> set[str]:
    """Return what a document becomes under its own texts, in every way in which they can be given."""
    nothing = [None for _ in document.segments]
    own = [segment.target for segment in document.segments]
    return {document.fill(given, Filling(language)) for given in (nothing, own)}


def translated(document: Document, filling: Filling | None = None) -> str:
    """Return a document with every text in upper case."""
    return document.fill([upper(segment.source) for segment in document.segments], filling or Filling("de"))
