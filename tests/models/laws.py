"""The laws of every model. A new model is one line in `MODELS`.

Models that write: no position sees its future; padding and the other rows of a batch change nothing; `step` after
`step` equals `decode`, whatever was reordered; a beam of one is greedy search; scores are those of `decode`. Models
that read, or have a memory: padding and the other rows change nothing. All of them: saved and loaded, a model is the
same; killed and resumed, a training ends with the same bytes; it is exported, or refused with the reason.
"""

from __future__ import annotations

import copy
import functools
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from helpers import LAW, SPECIAL, VOCABULARY, batch_of, greatest_difference, prepared, sentences, stir, words
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.attention.recording import record_attention
from manyheads.attention.scheduled import Scheduled
from manyheads.attention.switching import switch_off
from manyheads.config.model_config import ConfigBase
from manyheads.config.reading import build_recipe
from manyheads.config.tasks import config_class
from manyheads.decoding.search.beam import beam_search
from manyheads.decoding.search.greedy import greedy_search
from manyheads.decoding.translator import Translator
from manyheads.errors import ManyheadsError
from manyheads.exchange.ctranslate2 import export_ctranslate2
from manyheads.models.build import build_model
from manyheads.models.interface import (
    EncoderInputs,
    FactModel,
    LanguageModel,
    MemoryInputs,
    SequenceToSequence,
    TextEncoder,
    Tokens,
)
from manyheads.models.memory_network import MemoryNetwork
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import load_model, model_arrays
from manyheads.runs.weights import weights_bytes
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer

CLOSE = 2e-5
FEW = settings(LAW, max_examples=6)

TINY = {"width": 16, "heads": 4, "encoder_layers": 2, "decoder_layers": 2, "feed_forward": 32, "dropout": 0.0}
BERT = {"kind": "bert", "width": 16, "heads": 4, "layers": 2, "feed_forward": 32, "positions": 60, "dropout": 0.0}
CONV_S2S = {"kind": "conv_s2s", "width": 16, "encoder_layers": 2, "decoder_layers": 2, "dropout": 0.0}
BYTENET = {
    "kind": "bytenet",
    "width": 16,
    "encoder_layers": 3,
    "decoder_layers": 3,
    "largest_dilation": 2,
    "dropout": 0.0,
}
NEURAL_GPU = {"kind": "neural_gpu", "width": 12, "columns": 2, "dropout": 0.0}
MEMORY_NETWORK = {"kind": "memory_network", "width": 16, "hops": 2, "memory": 12, "noise": 0.5}
LANGUAGE_MODEL = {"width": 16, "heads": 4, "layers": 2, "feed_forward": 32, "dropout": 0.0}
XL = {"kind": "transformer_xl", "memory": 20}
COMPRESSIVE = {"kind": "compressive", "memory": 4, "compressed": 2, "rate": 2}
UNIVERSAL = {"kind": "universal", "width": 16, "heads": 4, "steps": 3, "feed_forward": 32, "dropout": 0.0}
MODERN = {
    "norm": "pre",
    "norm_kind": "rms",
    "gated": True,
    "activation": "swish",
    "biases": False,
    "query_key_norm": "self",
}
ATTENTION: dict[str, dict[str, Any]] = {  # so narrow that even these sentences have more than is seen
    "window": {"kind": "window", "window": 1},
    "longformer": {"kind": "window", "window": 1, "dilation": 2, "global_tokens": 2},
    "bigbird": {"kind": "bigbird", "block": 2, "random_blocks": 1},
    "performer": {"kind": "performer", "features": 12},
    "linear": {"kind": "linear"},
    "hashing": {"kind": "hashing", "chunk": 64},  # with more than one chunk these laws do not hold: docs/attention.md
}
POSITIONS: dict[str, dict[str, Any]] = {
    "sinusoidal": {},
    "learned": {"maximum": 64},
    "rotary": {},
    "relative": {"clip": 2},
    "t5": {"buckets": 8, "reach": 6},
    "alibi": {},
    "relative_sinusoidal": {},
}
IN_SCORES = ("relative", "t5", "alibi", "relative_sinusoidal")
SCORED = ("window", "longformer", "bigbird")  # attention whose scores can have a term for the distance

