"""A file that a user names for output takes the place of no input, and of nothing else without a word."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manyheads.cli.outputs import output_file
from manyheads.errors import ManyheadsError

Command = Callable[..., Any]
LINES = "a b\nc d\n"


class Terminal(io.StringIO):
    """A keyboard, or a screen."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A file to read."""
    (tmp_path / "texts").write_text(LINES)
    return tmp_path / "texts"


def same(texts: Path) -> Path:
    return texts


def symbolic_link(texts: Path) -> Path:
    (texts.parent / "link").symlink_to(texts)
    return texts.parent / "link"


def hard_link(texts: Path) -> Path:
    os.link(texts, texts.parent / "link")
    return texts.parent / "link"


def another_spelling(texts: Path) -> Path:
    return texts.parent / ".." / texts.parent.name / texts.name


@pytest.mark.parametrize("name", [same, symbolic_link, hard_link, another_spelling])
@pytest.mark.parametrize("option", ["--source", "--target", "--pairs"])
def test_evaluate_does_not_write_over_what_it_reads(
    command: Command, copy_run: Path, texts: Path, name: Callable[[Path], Path], option: str
):
    other = texts.with_name("other")
    other.write_text(LINES)
    files = {"--source": other, "--target": other} if option != "--pairs" else {}
    words = [word for pair in {**files, option: texts}.items() for word in pair]
    result = command("evaluate", copy_run, *words, "--save", name(texts), "--overwrite")
    result.refuses("this file is one of the inputs", "Choose another name.")
    assert texts.read_text() == LINES


def test_encode_does_not_write_over_what_it_reads(command: Command, tmp_path: Path):
    (tmp_path / "texts.jsonl").write_text(LINES)
    words = ["encode", tmp_path / "texts.jsonl", "--model", tmp_path, "--out", tmp_path / "texts.jsonl"]
    command(*words).refuses("this file is one of the inputs")
    assert (tmp_path / "texts.jsonl").read_text() == LINES


@pytest.mark.parametrize("given", ["folder", "data:texts"])
def test_inputs_may_be_folders_and_public_corpora(texts: Path, given: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MANYHEADS_DATA", str(texts.parent))
    with pytest.raises(ManyheadsError, match="one of the inputs"):
        output_file(texts, inputs=(None, texts.parent if given == "folder" else given), overwrite=True)


def test_a_file_is_replaced_only_if_that_is_said(command: Command, copy_run: Path, tmp_path: Path):
    save = tmp_path / "outputs"
    words = ["evaluate", copy_run, "--count", 5, "--save", save]
    command(*words).succeeds()
    first = save.read_text()
    save.write_text("precious\n")
    command(*words).refuses("this file exists already.", "--overwrite")
    assert save.read_text() == "precious\n"
    command(*words, "--overwrite").succeeds()
    assert save.read_text() == first


@pytest.mark.parametrize("words", [["inspect", "--show", "positions", "--out"], ["recipe", "new"]])
def test_other_verbs_have_the_same_rule(command: Command, tmp_path: Path, words: list[str]):
    (tmp_path / "x.json").write_text("precious")
    command(*words, tmp_path / "x.json").refuses("this file exists already.", "--overwrite")
    assert (tmp_path / "x.json").read_text() == "precious"
    command(*words, tmp_path / "x.json", "--overwrite").succeeds()
    assert (tmp_path / "x.json").read_text() != "precious"


@pytest.mark.parametrize("answer", ["y", "n"])
def test_on_a_terminal_it_is_asked(texts: Path, monkeypatch: pytest.MonkeyPatch, answer: str):
    screen = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(f"{answer}\n"))
    monkeypatch.setattr("sys.stderr", screen)
    if answer == "y":
        output_file(texts, overwrite=False)
    else:
        with pytest.raises(ManyheadsError, match="not overwritten"):
            output_file(texts, overwrite=False)
    assert f"{texts} exists already. Overwrite it? [y/N]" in screen.getvalue()


def test_what_holds_nothing_may_be_written(tmp_path: Path):
    (tmp_path / "empty").touch()
    for name in ("empty", "new"):
        output_file(tmp_path / name, overwrite=False)
    output_file(None, overwrite=False)


def test_what_cannot_be_written_is_told_before_the_work(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for place, reason in ((tmp_path, "a folder"), (tmp_path / "pipe", "a pipe"), (tmp_path / "no" / "x", "no such")):
        with pytest.raises(ManyheadsError, match=reason):
            output_file(place, overwrite=True)


# --- Standard output -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("words", [["data", "list"], ["data", "list", "--json"], ["--version"]])
def test_a_full_device_is_an_error_in_a_sentence(words: list[str]):
    command = [sys.executable, "-m", "manyheads", *words]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: standard output: this cannot be written: ")
    assert done.stderr.count("\n") == 1


def test_a_closed_pipe_ends_the_command_without_a_word():
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "manyheads", "data", "list"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.returncode != 0
    assert done.stderr == ""
