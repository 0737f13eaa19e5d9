"""Questions about facts behind the commands: learning, answering, evaluating, looking inside, and mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from helpers import prepared
from manyheads.config.reading import build_recipe
from manyheads.encoding.fact_reader import FactReader
from manyheads.errors import ManyheadsError, Notice
from manyheads.evaluation.evaluate import evaluate
from manyheads.inspection.inspector import Inspector
from manyheads.runs.folder import RunFolder
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer

TRAINING = {
    "steps": 600,
    "schedule": {"kind": "linear", "rate": 0.01, "warmup": 50},
    "clip_norm": 1.0,
    "checkpoint_every": 600,
    "threads": 1,
}
STORY = "Mary went to the office. John moved to the garden. Mary travelled to the kitchen. Where is Mary?"


def recipe_of(train: Any = None, valid: Any = None, **keys: Any) -> Any:
    """Return a recipe of moves between places, which is bAbI's first task."""
    moves = {"task": "whereabouts", "count": 2000}
    data = {"train": train or moves, "batch": 32}
    if valid is not None:
        data["valid"] = valid
    values = {
        "name": "moves",
        "task": "memory_questions",
        "data": data,
        "model": {"width": 20, "hops": 1, "memory": 10},
        "training": TRAINING,
        "validation": {"every": 600},
    }
    return build_recipe({**values, **keys})


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """Return a trained run."""
    folder = tmp_path_factory.mktemp("memory") / "run"
    task = prepared(recipe_of(), RunFolder(folder))
    assert Trainer(task, device=torch.device("cpu"), reporter=Reporter(quiet=True)).train() == "finished"
    return folder


def test_the_last_place_of_a_person_is_learned(run: Path):
    """The questions of bAbI's first task, about stories that do not occur in training."""
    found = evaluate(run, count=500)
    assert found["error"] <= 5.0
    assert found.examples == 500


def test_a_question_is_answered_and_its_hop_reads_the_fact_that_decides(run: Path):
    view = Inspector(run).memory(STORY)
    assert view.answer == "kitchen"
    assert view.facts[int(view.weights[:, 0].argmax())] == "Mary travelled to the kitchen."
    assert view.weights.sum(axis=0) == pytest.approx([1.0], abs=1e-5)
    assert "hop 1" in str(view)
    assert view.to_json()["answer"] == "kitchen"


def test_answers_are_the_same_alone_and_together(run: Path):
    reader = FactReader.from_folder(run)
    stories = reader.read(["1 Mary went to the office.", "2 Where is Mary?", "3 John went to the hallway."], where="a")
    stories += reader.read([STORY], where="b")
    together = reader.answer(stories)
    assert [one.text for one in together] == ["office", "kitchen"]
    for story, answer in zip(stories, together, strict=True):
        (alone,) = reader.answer([story])
        assert (alone.text, alone.probability) == (answer.text, pytest.approx(answer.probability, abs=1e-5))


