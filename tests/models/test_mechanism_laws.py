"""The laws of every Transformer hold with every attention that can look back, at every kind of position it can have."""

import functools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import (
    LAW,
    SPECIAL,
    VOCABULARY,
    batch_of,
    greatest_difference,
    rescore,
    sentences,
    stir,
    tiny_settings,
    words,
)
from manyheads.attention.kernel import Sums
from manyheads.attention.recording import record_attention
from manyheads.config.recipe import build_recipe
from manyheads.decoding.search.beam import beam_search
from manyheads.errors import ManyheadsError
from manyheads.models.interface import Tokens
from manyheads.models.transformer import Transformer

CLOSE = 2e-5
FEW = settings(LAW, max_examples=8)
ATTENTION = {  # so narrow that even these sentences have more than is seen
    "window": {"kind": "window", "window": 1},
    "longformer": {"kind": "window", "window": 1, "dilation": 2, "global_tokens": 2},
    "bigbird": {"kind": "bigbird", "block": 2, "random_blocks": 1},
    "performer": {"kind": "performer", "features": 12},
    "linear": {"kind": "linear"},
    "hashing": {"kind": "hashing", "chunk": 64},  # with more than one chunk these laws do not hold: docs/attention.md
}
ANY = ("sinusoidal", "learned", "rotary")
BY_DISTANCE = ("relative", "t5", "alibi")
PAIRS = [(name, kind) for name in ATTENTION for kind in ANY]
PAIRS += [(name, kind) for name in ("window", "longformer", "bigbird") for kind in BY_DISTANCE]
REFUSED = [(name, kind) for name in ("performer", "linear", "hashing") for kind in BY_DISTANCE]


@functools.cache
def build(name: str, kind: str) -> Transformer:
    where = {"kind": kind, "maximum": 64, "clip": 2, "buckets": 8, "reach": 6}
    shape = tiny_settings(attention=ATTENTION[name], positions=where, tie="none")
    model = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    return stir(model, seed=5, gain=1.5).eval()


@pytest.fixture(scope="module", params=PAIRS, ids="-".join)
def model(request: pytest.FixtureRequest) -> Transformer:
    return build(*request.param)


@FEW
@given(source=sentences, past=sentences, future=sentences, other=sentences)
def test_no_position_sees_its_future(model, source, past, future, other):
    other = (other * len(future))[: len(future)]
    with torch.inference_mode():
        memory = model.encode(batch_of([source]))
        one, two = (
            model.decode(torch.tensor([[SPECIAL.start, *past, *after]]), memory)[0, : 1 + len(past)]
            for after in (future, other)
        )
    assert greatest_difference(one, two) < CLOSE


@FEW
@given(rows=st.lists(sentences, min_size=2, max_size=3), extra=st.integers(0, 9), rubbish=words)
def test_padding_and_company_change_nothing(model, rows, extra, rubbish):
    ended = [[*row, SPECIAL.end] for row in rows]
    width = max(map(len, ended)) + extra
    together = Tokens(
        torch.tensor([[*row, *[rubbish] * (width - len(row))] for row in ended]),
        torch.tensor([len(row) for row in ended]),
    )
    with torch.inference_mode():
        states = model.encode(together).states
        for row, source in enumerate(rows):
            alone = model.encode(batch_of([source])).states[0]
            assert greatest_difference(states[row, : len(source) + 1], alone) < CLOSE


