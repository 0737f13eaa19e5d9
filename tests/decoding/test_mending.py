"""Whatever a model does to placeholders, no document has a translation that breaks its program, and faults are said."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manyheads.decoding.document_translation import TranslatedDocument
from manyheads.decoding.translator import Candidate, Translation, Translator
from manyheads.documents.checks import problems
from manyheads.documents.opening import open_document
from manyheads.documents.plurals import plurals_of
from run_folders import PROSE, make_run

PLACEHOLDER = re.compile(r"%(?:\d\$|\(\w+\))?[sdil]+|\{\w*\}|</?b>|~a|%%")


def dropping(text: str) -> str:
    return PLACEHOLDER.sub("", text).upper()


def doubling(text: str) -> str:
    return PLACEHOLDER.sub(r"\g<0> \g<0>", text)


def reversing(text: str) -> str:
    return " ".join(reversed(text.split()))


def inventing(text: str) -> str:
    return f"<b>{text.upper()} %s {{x}} 50% mehr"


MODELS = [dropping, doubling, reversing, inventing]


class Stub(Translator):
    """A translator whose model is a function."""

    def __init__(self, run: Path, model: Callable[[str], str]) -> None:
        super().__init__(run)
        self._model = model

    def translations(self, texts: list[str], **changes: Any) -> list[Translation]:
        return [Translation(text, [Candidate(self._model(text), 0.0, 0.0, [])] if text else []) for text in texts]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("mending") / "run", data=PROSE).path


def translated(stub: Stub, path: Path, text: str, **settings: Any) -> tuple[str, TranslatedDocument]:
    """Return a translated document, and what became of it."""
    path.write_text(text, encoding="utf-8")
    out = path.with_name(f"out.{path.name}")
    result = stub.translate_document(path, out=out, **settings)
    return out.read_text(encoding="utf-8"), result


def require_msgfmt(path: Path) -> None:
    """Fail if msgfmt refuses a catalogue; skip without it."""
    if shutil.which("msgfmt") is None:
        pytest.skip("needs msgfmt: install gettext.")
    done = subprocess.run(["msgfmt", "-c", "-o", "/dev/null", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def wrong(path: Path, format: str | None = None) -> list[str]:
    """Return what is wrong with the translations in a document that has both languages."""
    segments = open_document(path, format=format).document.segments
    pairs = ((one, one.target.text if one.target else "") for one in segments)
    return [found for one, target in pairs for found in problems(one.source.text, target, one.rules)]


PO = """msgid ""
msgstr ""
"Language: LANGUAGE\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=COUNT; plural=FORMULA;\\n"

#, c-format
msgid "Copied %d files of %s.\\n"
msgstr ""

#, c-format
msgid "%ds ago, 50%% of <b>%s</b> are here. The other %i are not."
msgstr ""

#, c-format
msgid "%2$s has %1$d"
msgstr ""

#, python-format
msgid "%(user)s wrote %(count)d lines"
msgstr ""

#, python-brace-format
msgid "{user} wrote {count} lines"
msgstr ""

msgid "Open {name} or %s"
msgstr ""

#, c-format
msgid "one file in %s"
msgid_plural "%d files in %s"
msgstr[0] ""
msgstr[1] ""

#, c-format
msgid "One file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""

#, lisp-format
msgid "~a files"
msgstr ""

#, java-format
msgid "{0} files"
msgstr ""
"""


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("language", ["de", "fr", "ru", "ja"])
def test_msgfmt_accepts_a_catalogue_whatever_the_model_does(run: Path, tmp_path: Path, model, language: str):
    forms = plurals_of(language)
    assert forms is not None
    header = {"LANGUAGE": language, "COUNT": str(forms.count), "FORMULA": f"({forms.formula})"}
    text = re.sub("LANGUAGE|COUNT|FORMULA", lambda found: header[found[0]], PO)
    stub = Stub(run, model)
    stub.languages = None  # a model of any language
    _, result = translated(stub, tmp_path / "a.po", text)
    assert result.faults == () and wrong(tmp_path / "out.a.po") == []
    assert result.counts.to_translate == 8 + 2 * forms.count
    require_msgfmt(tmp_path / "out.a.po")


def test_what_a_model_invents_is_left_out(run: Path, tmp_path: Path):
    content, _ = translated(Stub(run, inventing), tmp_path / "a.json", '{"a": "Hello", "b": "See {name}"}')
    assert json.loads(content) == {"a": "HELLO 50% mehr", "b": "SEE 50% mehr {name}"}


XLIFF = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en" target-language="de">
<body><trans-unit id="1"><source>Copied %d files of <g id="1">%s</g> now.</source></trans-unit>
<trans-unit id="2"><source>Hello {name}, %1$s</source></trans-unit></body></file></xliff>
"""
ANDROID = """<?xml version="1.0" encoding="utf-8"?>
<resources>
    <string name="a">Copied %1$d files of <b>%2$s</b>.</string>
    <string name="b">It\\'s {name}</string>
    <plurals name="c"><item quantity="one">%d file</item><item quantity="other">%d files</item></plurals>
</resources>
"""
JSON = '{"a": "Copied {count} files of <b>{name}</b>.", "b": ["%s of %d", "{}"]}'


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("name", "text"), [("a.xliff", XLIFF), ("strings.xml", ANDROID), ("a.json", JSON)])
def test_other_formats_keep_their_placeholders_too(run: Path, tmp_path: Path, model, name: str, text: str):
    path = tmp_path / name
    _, result = translated(Stub(run, model), path, text)
    assert result.faults == ()
    before, after = (open_document(one, language="de").document.segments for one in (path, tmp_path / f"out.{name}"))
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        target = other.target or other.source
        assert problems(one.source.text, target.text) == []
        assert [tag.raw for tag in one.source.tags] == [tag.raw for tag in target.tags]


