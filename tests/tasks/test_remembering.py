"""Language models that remember: what is carried from update to update, and measured with its memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from helpers import prepared
from manyheads.config.reading import build_recipe
from manyheads.decoding.generator import Generator
from manyheads.errors import ManyheadsError
from manyheads.evaluation.evaluate import evaluate
from manyheads.models.interface import RememberingLanguageModel
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import load_model
from manyheads.runs.weights import read_weights
from manyheads.tasks.lane_memory import LaneMemory
from manyheads.tasks.language_model import LanguageModelTask
from manyheads.tasks.measuring_text import text_loss
from manyheads.training.describe import describe
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer

README = Path(__file__).resolve().parents[2] / "README.md"
SIZES = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 32, "memory": 24, "dropout": 0}
MODEL = {"kind": "transformer_xl", **SIZES}
COMPRESSIVE = {"kind": "compressive", **SIZES, "memory": 12, "compressed": 4, "rate": 3}
every_model = pytest.mark.parametrize("model", [MODEL, COMPRESSIVE], ids=["transformer-xl", "compressive"])


def recipe(
    model: dict[str, Any], *, text: str = str(README), tokenizer: str = "characters", steps: int = 4, **training: Any
) -> Any:
    settings = {"steps": steps, "batch_tokens": 128, "checkpoint_every": 1, "log_every": 1, "threads": 1, **training}
    return build_recipe(
        {
            "task": "language_model",
            "data": {"train": text, "length": 16},
            "tokenizer": {"kind": tokenizer},
            "model": model,
            "training": settings,
            "validation": {"every": 100, "samples": 0},
        }
    )


def trained(folder: Path, model: dict[str, Any], **changes: Any) -> tuple[LanguageModelTask, RunFolder]:
    task, run = prepared(recipe(model, **changes), RunFolder(folder)), RunFolder(folder)
    Trainer(task, device=torch.device("cpu"), reporter=Reporter(quiet=True)).train()
    return task, run


def refused(tmp_path: Path, **changes: Any) -> str:
    with pytest.raises(ManyheadsError) as refusal:
        trained(tmp_path, **{"model": MODEL, **changes})
    return str(refusal.value)


def test_a_memory_longer_than_the_text_is_refused(tmp_path: Path):
    said = refused(tmp_path, model={**MODEL, "memory": 10**6})
    assert said.startswith(
        "model.memory: a memory of 1,000,000 positions is longer than the text of a lane, which has "
    )
    longer = refused(tmp_path, model={**COMPRESSIVE, "compressed": 10**6})
    assert "a memory of 3,000,012 positions" in longer


def test_a_text_shorter_than_its_lanes_is_refused(tmp_path: Path):
    assert "is too short for 62500 lanes of 16 tokens." in refused(tmp_path, batch_tokens=10**6)


def test_files_that_are_read_as_one_text_are_told_about(tmp_path: Path):
    folder, told = tmp_path / "texts", list[str]()
    folder.mkdir()
    for name in ("one.txt", "two.txt"):
        (folder / name).write_text(README.read_text(encoding="utf-8"), encoding="utf-8")
    prepared(recipe(MODEL, text=str(folder)), RunFolder(tmp_path / "run"), told.append)
    assert "2 files are read as one text, so a piece may hold the end of one and begin the next." in told


def test_a_prompt_that_the_model_does_not_know_is_refused(tmp_path: Path):
    for kind, prompt, unknown in (("characters", "a 愛", "'愛'"), ("words", "the qwertz", "'qwertz'")):
        folder = tmp_path / kind
        _, run = trained(folder, MODEL, steps=1, tokenizer=kind)
        generator = Generator(run.path)
        with pytest.raises(ManyheadsError, match=f"prompt: this model does not know {unknown}, which its training"):
            generator.generate(prompt)
        assert generator.generate("the", tokens=2)


def test_an_evaluation_may_remember_more_and_read_in_other_strides(tmp_path: Path):
    _, run = trained(tmp_path / "run", MODEL, steps=1)
    usual, longer = evaluate(run.path), evaluate(run.path, memory=MODEL["memory"] * 2)
    assert longer["loss"] != usual["loss"]
    for found in (usual, longer):
        assert found["perplexity"] == pytest.approx(np.exp(found["loss"]))
        assert found["bits_per_byte"] <= found["bits_per_character"]
        assert found["word_perplexity"] > found["perplexity"]
    with pytest.raises(ManyheadsError, match="there is no stride"):
        evaluate(run.path, stride=1)


@pytest.mark.parametrize("positions", ["full", "window"])
def test_its_cost_is_counted_without_values(positions: str):
    attention = {"full": {"kind": "dot_product"}, "window": {"kind": "window", "window": 4}}[positions]
    own = {"kind": "language_model", "attention": attention, "positions": {"kind": "relative_sinusoidal"}}
    own |= {key: MODEL[key] for key in ("width", "heads", "layers", "feed_forward")}
    values = {
        "name": "x",
        "task": "language_model",
        "data": {"train": str(README)},
        "tokenizer": {"kind": "characters"},
    }
    for model in (MODEL, COMPRESSIVE, own):
        assert describe(build_recipe({**values, "model": model})).costs.flops_per_update > 0


def losses(run: RunFolder) -> list[float]:
    return [entry["loss"] for entry in run.metrics() if entry["kind"] == "train"]


def test_the_memory_of_every_lane_is_in_the_checkpoint(tmp_path: Path):
    task, run = trained(tmp_path, MODEL)
    memory = read_weights(run.checkpoints / "step-00000004" / "carried.safetensors")["memory"]
    assert memory.shape == (task.batches.lanes, MODEL["layers"], MODEL["memory"], MODEL["width"])
    assert (np.abs(memory).sum(axis=(1, 2, 3)) > 0).all()


def test_both_parts_of_a_compressed_memory_are_in_the_checkpoint(tmp_path: Path):
    task, run = trained(tmp_path, COMPRESSIVE)
    carried = read_weights(run.checkpoints / "step-00000004" / "carried.safetensors")
    kept = COMPRESSIVE["memory"] + (4 * task.batches.length - COMPRESSIVE["memory"]) % COMPRESSIVE["rate"]
    layers = (task.batches.lanes, COMPRESSIVE["layers"])
    assert carried["memory"].shape == (*layers, kept, COMPRESSIVE["width"])
    assert carried["compressed"].shape == (*layers, COMPRESSIVE["compressed"], COMPRESSIVE["width"])
    assert all((np.abs(carried[name]).sum(axis=(1, 2, 3)) > 0).all() for name in ("memory", "compressed"))


@every_model
def test_any_number_of_batches_per_update_remembers_the_same(model: dict[str, Any], tmp_path: Path):
    whole = losses(trained(tmp_path / "whole", model)[1])
    parts = losses(trained(tmp_path / "parts", model, batch_tokens=64, accumulate=2)[1])
    assert parts == pytest.approx(whole, abs=1e-4)


@every_model
def test_the_memory_changes_what_is_learned(model: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """So the comparisons above mean something."""
    with_memory = losses(trained(tmp_path / "with", model)[1])
    monkeypatch.setattr(LaneMemory, "of", lambda self, lanes: None)
    without = losses(trained(tmp_path / "without", model)[1])
    assert with_memory[0] == without[0]
    assert with_memory[1:] != without[1:]


@every_model
def test_a_text_read_in_pieces_has_the_loss_of_the_text(model: dict[str, Any], tmp_path: Path):
    task, run = trained(tmp_path, model)
    one: RememberingLanguageModel[Any] = load_model(RememberingLanguageModel, run)
    ids = task.valid[:90]
    with torch.inference_mode():
        text = torch.from_numpy(ids[None].astype(np.int64))
        likely = one(text[:, :-1]).log_softmax(dim=-1)[0]
        whole = -float(likely.gather(1, text[0, 1:, None]).sum())
    for length in (7, 16, 200):
        assert text_loss(one, ids, length=length, stride=length) == pytest.approx(whole, rel=1e-5)