RECURRENT: dict[str, Any] = {"kind": "recurrent", "width": 16, "dropout": 0.0}
RECURRENTS: dict[str, dict[str, Any]] = {
    "gru": {"cell": "gru"},
    "rnn": {"cell": "rnn", "source_attention": "dot"},
    "additive": {"source_attention": "additive", "residual": True, "decoder_layers": 3},
    "fixed-context": {"source_attention": "none"},
    "input-feeding": {"input_feeding": True, "residual": True},
    "written-out": {"fused": False, "recurrent_dropout": 0.0},
    "recurrent-dropout": {"cell": "gru", "recurrent_dropout": 0.3, "input_feeding": True},
    "one-direction": {"bidirectional": False, "width": 15},
    "reversed": {"bidirectional": False, "reverse_source": True, "source_attention": "none", "cell": "gru"},
}

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "post-norm": ("translation", {**TINY, "norm": "post"}),
    "pre-norm": ("translation", {**TINY, "norm": "pre", "tie": "none", "output_bias": True}),
    **{name: ("translation", {**TINY, "positions": {"kind": name, **keys}}) for name, keys in POSITIONS.items()},
    **{
        f"{attention}-{position}": (
            "translation",
            {**TINY, "attention": ATTENTION[attention], "positions": {"kind": position, **POSITIONS[position]}},
        )
        for attention in ATTENTION
        for position in POSITIONS
        if position not in IN_SCORES or attention in SCORED
    },
    "rms-norm": ("translation", {**TINY, "norm_kind": "rms"}),
    "swiglu": ("translation", {**TINY, "gated": True, "activation": "swish"}),
    "geglu": ("translation", {**TINY, "gated": True, "activation": "gelu"}),
    "query-key-norm": ("translation", {**TINY, "query_key_norm": "all"}),
    "no-biases": ("translation", {**TINY, "biases": False}),
    "modern": ("translation", {**TINY, **MODERN, "positions": {"kind": "rotary"}}),
    "modern-longformer": ("translation", {**TINY, **MODERN, "attention": ATTENTION["longformer"]}),
    "universal": ("translation", UNIVERSAL),
    "universal-pre": ("translation", {**UNIVERSAL, "norm": "pre", "positions": {"kind": "relative", "clip": 2}}),
    "universal-halting": ("translation", {**UNIVERSAL, "steps": 4, "halting": {}}),
    "recurrent": ("translation", RECURRENT),
    **{f"recurrent-{name}": ("translation", {**RECURRENT, **keys}) for name, keys in RECURRENTS.items()},
    "conv-s2s": ("translation", CONV_S2S),
    "conv-s2s-even": ("translation", {**CONV_S2S, "decoder_kernel": 4, "tie": "target"}),
    "conv-s2s-apart": ("translation", {**CONV_S2S, "decoder_kernel": 2, "encoder_kernel": 5, "tie": "none"}),
    "bytenet": ("translation", BYTENET),
    "bytenet-multiplicative": ("translation", {**BYTENET, "block": "multiplicative"}),
    "bytenet-apart": ("translation", {**BYTENET, "decoder_kernel": 2, "unfold_extra": 2, "tie": "none"}),
    "neural-gpu": ("translation", {**NEURAL_GPU, "relaxation": 3}),
    "extended-neural-gpu": ("translation", {**NEURAL_GPU, "decoder": "active_memory", "stretch": 2, "shortest": 9}),
    "language-model": ("language_model", LANGUAGE_MODEL),
    "modern-language-model": ("language_model", {**LANGUAGE_MODEL, **MODERN}),
    "transformer-xl": ("language_model", {**LANGUAGE_MODEL, **XL, "memory": 3}),
    "transformer-xl-post": ("language_model", {**LANGUAGE_MODEL, **XL, "norm": "post"}),
    **{
        f"compressive-{name}": ("language_model", {**LANGUAGE_MODEL, **COMPRESSIVE, "compression": name})
        for name in ("mean", "max", "convolution", "dilated_convolution", "most_used")
    },
    "compressive-auto-encoding": (
        "language_model",
        {**LANGUAGE_MODEL, **COMPRESSIVE, "norm": "post", "compression_loss": "auto_encoding"},
    ),
    "universal-language-model": ("language_model", UNIVERSAL),
    "universal-language-model-halting": (
        "language_model",
        {**UNIVERSAL, "steps": 4, "halting": {}, "norm": "pre", "positions": {"kind": "rotary"}, "tie": False},
    ),
    "bert": ("classification", BERT),
    **{f"bert-{name}": ("classification", {**BERT, "attention": keys}) for name, keys in ATTENTION.items()},
    "bert-linformer": ("classification", {**BERT, "attention": {"kind": "linformer", "rank": 6, "length": 64}}),
    "memory-network": ("memory_questions", MEMORY_NETWORK),
    "universal-facts": ("memory_questions", {**UNIVERSAL, "memory": 12, "words": 3}),
    "universal-facts-halting": (
        "memory_questions",
        {**UNIVERSAL, "memory": 12, "steps": 4, "halting": {}, "norm": "pre"},
    ),
    "layer-wise-memory-network": (
        "memory_questions",
        {**MEMORY_NETWORK, "tying": "layer_wise", "relu": True, "linear_start_until": 3, "empty_places": True},
    ),
}

