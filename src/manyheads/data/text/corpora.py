"""Pairs of texts from the sources of a recipe: parallel files, TSV, CSV, JSONL, translation memories, folders of these,
the archive of bAbI, or a generated task.

A corpus can be read any number of times, always in the same order, and never has to fit into memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path

from manyheads.config.corpora import CorpusSettings
from manyheads.config.tasks.memory_questions import ARCHIVES, BABI_TASKS
from manyheads.data.cleaning.drift import drift_line
from manyheads.data.formats.jsonl import read_jsonl
from manyheads.data.formats.memories import MemoryTally, are_memories, listed_others, memory_files, read_memory
from manyheads.data.formats.memory_units import Direction
from manyheads.data.formats.scan import read_scan
from manyheads.data.formats.spreadsheet import read_csv
from manyheads.data.formats.tsv import read_tsv
from manyheads.data.generated import Split, task
from manyheads.data.text.files import text_files
from manyheads.data.text.fingerprints import Fingerprints
from manyheads.data.text.records import Pair
from manyheads.data.text.stories import read_babi
from manyheads.errors import ManyheadsError

MOST_FACTS = 130  # of a story of bAbI: as many as is usual for the task with the longest stories
READERS = {"tsv": read_tsv, "csv": read_csv, "jsonl": read_jsonl, "scan": read_scan}


class Corpus(ABC):
    """A source of pairs."""

    @abstractmethod
    def pairs(self) -> Iterator[Pair]:
        """Yield every pair, in an order that never changes."""

    def numbered(self) -> Iterator[tuple[int, Pair]]:
        """Yield every pair with its line, counted from 1."""
        return enumerate(self.pairs(), start=1)

    def count(self) -> int:
        """Return the number of pairs; if it is not known, every pair is read."""
        return sum(1 for _ in self.pairs())

    def remarks(self) -> list[str]:
        """Return what is worth knowing of the pairs that were read, such as what was left out and why."""
        return []

    @abstractmethod
    def key(self) -> str:
        """Return a string that changes if and only if the pairs change."""

    @abstractmethod
    def origin(self) -> str:
        """Return where the pairs come from, for messages and cards."""


def open_corpus(
    settings: CorpusSettings, *, split: Split, lenient: bool = False, fingerprints: Fingerprints | None = None
) -> Corpus:
    """Return the corpus that the settings describe; `split` is used by generated tasks and the archive of bAbI only.

    A lenient corpus does not stop at bytes that are not UTF-8, so that a check can report them. Corpora that have files
    in common may share `fingerprints`.
    """
    if settings.task is not None:
        return GeneratedCorpus(settings, split)
    known = fingerprints or Fingerprints()
    if are_memories(settings.pairs, settings.format):
        return Memories(settings, known)
    if is_story_archive(settings):
        return StoryArchive(settings, known, split)
    kind = PairFiles if settings.pairs is not None else ParallelFiles
    return kind(settings, known, lenient=lenient)


class ParallelFiles(Corpus):
    """Two files, or two folders of files, with parallel lines."""

    def __init__(self, settings: CorpusSettings, fingerprints: Fingerprints, *, lenient: bool = False) -> None:
        assert settings.source is not None and settings.target is not None
        self._fingerprints = fingerprints
        self._lenient = lenient
        self.source = text_files(settings.source, role="source")
        self.target = text_files(settings.target, role="target")

    def pairs(self) -> Iterator[Pair]:
        """Yield pairs of lines; unequal numbers of lines are an error that states both."""
        count = 0
        sources, targets = self._lines(self.source), self._lines(self.target)
        for source, target in zip_longest(sources, targets):
            if source is None or target is None:
                rest = 1 + sum(1 for _ in (targets if source is None else sources))
                raise self._unequal(count + (rest if target is None else 0), count + (rest if source is None else 0))
            count += 1
            yield Pair(source, target)
        if count == 0:
            raise ManyheadsError("this file is empty: there is nothing to learn from.", where=str(self.source[0]))

    def _lines(self, files: list[Path]) -> Iterator[str]:
        """Yield the lines of several files as if they were one."""
        read = partial(self._fingerprints.lines, lenient=self._lenient)
        return chain.from_iterable(map(read, files))

    def _unequal(self, sources: int, targets: int) -> ManyheadsError:
        """Return the error for files of unequal length, with the line where they drift apart if it can be found."""
        near = drift_line(list(self._lines(self.source)), list(self._lines(self.target)))
        hint = (
            f"They seem to drift apart near line {near:,}."
            if near
            else "Line N of one must translate line N of the other."
        )
        return ManyheadsError(
            f"the source has {sources:,} lines but the target has {targets:,}.",
            where=f"{self.source[0]} and {self.target[0]}",
            cure=hint,
        )

    def key(self) -> str:
        """Return the checksum of both sides' bytes."""
        return f"parallel {self._fingerprints.of(self.source)} {self._fingerprints.of(self.target)}"

    def origin(self) -> str:
        """Return both paths."""
        return f"{_name(self.source)} → {_name(self.target)}"