def test_the_commands_answer_and_show_the_memory(run: Path, tmp_path: Path, command: Callable[..., Any]):
    file = tmp_path / "story.txt"
    file.write_text("1 Mary went to the office.\n2 Where is Mary?\n1 John went to the park.\n2 Where is John?\n")
    assert command("answer", file, "--model", run).out == "office\npark\n"
    answered = json.loads(command("answer", STORY, "--model", run, "--json").out)
    assert answered["text"] == "kitchen"
    assert 0.0 < answered["probability"] <= 1.0
    table = command("inspect", STORY, "--model", run, "--show", "memory").out
    assert table.splitlines()[-1].startswith("Where is Mary?")
    assert len(table.splitlines()) == 5
    for name in ("seen.html", "seen.svg", "seen.json"):
        command("inspect", STORY, "--model", run, "--show", "memory", "--out", tmp_path / name).succeeds()
    assert "Mary travelled to the kitchen." in (tmp_path / "seen.html").read_text(encoding="utf-8")
    assert "Mary travelled to the kitchen." in json.loads((tmp_path / "seen.json").read_text())["facts"]
    for name in ("page.html", "hops.svg"):
        command("inspect", STORY, "--model", run, "--out", tmp_path / name).succeeds()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Mary went to the office.", "there is no question"),
        ("Where is Mary?", "this question comes before any fact"),
        ("Mary went to the office. Where is the zebra?", "has words that never occurred in training: zebra"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_sentence(text: str, sentence: str, run: Path, command):
    command("answer", text, "--model", run).refuses(sentence)


def test_strange_words_of_facts_and_too_many_facts_are_told(run: Path):
    reader = FactReader.from_folder(run)
    with pytest.warns(Notice, match=r"left out of the facts: yesterday\."):
        (asked,) = reader.read(["Mary went to the office yesterday. Where is Mary?"], where="text")
    assert reader.answer([asked])[0].text == "office"
    long = "John went to the park. " * 11 + STORY
    with pytest.warns(Notice, match=r"the memory holds 10 facts, so the 4 oldest of a story are left out"):
        (asked,) = reader.read([long], where="text")
    assert reader.answer([asked])[0].text == "kitchen"


def test_two_questions_cannot_be_shown_at_once(run: Path):
    with pytest.raises(ManyheadsError, match="one question can be shown at a time, not 2"):
        Inspector(run).memory("Mary went to the park. Where is Mary? Where is Mary?")


def test_a_run_without_a_memory_says_so(run: Path):
    with pytest.raises(ManyheadsError, match="which answers with one word"):
        Inspector(run).beam(STORY)


def write(folder: Path, name: str, *lines: str) -> str:
    (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(folder / name)


def moves(count: int, place: str = "hall") -> list[str]:
    return [line for _ in range(count) for line in (f"1 Mary went to the {place}.", f"2 Where is Mary?\t{place}\t1")]


def test_the_end_of_every_file_is_held_out(tmp_path: Path):
    files = [write(tmp_path, "one.txt", *moves(20)), write(tmp_path, "two.txt", *moves(10, "park"))]
    told: list[str] = []
    task = prepared(recipe_of(files), RunFolder(tmp_path / "run"), told.append)
    assert [one.answer for one in task.valid_rows.examples] == ["hall", "hall", "park"]
    assert len(task.rows) == 27
    assert told[-1] == "27 training questions, 3 for validation, 8 words."


def test_a_story_that_is_longer_than_the_memory_is_told(tmp_path: Path):
    facts = [f"{number} John went to the park." for number in range(1, 15)]
    story = write(tmp_path, "story.txt", *facts, "15 Where is John?\tpark\t1", *moves(9))
    told: list[str] = []
    prepared(recipe_of(story), RunFolder(tmp_path / "run"), told.append)
    assert told[-1] == (
        "1 of them are about more facts than the memory holds: the 10 most recent are kept (model.memory)."
    )


def test_an_answer_that_is_no_word_of_the_vocabulary_is_refused(tmp_path: Path):
    train, valid = write(tmp_path, "train.txt", *moves(5)), write(tmp_path, "valid.txt", *moves(2, "moon"))
    with pytest.raises(ManyheadsError, match="these answers are no words of the training data: moon"):
        prepared(recipe_of(train, valid), RunFolder(tmp_path / "run"))


def test_too_few_questions_to_hold_out_some_are_refused(tmp_path: Path):
    with pytest.raises(ManyheadsError, match="the 1 questions are too few to hold out"):
        prepared(recipe_of(write(tmp_path, "one.txt", *moves(1))), RunFolder(tmp_path / "run"))


def test_evaluation_reports_every_task_their_mean_and_the_failed_ones(run: Path, tmp_path: Path):
    good = [line.replace("hall", "office") for line in moves(4)]
    wrong = [line.replace("\thall", "\tmoon").replace("the hall", "the park") for line in moves(2)]
    write(tmp_path, "good.txt", *good)
    write(tmp_path, "mixed.txt", *good[:4], *wrong)
    with pytest.warns(Notice, match="2 answers are no words of the run's vocabulary"):
        found = evaluate(run, pairs=tmp_path)
    assert {score.name: score.value for score in found.scores} == {
        "error": 25.0,
        "failed_tasks": 1.0,
        "error_good": 0.0,
        "error_mixed": 50.0,
    }


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"start_from": "runs/other"}, "start_from is not for memory_questions"),
        ({"model": {"relu": True}}, "relu is for tying: layer_wise"),
        ({"data": {"train": {"files": ["a"], "task": "whereabouts"}}}, "give exactly one of: files, babi, task"),
        ({"data": {"train": {"babi": "x.tar.gz", "numbers": [21]}}}, "numbers"),
        ({"training": {"r_drop": 1.0}}, "training.r_drop is for translation"),
    ],
)
def test_a_recipe_that_means_nothing_is_refused(keys: dict[str, Any], sentence: str):
    with pytest.raises(ManyheadsError) as caught:
        recipe_of(**keys)
    assert sentence in str(caught.value)


def test_plain_descent_goes_on_bit_by_bit_although_it_has_no_state(tmp_path: Path):
    def trained(folder: Path, steps: int) -> bytes:
        training = {**TRAINING, "optimiser": "sgd", "steps": steps, "checkpoint_every": 1}
        training["schedule"] = {"kind": "constant", "rate": 0.3, "warmup": 0}
        task = prepared(recipe_of(training=training, validation={"every": 99}), RunFolder(folder))
        Trainer(task, device=torch.device("cpu"), reporter=Reporter(quiet=True)).train()
        return (folder / "checkpoints" / f"step-{steps:08}" / "model.safetensors").read_bytes()

    assert trained(tmp_path / "parts", 2) != trained(tmp_path / "whole", 4)
    assert trained(tmp_path / "parts", 4) == trained(tmp_path / "whole", 4)
