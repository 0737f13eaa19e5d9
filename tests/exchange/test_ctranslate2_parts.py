"""Every combination of the parts of a Transformer has the same log-probabilities in CTranslate2, or is refused."""

from __future__ import annotations

import io
import itertools
from typing import Any

import pytest
import torch

from helpers import SPECIAL, VOCABULARY, batch_of, stir
from manyheads.config.tasks.translation import TranslationConfig
from manyheads.exchange.ctranslate2 import SUPPORTED_POSITIONS, model_files, unsupported_by_ctranslate2
from manyheads.exchange.marian import unsupported_by_marian
from manyheads.exchange.tree import weight_tree
from manyheads.models.build import build_model
from manyheads.models.interface import SequenceToSequence
from manyheads.runs.loading import model_arrays
from manyheads.runs.weights import shapes

ctranslate2 = pytest.importorskip("ctranslate2")

TINY = {"width": 16, "heads": 2, "encoder_layers": 2, "decoder_layers": 2, "feed_forward": 24, "dropout": 0.0}
POSITIONS: list[dict[str, Any]] = [
    {"kind": "sinusoidal"},
    {"kind": "learned", "maximum": 64},
    {"kind": "relative", "clip": 3},
    {"kind": "rotary"},
    {"kind": "t5", "buckets": 8, "reach": 12},
    {"kind": "alibi"},
]
CHOICES: dict[str, tuple[Any, ...]] = {
    "norm": ("post", "pre"),
    "norm_kind": ("layer", "rms"),
    "gated": (False, True),
    "activation": ("relu", "gelu", "swish"),
    "biases": (True, False),
    "query_key_norm": ("none", "self", "all"),
}
PIECES = [f"p{number}" for number in range(VOCABULARY)]
SOURCES = [[4, 5, 6, 7, 8, 9, 10, 4, 5, 6, 7, 8, 9, 10, 5, 7, 3], [8, 4, 3]]
TARGETS = [[5, 6, 4, 9, 9, 7, 10, 8, 5, 4, 6, 8, 7], [10, 4, 4]]


def config_of(model: dict[str, Any]) -> TranslationConfig:
    sizes = {"source_vocabulary": VOCABULARY, "target_vocabulary": VOCABULARY}
    return TranslationConfig.model_validate({"model": {**TINY, **model}, **sizes})


def built(config: TranslationConfig) -> SequenceToSequence[Any, Any]:
    model = stir(build_model(config), seed=7, gain=1.5).eval()
    assert isinstance(model, SequenceToSequence)
    return model


def our_scores(model: SequenceToSequence[Any, Any]) -> list[list[float]]:
    """Return the log-probability of each target token and of the end token."""
    found = []
    with torch.inference_mode():
        for source, target in zip(SOURCES, TARGETS, strict=True):
            read = torch.tensor([[SPECIAL.start, *target]])
            logits = model.logits(model.decode(read, model.encode(batch_of([source], ended=False))).hidden)[0]
            written = torch.tensor([*target, SPECIAL.end])
            found.append(logits.log_softmax(dim=-1).gather(1, written[:, None])[:, 0].tolist())
    return found


def their_scores(model: SequenceToSequence[Any, Any], config: TranslationConfig) -> list[list[float]]:
    """Return the same from CTranslate2, which reads both sentences as one batch."""
    arrays = model_arrays(model)
    assert shapes(arrays.items()) == weight_tree(config)
    files = model_files(arrays, config, (PIECES, PIECES), positions=64)
    opened = {name: io.BytesIO(content) for name, content in files.items()}
    translator = ctranslate2.Translator("model", device="cpu", inter_threads=1, intra_threads=1, files=opened)
    sources, targets = ([[PIECES[one] for one in row] for row in rows] for rows in (SOURCES, TARGETS))
    return [one.log_probs for one in translator.score_batch(sources, targets, max_input_length=0)]


@pytest.mark.parametrize("positions", POSITIONS, ids=lambda one: one["kind"])
def test_every_combination_is_the_same_in_ctranslate2_or_refused(positions: dict[str, Any]):
    for values in itertools.product(*CHOICES.values()):
        parts = dict(zip(CHOICES, values, strict=True))
        config = config_of({**parts, "positions": positions})
        expected = [] if positions["kind"] in SUPPORTED_POSITIONS else [f"model.positions.kind: {positions['kind']}"]
        expected += ["model.query_key_norm: all"] if parts["query_key_norm"] == "all" else []
        assert unsupported_by_ctranslate2(config) == expected
        if expected:
            continue
        model = built(config)
        for ours, theirs in zip(our_scores(model), their_scores(model, config), strict=True):
            assert theirs == pytest.approx(ours, abs=1e-4), parts


@pytest.mark.parametrize(
    ("key", "value"),
    [("norm", "pre"), ("norm_kind", "rms"), ("gated", True), ("biases", False), ("query_key_norm", "self")],
)
def test_marian_refuses_each_part_that_it_does_not_have_by_its_key(key: str, value: Any):
    assert unsupported_by_marian(config_of({})) == []
    assert unsupported_by_marian(config_of({key: value})) == [f"model.{key}: {str(value).lower()}"]
