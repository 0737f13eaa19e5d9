"""The page on looking inside: its snippets run, its arrays have the axes it shows, and its table is the command's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from manyheads.cli.inspect import FORMATS
from run_folders import make_run

FOLDER = Path(__file__).resolve().parents[2] / "docs"
PAGE = (FOLDER / "inspection.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
SHAPES = re.findall(r"^(\S+)\.shape +# \(([\d, ]+)\)", PAGE, flags=re.MULTILINE)


def test_the_snippets_run_and_give_arrays_as_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "runs").mkdir()
    make_run(tmp_path / "runs" / "dates", decoder_layers=2, width=128)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    for snippet in SNIPPETS:
        exec(compile(snippet, "docs/inspection.md", "exec"), scope)
    seen = scope["seen"]
    of_the_text = {12, 18, 404}  # tokens and pieces, which another run has others of
    for expression, shown in SHAPES:
        shape = eval(expression, scope).shape
        numbers = [int(number) for number in shown.split(",")]
        assert len(shape) == len(numbers), expression
        for real, number in zip(shape, numbers, strict=True):
            assert number in of_the_text or real == number, expression
    assert seen.heads == 4 and scope["step"].to_json()["done"]


def test_the_table_is_the_commands():
    rows = re.findall(r"^\| `(\w+)`.*\| ([^|]+) \|$", PAGE, flags=re.MULTILINE)
    assert {name: tuple(files.replace("`", "").split()) for name, files in rows} == {
        what.value: endings for what, endings in FORMATS.items()
    }


def test_every_picture_is_there():
    named = re.findall(r"!\[.*?\]\((.*?)\)", PAGE)
    assert named
    for name in named:
        assert (FOLDER / name).exists(), name
