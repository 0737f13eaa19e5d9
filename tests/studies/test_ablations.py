"""Ablations: every variant is another model of the same recipe, runs go on, and the conclusion tells what is worth."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.config.tasks.translation import TranslationConfig
from manyheads.models.build import build_model
from manyheads.runs.checkpoints import saved_steps
from manyheads.runs.folder import RunFolder
from manyheads.studies.ablations import BASE, Ablations, Budget, Training, Variant, change, recipe
from manyheads.studies.bench import run_study
from manyheads.studies.statistics import LEAST_SEEDS
from manyheads.studies.study import Measured
from manyheads.studies.training import ChangedTask
from manyheads.tasks.interface import Machine
from manyheads.training.trainer import Trainer

BASIS = Variant(BASE, "–", layers=1, width=16, heads=2, key_width=8, dropout=0.0)
ALL = {item.variant.name: item for item in Ablations().items(quick=False)}


def built(item: Training) -> nn.Module:
    config = TranslationConfig(model=recipe(item).model, source_vocabulary=50, target_vocabulary=50)
    model = build_model(config)
    change(model, item.variant)
    return model


class Smaller(Ablations):
    def items(self, *, quick: bool) -> list[Training]:
        unscaled = replace(BASIS, name="without scale", row="F", without="scale")
        return [
            Training(variant, "reverse", Budget(2, 64), seed)
            for variant, seeds in ((BASIS, LEAST_SEEDS), (unscaled, 2))
            for seed in range(1, seeds + 1)
        ]


def test_every_variant_has_its_seeds_and_is_no_other():
    items = Ablations().items(quick=False)
    for name in ALL:
        assert sum(item.variant.name == name for item in items) == (LEAST_SEEDS if name == BASE else 3)
    plain = [replace(item.variant, name="", row="") for item in ALL.values()]
    assert all(one != other for one, other in itertools.combinations(plain, 2))
    assert {item.variant.row for item in ALL.values()} == {"–", *"ABCDEF"}


@pytest.mark.parametrize("name", ALL)
def test_a_variant_is_a_model_with_its_heads_and_keys(name: str):
    variant = ALL[name].variant
    attentions = [part for part in built(ALL[name]).modules() if isinstance(part, MultiHeadAttention)]
    assert len(attentions) == 3 * variant.layers
    for attention in attentions:
        assert (attention.width, attention.heads) == (variant.width, variant.heads)
        assert len(attention.input_projection) == 2 * variant.heads * variant.key_width + variant.width


def test_what_is_not_varied_is_equal_for_all():
    recipes = [recipe(item) for item in ALL.values()]
    assert len({repr(one.data) + repr(one.tokenizer) for one in recipes}) == 1
    assert len({(one.training.steps, one.training.batch_tokens, one.validation.every) for one in recipes}) == 1


def test_a_study_in_small_compares_losses_and_scores(tmp_path: Path):
    result = run_study(Smaller(), out=tmp_path, tell=lambda _: None)
    variants, differences, scale = result.conclusion.tables
    assert [row[1] for row in variants.rows] == [BASE, "without scale"]
    assert [row[0] for row in differences.rows] == ["without scale"]
    assert [row[:2] for row in scale.rows] == [(8, 2)]
    losses = {entry.item["variant"]["name"]: entry.record["loss"] for entry in result.entries}
    assert losses[BASE] != losses["without scale"]


def test_a_run_that_was_stopped_goes_on_and_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    item = Training(replace(BASIS, key_width=4, without="feed-forward"), "reverse", Budget(120, 64), 1)
    whole = Ablations().measure(item, tmp_path / "whole")
    update = Trainer._update
    with monkeypatch.context() as patched, pytest.raises(RuntimeError, match="stopped"):

        def stopping(trainer: Trainer, lookahead: Any) -> Any:
            if trainer.progress.step == 110:
                raise RuntimeError("stopped")
            return update(trainer, lookahead)

        patched.setattr(Trainer, "_update", stopping)
        Ablations().measure(item, tmp_path / "stopped")
    assert saved_steps(tmp_path / "stopped" / "checkpoints") == [100]
    for _ in range(2):  # the second time, the run is at its end
        assert Ablations().measure(item, tmp_path / "stopped") == whole


def test_the_loss_is_measured_without_smoothing(tmp_path: Path):
    losses = []
    for smoothing in (0.0, 0.5):
        item = Training(replace(BASIS, smoothing=smoothing), "reverse", Budget(1, 64), 1)
        run = RunFolder(tmp_path / str(smoothing))
        run.path.mkdir()
        task = ChangedTask.prepare(recipe(item), run, Machine(), lambda _: None)
        task.change = lambda _: None
        model = task.new_model(device=torch.device("cpu"), tell=lambda _: None)
        losses.append(task.validator(model).run().numbers()["loss"])
    assert losses[0] == losses[1]


def made_up(losses: dict[str, tuple[float, ...]]) -> list[Measured[Training]]:
    return [
        Measured(replace(ALL[name], seed=seed), {"loss": loss, "score": 10.0 - loss, "parameters": 7})
        for name, found in losses.items()
        for seed, loss in enumerate(found, start=1)
    ]


def test_the_conclusion_says_whether_the_scale_is_needed_and_what_is_worth_most():
    losses = {
        BASE: (2.00, 2.01, 2.02, 1.99, 1.98),
        "1 head": (2.01, 1.99, 2.00),
        "without feed-forward": (2.50, 2.51, 2.49),
        "without positions": (3.50, 3.51, 3.49),
        "without scale": (2.00, 2.01, 2.01),
        "1 head, without scale": (2.60, 2.61, 2.59),
    }
    conclusion = Ablations().conclude(made_up(losses))
    scale, worth = conclusion.sentences
    assert "at d_k = 32 and 0.600" in scale
    assert scale.endswith("so the scale is needed at d_k = 128 (p < 0.05).")
    assert worth.startswith("The loss rises by 1.50 ")
    assert worth.index("without positions") < worth.index("without feed-forward")
    assert "1 head" not in worth
    assert "noise floor over 5 seeds is 0.016" in worth
    assert [row[:2] for row in conclusion.tables[2].rows] == [(32, 4), (128, 1)]


def test_where_nothing_differs_nothing_is_claimed():
    same = (2.00, 2.01, 2.02, 1.99, 1.98)
    names = (BASE, "1 head", "without positions", "without scale", "1 head, without scale")
    scale, worth = Ablations().conclude(made_up(dict.fromkeys(names, same))).sentences
    assert "not shown to be needed" in scale
    assert worth.startswith("No other part is shown to be needed")
