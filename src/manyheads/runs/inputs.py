"""What a run is made of: the files that it reads, with their fingerprints (`inputs.json`).

A run is a function of its recipe only as long as these files are the same. So they are compared whenever training
continues: corpora for training and validation, lexicons, word vectors, and the run to start from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from manyheads.config.corpora import CorpusSettings
from manyheads.data.formats.memories import are_memories, memory_files
from manyheads.data.text.corpora import is_story_archive
from manyheads.data.text.files import resolve, text_files
from manyheads.data.text.fingerprints import Fingerprints
from manyheads.errors import ManyheadsError

VERSION = 1
SHOWN = 5  # files that a sentence names


class Input(NamedTuple):
    """A file that a run reads: what for, how the recipe names it, and where it is. Only texts have lines.

    `below` is the path from the folder that the recipe names, where files of one name may be in several folders of it.
    """

    role: str
    given: str
    path: Path
    is_text: bool = True
    below: str | None = None

    @property
    def name(self) -> str:
        """The name that distinguishes the file from others at the same place of the recipe."""
        return self.below or self.path.name


class InputRecord(BaseModel):
    """A file as it was when training was last started."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    role: str
    given: str
    name: str
    bytes: int
    lines: int | None
    sha256: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What stays the same when the content changes."""
        return self.role, self.given, self.name

    @property
    def size(self) -> str:
        """The number of lines or, of a file that is no text, of bytes."""
        return f"{self.bytes:,} bytes" if self.lines is None else f"{self.lines:,} lines"


class InputChange(BaseModel):
    """A change that the user accepted, and the step from which on the data was another."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    step: int
    files: tuple[str, ...]


class Inputs(BaseModel):
    """The files that a run reads, and what changed in them since it began. A run folder keeps it as JSON."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    version: int = VERSION
    files: tuple[InputRecord, ...] = ()
    changes: tuple[InputChange, ...] = ()

    def facts(self) -> dict[str, str]:
        """Return what the card says about changes."""
        told = [f"from step {change.step:,} on: {', '.join(change.files)}" for change in self.changes]
        return {"data changed": "; ".join(told)} if told else {}


def corpus_inputs(settings: CorpusSettings, role: str) -> Iterator[Input]:
    """Yield the files of a corpus; a generated one has none."""
    if settings.pairs is not None and are_memories(settings.pairs, settings.format):
        yield from memory_inputs(settings.pairs, role)
    elif is_story_archive(settings):
        assert settings.pairs is not None
        yield binary_input(settings.pairs, role)
    else:
        for given in (settings.source, settings.target, settings.pairs):
            yield from text_inputs(given, role)
    yield from text_inputs(settings.lexicon, "lexicon")


def text_inputs(given: str | None, role: str) -> Iterator[Input]:
    """Yield the file at a path of a recipe, or the files of the folder there."""
    if given is not None:
        for path in text_files(given, role=role):
            yield Input(role, given, path)


def memory_inputs(given: str, role: str) -> Iterator[Input]:
    """Yield the memory at a path of a recipe, or those in the folder there and its folders."""
    place = resolve(given)
    for path in memory_files(given):
        below = str(path.relative_to(place)) if path != place else None
        yield Input(role, given, path, is_text=False, below=below)


def binary_input(given: str, role: str) -> Input:
    """Return a file without lines, such as one of word vectors."""
    return Input(role, given, resolve(given), is_text=False)


def run_inputs(given: str, folder: Path) -> Iterator[Input]:
    """Yield the files of another run that are taken to start from it."""
    tokenizer = folder / "tokenizer"
    for path in (folder / "config.json", folder / "model.safetensors", *sorted(tokenizer.glob("*"))):
        if path.is_file():
            yield Input("start_from", given, path, is_text=False)


def records(inputs: Sequence[Input], fingerprints: Fingerprints, before: Inputs | None) -> tuple[InputRecord, ...]:
    """Return the files as they are now. The lines of one that is as it was before are not counted again."""
    known = {record.key: record for record in (before.files if before else ())}
    return tuple(_record(one, fingerprints, known) for one in dict.fromkeys(inputs))


def differences(before: Sequence[InputRecord], now: Sequence[InputRecord]) -> list[str]:
    """Return each file that is not as it was, with its size before and now."""
    old, new = ({record.key: record for record in some} for some in (before, now))
    told = []
    for key in dict.fromkeys((*old, *new)):
        place = _place(*key)
        if key not in new:
            told.append(f"{place} ({old[key].size}, now missing)")
        elif key not in old:
            told.append(f"{place} (new, {new[key].size})")
        elif old[key].sha256 != new[key].sha256:
            told.append(f"{place} ({old[key].size}, now {new[key].size})")
    return told


def changed_error(different: Sequence[str]) -> ManyheadsError:
    """Return the error for files that changed under a run."""
    more = f" and {len(different) - SHOWN:,} others" if len(different) > SHOWN else ""
    return ManyheadsError(
        f"what this run learns from has changed since it was last started: {', '.join(different[:SHOWN])}{more}.",
        cure="Put back what was there, or go on with what is there now: --accept-changed-data",
    )


def _record(one: Input, fingerprints: Fingerprints, known: dict[tuple[str, str, str], InputRecord]) -> InputRecord:
    """Return a file as it is now."""
    before = known.get((one.role, one.given, one.name))
    if one.is_text and before is None:
        fingerprints.count(one.path)  # first, since this reads the whole file and hashes it on the way
    sha256 = fingerprints.checksum(one.path)
    same = before is not None and before.sha256 == sha256
    lines = before.lines if before and same else fingerprints.count(one.path) if one.is_text else None
    return InputRecord(
        role=one.role,
        given=one.given,
        name=one.name,
        bytes=one.path.stat().st_size,
        lines=lines,
        sha256=sha256,
    )


def _place(role: str, given: str, name: str) -> str:
    """Return a file as a sentence names it."""
    return given if Path(given).name == name else f"{given}/{name}"
