"""Examples for models that read: from files, with errors that name the line, and from generated tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from manyheads.config.tasks.reading import ExamplesSettings, ReadingTaskName
from manyheads.data.generated.kinds import NOUNS
from manyheads.data.text.examples import read_examples
from manyheads.data.text.records import Example
from manyheads.errors import ManyheadsError


def read(path: Path, text: str, task: ReadingTaskName) -> list[Example]:
    path.write_text(text, encoding="utf-8")
    return read_examples(ExamplesSettings(file=str(path)), task, split="train")


def generated(name: str, task: ReadingTaskName, split: str = "train", **options) -> list[Example]:
    settings = ExamplesSettings(task=name, count=60, options=options)
    return read_examples(settings, task, split=split)  # type: ignore[arg-type]


def test_columns_are_texts_and_a_label(tmp_path: Path):
    found = read(tmp_path / "x.tsv", "good film\tyes\n\na\tb\tno\n", "classification")
    assert found == [Example("good film", "yes"), Example("a", "no", "b")]
    assert [one.given for one in found] == ["good film", ("a", "b")]


def test_json_lines_name_what_they_hold(tmp_path: Path):
    line = json.dumps({"text": "a", "second": "b", "label": "no"})
    assert read(tmp_path / "x.jsonl", line, "classification") == [Example("a", "no", "b")]
    assert read(tmp_path / "x.jsonl", line, "masked_language_model") == [Example("a")]
    assert read(tmp_path / "x.txt", "a\tb\n", "masked_language_model") == [Example("a\tb")]


def test_an_answer_stands_where_it_is_said_or_where_it_is_first_found(tmp_path: Path):
    values = {"question": "Who?", "context": "Ann saw Ann.", "answer": "Ann"}
    lines = f"{json.dumps(values)}\n{json.dumps({**values, 'start': 8})}\n"
    found = read(tmp_path / "x.jsonl", lines, "question_answering")
    assert [one.start for one in found] == [0, 8]
    assert found[0].given == ("Who?", "Ann saw Ann.")


@pytest.mark.parametrize(
    ("name", "text", "task", "words"),
    [
        ("x.tsv", "a\tyes\nb\n", "classification", "x.tsv:2: this line has 1 tab-separated columns"),
        ("x.tsv", "\n", "classification", "empty"),
        ("x.jsonl", '{"text": "a"}', "classification", "x.jsonl:1: the key 'label' is missing"),
        ("x.jsonl", "[]", "classification", "not a JSON object"),
        ("x.jsonl", "{", "question_answering", "not JSON"),
        ("x.jsonl", '{"question": "q", "context": "c", "answer": "d"}', "question_answering", "'d' is not in"),
        (
            "x.jsonl",
            '{"question": "q", "context": "c d", "answer": "d", "start": 1}',
            "question_answering",
            "at character 1",
        ),
        ("x.jsonl", '{"question": "q", "context": "c", "answer": ""}', "question_answering", "'' is not in"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, name: str, text: str, task: ReadingTaskName, words: str):
    with pytest.raises(ManyheadsError) as caught:
        read(tmp_path / name, text, task)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "task", "options"),
    [
        ("kinds", "classification", {}),
        ("kinds", "classification", {"pairs": True}),
        ("whereabouts", "question_answering", {"max_moves": 4}),
    ],
)
def test_generated_examples_are_the_same_every_time_and_in_one_split_only(name: str, task: ReadingTaskName, options):
    splits = [generated(name, task, split, **options) for split in ("train", "valid", "test")]
    assert splits[0] == generated(name, task, "train", **options)
    sources = [{one.source for one in split} for split in splits]
    assert not sources[0] & sources[1] and not sources[0] & sources[2] and not sources[1] & sources[2]
    assert len(sources[1]) == len(sources[2]) == 60  # held-out examples do not repeat


def test_no_noun_occurs_in_two_splits():
    nouns = {noun for one in NOUNS.values() for noun in one.split()}
    seen = [
        {word.strip(".?") for one in generated("kinds", "classification", split) for word in one.text.split()} & nouns
        for split in ("train", "valid", "test")
    ]
    assert all(seen)
    assert not seen[0] & seen[1] and not seen[0] & seen[2] and not seen[1] & seen[2]


def test_no_noun_is_of_two_kinds():
    every = [noun for nouns in NOUNS.values() for noun in nouns.split()]
    assert len(every) == len(set(every))


def test_the_answer_is_where_the_person_went_last():
    for one in generated("whereabouts", "question_answering"):
        assert one.second is not None and one.start is not None
        assert one.second[one.start :].startswith(f"{one.answer}.")
        person = one.text.removeprefix("Where is ").removesuffix("?")
        last = [sentence for sentence in one.second.split(".") if person in sentence][-1]
        assert last.endswith(one.answer)


@pytest.mark.parametrize(
    ("settings", "task", "words"),
    [
        ({"task": "kind"}, "classification", "Did you mean 'kinds'?"),
        ({"task": "kinds", "options": {"pair": True}}, "classification", "Did you mean 'pairs'?"),
        ({"task": "kinds", "options": {"pairs": 3}}, "classification", "true or false"),
        ({"task": "kinds"}, "question_answering", "for classification"),
        ({"task": "whereabouts", "options": {"min_moves": 9}}, "question_answering", "min_moves"),
    ],
)
def test_impossible_tasks_are_told(settings, task: ReadingTaskName, words: str):
    with pytest.raises(ManyheadsError) as caught:
        read_examples(ExamplesSettings(**settings), task, split="train")
    assert words in str(caught.value)
