"""Every attention and every kind of position trains, is stopped and resumed, translates and is described."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import read_weights

MODELS = {
    "window": {"attention": {"kind": "window", "window": 2, "dilation": 2}},
    "longformer": {"attention": {"kind": "window", "window": 2, "global_tokens": 1}},
    "bigbird": {"attention": {"kind": "bigbird", "block": 2, "random_blocks": 1}},
    "performer": {"attention": {"kind": "performer", "features": 8, "redraw": 2}},
    "linear": {"attention": {"kind": "linear"}},
    "linformer": {"attention": {"kind": "linformer", "rank": 4, "length": 64}, "decoder_attention": {"kind": "linear"}},
    "hashing": {"attention": {"kind": "hashing", "chunk": 4}},
    "relative": {"positions": {"kind": "relative"}},
    "t5": {"positions": {"kind": "t5"}},
    "rotary": {"positions": {"kind": "rotary"}},
    "alibi": {"positions": {"kind": "alibi"}},
}


@pytest.mark.parametrize("name", MODELS)
def test_it_trains_resumes_and_translates(
    name: str, sprint: Callable[..., Path], command: Callable[..., Any], tmp_path: Path
):
    changes = {f"model.{key}": value for key, value in MODELS[name].items()}
    recipe = sprint({**changes, "training.optimiser": "muon"})
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    command("train", recipe, "--out", whole).succeeds()
    steps = RunFolder.open(whole).recipe().training.steps
    command("train", recipe, "--out", parts, "--set", f"training.steps={steps // 2}").succeeds()
    command("train", recipe, "--out", parts).succeeds()
    first, second = (read_weights(RunFolder.open(one).weights_file) for one in (whole, parts))
    assert all((first[key] == second[key]).all() for key in first)
    command("translate", "--model", whole, "a b c").succeeds()
    command("inspect", whole, "a b c", "--json").succeeds()
    command("describe", recipe, "--json").succeeds()