RECIPES: dict[str, dict[str, Any]] = {
    "translation": {
        "data": {"train": {"task": "copy", "count": 60}, "valid": {"task": "copy", "count": 8}},
        "tokenizer": {"kind": "symbols"},
        "validation": {"every": 4, "metric": "loss", "samples": 0},
    },
    "language_model": {
        "data": {"train": str(Path(__file__).parents[2] / "README.md"), "length": 16},
        "tokenizer": {"kind": "characters"},
        "validation": {"every": 4, "samples": 0},
    },
    "classification": {
        "data": {"train": {"task": "kinds", "count": 40}, "valid": {"task": "kinds", "count": 8}, "max_length": 30},
        "vocabulary": 60,
        "validation": {"every": 4, "samples": 0},
    },
    "memory_questions": {
        "data": {
            "train": {"task": "whereabouts", "count": 40},
            "valid": {"task": "whereabouts", "count": 8},
            "batch": 8,
        },
        "validation": {"every": 4, "samples": 0},
    },
}
TRAINING = {"steps": 4, "batch_tokens": 128, "checkpoint_every": 1, "log_every": 1, "threads": 1}


def recipe_for(name: str, **training: Any) -> Any:
    """Return a recipe that trains the model for a few steps."""
    task, model = MODELS[name]
    values = {"task": task, "model": model, "training": {**TRAINING, **training}, **RECIPES[task]}
    return build_recipe({"name": "law", **values})


@functools.cache
def built(name: str) -> tuple[ConfigBase, nn.Module]:
    """Return the configuration and a model whose outputs vary with what it reads."""
    task, model = MODELS[name]
    sizes = dict.fromkeys(("vocabulary", "source_vocabulary", "target_vocabulary"), VOCABULARY)
    sizes |= {"unknown": 1, "first": 2, "separator": 3, "mask": 4}  # BERT's own ids are beyond so small a vocabulary
    values = {"task": task, "model": model}
    schema = config_class(values)
    config = schema.model_validate({**values, **{key: one for key, one in sizes.items() if key in schema.model_fields}})
    return config, stir(build_model(config), seed=5, gain=1.5).eval()


def names_of(kind: type[nn.Module]) -> list[str]:
    """Return the names of the models of a kind."""
    return [name for name in MODELS if isinstance(built(name)[1], kind)]


WRITERS = names_of(SequenceToSequence | LanguageModel)
TRANSLATORS, ENCODERS = names_of(SequenceToSequence), names_of(TextEncoder)
INDEPENDENT = ("neural-gpu",)  # what these write at a position does not depend on what is before it
every_writer = pytest.mark.parametrize("name", WRITERS)
every_translator = pytest.mark.parametrize("name", TRANSLATORS)
every_encoder = pytest.mark.parametrize("name", ENCODERS)
MEMORIES, HOPPING = names_of(FactModel), names_of(MemoryNetwork)
every_memory = pytest.mark.parametrize("name", MEMORIES)
every_model = pytest.mark.parametrize("name", MODELS)


def context_of(model: nn.Module, sources: list[list[int]]) -> Any:
    """Return what a model that writes starts from: a memory of the sources, or as many rows."""
    return model.encode(batch_of(sources)) if isinstance(model, SequenceToSequence) else len(sources)


