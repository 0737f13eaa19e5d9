"""Questions about facts, from files. A file has lines like those of bAbI (Weston et al. 2015), or JSON objects:

    1 Mary moved to the bathroom.
    2 John went to the hallway.
    3 Where is Mary? ⇥ bathroom ⇥ 1

    {"facts": ["Mary moved to the bathroom.", "John went to the hallway."], "question": "Where is Mary?",
     "answer": "bathroom"}

A line of bAbI has a number; number 1 begins a new story. A line with a tab is a question about all facts of its story
that stand before it: question, answer and, for people, the numbers of the facts that support the answer. An answer is
one class, even if it is a list such as `milk,football`. A JSON object is a story with one question.

What is to be answered needs no answers, and its lines need no numbers: a sentence that ends with a question mark is a
question, and other sentences are facts.
"""

from __future__ import annotations

import re
import tarfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

from manyheads.bounded.json_text import parse_json
from manyheads.config.tasks.memory_questions import StoriesSettings
from manyheads.config.tasks.reading import ExamplesSettings
from manyheads.data.generated.random_examples import Split
from manyheads.data.text.compression import DAMAGED
from manyheads.data.text.examples import read_examples
from manyheads.data.text.files import LONGEST_LINE, line_too_long, text_files, unreadable
from manyheads.data.text.fingerprints import Fingerprints
from manyheads.errors import ManyheadsError

NUMBER = re.compile(r"\s*(\d+)\s+")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
BABI_FILE = re.compile(r"(?:.*/)?qa(\d+)_[^/]*_(train|test)\.txt")


class StoryQuestion(NamedTuple):
    """A question about facts, of which the most recent is the last. `task` is the group that it is counted in.

    `dropped` is the number of older facts of the story, which were more than the memory can hold.
    """

    facts: tuple[str, ...]
    question: str
    answer: str | None
    task: str = ""
    dropped: int = 0

    @property
    def source(self) -> str:
        """The facts and the question as one text."""
        return " ".join((*self.facts, self.question))


def stories_of(
    settings: StoriesSettings, *, memory: int, split: Split, fingerprints: Fingerprints | None = None
) -> list[StoryQuestion]:
    """Return all questions that the settings describe, with at most `memory` facts each.

    `split` is used by generated tasks only. Files are hashed for `fingerprints` while they are read.
    """
    if settings.task is not None:
        return _generated(settings, memory, split)
    if settings.babi is not None:
        (archive,) = text_files(settings.babi, role="questions")
        return list(read_babi(archive, numbers=settings.numbers, split=settings.split, memory=memory))
    known = fingerprints or Fingerprints()
    files = [file for given in settings.files for file in text_files(given, role="questions")]
    found: list[StoryQuestion] = []
    for file in files:
        task = file.name.split(".")[0] if len(files) > 1 else ""
        questions = list(read_stories(known.lines(file), where=str(file), memory=memory, task=task))
        if not questions:
            raise ManyheadsError("this file has no question, so there is nothing to learn.", where=str(file))
        found += questions
    return found


def origin_of(settings: StoriesSettings, *, split: Split) -> str:
    """Return where questions come from, for messages and cards."""
    if settings.task is not None:
        return f"{settings.task} task, {settings.count:,} {split} questions, seed {settings.seed}"
    if settings.babi is not None:
        return f"{settings.babi}, tasks {', '.join(map(str, settings.numbers))}, {settings.split}"
    return ", ".join(settings.files)


def _generated(settings: StoriesSettings, memory: int, split: Split) -> list[StoryQuestion]:
    """Return generated questions, whose contexts are cut into sentences."""
    values = {"task": settings.task, "count": settings.count, "seed": settings.seed, "options": settings.options}
    examples = read_examples(ExamplesSettings.model_validate(values), "question_answering", split=split)
    asked = []
    for example in examples:
        story = _Story(memory, "")
        story.add(*SENTENCE_END.split(example.second or ""))
        asked.append(story.ask(example.text, example.answer, "data"))
    return asked


class _Story:
    """The facts of a story so far, of which the last `memory` are kept."""

    def __init__(self, memory: int, task: str) -> None:
        self.task, self.count = task, 0
        self.facts: deque[str] = deque(maxlen=memory)

    def begin(self) -> None:
        """Forget the facts: another story begins."""
        self.facts.clear()
        self.count = 0

    def add(self, *facts: str) -> None:
        """Add facts at the end."""
        self.facts.extend(facts)
        self.count += len(facts)

    def ask(self, question: str, answer: str | None, where: str) -> StoryQuestion:
        """Return a question about the facts so far."""
        if not self.facts:
            raise ManyheadsError("this question comes before any fact.", where=where, cure="Facts come first.")
        return StoryQuestion(tuple(self.facts), question, answer, self.task, self.count - len(self.facts))


