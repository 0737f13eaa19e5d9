"""Documents are translated: each distinct text once, everything else kept, and an interruption costs little."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from document_examples import EXAMPLES
from manyheads.decoding import document_journal
from manyheads.decoding.document_journal import journal_path
from manyheads.decoding.document_translation import TEXTS_AT_ONCE, DocumentTranslation
from manyheads.decoding.translator import Candidate, Translation, Translator
from manyheads.documents.formats import format_by_ending
from manyheads.documents.opening import open_document
from manyheads.errors import ManyheadsError
from run_folders import PROSE, make_multilingual_run, make_run

Texts = Sequence[str]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("documents") / "run", data=PROSE).path


class Stub(Translator):
    """A translator whose translations are those of a function; it notes what it was asked for."""

    def __init__(self, run: Path, translate: Callable[[str], str] = lambda text: text, **machine: str) -> None:
        super().__init__(run, **machine)
        self._translate = translate
        self.asked: list[str] = []

    def translations(self, texts: Texts, **changes: Any) -> list[Translation]:
        self.asked += texts
        return [Translation(text, [Candidate(self._translate(text), 0.0, 0.0, [])]) for text in texts]


PO = """msgid ""
msgstr ""
"Language: de\\n"
"Content-Type: text/plain; charset=UTF-8\\n"

msgid "One here. Two there."
msgstr ""

msgctxt "again"
msgid "One here. Two there."
msgstr ""

#, fuzzy
msgid "Three"
msgstr "Drei?"

