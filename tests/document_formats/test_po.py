"""PO: polib and msgfmt find what was filled in, plurals are those of CLDR, and everything else stays as it is."""

from __future__ import annotations

import gettext
import io
import re
import shutil
import subprocess
from pathlib import Path

import polib
import pytest
from babel import Locale
from catalogues import real_texts, unchanged
from hypothesis import given
from hypothesis import strategies as st

from manyheads.documents import po_entries
from manyheads.documents.interface import Filling, Styled
from manyheads.documents.plurals import plurals_of
from manyheads.documents.po import NOTE, PoDocument, read_po
from manyheads.errors import ManyheadsError

LANGUAGES = ("en", "de", "fr", "pl", "ru", "zh", "ar")
HEADER = """# A catalogue.
#
msgid ""
msgstr ""
"Project-Id-Version: example 1\\n"
"Language: fr\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\\n"
"""
TEMPLATE = re.sub("nplurals=.*;", "nplurals=INTEGER; plural=EXPRESSION;", HEADER.replace("fr", ""), count=1)
FEATURES = {
    "untranslated": 'msgid "Open {n}"\nmsgstr ""\n',
    "translated": '#: a.c:{n} b.c:2\nmsgid "Close {n}"\nmsgstr "Fermer {n}"\n',
    "context": 'msgctxt "menu\\t{n}"\nmsgid "Open"\nmsgstr ""\n',
    "empty context": 'msgctxt ""\nmsgid "{n}"\nmsgstr ""\n',
    "comments": "#  indented\n#\n# to translators\n#. from the code\n#: a.c:1\n" + 'msgid "C{n}"\nmsgstr ""\n',
    "fuzzy": '#, fuzzy\n#| msgctxt "old"\n#| msgid "Old"\nmsgid "New {n}"\nmsgstr "Vieux"\n',
    "fuzzy with flags": '#, c-format, fuzzy, no-wrap\nmsgid "%d new {n}"\nmsgstr "%d vieux"\n',
    "fuzzy, untranslated": '#,fuzzy\nmsgid "Nothing {n}"\nmsgstr ""\n',
    "flags": '#, c-format\nmsgid "%s {n}%%"\nmsgstr ""\n',
    "several flags": '#, c-format\n#, no-wrap\nmsgid "%s of {n}"\nmsgstr ""\n',
    "plural": '#, c-format\nmsgid "%d file {n}"\nmsgid_plural "%d files {n}"\nmsgstr[0] ""\nmsgstr[1] ""\n',
    "half a plural": 'msgid "%d cup {n}"\nmsgid_plural "%d cups {n}"\nmsgstr[0] "%d tasse"\nmsgstr[1] ""\n',
    "short plural": 'msgid "%d dog {n}"\nmsgid_plural "%d dogs {n}"\nmsgstr[0] ""\n',
    "long plural": 'msgid "%d cat {n}"\nmsgid_plural "%d cats {n}"\nmsgstr[0] ""\nmsgstr[1] ""\nmsgstr[2] ""\n',
    "wrapped": 'msgid ""\n"A text of {n} "\n"lines, the second\\n"\n"and a third\\n"\nmsgstr ""\n"Un\\n"\n"deux\\n"\n',
    "escapes": 'msgid "\\"{n}\\" \\\\ \\t tab"\nmsgstr ""\n',
    "obsolete": '# old {n}\n#, fuzzy\n#~| msgid "Older"\n#~ msgctxt "x"\n#~ msgid "Old {n}"\n#~ msgstr "Vieux"\n',
    "layout": '\n\n\tmsgid   "odd {n}"\n \nmsgstr\n\n  "étrange"   \n',
    "indices": 'msgid "%d box {n}"\nmsgid_plural "%d boxes {n}"\nmsgstr [ 0 ] "%d boîte"\nmsgstr[ 1] ""\n',
    "one line": 'msgid "together {n}" msgstr ""\n',
    "long": 'msgid "' + "word " * 30 + '{n}"\nmsgstr ""\n',
    "beyond ASCII": '# 日本語\nmsgid "日本語 – „{n}“ 🎉"\nmsgstr ""\n',
}
NOT_READ_BY_POLIB = ("layout", "indices", "one line")


