"""The end of a training: score with its interval, samples, and commands that run."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import manyheads
from manyheads.metrics.scores import OverlapOptions
from manyheads.tasks.interface import Outputs, Sample
from manyheads.training.progress import Reporter
from manyheads.training.summary import SAMPLES, samples_of

Command = Callable[..., Any]
WriteRecipe = Callable[..., Path]

TRANSLATES = {"validation.metric": "exact_match", "data.source_language": "en", "data.target_language": "de"}


def outputs(texts: list[str], *, metric: str = "bleu") -> Outputs:
    """Return outputs for numbered sources that should all be 'a b c d N'."""
    count = range(len(texts))
    sources, references = [f"source {number}" for number in count], [[f"a b c d {number}"] for number in count]
    return Outputs(sources, texts, references, metric, OverlapOptions())


def trained(recipe: Path, folder: Path, **options: Any) -> Reporter:
    """Train in silence and return the reporter."""
    reporter = Reporter(quiet=True)
    manyheads.train(recipe, out=folder, progress=reporter, **options)
    return reporter


def test_good_samples_are_good_and_bad_ones_bad_and_always_the_same():
    right, wrong = ([f"{words} {number}" for number in range(40)] for words in ("a b c d", "x y z"))
    found = outputs(
        [one if number % 2 else other for number, (one, other) in enumerate(zip(right, wrong, strict=True))]
    )
    good, bad = samples_of(found, seed=1)
    assert len(good) == len(bad) == SAMPLES
    assert all(one.output == one.reference for one in good)
    assert all(one.output.startswith("x y z") for one in bad)
    assert samples_of(found, seed=1) == (good, bad)
    assert any(samples_of(found, seed=seed) != (good, bad) for seed in range(2, 9))


@pytest.mark.parametrize("metric", ["bleu", "exact_match", "symbol_error_rate"])
def test_what_is_right_is_no_bad_sample(metric: str):
    texts = [f"a b c d {number}" for number in range(40)]
    assert samples_of(outputs(texts, metric=metric), seed=1)[1] == ()
    (bad,) = samples_of(outputs([*texts[:-1], "a b"], metric=metric), seed=1)[1]
    assert bad == Sample("source 39", "a b", "a b c d 39")


def test_a_single_output_is_a_sample():
    assert samples_of(outputs(["a b c d 0"]), seed=1) == ((Sample("source 0", "a b c d 0", "a b c d 0"),), ())
    assert [len(some) for some in samples_of(outputs(["x"]), seed=1)] == [0, 1]


def test_a_finished_training_is_summarised(sprint: WriteRecipe, tmp_path: Path, command: Command):
    reporter = trained(sprint(TRANSLATES), tmp_path / "run")
    summary = reporter.summary
    assert reporter.outcome == "finished" and summary is not None and summary.interval is not None
    assert summary.score.name == "exact_match" and summary.examples > 0
    assert summary.interval[0] <= summary.score.value <= summary.interval[1]
    assert [shlex.split(one)[1] for one in summary.commands.values()] == ["translate", "serve", "train"]
    for line in (str(summary.score), "95 % interval", *summary.commands.values()):
        assert line in str(summary)
    *words, change = shlex.split(summary.commands["continue"])
    assert change == "training.steps=24"
    command(*words[1:], change).succeeds("Continuing from step 12", "Finished at step 24.")
    command(*shlex.split(summary.commands["use it"])[1:], stdin="a b c\n").succeeds()


def test_the_score_is_that_of_the_published_model(sprint: WriteRecipe, tmp_path: Path):
    reporter = trained(sprint({**TRANSLATES, "training.steps": 18}), tmp_path / "run")
    assert reporter.summary is not None
    (score,) = [line for line in (tmp_path / "run" / "card.md").read_text().splitlines() if "| exact_match |" in line]
    assert f"{reporter.summary.score.value:.2f}" in score


def test_a_training_out_of_time_is_summarised_and_an_ended_one_is_not(sprint: WriteRecipe, tmp_path: Path):
    recipe = sprint(TRANSLATES)
    reporter = trained(recipe, tmp_path / "run", max_minutes=0)
    assert reporter.outcome == "out of time" and reporter.summary is not None
    assert "--set" not in reporter.summary.commands["continue"]
    trained(recipe, tmp_path / "run")
    again = trained(recipe, tmp_path / "run")
    assert (again.outcome, again.summary) == ("nothing to do", None)


def test_other_tasks_have_a_score_and_commands(sprint: WriteRecipe, tmp_path: Path):
    summary = trained(sprint(), tmp_path / "run").summary  # validated by its loss alone
    assert summary is not None
    assert (summary.interval, summary.good, summary.bad) == (None, (), ())
    assert str(summary).startswith(f"Validation score of the model: {summary.score}.")


@pytest.mark.parametrize("quiet", [True, False])
def test_it_is_shown_where_the_reporter_shows_something(sprint: WriteRecipe, tmp_path: Path, quiet: bool):
    shown = StringIO()
    reporter = Reporter(Console(file=shown, quiet=quiet, width=80))
    manyheads.train(sprint(TRANSLATES), out=tmp_path / "run", progress=reporter)
    assert (str(reporter.summary) in shown.getvalue()) is not quiet
