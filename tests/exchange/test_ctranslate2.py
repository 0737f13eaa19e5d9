"""CTranslate2's format, written by us: it loads, says the same, and torch is never imported."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manyheads import ManyheadsError, Translator
from manyheads.exchange.ctranslate2 import PORTABLE, WHOLE, export_ctranslate2, model_parts, quantized
from manyheads.exchange.tree import read_checked
from manyheads.runs.folder import RunFolder
from run_folders import make_run, pairs

ctranslate2 = pytest.importorskip("ctranslate2")

SHAPES: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "pre-norm, gelu, nothing tied": {"norm": "pre", "activation": "gelu", "tie": "none", "output_bias": True},
    "learned, swish": {"positions": {"kind": "learned", "maximum": 200}, "activation": "swish", "tie": "target"},
    "relative": {"positions": {"kind": "relative", "clip": 3}},
    "starts with padding": {"tokenizer": {"start": "pad"}},
    "starts with the end": {"tokenizer": {"start": "end"}},
    "two vocabularies": {"tie": "target", "tokenizer": {"shared": False, "target": {"kind": "characters"}}},
}


def opened(folder: Path, **options: Any) -> Any:
    return ctranslate2.Translator(str(folder), device="cpu", inter_threads=1, intra_threads=1, **options)


def scores(translator: Any, run: RunFolder) -> list[list[float]]:
    """Return the log-probabilities of some pairs, told in pieces as any user of the folder would."""
    tokenizers, end = run.tokenizers(), run.config().end
    sources = [tokenizers.source.pieces([*tokenizers.source.encode(one.source), end]) for one in pairs(20)]
    targets = [tokenizers.target.pieces(tokenizers.target.encode(one.target)) for one in pairs(20)]
    return [one.log_probs for one in translator.score_batch(sources, targets, max_input_length=0)]


def difference(one: list[list[float]], other: list[list[float]]) -> float:
    return max(float(np.abs(np.subtract(a, b)).max()) for a, b in zip(one, other, strict=True))


def mean_square(one: list[list[float]], other: list[list[float]]) -> float:
    return float(np.mean(np.square(np.subtract(np.concatenate(one), np.concatenate(other)))))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_folder_loads_and_says_the_same(shape: dict[str, Any], tmp_path: Path):
    run = make_run(tmp_path / "run", **shape)
    export_ctranslate2(run, tmp_path / "there")
    ours = Translator(run.path, engine="torch").score(*zip(*pairs(20), strict=True))
    assert difference(scores(opened(tmp_path / "there"), run), ours) < 1e-4
    for name, model in run.tokenizers().files().items():
        assert (tmp_path / "there" / name).read_bytes() == model


def test_a_folder_of_eight_bits_loads_and_says_nearly_the_same(tmp_path: Path):
    """Half the range of CTranslate2's own conversion costs up to twice its rounding, and saves it from overflowing."""
    run = make_run(tmp_path / "run")
    export_ctranslate2(run, tmp_path / "whole")
    export_ctranslate2(run, tmp_path / "small", quantization="int8")
    exact, ours, theirs = (
        scores(opened(tmp_path / name, compute_type=kind), run)
        for name, kind in (("whole", "float32"), ("small", "int8"), ("whole", "int8"))
    )
    assert 0.0 < mean_square(ours, exact) < 2.5**2 * mean_square(theirs, exact)
    sizes = [(tmp_path / name / "model.bin").stat().st_size for name in ("small", "whole")]
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize("largest", [PORTABLE, WHOLE])
def test_rounding_loses_half_a_step_at_most(tmp_path: Path, largest: int):
    run = make_run(tmp_path / "run")
    parts = model_parts(read_checked(run.weights_file, run.config()), run.config(), positions=8)
    name = "decoder/layer_0/attention/linear_1/weight"
    small = quantized(parts, "int8", largest=largest)
    step = 1 / np.asarray(small[f"{name}_scale"])[:, None]
    assert (np.abs(np.asarray(small[name]) * step - parts[name]) <= 0.501 * step).all()
    assert np.abs(np.asarray(small[name])).max() == largest
    assert small["encoder/embeddings_0/weight_scale"] == "decoder/embeddings/weight_scale"  # tied, so written once


TORCH_FREE = """
import sys
from pathlib import Path
from manyheads.exchange.ctranslate2 import export_ctranslate2
from manyheads.exchange.huggingface import export_huggingface, import_huggingface
from manyheads.runs.folder import RunFolder
run, out = RunFolder.open(sys.argv[1]), Path(sys.argv[2])
export_ctranslate2(run, out / "c", quantization="int8")
export_huggingface(run, out / "h")
import_huggingface(out / "h", out / "run")
sys.exit("torch imported" if "torch" in sys.modules else 0)
"""


def test_models_are_exchanged_without_torch(copy_run: Path, tmp_path: Path):
    words = [sys.executable, "-c", TORCH_FREE, str(copy_run), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_command_writes_it(command: Callable[..., Any], copy_run: Path, tmp_path: Path):
    out = tmp_path / "there"
    result = command("export", copy_run, "--to", "ctranslate2", "--quantization", "int8", "--out", out)
    result.succeeds()
    assert result.out == f"{out}\n"
    assert json.loads((out / "config.json").read_text())["decoder_start_token"] == "<s>"
    command("export", copy_run, "--to", "ctranslate2", "--out", out).refuses("there is something here already")
    words = ["export", copy_run, "--to", "huggingface", "--quantization", "int8", "--out", tmp_path / "other"]
    command(*words).refuses("--quantization")


def test_weights_that_do_not_fit_are_named(tmp_path: Path):
    run = make_run(tmp_path / "run")
    other = make_run(tmp_path / "other", encoder_layers=1)
    run.weights_file.write_bytes(other.weights_file.read_bytes())
    with pytest.raises(ManyheadsError, match=r"missing: encoder.layers.1.attention.inputs \(96, 32\)"):
        export_ctranslate2(run, tmp_path / "there")
    assert not (tmp_path / "there").exists()


@pytest.mark.parametrize("kind", ["t5", "rotary", "alibi"])
def test_positions_that_it_does_not_have_are_refused_and_left_to_torch(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    run = make_run(tmp_path / "run", positions={"kind": kind})
    with pytest.raises(ManyheadsError, match=f"CTranslate2 cannot hold a model with model.positions.kind: {kind}"):
        export_ctranslate2(run, tmp_path / "there")
    assert not (tmp_path / "there").exists()
    assert Translator(run.path).translate("3 May 2021") == Translator(run.path, engine="torch").translate("3 May 2021")
    assert f"it cannot hold model.positions.kind: {kind}" in capsys.readouterr().err
