"""What every task does behind the same commands, and what once went wrong with one of them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from helpers import prepared
from manyheads.config import tasks as task_settings
from manyheads.config.models.bert import BertSettings
from manyheads.config.reading import build_recipe, load_recipe
from manyheads.errors import ManyheadsError
from manyheads.models.bert import BertModel
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import fill_model, model_arrays
from manyheads.tasks import task_for
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer

SHIPPED = Path(__file__).resolve().parents[2] / "recipes"
BERT = {"width": 16, "heads": 2, "layers": 1, "feed_forward": 32, "positions": 64}
EXAMPLES = {"train": {"task": "whereabouts", "count": 40}, "valid": {"task": "whereabouts", "count": 8}}
KINDS = {"train": {"task": "kinds", "count": 40}, "valid": {"task": "kinds", "count": 8}}
TINY = {"width": 16, "heads": 2, "encoder_layers": 1, "decoder_layers": 1, "feed_forward": 32}
TEXT = {"train": str(SHIPPED.parent / "README.md"), "length": 16}
TASKS: dict[str, dict[str, Any]] = {
    "translation": {
        "data": {"train": {"task": "copy", "count": 40}, "valid": {"task": "copy", "count": 8}},
        "tokenizer": {"kind": "symbols"},
        "model": TINY,
    },
    "language_model": {
        "data": TEXT,
        "tokenizer": {"kind": "characters"},
        "model": {"width": 16, "heads": 2, "layers": 1, "feed_forward": 32},
    },
    "masked_language_model": {"data": {**EXAMPLES, "max_length": 60}, "vocabulary": 80, "model": BERT},
    "classification": {"data": {**KINDS, "max_length": 40}, "vocabulary": 80, "model": BERT},
    "question_answering": {"data": {**EXAMPLES, "max_length": 60}, "vocabulary": 80, "model": BERT},
    "memory_questions": {"data": EXAMPLES, "model": {"width": 16, "hops": 2}},
}
SHOWN = {"memory_questions": "Mary went to the office. Where is Mary?"}  # what each task is looked at with


def recipe_of(task: str, **changes: Any) -> dict[str, Any]:
    training = {"steps": 2, "batch_tokens": 512, "log_every": 1}
    return {"name": task, "task": task, "training": training, "validation": {"every": 2}, **TASKS[task], **changes}


def test_every_task_is_here():
    assert set(TASKS) == set(task_settings.TASKS)


@pytest.mark.parametrize("task", TASKS)
def test_every_command_works_for_every_task(task: str, tmp_path: Path, command: Callable[..., Any]):
    recipe, run = tmp_path / "recipe.yaml", tmp_path / "run"
    recipe.write_text(json.dumps(recipe_of(task)), encoding="utf-8")
    command("validate", recipe).succeeds("is valid")
    assert "FLOPs per update" in command("describe", recipe).out
    command("train", recipe, "--out", run).succeeds("Finished at step 2.")
    assert "parameters" in command("describe", run).out
    command("evaluate", run, "--count", 8).succeeds()
    command("inspect", SHOWN.get(task, "a b c"), "--model", run, "--out", tmp_path / "seen.json").succeeds()
    assert json.loads((tmp_path / "seen.json").read_text(encoding="utf-8"))["attention"]


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_recipe_can_be_planned(path: Path):
    recipe = load_recipe(path)
    if recipe.start_from is None:  # others need a run that is not here
        assert task_for(recipe).plan(recipe).config.model.kind


@pytest.mark.parametrize("task", TASKS)
def test_a_loss_that_is_no_number_is_told_in_the_words_of_its_task(task: str, tmp_path: Path):
    trainer = Trainer(
        prepared(build_recipe(recipe_of(task)), RunFolder(tmp_path)),
        device=torch.device("cpu"),
        reporter=Reporter(quiet=True),
    )
    with torch.no_grad():
        next(trainer.model.parameters()).fill_(math.nan)
    with pytest.raises(ManyheadsError, match="the loss is no longer a number") as caught:
        trainer.train()
    assert ("pairs" in str(caught.value)) == (task == "translation")


class TestAttentionDropoutOfBert:
    """It had two keys, and a dropout of 0 in one of them was without effect."""

    @staticmethod
    def dropout(**keys: Any) -> float:
        settings = BertSettings.model_validate({**BERT, **keys})
        model = BertModel.from_settings(settings, vocabulary=20)
        return next(part.dropout for name, part in model.named_modules() if name.endswith("mechanism"))

    def test_the_default_is_the_originals(self):
        assert self.dropout() == self.dropout(attention={}) == self.dropout(attention={"kind": "dot_product"}) == 0.1

    def test_zero_is_zero(self):
        assert self.dropout(attention={"dropout": 0}) == 0.0
        assert self.dropout(attention={"dropout": 0.3}) == 0.3

    def test_what_version_0_1_0_wrote_means_what_it_meant(self):
        assert self.dropout(attention_dropout=0.2) == 0.2
        assert self.dropout(attention_dropout=0.2, attention={"kind": "dot_product", "dropout": 0.0}) == 0.2
        assert self.dropout(attention_dropout=0.2, attention={"kind": "dot_product", "dropout": 0.3}) == 0.3


class WithBuffers(nn.Module):
    """A layer with a buffer that is learned by counting, and one that follows from a formula."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.register_buffer("seen", torch.zeros(3))
        self.register_buffer("table", torch.arange(4.0), persistent=False)


def test_persistent_buffers_are_saved_and_others_are_not():
    model, other = WithBuffers(), WithBuffers()
    model.get_buffer("seen").add_(7.0)
    arrays = model_arrays(model)
    assert set(arrays) == {"layer.weight", "layer.bias", "seen"}
    fill_model(other, arrays, where="test")
    assert other.get_buffer("seen").tolist() == [7.0] * 3
