"""For each kind of model, the recorded weights are those with which the fast path computes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch

from helpers import SPECIAL, batch_of, greatest_difference, rescore, stir, tiny
from manyheads.attention import dot_product
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.attention.recording import record_attention
from manyheads.config.models.bert import BertSettings
from manyheads.decoding.search.from_source import beam_from_source
from manyheads.inspection.kinds import attention_names
from manyheads.models.bert import BertModel
from manyheads.models.interface import EncoderInputs, Tokens

LENGTHS = [5, 3, 0]  # the last one is nothing but padding: every key is masked
TARGET = torch.tensor([[2, 4, 5, 6], [2, 7, 8, 9], [2, 10, 4, 4]])


def transformer(norm: str, positions: str):
    """Return a model and a pass through it, over a source that is longer than others and one that is empty."""
    model = tiny(norm, positions)
    source = Tokens(torch.tensor([[4, 5, 6, 7, 3], [8, 9, 3, 0, 0], [0, 0, 0, 0, 0]]), torch.tensor(LENGTHS))
    return model, lambda: model.decode(TARGET, model.encode(source)).hidden


def bert():
    """Return a BERT and a pass through it."""
    sizes = {"width": 16, "heads": 4, "layers": 2, "feed_forward": 24, "positions": 8}
    model = stir(BertModel.from_settings(BertSettings(**sizes), vocabulary=11), seed=3, gain=1.5).eval()
    mask = (torch.arange(5) < torch.tensor(LENGTHS)[:, None]).long()
    inputs = EncoderInputs(torch.randint(4, 11, (3, 5), generator=torch.Generator().manual_seed(1)), mask, mask)
    return model, lambda: model(inputs)


MODELS = {
    **{
        f"transformer, {norm}-norm, {positions}": (transformer, norm, positions)
        for norm in ("post", "pre")
        for positions in ("sinusoidal", "learned")
    },
    "bert": (bert,),
}


@pytest.fixture(params=MODELS)
def subject(request):
    """Each kind of model, with a pass through it."""
    make, *options = MODELS[request.param]
    return make(*options)


def recorded(model, forward) -> dict[str, torch.Tensor]:
    with torch.no_grad(), record_attention(model) as recording:
        forward()
    return recording


@pytest.fixture
def fast_path(monkeypatch):
    """Return the values and outputs of each attention of a model that is not recorded, with the fused kernel."""
    monkeypatch.setattr(dot_product, "SHORT", 0)  # without this, short sequences do not use the kernel

    def watch(model, forward) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
        seen = {}

        def keep(name):
            def hook(mechanism, inputs, output):
                _, _, values, *_ = inputs
                seen[name] = (values, output)

            return hook

        parts = {name: part for name, part in model.named_modules() if isinstance(part, MultiHeadAttention)}
        hooks = [part.mechanism.register_forward_hook(keep(name)) for name, part in parts.items()]
        with torch.no_grad():
            forward()
        for hook in hooks:
            hook.remove()
        return seen

    return watch


def test_the_weights_of_every_head_sum_to_one_or_to_zero_where_every_key_is_masked(subject):
    model, forward = subject
    names = attention_names(model)
    recording = recorded(model, forward)
    assert set(recording) == {name for layers in names.values() for name in layers}
    for name, weights in recording.items():
        sums = weights.sum(dim=-1)
        expected = torch.ones_like(sums)
        if name not in names["decoder"]:  # the decoder always sees its own start token
            expected[2] = 0.0
        assert greatest_difference(sums, expected) < 1e-5, name


def test_the_weights_on_masked_keys_are_exactly_zero_and_no_others_are(subject):
    model, forward = subject
    names = attention_names(model)
    for name, weights in recorded(model, forward).items():
        if name in names["decoder"]:
            allowed = torch.ones(weights.shape[-2:], dtype=torch.bool).tril().expand_as(weights)
        else:
            keys = torch.arange(weights.shape[-1]) < torch.tensor(LENGTHS)[:, None]
            allowed = keys[:, None, None, :].expand_as(weights)
        assert torch.equal(weights > 0.0, allowed), name


def test_the_layers_output_follows_from_the_recorded_weights_as_the_fast_path_computes_it(subject, fast_path):
    model, forward = subject
    fast, recording = fast_path(model, forward), recorded(model, forward)
    assert fast.keys() == recording.keys()
    for name, (values, output) in fast.items():
        assert greatest_difference(recording[name] @ values, output) < 1e-5, name


@pytest.mark.parametrize(("norm", "positions"), [("post", "sinusoidal"), ("pre", "learned")])
def test_in_beam_search_the_weights_belong_to_the_returned_hypothesis(norm, positions):
    model = tiny(norm, positions)
    for row in ([4, 5, 6, 7], [8, 9], [10]):
        with record_attention(model) as recording:
            ((best, *_),) = beam_from_source(model, batch_of([row]), special=SPECIAL, limits=[9], beam=4)
        assert rescore(model, row, [best]) == pytest.approx([best.log_probability], abs=1e-4)
        target = torch.tensor([[SPECIAL.start, *best.tokens[:-1]]])
        expected = recorded(
            model, lambda row=row, target=target: model.decode(target, model.encode(batch_of([row]))).hidden
        )
        assert recording.keys() == expected.keys()
        for name, weights in expected.items():
            assert greatest_difference(recording[name], weights) < 1e-5


PROFILE = """
import json, sys, torch
from manyheads.models.interface import Tokens
from manyheads.models.transformer import Transformer

torch.manual_seed(1)
model = Transformer.tiny(11).eval()
source = Tokens.pad([[4, 5, 6] * 20, [7]], padding=0)  # long enough for the fused kernel
found = {}

def profile(name, work):
    with torch.no_grad(), torch.profiler.profile() as profiler:
        work()
    found[name] = sorted([event.key, event.count] for event in profiler.key_averages())

decode = lambda: model.decode(source.ids, model.encode(source)).hidden
profile("decoding", decode)
found["without the recorder"] = "manyheads.attention.recording" not in sys.modules

from manyheads.decoding.search.from_source import beam_from_source
from manyheads.config.special import SpecialIds

search = lambda: beam_from_source(model, source, special=SpecialIds(start=2, end=3, pad=0), limits=[5, 5])
profile("searching", search)
found["without the inspector"] = not any(name.startswith("manyheads.inspection") for name in sys.modules)

import manyheads.inspection.inspector, manyheads.inspection.states
from manyheads.attention.recording import record_attention

profile("decoding with everything imported", decode)
profile("searching with everything imported", search)
with record_attention(model):
    profile("decoding recorded", decode)
profile("decoding after a recording", decode)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def operators() -> dict[str, list[list[object]]]:
    """The operators that a process of its own runs, and how often, before and after it imports what looks inside."""
    done = subprocess.run([sys.executable, "-c", PROFILE], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_profiler_lists_the_same_operators_with_the_recorder_imported_and_without(operators):
    assert operators["without the recorder"]
    assert any("scaled_dot_product_attention" in name for name, _ in operators["decoding"])
    assert operators["decoding with everything imported"] == operators["decoding"]
    assert operators["decoding after a recording"] == operators["decoding"]


def test_the_profiler_lists_the_same_operators_in_a_search_with_the_inspector_imported_and_without(operators):
    assert operators["without the inspector"]
    assert operators["searching with everything imported"] == operators["searching"]


def test_the_profiler_does_see_a_recording(operators):
    assert operators["decoding recorded"] != operators["decoding"]
