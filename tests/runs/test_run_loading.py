"""A run folder becomes a model again, and what does not fit is told."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from manyheads.errors import ManyheadsError
from manyheads.models.interface import SequenceToSequence
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import choose_device, fill_model, load_model, model_arrays
from manyheads.runs.weights import read_weights, weights_bytes


@pytest.fixture
def run(copy_run: Path, tmp_path: Path) -> RunFolder:
    """A copy of a trained run, to damage."""
    shutil.copytree(copy_run, tmp_path / "run")
    return RunFolder(tmp_path / "run")


def test_a_model_has_the_weights_of_its_run(run: RunFolder):
    model = load_model(SequenceToSequence, run)
    assert not model.training
    arrays = model_arrays(model)
    saved = read_weights(run.weights_file)
    assert set(arrays) == set(saved)
    assert all((arrays[name] == saved[name]).all() for name in saved)
    assert weights_bytes(arrays) == run.weights_file.read_bytes()


def test_weights_of_another_size_are_told(run: RunFolder):
    arrays = read_weights(run.weights_file)
    name = next(iter(arrays))
    run.weights_file.write_bytes(weights_bytes({**arrays, name: np.zeros((3, 3), dtype=np.float32)}))
    with pytest.raises(ManyheadsError, match=f"wrong shape: {name}") as caught:
        load_model(SequenceToSequence, run)
    assert caught.value.where == str(run.weights_file)


def test_damaged_weights_are_told(run: RunFolder):
    run.weights_file.write_bytes(run.weights_file.read_bytes()[:-10])
    with pytest.raises(ManyheadsError, match="damaged"):
        load_model(SequenceToSequence, run)


def test_parameters_are_filled_by_name():
    model = torch.nn.Linear(2, 1)
    fill_model(model, {"bias": np.ones(1, np.float32), "weight": np.full((1, 2), 3, np.float32)}, where="test")
    assert model(torch.ones(2)).item() == 7


def test_auto_takes_a_device_there_is():
    assert torch.zeros(1, device=choose_device("auto")).item() == 0
    assert choose_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["gpu", "", "meta", "cpu:x", "tpu:0"])
def test_an_unknown_device_is_told_with_those_there_are(name: str):
    with pytest.raises(ManyheadsError, match=r"--device: .*Available: auto, .*cpu"):
        choose_device(name)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this computer has the device")
def test_a_device_that_is_not_there_is_told():
    with pytest.raises(ManyheadsError, match="no device 'cuda:1'"):
        choose_device("cuda:1")
