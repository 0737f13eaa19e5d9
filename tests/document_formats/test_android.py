"""Android's strings: another parser of XML finds what was filled in, plurals are those of CLDR, all else stays."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from babel import Locale
from catalogues import unchanged
from hypothesis import given
from hypothesis import strategies as st

from manyheads.documents.android import read_android
from manyheads.documents.interface import Document, Filling, Styled, Tag
from manyheads.documents.plurals import plurals_of
from manyheads.errors import ManyheadsError

LANGUAGES = ("en", "de", "fr", "pl", "ru", "zh", "ar")
PLURALS = """<plurals name="p{n}">
        <item quantity="one">%d file</item>
        <!-- between -->
        <item quantity="other">%d files</item>
    </plurals>"""
FEATURES = {
    "string": '<string name="s{n}">Open</string>',
    "comment": '<!-- Say it loud. -->\n    <string name="s{n}">Hello</string>',
    "escapes": r'<string name="s{n}">Don\'t say \"no\"\n\tat C:\\ \u0041\ud83d\ude00 \@ \?</string>',
    "quotes": '<string name="s{n}">"It\'s   wide" and   narrow</string>',
    "at sign": r'<string name="s{n}">\@home</string>',
    "question mark": r'<string name="s{n}">\?</string>',
    "entities": '<string name="s{n}">Fish &amp; chips &#8211; &lt; 3 &gt; 2</string>',
    "tags": '<string name="s{n}">A <b>bold <i>word</i></b>, <a href="https://e.org/?a=1&amp;b=2">link</a><br/></string>',
    "escaped tags": '<string name="s{n}">An &lt;b>old&lt;/b&gt; way&lt;br/&gt;</string>',
    "xliff": '<string name="s{n}">Hi <xliff:g id="x" example="Ann">%1$s</xliff:g>, <xliff:g id="y"/>!</string>',
    "CDATA": '<string name="s{n}"><![CDATA[Don\\\'t <b>panic</b> &amp; run]]></string>',
    "plain CDATA": '<string name="s{n}">\n        <![CDATA[ a < b && c ]]>\n    </string>',
    "CDATA beside text": '<string name="s{n}">see <![CDATA[<b>]]> there</string>',
    "comment inside": '<string name="s{n}">one<!-- not < this --> two</string>',
    "spaces": '<string name="s{n}">\n        over\n        lines\n    </string>',
    "untranslatable": '<string name="s{n}" translatable="false">key_{n}</string>',
    "reference": '<string name="s{n}">@string/other</string>',
    "empty": '<string name="s{n}"></string>\n    <string name="t{n}"/>\n    <string name="u{n}"> </string>',
    "products": '<string name="s{n}" product="tablet">T</string>\n    <string name="s{n}" product="phone">P</string>',
    "array": '<string-array name="a{n}">\n        <item>Red</item>\n\t<item>@string/x</item>\n    </string-array>',
    "other resources": '<color name="c{n}">#fff</color>\n    <integer-array name="i{n}"><item>1</item></integer-array>',
    "plurals": PLURALS,
    "plurals in CDATA": PLURALS.replace("%d file", "<![CDATA[%d<br>file").replace("</item>", "]]></item>"),
    "plurals with zero": PLURALS.replace("<item", '<item quantity="zero">none</item><item', 1),
    "plurals of many": PLURALS.replace("<item", '<item quantity="many">lots</item>\n        <item', 1),
    "untranslatable plurals": PLURALS.replace('{n}"', '{n}" translatable="false"'),
}


def resources(features: list[str], newline: str = "\n") -> str:
    """Return a file of string resources with a list of features."""
    head = '<?xml version="1.0" encoding="utf-8"?>\n<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">\n'
    elements = [f"    {FEATURES[name]}\n".replace("{n}", str(number)) for number, name in enumerate(features)]
    return f"{head}{''.join(elements)}</resources>\n".replace("\n", newline)


def translation(source: Styled) -> Styled:
    """Stand for a translation that needs all escapes, behind the tags of the source."""
    return Styled(f"{source.text}'\"\\\n\t&<>  \xa0 é@?", source.tags)


def filled(document: Document) -> str:
    return document.fill([translation(segment.source) for segment in document.segments], Filling())


def elements(text: str) -> dict[str, ElementTree.Element]:
    """Return the elements of a file by name."""
    return {element.attrib["name"]: element for element in ElementTree.fromstring(text.encode())}


@given(
    st.lists(st.sampled_from(sorted(FEATURES))), st.sampled_from(["\n", "\r\n"]), st.sampled_from([None, *LANGUAGES])
)
def test_a_generated_file_stays_and_is_filled(features: list[str], newline: str, language: str | None):
    text = resources(features, newline)
    document = read_android(text, language=language)
    own = document.fill([segment.source for segment in document.segments], Filling(language))
    assert unchanged(document) | {own} == {text}
    result = filled(document)
    ElementTree.fromstring(result.encode())
    again = read_android(result, language=language)
    assert sorted(one.source.text for one in again.segments) == sorted(
        translation(one.source).text for one in document.segments
    )
    assert [one.source.tags for one in again.segments] == [one.source.tags for one in document.segments]


def test_only_translations_change():
    text = resources([name for name in sorted(FEATURES) if "plurals" not in name])
    document = read_android(text, language=None)
    result = document.fill([Styled("x") for _ in document.segments], Filling())
    kept, at = [], 0
    for unit in document.units:
        (slot,) = [unit.value]
        kept.append(text[at : slot.start])
        at = slot.end
    assert result == "x".join([*kept, text[at:]])


def test_texts_are_decoded():
    escapes, quotes, entities, spaces, cdata, plain = (
        read_android(resources([name]), language=None).segments[0].source.text
        for name in ("escapes", "quotes", "entities", "spaces", "CDATA", "plain CDATA")
    )
    assert escapes == 'Don\'t say "no"\n\tat C:\\ A😀 @ ?'
    assert quotes == "It's   wide and narrow"
    assert entities == "Fish & chips – < 3 > 2"
    assert spaces == "over lines"
    assert cdata == "Don't panic & run"
    assert plain == "a < b && c"


def test_elements_are_tags_and_xliff_is_left_whole():
    tags, escaped, xliff = (
        read_android(resources([name]), language=None).segments[0].source for name in ("tags", "escaped tags", "xliff")
    )
    assert tags.text == "A bold word, link"
    assert [tag.kind for tag in tags.tags] == ["open", "open", "close", "close", "open", "close", "atom"]
    assert escaped == Styled(
        "An old way", (Tag(3, "open", "&lt;b>"), Tag(6, "close", "&lt;/b&gt;"), Tag(10, "atom", "&lt;br/&gt;"))
    )
    assert xliff == Styled(
        "Hi , !",
        (Tag(3, "atom", '<xliff:g id="x" example="Ann">%1$s</xliff:g>'), Tag(5, "atom", '<xliff:g id="y"/>')),
    )


@pytest.mark.parametrize(("text", "written"), [("@a", r"\@a"), ("?", r"\?"), (" a  b ", r"\u0020a \u0020b\u0020")])
def test_what_android_would_misread_is_escaped(text: str, written: str):
    document = read_android(resources(["string"]), language=None)
    assert f">{written}</string>" in document.fill([Styled(text)], Filling())


@pytest.mark.parametrize("language", LANGUAGES)
def test_plurals_have_the_forms_of_the_language(language: str):
    names = [name for name in FEATURES if name.startswith("plurals")]
    document = read_android(resources(names), language=language)
    keys = [segment.key.partition("[")[2].rstrip("]") for segment in document.segments]
    found = elements(document.fill([Styled(key) for key in keys], Filling(language)))
    rule, forms = Locale.parse(language).plural_form, plurals_of(language)
    assert forms is not None
    for element in found.values():
        items = {item.attrib["quantity"]: item.text for item in element}
        assert all(items[rule(number)] == rule(number) for number in range(201))
        assert set(items) == {*forms.names, "other"} and len(items) == len(element)


def test_a_new_item_is_laid_out_as_the_others():
    document = read_android(resources(["plurals"]), language="ru")
    assert [one.source.text for one in document.segments] == ["%d file", "%d files", "%d files", "%d files"]
    result = document.fill([None, Styled("%d файла"), None, None], Filling("ru"))
    before, _, behind = resources(["plurals"]).partition('        <item quantity="other"')
    added = '        <item quantity="few">%d файла</item>\n        <item quantity="many">%d files</item>\n'
    assert result.replace(added, "") == before + '        <item quantity="other"' + behind
    assert added.strip() in result


def test_what_a_segment_says():
    text = resources(["string", "comment", "array", "plurals"])
    lines = text.split("\n")
    segments = read_android(text, language=None).segments
    assert [one.key for one in segments] == ["s0", "s1", "a2[0]", "p3[one]", "p3[other]"]
    assert [one.notes for one in segments] == ["", "Say it loud.", "", "", ""]
    assert [lines[one.line - 1].split()[0] for one in segments] == [
        "<string", "<string", "<item>Red</item>", "<plurals", "<plurals"
    ]  # fmt: skip


def _with(element: str) -> str:
    return f"<resources>\n{element}\n</resources>"


@pytest.mark.parametrize("part", ["<xliff:g>", "<!--<a '", "<!--", "<a ", '<a "', "&lt;a", "<![CDATA[", "&", "\\"])
def test_a_value_of_unclosed_parts_is_read_once(part: str):
    text = _with(f'<string name="a"><![CDATA[{part * 100_000}]]></string>')
    assert unchanged(read_android(text, language=None)) == {text}


HOSTILE = {
    "entity bomb": '<!DOCTYPE r [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>' + _with('<string name="a">&b;</string>'),
    "external entity": '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    + _with('<string name="a">&a;</string>'),
    "entity of another file": '<!DOCTYPE r SYSTEM "r.dtd">' + _with('<string name="a">&a;</string>'),
    "parameter entity": '<!DOCTYPE r [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]>' + _with(""),
    "unknown entity": _with('<string name="a">&nbsp;</string>'),
    "broken XML": _with('<string name="a">'),
    "no XML": "hello",
    "nothing": "",
    "another file": "<html/>",
    "too deep": _with("<a>" * 10_000 + "</a>" * 10_000),
    "the same name twice": _with('<string name="a">x</string>\n<string name="a">y</string>'),
    "unknown plural form": _with('<plurals name="a"><item quantity="several">x</item></plurals>'),
    "a plural form twice": _with('<plurals name="a">' + '<item quantity="one">x</item>' * 2 + "</plurals>"),
    "no other": _with('<plurals name="a"><item quantity="one">x</item></plurals>'),
    "half of a character": _with('<string name="a">\ud83d</string>'),
    "one line of 8 MB": "<resources>" + "<" * (1 << 23),
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_hostile_file_is_refused_in_one_sentence(name: str):
    with pytest.raises(ManyheadsError) as refused:
        read_android(HOSTILE[name], language="de")
    assert re.fullmatch(r"line \d+: [^\n]{10,250}\.", str(refused.value))
