"""`manyheads study`: the list, a study that is carried out, and what is no study."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manyheads.studies.catalogue import all_studies
from manyheads.studies.path_length import Ends, PathLength
from manyheads.training.progress import duration

Command = Callable[..., Any]


def test_the_list_has_every_study_with_its_times(command: Command):
    shown = command("study", "--list").out
    listed = json.loads(command("study", "--list", "--json").out)
    assert [one["name"] for one in listed] == [study.name for study in all_studies()]
    for study in all_studies():
        assert f"{study.name}: {study.question}" in shown
        assert f"about {duration(study.seconds)} on one core; with --quick, {duration(study.quick_seconds)}" in shown


def test_a_study_prints_what_it_writes(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    lengths = {True: (4, 8), False: (4, 8, 16)}
    monkeypatch.setattr(
        PathLength,
        "items",
        lambda _, *, quick: [
            Ends(kind, length)
            for kind in ("self-attention", "recurrent", "window", "convolution", "dilated convolutions")
            for length in lengths[quick]
        ],
    )
    printed = command("study", "path-length", "--quick", "--out", tmp_path).out
    assert printed in (tmp_path / "table.md").read_text()
    result = json.loads(command("study", "path-length", "--out", tmp_path, "--json").out)
    assert result == json.loads((tmp_path / "result.json").read_text())
    assert result["command"] == "manyheads study path-length"
    assert {path.name for path in tmp_path.iterdir()} == {
        "figure.png",
        "figure.svg",
        "records",
        "result.json",
        "table.md",
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["complexty"], "there is no study 'complexty'. Did you mean 'complexity'?"),
        ([], "no study is named. Choose one of those that 'manyheads study --list' shows."),
    ],
)
def test_what_is_no_study_is_refused(command: Command, words: list[str], said: str):
    assert said in command("study", *words).refuses()
