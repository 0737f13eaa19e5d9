"""XLIFF 1.2 and 2.x: translations are written into `target`, all else stays.

A unit of 1.2 is translated already if it has a target that is not `new` or `needs-translation`, and a segment of 2.x if
it has one that is not `initial`; targets that need a review or an adaptation are unsure. What is filled in is
`translated`, or in 1.2, where asked, `needs-review-translation` (in 2.x, `translated` says that a review is to come). A
target that is missing is put behind the source, and the target language into a file that names none. What has
`translate="no"` is no segment. Proposals (`alt-trans`, matches) and notes stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from manyheads.documents.interface import Filling, Segment, Styled
from manyheads.documents.splices import Splice, spliced
from manyheads.documents.xml_inline import as_xml, indentation, styled, with_attribute
from manyheads.documents.xml_places import Element, read_xml
from manyheads.errors import ManyheadsError

_UNTRANSLATED = frozenset({"new", "needs-translation", "initial"})


class _Version(NamedTuple):
    """How a version of XLIFF names things."""

    unit: str
    source_language: str
    target_language: str


_FIRST = _Version("trans-unit", "source-language", "target-language")
_SECOND = _Version("unit", "srcLang", "trgLang")


class _Place(NamedTuple):
    """Where a translation goes."""

    segment: Segment
    state: Element | None  # the element with the state; None if it is a target that is missing
    source: Element  # what the target stands behind
    target: Element | None
    current: Styled | None


@dataclass(frozen=True)
class XliffDocument:
    """A document in XLIFF."""

    whole: str
    places: tuple[_Place, ...]
    heads: tuple[Element, ...]  # the elements that name the languages
    version: _Version

    @property
    def segments(self) -> Sequence[Segment]:
        """The texts to translate."""
        return [place.segment for place in self.places]

    @property
    def languages(self) -> tuple[str | None, str | None]:
        """The languages that the first file names."""
        attributes = self.heads[0].attributes if self.heads else {}
        return attributes.get(self.version.source_language), attributes.get(self.version.target_language)

    def fill(self, translations: Sequence[Styled | None], filling: Filling) -> str:
        """Return the document with the translations in its targets."""
        filled = [
            (place, translation)
            for place, translation in zip(self.places, translations, strict=True)
            if translation is not None and translation != place.current
        ]
        splices = [splice for place, translation in filled for splice in self._splices(place, translation, filling)]
        return spliced(self.whole, [*splices, *(self._named(filling.language) if filled else ())])

    def _splices(self, place: _Place, translation: Styled, filling: Filling) -> Iterator[Splice]:
        """Yield what changes where a translation is filled in."""
        is_first = self.version is _FIRST
        state = "needs-review-translation" if is_first and filling.mark_unsure else "translated"
        content, target = as_xml(translation), place.target
        if target is None:
            name = place.source.name.replace(place.source.local_name, "target")
            tag = with_attribute(f"<{name}>", "state", state) if is_first else f"<{name}>"
            written = f"{indentation(self.whole, place.source)}{tag}{content}</{name}>"
            yield Splice(place.source.end, place.source.end, written)
        else:
            tag = self.whole[target.start : target.content_start]
            if is_first and ("state" in target.attributes or filling.mark_unsure):
                tag = with_attribute(tag, "state", state)
            if target.is_empty_tag:
                yield Splice(target.start, target.end, f"{tag[:-2].rstrip()}>{content}</{target.name}>")
            else:
                yield Splice(target.start, target.content_end, tag + content)
        if place.state is not None and place.state is not target:
            yield self._changed(place.state, "state", state)

    def _named(self, language: str | None) -> Iterator[Splice]:
        """Yield the target language, for each file that names none."""
        name = self.version.target_language
        for head in self.heads:
            if language and not head.attributes.get(name):
                yield self._changed(head, name, language)

    def _changed(self, element: Element, name: str, value: str) -> Splice:
        """Return the change of an attribute."""
        tag = self.whole[element.start : element.content_start]
        return Splice(element.start, element.content_start, with_attribute(tag, name, value))


def read_xliff(text: str, *, language: str | None) -> XliffDocument:
    """Return XLIFF as a document."""
    root = read_xml(text)
    if root.local_name != "xliff":
        raise ManyheadsError(
            f"this XML is not XLIFF: its outermost element is <{root.name[:40]}>.", where=f"line {root.line}"
        )
    version = _SECOND if root.attributes.get("version", "").startswith("2") else _FIRST
    files = [element for element in root.elements if element.local_name == "file"]
    places = [place for file in files for place in _places_of_file(text, file, version)]
    return XliffDocument(text, tuple(places), tuple(files if version is _FIRST else [root]), version)


def _places_of_file(whole: str, file: Element, version: _Version) -> Iterator[_Place]:
    """Yield the places of a file, whose units have different names."""
    lines: dict[str, int] = {}
    for unit in _units(file, version):
        name = unit.attributes.get("id", "")
        if name and name in lines:
            raise ManyheadsError(
                f"two units of this file have the id '{name[:60]}', the first in line {lines[name]}.",
                where=f"line {unit.line}",
                cure="Give each unit an id of its own.",
            )
        lines[name] = unit.line
        if unit.attributes.get("translate") != "no":
            yield from _places_of_unit(whole, unit, version)


def _units(element: Element, version: _Version) -> Iterator[Element]:
    """Yield the units inside an element, but those of groups that are not translated."""
    for child in element.elements:
        if child.local_name == version.unit:
            yield child
        elif child.local_name in ("body", "group") and child.attributes.get("translate") != "no":
            yield from _units(child, version)


def _places_of_unit(whole: str, unit: Element, version: _Version) -> Iterator[_Place]:
    """Yield the places of a unit, or none if it has no text."""
    key = unit.attributes.get("id", "")
    notes = "\n".join(note.text() for note in _notes(unit) if note.text())
    holders = [unit] if version is _FIRST else [child for child in unit.elements if child.local_name == "segment"]
    for holder in holders:
        children = {child.local_name: child for child in holder.elements}
        source, target = children.get("source"), children.get("target")
        if source is None or not source.text().strip():
            continue
        current = styled(whole, target) if target is not None else None
        state_holder = target if version is _FIRST else holder
        state = state_holder.attributes.get("state", "") if state_holder is not None else ""
        has_target = current is not None and bool(current.text.strip() or current.tags) and state not in _UNTRANSLATED
        inner_key = holder.attributes.get("id", "") if holder is not unit else ""
        segment = Segment(
            styled(whole, source),
            current if has_target else None,
            line=source.line,
            key=f"{key}/{inner_key}" if inner_key else key,
            notes=notes,
            is_unsure=has_target and state.startswith("needs-"),
        )
        yield _Place(segment, state_holder, children.get("seg-source", source), target, current)


def _notes(unit: Element) -> Iterator[Element]:
    """Yield the notes of a unit."""
    for child in unit.elements:
        if child.local_name == "note":
            yield child
        elif child.local_name == "notes":
            yield from child.elements