def read_stories(lines: Iterable[str], *, where: str, memory: int, task: str = "") -> Iterator[StoryQuestion]:
    """Yield the questions of a file to learn from, each with at most `memory` facts and an answer.

    `where` is the name of the file in messages.
    """
    story = _Story(memory, task)
    for number, line in enumerate(lines, start=1):
        place = f"{where}:{number}"
        if not line.strip():
            continue
        if line.lstrip().startswith("{"):
            asked = _object(line, place, memory, task)
            if asked.answer is None:
                raise _no_answer(place)
            yield asked
            continue
        first = NUMBER.match(line)
        if first is None:
            raise ManyheadsError("this line has no number.", where=place, cure="Write: 1 fact, or 2 question⇥answer.")
        if int(first[1]) == 1:
            story.begin()
        text, tab, rest = line[first.end() :].partition("\t")
        if not tab:
            story.add(text.strip())
            continue
        answer = rest.split("\t")[0].strip()
        if not answer:
            raise _no_answer(place)
        yield story.ask(text.strip(), answer, place)


def read_questions(lines: Iterable[str], *, where: str, memory: int) -> Iterator[StoryQuestion]:
    """Yield questions to be answered, each with at most `memory` facts."""
    story = _Story(memory, "")
    for number, line in enumerate(lines, start=1):
        place = f"{where}:{number}"
        if line.lstrip().startswith("{"):
            yield _object(line, place, memory, "")
            continue
        first = NUMBER.match(line)
        if first is not None and int(first[1]) == 1:
            story.begin()
        text, tab, _ = line[first.end() if first else 0 :].partition("\t")
        for sentence in filter(None, map(str.strip, SENTENCE_END.split(text))):
            if tab or sentence.endswith("?"):
                yield story.ask(sentence, None, place)
            else:
                story.add(sentence)


def read_babi(archive: Path, *, numbers: Sequence[int], split: str, memory: int) -> Iterator[StoryQuestion]:
    """Yield the questions of tasks of bAbI from its archive, in the order of their numbers."""
    found: dict[int, list[StoryQuestion]] = {}
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                match = BABI_FILE.fullmatch(member.name)
                if not member.isreg() or match is None or match[2] != split or int(match[1]) not in numbers:
                    continue
                content = tar.extractfile(member)
                assert content is not None
                where = f"{archive}/{member.name}"
                lines = _lines(TextIOWrapper(content, encoding="utf-8"), where)
                found[int(match[1])] = list(read_stories(lines, where=where, memory=memory, task=f"qa{match[1]}"))
    except (*DAMAGED, tarfile.TarError, UnicodeDecodeError) as error:
        raise ManyheadsError(f"this is not an archive of bAbI: {error}.", where=str(archive)) from None
    except OSError as error:
        raise unreadable(archive, error) from None
    missing = [number for number in numbers if not found.get(number)]
    if not found:
        raise ManyheadsError(
            f"of archives, only that of bAbI is read, and this one has no {split} questions of it.",
            where=str(archive),
            cure="Unpack it, and name the file with the pairs.",
        )
    if missing:
        listed = ", ".join(map(str, missing))
        raise ManyheadsError(f"this archive has no {split} questions of these tasks: {listed}.", where=str(archive))
    for number in numbers:
        yield from found[number]


def _lines(text: TextIOWrapper, where: str) -> Iterator[str]:
    """Yield the lines of a member of an archive, none of which may be too long."""
    number = 0
    while line := text.readline(LONGEST_LINE):
        number += 1
        if len(line) >= LONGEST_LINE:
            raise line_too_long(f"{where}:{number}")
        yield line.rstrip("\r\n")


def _object(line: str, where: str, memory: int, task: str) -> StoryQuestion:
    """Return the question in a JSON object."""
    try:
        values: Any = parse_json(line)
    except ValueError as error:
        raise ManyheadsError(f"this line is not JSON: {getattr(error, 'msg', error)}.", where=where) from None
    facts, question, answer = (values.get(key) for key in ("facts", "question", "answer"))
    if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
        raise ManyheadsError("the key 'facts' is missing or not a list of strings.", where=where)
    if not isinstance(question, str) or not question.strip():
        raise ManyheadsError("the key 'question' is missing or not a string.", where=where)
    if answer is not None and (not isinstance(answer, str) or not answer.strip()):
        raise ManyheadsError("the key 'answer' is not a string, or is empty.", where=where)
    story = _Story(memory, task)
    story.add(*facts)
    return story.ask(question, answer.strip() if answer else None, where)


def _no_answer(where: str) -> ManyheadsError:
    """Return the error for a question that cannot be learned from."""
    return ManyheadsError("this question has no answer.", where=where, cure="Write it behind a tab.")
