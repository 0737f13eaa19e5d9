"""Products by oneDNN: the numbers of PyTorch's own, forward and backward, wherever a model multiplies."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers import batch_of, greatest_difference, prepared, stir
from manyheads.config.models.transformer import TransformerSettings
from manyheads.config.reading import build_recipe
from manyheads.config.training import TrainingSettings
from manyheads.errors import ManyheadsError
from manyheads.models.interface import Tokens
from manyheads.models.transformer import Transformer
from manyheads.runs.folder import RunFolder
from manyheads.training.machine import precision, products
from manyheads.training.machine.precision import choose_precision
from manyheads.training.machine.products import OneDNNProducts, onednn_is_available
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer

pytestmark = pytest.mark.skipif(not onednn_is_available(), reason="this build of PyTorch has no oneDNN")
CPU = torch.device("cpu")
ROWS = 24


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape))).requires_grad_()


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of every product that oneDNN computed."""
    rows: list[int] = []
    product = products._product

    def counting(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
        rows.append(len(left))
        return product(left, right, bias)

    monkeypatch.setattr(products, "_product", counting)
    return rows


@pytest.mark.parametrize("shape", [(ROWS, 7), (3, ROWS, 7)])
@pytest.mark.parametrize("bias", [True, False])
def test_values_and_gradients_are_those_of_pytorch(counted, shape, bias):
    parts = [drawn(*shape), drawn(5, 7), *([drawn(5)] if bias else [])]
    expected = F.linear(*parts)
    slopes = torch.randn_like(expected)
    wanted = torch.autograd.grad(expected, parts, slopes)
    with OneDNNProducts():
        found = F.linear(*parts)
    gradients = torch.autograd.grad(found, parts, slopes)
    assert len(counted) == 3  # forward, and both factors backward
    assert greatest_difference(found, expected) < 1e-5
    for one, other in zip(gradients, wanted, strict=True):
        assert greatest_difference(one, other) < 1e-4


@pytest.mark.parametrize(
    "multiply",
    [torch.mm, torch.matmul, lambda a, b: a @ b, lambda a, b: torch.addmm(torch.ones(ROWS, 5), a, b)],
)
def test_products_of_matrices_are_those_of_pytorch(counted, multiply):
    left, right = drawn(ROWS, 7), drawn(7, 5)
    with OneDNNProducts():
        found = multiply(left, right)
    assert counted == [ROWS]
    assert greatest_difference(found, multiply(left, right)) < 1e-5


def test_a_result_is_written_where_it_was_asked_for(counted):
    left, right, out = drawn(ROWS, 7).detach(), drawn(7, 5).detach(), torch.zeros(ROWS, 5)
    with OneDNNProducts():
        assert torch.mm(left, right, out=out) is out
    assert greatest_difference(out, left @ right) < 1e-5


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (torch.ones(2, 7), torch.ones(7, 5)),  # few rows
        (torch.ones(ROWS, 7, dtype=torch.float64), torch.ones(7, 5, dtype=torch.float64)),
        (torch.ones(2, ROWS, 7), torch.ones(2, 7, 5)),  # a product for each row of a batch
        (torch.ones(ROWS, 7, device="meta"), torch.ones(7, 5, device="meta")),
        (torch.ones(ROWS, 7), torch.ones(7)),
    ],
)
def test_everything_else_is_left_to_pytorch(counted, left, right):
    with OneDNNProducts():
        assert (left @ right).shape == torch.matmul(left, right).shape
    assert not counted


def test_a_model_has_the_loss_and_gradients_of_pytorch(counted):
    settings = TransformerSettings(
        width=16,
        heads=2,
        encoder_layers=2,
        decoder_layers=2,
        feed_forward=32,
        dropout=0.0,
        positions={"kind": "rotary"},
    )
    model = stir(Transformer.from_settings(settings, source_vocabulary=20, target_vocabulary=20), seed=1)
    source, target = batch_of([[4, 5, 6, 7, 8]] * 6), Tokens.pad([[2, 9, 10, 11]] * 6, padding=0)

    def gradients() -> list[Tensor]:
        logits = model(source, target)
        loss = F.cross_entropy(logits.flatten(0, 1), target.ids.flatten())
        return [loss, *torch.autograd.grad(loss, list(model.parameters()))]

    wanted = gradients()
    with OneDNNProducts():
        found = gradients()
    linear = [part for part in model.modules() if isinstance(part, nn.Linear)]
    assert len(counted) > 3 * len(linear)
    for one, other in zip(found, wanted, strict=True):
        assert greatest_difference(one, other) < 1e-4


def recipe(steps: int, **training: object) -> object:
    values = {"steps": steps, "batch_tokens": 256, "checkpoint_every": 2, "threads": 1, "log_every": 1, **training}
    return build_recipe(
        {
            "data": {"train": {"task": "copy", "count": 100}, "valid": {"task": "copy", "count": 8}},
            "tokenizer": {"kind": "symbols"},
            "model": {"width": 16, "heads": 2, "encoder_layers": 1, "decoder_layers": 1, "feed_forward": 32},
            "training": values,
            "validation": {"every": 100, "metric": "loss", "samples": 0},
        }
    )


def train(folder: Path, steps: int, **training: object) -> bytes:
    task = prepared(recipe(steps, **training), RunFolder(folder))
    Trainer(task, device=CPU, reporter=Reporter(quiet=True)).train()
    return (folder / "checkpoints" / f"step-{steps:08d}" / "model.safetensors").read_bytes()


def test_a_run_uses_it_and_resumes_with_the_same_bytes(counted, tmp_path: Path):
    whole = train(tmp_path / "whole", 6, products="onednn")
    assert counted
    train(tmp_path / "parts", 4, products="onednn")
    assert train(tmp_path / "parts", 6, products="onednn") == whole


def test_a_run_does_not_use_it_unless_its_recipe_says_so(counted, tmp_path: Path):
    train(tmp_path, 2)
    train(tmp_path / "short", 2, precision="float32")
    assert not counted


def test_a_build_without_it_refuses_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(precision, "onednn_is_available", lambda: False)
    assert choose_precision(TrainingSettings(), CPU).products == "torch"
    with pytest.raises(ManyheadsError, match=r"training\.products: this build of PyTorch has no oneDNN"):
        choose_precision(TrainingSettings(products="onednn"), CPU)
