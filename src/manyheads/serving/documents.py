"""Texts of a request, and their sentences; everything between sentences is kept as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from manyheads.documents.split_text import SplitText
from manyheads.documents.tag_alignment import Link


class Output(NamedTuple):
    """The translation of a sentence, and the words that are aligned; None where that is unknown."""

    text: str
    links: Sequence[Link] | None = None


class Document(Protocol):
    """A text whose sentences can be replaced."""

    @property
    def sentences(self) -> list[str]:
        """The sentences in order."""
        ...

    @property
    def have_tags_within(self) -> list[bool]:
        """Whether each sentence has a tag in it, which the alignment of its words puts into the translation."""
        ...

    def fill(self, outputs: Sequence[Output], language: str | None) -> str:
        """Return the text with each sentence replaced by its translation into a language."""
        ...


class Text(Protocol):
    """A text of a request, plain or HTML."""

    @property
    def plain(self) -> str:
        """The text without markup."""
        ...

    def changed(self, change: Callable[[str], str]) -> Text:
        """Return the text changed by a function, if it has no markup."""
        ...

    def split(self, split: Callable[[str], SplitText]) -> Document:
        """Return the text with its sentences, which a function finds."""
        ...


@dataclass(frozen=True)
class PlainText:
    """A text without markup."""

    plain: str

    def changed(self, change: Callable[[str], str]) -> PlainText:
        """Return the text changed by a function."""
        return PlainText(change(self.plain))

    def split(self, split: Callable[[str], SplitText]) -> SplitPlainText:
        """Return the text with its sentences."""
        return SplitPlainText(split(self.plain))


@dataclass(frozen=True)
class SplitPlainText:
    """The sentences of a text without markup."""

    parts: SplitText

    @property
    def sentences(self) -> list[str]:
        """The sentences in order."""
        return self.parts.sentences

    @property
    def have_tags_within(self) -> list[bool]:
        """There are no tags."""
        return [False] * len(self.parts.sentences)

    def fill(self, outputs: Sequence[Output], language: str | None) -> str:
        """Return the text with each sentence replaced by its translation."""
        return self.parts.fill([one.text for one in outputs], language)
