"""The page on the library: its snippets run in their order, the trainings shortened, and give what they show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import manyheads
from bert import tiny_folder
from manyheads.data.generated import task
from manyheads.exchange.bert import import_bert

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
SHORT = [
    "training.steps=20",
    "training.batch_tokens=512",
    "validation.sentences=8",
    "model.width=32",
    "model.feed_forward=64",
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the page's reader has it: recipes, two text files, some input, an encoder and a language model."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "recipes").symlink_to(ROOT / "recipes")
    pairs = list(task("dates").pairs("train", count=400))
    (folder / "train.en").write_text("".join(f"{pair.source}\n" for pair in pairs), encoding="utf-8")
    (folder / "train.de").write_text("".join(f"{pair.target}\n" for pair in pairs), encoding="utf-8")
    (folder / "input.txt").write_text("a b\n\nc\n", encoding="utf-8")
    import_bert(tiny_folder(folder / "theirs"), folder / "runs" / "minilm")
    (folder / "text.txt").write_text("".join(f"ROMEO: {pair.source}\n" for pair in pairs), encoding="utf-8")
    model = "model={width: 32, layers: 1, feed_forward: 32, heads: 4}"
    text = [f"data.train={folder / 'text.txt'}", "tokenizer.kind=characters", "tokenizer.vocabulary=null"]
    manyheads.train(
        ROOT / "recipes" / "shakespeare.yaml",
        out=folder / "runs" / "shakespeare",
        changes=[*text, model, "training={steps: 5, batch_tokens: 512}"],
    )
    return folder


@pytest.fixture(scope="module")
def scope(desk: Path) -> dict[str, object]:
    """What the snippets leave behind."""
    scope: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(desk)
        for snippet in SNIPPETS:
            exec(compile(shortened(snippet), "docs/library.md", "exec"), scope)
    return scope


def shortened(snippet: str) -> str:
    """Return a snippet whose training takes seconds."""
    with_changes = snippet.replace('out="runs/mine", max_minutes=10)', f'out="runs/mine", changes={SHORT})')
    return with_changes.replace('changes=["training.steps=600"]', f"changes={SHORT}")


def test_every_training_is_shortened():
    assert sum(shortened(snippet) != snippet for snippet in SNIPPETS) == 2


def test_the_runs_are_there(scope: dict[str, object], desk: Path):
    for name in ("copy", "mine"):
        assert (desk / "runs" / name / "model.safetensors").exists()
    assert Path(scope["run"]) == Path("runs/mine")


def test_the_values_are_those_that_it_shows(scope: dict[str, object], desk: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(desk)
    (steps,) = re.findall(r"^(manyheads\.validate.*)  # (\d+)$", PAGE, flags=re.MULTILINE)
    assert str(eval(steps[0], scope)) == steps[1]
    mistake = re.search(r'^try:\n +(.*)\nexcept .*\n +str\(error\)  # "(.*)"$', PAGE, flags=re.MULTILINE)
    with pytest.raises(manyheads.ManyheadsError) as caught:
        eval(mistake[1], scope)
    assert str(caught.value) == mistake[2]
    assert scope["encoder"].encode(["A dog.", "A small dog."]).last_hidden_state.shape[0] == 2
    assert len(scope["generator"].generate("ROMEO:", tokens=5, temperature=0)) == 5
    assert scope["inspector"].everything("a b c").attention["cross"].ndim == 4


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\(([^)#]*)", PAGE)
    assert links
    assert all((ROOT / "docs" / link).exists() for link in links)
    assert "(docs/library.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
