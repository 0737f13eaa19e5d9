"""Packed linear layers compute the same, whatever the inputs' layout, and a whole model of them stays itself."""

import copy

import pytest
import torch
import torch.nn.functional as F

from helpers import VOCABULARY, batch_of, tiny
from manyheads.attention.recording import record_attention
from manyheads.decoding.engines.int8 import Int8Linear
from manyheads.decoding.engines.packing import PackedAttention, PackedLinear, can_pack, with_linears

ROWS = [[4, 5, 6], [7], [8, 9, 10, 4, 4]]
packs = pytest.mark.skipif(not can_pack(), reason="PyTorch has no packed linear layers on this processor")
ERRORS = {PackedLinear: 1e-5, Int8Linear: 0.05}  # of the logits, relative to their size
each_kind = pytest.mark.parametrize("make_linear", [pytest.param(PackedLinear, marks=packs), Int8Linear])


@packs
@pytest.mark.parametrize("bias", [None, torch.linspace(-1, 1, 24)])
@pytest.mark.parametrize(
    "inputs",
    [
        torch.randn(16),
        torch.randn(1, 16),
        torch.randn(2, 5, 16),
        torch.randn(19, 16),
        torch.randn(7, 100, 16),
        torch.randn(2, 0, 16),
        torch.randn(2, 16, 5).transpose(1, 2),
        torch.randn(2, 5, 32)[..., ::2],
    ],
    ids=["vector", "row", "rows", "two blocks of rows", "many rows", "none", "transposed", "every second"],
)
def test_a_packed_layer_is_the_layer(inputs: torch.Tensor, bias: torch.Tensor | None):
    weight = torch.randn(16, 24).T  # transposed, as no layer of ours is
    found, expected = PackedLinear(weight, bias)(inputs), F.linear(inputs, weight, bias)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@packs
def test_there_is_a_kernel_for_a_few_numbers_of_rows_alone(monkeypatch: pytest.MonkeyPatch):
    layer, seen = PackedLinear(torch.randn(8, 16), None), set()
    real = torch.ops.mkldnn._linear_pointwise.default

    def counted(rows: torch.Tensor, *others: object) -> torch.Tensor:
        seen.add(len(rows))
        found: torch.Tensor = real(rows, *others)
        return found

    monkeypatch.setattr(torch.ops.mkldnn._linear_pointwise, "default", counted)
    for count in range(300):
        assert layer(torch.randn(count, 16)).shape == (count, 8)
    assert seen == {1, 2, 4, 8, *range(16, 129, 16)}


@pytest.mark.parametrize(
    ("norm", "positions"),
    [
        ("pre", "sinusoidal"),
        ("post", "sinusoidal"),
        *(("pre", kind) for kind in ("learned", "relative", "relative_sinusoidal", "t5", "rotary", "alibi")),
    ],
)
@each_kind
def test_a_model_stays_close_to_itself(make_linear: type[PackedLinear | Int8Linear], norm: str, positions: str):
    exact = tiny(norm, positions)
    packed = with_linears(copy.deepcopy(exact), make_linear)
    source, target = batch_of(ROWS), torch.tensor([[2, 4, 5], [2, 9, 8], [2, 7, 7]])
    with torch.inference_mode():
        wanted, found = (one.logits(one.decode(target, one.encode(source)).hidden) for one in (exact, packed))
    assert found.shape == (3, 3, VOCABULARY)
    error = (found - wanted).norm() / wanted.norm()
    assert error < ERRORS[make_linear]


@each_kind
def test_every_layer_is_replaced_and_attention_can_still_be_recorded(make_linear: type[PackedLinear | Int8Linear]):
    packed = with_linears(copy.deepcopy(tiny()), make_linear)
    kinds = {type(part) for part in packed.modules()}
    assert PackedAttention in kinds
    assert torch.nn.Linear not in kinds
    with torch.inference_mode(), record_attention(packed) as recording:
        packed.decode(torch.tensor([[2, 4]]), packed.encode(batch_of([[4, 5]])))
    assert len(recording) == 2 + 2 * 2
    for weights in recording.values():
        assert torch.allclose(weights.sum(dim=-1), torch.ones(()), atol=1e-5)
