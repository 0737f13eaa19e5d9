"""Texts of a request, and their sentences; everything between sentences is kept as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from manyheads.documents.split_text import SplitText


class Document(Protocol):
    """A text whose sentences can be replaced."""

    @property
    def sentences(self) -> list[str]:
        """The sentences in order."""
        ...

    def fill(self, translations: Sequence[str], language: str | None) -> str:
        """Return the text with each sentence replaced by its translation into a language."""
        ...


class Text(Protocol):
    """A text of a request, plain or HTML."""

    @property
    def plain(self) -> str:
        """The text without markup."""
        ...

    def split(self, split: Callable[[str], SplitText]) -> Document:
        """Return the text with its sentences, which a function finds."""
        ...


@dataclass(frozen=True)
class PlainText:
    """A text without markup."""

    plain: str

    def split(self, split: Callable[[str], SplitText]) -> Document:
        """Return the text with its sentences."""
        return split(self.plain)
