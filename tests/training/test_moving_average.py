"""The moving average: its equation, what is published of it, and that it survives an interruption."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from helpers import stir, tiny_settings
from manyheads.models.transformer import Transformer
from manyheads.runs.weights import read_weights
from manyheads.training.optimisation.moving_average import MovingAverage

AVERAGE = ("--set", "training.moving_average=0.8")


def test_it_is_the_equation():
    model = Transformer.from_settings(tiny_settings(), source_vocabulary=11, target_vocabulary=11)
    average = MovingAverage(model, 0.5)
    expected = {name: one.detach().double().clone() for name, one in model.named_parameters()}
    for updates in range(1, 30):
        stir(model, seed=updates)
        average.update(updates)
        decay = min(0.5, (1 + updates) / (10 + updates))
        for name, one in model.named_parameters():
            expected[name] = decay * expected[name] + (1 - decay) * one.detach().double()
    found = average.arrays()
    assert found.keys() == expected.keys()
    for name, array in found.items():
        np.testing.assert_allclose(array, expected[name].numpy(), atol=1e-5)


def test_the_average_is_what_is_published_and_judged(
    sprint: Callable[..., Path], tmp_path: Path, command: Callable[..., Any]
):
    run = tmp_path / "run"
    command("train", sprint({"validation.every": 12}), "--out", run, *AVERAGE).succeeds()
    checkpoint = run / "checkpoints" / "step-00000012"
    published = (run / "model.safetensors").read_bytes()
    assert published == (checkpoint / "average.safetensors").read_bytes()
    assert published != (checkpoint / "model.safetensors").read_bytes()
    entries = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    (judged,) = (entry["loss"] for entry in entries if entry["kind"] == "validation")
    plain = tmp_path / "plain"
    command("train", sprint({"validation.every": 12}), "--out", plain).succeeds()
    entries = [json.loads(line) for line in (plain / "metrics.jsonl").read_text().splitlines()]
    (other,) = (entry["loss"] for entry in entries if entry["kind"] == "validation")
    assert judged != other, "the average is measured, not what it follows"
    assert read_weights(checkpoint / "model.safetensors").keys() == read_weights(run / "model.safetensors").keys()
    same = (plain / "checkpoints" / "step-00000012" / "model.safetensors").read_bytes()
    assert (checkpoint / "model.safetensors").read_bytes() == same, "learning takes no notice of it"


@pytest.mark.parametrize("step", [3, 7])
def test_an_interruption_changes_nothing(
    sprint: Callable[..., Path], tmp_path: Path, command: Callable[..., Any], step: int
):
    recipe = sprint()
    command("train", recipe, "--out", tmp_path / "whole", *AVERAGE).succeeds()
    command("train", recipe, "--out", tmp_path / "parts", *AVERAGE, "--set", f"training.steps={step}").succeeds()
    command("train", recipe, "--out", tmp_path / "parts", *AVERAGE).succeeds()
    last = Path("checkpoints") / "step-00000012" / "average.safetensors"
    assert (tmp_path / "parts" / last).read_bytes() == (tmp_path / "whole" / last).read_bytes()


def test_asked_for_later_it_begins_with_the_weights_as_they_are(
    sprint: Callable[..., Path], tmp_path: Path, command: Callable[..., Any]
):
    run = tmp_path / "run"
    command("train", sprint(), "--out", run, "--set", "training.steps=3").succeeds()
    before = read_weights(run / "checkpoints" / "step-00000003" / "model.safetensors")
    command("train", sprint(), "--out", run, "--set", "training.steps=4", *AVERAGE).succeeds()
    folder = run / "checkpoints" / "step-00000004"
    after, average = read_weights(folder / "model.safetensors"), read_weights(folder / "average.safetensors")
    decay = min(0.8, 5 / 14)
    for name, array in average.items():
        np.testing.assert_allclose(array, decay * before[name] + (1 - decay) * after[name], atol=1e-6)


def test_two_kinds_of_average_exclude_each_other(sprint: Callable[..., Path], command: Callable[..., Any]):
    result = command("validate", sprint({"training.average": "last", "training.moving_average": 0.9}))
    result.refuses("average and moving_average exclude each other")


def test_its_arrays_can_be_read_by_torch(sprint: Callable[..., Path], tmp_path: Path, command: Callable[..., Any]):
    run = tmp_path / "run"
    command("train", sprint(), "--out", run, *AVERAGE).succeeds()
    from manyheads.models.interface import SequenceToSequence
    from manyheads.runs.folder import RunFolder
    from manyheads.runs.loading import load_model

    model = load_model(SequenceToSequence, RunFolder.open(run))
    assert all(torch.isfinite(parameter).all() for parameter in model.parameters())
