"""Algorithms: every model has a recipe for every task, tests have the length they say, and seeds give certainty."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from manyheads.config.tasks.translation import TranslationConfig
from manyheads.data.generated import task
from manyheads.data.text.records import Pair
from manyheads.models.build import build_model
from manyheads.studies.algorithms import (
    ALGORITHMS,
    EFFICIENT,
    FULL,
    MODELS,
    Algorithms,
    Kind,
    Scale,
    Training,
    examples,
    recipe,
    right_symbols,
)
from manyheads.studies.bench import run_study
from manyheads.studies.statistics import LEAST_SEEDS
from manyheads.studies.study import Measured

TINY = Scale(longest=14, pairs=300, times=(1, 2), tested=12, symbols=5, keys=12, width=8, layers=1, steps=3, tokens=64)
ITEMS = Algorithms().items(quick=False)


class Smaller(Algorithms):
    def items(self, *, quick: bool) -> list[Training]:
        return [
            Training("addition", "Transformer", TINY, 1),
            Training("addition", "Neural GPU", TINY, 1),
            Training("recall", "Linformer", TINY, 1),
        ]


def test_all_models_learn_all_tasks_and_efficient_attention_two():
    assert {(item.algorithm, item.kind) for item in ITEMS} == {
        *((algorithm, kind) for algorithm in ALGORITHMS for kind in MODELS),
        *((algorithm, kind) for algorithm in ("copy", "recall") for kind in EFFICIENT),
    }
    for algorithm in ALGORITHMS:
        assert sum((item.algorithm, item.kind) == (algorithm, "Transformer") for item in ITEMS) == LEAST_SEEDS


@pytest.mark.parametrize("kind", [*MODELS, *EFFICIENT])
def test_every_model_is_another_one(kind: Kind):
    shapes = {one: recipe(Training("copy", one, FULL, 1)).model for one in (*MODELS, *EFFICIENT)}
    assert all(shapes[kind] != shape for one, shape in shapes.items() if one != kind)
    build_model(TranslationConfig(model=shapes[kind], source_vocabulary=20, target_vocabulary=20), device="meta")


@pytest.mark.parametrize(
    "item",
    [
        item
        for quick in (True, False)
        for item in Algorithms().items(quick=quick)
        if item.kind == "Transformer" and item.seed == 1
    ],
    ids=lambda item: f"{item.algorithm}-{item.scale.longest}",
)
def test_tests_have_their_length_and_symbols_that_were_learned(item: Training):
    algorithm, scale = item.algorithm, item.scale
    tokenised = list if algorithm == "addition" else str.split
    learned = set()
    for corpus in recipe(item).data.corpora:
        for pair in task(corpus.task, **corpus.options).pairs("train", count=2000):
            learned |= {*tokenised(pair.source), *tokenised(pair.target)}
            assert len(tokenised(pair.source)) <= scale.longest
    for times in scale.times:
        pairs = examples(item, times * scale.longest)
        assert len({pair.source for pair in pairs}) == scale.tested
        for pair in pairs:
            length = len(tokenised(pair.source))
            assert times * scale.longest - 2 <= length <= times * scale.longest
            assert {*tokenised(pair.source), *tokenised(pair.target)} <= learned


def test_symbols_are_right_at_their_places():
    pairs = [Pair("a b", "a b"), Pair("b a a", "b a a")]
    assert right_symbols(["a b", "a a a"], pairs) == pytest.approx(80.0)
    assert right_symbols(["a b a", ""], pairs) == pytest.approx(40.0)
    assert right_symbols(["0110", "11"], [Pair("1+1", "01"), Pair("0+1", "10")]) == pytest.approx(75.0)


def test_a_study_in_small_has_a_row_for_each_model_and_goes_on(tmp_path: Path):
    result = run_study(Smaller(), out=tmp_path, tell=lambda _: None)
    for table in result.conclusion.tables:
        assert [row[:2] for row in table.rows] == [(item.algorithm, item.kind) for item in Smaller().items(quick=True)]
        assert table.columns[2:] == ("n = 14", "n = 28")
    assert "not tested" in result.conclusion.sentences[1]
    item = Smaller().items(quick=True)[0]
    assert Smaller().measure(item, tmp_path / "runs" / item.key) == result.entries[0].record, "the run is at its end"


def test_seeds_tell_what_recurrence_and_attention_change():
    scores = {
        ("copy", "Transformer"): (50, 51, 49, 50, 50),
        ("copy", "Universal"): (80, 81, 80),
        ("copy", "LSTM"): (95, 96, 97),
        ("copy", "linear"): (50, 51, 50),
        ("recall", "Transformer"): (50, 51, 49, 50, 50),
        ("recall", "Universal"): (50, 50, 51),
        ("recall", "linear"): (10, 11, 12),
    }
    measured = [
        Measured(
            Training(algorithm, kind, replace(FULL, times=(1, 2)), seed),
            {"right": {"20": 99.0, "40": float(score)}, "exact": {"20": 9.0, "40": 0.0}},
        )
        for (algorithm, kind), found in scores.items()
        for seed, score in enumerate(found)
    ]
    answer, certainty = Algorithms().conclude(measured).sentences
    assert "LSTM in copy (96.0 [95.0, 97.0] %) and Universal in recall" in answer
    assert "(Universal) changes copy by 30.3 " in certainty
    assert "efficient attention recall by -39.0 " in certainty
    assert certainty.count("(linear)") == 1
    assert "over 5 seeds" in certainty
