"""XLIFF: what is filled in is found by lxml, and everything else stays to the last character."""

from __future__ import annotations

import re

import pytest
from catalogues import real_texts, translated, unchanged
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from helpers import LAW
from manyheads.documents.interface import Filling, Styled
from manyheads.documents.xliff import read_xliff
from manyheads.errors import ManyheadsError

FIRST = """<?xml version="1.0" encoding="utf-8"?>
<!-- a comment -->
<xliff version='1.2' xmlns="urn:oasis:names:tc:xliff:document:1.2" xmlns:x="urn:other">
  <file original="a.txt" source-language="en" datatype="plaintext">
    <header><tool tool-id="t" tool-name="T"/></header>
    <body>
      <trans-unit id="missing" x:extra="1">
        <source>A <g id="1" ctype="bold">bold</g> word &amp; a <x id="2"/> break</source>
        <note>Say it loud.</note>
        <alt-trans><source>old</source><target>alt</target></alt-trans>
      </trans-unit>
      <trans-unit id="empty"><source>Save</source><target/></trans-unit>
      <trans-unit id="new"><source>New</source><target state="new">New</target></trans-unit>
      <trans-unit id="review"><source>Check</source><target state='needs-review-translation'>Pruf</target></trans-unit>
      <trans-unit id="done"><source>Done</source><target state="final">Fertig</target></trans-unit>
      <trans-unit id="plain"><source>Open</source><target>Öffnen</target></trans-unit>
      <trans-unit id="code" translate="no"><source>rm -rf</source></trans-unit>
      <group id="g" translate="no"><trans-unit id="inner"><source>not this</source></trans-unit></group>
      <group id="h"><trans-unit id="pairs">
        <source><bpt id="1">&lt;b&gt;</bpt>Bold<ept id="1">&lt;/b&gt;</ept> <ph id="2">%s</ph>
          <mrk mtype="protected">Name</mrk> <mrk mtype="term">term</mrk><it id="3" pos="open">[</it></source>
        <seg-source><mrk mtype="seg" mid="0">Bold</mrk></seg-source>
      </trans-unit></group>
      <trans-unit id="cdata"><source><![CDATA[a < b]]></source></trans-unit>
      <trans-unit id="blank"><source> </source></trans-unit>
    </body>
  </file>
</xliff>
"""
SECOND = """<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.1" srcLang="en">
\t<file id="f1">
\t\t<unit id="u1">
\t\t\t<notes><note>A button.</note></notes>
\t\t\t<originalData><data id="d1">&lt;b&gt;</data></originalData>
\t\t\t<segment id="s1">
\t\t\t\t<source>Press <pc id="1" dataRefStart="d1">here</pc> <ph id="2"/> now.</source>
\t\t\t</segment>
\t\t\t<ignorable><source> </source></ignorable>
\t\t\t<segment id="s2" state="initial"><source>Then wait.</source><target>Then wait.</target></segment>
\t\t\t<segment id="s3" state="final"><source>Done.</source><target>Fertig.</target></segment>
\t\t\t<segment id="s4"><source><sc id="3"/>Open<ec startRef="3"/> <cp hex="0007"/>
\t\t\t\t<mrk id="m1" translate="no">Ann</mrk></source></segment>
\t\t</unit>
\t\t<unit id="u2" translate="no"><segment><source>rm</source></segment></unit>
\t</file>
</xliff>
"""
LAST = FIRST[: FIRST.index("  </file>")].count("\n") + 1
NAMES = {"x": "urn:oasis:names:tc:xliff:document:1.2", "y": "urn:oasis:names:tc:xliff:document:2.0"}


@pytest.mark.parametrize("text", [FIRST, SECOND, FIRST.replace("\n", "\r\n"), "\ufeff" + FIRST])
def test_a_document_with_its_own_texts_is_the_same(text):
    assert unchanged(read_xliff(text, language="de")) == {text}


def test_real_files_stay_the_same_and_what_is_filled_in_is_read_back():
    for name, text in real_texts("*.xlf").items():
        document = read_xliff(text, language=None)
        assert unchanged(document) == {text}, name
        assert document.languages[0] == "en"
        tree = etree.fromstring(text.lstrip("\ufeff").encode())
        units = tree.findall(".//x:trans-unit", NAMES)
        assert [segment.key for segment in document.segments] == [unit.get("id") for unit in units], name
        assert [segment.source.text for segment in document.segments] == [
            unit.find("x:source", NAMES).text for unit in units
        ]
        assert [segment.target.text for segment in document.segments] == [
            unit.find("x:target", NAMES).text for unit in units
        ]
        filled = etree.fromstring(translated(document).lstrip("\ufeff").encode())
        for segment, target in zip(document.segments, filled.findall(".//x:target", NAMES), strict=True):
            assert target.text.lower() == segment.source.text.lower()


def by_key(text: str) -> dict:
    return {segment.key: segment for segment in read_xliff(text, language="de").segments}


