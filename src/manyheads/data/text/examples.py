"""Examples for encoder models, from files or generated tasks. What a line of a file holds depends on the task:

| task | a line of .tsv | a line of .jsonl | a line of anything else |
|---|---|---|---|
| masked_language_model | text in the first column | `text` | the text |
| classification | text, label · text, text, label | `text`, `label` and, of a pair, `second` | as .tsv |
| question_answering | none | `question`, `context`, `answer` and, if it is known, `start` | as .jsonl |

`start` is where the answer begins in the context, in characters; the default is its first occurrence. Empty lines are
skipped. All examples are held in memory: data for fine-tuning is small enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

from manyheads.bounded.json_text import parse_json
from manyheads.config.tasks.reading import ExamplesSettings, ReadingTaskName
from manyheads.data.generated.kinds import Kinds
from manyheads.data.generated.listops import ListOps
from manyheads.data.generated.options import option_error
from manyheads.data.generated.random_examples import Split
from manyheads.data.generated.whereabouts import Whereabouts
from manyheads.data.text.files import text_files
from manyheads.data.text.fingerprints import Fingerprints
from manyheads.data.text.records import Example
from manyheads.errors import ManyheadsError, did_you_mean

_TASKS = {kind.name: kind for kind in (Kinds, ListOps, Whereabouts)}
_MADE_FOR: dict[str, ReadingTaskName] = {
    "kinds": "classification",
    "listops": "classification",
    "whereabouts": "question_answering",
}


class ExampleTask(Protocol):
    """A task that generates examples."""

    def examples(self, split: Split, *, count: int, seed: int = 1) -> Iterator[Example]:
        """Return `count` examples of the split; the same arguments give the same examples everywhere."""


def read_examples(
    settings: ExamplesSettings, task: ReadingTaskName, *, split: Split, fingerprints: Fingerprints | None = None
) -> list[Example]:
    """Return all examples that the settings describe; `split` is used by generated tasks only.

    The files are hashed for `fingerprints` while they are read.
    """
    if settings.task is not None:
        return list(_generated(settings, task).examples(split, count=settings.count, seed=settings.seed))
    assert settings.file is not None
    known = fingerprints or Fingerprints()
    examples = [
        example
        for file in text_files(settings.file, role="examples")
        for number, line in enumerate(known.lines(file), start=1)
        if line.strip() and (example := _read(file, line, task, f"{file}:{number}"))
    ]
    if not examples:
        raise ManyheadsError("this file is empty: there is nothing to learn from.", where=settings.file)
    return examples


def origin_of(settings: ExamplesSettings, *, split: Split) -> str:
    """Return where examples come from, for messages and cards."""
    if settings.task is None:
        return str(settings.file)
    return f"{settings.task} task, {settings.count:,} {split} examples, seed {settings.seed}"


def _generated(settings: ExamplesSettings, task: ReadingTaskName) -> ExampleTask:
    """Return the generated task that the settings name."""
    name = str(settings.task)
    if name not in _TASKS:
        raise ManyheadsError(f"there is no task '{name}'.", where="data", cure=did_you_mean(name, _TASKS))
    if task not in (_MADE_FOR[name], "masked_language_model"):
        raise ManyheadsError(f"the task '{name}' is for {_MADE_FOR[name]}, not for {task}.", where="data")
    known = [field.name for field in fields(_TASKS[name])]
    for option in settings.options:
        if option not in known:
            raise option_error(name, option, "there is no such option.", did_you_mean(option, known))
    build: Callable[..., ExampleTask] = _TASKS[name]
    return build(**settings.options)


def _read(file: Path, line: str, task: ReadingTaskName, where: str) -> Example:
    """Return the example on one line."""
    is_json = ".jsonl" in file.suffixes
    if task == "question_answering":
        return _question(_object(line, where), where)
    if is_json:
        return _labelled(_object(line, where), task, where)
    if task == "masked_language_model":
        return Example(line.split("\t")[0] if ".tsv" in file.suffixes else line)
    return _columns(line, where)


def _columns(line: str, where: str) -> Example:
    """Return text and label, or two texts and a label."""
    columns = line.split("\t")
    if len(columns) not in (2, 3):
        raise ManyheadsError(
            f"this line has {len(columns)} tab-separated columns.",
            where=where,
            cure="Write text and label, or text, text and label.",
        )
    return Example(columns[0], columns[-1].strip(), columns[1] if len(columns) == 3 else None)


def _labelled(values: dict[str, Any], task: ReadingTaskName, where: str) -> Example:
    """Return the example in a JSON object: a text or a pair, and its label."""
    if task == "masked_language_model":
        return Example(_text(values, "text", where))
    second = _text(values, "second", where) if "second" in values else None
    return Example(_text(values, "text", where), _text(values, "label", where), second)


def _question(values: dict[str, Any], where: str) -> Example:
    """Return a question with its context; the answer must be at its stated place."""
    question, context, answer = (_text(values, key, where) for key in ("question", "context", "answer"))
    start = values.get("start")
    if start is None:
        start = context.find(answer)
    right = isinstance(start, int) and start >= 0 and context[start : start + len(answer)] == answer
    if not right or not answer:
        place = f"at character {start}" if values.get("start") is not None else "in the context"
        raise ManyheadsError(f"the answer {answer!r} is not {place}.", where=where)
    return Example(question, answer, context, start)


def _object(line: str, where: str) -> dict[str, Any]:
    """Return a line of JSON as a dictionary."""
    try:
        values = parse_json(line)
    except ValueError as error:
        raise ManyheadsError(f"this line is not JSON: {getattr(error, 'msg', error)}.", where=where) from None
    if not isinstance(values, dict):
        raise ManyheadsError("this line is not a JSON object.", where=where)
    return values


def _text(values: dict[str, Any], key: str, where: str) -> str:
    """Return a text of a JSON object."""
    value = values.get(key)
    if not isinstance(value, str):
        raise ManyheadsError(f"the key '{key}' is missing or not a string.", where=where)
    return value