def catalogue(features: list[str], *, header: str = HEADER, newline: str = "\n") -> str:
    """Return a catalogue with a list of features."""
    entries = [FEATURES[name].replace("{n}", str(number)) for number, name in enumerate(features)]
    return "\n".join([header, *entries]).replace("\n", newline)


def translation(source: Styled) -> Styled:
    """Stand for a translation, with the line breaks at both ends that gettext asks for."""
    end = "\n" if source.text.endswith("\n") else ""
    return Styled(f"{source.text.removesuffix(end)} – „ü“ \\ 日本{end}")


def filled(document: PoDocument, filling: Filling | None = None) -> str:
    return document.fill([translation(segment.source) for segment in document.segments], filling or Filling())


def as_read_by_polib(text: str) -> dict[tuple[str | None, str], list[str]]:
    """Return the translations of each entry, by context and text."""
    entries = polib.pofile(text)
    return {
        (entry.msgctxt, entry.msgid): [*entry.msgstr_plural.values()] or [entry.msgstr]
        for entry in entries
        if not entry.obsolete
    }


def expected(document: PoDocument) -> dict[tuple[str | None, str], list[str]]:
    """Return the same for a document with a translation for every segment."""
    return {unit.entry.key: [translation(segment.source).text for segment in unit.segments] for unit in document.units}


