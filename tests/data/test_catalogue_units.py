"""Catalogues as sources of pairs: what of a PO or an XLIFF file is learned from."""

from __future__ import annotations

from pathlib import Path

import polib
import pytest

from manyheads.config.corpora import CorpusSettings
from manyheads.data.formats.memories import read_memory
from manyheads.data.formats.memory_languages import find_direction
from manyheads.data.formats.memory_units import Direction
from manyheads.data.text.corpora import Corpus, open_corpus
from manyheads.data.text.files import data_folder
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError

PO = """
msgid ""
msgstr ""
"Language: de_AT\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

msgid "Open\\n"
"the file"
msgstr "Öffnen Sie\\n"
"die Datei"

msgctxt "menu"
msgid "New"
msgstr ""

#, fuzzy
msgid "Close"
msgstr "Speichern"

msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d Datei"
msgstr[1] "%d Dateien"

msgid "Android"
msgstr "Android"

#~ msgid "Old"
#~ msgstr "Alt"
"""
PO_PAIRS = [Pair("Open the file", "Öffnen Sie die Datei"), Pair("%d file", "%d Datei"), Pair("%d files", "%d Dateien")]
FIRST_XLIFF = """<xliff version="1.2"><file source-language="en-US" target-language="de" original="x"><body>
<trans-unit id="1"><source>Copy <ph id="1">%s</ph> to<x id="2"/><g id="3">here</g></source>
  <target state="translated"><ph id="1">%s</ph> hierher<x id="2"/><g id="3">kopieren</g></target></trans-unit>
<trans-unit id="2"><source>New</source><target state="new">Neu</target></trans-unit>
<trans-unit id="3"><source>Close</source><target state="needs-review-translation">Speichern</target></trans-unit>
<trans-unit id="4"><source>Empty</source></trans-unit>
</body></file></xliff>"""
SECOND_XLIFF = """<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="de">
<file id="f">
<unit id="1"><segment state="final"><source>Yes</source><target>Ja</target></segment>
<segment state="initial"><source>No</source><target>No</target></segment></unit></file></xliff>"""


def opened(path: Path, source: str = "en", target: str = "de") -> Corpus:
    """Open memories with both languages given."""
    return open_corpus(CorpusSettings(pairs=str(path), source_column=source, target_column=target), split="train")


def test_finished_translations_of_po_are_pairs(tmp_path: Path):
    path = tmp_path / "de.po"
    path.write_text(PO, encoding="utf-8")
    corpus = opened(path)
    assert list(corpus.pairs()) == PO_PAIRS
    (remark,) = corpus.remarks()
    for reason in ("1 not translated", "1 to be checked (fuzzy)", "1 the same on both sides"):
        assert reason in remark


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-8"])
def test_a_declared_encoding_is_heeded(encoding: str, tmp_path: Path):
    path = tmp_path / "de.po"
    path.write_text(PO.replace("UTF-8", encoding), encoding=encoding)
    assert list(opened(path).pairs()) == PO_PAIRS


def test_messages_are_in_the_other_language(tmp_path: Path):
    path = tmp_path / "de.po"
    path.write_text(PO, encoding="utf-8")
    assert find_direction(str(path), source=None, target="de") == Direction("en", "de")
    assert find_direction(str(path), source="fr", target=None) == Direction("fr", "de")
    assert list(opened(path, "de", "en").pairs()) == [Pair(pair.target, pair.source) for pair in PO_PAIRS]
    with pytest.raises(ManyheadsError, match=r"there is de_AT"):
        list(opened(path, "en", "fr").pairs())


def test_a_catalogue_that_names_no_language_is_refused(tmp_path: Path):
    path = tmp_path / "messages.po"
    path.write_text(PO.replace('"Language: de_AT\\n"\n', ""), encoding="utf-8")
    with pytest.raises(ManyheadsError, match=r"no translation into de: no text is in two languages that are named"):
        find_direction(str(path), source=None, target="de")


@pytest.mark.parametrize(
    ("text", "pairs", "left_out"),
    [
        (FIRST_XLIFF, [Pair("Copy %s to here", "%s hierher kopieren")], ["2 not translated", "1 to be checked"]),
        (SECOND_XLIFF, [Pair("Yes", "Ja")], ["1 not translated"]),
    ],
)
def test_finished_translations_of_xliff_are_pairs(text: str, pairs: list[Pair], left_out: list[str], tmp_path: Path):
    path = tmp_path / "messages.xliff"
    path.write_text(text, encoding="utf-8")
    assert find_direction(str(path), source=None, target=None) == Direction("en", "de")
    corpus = opened(path)
    assert list(corpus.pairs()) == pairs
    assert all(reason in corpus.remarks()[0] for reason in left_out)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("de.po", b'msgid "a\nmsgstr "b"\n', "de.po:1"),
        ("de.po", b'msgid "a"\nmsgstr "\xfc"\n', "de.po:2"),
        ("de.xlf", b"<xliff>\n<file></xliff>", "de.xlf:2"),
        ("de.xlf", b"<!DOCTYPE x [<!ENTITY a 'b'>]><xliff>&a;</xliff>", "entity 'a'"),
    ],
)
def test_a_broken_catalogue_is_refused_with_its_file_and_line(name: str, content: bytes, said: str, tmp_path: Path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ManyheadsError) as raised:
        list(read_memory(tmp_path / name))
    assert said in str(raised.value)
    assert name in str(raised.value)


def test_a_second_reader_finds_the_same_pairs_in_real_catalogues():
    files = sorted((data_folder() / "catalogues").glob("python-docs.fr.*.po"))
    if not files:
        pytest.skip("the catalogues are not there: set MANYHEADS_DATA")
    for file in files:
        units = (pair for unit in read_memory(file) for pair in unit.pairs(Direction("en", "fr")))
        entries = polib.pofile(str(file)).translated_entries()
        expected = [tuple(" ".join(text.split()) for text in (entry.msgid, entry.msgstr)) for entry in entries]
        found = [tuple(" ".join(text.split()) for text in pair) for pair in units if isinstance(pair, Pair)]
        assert found == [one for one in expected if one[0] != one[1]]
