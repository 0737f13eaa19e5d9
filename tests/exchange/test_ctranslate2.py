"""The exported CTranslate2 folder loads, gives the same outputs, and is written without importing torch."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manyheads import ManyheadsError, Translator
from manyheads.data.text.records import Pair
from manyheads.errors import Notice
from manyheads.exchange.ctranslate2 import (
    INT8_MAXIMUM,
    PORTABLE_INT8_MAXIMUM,
    export_ctranslate2,
    model_parts,
    quantized,
)
from manyheads.exchange.tree import read_checked
from manyheads.runs.folder import RunFolder
from run_folders import make_multilingual_run, make_run, pairs

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
POSITIONS: dict[str, dict[str, Any]] = {
    "sinusoidal": {},
    "learned": {"maximum": 400},
    "relative": {"clip": 3},
    "rotary": {},
    "t5": {"buckets": 8, "reach": 20},
}
LONG = 64  # tokens


def opened(folder: Path, **options: Any) -> Any:
    return ctranslate2.Translator(str(folder), device="cpu", inter_threads=1, intra_threads=1, **options)


def source_pieces(run: RunFolder, texts: Sequence[str]) -> list[list[str]]:
    """Return texts in pieces, as any user of an exported folder would give them."""
    tokenizer, end = run.tokenizers().source, run.config().end
    return [tokenizer.pieces([*tokenizer.encode(one), end]) for one in texts]


def scores(translator: Any, run: RunFolder, examples: Sequence[Pair]) -> list[list[float]]:
    """Return the log-probabilities of pairs, all in one batch."""
    tokenizer = run.tokenizers().target
    sources = source_pieces(run, [one.source for one in examples])
    targets = [tokenizer.pieces(tokenizer.encode(one.target)) for one in examples]
    return [one.log_probs for one in translator.score_batch(sources, targets, max_input_length=0)]


def short_and_long() -> list[Pair]:
    """Return pairs of several lengths: one date, and many in one text."""
    joined = (" ".join(side) for side in zip(*pairs(16), strict=True))
    return [*pairs(4), Pair(*joined)]


def difference(one: list[list[float]], other: list[list[float]]) -> float:
    return max(float(np.abs(np.subtract(a, b)).max()) for a, b in zip(one, other, strict=True))


def mean_square(one: list[list[float]], other: list[list[float]]) -> float:
    return float(np.mean(np.square(np.subtract(np.concatenate(one), np.concatenate(other)))))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_folder_loads_and_gives_the_same_scores(shape: dict[str, Any], tmp_path: Path):
    run = make_run(tmp_path / "run", **shape)
    export_ctranslate2(run, tmp_path / "there")
    ours = Translator(run.path, engine="torch").score(*zip(*pairs(20), strict=True))
    assert difference(scores(opened(tmp_path / "there"), run, pairs(20)), ours) < 1e-4
    for name, model in run.tokenizers().files().items():
        assert (tmp_path / "there" / name).read_bytes() == model


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("kind", POSITIONS)
def test_positions_are_the_same_in_every_layer_and_at_every_length(kind: str, norm: str, tmp_path: Path):
    run = make_run(tmp_path / "run", positions={"kind": kind, **POSITIONS[kind]}, norm=norm, decoder_layers=2)
    export_ctranslate2(run, tmp_path / "there")
    torch, folder = Translator(run.path, engine="torch"), opened(tmp_path / "there")
    ours = torch.score(*zip(*short_and_long(), strict=True))
    assert max(map(len, ours)) > LONG
    assert difference(scores(folder, run, short_and_long()), ours) < 1e-4


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("kind", POSITIONS)
def test_positions_are_the_same_token_by_token(kind: str, norm: str, tmp_path: Path):
    run = make_run(tmp_path / "run", positions={"kind": kind, **POSITIONS[kind]}, norm=norm, decoder_layers=2)
    export_ctranslate2(run, tmp_path / "there")
    texts, longest = [one.source for one in short_and_long()], LONG + 16
    found = opened(tmp_path / "there").translate_batch(
        source_pieces(run, texts),
        beam_size=1,
        max_input_length=0,
        max_decoding_length=longest,
        suppress_sequences=[["<s>"], ["<pad>"]],
    )
    theirs = [one.hypotheses[0] for one in found]
    assert max(map(len, theirs)) > LONG
    config, target = run.config(), run.tokenizers().target
    for pieces, one in zip(
        theirs, Translator(run.path, engine="torch").translations(texts, beam=1, extra_length=longest), strict=True
    ):
        ours = [token for token in one.candidates[0].tokens[:longest] if token != config.end]
        assert pieces == target.pieces(ours)


@pytest.mark.parametrize("kind", POSITIONS)
def test_a_folder_of_eight_bits_loads_and_gives_nearly_the_same_scores(kind: str, tmp_path: Path):
    """Half the range of CTranslate2's own conversion can double its rounding error, and prevents overflow."""
    run = make_run(tmp_path / "run", positions={"kind": kind, **POSITIONS[kind]})
    export_ctranslate2(run, tmp_path / "whole")
    export_ctranslate2(run, tmp_path / "small", quantization="int8")
    exact, ours, theirs = (
        scores(opened(tmp_path / name, compute_type=compute), run, pairs(20))
        for name, compute in (("whole", "float32"), ("small", "int8"), ("whole", "int8"))
    )
    assert 0.0 < mean_square(ours, exact) < 2.5**2 * mean_square(theirs, exact)
    sizes = [(tmp_path / name / "model.bin").stat().st_size for name in ("small", "whole")]
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize("int8_maximum", [PORTABLE_INT8_MAXIMUM, INT8_MAXIMUM])
def test_rounding_loses_half_a_step_at_most(tmp_path: Path, int8_maximum: int):
    run = make_run(tmp_path / "run")
    parts = model_parts(read_checked(run.weights_file, run.config()), run.config(), positions=8)
    name = "decoder/layer_0/attention/linear_1/weight"
    small = quantized(parts, "int8", int8_maximum=int8_maximum)
    step = 1 / np.asarray(small[f"{name}_scale"])[:, None]
    assert (np.abs(np.asarray(small[name]) * step - parts[name]) <= 0.501 * step).all()
    assert np.abs(np.asarray(small[name])).max() == int8_maximum
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


