"""The page on BERT: its snippet runs on real weights and gives the shapes that it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bert import minilm
from manyheads.exchange.bert import import_bert

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "bert.md").read_text(encoding="utf-8")
(SNIPPET,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_snippet_gives_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import_bert(minilm(), tmp_path / "runs" / "minilm")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    exec(compile(SNIPPET, "docs/bert.md", "exec"), scope)
    found = scope["found"]
    assert f"# {list(found.last_hidden_state.shape)}" in SNIPPET
    assert f"# {found.attention_mask.sum(dim=1).tolist()}" in SNIPPET
