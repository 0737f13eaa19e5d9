"""TMX, a translation memory, as a document: each unit gets the text of the language where it has none.

The source is the text in the language that the unit or the header names (`srclang`), or the first in another language
than the one translated into. Texts are added behind the others of their unit. TMX has no mark for what is unsure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from manyheads.documents.interface import Filling, Segment, Styled
from manyheads.documents.splices import Splice, spliced
from manyheads.documents.xml_inline import as_xml, indentation, styled
from manyheads.documents.xml_places import Element, read_xml
from manyheads.errors import ManyheadsError

NAME = "Name the language to translate into."


class _Place(NamedTuple):
    """Where a translation goes."""

    segment: Segment
    last: Element  # of the texts of the unit
    target: Element | None  # the `seg` of the translation
    current: Styled | None


@dataclass(frozen=True)
class TmxDocument:
    """A translation memory."""

    whole: str
    places: tuple[_Place, ...]
    languages: tuple[str | None, str | None]

    @property
    def segments(self) -> Sequence[Segment]:
        """The texts to translate."""
        return [place.segment for place in self.places]

    def fill(self, translations: Sequence[Styled | None], filling: Filling) -> str:
        """Return the memory with the translations in it."""
        pairs = zip(self.places, translations, strict=True)
        return spliced(
            self.whole,
            [
                self._splice(place, translation, filling.language or self.languages[1] or "")
                for place, translation in pairs
                if translation is not None and translation != place.current
            ],
        )

    def _splice(self, place: _Place, translation: Styled, language: str) -> Splice:
        """Return what changes where a translation is filled in."""
        content, target = as_xml(translation), place.target
        if target is None:
            written = f"<tuv xml:lang={quoteattr(language)}><seg>{content}</seg></tuv>"
            return Splice(place.last.end, place.last.end, indentation(self.whole, place.last) + written)
        if target.is_empty_tag:
            return Splice(target.start, target.end, f"<{target.name}>{content}</{target.name}>")
        return Splice(target.content_start, target.content_end, content)


def read_tmx(text: str, *, language: str | None) -> TmxDocument:
    """Return a translation memory as a document that is translated into a language."""
    root = read_xml(text)
    parts = {child.local_name: child for child in root.elements}
    if root.local_name != "tmx" or "body" not in parts:
        raise ManyheadsError(
            f"this XML is not TMX: its outermost element is <{root.name[:40]}>, and TMX has <tmx> with a <body>.",
            where=f"line {root.line}",
        )
    header = parts["header"].attributes.get("srclang", "*all*") if "header" in parts else "*all*"
    units = [element for element in parts["body"].elements if element.local_name == "tu"]
    wanted = language or _other_language(units, header)
    places = [place for unit in units for place in _places(text, unit, header, wanted)]
    return TmxDocument(text, tuple(places), (None if header == "*all*" else header, wanted))


def _other_language(units: Sequence[Element], header: str) -> str:
    """Return the language of a memory beside its source language."""
    for unit in units:
        codes = [_code(text) for text in unit.elements if text.local_name == "tuv"]
        others = [code for code in codes if not _is_same(code, header)]
        if header != "*all*" and others:
            return others[0]
    raise ManyheadsError("this translation memory has one language, or does not name its source language.", cure=NAME)


def _places(whole: str, unit: Element, header: str, language: str) -> Iterator[_Place]:
    """Yield the place of a unit, or nothing if it has no text to translate."""
    texts = [child for child in unit.elements if child.local_name == "tuv"]
    named = unit.attributes.get("srclang", header)
    if named == "*all*":
        chosen = next((text for text in texts if not _is_same(_code(text), language)), None)
    else:
        chosen = _in_language(texts, named)
    target = _in_language([text for text in texts if text is not chosen], language)
    source = _seg(chosen) if chosen is not None else None
    if source is None or not source.text().strip():
        return
    written = _seg(target) if target is not None else None
    current = styled(whole, written) if written is not None else None
    if target is not None and written is None:
        raise ManyheadsError("a <tuv> has no <seg>.", where=f"line {target.line}", cure="Add one, or remove the <tuv>.")
    segment = Segment(
        styled(whole, source),
        current if current is not None and (current.text.strip() or current.tags) else None,
        line=source.line,
        key=unit.attributes.get("tuid", ""),
        notes="\n".join(child.text() for child in unit.elements if child.local_name == "note"),
    )
    yield _Place(segment, texts[-1], written, current)


def _in_language(texts: Sequence[Element], language: str) -> Element | None:
    """Return the first text in a language: in exactly this one, otherwise in that of another region."""
    exact = (text for text in texts if _code(text).lower() == language.replace("_", "-").lower())
    same = (text for text in texts if _is_same(_code(text), language))
    return next(exact, None) or next(same, None)


def _code(text: Element) -> str:
    """Return the language of a text, with hyphens."""
    return (text.attributes.get("xml:lang") or text.attributes.get("lang", "")).replace("_", "-")


def _is_same(first: str, second: str) -> bool:
    """Return whether two codes name the same language, of any region."""
    return first.lower().split("-")[0] == second.replace("_", "-").lower().split("-")[0]


def _seg(text: Element) -> Element | None:
    """Return the element with the text itself."""
    return next((child for child in text.elements if child.local_name == "seg"), None)
