"""ConvS2S: the paper's equations, the variance of its activations, and what it learns. The laws are in `laws.py`."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from helpers import VOCABULARY, batch_of, greatest_difference, prepared, stir
from manyheads.attention.recording import record_attention
from manyheads.config.models.conv_s2s import ConvS2SSettings
from manyheads.config.reading import build_recipe
from manyheads.decoding.translator import Translator
from manyheads.errors import ManyheadsError
from manyheads.inspection.inspector import Inspector
from manyheads.models.conv_s2s import ConvMemory, ConvS2S, GatedConvolution, NormalizedLinear, StepAttention
from manyheads.runs.folder import RunFolder
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer
from short_learning import learn, share_right

CLOSE = 1e-6


def build(**changes) -> ConvS2S:
    """Return a small model."""
    settings = ConvS2SSettings(**{"width": 16, "encoder_layers": 2, "decoder_layers": 2, "dropout": 0.0, **changes})
    return ConvS2S.from_settings(settings, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)


@pytest.mark.parametrize("causal", [False, True])
def test_a_gated_convolution_is_conv1d_and_glu(causal):
    torch.manual_seed(1)
    ours = stir(GatedConvolution(6, 3, dropout=0.0), seed=2)
    states = torch.randn(2, 7, 6, requires_grad=True)
    found = ours.causal(states, None)[0] if causal else ours(states)
    padded = F.pad(states.transpose(1, 2), (2, 0) if causal else (1, 1))
    expected = F.glu(F.conv1d(padded, ours.weight().transpose(1, 2), ours.bias), dim=1).transpose(1, 2)
    assert greatest_difference(found, expected) < CLOSE
    leaves = (states, *ours.parameters())
    for one, other in zip(*(torch.autograd.grad(x.square().sum(), leaves) for x in (found, expected)), strict=True):
        assert greatest_difference(one, other) < CLOSE * max(1.0, float(other.abs().max()))


def test_attention_is_the_papers_equations():
    """Position by position, in loops: equations (1) and (2), m·√(1/m), and √½ for each sum."""
    torch.manual_seed(1)
    attention, width = stir(StepAttention(4), seed=3), 4
    states, embedded = torch.randn(1, 3, width), torch.randn(1, 3, width)
    z, e = torch.randn(1, 5, width), torch.randn(1, 5, width)
    memory = ConvMemory(z, (z + e) * math.sqrt(0.5), torch.ones(1, 5, dtype=torch.bool), torch.tensor([5 * 5**-0.5]))
    found = attention(states, embedded, memory)
    for i in range(3):
        d = (linear(attention.query, states[0, i]) + embedded[0, i]) * math.sqrt(0.5)
        scores = torch.stack([(d * z[0, j]).sum() for j in range(5)]).exp()
        shares = scores / scores.sum()
        c = sum(shares[j] * (z[0, j] + e[0, j]) * math.sqrt(0.5) for j in range(5)) * 5 * math.sqrt(1 / 5)
        expected = (linear(attention.output, c) + states[0, i]) * math.sqrt(0.5)
        assert greatest_difference(found[0, i], expected) < CLOSE * 10


def linear(layer: NormalizedLinear, vector: torch.Tensor) -> torch.Tensor:
    """Return W·x + b for one vector [D]."""
    return layer.weight() @ vector + layer.bias


def variances(model: ConvS2S) -> tuple[float, list[float], list[float]]:
    """Return the variance of the embeddings, and of what each layer of encoder and decoder makes of random tokens."""
    seen: dict[str, list[float]] = {"encoder": [], "decoder": []}

    def record(part: str):
        return lambda _, __, out: seen[part].append(float((out[0] if isinstance(out, tuple) else out).detach().var()))

    for part in seen:
        for layer in getattr(model, part).layers:
            layer.register_forward_hook(record(part))
    source, target = (torch.randint(4, len(model.output), (16, 30)).tolist() for _ in range(2))
    model.decode(torch.tensor(target), model.encode(batch_of(source, ended=False)))
    tokens, places = model.source.vectors, model.source.positions.table
    return float((tokens.var() + places[:30].var()).detach()), seen["encoder"], seen["decoder"]


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_at_first_no_layer_changes_the_variance(dropout):
    """Without √½, or without the 4 or the p of the initialisation, eight layers would change it by far more.

    With dropout p, leaving out p alone would give (1 + 1/0.7)/2 = 1.2 a layer, 4.7 after eight.
    """
    torch.manual_seed(1)
    settings = ConvS2SSettings(width=256, encoder_layers=8, decoder_layers=8, dropout=dropout)
    model = ConvS2S.from_settings(settings, source_vocabulary=1000, target_vocabulary=1000).train()
    embedded, encoder, decoder = variances(model)
    for variance in encoder:
        assert variance == pytest.approx(embedded, rel=0.1)
    for variance in decoder:  # weights of attention are not quite uniform, as the paper's factor assumes
        assert embedded * 0.9 < variance < embedded * 1.6


def test_the_gradient_of_the_encoder_is_divided_but_not_that_of_the_embeddings():
    """A model of three attentions against the same one whose encoder's gradient is whole."""
    model = build(decoder_layers=3, tie="none")
    source = batch_of([[4, 5, 6]])

    def gradients(scale: float):
        model.zero_grad()
        memory = model.encode(source)
        (memory.keys.sum() * scale).backward()
        return model.encoder.last.bias.grad.clone(), model.source.vectors.grad.clone()

    last, vectors = gradients(3.0)
    assert greatest_difference(last, torch.full((16,), 4.0)) < CLOSE * 10  # one for each of four positions
    whole = torch.autograd.grad(
        model.encoder(model.source(source.ids), torch.ones(1, 4, 1)).sum(), model.source.vectors
    )
    assert greatest_difference(vectors, whole[0]) < 1e-5
    model.zero_grad()
    memory = model.encode(source)
    values = memory.values - memory.keys * math.sqrt(0.5)  # e·√½ alone
    values.sum().backward()
    counted = torch.bincount(source.ids.flatten(), minlength=VOCABULARY).float() * math.sqrt(0.5)
    assert greatest_difference(model.source.vectors.grad, counted[:, None].expand(-1, 16)) < 1e-5