def decoded(model: nn.Module, targets: Tensor, sources: list[list[int]]) -> Tensor:
    """Return the hidden states [B, T, D] of targets [B, T] for sources, which a language model does not have."""
    if isinstance(model, SequenceToSequence):
        return model.decode(targets, model.encode(batch_of(sources))).hidden
    return model.decode(targets).hidden


def stepped(model: nn.Module, columns: Tensor, state: Any) -> tuple[Tensor, Any]:
    """Read target ids [B, T] one column after the other; return their logits [B, T, V] and the state."""
    logits = []
    for tokens in columns.T:
        one, state = model.step(tokens, state)
        logits.append(one)
    return torch.stack(logits, dim=1), state


def assert_close(found: Tensor, expected: Tensor) -> None:
    """Compare logits, which are as large as they like."""
    assert greatest_difference(found, expected) < CLOSE * max(1.0, float(expected.abs().max()))


# --- Models that write -----------------------------------------------------------------------------------------------


@every_writer
@FEW
@given(source=sentences, past=sentences, future=sentences, other=sentences)
def test_no_position_sees_its_future(name, source, past, future, other):
    _, model = built(name)
    other = (other * len(future))[: len(future)]
    with torch.inference_mode():
        one, two = (
            decoded(model, torch.tensor([[SPECIAL.start, *past, *after]]), [source])[0] for after in (future, other)
        )
    seen = 1 + len(past)
    assert greatest_difference(one[:seen], two[:seen]) < CLOSE
    if future[0] != other[0]:  # but each sees itself, so the comparison means something
        assert (greatest_difference(one[seen], two[seen]) > 1e-4) == (name not in INDEPENDENT)


@every_writer
@FEW
@given(source=sentences, target=sentences, more=sentences)
def test_a_longer_target_begins_with_the_states_of_a_shorter_one(name, source, target, more):
    _, model = built(name)
    with torch.inference_mode():
        short, long = (
            decoded(model, torch.tensor([[SPECIAL.start, *target, *rest]]), [source])[0] for rest in ([], more)
        )
    assert greatest_difference(long[: len(short)], short) < CLOSE


@every_writer
@FEW
@given(rows=st.lists(sentences, min_size=2, max_size=3), targets=st.lists(sentences, min_size=3, max_size=3), end=words)
def test_the_other_rows_and_the_padding_of_targets_change_nothing(name, rows, targets, end):
    _, model = built(name)
    targets = [[SPECIAL.start, *target] for target in targets[: len(rows)]]
    with torch.inference_mode():
        together = decoded(model, Tokens.pad(targets, padding=end).ids, rows)
        for row, (source, target) in enumerate(zip(rows, targets, strict=True)):
            alone = decoded(model, torch.tensor([target]), [source])[0]
            assert greatest_difference(together[row, : len(target)], alone) < CLOSE


@every_translator
@FEW
@given(rows=st.lists(sentences, min_size=2, max_size=3), extra=st.integers(0, 9), rubbish=words, target=sentences)
def test_the_padding_of_sources_changes_nothing(name, rows, extra, rubbish, target):
    _, model = built(name)
    ended = [[*row, SPECIAL.end] for row in rows]
    width = max(map(len, ended)) + extra
    together = Tokens(
        torch.tensor([[*row, *[rubbish] * (width - len(row))] for row in ended]),  # padding is not even padding
        torch.tensor([len(row) for row in ended]),
    )
    targets = torch.tensor([[SPECIAL.start, *target]] * len(rows))
    with torch.inference_mode():
        hidden = model.decode(targets, model.encode(together)).hidden
        for row, source in enumerate(rows):
            assert greatest_difference(hidden[row], decoded(model, targets[:1], [source])[0]) < CLOSE


@every_translator
@FEW
@given(source=sentences, other=sentences, target=sentences)
def test_the_target_depends_on_the_source(name, source, other, target):
    _, model = built(name)
    with torch.inference_mode():
        one, two = (decoded(model, torch.tensor([[SPECIAL.start, *target]]), [row]) for row in (source, other))
    difference = greatest_difference(one, two)
    assert (difference == 0.0) if source == other else (difference > 1e-5)


