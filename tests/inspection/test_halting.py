"""Halting times over the tokens of a text: as the model computes them, printed and drawn."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from helpers import prepared, stir
from manyheads.config.reading import build_recipe
from manyheads.errors import ManyheadsError
from manyheads.inspection.halting import record_halting
from manyheads.inspection.inspector import Inspector
from manyheads.layers.depth import DepthRecurrence
from manyheads.models.interface import Tokens
from manyheads.models.universal import Universal
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import load_model, model_arrays
from manyheads.runs.weights import weights_bytes
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer

TEXT, STEPS = "a b c d", 5
MODEL = {"kind": "universal", "width": 16, "heads": 2, "feed_forward": 32, "steps": STEPS, "halting": {}}


def written(folder: Path, model: dict[str, Any]) -> RunFolder:
    """Return a run that was trained for one step, then given weights with which tokens halt at different steps."""
    values = {
        "data": {"train": {"task": "copy", "count": 60}, "valid": {"task": "copy", "count": 8}},
        "tokenizer": {"kind": "symbols"},
        "model": model,
        "training": {"steps": 1, "batch_tokens": 128, "threads": 1},
        "validation": {"every": 9, "metric": "loss", "samples": 0},
    }
    run = RunFolder(folder)
    Trainer(prepared(build_recipe(values), run), device=torch.device("cpu"), reporter=Reporter(quiet=True)).train()
    model = stir(load_model(Universal, run), seed=3)
    for part in model.modules():
        if isinstance(part, DepthRecurrence) and part.halting is not None:
            part.halting.linear.bias.data.fill_(-1.0)
    (run.path / "checksums.json").unlink()
    run.weights_file.write_bytes(weights_bytes(model_arrays(model)))
    return run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return written(tmp_path_factory.mktemp("halting") / "run", MODEL)


def test_the_steps_are_those_that_the_model_takes(run: RunFolder):
    view = Inspector(run.path).halting(TEXT)
    model = load_model(Universal, run)
    tokenizer = run.tokenizers().source
    source = Tokens.pad([[*tokenizer.encode(TEXT), 3]], padding=0)
    with torch.inference_mode():
        assert view.source.steps == model.encode(source).steps[0].tolist()
    assert view.source.tokens == tokenizer.pieces(source.ids[0].tolist())
    assert view.target.tokens[1:] == run.tokenizers().target.pieces(tokenizer.encode(view.translation))
    for side in view.sides.values():
        assert len(side.tokens) == len(side.steps) == len(side.ponder)
        for steps, ponder in zip(side.steps, side.ponder.tolist(), strict=True):
            assert 1 <= steps <= view.most == STEPS
            assert steps <= ponder <= steps + 1
    assert len(set(view.source.steps + view.target.steps)) > 1  # so the comparison means something


def test_every_step_is_a_layer_of_what_is_looked_at(run: RunFolder):
    inspector = Inspector(run.path)
    seen, taken = inspector.everything(TEXT), inspector.halting(TEXT)
    for kind, side in (("encoder", taken.source), ("decoder", taken.target), ("cross", taken.target)):
        assert seen.attention[kind].shape[::2] == (max(side.steps), len(side.tokens))
        assert np.allclose(seen.attention[kind].sum(axis=-1), 1.0, atol=1e-5)
    last = inspector.attention(TEXT, kind="encoder")
    assert last.layer == len(seen.attention["encoder"])
    assert np.array_equal(last.weights, seen.attention["encoder"][-1])


def test_nothing_stays_in_the_model(run: RunFolder):
    model = load_model(Universal, run)
    with record_halting(model) as recorded:
        model.encode(Tokens.pad([[4, 3]], padding=0))
    model.encode(Tokens.pad([[4, 5, 3]], padding=0))
    assert [computed.steps.shape[1] for computed in recorded.values()] == [2]


def test_it_is_printed_and_drawn(command: Callable[..., Any], run: RunFolder, tmp_path: Path):
    words = ["inspect", run.path, TEXT, "--show", "halting"]
    command(*words).succeeds()
    view = Inspector(run.path).halting(TEXT)
    shown = [line.split()[:2] for line in command(*words).out.splitlines()]
    for name, side in view.sides.items():
        begin = shown.index([name, "steps"]) + 1
        expected = [[token, str(steps)] for token, steps in zip(side.tokens, side.steps, strict=True)]
        assert shown[begin : begin + len(expected)] == expected
    assert json.loads(command(*words, "--json").out)["encoder"]["steps"] == view.source.steps
    command(*words, "--out", tmp_path / "a.html").succeeds()
    assert (tmp_path / "a.html").read_text(encoding="utf-8").count("<sub>") == sum(
        len(side.tokens) for side in view.sides.values()
    )
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    command(*words, "--out", tmp_path / "a.svg").succeeds()
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_a_model_whose_tokens_do_not_halt_is_refused(tmp_path: Path, copy_run: Path):
    fixed = written(tmp_path / "fixed", {**MODEL, "halting": None})
    for folder in (fixed.path, copy_run):
        with pytest.raises(ManyheadsError, match="every position of this model takes the same number of steps"):
            Inspector(folder).halting(TEXT)
