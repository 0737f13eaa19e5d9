"""The Universal Transformer over facts: sentences as weighted sums, and one step as one layer."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError

from helpers import greatest_difference, prepared, stir
from manyheads.attention.masks import Mask
from manyheads.config.models.universal_facts import UniversalFactsSettings
from manyheads.config.reading import build_recipe
from manyheads.errors import ManyheadsError
from manyheads.inspection.inspector import Inspector
from manyheads.models.interface import MemoryInputs
from manyheads.models.universal_facts import UniversalFacts
from manyheads.runs.folder import RunFolder
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer

SIZES: dict[str, Any] = {
    "width": 8,
    "heads": 2,
    "feed_forward": 16,
    "steps": 3,
    "memory": 5,
    "words": 3,
    "dropout": 0.0,
}
STORY = MemoryInputs(*map(torch.tensor, ([[0, 0, 0, 0], [4, 5, 6, 7], [8, 4, 0, 0]], [[2, 1, 0]], [2], [[6, 9]])))


def model_of(**keys: Any) -> UniversalFacts:
    settings = UniversalFactsSettings.model_validate({**SIZES, **keys})
    return stir(UniversalFacts.from_settings(settings, vocabulary=12), seed=3, gain=1.5).eval()


def sentence(model: UniversalFacts, words: list[int]) -> torch.Tensor:
    """Return f of the equations for one sentence."""
    weighted = (model.places[min(place, 2)] * model.vectors[word] for place, word in enumerate(words))
    return math.sqrt(8) * sum(weighted)


@torch.inference_mode()
def test_one_step_is_one_layer_over_the_question_and_its_facts():
    model = model_of(steps=1)
    states = torch.stack([sentence(model, words) for words in ([6, 9], [8, 4], [4, 5, 6, 7])])[None]
    states = states + model.depth.positions(0, 3) + model.depth.times(0, 1)
    expected = model.norm(model.layer(states, Mask()))[:, 0] @ model.output.T
    assert greatest_difference(model(STORY), expected) < 1e-4


def test_the_ponder_cost_is_the_mean_over_the_facts_and_the_question():
    model = model_of(halting={"cost": 0.5})
    taken = []
    model.depth.register_forward_hook(lambda part, inputs, computed: taken.append(computed.ponder))
    with torch.inference_mode():
        penalty = model.answers(STORY).penalty
    assert torch.allclose(penalty, 0.5 * taken[0][:, :3].mean(dim=1))
    assert model_of().answers(STORY).penalty is None


def test_learned_positions_must_be_enough_for_the_question_too():
    with pytest.raises(ValidationError, match=r"positions.maximum must be above the memory of 5 facts"):
        UniversalFactsSettings.model_validate({**SIZES, "positions": {"kind": "learned", "maximum": 5}})


def test_a_run_answers_and_shows_when_facts_halt(tmp_path: Path):
    values = {
        "task": "memory_questions",
        "data": {
            "train": {"task": "whereabouts", "count": 40},
            "valid": {"task": "whereabouts", "count": 8},
            "batch": 8,
        },
        "model": {"kind": "universal", **SIZES, "memory": 12, "halting": {}},
        "training": {"steps": 2, "threads": 1},
        "validation": {"every": 2, "samples": 0},
    }
    run = RunFolder(tmp_path / "run")
    trained = Trainer(prepared(build_recipe(values), run), device=torch.device("cpu"), reporter=Reporter(quiet=True))
    assert trained.train() == "finished"
    asked = trained.task.rows.examples[0]
    view = Inspector(run.path).halting(asked.source)
    assert view.source is not None and view.source.tokens == [asked.question, *reversed(asked.facts)]
    assert all(1 <= steps <= view.most == SIZES["steps"] for steps in view.source.steps)
    assert view.translation and list(view.sides) == ["encoder"]
    with pytest.raises(ManyheadsError, match="this model has no hops"):
        Inspector(run.path).memory(asked.source)