def test_plural_forms_in_a_catalogue_have_whole_sentences(run: Path, tmp_path: Path):
    text = '{"a": "You have {n, plural, one {# file} other {# files}} of {name}."}'
    for model in MODELS:
        stub = Stub(run, model)
        content, result = translated(stub, tmp_path / "a.json", text)
        found = json.loads(content)["a"]
        assert result.faults == () and re.fullmatch(r"\{n, plural, one \{.*\} other \{.*\}\}", found)
        assert found.count("{name}") == found.count("#") == 2


REFUSED = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=n != 1;\\n"

msgid "lost"
msgstr ""

msgctxt "menu"
msgid "kept"
msgstr ""

#, c-format
msgid "one lost"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""
"""


def losing(text: str) -> str:
    return "" if "lost" in text else text.upper()


def test_what_cannot_be_put_right_stays_as_it_is_and_is_said_with_its_line(run: Path, tmp_path: Path, command):
    content, result = translated(Stub(run, losing), tmp_path / "a.po", REFUSED)
    assert content == REFUSED.replace('msgid "kept"\nmsgstr ""', 'msgid "kept"\nmsgstr "KEPT"')
    require_msgfmt(tmp_path / "out.a.po")
    assert [(fault.line, fault.problem) for fault in result.faults] == [(5, "it is empty"), (13, "it is empty")]
    assert result.warnings[0] == "line 5: left as it is, as its translation would be wrong: it is empty"
    assert (result.counts.to_translate, result.counts.left) == (1, 3)


def test_a_text_of_a_document_of_one_language_stays_in_its_own(run: Path, tmp_path: Path):
    content, result = translated(Stub(run, losing), tmp_path / "a.json", '{"menu": {"a": "lost", "b": "kept"}}')
    assert json.loads(content) == {"menu": {"a": "lost", "b": "KEPT"}}
    (fault,) = result.faults
    assert str(fault) == "line 1: left as it is 'menu.a', as its translation would be wrong: it is empty"


def test_a_sign_that_a_format_would_misread_is_not_written(run: Path, tmp_path: Path):
    text = REFUSED.replace("#, c-format", "#, lisp-format").replace("%d", "~a").replace("one lost", "one ~a")
    content, result = translated(Stub(run, lambda text: f"{text} ~ x"), tmp_path / "a.po", text)
    assert [fault.line for fault in result.faults] == [13, 13]
    assert all("~ x" in fault.problem for fault in result.faults)
    assert 'msgid_plural "~a files"\nmsgstr[0] ""\nmsgstr[1] ""' in content


def test_the_command_names_the_file_and_the_line(run: Path, tmp_path: Path, command, monkeypatch: pytest.MonkeyPatch):
    path, out = tmp_path / "a.po", tmp_path / "out.po"
    path.write_text(REFUSED, encoding="utf-8")
    monkeypatch.setattr(Translator, "translations", Stub.translations)
    monkeypatch.setattr(Translator, "_model", staticmethod(losing), raising=False)
    result = command("translate", path, "--model", run, "--out", out)
    assert f"{path}, line 5: left as it is" in result.err and f"{path}, line 13: left as it is" in result.err
    assert "1 of 4 texts translated" in result.out
    answer = command("translate", path, "--model", run, "--out", out, "--json", "--overwrite")
    assert [one.partition(":")[0] for one in json.loads(answer.out)["warnings"]] == ["line 5", "line 13"]
