"""The page on documents: its commands run on its examples and say what stands there; its table has every format."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from document_examples import APP
from manyheads.documents import opening
from manyheads.documents.formats import endings
from manyheads.documents.opening import FORMATS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "documents.md").read_text(encoding="utf-8")
CONSOLE = re.search(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)[1]
COMMANDS = re.findall(r"^\$ manyheads (.*)\n((?:[^$].*\n)*)", CONSOLE, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's documents."""
    place = tmp_path_factory.mktemp("page")
    (place / "app.po").write_text(APP, encoding="utf-8")
    page = re.search(r"`page\.html` was\n`(.*)`:", PAGE)[1]
    (place / "page.html").write_text(page, encoding="utf-8")
    return place


@pytest.mark.parametrize(("words", "shown"), COMMANDS)
def test_a_command_says_what_stands_there(
    command, folder: Path, monkeypatch: pytest.MonkeyPatch, words: str, shown: str
):
    monkeypatch.chdir(folder)
    result = command(*shlex.split(words))
    assert result.code == 0, result.err
    measured = re.compile(r"about \d+ s")
    assert measured.sub("", result.out) == measured.sub("", shown)


def test_the_library_does_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(folder)
    exec(re.search(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)[1], {})
    assert capsys.readouterr().out.startswith("4 ")
    assert 'msgstr[1] ""' not in (folder / "app.de.po").read_text(encoding="utf-8")


def test_the_table_has_every_format_and_its_endings():
    rows = re.findall(r"^\| (`.*?) \| (`.*?) \|", PAGE, flags=re.MULTILINE)
    named = {name for row, _ in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == {one.name for one in FORMATS}
    assert {ending for _, row in rows for ending in re.findall(r"`(\.\w+)`", row)} == set(endings())


def test_the_limits_are_those_of_the_code():
    assert f"At most {opening.LARGEST:,} bytes" in PAGE
    assert f"and {opening.LONGEST:,} characters" in PAGE
