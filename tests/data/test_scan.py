"""Lines of SCAN: a command and its actions, found by what they look like."""

from __future__ import annotations

from pathlib import Path

import pytest

from manyheads.config.corpora import CorpusSettings
from manyheads.data.formats.detection import with_format
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError

LINES = "IN: jump twice OUT: I_JUMP I_JUMP\nIN: turn left OUT: I_TURN_LEFT\n"
PAIRS = [Pair("jump twice", "I_JUMP I_JUMP"), Pair("turn left", "I_TURN_LEFT")]


def read(text: str, folder: Path, **keys: object) -> list[Pair]:
    """Return the pairs of a file with this text, whose format is detected."""
    (folder / "tasks.txt").write_text(text, encoding="utf-8")
    settings = CorpusSettings.model_validate(with_format({"pairs": str(folder / "tasks.txt"), **keys}))
    return list(open_corpus(settings, split="train").pairs())


def test_a_file_of_scan_is_found_by_its_lines(tmp_path: Path):
    assert read(LINES, tmp_path) == PAIRS
    assert with_format({"pairs": str(tmp_path / "tasks.txt")})["format"] == "scan"
    assert read(f"{LINES}\n", tmp_path) == [*PAIRS, Pair("", "")]


def test_actions_can_be_the_source(tmp_path: Path):
    swapped = [Pair(pair.target, pair.source) for pair in PAIRS]
    assert read(LINES, tmp_path, source_column=1, target_column=0) == swapped


def test_other_lines_are_tsv(tmp_path: Path):
    assert read("IN: a\tb\nIN: c OUT: d\te\n", tmp_path) == [Pair("IN: a", "b"), Pair("IN: c OUT: d", "e")]


@pytest.mark.parametrize(
    ("text", "keys", "message"),
    [
        (f"{LINES}IN: jump\n", {}, r"tasks.txt:3: this line is not 'IN: command OUT: actions'"),
        (LINES, {"source_column": 2}, r"tasks.txt:1: this line has 2 labelled columns, columns 2 and 1 .* are needed"),
        (LINES, {"source_column": "command"}, "there is no column 'command'"),
    ],
)
def test_a_faulty_file_is_an_error_that_names_the_line(text: str, keys: dict, message: str, tmp_path: Path):
    with pytest.raises(ManyheadsError, match=message):
        read(text, tmp_path, format="scan", **keys)
