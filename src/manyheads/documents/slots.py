"""What formats share: slots, which translations replace, one for each segment; and units of several segments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

from manyheads.documents.interface import Filling, Segment, Styled
from manyheads.documents.splices import Splice, spliced
from manyheads.errors import ManyheadsError

MOST_SEGMENTS = 500_000


class Unit(Protocol):
    """A part of a document that has several segments, such as the plural forms of a text."""

    @property
    def segments(self) -> Sequence[Segment]:
        """The texts to translate."""
        ...


AnyUnit = TypeVar("AnyUnit", bound=Unit)


def by_unit(
    units: Sequence[AnyUnit], translations: Sequence[Styled | None]
) -> Iterator[tuple[AnyUnit, list[Styled | None]]]:
    """Yield each unit with the translations of its segments."""
    there, needed = len(translations), sum(len(unit.segments) for unit in units)
    if there != needed:
        raise ValueError(f"there are {there} translations for {needed} segments")
    remaining = iter(translations)
    return ((unit, [next(remaining) for _ in unit.segments]) for unit in units)


class Slot(NamedTuple):
    """A segment, the part `whole[start:end]` for its translation, what stands there, and how another is written."""

    segment: Segment
    start: int
    end: int
    current: Styled | None
    write: Callable[[Styled], str]


def limited(slots: Iterable[Slot]) -> tuple[Slot, ...]:
    """Return slots, of which a document has at most `MOST_SEGMENTS`: each takes half a kilobyte of memory."""
    kept: list[Slot] = []
    for slot in slots:
        if len(kept) == MOST_SEGMENTS:
            raise ManyheadsError(
                f"this document has more than {MOST_SEGMENTS:,} texts.",
                where=f"line {slot.segment.line}",
                cure="Divide it into several files.",
            )
        kept.append(slot)
    return tuple(kept)


@dataclass(frozen=True)
class SlotDocument:
    """A document of slots."""

    whole: str
    slots: tuple[Slot, ...]
    languages: tuple[str | None, str | None] = (None, None)

    @property
    def segments(self) -> Sequence[Segment]:
        """The texts to translate."""
        return [slot.segment for slot in self.slots]

    def fill(self, translations: Sequence[Styled | None], filling: Filling) -> str:
        """Return the document with the translations in their slots; such a format marks none as to be checked."""
        pairs = zip(self.slots, translations, strict=True)
        return spliced(
            self.whole,
            (
                Splice(slot.start, slot.end, slot.write(translation))
                for slot, translation in pairs
                if translation is not None and translation != slot.current
            ),
        )
