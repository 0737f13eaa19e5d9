"""Gradients over distance: known products of Jacobians, and a study of all models in small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from manyheads.studies.bench import run_study
from manyheads.studies.gradients import KINDS, SYMBOLS, WIDTH, Gradients, Training, norms
from manyheads.studies.labelling import NO_LABEL, Batch, Labeller, accuracy, learn


class Smaller(Gradients):
    def items(self, *, quick: bool) -> list[Training]:
        return [Training(kind, 12, 2, 12, 1) for kind in KINDS]


def test_every_model_is_measured_before_and_after_it_has_learned(tmp_path: Path):
    result = run_study(Smaller(), out=tmp_path, tell=lambda _: None)
    factors = result.conclusion.numbers
    assert factors["RNN, small weights per step"] < factors["RNN, unit weights per step"] < 1.0
    assert factors["RNN, large weights per step"] > 1.0
    for entry in result.entries:
        assert len(entry.record["before"]) == len(entry.record["after"]) == 12
        assert entry.record["before"] != entry.record["after"]


class Halving(nn.Module):
    """A recurrence h' = h/2 + x, whose Jacobians are known."""

    def forward(self, states: Tensor, real: Tensor) -> Tensor:
        hidden, outputs = torch.zeros_like(states[:, 0]), []
        for read in states.unbind(1):
            hidden = 0.5 * hidden + read
            outputs.append(hidden)
        return torch.stack(outputs, dim=1)


def test_norms_are_those_of_the_jacobians():
    model = Labeller(Halving(), symbols=SYMBOLS, width=WIDTH, positions=False)
    symbols = torch.randint(SYMBOLS, (3, 6), generator=torch.Generator().manual_seed(2))
    found = norms(model, lambda _: Batch(symbols, torch.ones_like(symbols, dtype=torch.bool), symbols))
    assert found == pytest.approx([0.5**distance for distance in range(6)])


def test_labels_are_learned_and_those_that_do_not_count_are_left_out():
    """The label is the symbol itself: without a body it is learned by the output layer alone."""

    class Same(nn.Module):
        def forward(self, states: Tensor, real: Tensor) -> Tensor:
            return states

    def draw(generator: torch.Generator) -> Batch:
        symbols = torch.randint(SYMBOLS, (8, 10), generator=generator)
        labels = symbols.clone()
        labels[:, :5] = NO_LABEL
        return Batch(symbols, torch.ones_like(symbols, dtype=torch.bool), labels)

    torch.manual_seed(1)
    model = Labeller(Same(), symbols=SYMBOLS, width=WIDTH, positions=False)
    assert accuracy(model, draw, batches=5, seed=0) < 50.0
    learn(model, draw, steps=100, rate=0.01, seed=1)
    assert accuracy(model, draw, batches=5, seed=0) == 100.0


def test_a_run_is_a_function_of_its_item(tmp_path: Path):
    item = Training("GRU", 8, 2, 5, 3)
    study = Gradients()
    assert study.measure(item, tmp_path) == study.measure(item, tmp_path)
    assert study.measure(item, tmp_path) != study.measure(replace(item, seed=4), tmp_path)