@every_writer
@FEW
@given(
    rows=st.lists(sentences, min_size=1, max_size=3),
    picks=st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=5), max_size=2),
    length=st.integers(1, 9),
    seed=st.integers(0, 1000),
)
def test_step_after_step_equals_decode_whatever_was_reordered(name, rows, picks, length, seed):
    _, model = built(name)
    generator = torch.Generator().manual_seed(seed)
    origin, written = list(range(len(rows))), torch.empty(len(rows), 0, dtype=torch.long)
    with torch.inference_mode():
        state = model.start(context_of(model, rows))
        assert len(state) == len(rows)
        for pick in [[*range(len(rows))], *picks]:
            chosen = [one % len(origin) for one in pick]
            origin, written = [origin[one] for one in chosen], written[chosen]
            state = state.select(torch.tensor(chosen))
            fresh = torch.randint(VOCABULARY, (len(origin), length), generator=generator)
            found, state = stepped(model, fresh, state)
            written = torch.cat([written, fresh], dim=1)
            hidden = decoded(model, written, [rows[one] for one in origin])
            assert_close(found, model.logits(hidden)[:, -length:])


@every_writer
@FEW
@given(rows=st.lists(sentences, min_size=1, max_size=3), hypotheses=st.integers(1, 4), seed=st.integers(0, 1000))
def test_hypotheses_are_as_if_each_had_a_row_of_its_own(name, rows, hypotheses, seed):
    """Steps, then a reordering within the sources, then all but the first source leave, then steps again."""
    _, model = built(name)
    generator = torch.Generator().manual_seed(seed)
    count = len(rows)
    within = torch.randint(hypotheses, (count, hypotheses), generator=generator)
    reorder = (torch.arange(count)[:, None] * hypotheses + within).flatten()
    tokens = torch.randint(VOCABULARY, (count * hypotheses, 4), generator=generator)
    with torch.inference_mode():
        side_by_side = model.start(context_of(model, rows), hypotheses=hypotheses)
        repeated = model.start(context_of(model, [row for row in rows for _ in range(hypotheses)]))
        assert len(side_by_side) == len(repeated) == count * hypotheses
        for chosen in (reorder, torch.arange(hypotheses)):
            found, side_by_side = stepped(model, tokens, side_by_side)
            expected, repeated = stepped(model, tokens, repeated)
            assert_close(found, expected)
            side_by_side, repeated, tokens = side_by_side.select(chosen), repeated.select(chosen), tokens[chosen]


@pytest.mark.parametrize("name", names_of(LanguageModel))
@FEW
@given(rows=st.integers(1, 3), length=st.integers(1, 9), more=st.integers(0, 9), seed=st.integers(0, 1000))
def test_reading_several_tokens_at_once_is_reading_them_one_after_the_other(name, rows, length, more, seed):
    _, model = built(name)
    tokens = torch.randint(VOCABULARY, (rows, length + more + 1), generator=torch.Generator().manual_seed(seed))
    with torch.inference_mode():
        state = model.read(tokens[:, length:-1], model.read(tokens[:, :length], model.start(rows)))
        found, _ = model.step(tokens[:, -1], state)
        assert_close(found, model(tokens)[:, -1])


@every_writer
def test_selecting_leaves_the_original_state_as_it_was(name):
    _, model = built(name)
    with torch.inference_mode():
        _, state = model.step(torch.tensor([2, 2]), model.start(context_of(model, [[4, 5], [6]])))
        expected, _ = model.step(torch.tensor([7, 8]), state.select(torch.tensor([0, 1])))
        found, _ = model.step(torch.tensor([7, 8]), state)
    assert torch.equal(found, expected)


@every_writer
def test_a_beam_of_one_is_greedy_search_and_scores_are_those_of_decode(name):
    _, model = built(name)
    rows, how = [[4, 5, 6], [7]], {"special": SPECIAL, "limits": [9, 7]}
    greedy = greedy_search(model, model.start(context_of(model, rows)), **how)
    one = beam_search(model, model.start(context_of(model, rows)), beam=1, **how)
    assert [found.tokens for (found,) in one] == [found.tokens for found in greedy]
    several = beam_search(model, model.start(context_of(model, rows), hypotheses=3), beam=3, **how)
    for row, found in zip(rows, several, strict=True):
        for hypothesis in found:
            read = torch.tensor([[SPECIAL.start, *hypothesis.tokens[:-1]]])
            with torch.inference_mode():
                likely = model.logits(decoded(model, read, [row])).log_softmax(dim=-1)[0]
            total = likely.gather(1, torch.tensor(hypothesis.tokens)[:, None]).sum()
            assert hypothesis.log_probability == pytest.approx(float(total), abs=1e-4)


