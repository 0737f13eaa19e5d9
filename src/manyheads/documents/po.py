"""PO and POT, gettext's catalogues: every entry is a segment, and an entry with plurals one for each form.

Which forms there are is said by the catalogue's own Plural-Forms; a template's are those of the language that is
translated into. The form for 1 has the singular as its source, and every other one the plural (`PluralForms`).

Obsolete entries, comments, flags, previous texts and the layout of all that does not change stay as they are. A fuzzy
entry that is filled is fuzzy no more. With `mark_unsure`, an entry that is filled becomes or stays fuzzy, and a comment
says that a machine translated it. The header of a template gets its language, plural forms and encoding with the first
translation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from manyheads.documents.format_strings import Rules, format_problems, formats_of
from manyheads.documents.interface import Filling, Segment, Styled
from manyheads.documents.plurals import PluralForms, plurals_of, stated_plurals
from manyheads.documents.po_entries import Entry, PoString, read_entries, refusal
from manyheads.documents.po_strings import Layout, encoded
from manyheads.documents.slots import by_unit
from manyheads.documents.splices import Splice, spliced

NOTE = "# Machine translation."


@dataclass(frozen=True)
class _Unit:
    """An entry with its segments: one, or one for each plural form."""

    entry: Entry
    segments: Sequence[Segment]


@dataclass(frozen=True)
class PoDocument:
    """A catalogue."""

    whole: str
    header: Entry | None
    units: Sequence[_Unit]
    layout: Layout
    plurals: PluralForms | None
    language: str | None

    @property
    def segments(self) -> Sequence[Segment]:
        """The texts to translate."""
        return [segment for unit in self.units for segment in unit.segments]

    @property
    def languages(self) -> tuple[str | None, str | None]:
        """The languages; a catalogue does not name its source language."""
        return None, self.language

    def fill(self, translations: Sequence[Styled | None], filling: Filling) -> str:
        """Return the catalogue with translations filled in."""
        pairs = by_unit(self.units, translations)
        splices = [splice for unit, new in pairs for splice in self._filled(unit, new, filling)]
        if splices:
            splices += self._header(filling.language)
        return spliced(self.whole, splices)

    def _filled(self, unit: _Unit, new: Sequence[Styled | None], filling: Filling) -> Iterator[Splice]:
        """Yield the changes of an entry."""
        changed = {
            form: text.text
            for form, (segment, text) in enumerate(zip(unit.segments, new, strict=True))
            if text is not None and text != segment.target
        }
        if not changed:
            return
        if filling.mark_unsure:
            yield from _as_unsure(unit.entry, self.layout.newline)
        else:
            yield from _as_sure(self.whole, unit.entry)
        forms = unit.entry.forms
        for number, form in enumerate(forms[: len(unit.segments)]):
            if number in changed:
                yield Splice(form.start, form.end, encoded(changed[number], form.keyword, self.layout))
        last = forms[min(len(forms), len(unit.segments)) - 1]
        missing = range(len(forms), len(unit.segments))
        added = (self._added_form(number, changed.get(number, "")) for number in missing)
        yield Splice(last.end, forms[-1].end, "".join(added))

    def _added_form(self, number: int, text: str) -> str:
        """Return a plural form that the entry did not have."""
        keyword = f"msgstr[{number}]"
        return f"{self.layout.newline}{keyword} {encoded(text, keyword, self.layout)}"

    def _header(self, language: str | None) -> Iterator[Splice]:
        """Yield the changes of the header: what a template leaves to be filled in."""
        if self.header is None:
            return
        form = self.header.forms[0]
        before = form.text
        has_plurals = any(unit.entry.is_plural for unit in self.units)
        after = _completed(before, self.language or language, self.plurals, has_plurals=has_plurals)
        if after != before:
            yield from _as_sure(self.whole, self.header)
            yield Splice(form.start, form.end, encoded(after, form.keyword, Layout(self.layout.newline, None)))


def read_po(text: str, *, language: str | None) -> PoDocument:
    """Return a catalogue as a document."""
    entries = read_entries(text)
    header = next((entry for entry in entries if entry.key == (None, "")), None)
    fields = _fields(header.forms[0].text) if header else {}
    named = language if not fields.get("Language") else fields["Language"]
    where = f"line {header.line if header else 1}"
    plurals = stated_plurals(fields.get("Plural-Forms", ""), where=where) or plurals_of(named)
    units = [_Unit(entry, _segments(entry, plurals)) for entry in entries if entry.strings["msgid"].text.strip()]
    strings = [string.lines for entry in entries for string in entry.strings.values()]
    return PoDocument(text, header, units, Layout.of(text, strings), plurals, named)


def _fields(header: str) -> dict[str, str]:
    """Return the fields of a header by their names."""
    parts = [line.partition(":") for line in header.split("\n")]
    return {name.strip(): value.strip() for name, separator, value in parts if separator}


def _completed(header: str, language: str | None, plurals: PluralForms | None, *, has_plurals: bool) -> str:
    """Return a header with the language, the plural forms and the encoding that a template does not name."""
    fields = _fields(header)
    lines = header.replace("charset=CHARSET", "charset=UTF-8").split("\n")
    if language and fields.get("Language") == "":
        _set(lines, "Language", language.replace("-", "_"))
    stated = fields.get("Plural-Forms", None if has_plurals else "not needed")
    if plurals and (not stated or "INTEGER" in stated):
        formula = f"({plurals.formula})" if " " in plurals.formula else plurals.formula
        _set(lines, "Plural-Forms", f"nplurals={plurals.count}; plural={formula};")
    return "\n".join(lines)


def _set(lines: list[str], name: str, value: str) -> None:
    """Set a field of a header in its lines, of which the last is empty."""
    there = [number for number, line in enumerate(lines) if line.partition(":")[0].strip() == name]
    if there:
        lines[there[0]] = f"{name}: {value}"
    else:
        lines.insert(len(lines) - 1, f"{name}: {value}")


def _segments(entry: Entry, plurals: PluralForms | None) -> list[Segment]:
    """Return the segments of an entry."""
    formats = formats_of(entry.flags)
    if not entry.is_plural:
        return [_segment(entry, entry.strings["msgid"].text, entry.forms[0], Rules(formats, keeps_line_breaks=True))]
    forms, count = entry.forms, plurals.count if plurals else len(entry.forms)
    surplus = [form for form in forms[count:] if form.text]
    if surplus:
        problem = f"this entry has a translation as '{surplus[0].keyword}', and there are {count} plural forms, from 0"
        raise refusal(problem, entry.line, "Correct Plural-Forms in the header, or the entry.")
    singular, plural = entry.strings["msgid"].text, entry.strings["msgid_plural"].text
    rule = plurals or _unnamed_plurals(count)
    # As msgfmt sees it, the %s of "One file in %s" stands where the %d of "%d files in %s" belongs.
    fits = not any(format_problems(plural, singular, form, is_rare=True) for form in formats)
    return [
        _segment(
            entry,
            singular if fits and rule.takes_singular(number, singular, plural) else plural,
            forms[number] if number < len(forms) else None,
            Rules(formats, plural, rule.is_rare(number), keeps_line_breaks=True),
        )
        for number in range(count)
    ]


@cache
def _unnamed_plurals(count: int) -> PluralForms:
    """Return plural forms of which only the number is known."""
    return PluralForms(count, "n != 1" if count > 1 else "0")


def _segment(entry: Entry, source: str, form: PoString | None, rules: Rules) -> Segment:
    """Return the segment of an entry, or of one form of it, which it may not have yet."""
    target = form.text if form else ""
    context = entry.strings.get("msgctxt")
    return Segment(
        Styled(source),
        Styled(target) if target else None,
        line=entry.line,
        key=context.text if context else "",
        notes="\n".join(comment.content for comment in entry.comments if comment.kind in ("#", "#.")),
        is_unsure="fuzzy" in entry.flags and bool(target),
        rules=rules,
    )


def _as_unsure(entry: Entry, newline: str) -> Iterator[Splice]:
    """Yield the changes that make an entry fuzzy, with a comment."""
    others = [comment for comment in entry.comments if comment.kind != "#"]
    if all(comment.text != NOTE for comment in entry.comments):
        behind_translators = min([entry.first_keyword, *(comment.start for comment in others)])
        yield Splice(behind_translators, behind_translators, f"{NOTE}{newline}")
    if "fuzzy" in entry.flags:
        return
    if flags := [comment.start for comment in others if comment.kind == "#,"]:
        yield Splice(flags[0], flags[0] + 2, "#, fuzzy,")
    else:
        before = min([entry.first_keyword, *(comment.start for comment in others if comment.kind == "#|")])
        yield Splice(before, before, f"#, fuzzy{newline}")


def _as_sure(whole: str, entry: Entry) -> Iterator[Splice]:
    """Yield the changes that make an entry not fuzzy: the flag goes, and its line if no other flag is in it."""
    for comment in entry.comments:
        flags = [flag.strip() for flag in comment.content.split(",")]
        if comment.kind != "#," or "fuzzy" not in flags:
            continue
        others = [flag for flag in flags if flag != "fuzzy"]
        if others:
            yield Splice(comment.start, comment.end, f"#, {', '.join(others)}")
        else:
            line_end = 2 if whole.startswith("\r\n", comment.end) else 1
            yield Splice(comment.start, comment.end + line_end, "")
