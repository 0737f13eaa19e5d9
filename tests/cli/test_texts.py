"""What an argument means is decided by one rule, whichever verb takes it: a file's name, `-`, or a text."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bert import tiny_folder
from manyheads.cli.texts import lines_of, sources_of
from manyheads.errors import ManyheadsError
from manyheads.exchange.bert import import_bert
from manyheads.inspection.inspector import Inspector

Command = Callable[..., Any]
NAME = "greeting.txt"


@pytest.fixture(autouse=True)
def greeting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of two texts in the folder where the command runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).write_text("a b\nc\n", encoding="utf-8")
    return tmp_path / NAME


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that encodes."""
    folder = tmp_path_factory.mktemp("bert")
    import_bert(tiny_folder(folder / "theirs"), folder / "run")
    return folder / "run"


def texts(*arguments: str, as_text: bool = False) -> list[str]:
    return list(lines_of(sources_of(arguments, as_text=as_text)))


# --- The rule --------------------------------------------------------------------------------------------------------


def test_files_are_read_and_everything_else_is_text(greeting: Path, capsys: pytest.CaptureFixture[str]):
    assert texts("x y", NAME, "z", str(greeting)) == ["x y", "a b", "c", "z", "a b", "c"]
    said = capsys.readouterr().err
    assert f"Reading {NAME}, one text per line." in said and "--text" in said
    assert texts("x y", NAME, as_text=True) == ["x y", NAME]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "text", ["", ".", "..", "...", "/", "and/or", "/and", "~nobody knows", "~50", "e.g.", "see a.txt", "a" * 5000, "\0"]
)
def test_what_is_no_file_is_a_text(text: str):
    assert texts(text) == [text]


def test_packed_files_folders_and_corpora_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "two.gz").write_bytes(gzip.compress(b"2\n"))
    (tmp_path / "folder" / "one").write_text("1\n", encoding="utf-8")
    monkeypatch.setenv("MANYHEADS_DATA", str(tmp_path))
    assert texts("folder/") == ["1", "2"]
    assert texts("data:folder/two.gz") == ["2"]


@pytest.mark.parametrize(
    ("argument", "said"),
    [("missing.txt", "no such file"), ("data:missing", "no such file"), ("folder", "Write folder/")],
)
def test_what_may_be_a_mistake_is_asked_about(tmp_path: Path, argument: str, said: str):
    (tmp_path / "folder").mkdir()
    with pytest.raises(ManyheadsError, match=f"^{argument}: .*{said}.*--text"):
        texts(argument)


# --- The verbs -------------------------------------------------------------------------------------------------------


def test_translate_reads_a_file_that_is_named(command: Command, copy_run: Path):
    result = command("translate", "--model", copy_run, "d e", NAME, "-", stdin="f\ng g\n")
    result.succeeds(f"Reading {NAME}")
    assert result.out == "d e\na b\nc\nf\ng g\n"


def test_translate_takes_a_name_as_text_if_that_is_asked_for(command: Command, copy_run: Path):
    result = command("translate", "--model", copy_run, "--text", "--json", NAME)
    assert json.loads(result.out)["source"] == NAME


def test_encode_takes_texts_and_files(command: Command, bert: Path):
    result = command("encode", "--model", bert, "hello", NAME, "-", stdin="d\n")
    result.succeeds(f"Reading {NAME}")
    assert [json.loads(line)["text"] for line in result.out.splitlines()] == ["hello", "a b", "c", "d"]


@pytest.mark.parametrize(("verb", "fault"), [("classify", "not trained"), ("answer", "not trained")])
def test_labels_and_answers_take_texts(command: Command, bert: Path, verb: str, fault: str):
    command(verb, "--model", bert, "a\tb").refuses(fault)  # and no file is asked for
    command(verb, "--model", bert, "missing.tsv").refuses("missing.tsv: there is no such file")


def test_a_pair_without_a_tab_is_told_with_its_place(command: Command, bert: Path):
    command("encode", "--model", bert, "--pairs", "a\tb", NAME).refuses(f"{NAME}:1", "0 tabs")
    command("encode", "--model", bert, "--pairs", "a\tb", "c").refuses("text:2", "0 tabs")


def test_inspect_tells_texts_from_the_run(command: Command, copy_run: Path):
    shown = json.loads(command("inspect", copy_run, "a/b", "--json").out)  # the old form
    assert shown == Inspector(copy_run).everything("a/b").to_json()
    named = command("inspect", "a/b", "--model", copy_run, "--json")
    assert json.loads(named.out) == shown
    aligned = [*("--show", "alignment"), "--level", "word", "--model", copy_run]
    result = command("inspect", "a b", NAME, "-", *aligned, stdin="d e\n")
    result.succeeds(f"Reading {NAME}")
    assert [len(line.split()) for line in result.out.splitlines()] == [2, 2, 1, 2]


def test_inspect_needs_no_run_for_several_texts(command: Command):
    words = ["Hallo.", "Guten Tag/Abend.", "--to", "en", "--show", "alignment", "--level", "word"]
    result = command("inspect", *words)
    result.succeeds()
    assert len(result.out.splitlines()) == 2
    assert command("inspect", "tatoeba", *words).out == result.out


def test_inspect_says_what_a_first_text_was_taken_for(command: Command, copy_run: Path):
    command("inspect", "runs/none", "a b", "--json").refuses("There is no run folder 'runs/none'", "--model")
    command("inspect", "runs/none", "--show", "curves", "--out", "a.png").refuses("runs/none: there is no such run")