@every_translator
def test_a_called_model_gives_the_logits_of_every_position(name):
    _, model = built(name)
    target = Tokens.pad([[SPECIAL.start, 4, 5], [SPECIAL.start, 6]], padding=SPECIAL.pad)
    with torch.inference_mode():
        called = model(batch_of([[4, 5], [6]]), target)
        assert torch.equal(called, model.logits(decoded(model, target.ids, [[4, 5], [6]])))


@every_writer
def test_what_is_recorded_is_a_distribution_and_changes_nothing(name):
    _, model = built(name)
    source, target = [[4, 5, 6, 7, 8, 9, 10, 4]], torch.tensor([[2, 4, 5, 6, 7, 8, 9]])
    with torch.inference_mode():
        expected = decoded(model, target, source)
        with record_attention(model) as recording:
            found = decoded(model, target, source)
    assert greatest_difference(found, expected) < CLOSE
    for weights in recording.values():
        assert greatest_difference(weights.sum(dim=-1), torch.ones(weights.shape[:-1])) < CLOSE
    for name_inside, weights in recording.items():
        if name_inside.startswith("decoder") and name_inside.endswith("self_attention"):
            assert (weights.triu(1) == 0).all()


def attention_names(name: str) -> list[str]:
    """Return the names of the multi-head attentions inside a model."""
    return [inside for inside, part in built(name)[1].named_modules() if isinstance(part, MultiHeadAttention)]


@pytest.mark.parametrize("name", [one for one in (*WRITERS, *ENCODERS) if attention_names(one)])
def test_a_head_that_is_switched_off_is_one_whose_columns_of_the_output_projection_are_zero(name):
    _, model = built(name)
    for inside in attention_names(name):
        with torch.inference_mode(), switch_off(model, {inside: [2, 4]}):
            found = states_of(name, model)
        zeroed = copy.deepcopy(model)
        columns = zeroed.get_submodule(inside).output.weight.data.view(16, 4, -1)  # [D, H, Dh]
        columns[:, [1, 3]] = 0.0
        with torch.inference_mode():
            assert torch.equal(found, states_of(name, zeroed))
            assert greatest_difference(found, states_of(name, model)) > CLOSE


def states_of(name: str, model: nn.Module) -> Tensor:
    """Return the hidden states of a model for a source and a target, or for a text."""
    if name in ENCODERS:
        return model(inputs_of([[5, 6, 7, 8, 9]]))
    return decoded(model, torch.tensor([[SPECIAL.start, 4, 5, 6]]), [[4, 5, 6, 7, 8]])


# --- Models that read ------------------------------------------------------------------------------------------------


