"""Scaling laws: the study in small on an invented language, and made-up runs whose larger one is predicted."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pytest

from manyheads.data.text.records import Pair
from manyheads.studies.bench import run_study
from manyheads.studies.power_laws import JOINT, Floats
from manyheads.studies.scaling import Scaling, Training
from manyheads.studies.slices import slice_of, write_pairs
from manyheads.studies.study import Measured

WORDS = {"red": "rot", "green": "grün", "house": "Haus", "street": "Straße", "sees": "sieht", "buys": "kauft"}


def write_corpus(folder: Path) -> str:
    """Write an invented corpus with the files that the study reads."""
    chance = random.Random(1)
    folder.mkdir()
    for part, count in (("train", 200), ("val", 20), ("test_2016_flickr", 5)):
        rows = [chance.choices(sorted(WORDS), k=chance.randint(2, 6)) for _ in range(count)]
        for code, said in (("en", rows), ("de", [[WORDS[word] for word in row] for row in rows])):
            text = "".join(" ".join(row) + "\n" for row in said)
            (folder / f"{part}.{code}.gz").write_bytes(gzip.compress(text.encode()))
    return str(folder)


class Smaller(Scaling):
    def __init__(self, corpus: str) -> None:
        self.corpus = corpus

    def items(self, *, quick: bool) -> list[Training]:
        grid = [(width, pairs, False) for width in (8, 16) for pairs in (20, 80)]
        return [
            Training(width, pairs, 8, 2, 1, 5, larger, self.corpus, pieces=30)
            for width, pairs, larger in (*grid, (24, 160, True))
        ]


def test_runs_of_all_sizes_have_the_same_pieces_and_the_larger_one_is_predicted(tmp_path: Path):
    result = run_study(Smaller(write_corpus(tmp_path / "corpus")), out=tmp_path / "study", tell=lambda _: None)
    runs = sorted((tmp_path / "study" / "runs").iterdir())
    assert len({(run / "run" / "tokenizer" / "shared.model").read_bytes() for run in runs}) == 1
    sizes = {entry.item["width"]: entry.record["parameters"] for entry in result.entries}
    assert sizes[8] < sizes[16] < sizes[24]
    losses, exponents, frontier, larger = result.conclusion.tables
    assert [row[0] for row in losses.rows] == [8, 16]
    assert {row[1] for row in exponents.rows} >= {"α_N", "α_D", "k", "E"}
    assert frontier.rows
    assert "D = 160" in larger.title
    predicted, reached = (result.conclusion.numbers[f"{one} loss"] for one in ("predicted", "measured"))
    assert f"{100 * (predicted / reached - 1):+.1f} %" in result.conclusion.sentences[0]


def made_up(*, larger_is_worse: float = 1.0) -> list[Measured[Any]]:
    """Return runs that follow the joint law, with five seeds of one size, and a larger one that may depart from it."""
    found = []
    grid = [(width, pairs, 1) for width in (32, 48, 64, 96) for pairs in (2000, 4000, 8000)]
    again = [(64, 8000, seed) for seed in range(2, 6)]
    chance = random.Random(1)
    for width, pairs, seed in (*grid, *again, (128, 16_000, 1)):
        is_larger = width == 128
        parameters: Floats = JOINT.grid()[:1] * 0 + [2.4, 0.12, 3.6, 0.4]
        point = JOINT.grid()[:1, :2] * 0 + [56 * width**2, pairs]
        loss = float(JOINT.log_value(parameters, point)[0, 0])
        least = 2.718281828**loss * (1 + chance.gauss(0, 0.002)) * (larger_is_worse if is_larger else 1.0)
        curve = [(step, least * (1 + 100 / step)) for step in range(100, 1000, 100)] + [(1000, least)]
        record = {"curve": curve, "bleu": 90 * 2.718281828 ** (-0.45 * least), "parameters": 56 * width**2}
        item = Training(width, pairs, 1000, 100, seed, is_larger=is_larger)
        found.append(Measured(item, {**record, "tokens_per_step": 900.0, "flops_per_step": 6.0 * 900 * 56 * width**2}))
    return found


def test_exponents_come_out_beside_the_published_ones():
    conclusion = Scaling().conclude(made_up())
    assert conclusion.numbers["α_N"] == pytest.approx(0.12, abs=0.01)
    assert conclusion.numbers["α_D"] == pytest.approx(0.4, abs=0.04)
    assert conclusion.numbers["k"] == pytest.approx(0.45, abs=0.01)
    assert conclusion.numbers["predicted loss"] == pytest.approx(conclusion.numbers["measured loss"], rel=0.01)
    assert "over 5 seeds" in conclusion.sentences[1]
    _, exponents, frontier, _ = conclusion.tables
    assert any("0.11 to 0.12" in str(row[3]) for row in exponents.rows)
    sizes = [row[1] for row in frontier.rows]
    assert sizes == sorted(sizes), "more compute is best spent on larger models"


def test_the_larger_run_is_not_fitted():
    usual, worse = (Scaling().conclude(made_up(larger_is_worse=times)).numbers for times in (1.0, 1.5))
    assert usual["predicted loss"] == worse["predicted loss"]
    assert usual["measured loss"] < worse["measured loss"]


def test_a_slice_has_all_of_the_smaller_ones(tmp_path: Path):
    pairs = [Pair(f"line {number}\tof\nmany", f'"{number}"') for number in range(50)]
    small, large = slice_of(pairs, 10), slice_of(pairs, 30)
    assert large[:10] == small
    assert len(set(large)) == 30
    assert set(slice_of(pairs, 10, seed=2)) != set(small)
    from manyheads.config.corpora import CorpusSettings
    from manyheads.data.text.corpora import open_corpus

    corpus = CorpusSettings.model_validate(write_pairs(small, tmp_path / "deep" / "slice.jsonl"))
    assert list(open_corpus(corpus, split="train").pairs()) == small
