"""The page on what came before: its snippets run, and shapes and distances are what their comments say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "before-attention.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
CLAIM = re.compile(r"^(?P<code>[^#\n]*\S) +# (?P<says>\[[\d, ]+\]|Distances\([^)]*\))", flags=re.MULTILINE)


def test_every_model_has_a_snippet():
    assert len(SNIPPETS) == PAGE.count("**Why the Transformer replaced it.**")


@pytest.mark.parametrize("snippet", SNIPPETS, ids=[snippet.split("\n", 3)[2][:40] for snippet in SNIPPETS])
def test_a_snippet_runs_and_is_true(snippet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(snippet, names)
    for claim in CLAIM.finditer(snippet):
        value = eval(claim["code"], names)
        shown = list(value) if claim["says"].startswith("[") else value
        assert str(shown) == claim["says"], claim["code"]
    if "print(" in snippet:  # the figures vary with the machine; what is printed does not
        printed = capsys.readouterr().out
        assert re.search(r"error +\d", printed) and "Where is Mary?" in printed and "hop 1" in printed
