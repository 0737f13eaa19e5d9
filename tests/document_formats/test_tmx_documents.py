"""Translation memories as documents: units get the text of the language where it is missing."""

from __future__ import annotations

import pytest
from catalogues import real_texts, translated, unchanged
from lxml import etree

from manyheads.documents.interface import Filling, Styled
from manyheads.documents.tmx import read_tmx
from manyheads.errors import ManyheadsError

LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
MEMORY = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en" segtype="sentence" datatype="text"/><body>
  <tu tuid="1"><note>A note.</note>
    <tuv xml:lang="fr"><seg>Un <bpt i="1">&lt;b&gt;</bpt>mot<ept i="1">&lt;/b&gt;</ept></seg></tuv>
    <tuv xml:lang="en-GB"><seg>A <bpt i="1">&lt;b></bpt>word<ept i="1">&lt;/b></ept> &amp; <hi>more</hi></seg></tuv>
  </tu>
  <tu><tuv xml:lang="EN"><prop type="x">p</prop><seg>two</seg></tuv><tuv xml:lang="de-DE"><seg>zwei</seg></tuv></tu>
  <tu srclang="fr"><tuv xml:lang="fr"><seg>trois</seg></tuv><tuv lang="de"><seg/></tuv></tu>
  <tu><tuv xml:lang="fr"><seg>quatre</seg></tuv></tu>
</body></tmx>
"""


@pytest.mark.parametrize(
    "text", [MEMORY, MEMORY.replace("\n", "\r\n"), MEMORY.replace('srclang="en"', 'srclang="*all*"')]
)
def test_a_memory_with_its_own_texts_is_the_same(text):
    for language in ("de", "fr", "pt-BR", None):
        if "*all*" not in text or language:
            assert unchanged(read_tmx(text, language=language), language) == {text}


def test_the_source_is_the_language_that_is_named_and_the_target_any_region_of_its_own():
    document = read_tmx(MEMORY, language="de")
    assert [segment.source.text for segment in document.segments] == ["A word & more", "two", "trois"]
    assert [segment.target and segment.target.text for segment in document.segments] == [None, "zwei", None]
    assert [tag.kind for tag in document.segments[0].source.tags] == ["open", "close", "open", "close"]
    assert (document.segments[0].key, document.segments[0].notes) == ("1", "A note.")
    assert document.languages == ("en", "de")
    assert read_tmx(MEMORY, language=None).languages == ("en", "fr")
    to_british = read_tmx(MEMORY, language="en-US")
    assert [segment.source.text for segment in to_british.segments] == ["A word & more", "two", "trois"]


def test_a_missing_text_is_added_with_the_indentation_of_the_others():
    filled = translated(read_tmx(MEMORY, language="de"))
    assert '</seg></tuv>\n    <tuv xml:lang="de"><seg>A <bpt i="1">&lt;b></bpt>WORD<ept i="1">' in filled
    tree = etree.fromstring(filled.encode(), etree.XMLParser(load_dtd=False, resolve_entities=False))
    german = [tuv for tuv in tree.iter("tuv") if (tuv.get(LANGUAGE) or tuv.get("lang"))[:2] == "de"]
    assert [tuv.findtext("seg") for tuv in german] == ["A ", "TWO", "TROIS"]


def test_real_memories_stay_the_same_and_what_is_added_is_read_back():
    for name, text in real_texts("*.tmx.gz").items():
        document = read_tmx(text, language="fr")
        units = text.count("<tu ")
        assert unchanged(document, "fr") == {text}, name
        assert len([segment for segment in document.segments if segment.target]) == units
        filled = read_tmx(text, language="de").fill([Styled("neu & alt")] * units, Filling("de"))
        texts = etree.fromstring(filled.encode()).iter("tuv")
        added = [text.findtext("seg") for text in texts if text.get(LANGUAGE) == "de"]
        assert added == ["neu & alt"] * units


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<xliff/>", "this XML is not TMX"),
        ("<tmx/>", "this XML is not TMX"),
        (MEMORY.replace("</tuv>", "", 1), "line 7: this XML cannot be read"),
        (MEMORY.replace("<seg/>", ""), "line 9: a <tuv> has no <seg>"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><tmx><body>&b;</body></tmx>", "declares the entity 'b'"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(text, expected):
    with pytest.raises(ManyheadsError) as caught:
        read_tmx(text, language="de")
    assert expected in str(caught.value)
    with pytest.raises(ManyheadsError, match="Name the language to translate into"):
        read_tmx("<tmx><body/></tmx>", language=None)
