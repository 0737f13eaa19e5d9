"""The mean of checkpoints: which ones, what it is, and that an interruption does not change it."""

import numpy as np
import pytest
import torch

from helpers import prepared
from manyheads.config.reading import build_recipe
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import read_weights, weights_bytes
from manyheads.training.optimisation.averaging import is_regular, mean_of_checkpoints, steps_to_average, steps_to_keep
from manyheads.training.progress import Reporter
from manyheads.training.state.checkpoint import Progress, Snapshot, save_checkpoint, saved_steps
from manyheads.training.trainer import Trainer


def recipe(**training):
    return build_recipe(
        {
            "data": {"train": {"task": "copy", "count": 300}, "valid": {"task": "copy", "count": 10}},
            "tokenizer": {"kind": "symbols"},
            "model": {"width": 16, "heads": 2, "encoder_layers": 1, "decoder_layers": 1, "feed_forward": 16},
            "training": {
                "steps": 12,
                "batch_tokens": 256,
                "checkpoint_every": 2,
                "keep_checkpoints": 1,
                "schedule": {"kind": "constant", "rate": 0.003, "warmup": 0},
                **training,
            },
            "validation": {"every": 4, "metric": "loss", "samples": 0},
        }
    )


def train(folder, settings):
    preparation = prepared(settings, RunFolder(folder), lambda text: None)
    trainer = Trainer(preparation, device=torch.device("cpu"), reporter=Reporter())
    return trainer, trainer.train()


def test_the_mean_is_the_mean(tmp_path):
    rng = np.random.default_rng(1)
    drawn = [{"a": rng.normal(size=(3, 2)).astype(np.float32)} for _ in range(4)]
    for step, arrays in enumerate(drawn):
        save_checkpoint(tmp_path, Progress(step=step), Snapshot(arrays, {}))
    mean = mean_of_checkpoints(tmp_path, range(4), tell=pytest.fail)
    assert mean.steps == [0, 1, 2, 3]
    assert np.allclose(mean.weights["a"], np.mean([arrays["a"] for arrays in drawn], axis=0), atol=1e-6)
    (tmp_path / "step-00000001" / "model.safetensors").write_bytes(weights_bytes({"a": np.full((3, 2), 1e6)}))
    said = []
    mean = mean_of_checkpoints(tmp_path, range(4), tell=said.append)
    assert mean.steps == [0, 2, 3]
    assert np.allclose(mean.weights["a"], np.mean([drawn[step]["a"] for step in mean.steps], axis=0), atol=1e-6)
    assert len(said) == 1
    assert "step-00000001" in said[0] and said[0].endswith("is damaged. It is left out of the mean.")
    assert mean_of_checkpoints(tmp_path, [0, 1], tell=said.append) is None
    assert mean_of_checkpoints(tmp_path, [3], tell=said.append) is None


def test_only_steps_at_which_every_run_saves_are_regular():
    settings = recipe(steps=13, checkpoint_every=5)
    assert [step for step in range(1, 14) if is_regular(step, settings)] == [4, 5, 8, 10, 12, 13]


def test_last_and_best_choose_as_they_say():
    saved = [4, 6, 7, 8, 10, 12]  # 7 is what an interruption left behind
    progress = Progress(scores={"4": 3.0, "8": 1.0, "12": 2.0})
    assert steps_to_average(saved, progress, recipe(average="last", average_checkpoints=3)) == [8, 10, 12]
    assert steps_to_average(saved, progress, recipe(average="best", average_checkpoints=2)) == [
        8,
        12,
    ]  # a low loss is good
    assert steps_to_average(saved, progress, recipe()) == []


def test_the_newest_and_the_best_are_kept():
    assert steps_to_keep([2, 4, 6, 8], Progress(), recipe(keep_checkpoints=2)) == {6, 8}
    assert steps_to_keep([2, 4, 6, 8], Progress(best_step=4), recipe(keep_checkpoints=2)) == {4, 6, 8}
    assert steps_to_keep([2, 4, 7], Progress(best_step=2), recipe(keep_checkpoints=1)) == {2, 4, 7}


def test_what_is_to_be_averaged_is_not_removed():
    progress = Progress(best_step=4, scores={})
    assert steps_to_keep([2, 4, 6, 8, 9], progress, recipe(average="last", average_checkpoints=3)) == {4, 6, 8, 9}


@pytest.mark.parametrize("average", ["last", "best"])
def test_the_published_model_is_the_better_of_mean_and_best(tmp_path, average):
    trainer, outcome = train(tmp_path / "run", recipe(average=average, average_checkpoints=3))
    assert outcome == "finished"
    steps = steps_to_average(saved_steps(trainer.run.checkpoints), trainer.progress, trainer.recipe)
    mean = mean_of_checkpoints(trainer.run.checkpoints, steps, tell=pytest.fail).weights
    score = trainer.validator.loss().value  # the trainer's model holds the mean now
    published = read_weights(trainer.run.weights_file)
    best = read_weights(trainer.run.checkpoints / f"step-{trainer.progress.best_step:08d}" / "model.safetensors")
    expected = mean if score < trainer.progress.best_score else best
    assert all(np.array_equal(published[name], expected[name]) for name in expected)


def test_an_interrupted_run_publishes_the_same_mean(tmp_path):
    settings = recipe(average="last", average_checkpoints=4)
    whole, _ = train(tmp_path / "whole", settings)
    train(tmp_path / "parts", recipe(average="last", average_checkpoints=4, steps=7))  # 7 is no regular step
    parts, _ = train(tmp_path / "parts", settings)
    assert parts.run.weights_file.read_bytes() == whole.run.weights_file.read_bytes()
    again, outcome = train(tmp_path / "parts", settings)
    assert outcome == "nothing to do"
    assert again.run.weights_file.read_bytes() == whole.run.weights_file.read_bytes()
