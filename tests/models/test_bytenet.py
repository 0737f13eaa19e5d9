"""ByteNet: its blocks, the unfolding of the source, and what it learns. The laws are in `laws.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from helpers import SPECIAL, VOCABULARY, batch_of, greatest_difference, prepared, stir
from manyheads.config.models.bytenet import ByteNetSettings
from manyheads.config.reading import build_recipe
from manyheads.decoding.search.greedy import greedy_search
from manyheads.decoding.translator import Translator
from manyheads.errors import ManyheadsError
from manyheads.inspection.inspector import Inspector
from manyheads.layers.convolution import Kernel
from manyheads.models.bytenet import ByteNet, MultiplicativeUnit, ReluConvolution, ResidualBlock, Unfolding
from manyheads.runs.folder import RunFolder
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer
from short_learning import learn, share_right

CLOSE = 1e-6
KINDS = ("relu", "multiplicative")


def build(**changes) -> ByteNet:
    """Return a small model."""
    sizes = {"width": 16, "encoder_layers": 3, "decoder_layers": 3, "largest_dilation": 4, "dropout": 0.0}
    settings = ByteNetSettings(**{**sizes, **changes})
    return ByteNet.from_settings(settings, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)


def test_a_residual_block_is_its_equation():
    torch.manual_seed(1)
    block = stir(ResidualBlock(8, ReluConvolution(4, Kernel(3, 2), causal=True), dropout=0.0), seed=2)
    x = torch.randn(2, 9, 8)
    middle, relu = block.middle, torch.relu
    weight, bias = middle.convolution.weight.transpose(1, 2), middle.convolution.bias
    inner = relu(middle.before(block.narrow(relu(block.norm(x))))).transpose(1, 2)
    convolved = torch.conv1d(torch.nn.functional.pad(inner, (4, 0)), weight, bias, dilation=2).transpose(1, 2)
    expected = x + block.widen(relu(middle.after(convolved)))
    assert greatest_difference(block(x, None, None)[0], expected) < CLOSE * 5


def test_a_multiplicative_unit_is_its_equation():
    torch.manual_seed(1)
    unit = stir(MultiplicativeUnit(4, Kernel(3), causal=True), seed=2)
    x = torch.randn(1, 6, 4)
    h = unit.norm(x)
    padded = torch.nn.functional.pad(h, (0, 0, 2, 0))
    for t in range(6):
        window = padded[0, t : t + 3]  # the last is h_t
        g1, g2, g3, u = (torch.einsum("oki,ki->o", unit.gates.weight, window) + unit.gates.bias).chunk(4)
        expected = g1.sigmoid() * torch.tanh(g2.sigmoid() * h[0, t] + g3.sigmoid() * torch.tanh(u))
        assert greatest_difference(unit(x, None, None)[0][0, t], expected) < CLOSE * 5


@pytest.mark.parametrize(
    ("ratio", "extra", "columns"),
    [(1.2, 0, {0: 0, 1: 2, 5: 6, 10: 12, 50: 60}), (1.1, 0, {10: 11, 100: 110}), (1.0, 3, {4: 7}), (2.5, 1, {3: 9})],
)
def test_a_source_is_unfolded_by_a_line(ratio, extra, columns):
    unfolding = Unfolding(ratio, extra)
    assert {length: unfolding.columns(length) for length in columns} == columns


def test_rows_of_a_batch_are_unfolded_by_their_own_length():
    model = stir(build(unfold_ratio=1.5), seed=3).eval()
    with torch.inference_mode():
        states = model.encode(batch_of([[4, 5, 6, 7, 8], [4]]))
    filled = states.abs().sum(dim=-1) > 0
    assert filled.sum(dim=1).tolist() == [9, 3]  # of 6 and 2 tokens, end tokens included
    assert filled[1, :3].all()


@pytest.mark.parametrize("kind", KINDS)
def test_behind_its_columns_a_target_is_read_without_the_source(kind):
    """Changing the column of a position changes nothing before it; behind the last column there is none to change."""
    model = stir(build(block=kind, unfold_ratio=1.0), seed=3).eval()
    target = torch.tensor([[SPECIAL.start, 4, 5, 6, 7, 8]])
    with torch.inference_mode():
        columns = model.encode(batch_of([[4, 5]]))  # three of them
        whole = model.decode(target, columns).hidden
        longer = model.decode(target, torch.nn.functional.pad(columns, (0, 0, 0, 4))).hidden
        assert greatest_difference(whole, longer) < CLOSE  # no representation is a representation of zeros
        changed = columns.clone()
        changed[:, 2, 0] += 1.0  # not every channel alike, which norms would take away
        other = model.decode(target, changed).hidden
    assert greatest_difference(whole[:, :2], other[:, :2]) < CLOSE
    assert all(float((whole[0, t] - other[0, t]).abs().max()) > 1e-4 for t in (2, 3))  # what was read is still held


class Fixed(ByteNet):
    """A model whose output layer prefers the end token at one position."""

    ends_at = 0

    def step(self, tokens: Tensor, state):
        logits, after = super().step(tokens, state)
        logits[:, SPECIAL.end] = 100.0 if state.position == self.ends_at else -100.0
        return logits, after


@pytest.mark.parametrize("ends_at", [0, 2, 3, 8])
def test_it_stops_at_the_end_token_whatever_the_unfolded_length(ends_at):
    settings = ByteNetSettings(width=16, encoder_layers=2, decoder_layers=2, unfold_ratio=1.0)
    model = stir(Fixed.from_settings(settings, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY), seed=3)
    model.eval().ends_at = ends_at
    memory = model.encode(batch_of([[4, 5]]))
    assert memory.shape[1] == 3
    (found,) = greedy_search(model, model.start(memory), special=SPECIAL, limits=[20])
    assert len(found.tokens) == ends_at + 1
    assert found.tokens[-1] == SPECIAL.end


@pytest.mark.parametrize("largest", [1, 2, 16])
def test_dilations_double_and_begin_again(largest):
    settings = ByteNetSettings(largest_dilation=largest)
    found = settings.dilations(7)
    assert found == {1: [1] * 7, 2: [1, 2, 1, 2, 1, 2, 1], 16: [1, 2, 4, 8, 16, 1, 2]}[largest]


@pytest.mark.parametrize(
    ("length", "largest", "blocks"), [(1, 16, 1), (3, 16, 1), (4, 16, 2), (63, 16, 5), (64, 16, 6), (64, 1, 32)]
)
def test_distances_are_what_a_stack_of_that_depth_connects(length, largest, blocks):
    """The last position hears of the first in a stack that is deep enough, and not in one that is a block less deep."""
    for depth in {blocks, blocks - 1} - {0}:
        settings = ByteNetSettings(encoder_layers=blocks, decoder_layers=depth, largest_dilation=largest)
        path = settings.distances(length).path
        assert path == (blocks if depth == blocks else None)
        model = stir(build(decoder_layers=depth, largest_dilation=largest), seed=3)
        inputs = torch.randn(1, length, 16, requires_grad=True)
        states = inputs
        for block in model.decoder:
            states, _ = block(states, None, None)
        heard = torch.autograd.grad(states[0, -1].sum(), inputs)[0][0, 0].abs().sum()
        assert (heard > 0) == (path is not None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tie", ["all", "none"])
def test_the_settings_count_the_weights(kind, tie):
    settings = ByteNetSettings(width=16, encoder_layers=3, decoder_layers=2, block=kind, tie=tie)
    model = ByteNet.from_settings(settings, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    assert sum(one.numel() for one in model.parameters() if one.dim() > 1) == settings.weights(VOCABULARY, VOCABULARY)


def test_the_share_of_work_is_that_of_the_blocks():
    model = build(encoder_layers=3, decoder_layers=2, unfold_ratio=2.0)
    read = 3 * (2 * 16 * 8 + 5 * 8 * 8) + 16**2
    written = 2 * (2 * 16 * 8 + 3 * 8 * 8) + 16**2
    assert model.multiplications(2, 5, 7) == 2 * (10 * read + 7 * written)


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ({"encoder_kernel": 4}, "encoder_kernel 4 is even, .* use 3 or 5"),
        ({"heads": 4}, "`heads` is for transformer and universal models, not for"),
        ({"width": 15}, "width 15 is not even"),
        ({"largest_dilation": 12}, "largest_dilation 12 is not reached by doubling from 1: use 8 or 16"),
        ({"unfold_ratio": 0.5}, "unfold_ratio"),
        ({"block": "gated"}, "'relu' or 'multiplicative'"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(model, told):
    with pytest.raises(ManyheadsError, match=told):
        build_recipe({"name": "x", "data": {"train": {"task": "copy"}}, "model": {"kind": "bytenet", **model}})


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_to_copy(kind):
    torch.manual_seed(0)
    model = build(block=kind)
    learn(model, list, longest=6, steps=150, rate=0.01)
    assert share_right(model, list, longest=6) >= 0.95


def test_it_learns_targets_that_are_longer_than_the_unfolded_source():
    """Every word twice: of three words and an end token there are four columns, and seven tokens are written."""
    torch.manual_seed(0)
    model = build(width=32, unfold_ratio=1.0)
    learn(model, twice, longest=3, steps=200, rate=0.01)
    assert share_right(model, twice, longest=3) >= 0.95


def twice(row: list[int]) -> list[int]:
    """Return a row with every word doubled."""
    return [word for one in row for word in (one, one)]


def test_a_look_inside_is_refused_for_want_of_attention_but_the_beam_is_shown(tmp_path: Path):
    recipe = build_recipe(
        {
            "name": "x",
            "data": {"train": {"task": "copy", "count": 60}, "valid": {"task": "copy", "count": 8}},
            "tokenizer": {"kind": "symbols"},
            "model": {"kind": "bytenet", "width": 16, "encoder_layers": 2, "decoder_layers": 2},
            "validation": {"metric": "loss", "samples": 0},
            "training": {"steps": 2, "batch_tokens": 128, "threads": 1},
        }
    )
    run = RunFolder(tmp_path / "run")
    Trainer(prepared(recipe, run), device=torch.device("cpu"), reporter=Reporter(quiet=True)).train()
    inspector = Inspector(run.path, device="cpu")
    looks = (
        lambda: inspector.main_kind,
        lambda: inspector.everything("a b"),
        lambda: inspector.attention("a b", kind="cross", layer=1),
        lambda: inspector.steps("a b"),
    )
    for look in looks:
        with pytest.raises(ManyheadsError, match="this model has no attention, so there are no weights to look at"):
            look()
    assert inspector.beam("a b", beam=2).nodes
    with pytest.raises(ManyheadsError, match="no attention, so there are no alignments"):
        Translator(run.path, engine="torch").translations(["a b"], alignments=True)