class PairFiles(Corpus):
    """TSV, CSV, JSONL or SCAN files in which each record holds both sides."""

    def __init__(self, settings: CorpusSettings, fingerprints: Fingerprints, *, lenient: bool = False) -> None:
        assert settings.pairs is not None
        self._fingerprints = fingerprints
        self._lenient = lenient
        self.settings = settings
        self.files = text_files(settings.pairs, role="pairs")

    def pairs(self) -> Iterator[Pair]:
        """Yield the two chosen columns or keys of every line that is kept."""
        return (pair for _, pair in self.numbered())

    def numbered(self) -> Iterator[tuple[int, Pair]]:
        """Yield these pairs with their line numbers, counted through all files."""
        before = number = kept = 0
        for file in self.files:
            read = READERS[self._format(file)]
            lines = self._fingerprints.lines(file, lenient=self._lenient)
            number = 0
            for number, pair in read(lines, self.settings, str(file)):
                if pair is not None:
                    kept += 1
                    yield before + number, pair
            before += number
        if kept == 0:
            reason = "this file is empty" if before == 0 else f"none of the {before:,} lines matches `keep`"
            raise ManyheadsError(f"{reason}: there is nothing to learn from.", where=str(self.files[0]))

    def _format(self, file: Path) -> str:
        """Return the format of a file, by the settings or by its name."""
        if self.settings.format == "auto":
            return "jsonl" if ".jsonl" in file.suffixes else "tsv"
        return self.settings.format

    def key(self) -> str:
        """Return the checksum of the files' bytes, and which columns are used."""
        chosen = f"{self.settings.format} {self.settings.source_column} {self.settings.target_column}"
        kept = "".join(f" {name}={values}" for name, values in sorted(self.settings.keep.items(), key=str))
        header = " header" if self.settings.header else ""
        delimiter = f" {self.settings.delimiter!r}" if self.settings.format == "csv" else ""
        return f"pairs {self._fingerprints.of(self.files)} {chosen}{kept}{header}{delimiter}"

    def origin(self) -> str:
        """Return the path."""
        return _name(self.files)


class Memories(Corpus):
    """Translation memories and catalogues, of which the pairs of two languages are read."""

    def __init__(self, settings: CorpusSettings, fingerprints: Fingerprints) -> None:
        assert settings.pairs is not None
        self._fingerprints = fingerprints
        self._given = settings.pairs
        self._direction = _direction(settings)
        self._read: MemoryTally | None = None  # of the last time when everything was read
        self.files = memory_files(settings.pairs)

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs of all units that have both languages and a finished translation."""
        return (pair for _, pair in self.numbered())

    def numbered(self) -> Iterator[tuple[int, Pair]]:
        """Yield these pairs with the lines of their units, counted through all files."""
        tally, before = MemoryTally(), 0
        for file in self.files:
            line = 0
            for line, pair in tally.through(read_memory(file, self._fingerprints.open), self._direction):
                yield before + line, pair
            before += line
        if tally.pairs == 0:
            source, target = self._direction
            raise ManyheadsError(
                f"there is no pair of {source} and {target} to learn from: {tally}.", where=self.origin()
            )
        self._read = tally

    def remarks(self) -> list[str]:
        """Return what was left out and why, if everything was read, and which files were not read."""
        if self._read is None:
            return []
        counted = [f"{self._given}: {self._read}."] if self._read.left_out else []
        return [*counted, *listed_others(self._given)]

    def key(self) -> str:
        """Return the checksum of the files' bytes, and the languages."""
        return f"memories {self._fingerprints.of(self.files)} {' '.join(self._direction)}"

    def origin(self) -> str:
        """Return the path."""
        return self._given


