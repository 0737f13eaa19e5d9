"""Texts as they are sent, and with their sentences found: what is between these stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from manyheads.decoding.text.sentences import SplitText


class Document(Protocol):
    """A text whose sentences can be replaced."""

    @property
    def sentences(self) -> list[str]:
        """The sentences in their order."""
        ...

    def fill(self, translations: Sequence[str], language: str | None) -> str:
        """Return the text with a translation into a language in the place of each sentence."""
        ...


class Text(Protocol):
    """A text as it was sent, plain or marked up."""

    @property
    def plain(self) -> str:
        """What there is to read."""
        ...

    def taken_apart(self, outline: Callable[[str], SplitText]) -> Document:
        """Return it with its sentences, which a function finds."""
        ...


@dataclass(frozen=True)
class PlainText:
    """A text without markup."""

    plain: str

    def taken_apart(self, outline: Callable[[str], SplitText]) -> Document:
        """Return its sentences."""
        return outline(self.plain)