@pytest.mark.parametrize(("tie", "matrices"), [("all", 1), ("target", 2), ("none", 3)])
def test_the_settings_count_the_weights(tie, matrices):
    settings = ConvS2SSettings(width=16, encoder_layers=3, decoder_layers=2, decoder_kernel=4, tie=tie)
    model = ConvS2S.from_settings(settings, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    weights = [one for one in model.parameters() if one.dim() > 1]
    assert sum(one.numel() for one in weights) == settings.weights(VOCABULARY, VOCABULARY)
    assert sum(len(one) == VOCABULARY for one in weights) == matrices


def test_a_source_longer_than_the_positions_is_refused():
    model = build(maximum_positions=5)
    model.encode(batch_of([[4] * 4]))
    with pytest.raises(ManyheadsError, match=r"model.maximum_positions: a sequence of 6 tokens is longer than the 5"):
        model.encode(batch_of([[4] * 5]))


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ({"encoder_kernel": 4}, "encoder_kernel 4 is even, .* use 3 or 5"),
        ({"heads": 4}, "`heads` is for transformer and universal models, not for"),
        ({"maximum_positions": 256}, "model.maximum_positions: 256 must be above data.max_length: 256"),
        ({"decoder_kernel": 1}, "decoder_kernel"),
        ({"encoder_layers": 501}, "too deep"),
        ({"width": 10**6}, "would take"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(model, told):
    with pytest.raises(ManyheadsError, match=told):
        build_recipe({"name": "x", "data": {"train": {"task": "copy"}}, "model": {"kind": "conv_s2s", **model}})


@pytest.mark.parametrize(("kernel", "length", "layers"), [(3, 10, 9), (5, 10, 5), (7, 10, 3), (3, 1, 1)])
def test_distances_are_what_a_stack_of_that_depth_connects(kernel, length, layers):
    """The last position hears of the first in a stack that is deep enough, and not in one that is a layer less deep."""
    sizes = {"width": 4, "decoder_layers": layers, "encoder_kernel": kernel, "decoder_kernel": kernel}
    for depth in {layers, layers - 1} - {0}:
        path = ConvS2SSettings(encoder_layers=depth, **sizes).distances(length).path
        assert path == (layers if depth == layers else None)
        model = build(encoder_layers=depth, encoder_kernel=kernel)
        inputs = torch.randn(1, length, 16, requires_grad=True)
        last = model.encoder(inputs, torch.ones(1, length, 1))[0, -1]
        heard = torch.autograd.grad(last.sum(), inputs)[0][0, 0].abs().sum()
        assert (heard > 0) == (path is not None)


def test_the_share_of_work_is_that_of_the_equations():
    model = build(encoder_layers=3, decoder_layers=2, decoder_kernel=4)
    read = 3 * (3 * 16 * 32) + 2 * 16**2  # convolutions to twice the width, and two linear maps
    written = 2 * (4 * 16 * 32 + 2 * 16**2) + 2 * 16**2
    assert model.multiplications(2, 5, 7) == 2 * (5 * read + 7 * (written + 2 * 2 * 5 * 16))


def test_it_learns_to_reverse():
    torch.manual_seed(0)
    model = build(width=32)
    learn(model, lambda row: row[::-1], longest=6, steps=150, rate=0.01)
    assert share_right(model, lambda row: row[::-1], longest=6) >= 0.95


def test_a_run_is_inspected_and_translates_with_alignments(tmp_path: Path):
    recipe = build_recipe(
        {
            "name": "x",
            "data": {"train": {"task": "copy", "count": 60}, "valid": {"task": "copy", "count": 8}},
            "tokenizer": {"kind": "symbols"},
            "model": {"kind": "conv_s2s", "width": 16, "encoder_layers": 2, "decoder_layers": 3},
            "validation": {"metric": "loss", "samples": 0},
            "training": {"steps": 2, "batch_tokens": 128, "threads": 1},
        }
    )
    run = RunFolder(tmp_path / "run")
    Trainer(prepared(recipe, run), device=torch.device("cpu"), reporter=Reporter(quiet=True)).train()
    inspector = Inspector(run.path, device="cpu")
    seen = inspector.everything("a b c")
    assert inspector.main_kind == "cross"
    assert seen.attention["cross"].shape == (3, 1, len(seen.target_tokens), 4)  # three layers of one head
    assert next(inspector.steps("a b c")).cross.shape == (1, 4)
    (found,) = Translator(run.path, engine="torch").translations(["a b c"], alignments=True)
    assert len(found.candidates[0].attention[0]) == 4


def test_attention_is_recorded_by_layer():
    model = build(decoder_layers=3).eval()
    with torch.inference_mode(), record_attention(model) as recording:
        model.decode(torch.tensor([[2, 4], [2, 5]]), model.encode(batch_of([[4, 5], [6]])))
    assert list(recording) == [f"decoder.layers.{layer}.cross_attention" for layer in range(3)]
    assert {tuple(weights.shape) for weights in recording.values()} == {(2, 1, 2, 3)}
    assert all((weights[1, ..., 2] == 0).all() for weights in recording.values())  # the padding of the second row