def is_story_archive(settings: CorpusSettings) -> bool:
    """Return whether pairs are the questions of an archive of bAbI, by its name."""
    return settings.pairs is not None and settings.format == "auto" and settings.pairs.endswith(ARCHIVES)


class StoryArchive(Corpus):
    """Questions of bAbI from its archive: facts and question are a source, and the answer is its target.

    Of a longer story, the `MOST_FACTS` most recent facts are read.
    """

    def __init__(self, settings: CorpusSettings, fingerprints: Fingerprints, split: Split) -> None:
        assert settings.pairs is not None
        self._fingerprints, self._given, self._split = fingerprints, settings.pairs, split
        (self.archive,) = text_files(settings.pairs, role="questions")
        if split == "valid":
            raise ManyheadsError(
                "an archive of bAbI has no validation questions.",
                where=settings.pairs,
                cure="Hold some of the training questions out: data.held_out: 1000",
            )
        every = {f"qa{number}": number for number in range(1, BABI_TASKS + 1)}
        kept = settings.keep.get("task", tuple(every))
        if {*settings.keep} - {"task"} or not {*kept} <= {*every}:
            raise ManyheadsError("`keep` names tasks of bAbI.", where=settings.pairs, cure="keep: {task: [qa1, qa2]}")
        self.numbers = [every[name] for name in kept]

    def pairs(self) -> Iterator[Pair]:
        """Yield the questions, task by task."""
        for asked in read_babi(self.archive, numbers=self.numbers, split=self._split, memory=MOST_FACTS):
            assert asked.answer is not None
            yield Pair(asked.source, asked.answer)

    def key(self) -> str:
        """Return the checksum of the archive, and what is read of it."""
        return f"stories {self._fingerprints.of([self.archive])} {self._split} {self.numbers}"

    def origin(self) -> str:
        """Return the path and the part."""
        return f"{self._given}, tasks {', '.join(map(str, self.numbers))}, {self._split}"


def _direction(settings: CorpusSettings) -> Direction:
    """Return the languages that a corpus reads from memories: its columns, or else its languages."""
    columns = settings.source_column, settings.target_column
    languages = settings.source_language, settings.target_language
    named = [column if isinstance(column, str) else code for column, code in zip(columns, languages, strict=True)]
    if named[0] is None or named[1] is None:
        raise ManyheadsError(
            "which two languages of this memory are the pairs?",
            where=settings.pairs,
            cure="Name them: source_column: en and target_column: de",
        )
    return Direction(named[0], named[1])


class GeneratedCorpus(Corpus):
    """Pairs that a task generates: unlimited, licence-free and the same on every machine."""

    def __init__(self, settings: CorpusSettings, split: Split) -> None:
        assert settings.task is not None
        self.settings = settings
        self.split: Split = split
        self.task = task(settings.task, **settings.options)

    def pairs(self) -> Iterator[Pair]:
        """Yield the number of pairs in the settings."""
        return self.task.pairs(self.split, count=self.settings.count, seed=self.settings.seed)

    def key(self) -> str:
        """Return everything that decides what is generated."""
        return f"task {self.task!r} {self.split} {self.settings.count} {self.settings.seed}"

    def origin(self) -> str:
        """Return the task, the number of pairs, and the seed."""
        return f"{self.settings.task} task, {self.settings.count:,} {self.split} pairs, seed {self.settings.seed}"


def _name(files: list[Path]) -> str:
    """Return the file's path, or the folder's path if there are several files."""
    return str(files[0]) if len(files) == 1 else str(files[0].parent)
