"""A language model reads a beginning in pieces, whatever its positions and its attention are."""

import pytest
import torch

from helpers import greatest_difference, stir
from manyheads.config.tasks.language_model import LanguageModelConfig
from manyheads.models import language_model
from manyheads.models.build import build_model

SIZES = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 16}
KINDS = {
    "rotary": {"positions": {"kind": "rotary"}},
    "relative": {"positions": {"kind": "relative", "clip": 3}},
    "t5": {"positions": {"kind": "t5"}},
    "alibi": {"positions": {"kind": "alibi"}},
    "learned": {"positions": {"kind": "learned", "maximum": 64}},
    "a window": {"attention": {"kind": "window", "window": 4}},
    "linear": {"attention": {"kind": "linear"}},
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_beginning_is_read_in_pieces(kind: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(language_model, "PIECE", 7)
    config = LanguageModelConfig.model_validate(
        {"task": "language_model", "model": {**SIZES, **KINDS[kind]}, "vocabulary": 12}
    )
    model = stir(build_model(config), seed=3, gain=1.5).eval()
    tokens = torch.randint(12, (2, 60), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        found, _ = model.step(tokens[:, -1], model.read(tokens[:, :-1], model.start(2)))
        expected = model(tokens)[:, -1]
    assert greatest_difference(found, expected) < 1e-4 * max(1.0, float(expected.abs().max()))