def test_the_segments_of_version_1_and_what_is_translated_already():
    found = by_key(FIRST)
    assert list(found) == ["missing", "empty", "new", "review", "done", "plain", "pairs", "cdata"]
    assert found["missing"].notes == "Say it loud."
    assert found["missing"].source.text == "A bold word & a  break"
    assert [tag.kind for tag in found["missing"].source.tags] == ["open", "close", "atom"]
    assert [key for key, segment in found.items() if segment.target is None] == [
        "missing", "empty", "new", "pairs", "cdata"
    ]  # fmt: skip
    assert [key for key, segment in found.items() if segment.is_unsure] == ["review"]
    assert [tag.kind for tag in found["pairs"].source.tags] == [
        "open", "close", "atom", "atom", "open", "close", "atom"
    ]  # fmt: skip
    assert found["missing"].line == FIRST[: FIRST.index("<source>A")].count("\n") + 1


def test_targets_are_added_filled_and_marked():
    document = read_xliff(FIRST, language="de")
    filled = document.fill([Styled("ß & <") for _ in document.segments], Filling("de"))
    tree = etree.fromstring(filled.encode())
    assert {target.text for target in tree.findall(".//x:trans-unit/x:target", NAMES)} == {"ß & <"}
    states = {
        unit.get("id"): target.get("state")
        for unit in tree.iter("{*}trans-unit")
        for target in unit.findall("x:target", NAMES)
    }
    without = dict.fromkeys(["empty", "plain"])  # a state is written where there is one
    assert states == without | dict.fromkeys(["missing", "new", "review", "done", "pairs", "cdata"], "translated")
    assert tree.find("x:file", NAMES).get("target-language") == "de"
    assert '</source>\n        <target state="translated">ß &amp; &lt;</target>\n        <note>' in filled
    assert "</seg-source>\n        <target" in filled
    assert "<alt-trans><source>old</source><target>alt</target></alt-trans>" in filled
    unsure = etree.fromstring(document.fill([Styled("x")] * len(document.segments), Filling("de", True)).encode())
    assert {target.get("state") for target in unsure.findall(".//x:trans-unit/x:target", NAMES)} == {
        "needs-review-translation"
    }


@LAW
@given(st.text(max_size=20))
def test_any_translation_is_read_back(translation):
    document = read_xliff(FIRST, language="de")
    filled = document.fill([Styled(translation) for _ in document.segments], Filling("de"))
    (target,) = etree.fromstring(filled.encode()).xpath("//*[@id='missing']/*[local-name()='target']")
    impossible = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
    assert (target.text or "") == impossible.sub("\ufffd", translation)


def test_elements_in_a_translation_are_those_of_the_source():
    for text in (FIRST, SECOND):
        before, after = (
            etree.fromstring(each.encode()) for each in (text, translated(read_xliff(text, language="de")))
        )
        assert [e.tag for e in after.iter("{*}g", "{*}pc", "{*}sc", "{*}bpt")] == [
            e.tag for e in before.iter("{*}g", "{*}pc", "{*}sc", "{*}bpt") for _ in range(2)
        ]
        for source, target in zip(after.iter("{*}source"), after.iter("{*}target"), strict=False):
            if source.get("state") is None and len(source):
                assert [(e.tag, dict(e.attrib)) for e in source] == [(e.tag, dict(e.attrib)) for e in target]


def test_version_2_has_the_state_at_the_segment_and_the_language_at_the_root():
    found = by_key(SECOND)
    assert list(found) == ["u1/s1", "u1/s2", "u1/s3", "u1/s4"]
    assert [segment.target is None for segment in found.values()] == [True, True, False, True]
    assert found["u1/s1"].notes == "A button."
    tree = etree.fromstring(translated(read_xliff(SECOND, language="de")).encode())
    assert tree.get("trgLang") == "de"
    assert [segment.get("state") for segment in tree.iter("{*}segment")] == ["translated"] * 4 + [None]
    assert [target.text for target in tree.iter("{*}target")] == ["PRESS ", "THEN WAIT.", "DONE.", None]


def test_nothing_that_is_translated_changes_when_only_the_rest_is_filled():
    document = read_xliff(FIRST, language="de")
    given = [Styled("neu") if segment.target is None else None for segment in document.segments]
    filled = document.fill(given, Filling("de"))
    for kept in ('<target state="final">Fertig</target>', "<target>Öffnen</target>", "'needs-review-translation'>Pruf"):
        assert kept in filled


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FIRST.replace("  </file>\n", ""), f"line {LAST}: this XML cannot be read"),
        (FIRST.replace('id="empty"', 'id="missing"'), "two units of this file have the id 'missing'"),
        ("<tmx/>", "this XML is not XLIFF: its outermost element is <tmx>"),
        ('<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><xliff>&b;</xliff>', "declares the entity 'a'"),
        ('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><xliff>&a;</xliff>', "declares the entity 'a'"),
        ("<xliff>" + "<group>" * 10_000, "nested more than"),
        ("", "line 1: this XML cannot be read"),
        ("\udcff", "a character that Unicode does not have"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_one_sentence(text, expected):
    with pytest.raises(ManyheadsError) as caught:
        read_xliff(text, language="de")
    assert expected in str(caught.value)
    assert "line " in str(caught.value)
    assert "\n" not in str(caught.value)
