"""The decoder-only Universal Transformer: one step is one layer, a beginning is read in pieces, and halting is seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from helpers import greatest_difference, prepared, stir
from manyheads.config.models.universal_language_model import UniversalLanguageModelSettings
from manyheads.config.reading import build_recipe
from manyheads.inspection.inspector import Inspector
from manyheads.models import universal_language_model
from manyheads.models.universal_language_model import UniversalLanguageModel
from manyheads.runs.folder import RunFolder
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer

SIZES: dict[str, Any] = {"width": 16, "heads": 2, "feed_forward": 16, "steps": 3, "dropout": 0.0}
KINDS: dict[str, dict[str, Any]] = {
    "fixed": {},
    "halting": {"halting": {}, "steps": 5},
    "relative": {"positions": {"kind": "relative"}},
}


def model_of(**keys: Any) -> UniversalLanguageModel:
    settings = UniversalLanguageModelSettings.model_validate({**SIZES, **keys})
    return stir(UniversalLanguageModel.from_settings(settings, vocabulary=12), seed=3, gain=1.5).eval()


def tokens_of(length: int) -> torch.Tensor:
    return torch.randint(12, (2, length), generator=torch.Generator().manual_seed(1))


def test_one_step_is_one_layer_with_both_encodings():
    model, tokens = model_of(steps=1), tokens_of(9)
    with torch.inference_mode():
        encodings = model.depth.positions(0, 9) + model.depth.times(0, 1)
        expected = model.final_norm(model.layer(model.embedding(tokens) + encodings))
        assert greatest_difference(model.decode(tokens).hidden, expected) < 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_a_beginning_is_read_in_pieces(kind: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(universal_language_model, "PIECE", 7)
    model, tokens = model_of(**KINDS[kind]), tokens_of(30)
    with torch.inference_mode():
        found, _ = model.step(tokens[:, -1], model.read(tokens[:, :-1], model.start(2)))
        expected = model(tokens)[:, -1]
    assert greatest_difference(found, expected) < 1e-4 * max(1.0, float(expected.abs().max()))


def test_the_ponder_cost_is_a_penalty_of_each_position():
    model, tokens = model_of(halting={"cost": 0.5}), tokens_of(9)
    with torch.inference_mode():
        computed = model.depth(model.embedding(tokens), lambda states, _: model.layer(states))
        assert torch.equal(model.decode(tokens).penalty, 0.5 * computed.ponder)
    assert model_of().decode(tokens).penalty is None


def test_the_steps_of_each_token_are_inspected(tmp_path: Path):
    (tmp_path / "text.txt").write_text("to be or not to be, that is the question. " * 20, encoding="utf-8")
    values = {
        "task": "language_model",
        "data": {"train": str(tmp_path / "text.txt"), "length": 16},
        "tokenizer": {"kind": "characters"},
        "model": {"kind": "universal", **SIZES, "halting": {}},
        "training": {"steps": 2, "batch_tokens": 64, "threads": 1},
        "validation": {"every": 2, "samples": 0},
    }
    run = RunFolder(tmp_path / "run")
    Trainer(prepared(build_recipe(values), run), device=torch.device("cpu"), reporter=Reporter(quiet=True)).train()
    view = Inspector(run.path).halting("to be")
    assert list(view.sides) == ["decoder"] and view.source is None
    model = Inspector(run.path).model
    assert all(1 <= steps <= view.most == SIZES["steps"] for steps in view.target.steps)
    assert len(view.target.tokens) == len(view.target.steps) == len(view.target.ponder)
    assert isinstance(model, UniversalLanguageModel)
    assert "decoder" in view.to_json() and "encoder" not in view.to_json()