msgid "Four"
msgstr "Vier"
"""


def written(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def upper(stub: Stub, path: Path, **settings: Any) -> str:
    """Return a document with its texts in upper case."""
    out = path.with_name(f"out.{path.name}")
    stub.translate_document(path, out=out, **settings)
    assert not journal_path(out).exists()
    return out.read_bytes().decode()


def test_only_what_is_needed_is_translated_and_each_text_once(run: Path, tmp_path: Path):
    path = written(tmp_path, "de.po", PO)
    expected = PO.replace('msgstr ""\n\nmsgctxt', 'msgstr "ONE HERE. TWO THERE."\n\nmsgctxt')
    expected = expected.replace('msgstr ""\n\n#', 'msgstr "ONE HERE. TWO THERE."\n\n#')
    for which, sentences, result in (
        ("empty", ["One here.", "Two there."], expected),
        ("needed", ["One here.", "Two there.", "Three"], expected.replace("#, fuzzy\n", "").replace("Drei?", "THREE")),
        (
            "all",
            ["One here.", "Two there.", "Three", "Four"],
            expected.replace("#, fuzzy\n", "").replace("Drei?", "THREE").replace("Vier", "FOUR"),
        ),
    ):
        stub = Stub(run, str.upper)
        assert upper(stub, path, which=which) == result
        assert stub.asked == sentences


def test_a_real_model_translates_as_it_does_text(run: Path, tmp_path: Path):
    translator = Translator(run)
    path = written(tmp_path, "a.html", "<p>1 May <b>2020</b>. Then 2 June.</p>\n<!-- x -->\n<p>3 July</p>\r\n")
    result = translator.translate_document(path, out=tmp_path / "out.html")
    again = open_document(tmp_path / "out.html").document
    assert [one.source.text for one in again.segments if one.source.tags] == [
        translator.translate("1 May 2020. Then 2 June.")
    ]
    assert (tmp_path / "out.html").read_bytes().endswith(f"<p>{translator.translate('3 July')}</p>\r\n".encode())
    assert (result.counts.to_translate, result.counts.left, result.pivot) == (2, 0, None)


@pytest.mark.parametrize("name", ["a.json", "a.html", "a.txt", "a.srt", "a.vtt", "strings.xml", "a.md"])
def test_a_translation_that_changes_nothing_gives_the_same_bytes(run: Path, tmp_path: Path, name: str):
    text = EXAMPLES[format_by_ending(name)].replace("\n", "\r\n")
    assert upper(Stub(run), written(tmp_path, name, text)) == text


def test_texts_with_tags_keep_them(run: Path, tmp_path: Path):
    path = written(tmp_path, "a.html", "<p>One <i>two</i> three.<br/> Four &lt; <b>five</b>.</p>")
    assert upper(Stub(run, str.upper), path) == "<p>ONE <i>TWO</i> THREE.<br/> FOUR &lt; <b>FIVE</b>.</p>"


def test_an_unsure_translation_is_marked_where_the_format_can(run: Path, tmp_path: Path):
    marked = upper(Stub(run, str.upper), written(tmp_path, "de.po", PO), mark_unsure=True)
    assert marked.count("fuzzy") == 3
    with pytest.raises(ManyheadsError, match="the format 'text' has no mark"):
        upper(Stub(run), written(tmp_path, "a.txt", "One"), mark_unsure=True)


# --- Interruptions ----------------------------------------------------------------------------------------------------

MANY = "".join(f"Text number {number}.\n" for number in range(3 * TEXTS_AT_ONCE + 7))


class StoppedError(Exception):
    """The end of a process, at a place that a test chooses."""


def stopping_after(portions: int) -> Callable[[int, int], None]:
    """Return a `tell` that ends the translation when this number of portions is finished."""

    def tell(done: int, count: int) -> None:
        if done >= portions * TEXTS_AT_ONCE:
            raise StoppedError

    return tell


def interrupted(stub: Stub, path: Path, out: Path, portions: int) -> bytes:
    """Translate some portions of a document, and return the journal that stays."""
    with pytest.raises(StoppedError):
        DocumentTranslation(stub, path).write(out, tell=stopping_after(portions))
    assert not out.exists()
    return journal_path(out).read_bytes()


def test_a_translation_goes_on_where_it_was(run: Path, tmp_path: Path):
    path, out = written(tmp_path, "a.txt", MANY), tmp_path / "out.txt"
    first, second = Stub(run, str.upper), Stub(run, str.upper)
    interrupted(first, path, out, 2)
    told: list[tuple[int, int]] = []
    DocumentTranslation(second, path).write(out, tell=lambda done, count: told.append((done, count)))
    assert out.read_text() == MANY.upper()
    lines = MANY.splitlines()
    assert first.asked == lines[: 2 * TEXTS_AT_ONCE]
    assert second.asked == lines[2 * TEXTS_AT_ONCE :]
    assert told == [(done, len(lines)) for done in (2 * TEXTS_AT_ONCE, 3 * TEXTS_AT_ONCE, len(lines))]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "out.txt"]


def test_a_journal_that_was_cut_or_damaged_anywhere_is_right_as_far_as_it_is_used(run: Path, tmp_path: Path):
    path, out = written(tmp_path, "a.txt", MANY), tmp_path / "out.txt"
    whole = interrupted(Stub(run, str.upper), path, out, 1)
    places = range(0, len(whole), len(whole) // 20)
    damaged = [whole[:place] for place in places]
    damaged += [whole[:place] + b"?" + whole[place + 1 :] for place in places]
    damaged += [whole + whole, whole + b"[" * 100_000, b"\xff" * 100, whole.replace(b"\n", b"\n\n")]
    stub = Stub(run, str.upper)
    for content in damaged:
        journal_path(out).write_bytes(content)
        DocumentTranslation(stub, path).write(out)
        assert out.read_text() == MANY.upper()
        assert not journal_path(out).exists()


@pytest.mark.parametrize("change", ["text", "options", "model", "precision"])
def test_a_journal_of_something_else_is_not_used(run: Path, tmp_path: Path, change: str):
    path, out = written(tmp_path, "a.txt", MANY), tmp_path / "out.txt"
    interrupted(Stub(run, str.upper), path, out, 1)
    if change == "text":
        path.write_text(MANY + "More.\n")
    other = make_run(tmp_path / "other", data=PROSE, seed=2).path if change == "model" else run
    stub = Stub(other, str.upper, precision="int8" if change == "precision" else "float32")
    DocumentTranslation(stub, path, **({"beam": 1} if change == "options" else {})).write(out)
    assert stub.asked == path.read_text().splitlines()


def test_a_journal_of_another_column_is_not_used(run: Path, tmp_path: Path):
    lines = [f"one {number},two {number}" for number in range(2 * TEXTS_AT_ONCE)]
    path, out = written(tmp_path, "a.csv", "\n".join(lines)), tmp_path / "out.csv"
    with pytest.raises(StoppedError):
        DocumentTranslation(Stub(run), path, format="csv:0").write(out, tell=stopping_after(1))
    stub = Stub(run)
    DocumentTranslation(stub, path, format="csv:1").write(out)
    assert stub.asked == [line.partition(",")[2] for line in lines]


def test_a_link_in_the_place_of_the_journal_is_not_followed(run: Path, tmp_path: Path):
    path, out, other = written(tmp_path, "a.txt", MANY), tmp_path / "out.txt", written(tmp_path, "other", "mine")
    journal_path(out).symlink_to(other)
    if sys.platform != "win32":
        with pytest.raises(ManyheadsError, match="cannot be written"):
            DocumentTranslation(Stub(run), path).write(out)
    assert other.read_text() == "mine"


def test_a_translator_of_parts_keeps_no_journal(run: Path, tmp_path: Path):
    path, out = written(tmp_path, "a.txt", MANY), tmp_path / "out.txt"
    stub = Stub(run, str.upper)
    stub.run = None
    with pytest.raises(StoppedError):
        DocumentTranslation(stub, path).write(out, tell=stopping_after(1))
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_a_killed_process_goes_on_and_never_leaves_half_a_file(run: Path, tmp_path: Path, background):
    path, out = written(tmp_path, "a.txt", MANY), tmp_path / "out.txt"
    expected = "".join(f"{one}\n" for one in Translator(run).translate(MANY.splitlines(), beam=1, extra_length=0))
    words = ["translate", path, "--model", run, "--out", out, "--beam", 1, "--extra-length", 0]
    kills = 0
    while not out.exists():
        kept = size(journal_path(out))
        process = background(*words)
        process.wait_for(partial(has_gone_on, out, kept))
        process.end(signal.SIGKILL)
        kills += 1
        assert kills <= 10
    assert kills > 1
    assert out.read_text() == expected


def has_gone_on(out: Path, kept: int) -> bool:
    """Return whether a translation is finished, or has more in its journal."""
    return out.exists() or size(journal_path(out)) > kept


def size(path: Path) -> int:
    """Return the size of a file, 0 if there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