@FEW
@given(
    rows=st.lists(sentences, min_size=1, max_size=3),
    pick=st.lists(st.integers(0, 99), min_size=1, max_size=4),
    length=st.integers(1, 12),
    seed=st.integers(0, 1000),
)
def test_step_by_step_equals_decode_before_and_after_a_reordering(model, rows, pick, length, seed):
    generator = torch.Generator().manual_seed(seed)
    written = torch.randint(VOCABULARY, (len(rows), length), generator=generator)
    chosen = torch.tensor([one % len(rows) for one in pick])
    with torch.inference_mode():
        memory = model.encode(batch_of(rows))
        state = model.start(memory)
        for column in written.T:
            found, state = model.step(column, state)
        expected = model.logits(model.decode(written, memory))[:, -1]
        assert greatest_difference(found, expected) < CLOSE * max(1.0, float(expected.abs().max()))
        fresh = torch.randint(VOCABULARY, (len(chosen),), generator=generator)
        found, _ = model.step(fresh, state.select(chosen))
        whole = torch.cat((written[chosen], fresh[:, None]), dim=1)
        apart = model.encode(batch_of([rows[one] for one in chosen.tolist()]))
        expected = model.logits(model.decode(whole, apart))[:, -1]
        assert greatest_difference(found, expected) < CLOSE * max(1.0, float(expected.abs().max()))


def test_what_is_recorded_explains_the_outputs(model):
    source, target = batch_of([[4, 5, 6, 7, 8, 9, 10, 4]]), torch.tensor([[2, 4, 5, 6, 7, 8, 9]])
    with torch.inference_mode():
        expected = model.decode(target, model.encode(source))
        with record_attention(model) as recording:
            found = model.decode(target, model.encode(source))
    assert greatest_difference(found, expected) < CLOSE
    past = recording["decoder.layers.0.self_attention"]
    assert (past.triu(1) == 0).all()
    assert greatest_difference(past.sum(dim=-1), torch.ones(1, 4, 7)) < CLOSE


def test_beam_search_finds_what_decode_scores(model):
    rows = [[4, 5, 6], [7]]
    found = beam_search(model, batch_of(rows), special=SPECIAL, limits=[9, 9], beam=3)
    for row, hypotheses in zip(rows, found, strict=True):
        claimed = [one.log_probability for one in hypotheses]
        assert claimed == pytest.approx(rescore(model, row, hypotheses), abs=1e-4)


@pytest.mark.parametrize("name", ["performer", "linear"])
def test_sums_are_all_that_is_remembered(name):
    model = build(name, "sinusoidal")
    sizes = []
    with torch.inference_mode():
        state = model.start(model.encode(batch_of([[4, 5]])))
        for _ in range(9):
            _, state = model.step(torch.tensor([4]), state)
            assert all(isinstance(cache, Sums) for cache in state.caches)
            sizes.append(sum(cache.products.numel() for cache in state.caches))
    assert len(set(sizes)) == 1


@pytest.mark.parametrize(("name", "kind"), REFUSED)
def test_pairs_that_cannot_be_are_refused_with_the_reason(name, kind):
    with pytest.raises(ManyheadsError, match=f"{kind} positions add to each score, but {name} attention"):
        build_recipe(recipe(attention=ATTENTION[name], positions={"kind": kind}))


def recipe(**model) -> dict:
    return {"name": "x", "data": {"train": {"task": "copy"}}, "model": {"width": 16, "heads": 4, **model}}


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ({"attention": {"kind": "linformer"}}, "a decoder cannot have it"),
        ({"attention": {"kind": "window", "window": 0}}, "attention.window"),
        ({"attention": {"kind": "linear", "window": 3}}, "`window` is for window attention, not for linear"),
        ({"attention": {"kind": "linformer", "rank": 9, "length": 8}}, "rank 9 is above the length of 8"),
        ({"attention": {"kind": "performer"}, "width": 18}, "width 18 is not divisible by 4 heads"),
        ({"attention": {"kind": "windows"}}, "window"),
        (
            {"attention": {"kind": "linformer"}, "decoder_attention": {}, "positions": {"kind": "t5"}},
            "mixtures of keys",
        ),
    ],
)
def test_what_cannot_be_is_refused(model, told):
    with pytest.raises(ManyheadsError, match=told):
        build_recipe(recipe(**model))


def test_an_encoder_may_have_what_a_decoder_cannot():
    shape = tiny_settings(attention={"kind": "linformer", "length": 16, "rank": 4}, decoder_attention={})
    model = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY).eval()
    with torch.inference_mode():
        assert model.decode(torch.tensor([[2, 4]]), model.encode(batch_of([[4, 5, 6]]))).isfinite().all()
