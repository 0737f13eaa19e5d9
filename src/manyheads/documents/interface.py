"""What a document gives and takes: its segments, and the whole again with translations filled in.

A document is its text and the places in it that hold something to translate. Filling it replaces these places and
nothing else. So whatever else a format may hold (comments, order, spacing, line ends) stays as it is, byte for byte,
whether this code knows it or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from manyheads.documents.format_strings import NO_RULES, Rules

TagKind = Literal["open", "close", "atom"]
"""An atom stands alone: `<br>`, a comment, an element whose content is not translated."""


class Tag(NamedTuple):
    """An inline tag as it is written, at an offset of the text without tags."""

    offset: int
    kind: TagKind
    raw: str


@dataclass(frozen=True)
class Styled:
    """A text as a reader sees it, with the inline tags in it, in order."""

    text: str
    tags: tuple[Tag, ...] = ()

    def written(self, escape: Callable[[str], str]) -> str:
        """Return the text as a format escapes it, with the tags as they are written."""
        parts, done = [], 0
        for tag in self.tags:
            parts += [escape(self.text[done : tag.offset]), tag.raw]
            done = tag.offset
        return "".join([*parts, escape(self.text[done:])])


@dataclass(frozen=True)
class Segment:
    """A text of a document that is translated by itself.

    Args:
        source: The text to translate, escapes decoded.
        target: The translation that the document has already; None where it has none.
        line: The line of the file, from 1.
        key: How the document names the text: its key, its id, its context.
        notes: What the document says to translators.
        is_unsure: The document marks its translation as one to check (fuzzy, needs-review).
        rules: What holds for its translation, besides that it has the placeholders of the source.
    """

    source: Styled
    target: Styled | None = None
    line: int = 1
    key: str = ""
    notes: str = ""
    is_unsure: bool = False
    rules: Rules = NO_RULES


@dataclass(frozen=True)
class Filling:
    """How a document is filled: the language of the translations, and whether new ones are marked as to be checked."""

    language: str | None = None
    mark_unsure: bool = False


class Document(Protocol):
    """A document that was read."""

    @property
    def segments(self) -> Sequence[Segment]:
        """The texts to translate, in the order of the document."""
        ...

    @property
    def languages(self) -> tuple[str | None, str | None]:
        """The source and the target language that the document names; None where it names none."""
        ...

    def fill(self, translations: Sequence[Styled | None], filling: Filling) -> str:
        """Return the document with the translation of each segment; None leaves a segment as it is.

        A translation that equals what stands there changes nothing, so a document that is filled with its own texts
        is the same to the last character.
        """
        ...
