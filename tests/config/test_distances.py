"""How far apart the ends of a sequence are: what the settings say is what real models show.

Of recurrent models, each layer at one position marks its outputs in autograd's graph, and paths through the graph are
searched for. Of Transformers, the gradient of one position with respect to another tells how many layers connect them.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from helpers import VOCABULARY, batch_of, stir
from manyheads.config.models.base import Distances
from manyheads.config.models.bert import BertSettings
from manyheads.config.models.language_model import LanguageModelSettings
from manyheads.config.models.recurrent import RecurrentSettings
from manyheads.config.models.transformer import TransformerSettings
from manyheads.layers.cells import LSTM
from manyheads.models.bert import BertModel
from manyheads.models.interface import EncoderInputs
from manyheads.models.language_model import TransformerLanguageModel
from manyheads.models.recurrent import Recurrent
from manyheads.models.transformer import Transformer

LENGTH = 7


# --- Recurrent models: paths through the graph -----------------------------------------------------------------------


class Marked(torch.autograd.Function):
    """The identity; its nodes in the graph are the operations that are counted."""

    @staticmethod
    def forward(context: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        return tuple(one.clone() for one in tensors)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        return gradients


def extreme(node: Any, goal: Any, choose: Any) -> int | None:
    """Return the least or the largest number of marked nodes on the ways from a node to another, or to any end."""

    @cache
    def ways(node: Any) -> int | None:
        if node is goal:
            return 0
        below = [other for other, _ in node.next_functions if other is not None]
        found = [one for one in map(ways, below) if one is not None]
        if not found:
            return 0 if goal is None and not below else None
        return choose(found) + (1 if "Marked" in type(node).__name__ else 0)

    sys.setrecursionlimit(10_000)
    return ways(node)


@pytest.mark.parametrize(
    "settings",
    [
        {"encoder_layers": 2, "decoder_layers": 2},
        {"encoder_layers": 1, "decoder_layers": 3},
        {"encoder_layers": 1, "decoder_layers": 1, "bidirectional": False},
        {"encoder_layers": 2, "decoder_layers": 2, "input_feeding": True},
        {"encoder_layers": 2, "decoder_layers": 2, "source_attention": "none"},
    ],
)
def test_distances_of_lstms_are_those_of_the_graph_of_a_model(settings, monkeypatch):
    shape = RecurrentSettings(width=4, dropout=0.0, fused=False, **settings)
    model = Recurrent.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    advance = LSTM.advance
    monkeypatch.setattr(LSTM, "advance", lambda *arguments: Marked.apply(*advance(*arguments)))
    attentional = model._attentional
    monkeypatch.setattr(model, "_attentional", lambda *arguments: Marked.apply(attentional(*arguments))[0])
    state = model.begin(model.encode(batch_of([[4] * LENGTH], ended=False)))
    nodes = []
    for _ in range(LENGTH):  # position after position, so that each has nodes of its own
        embedded = model.target(torch.tensor([[5]]))
        nodes.append(embedded.grad_fn)
        hidden, state = model._read(embedded, state)
    found = Distances(extreme(hidden.grad_fn, None, max), extreme(hidden.grad_fn, nodes[0], min))
    assert found == shape.distances(LENGTH)


def test_the_distances_of_lstms_grow_with_the_length():
    one, other = (RecurrentSettings().distances(length) for length in (100, 200))
    assert other.path - one.path == 100
    assert other.sequential - one.sequential == (2 + 1) * 100  # two layers that wait for whole sequences, and a decoder


# --- Transformers: which positions a gradient reaches ----------------------------------------------------------------

SIZES = {"width": 8, "heads": 2, "feed_forward": 8, "dropout": 0.0}
ATTENTION: dict[str, dict[str, Any]] = {
    "full": {"kind": "dot_product"},
    "linear": {"kind": "linear"},
    "performer": {"kind": "performer", "features": 6},
    "window": {"kind": "window", "window": 2},
    "wide-window": {"kind": "window", "window": 20},
    "longformer": {"kind": "window", "window": 1, "global_tokens": 2},
    "dilated-longformer": {"kind": "window", "window": 2, "dilation": 2, "global_tokens": 1},
    "bigbird": {"kind": "bigbird", "block": 1, "random_blocks": 0},
    "large-bigbird": {"kind": "bigbird", "block": 2, "random_blocks": 1},
    "hashing": {"kind": "hashing", "chunk": 16},
}

UNKNOWN = [("bigbird", LanguageModelSettings), ("dilated-longformer", LanguageModelSettings)]  # global tokens look back


def is_connected(inputs: Tensor, outputs: Tensor, *, causal: bool) -> bool:
    """Whether every position of outputs [1, T, D] depends on every position of inputs [1, T, D] that it may see."""
    for position in range(outputs.shape[1]):
        weights = torch.randn(outputs.shape[2], generator=torch.Generator().manual_seed(3))
        (flow,) = torch.autograd.grad((outputs[0, position] * weights).sum(), inputs, retain_graph=True)
        seen = flow[0].abs().amax(dim=-1) > 0
        if not seen[: position + 1 if causal else None].all():
            return False
    return True


def with_embedded(embedding: nn.Module, compute: Any) -> tuple[Tensor, Tensor]:
    """Return what an embedding gave, and what a model made of it."""
    kept: list[Tensor] = []
    handle = embedding.register_forward_hook(lambda _, __, output: kept.append(output))
    outputs = compute()
    handle.remove()
    return kept[0], outputs


def encoder_connects(layers: int, attention: dict[str, Any]) -> bool:
    shape = BertSettings(layers=layers, attention=attention, positions=LENGTH, **SIZES)
    model = stir(BertModel.from_settings(shape, vocabulary=VOCABULARY), seed=1).eval()
    ids = torch.tensor([[4, 5, 6, 7, 8, 9, 10]])
    inputs = EncoderInputs(ids, torch.ones_like(ids), torch.zeros_like(ids))
    kept: list[Tensor] = []
    model.encoder.layers[0].register_forward_pre_hook(lambda _, given: kept.append(given[0]))
    outputs = model(inputs)
    return is_connected(kept[0], outputs, causal=False)


def decoder_connects(layers: int, attention: dict[str, Any]) -> bool:
    shape = LanguageModelSettings(layers=layers, attention=attention, **SIZES)
    model = stir(TransformerLanguageModel.from_settings(shape, vocabulary=VOCABULARY), seed=1).eval()
    ids = torch.tensor([[4, 5, 6, 7, 8, 9, 10]])
    embedded, outputs = with_embedded(model.embedding, lambda: model.decode(ids).hidden)
    return is_connected(embedded, outputs, causal=True)


@pytest.mark.parametrize("name", ATTENTION)
@pytest.mark.parametrize(
    ("schema", "connects"), [(BertSettings, encoder_connects), (LanguageModelSettings, decoder_connects)]
)
def test_a_stack_has_a_path_where_its_layers_connect_all_positions(name, schema, connects):
    for layers in (1, 2, 3, 4):
        distances = schema(layers=layers, attention=ATTENTION[name], **SIZES).distances(LENGTH)
        if distances is None:
            assert (name, schema) in UNKNOWN
            continue
        assert distances.sequential == layers
        assert distances.path == (layers if connects(layers, ATTENTION[name]) else None)


def test_what_cannot_be_told_is_not_told():
    assert BertSettings(attention={"kind": "hashing", "chunk": 4}, **SIZES).distances(LENGTH) is None
    assert LanguageModelSettings(attention={"kind": "window", "dilation": 2}, **SIZES).distances(LENGTH) is None


def test_full_attention_has_the_same_distances_at_every_length():
    shape = TransformerSettings(encoder_layers=3, decoder_layers=5)
    assert shape.distances(10) == shape.distances(10_000) == Distances(3 + 5, max(3, 5))


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_both_stacks_of_a_transformer_connect_the_ends(stack):
    shape = TransformerSettings(encoder_layers=1, decoder_layers=1, **SIZES)
    model = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY).eval()
    ids, source = torch.tensor([[4, 5, 6, 7, 8, 9, 10]]), batch_of([[4, 5, 6, 7, 8, 9, 10]], ended=False)
    memory = model.encode(source)
    if stack == "encoder":
        embedded, outputs = with_embedded(model.source, lambda: model.encode(source).states)
    else:
        embedded, outputs = with_embedded(model.target, lambda: model.decode(ids, memory).hidden)
    assert shape.distances(LENGTH).path == 1
    assert is_connected(embedded, outputs, causal=stack == "decoder")


def test_windows_connect_the_ends_of_a_transformer_where_both_stacks_are_deep_enough():
    windows = {"attention": {"kind": "window", "window": 10}}
    deep, shallow = (TransformerSettings(encoder_layers=one, decoder_layers=6, **windows) for one in (6, 5))
    assert deep.distances(61).path == 6
    assert deep.distances(62).path is None  # seven windows
    assert shallow.distances(61).path is None
    assert shallow.distances(51).path == 6
