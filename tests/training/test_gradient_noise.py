"""Noise on the gradients follows from the seed and the step, has its deviation, and survives an interruption."""

from pathlib import Path

import pytest
import torch
from torch import nn

from helpers import prepared
from manyheads.config.reading import parse_recipe
from manyheads.errors import ManyheadsError
from manyheads.runs.folder import RunFolder
from manyheads.training.optimisation.gradient_noise import DECAY, add_gradient_noise, noise_deviation
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer

RECIPE = """
data: {train: {task: copy, count: 60}, valid: {task: copy, count: 8}}
tokenizer: {kind: symbols}
model: {width: 16, heads: 2, encoder_layers: 1, decoder_layers: 1, feed_forward: 32}
training: {steps: 4, batch_tokens: 128, checkpoint_every: 1, threads: 1, clip_norm: 1.0, gradient_noise: 0.1}
validation: {every: 4, metric: loss, samples: 0}
"""


def noise(step: int, *, seed: int = 5, scale: float = 0.3) -> torch.Tensor:
    parameters = [nn.Parameter(torch.zeros(300, 200)) for _ in range(2)]
    for parameter in parameters:
        parameter.grad = torch.full_like(parameter, 2.0)
    add_gradient_noise(parameters, scale=scale, seed=seed, step=step)
    return torch.stack([parameter.grad - 2.0 for parameter in parameters])


def test_noise_is_a_function_of_seed_and_step_alone():
    first = noise(3)
    torch.manual_seed(99)
    assert torch.equal(noise(3), first)
    assert not torch.equal(noise(3, seed=6), first)
    assert not torch.equal(first[0], first[1])


@pytest.mark.parametrize("step", [0, 10, 1000])
def test_noise_has_its_deviation_which_decays(step):
    drawn = noise(step)
    assert float(drawn.std()) == pytest.approx((0.3 * (1 + step) ** -DECAY) ** 0.5, rel=0.01)
    assert abs(float(drawn.mean())) < 5 * noise_deviation(0.3, step) / drawn.numel() ** 0.5
    assert noise_deviation(0.3, step + 1) < noise_deviation(0.3, step)


def test_a_parameter_without_a_gradient_gets_none():
    parameter = nn.Parameter(torch.zeros(2))
    add_gradient_noise([parameter], scale=1.0, seed=1, step=0)
    assert parameter.grad is None


def trained(folder: Path, *changes: str) -> bytes:
    recipe, run = parse_recipe(RECIPE, changes), RunFolder(folder)
    Trainer(prepared(recipe, run), device=torch.device("cpu"), reporter=Reporter(quiet=True)).train()
    step = recipe.training.steps
    return (run.checkpoints / f"step-{step:08}" / "model.safetensors").read_bytes()


def test_an_interrupted_training_with_noise_ends_with_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYHEADS_CACHE", str(tmp_path / "cache"))
    whole = trained(tmp_path / "whole")
    trained(tmp_path / "parts", "training.steps=2")
    assert trained(tmp_path / "parts") == whole
    assert trained(tmp_path / "quiet", "training.gradient_noise=0") != whole


@pytest.mark.parametrize(
    ("change", "message"),
    [("training.sharding=full", "gradient_noise needs whole gradients"), ("training.gradient_noise=-1", "greater")],
)
def test_impossible_noise_is_refused(change, message):
    with pytest.raises(ManyheadsError, match=message):
        parse_recipe(RECIPE, [change])
