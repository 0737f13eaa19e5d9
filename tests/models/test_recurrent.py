"""The recurrent encoder–decoder beside its papers: what it computes, sees and refuses, and that it learns."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.flop_counter import FlopCounterMode

from helpers import SPECIAL, VOCABULARY, batch_of, greatest_difference, stir
from manyheads.attention.source_attention import AdditiveAttention, DotAttention, GeneralAttention, SourceAttention
from manyheads.config.models.recurrent import RecurrentSettings
from manyheads.config.reading import build_recipe
from manyheads.errors import ManyheadsError
from manyheads.models.interface import Tokens
from manyheads.models.recurrent import Recurrent, RecurrentState

WIDTH = 16
SOURCES = batch_of([[4, 5, 6, 7], [8], [9, 10]])
TARGETS = torch.tensor([[2, 4, 5, 6, 7], [2, 8, 8, 8, 8], [2, 9, 10, 4, 5]])


def recurrent(seed: int = 3, **settings: Any) -> Recurrent:
    """Return a model whose outputs vary with what it reads."""
    shape = RecurrentSettings(**{"width": WIDTH, "dropout": 0.0, **settings})
    model = Recurrent.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    stir(model, seed=seed)
    return model


def logits_of(model: Recurrent) -> Tensor:
    return model.logits(model.decode(TARGETS, model.encode(SOURCES)).hidden)


def gradients_of(model: Recurrent) -> dict[str, Tensor]:
    weights = torch.randn(*TARGETS.shape, VOCABULARY, generator=torch.Generator().manual_seed(1))
    (logits_of(model) * weights).sum().backward()
    return {name: one.grad for name, one in model.named_parameters()}


# --- The model of earlier versions -----------------------------------------------------------------------------------


def test_by_default_the_parameters_are_those_of_stored_runs():
    half, gates = WIDTH // 2, 4
    expected = {"output": (VOCABULARY, WIDTH), "bridge.weight": (4 * WIDTH, WIDTH), "bridge.bias": (4 * WIDTH,)}
    cells = {f"encoder.{layer}.{way}": half for layer in (0, 1) for way in ("rightward", "leftward")}
    for name, width in {**cells, "decoder.0": WIDTH, "decoder.1": WIDTH}.items():
        expected[f"{name}.weight_ih_l0"] = (gates * width, WIDTH)
        expected[f"{name}.weight_hh_l0"] = (gates * width, width)
        expected[f"{name}.bias_ih_l0"] = expected[f"{name}.bias_hh_l0"] = (gates * width,)
    expected |= {"cross_attention.weight": (WIDTH, WIDTH), "combine.weight": (WIDTH, 2 * WIDTH)}
    expected["combine.bias"] = (WIDTH,)
    assert {name: tuple(one.shape) for name, one in recurrent().named_parameters()} == expected


def by_pytorch(model: Recurrent) -> Tensor:
    """Compute the default model with packed two-directional LSTMs of PyTorch instead of the encoder's layers."""
    states = model.source(SOURCES.ids)
    halves: list[Tensor] = []
    for layer in model.encoder:
        lstm = nn.LSTM(WIDTH, WIDTH // 2, batch_first=True, bidirectional=True)
        reverse = {f"{name}_reverse": one for name, one in layer.leftward.state_dict().items()}
        lstm.load_state_dict({**layer.rightward.state_dict(), **reverse})
        packed = pack_padded_sequence(states, SOURCES.lengths, batch_first=True, enforce_sorted=False)
        outputs, (last, _) = lstm(packed)
        states, _ = pad_packed_sequence(outputs, batch_first=True)
        halves = list(last)
    first = model.bridge(torch.cat(halves, dim=-1)).view(len(TARGETS), 2, 2, WIDTH)
    written = model.target(TARGETS)
    for number, layer in enumerate(model.decoder):
        written, _ = layer(
            written, (first[:, 0, number].tanh()[None].contiguous(), first[:, 1, number][None].contiguous())
        )
    scores = torch.einsum("btd,de,bse->bts", written, model.cross_attention.weight, states)
    padding = torch.arange(states.shape[1]) >= SOURCES.lengths[:, None]
    contexts = scores.masked_fill(padding[:, None], -torch.inf).softmax(dim=-1) @ states
    return torch.tanh(model.combine(torch.cat((contexts, written), dim=-1))) @ model.output.T


def test_by_default_it_is_lstms_of_pytorch_with_general_attention():
    model = recurrent()
    assert greatest_difference(logits_of(model), by_pytorch(model)) < 1e-5


# --- Cells -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
@pytest.mark.parametrize("more", [{}, {"source_attention": "none", "bidirectional": False}], ids=["attention", "fixed"])
def test_fused_cells_and_those_written_out_exchange_weights_and_agree(cell, more):
    fused, written_out = (recurrent(seed=seed, cell=cell, fused=seed == 3, **more) for seed in (3, 4))
    assert greatest_difference(logits_of(fused), logits_of(written_out)) > 1e-2
    written_out.load_state_dict(fused.state_dict())
    assert greatest_difference(logits_of(fused), logits_of(written_out)) < 1e-5
    found, expected = gradients_of(written_out), gradients_of(fused)
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        assert greatest_difference(found[name], gradient) < 1e-4 * max(1.0, float(gradient.abs().max())), name


def test_recurrent_dropout_changes_training_only():
    model, plain = recurrent(recurrent_dropout=0.5), recurrent()
    assert greatest_difference(logits_of(model.train()), logits_of(plain)) > 1e-2
    assert greatest_difference(logits_of(model.eval()), logits_of(plain)) < 1e-5


def test_a_residual_layer_that_gives_nothing_is_as_if_it_were_not_there():
    """An LSTM without weights, from a state of zeros, gives zeros."""
    deep, shallow = recurrent(residual=True), recurrent(encoder_layers=1, decoder_layers=1)
    with torch.no_grad():
        for cell in (deep.encoder[1].rightward, deep.encoder[1].leftward, deep.decoder[1]):
            for parameter in cell.parameters():
                parameter.zero_()
        bridge = {"bridge.weight": deep.bridge.weight, "bridge.bias": deep.bridge.bias}
        by_layer = {name: one.view(2, 2, WIDTH, -1) for name, one in bridge.items()}  # hidden and cell states of both
        for one in by_layer.values():
            one[:, 1] = 0.0
        first = {name: one[:, 0].reshape(-1, *bridge[name].shape[1:]) for name, one in by_layer.items()}
        shallow.load_state_dict({**deep.state_dict(), **first}, strict=False)  # without the layers that it lacks
    assert greatest_difference(logits_of(deep), logits_of(shallow)) < 1e-5


# --- Attention, or none ----------------------------------------------------------------------------------------------


def formula(attention: SourceAttention, query: Tensor, state: Tensor) -> Tensor:
    """Return the score of one query and one state, as the papers have it."""
    match attention:
        case AdditiveAttention():
            inner = attention.of_query.weight @ query + attention.of_key.weight @ state
            return attention.score.weight[0] @ inner.tanh()
        case GeneralAttention():
            return query @ attention.weight @ state
    return query @ state


@pytest.mark.parametrize("kind", [AdditiveAttention, DotAttention, GeneralAttention])
def test_attention_is_the_formula(kind):
    attention = kind() if kind is DotAttention else kind(WIDTH)
    queries, states = torch.randn(2, 3, WIDTH), torch.randn(2, 4, WIDTH)
    valid = torch.tensor([[True] * 4, [True, True, False, False]])
    found = attention(queries, attention.keys(states), states, valid)
    for row, count in enumerate((4, 2)):
        for position in range(3):
            scores = torch.stack([formula(attention, queries[row, position], one) for one in states[row, :count]])
            expected = scores.softmax(dim=0) @ states[row, :count]
            assert greatest_difference(found[row, position], expected) < 1e-5


def test_a_decoder_without_attention_sees_nothing_of_the_source_but_the_summary():
    for attention in ("none", "general"):
        model = recurrent(source_attention=attention)
        memory = model.encode(SOURCES)
        parts = {"states": memory.states, "keys": memory.keys, "summary": memory.summary}
        cut = {name: one.detach().requires_grad_() for name, one in parts.items()}
        hidden = model.decode(TARGETS, type(memory)(**cut, valid=memory.valid)).hidden
        flows = torch.autograd.grad(hidden.square().sum(), [*cut.values()], allow_unused=True)
        seen = {name for name, one in zip(cut, flows, strict=True) if one is not None and bool((one != 0).any())}
        assert seen == ({"summary"} if attention == "none" else set(cut))


def test_without_attention_every_position_gets_the_context_at_once():
    """As in Cho et al.: with first states and recurrent connections cut, later positions still depend on the source."""
    model = recurrent(source_attention="none", decoder_layers=1)
    with torch.no_grad():
        model.bridge.weight.zero_()
        model.decoder[0].weight_hh_l0.zero_()
    one, other = (model.decode(TARGETS[:1], model.encode(batch_of([row]))).hidden[0] for row in ([4, 5], [6, 7]))
    assert ((one - other).abs().amax(dim=-1) > 1e-3).all()


def test_input_feeding_is_the_loop_of_the_paper():
    model = recurrent(input_feeding=True)
    memory = model.encode(SOURCES)
    state = model.begin(memory)
    layers, output = list(state.layers), torch.zeros(len(TARGETS), WIDTH)
    cells = [nn.LSTMCell(cell.weight_ih_l0.shape[1], WIDTH) for cell in model.decoder]
    for ours, theirs in zip(model.decoder, cells, strict=True):
        theirs.load_state_dict({name.removesuffix("_l0"): one for name, one in ours.state_dict().items()})
    expected = []
    for tokens in model.target(TARGETS).unbind(1):
        layers[0] = cells[0](torch.cat((tokens, output), dim=-1), layers[0])
        layers[1] = cells[1](layers[0][0], layers[1])
        top = layers[1][0][:, None]
        context = model.cross_attention(top, memory.keys, memory.states, memory.valid)
        output = torch.tanh(model.combine(torch.cat((context, top), dim=-1)))[:, 0]
        expected.append(output)
    assert greatest_difference(model.decode(TARGETS, memory).hidden, torch.stack(expected, dim=1)) < 1e-5


# --- Directions and decoding -----------------------------------------------------------------------------------------


def test_a_reversed_source_is_the_source_written_from_right_to_left():
    """The summary of a reversed source is that of its reversal; states stay with their tokens."""
    ids = torch.tensor([[4, 5, 6, 7], [8, 9, 0, 0]])
    turned = torch.tensor([[7, 6, 5, 4], [9, 8, 0, 0]])
    lengths = torch.tensor([4, 2])
    reversing, plain = (recurrent(bidirectional=False, reverse_source=one) for one in (True, False))
    found, expected = reversing.encode(Tokens(ids, lengths)), plain.encode(Tokens(turned, lengths))
    assert torch.equal(found.summary, expected.summary)
    for row, length in enumerate(lengths.tolist()):
        assert torch.equal(found.states[row, :length], expected.states[row, :length].flip(0))


def test_with_one_direction_a_state_does_not_see_what_follows():
    one, other = (batch_of([[4, 5, last]]) for last in (6, 7))
    for both, sees in ((False, False), (True, True)):
        model = recurrent(bidirectional=both)
        difference = greatest_difference(model.encode(one).states[:, :2], model.encode(other).states[:, :2])
        assert (difference > 1e-4) == sees


def numbers_in(state: RecurrentState) -> int:
    fed = [] if state.fed is None else [state.fed]
    return sum(part.numel() for part in (*fed, *(part for layer in state.layers for part in layer)))


@pytest.mark.parametrize("settings", [{}, {"source_attention": "none", "cell": "gru"}, {"input_feeding": True}])
def test_the_state_does_not_grow_and_hypotheses_share_their_source(settings):
    model = recurrent(**settings)
    with torch.inference_mode():
        first = state = model.start(model.encode(SOURCES), hypotheses=4)
        for _ in range(3):
            _, state = model.step(torch.full((len(state),), 5), state)
            state = state.select(torch.tensor([3, 2, 1, 0, 4, 4, 4, 4, 9, 10, 11, 8]))
    assert numbers_in(state) == numbers_in(first)
    assert state.memory is first.memory


# --- Mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (
            {"heads": 4},
            "`heads` is for transformer and universal models, not for recurrent: leave it out, or set kind: transf",
        ),
        ({"width": 15}, "width 15 is not even: .*choose an even width or bidirectional: false"),
        ({"input_feeding": True, "source_attention": "none"}, "source_attention is none: choose general, dot or"),
        ({"recurrent_dropout": 1}, "'model.recurrent_dropout' = 1: .*less than 1"),
        ({"reverse_source": True}, "reverse_source is for one direction, .*: set bidirectional: false"),
        ({"cell": "gated"}, "'model.cell' = 'gated': .*'rnn', 'gru' or 'lstm'"),
    ],
    ids=lambda one: "-".join(one) if isinstance(one, dict) else "",
)
def test_a_mistake_is_one_sentence(keys, sentence):
    with pytest.raises(ManyheadsError, match=sentence) as error:
        build_recipe({"data": {"train": {"task": "copy"}}, "model": {"kind": "recurrent", **keys}})
    assert "\n" not in str(error.value)


