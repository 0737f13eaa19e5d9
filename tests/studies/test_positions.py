"""Positions beyond the lengths of training: every kind has a recipe, and runs are tested on four times the length."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from manyheads.models.interface import Tokens
from manyheads.models.transformer import Memory, Transformer
from manyheads.studies.bench import run_study
from manyheads.studies.positions import KINDS, LONGER, Positions, Training, recipe
from manyheads.studies.study import Measured


class Smaller(Positions):
    def items(self, *, quick: bool) -> list[Training]:
        return [Training(kind, 3, 8, 4, 1) for kind in ("sinusoidal", "learned")]


def test_every_kind_has_a_recipe_whose_positions_reach_the_longest_test():
    shapes = [recipe(Training(kind, 5, 8, 1, 1)).model.positions for kind in KINDS]
    assert all(one != other for one, other in itertools.combinations(shapes, 2))
    for shape in shapes:
        for reach in (getattr(shape, "maximum", 0), getattr(shape, "randomised", 0)):
            assert reach == 0 or reach > LONGER[-1] * 5


def test_runs_are_trained_kept_and_tested_on_longer_sequences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    encode, read = Transformer.encode, set()

    def watched(model: Transformer, source: Tokens) -> Memory:
        read.add(source.ids.shape[1])
        return encode(model, source)

    monkeypatch.setattr(Transformer, "encode", watched)
    result = run_study(Smaller(), out=tmp_path, tell=lambda _: None)
    assert {3 + 1, 6 + 1, 12 + 1} <= read, "each sequence is read as a whole, with its end"
    for entry in result.entries:
        assert set(entry.record["right"]) == {"3", "6", "12"}
    assert all((run / "model.safetensors").exists() for run in (tmp_path / "runs").iterdir())
    (table,) = result.conclusion.tables
    assert [row[0] for row in table.rows] == ["sinusoidal", "learned"]


def test_five_seeds_of_the_papers_positions_give_a_noise_floor():
    """Made-up scores, in which one kind is far above what seeds explain."""
    right = {"sinusoidal": (40, 41, 42, 43, 44), "rotary": (80, 81, 82), "learned": (40, 42, 44)}
    measured = [
        Measured(Training(kind, 3, 8, 4, seed), {"right": {"3": 99.0, "6": score, "12": 9.0}, "dot_products": [[1.0]]})
        for kind, scores in right.items()
        for seed, score in enumerate(scores)
    ]
    answer, certainty = Positions().conclude(measured).sentences
    assert "rotary positions are right in 81.0" in answer
    assert "over 5 seeds" in certainty
    assert "rotary (39.0" in certainty
    assert "learned (" not in certainty