@pytest.mark.parametrize("kind", ["ctranslate2", "huggingface"])
def test_exporting_a_model_of_several_languages_prints_its_tags(command: Callable[..., Any], tmp_path: Path, kind: str):
    run, out = make_multilingual_run(tmp_path / "run"), tmp_path / "out"
    run.card_file.write_text("# The card\n", encoding="utf-8")
    printed = command("export", run.path, "--to", kind, "--out", out).succeeds("<2fr>, <2de>, <2en>", '"<2fr> …"')
    page = (out / "README.md").read_text(encoding="utf-8")
    assert page.startswith("# The card\n") and printed.splitlines()[-1] in page
    source = run.tokenizers().source  # and the note is right
    assert source.encode("<2de> 5 mai 2031") == [*source.encode("<2de>"), *source.encode("5 mai 2031")]


def test_exporting_a_model_of_one_language_prints_no_tags(command: Callable[..., Any], tmp_path: Path):
    run = make_run(tmp_path / "run")
    assert "tag" not in command("export", run.path, "--to", "ctranslate2", "--out", tmp_path / "out").succeeds()
    assert not (tmp_path / "out" / "README.md").exists()


def test_weights_that_do_not_fit_are_named(tmp_path: Path):
    run = make_run(tmp_path / "run")
    other = make_run(tmp_path / "other", encoder_layers=1)
    run.weights_file.write_bytes(other.weights_file.read_bytes())
    with pytest.raises(ManyheadsError, match=r"missing: encoder.layers.1.attention.inputs \(96, 32\)"):
        export_ctranslate2(run, tmp_path / "there")
    assert not (tmp_path / "there").exists()


@pytest.mark.parametrize("kind", ["alibi"])
def test_unsupported_positions_are_an_error_on_export_and_use_torch_in_translation(kind: str, tmp_path: Path):
    run = make_run(tmp_path / "run", positions={"kind": kind})
    message = f"CTranslate2 does not support a model with model.positions.kind: {kind}"
    with pytest.raises(ManyheadsError, match=message):
        export_ctranslate2(run, tmp_path / "there")
    assert not (tmp_path / "there").exists()
    with pytest.warns(Notice, match=f"it does not support model.positions.kind: {kind}"):
        found = Translator(run.path).translate("3 May 2021")
    assert found == Translator(run.path, engine="torch").translate("3 May 2021")