# --- Languages --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_multilingual_run(tmp_path_factory.mktemp("several") / "run").path


FRENCH = "Je suis fatigué et je veux rentrer chez moi.\nOui.\nOK\n"


def languages_of(run: Path, path: Path, **settings: Any) -> tuple[str | None, str | None, str | None]:
    """Return the languages of a document: to, source, and as it names the target."""
    found = DocumentTranslation(Translator(run), path, **settings).languages
    return found.to, found.source, found.target


def test_languages_are_those_that_are_asked_for_named_or_detected(several: Path, tmp_path: Path):
    text = written(tmp_path, "a.txt", FRENCH)
    assert languages_of(several, text, to="en") == ("en", "fr", "en")
    assert languages_of(several, text, to="en", source="de") == ("en", "de", "en")
    with pytest.raises(ManyheadsError, match="--to: fr, de, en"):
        languages_of(several, text)
    po = written(tmp_path, "de.po", PO.replace("Language: de", "Language: de_AT"))
    assert languages_of(several, po) == ("de", "en", "de_AT")
    assert languages_of(several, po, to="de") == ("de", "en", "de_AT")
    with pytest.raises(ManyheadsError, match="names 'de_AT' as the language of its translations"):
        languages_of(several, po, to="fr")


def test_a_run_of_one_direction_needs_no_language(run: Path, tmp_path: Path):
    assert languages_of(run, written(tmp_path, "a.txt", "One")) == (None, None, "de")
    with pytest.raises(ManyheadsError, match="translates only into de"):
        languages_of(run, written(tmp_path, "a.txt", "One"), to="fr")
    with pytest.raises(ManyheadsError, match="does not translate from 'fr'"):
        Translator(run).translate_document(tmp_path / "a.txt", out=tmp_path / "out", source="fr")
    with pytest.raises(ManyheadsError, match="names 'fr'"):
        languages_of(run, written(tmp_path, "fr.po", PO.replace("Language: de", "Language: fr")))


def test_the_language_in_between_is_said(several: Path, tmp_path: Path):
    path = written(tmp_path, "a.txt", FRENCH)
    result = Translator(several).translate_document(path, out=tmp_path / "out.txt", to="de")
    assert result.pivot == "en"
    translator = Translator(several)
    expected = [translator.translate(line, to="de", source="fr") for line in FRENCH.splitlines()]
    assert (tmp_path / "out.txt").read_text() == "".join(f"{line}\n" for line in expected)


def test_warnings_name_the_line(run: Path, tmp_path: Path):
    path = written(tmp_path, "a.txt", "\nOne two three four.\n")
    result = Translator(run).translate_document(path, out=tmp_path / "out.txt", extra_length=0)
    (expected,) = Translator(run).translations(["One two three four."], extra_length=0)
    assert expected.warning
    assert result.warnings == (f"line 2: {expected.warning}",)


def test_the_journal_keeps_at_most_so_much(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, out = written(tmp_path, "a.txt", MANY), tmp_path / "out.txt"
    interrupted(Stub(run, str.upper), path, out, 1)
    monkeypatch.setattr(document_journal, "LARGEST", 10)
    with pytest.raises(ManyheadsError, match="and at most 10 are read"):
        DocumentTranslation(Stub(run), path).write(out)
