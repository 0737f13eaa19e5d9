"""Android's `strings.xml`: strings, the items of arrays, and plurals in the forms of the language translated into.

What is marked `translatable="false"` and what refers to another resource stays as it is. The comment before an element
is its note. A file holds one language, so a translation takes the place of its source. As soon as one of the items of
`plurals` is translated, they become those of the language: missing ones are added in the layout of the others, and
those that it does not have are left out. The item for 1 has the source's item `one` as its source (`PluralForms`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from manyheads.documents.android_values import Value, read_value
from manyheads.documents.interface import Filling, Segment, Styled
from manyheads.documents.plurals import CATEGORIES, PluralForms, plurals_of
from manyheads.documents.slots import by_unit
from manyheads.documents.splices import Splice, spliced
from manyheads.documents.xml_places import Element, XmlText, read_xml
from manyheads.errors import ManyheadsError

LONGEST_KEY = 200  # characters of a name, which every item repeats


@dataclass(frozen=True)
class _Text:
    """A string, or an item of an array."""

    segment: Segment
    value: Value

    @property
    def segments(self) -> Sequence[Segment]:
        """The one segment."""
        return [self.segment]

    def changes(self, new: Sequence[Styled | None]) -> Iterator[Splice]:
        """Yield the change for a translation."""
        (translation,) = new
        if translation is not None and translation != self.value.styled:
            yield Splice(self.value.start, self.value.end, self.value.write(translation))


@dataclass(frozen=True)
class _Plurals:
    """An element with plurals.

    Args:
        whole: The text of the file.
        segments: The segment of each form of the language translated into.
        names: The names of these forms, in CLDR's order.
        items: The elements and values that there are, by the names of their forms.
        separator: The space between two items.
    """

    whole: str
    segments: Sequence[Segment]
    names: Sequence[str]
    items: Mapping[str, tuple[Element, Value]]
    separator: str

    def changes(self, new: Sequence[Styled | None]) -> Iterator[Splice]:
        """Yield the changes for translations of all forms."""
        pairs = [*zip(self.segments, new, strict=True)]
        if all(translation in (None, segment.source) for segment, translation in pairs):
            return
        for name, (element, _) in self.items.items():
            if name not in self.names:
                yield Splice(element.start - len(_space_before(self.whole, element)), element.end, "")
        previous: Element | None = None
        following = next(self.items[name][0] for name in self.names if name in self.items)
        for name, (segment, translation) in zip(self.names, pairs, strict=True):
            if name in self.items:
                previous, value = self.items[name]
                if translation is not None and translation != value.styled:
                    yield Splice(value.start, value.end, value.write(translation))
                continue
            item = self._item(name, translation or segment.source)
            if previous:
                yield Splice(previous.end, previous.end, self.separator + item)
            else:
                yield Splice(following.start, following.start, item + self.separator)

    def _item(self, name: str, translation: Styled) -> str:
        """Return a new item, with what is around the value of `other`, such as the delimiters of CDATA."""
        element, value = self.items["other"]
        before = self.whole[element.content_start : value.start]
        behind = self.whole[value.end : element.end]
        return f'<{element.name} quantity="{name}">{before}{value.write(translation)}{behind}'


@dataclass(frozen=True)
class AndroidDocument:
    """A file of string resources."""

    whole: str
    units: Sequence[_Text | _Plurals]
    languages: tuple[str | None, str | None]

    @property
    def segments(self) -> Sequence[Segment]:
        """The texts to translate."""
        return [segment for unit in self.units for segment in unit.segments]

    def fill(self, translations: Sequence[Styled | None], filling: Filling) -> str:
        """Return the file with translations filled in; such files mark none as to be checked."""
        pairs = by_unit(self.units, translations)
        return spliced(self.whole, (splice for unit, new in pairs for splice in unit.changes(new)))


def read_android(text: str, *, language: str | None) -> AndroidDocument:
    """Return a file of string resources as a document."""
    root = read_xml(text)
    if root.name != "resources":
        raise _refusal(f"this is a file of '<{root.name}>', and not of Android's '<resources>'", root)
    units: list[_Text | _Plurals] = []
    known: dict[tuple[str, ...], int] = {}
    note = ""
    for child in root.children:
        if isinstance(child, XmlText):
            note = child.text.strip() if child.kind == "comment" else note
            continue
        if child.name in ("string", "string-array", "plurals"):
            key = tuple(child.attributes.get(name, "") for name in ("name", "product"))
            if (first := known.setdefault((child.name, *key), child.line)) != child.line:
                raise _refusal(f"the name '{key[0][:60]}' is in line {first} already", child)
            if child.attributes.get("translatable") != "false":
                units += _units(text, child, note, plurals_of(language))
        note = ""
    return AndroidDocument(text, units, (None, language))


def _units(whole: str, element: Element, note: str, forms: PluralForms | None) -> Iterator[_Text | _Plurals]:
    """Yield what there is to translate in an element."""
    name = element.attributes.get("name", "")[:LONGEST_KEY]
    if element.name == "plurals":
        yield from _plurals(whole, element, note, forms)
        return
    items = [(name, element)]
    if element.name == "string-array":
        items = [(f"{name}[{number}]", item) for number, item in enumerate(element.elements)]
    for key, item in items:
        if value := read_value(whole, item):
            yield _Text(Segment(value.styled, line=item.line, key=key, notes=note), value)


def _plurals(whole: str, element: Element, note: str, forms: PluralForms | None) -> Iterator[_Plurals]:
    """Yield the plurals of an element; nothing if one of them has no text."""
    items: dict[str, tuple[Element, Value]] = {}
    for item in element.elements:
        quantity = item.attributes.get("quantity", "")
        if quantity not in CATEGORIES or quantity in items:
            problem = "is not a plural form" if quantity not in CATEGORIES else "is there twice"
            raise _refusal(f"'{quantity[:60]}' {problem}", item, f"The forms are {', '.join(CATEGORIES)}.")
        if (value := read_value(whole, item)) is None:
            return
        items[quantity] = item, value
    if "other" not in items:
        raise _refusal("these plurals have no item for 'other'", element, "Add it: Android needs it in all languages.")
    names = [name for name in CATEGORIES if name in ({*forms.names, "other"} if forms else items)]
    key = element.attributes.get("name", "")[:LONGEST_KEY]
    segments = [
        Segment(_source(items, name, forms), line=element.line, key=f"{key}[{name}]", notes=note) for name in names
    ]
    yield _Plurals(whole, segments, names, items, _space_before(whole, next(element.elements)))


def _space_before(whole: str, element: Element) -> str:
    """Return the spaces and line breaks before an element."""
    begin = element.start
    while whole[begin - 1].isspace():
        begin -= 1
    return whole[begin : element.start]


def _source(items: Mapping[str, tuple[Element, Value]], name: str, forms: PluralForms | None) -> Styled:
    """Return the text that a form is translated from."""
    texts = {there: value.styled for there, (_, value) in items.items()}
    if forms and name == "one" and "one" in texts:
        form = forms.names.index(name)
        return texts["one" if forms.takes_singular(form, texts["one"].text, texts["other"].text) else "other"]
    return texts.get(name, texts["other"])


def _refusal(problem: str, element: Element, cure: str = "Correct it with an editor for XML.") -> ManyheadsError:
    """Return the error for a file that is refused."""
    return ManyheadsError(f"{problem}.", where=f"line {element.line}", cure=cure)