def inputs_of(rows: list[list[int]], *, width: int = 0, filler: int = 0) -> EncoderInputs:
    width = max(width, *map(len, rows))
    ids = torch.tensor([[*row, *[filler] * (width - len(row))] for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return EncoderInputs(ids, mask, torch.zeros_like(ids))


@every_encoder
@FEW
@given(rows=st.lists(sentences, min_size=2, max_size=4), extra=st.integers(0, 50), rubbish=words)
def test_padding_and_the_other_rows_of_a_text_change_nothing(name, rows, extra, rubbish):
    _, model = built(name)
    with torch.inference_mode():
        together = model(inputs_of(rows, width=max(map(len, rows)) + extra, filler=rubbish))
        for row, states in zip(rows, together, strict=True):
            assert greatest_difference(states[: len(row)], model(inputs_of([row]))[0]) < CLOSE


# --- Models with a memory --------------------------------------------------------------------------------------------


def memories_of(rows: list[list[list[int]]], *, memories: int = 0, width: int = 0, filler: int = 0) -> MemoryInputs:
    """Return stories of sentences as one batch; the last sentence is the question, and no two facts share a number."""
    memories = max(memories, *(len(row) - 1 for row in rows), 1)
    width = max(width, *(len(sentence) for row in rows for sentence in row))
    padded = [[sentence + [0] * (width - len(sentence)) for sentence in row] for row in rows]
    table = [[filler] * width, *(fact for row in padded for fact in row[:-1])]
    number, facts = iter(range(1, len(table))), []
    for row in rows:
        facts.append([next(number) for _ in row[:-1]] + [0] * (memories - len(row) + 1))
    counts = [len(row) - 1 for row in rows]
    return MemoryInputs(*map(torch.tensor, (table, facts, counts, [row[-1] for row in padded])))


@every_memory
@FEW
@given(
    rows=st.lists(st.lists(sentences, min_size=2, max_size=4), min_size=2, max_size=4),
    extra=st.integers(0, 7),
    wider=st.integers(0, 9),
    rubbish=words,
)
def test_padding_and_the_other_rows_of_a_memory_change_nothing(name, rows, extra, wider, rubbish):
    _, model = built(name)
    with torch.inference_mode():
        together = model(memories_of(rows, memories=3 + extra, width=6 + wider, filler=rubbish))
        for row, logits in zip(rows, together, strict=True):
            assert greatest_difference(logits, model(memories_of([row]))[0]) < CLOSE


@pytest.mark.parametrize("name", HOPPING)
def test_what_hops_read_is_recorded_as_a_distribution(name):
    _, model = built(name)
    for part in model.modules():  # as after the linear start
        if isinstance(part, Scheduled):
            part.at_step(99)
    with torch.inference_mode(), record_attention(model) as recording:
        model(memories_of([[[4, 5], [6], [7, 8]], [[4], [5]]]))
    assert len(recording) == len(model.hops)
    rest = 0.0 < float(next(iter(recording.values())).sum(dim=-1).min()) < 1.0 - CLOSE  # read of empty places
    assert rest == (model.hops[0].cross_attention.places > 0)
    for weights in recording.values():
        assert (weights >= 0).all()
        assert rest or greatest_difference(weights.sum(dim=-1), torch.ones(weights.shape[:-1])) < CLOSE


# --- All models ------------------------------------------------------------------------------------------------------


@every_model
def test_saved_and_loaded_a_model_is_the_same(name, tmp_path: Path):
    config, model = built(name)
    run = RunFolder(tmp_path)
    run.write_config(config)
    run.weights_file.write_bytes(weights_bytes(model_arrays(model)))
    assert run.config() == config
    loaded = load_model(type(model), run)
    with torch.inference_mode():
        if isinstance(model, TextEncoder):
            assert torch.equal(loaded(inputs_of([[5, 6, 7]])), model(inputs_of([[5, 6, 7]])))
        elif isinstance(model, FactModel):
            story = memories_of([[[5, 6], [7], [8]]])
            assert torch.equal(loaded(story), model(story))
        else:
            target, source = torch.tensor([[2, 4, 5]]), [[4, 5, 6]]
            assert torch.equal(decoded(loaded, target, source), decoded(model, target, source))


def trained(name: str, folder: Path, **training: Any) -> RunFolder:
    """Train the model for some steps in a folder; started again, training continues."""
    recipe = recipe_for(name, **training)
    run = RunFolder(folder)
    Trainer(prepared(recipe, run), device=torch.device("cpu"), reporter=Reporter(quiet=True)).train()
    return run


@every_model
def test_a_training_that_was_interrupted_ends_with_the_same_bytes(name, tmp_path: Path):
    whole = trained(name, tmp_path / "whole")
    trained(name, tmp_path / "parts", steps=2)
    parts = trained(name, tmp_path / "parts")
    for file in ("model.safetensors", "optimiser.safetensors"):
        one, other = (run.checkpoints / "step-00000004" / file for run in (whole, parts))
        assert one.read_bytes() == other.read_bytes(), file


@every_translator
def test_it_is_exported_or_refused_with_the_reason(name, tmp_path: Path):
    run = trained(name, tmp_path / "run")
    try:
        export_ctranslate2(run, tmp_path / "exported")
    except ManyheadsError as refusal:
        assert "model." in str(refusal)
        return
    texts = ["a b c", "d e", "a"]
    fast, general = (Translator(run.path, engine=one).translate(texts, beam=1) for one in ("ctranslate2", "torch"))
    assert fast == general
