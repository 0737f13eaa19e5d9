"""State that an objective carries from one update to the next is part of checkpoints: resuming changes no byte."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from helpers import prepared
from manyheads.config.reading import build_recipe
from manyheads.runs.folder import RunFolder
from manyheads.tasks.teacher_forcing import TranslationObjective
from manyheads.tasks.translation import TranslationTask
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer

RECIPE = {
    "data": {"train": {"task": "copy", "count": 60}, "valid": {"task": "copy", "count": 8}},
    "tokenizer": {"kind": "symbols"},
    "model": {"width": 16, "heads": 2, "encoder_layers": 1, "decoder_layers": 1, "feed_forward": 32},
    "validation": {"every": 10, "metric": "loss", "samples": 0},
}


class WithMemory(TranslationObjective):
    """Adds to the loss what it remembers of the losses before."""

    memory: Tensor | None = None

    def forward(self, batch):
        loss, count = super().forward(batch)
        if not self.training:
            return loss, count
        remembered = loss.new_zeros(3) if self.memory is None else self.memory
        self.memory = 0.5 * remembered + loss.detach() / count
        return loss * (1.0 + remembered.sum()), count

    def carried(self):
        return {} if self.memory is None else {"memory": self.memory}

    def restore(self, carried):
        self.memory = carried.get("memory")


@pytest.fixture(autouse=True)
def with_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def objective(self: TranslationTask, model: nn.Module) -> WithMemory:
        return WithMemory(model, smoothing=0.1)

    monkeypatch.setattr(TranslationTask, "objective", objective)


def train(folder: Path, steps: int) -> Path:
    training = {"steps": steps, "batch_tokens": 128, "checkpoint_every": 1, "keep_checkpoints": 9, "threads": 1}
    task = prepared(build_recipe({**RECIPE, "training": training}), RunFolder(folder))
    Trainer(task, device=torch.device("cpu"), reporter=Reporter(quiet=True)).train()
    return folder / "checkpoints" / f"step-{steps:08d}"


def test_what_is_carried_is_restored(tmp_path: Path):
    whole = train(tmp_path / "whole", 6)
    train(tmp_path / "parts", 3)
    parts = train(tmp_path / "parts", 6)
    names = sorted(path.name for path in whole.iterdir())
    assert "carried.safetensors" in names
    for name in names:
        if name.endswith(".safetensors"):
            assert (whole / name).read_bytes() == (parts / name).read_bytes(), name


def test_a_run_that_forgets_it_is_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """So the comparison above means something."""
    whole = train(tmp_path / "whole", 6)
    train(tmp_path / "parts", 3)
    monkeypatch.setattr(WithMemory, "restore", lambda self, carried: None)
    parts = train(tmp_path / "parts", 6)
    assert (whole / "model.safetensors").read_bytes() != (parts / "model.safetensors").read_bytes()