def require_msgfmt(text: str, folder: Path) -> None:
    """Fail if msgfmt finds an error; skip without it."""
    if shutil.which("msgfmt") is None:
        pytest.skip("needs msgfmt: install gettext.")
    path = folder / "catalogue.po"
    path.write_text(text, encoding="utf-8", newline="")
    done = subprocess.run(["msgfmt", "-c", "-o", folder / "out.mo", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@given(
    st.lists(st.sampled_from(sorted(FEATURES))), st.sampled_from(["\n", "\r\n"]), st.sampled_from([HEADER, TEMPLATE])
)
def test_a_generated_catalogue_stays_and_is_filled(features: list[str], newline: str, header: str):
    text = catalogue(features, header=header, newline=newline)
    document = read_po(text, language="fr")
    assert unchanged(document) == {text}
    result = filled(document)
    again = read_po(result, language="fr")
    assert [segment.target for segment in again.segments] == [translation(one.source) for one in document.segments]
    assert not any(segment.is_unsure for segment in again.segments)
    assert newline == "\n" or "\n" not in result.replace("\r\n", "")
    assert unchanged(again) == {result}


def test_polib_and_msgfmt_read_what_was_filled_in(tmp_path: Path):
    features = [name for name in FEATURES if name not in NOT_READ_BY_POLIB]
    document = read_po(catalogue(features), language=None)
    assert as_read_by_polib(filled(document)) == expected(document)
    require_msgfmt(filled(read_po(catalogue(sorted(FEATURES)), language=None)), tmp_path)


def test_only_the_lines_of_translations_and_flags_change():
    text = catalogue([name for name in FEATURES if name != "one line"])
    kept = re.compile(r"#(?!, *fuzzy$|,fuzzy|, c-format, fuzzy).*|msgid.*|msgctxt.*")
    before = [line for line in text.split("\n") if kept.fullmatch(line)]
    after = [line for line in filled(read_po(text, language=None)).split("\n") if kept.fullmatch(line)]
    assert [line for line in after if line != "#, c-format, no-wrap"] == before


@pytest.mark.parametrize("mark_unsure", [False, True])
def test_real_catalogues_stay_and_are_filled(mark_unsure: bool, tmp_path: Path):
    for name, text in real_texts("*.po*").items():
        document = read_po(text, language=None)
        assert unchanged(document) == {text}, name
        ours = [(segment.source.text, segment.target.text if segment.target else "") for segment in document.segments]
        theirs = [(entry.msgid, entry.msgstr) for entry in polib.pofile(text) if not entry.obsolete]
        assert ours == theirs, name
        result = filled(document, Filling(mark_unsure=mark_unsure))
        assert as_read_by_polib(result) == expected(document), name
        flags = {entry.fuzzy for entry in polib.pofile(result) if not entry.obsolete}
        assert flags == {mark_unsure}, name
        require_msgfmt(result, tmp_path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_plural_forms_are_those_of_cldr(language: str):
    document = read_po(catalogue(["plural", "short plural", "long plural"], header=TEMPLATE), language=language)
    forms, rule = plurals_of(language), Locale.parse(language).plural_form
    assert forms is not None and len(document.segments) == 3 * forms.count
    names = [Styled(name) for name in forms.names] * 3
    content = polib.pofile(document.fill(names, Filling(language)))
    assert content.metadata["Language"] == language
    compiled = gettext.GNUTranslations(io.BytesIO(content.to_binary()))
    for number in range(201):
        for entry in content:
            assert compiled.ngettext(entry.msgid, entry.msgid_plural, number) == rule(number)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_filled_template_passes_msgfmt(language: str, tmp_path: Path):
    document = read_po(catalogue(sorted(FEATURES), header="#, fuzzy\n" + TEMPLATE), language=language)
    some = [unit for unit in document.units if unit.entry.is_plural and any(form.text for form in unit.entry.forms)]
    result = filled(document)
    assert len(some) == 2
    assert "fuzzy" not in result.partition("msgstr")[0]
    require_msgfmt(result, tmp_path)


def test_a_form_has_the_singular_or_the_plural_as_its_source():
    (one, few, many) = read_po(catalogue(["plural"], header=TEMPLATE), language="pl").segments
    assert (one.source.text, few.source.text, many.source.text) == ("%d file 0", "%d files 0", "%d files 0")
    (only,) = read_po(catalogue(["short plural"], header=TEMPLATE), language="ja").segments
    assert only.source.text == "%d dogs 0"


def test_the_formula_of_the_catalogue_comes_before_that_of_the_language():
    assert len(read_po(catalogue(["plural"]), language="ar").segments) == 2


def test_without_any_plural_forms_those_of_the_entry_stay():
    document = read_po(catalogue(["long plural"], header=TEMPLATE), language="tlh")
    assert [one.source.text for one in document.segments] == ["%d cat 0", "%d cats 0", "%d cats 0"]


def test_surplus_forms_of_a_template_go_with_its_translation():
    document = read_po(catalogue(["plural"], header=TEMPLATE), language="zh")
    assert filled(document).count("msgstr[") == 1


def test_what_a_segment_says():
    text = catalogue(["comments", "context", "fuzzy"])
    comments, context, fuzzy = read_po(text, language=None).segments
    lines = text.split("\n")
    assert comments.notes == "indented\n\nto translators\nfrom the code"
    assert context.key == "menu\t1"
    assert fuzzy.is_unsure and fuzzy.target == Styled("Vieux")
    assert [lines[one.line - 1] for one in (comments, context, fuzzy)] == [
        'msgid "C0"', 'msgid "Open"', 'msgid "New 2"'
    ]  # fmt: skip
    assert read_po(text, language="de").languages == (None, "fr")


def test_new_translations_are_marked_if_asked():
    document = read_po(catalogue(["flags", "fuzzy", "comments", "translated"]), language=None)
    result = document.fill(
        [*(Styled("x") for _ in document.segments[:3]), document.segments[3].target], Filling(mark_unsure=True)
    )
    entries = [entry for entry in polib.pofile(result) if not entry.obsolete]
    assert [entry.fuzzy for entry in entries] == [True, True, True, False]
    assert [NOTE.removeprefix("# ") in entry.tcomment for entry in entries] == [True, True, True, False]
    assert "\n#, fuzzy, c-format\n" in result
    assert f"\n# to translators\n{NOTE}\n#. from the code\n#: a.c:1\n#, fuzzy\nmsgid" in result
    again = read_po(result, language=None)
    assert again.fill([Styled("y") for _ in again.segments], Filling(mark_unsure=True)).count(NOTE) == 4


@pytest.mark.parametrize("width", [79, 120, None])
def test_lines_are_as_long_as_those_of_the_file(width: int | None):
    long = "word " * 60
    example = polib.POFile(wrapwidth=width or 10_000)
    example.append(polib.POEntry(msgid=f"{long}x", msgstr=f"{long}y"))
    example.append(polib.POEntry(msgid=f"{long}z", msgstr=""))
    text = str(example)
    document = read_po(text, language=None)
    result = document.fill([None, Styled(f"{long}new")], Filling())
    lines = result.split("\n")
    assert document.layout.width == (width and max(79, *(len(one) for one in text.split("\n"))))
    assert max(map(len, lines)) <= max(map(len, text.split("\n"))) + len("new")
    assert as_read_by_polib(result)[None, f"{long}z"] == [f"{long}new"]


HOSTILE = {
    "no keyword": 'msgid "a"\nmsgstr "b"\n\n"c"\n"d',
    "a string without a keyword": '"a"\n',
    "no end of a string": 'msgid "a\nmsgstr "b"\n',
    "no msgstr": 'msgid "a"\n\n',
    "no msgid": 'msgstr "a"\n',
    "no string": "msgid\nmsgstr\n",
    "two texts": 'msgid "a"\nmsgid "b"\nmsgstr "c"\n',
    "two translations": 'msgid "a"\nmsgstr "b"\nmsgstr "c"\n',
    "the same entry twice": 'msgid "a"\nmsgstr "b"\n\nmsgid "a"\nmsgstr "c"\n',
    "a form without a plural": 'msgid "a"\nmsgstr[0] "b"\n',
    "a plural without forms": 'msgid "a"\nmsgid_plural "b"\nmsgstr "c"\n',
    "a form that is left out": 'msgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\nmsgstr[2] "d"\n',
    "a form that the header does not have": HEADER
    + '\nmsgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\nmsgstr[1] "d"\nmsgstr[2] "e"\n',
    "a header that lies": HEADER.replace("n > 1", "n % 3"),
    "a formula that is code": HEADER.replace("n > 1", "exit()"),
    "XML": "<?xml version='1.0'?>\n",
    "one line of 8 MB": "x" * (1 << 23),
    "quotes of 8 MB": '"' * (1 << 23) + "\n",
    "an open string of 8 MB": 'msgid "' + "\\a" * (1 << 22),
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_hostile_catalogue_is_refused_in_one_sentence(name: str):
    with pytest.raises(ManyheadsError) as refused:
        read_po(HOSTILE[name], language=None)
    assert re.fullmatch(r"line \d+: [^\n]{10,250}\.", str(refused.value))


def test_an_empty_catalogue_has_no_segments():
    for text in ("", "\n", "# only a comment", HEADER, "\ufeff" + HEADER):
        document = read_po(text, language="de")
        assert not document.segments and unchanged(document) == {text}


@pytest.mark.parametrize("part", ["#\n", '"a"\n', "#~ obsolete\n", "#, fuzzy\n"])
def test_more_parts_than_memory_holds_are_refused(part: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(po_entries, "MOST_PARTS", 12)
    begin = 'msgid "x"\nmsgstr ""\n'
    read_po(begin + part * 8, language=None)
    with pytest.raises(ManyheadsError, match=r"^line 11: this file has more than 12 comments and strings"):
        read_po(begin + part * 9, language=None)
