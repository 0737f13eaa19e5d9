"""Training a BERT: it learns, goes on where it was, starts from another run, and says what does not fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from bert import minilm
from commands import laid_over
from helpers import prepared, without_checksums
from manyheads.config.reading import load_recipe, parse_recipe
from manyheads.data.batches.examples import ExampleBatch
from manyheads.data.tokens.wordpiece import Rectangles
from manyheads.encoding.encoder import Encoder
from manyheads.errors import ManyheadsError
from manyheads.exchange.bert import import_bert
from manyheads.metrics.answers import answer_f1, exact_answers
from manyheads.models.bert import BertModel
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import read_weights
from manyheads.tasks.question_answering import QuestionAnsweringObjective

pytest.importorskip("tokenizers", reason="tokenizers is not installed")

RECIPES = Path(__file__).parents[2] / "recipes"

WORDS: dict[str, Any] = {
    "name": "words",
    "task": "masked_language_model",
    "data": {
        "train": {"task": "whereabouts", "count": 300},
        "valid": {"task": "whereabouts", "count": 20},
        "max_length": 80,
    },
    "vocabulary": 160,
    "model": {"width": 32, "heads": 4, "layers": 1, "feed_forward": 64, "positions": 80},
    "training": {
        "steps": 6,
        "batch_tokens": 512,
        "schedule": {"kind": "constant", "rate": 0.003, "warmup": 0},
        "checkpoint_every": 3,
        "threads": 1,
    },
    "validation": {"every": 3},
}
QUESTIONS = {"task": "question_answering", "name": "questions"}
LABELS = {
    "task": "classification",
    "name": "labels",
    "data.train": {"task": "kinds", "count": 100},
    "data.valid": {"task": "kinds", "count": 20},
}

Write = Callable[..., Path]


@pytest.fixture
def recipe(tmp_path: Path) -> Write:
    """`recipe({"training.steps": 5})` writes a recipe that runs in seconds, and returns its path."""

    def write(changes: dict[str, Any] | None = None) -> Path:
        path = tmp_path / "recipe.yaml"
        path.write_text(yaml.safe_dump(laid_over(WORDS, changes or {})), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("changes", [{}, QUESTIONS, LABELS], ids=["words", "questions", "labels"])
def test_an_interrupted_run_comes_to_the_same_weights(
    recipe: Write, tmp_path: Path, command: Callable[..., Any], changes: dict[str, Any]
):
    path = recipe(changes)
    command("train", path, "--out", tmp_path / "whole").succeeds("Finished at step 6")
    command("train", path, "--out", tmp_path / "parts", "--set", "training.steps=3").succeeds()
    command("train", path, "--out", tmp_path / "parts").succeeds("Continuing from step 3")
    one, two = (
        read_weights(tmp_path / run / "checkpoints/step-00000006/model.safetensors") for run in ("whole", "parts")
    )
    assert all((one[name] == two[name]).all() for name in one)
    command("train", path, "--out", tmp_path / "whole").succeeds("nothing to do")


def test_what_was_trained_can_be_used_and_started_from(recipe: Write, tmp_path: Path, command: Callable[..., Any]):
    """Hidden words first, then answers, then labels: each starts from the run before."""
    command("train", recipe(), "--out", tmp_path / "words").succeeds("manyheads encode")
    start = {"start_from": str(tmp_path / "words"), "model": None}
    command("train", recipe({**QUESTIONS, **start}), "--out", tmp_path / "questions").succeeds("new: task_head")
    asked = "Where is Mary?\tMary went to the park.\nWho?\t\n"
    found = command("answer", "--model", tmp_path / "questions", stdin=asked)
    assert found.code == 0 and found.out.count("\n") == 2
    assert found.out.splitlines()[0] in "Mary went to the park." and found.out.splitlines()[1] == ""
    start["start_from"] = str(tmp_path / "questions")
    command("train", recipe({**LABELS, **start}), "--out", tmp_path / "labels").succeeds("8 labels", "classify")
    found = command("classify", "--model", tmp_path / "labels", stdin="A dog.\n\nA cat.\n")
    assert set(found.out.split()) <= set(RunFolder(tmp_path / "labels").config().labels)
    assert found.out.count("\n") == 3
    command("answer", "--model", tmp_path / "labels", stdin=asked).refuses("not trained for question answering")
    command("classify", "--model", tmp_path / "words", stdin="a\n").refuses("not trained for classification")
    assert "started from" in (tmp_path / "labels" / "card.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "line", "answers"),
    [
        (LABELS, "The word on the card was {}.\t{}", ["dog\tanimal", "dog\tmetal"]),
        (QUESTIONS, '{{"question": "Where is {0}?", "context": "{0} went home.", "answer": "{1}"}}', ["Al\thome"] * 2),
    ],
    ids=["labels", "questions"],
)
def test_labels_and_answers_are_evaluated(
    recipe: Write,
    tmp_path: Path,
    command: Callable[..., Any],
    changes: dict[str, Any],
    line: str,
    answers: list[str],
):
    run = tmp_path / "run"
    command("train", recipe(changes), "--out", run).succeeds()
    generated = command("evaluate", run, "--count", 7, "--json")
    assert json.loads(generated.out)["pairs"] == 7
    file = tmp_path / ("test.tsv" if "\t" in line else "test.jsonl")
    file.write_text("".join(line.format(*one.split("\t")) + "\n" for one in answers), encoding="utf-8")
    command("evaluate", run, "--pairs", file, "--save", tmp_path / "outputs", "--json").succeeds()
    outputs = (tmp_path / "outputs").read_text(encoding="utf-8").splitlines()
    found = command("evaluate", run, "--pairs", file)
    right = exact_answers(outputs, [one.split("\t")[1] for one in answers])
    assert found.out.splitlines()[0].split()[1] == f"{right:.2f}"
    command("evaluate", run, "--pairs", file, "--beam", 2).refuses("nothing to search")
    command("evaluate", run, "--pairs", file, "--precision", "int8").refuses("nothing to search")


def test_words_are_evaluated_by_the_share_of_hidden_ones_that_are_predicted(
    recipe: Write, tmp_path: Path, command: Callable[..., Any]
):
    command("train", recipe(), "--out", tmp_path / "words").succeeds()
    first, second = (command("evaluate", tmp_path / "words", "--json").out for _ in range(2))
    (score,) = json.loads(first)["scores"]
    assert score["name"] == "accuracy" and 0.0 < score["value"] < 100.0
    assert first == second  # the same tokens are hidden each time


def test_fresh_takes_shape_and_tokenizer_but_no_weights(recipe: Write, tmp_path: Path, command: Callable[..., Any]):
    command("train", recipe(), "--out", tmp_path / "base").succeeds()
    weights = read_weights(tmp_path / "base" / "model.safetensors")
    for fresh in (False, True):
        path = recipe({"start_from": str(tmp_path / "base"), "model": None, "fresh": fresh})
        parts = prepared(load_recipe(path), RunFolder(tmp_path / f"run-{fresh}"), lambda text: None)
        model = parts.new_model(device=torch.device("cpu"), tell=lambda text: None)
        assert parts.config.model.width == 32
        assert (model.embedding.tokens.detach().numpy() == weights["embedding.tokens"]).all() != fresh


def test_a_small_model_learns_to_guess(recipe: Write, tmp_path: Path, command: Callable[..., Any]):
    """Names, verbs and places are a lottery, but the words between them are not."""
    path = recipe(
        {
            "training.steps": 120,
            "training.label_smoothing": 0.0,
            "validation.every": 150,
            "model.dropout": 0.0,
            "model.attention_dropout": 0.0,
        }
    )
    command("train", path, "--out", tmp_path / "run").succeeds()
    last = [one for one in RunFolder(tmp_path / "run").metrics() if one["kind"] == "validation"][-1]
    assert last["accuracy"] > 45


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"start_from": "nowhere"}, "give either start_from or model"),
        ({"fresh": True}, "fresh needs start_from"),
        ({"validation.metric": "f1"}, "f1 is not for masked_language_model"),
        ({"data.train.taks": 1}, "Did you mean 'task'?"),
        ({"model.heads": 5}, "not divisible"),
        ({"masking": {"masked": 0.9, "random": 0.2}}, "is more than 1"),
        ({"data.max_length": 81}, "more than the model's 80 positions"),
        ({"model": None, "start_from": "nowhere"}, "there is no such run folder"),
        ({"training.r_drop": 1.0}, "r_drop"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused_and_nothing_written(
    recipe: Write, tmp_path: Path, command: Callable[..., Any], changes: dict[str, Any], words: str
):
    command("train", recipe(changes), "--out", tmp_path / "run").refuses(words)
    assert not (tmp_path / "run").exists()


def test_another_shape_is_refused_by_name(recipe: Write, tmp_path: Path, command: Callable[..., Any]):
    command("train", recipe(), "--out", tmp_path / "base").succeeds()
    weights = tmp_path / "base" / "model.safetensors"
    config = tmp_path / "base" / "config.json"
    without_checksums(tmp_path / "base")
    config.write_text(config.read_text(encoding="utf-8").replace('"layers": 1', '"layers": 2'), encoding="utf-8")
    path = recipe({"start_from": str(tmp_path / "base"), "model": None})
    command("train", path, "--out", tmp_path / "run").refuses(
        str(weights), "missing: encoder.layers.1.attention.inputs"
    )


def test_a_recipe_reads_as_it_was_written():
    from manyheads.config.reading import recipe_text

    for path in sorted(RECIPES.glob("bert-*.yaml")):
        recipe = load_recipe(path)
        assert parse_recipe(recipe_text(recipe)) == recipe


def test_padding_changes_no_objective():
    settings = parse_recipe(yaml.safe_dump(laid_over(WORDS, {**QUESTIONS, "model.outputs": 2}))).model
    model = BertModel.from_settings(settings, vocabulary=20).eval()
    objective = QuestionAnsweringObjective(model, smoothing=0.0).eval()
    ids = np.array([[2, 7, 3, 8, 9, 3]])

    def loss(padding: int) -> float:
        wide = np.pad(ids, ((0, 0), (0, padding)))
        mask, segments = np.pad(np.ones_like(ids), ((0, 0), (0, padding))), (np.arange(wide.shape[1]) > 2)[None] * 1
        batch = ExampleBatch(Rectangles(wide, mask, segments), np.array([[3, 4]]), np.array([0]))
        with torch.inference_mode():
            return float(objective(objective.move(batch, torch.device("cpu")))[0])

    assert loss(0) == pytest.approx(loss(70), abs=1e-5)


def test_answers_are_scored_as_squad_does():
    assert exact_answers(["The park.", "a dog"], ["park", "cat"]) == 50.0
    assert answer_f1(["in the park", "", "x"], ["park", "", "y"]) == pytest.approx(100 * (2 / 3 + 1) / 3)


def test_pretraining_pays(tmp_path: Path, command: Callable[..., Any]):
    """The shipped recipe, shortened: a real BERT knows nouns it never saw, the same one from nothing does not."""
    import_bert(minilm(), tmp_path / "minilm")
    recipe = RECIPES / "bert-kinds.yaml"
    accuracy = {}
    for fresh in ("false", "true"):
        run = tmp_path / f"run-{fresh}"
        changes = [f"fresh={fresh}", f"start_from={tmp_path / 'minilm'}", "training.steps=16", "validation.every=16"]
        changes += ["training.schedule.warmup=4", "training.batch_tokens=384", "data.valid.count=100"]
        command("train", recipe, "--out", run, *(word for one in changes for word in ("--set", one))).succeeds()
        accuracy[fresh] = next(one for one in RunFolder(run).metrics() if one["kind"] == "validation")["accuracy"]
    assert accuracy["false"] > accuracy["true"] + 25
    bert = Encoder.from_folder(tmp_path / "run-false", device="cpu")
    assert next(bert.classify(["The word on the card was clarinet."])).name == "instrument"


def test_the_error_of_a_damaged_start_is_one(recipe: Write, tmp_path: Path):
    with pytest.raises(ManyheadsError):
        prepared(load_recipe(recipe({"start_from": str(tmp_path), "model": None})), RunFolder(tmp_path / "run"))