# --- Learning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"cell": "rnn", "source_attention": "additive"},
        {"cell": "gru", "source_attention": "none"},
        {"cell": "lstm", "input_feeding": True},
    ],
    ids=["rnn-additive", "gru-fixed-context", "lstm-input-feeding"],
)
def test_it_learns_to_reverse_short_sequences(settings):
    torch.manual_seed(2)
    model = Recurrent.from_settings(
        RecurrentSettings(width=32, encoder_layers=1, decoder_layers=1, dropout=0.0, **settings),
        source_vocabulary=VOCABULARY,
        target_vocabulary=VOCABULARY,
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(7)

    def draw(rows: int) -> tuple[Tokens, Tokens, Tensor]:
        ids = torch.randint(4, 10, (rows, 3), generator=generator)
        end, start = torch.full((rows, 1), SPECIAL.end), torch.full((rows, 1), SPECIAL.start)
        source, lengths = torch.cat((ids, end), dim=1), torch.full((rows,), 4)
        answer = torch.cat((ids.flip(1), end), dim=1)
        return Tokens(source, lengths), Tokens(torch.cat((start, answer[:, :-1]), dim=1), lengths), answer

    for _ in range(180):
        source, target, answer = draw(32)
        loss = nn.functional.cross_entropy(model(source, target).flatten(0, 1), answer.flatten())
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    source, target, answer = draw(200)
    with torch.inference_mode():
        right = (model(source, target).argmax(dim=-1) == answer).all(dim=1)
    assert float(right.double().mean()) > 0.9


# --- Cost ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"cell": "gru", "source_attention": "none", "fused": False},
        {"cell": "rnn", "source_attention": "additive", "bidirectional": False},
        {"source_attention": "dot", "input_feeding": True, "encoder_layers": 3},
    ],
    ids=["lstm", "gru-fixed-context", "rnn-additive", "input-feeding"],
)
def test_the_formula_for_multiplications_is_the_count_of_a_forward_pass(settings):
    model = recurrent(**settings).to("meta")
    rows, source, target = 3, 5, 7
    ids = torch.zeros(rows, source, dtype=torch.long, device="meta")
    tokens = Tokens(ids, torch.zeros(rows, dtype=torch.long, device="meta"))
    with FlopCounterMode(display=False) as counted:
        model.decode(torch.zeros(rows, target, dtype=torch.long, device="meta"), model.encode(tokens))
    assert 2 * model.multiplications(rows, source, target) == counted.get_total_flops()


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
@pytest.mark.parametrize("more", [{}, {"source_attention": "none", "bidirectional": False, "tie": "none"}])
def test_the_settings_know_the_number_of_weights(cell, more):
    shape = RecurrentSettings(width=WIDTH, cell=cell, encoder_layers=3, **more)
    model = Recurrent.from_settings(shape, source_vocabulary=20, target_vocabulary=20)
    between = (model.bridge, model.combine, model.cross_attention or nn.Identity())
    beside = sum(parameter.numel() for part in between for parameter in part.parameters())
    biases = sum(parameter.numel() for name, parameter in model.named_parameters() if ".bias_" in name)
    assert shape.weights(20, 20) == sum(one.numel() for one in model.parameters()) - beside - biases
