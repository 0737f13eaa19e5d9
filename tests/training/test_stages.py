"""The mixture of corpora changes at the steps that a recipe names, and a run can be told late when it ends."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers import prepared
from manyheads.config.reading import parse_recipe
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.errors import ManyheadsError
from manyheads.runs.folder import RunFolder
from manyheads.tasks.translation import TranslationTask
from manyheads.training.state.finishing import finishing_in, seconds_of, with_end, with_end_of

RECIPE = """
data:
  train:
    - {task: copy, count: 300, weight: [1, 0]}
    - {task: sort, count: 300, weight: [0, 1]}
  valid: {task: copy, count: 10}
tokenizer: {kind: symbols}
model: {width: 16, heads: 2, encoder_layers: 1, decoder_layers: 1, feed_forward: 32}
training:
  steps: 8
  batch_tokens: 256
  log_every: 2
  schedule: {kind: warmup_constant_decay, warmup: 2, rate: 0.01}
  stages: [4]
validation: {every: 4, metric: loss, samples: 0}
"""


def prepared_in(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> TranslationTask:
    monkeypatch.setenv("MANYHEADS_CACHE", str(folder / "cache"))
    return prepared(parse_recipe(text), RunFolder(folder / "run"), lambda _: None)


def is_sorted(task: TranslationTask, step: int) -> list[bool]:
    """Return whether each target of a batch is its source in order."""
    batch = task.batches_at(step)[step]
    rows = zip(batch.source, batch.source_lengths, batch.target_out, batch.target_lengths, strict=True)
    decode = task.tokenizers.source.decode
    return [decode(t[:m].tolist()) == " ".join(sorted(decode(s[:n].tolist()).split())) for s, n, t, m in rows]


def test_each_stage_reads_its_own_corpora(tmp_path, monkeypatch):
    task = prepared_in(tmp_path, RECIPE, monkeypatch)
    assert not all(is_sorted(task, 3))
    assert all(is_sorted(task, 4)) and all(is_sorted(task, 7))


def test_a_stage_can_begin_with_the_decay(tmp_path, monkeypatch):
    text = RECIPE.replace("stages: [4]", "stages: [decay]").replace("rate: 0.01", "rate: 0.01, decay_from: 6")
    task = prepared_in(tmp_path, text, monkeypatch)
    assert not all(is_sorted(task, 5)) and all(is_sorted(task, 6))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("stages: [4]", "stages: [4, 6]", "corpus 0 of data.train has 2 weights, but there are 3 stages"),
        ("stages: [4]", "stages: [6, 4]", "the steps of `stages` must rise"),
        ("weight: [1, 0]", "weight: [0, 0]", "the weight must be greater than 0 in one of the stages"),
        ("weight: [0, 1]", "weight: [1, 0]", "every corpus has the weight 0 in stage 1"),
        (
            "weight: [1, 0]",
            "weight: [1, -1]",
            "'data.train.0.weight.1' = -1: input should be greater than or equal to 0",
        ),
    ],
)
def test_mistakes_in_stages_are_told(old, new, message):
    with pytest.raises(ManyheadsError) as caught:
        parse_recipe(RECIPE.replace(old, new))
    assert message in str(caught.value)


# --- An end that is fixed late ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"), [("2h", 7200), ("90m", 5400), ("1h30m", 5400), ("45", 2700), ("1.5 h", 5400), ("20s", 20)]
)
def test_durations_are_read(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "2 days", "h", "-3h"])
def test_other_texts_are_no_durations(text):
    with pytest.raises(ManyheadsError, match="is not a duration"):
        seconds_of(text)


def test_the_last_fifth_decays_but_nothing_that_is_done_already():
    recipe = parse_recipe(RECIPE)
    fixed = with_end(recipe, step=800, left=200).training
    assert (fixed.steps, fixed.schedule.decay_from) == (1000, 800)
    fixed = with_end(recipe, step=990, left=10).training
    assert (fixed.steps, fixed.schedule.decay_from) == (1000, 990)


def test_a_run_is_finished_in_a_given_time(command: Callable[..., Any], tmp_path):
    recipe, run = tmp_path / "recipe.yaml", tmp_path / "run"
    recipe.write_text(RECIPE, encoding="utf-8")
    train = ("train", recipe, "--out", run)
    said = command(*train, "--finish-in", "1s").refuses()
    assert "has not measured its speed yet" in said
    command(*train).succeeds()
    pace = [entry["seconds_per_step"] for entry in RunFolder(run).metrics() if entry["kind"] == "train"]
    seconds = 60 * sorted(pace)[len(pace) // 2]
    command(*train, "--finish-in", f"{seconds}s").succeeds()
    fixed = RunFolder(run).recipe().training
    assert fixed.steps > 8 and 8 <= fixed.schedule.decay_from < fixed.steps
    last = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()][-1]
    assert last["step"] == fixed.steps


def test_an_end_that_was_fixed_is_kept(tmp_path):
    recipe, run = parse_recipe(RECIPE), RunFolder(tmp_path / "run")
    fixed: TranslationRecipe = with_end(recipe, step=8, left=100)
    run.begin(fixed)
    assert with_end_of(run, recipe) == fixed
    assert finishing_in(10.0, fixed, run) == fixed


def test_other_schedules_have_no_end_to_fix(tmp_path):
    recipe = parse_recipe(RECIPE.replace("warmup_constant_decay", "linear"))
    with pytest.raises(ManyheadsError, match="a linear schedule has a fixed end"):
        finishing_in(10.0, recipe, RunFolder(tmp_path))
