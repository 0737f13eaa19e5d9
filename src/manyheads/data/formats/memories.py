"""Translation memories and catalogues as sources of pairs: a file, or all of those in a folder and its folders.

| ending | format |
|---|---|
| `.tmx` | a memory of units in any number of languages, read unit by unit |
| `.po`, `.xlf`, `.xliff` | a catalogue, read whole |

The files may be compressed as `.gz`, `.xz` or `.zst`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path

from manyheads.bounded.files import require_regular
from manyheads.data.formats.catalogues import read_po_units, read_xliff_units
from manyheads.data.formats.memory_units import Direction, LeftOut, MemoryUnit
from manyheads.data.formats.tmx import read_tmx
from manyheads.data.text.compression import DAMAGED, SUFFIXES, unpacked
from manyheads.data.text.files import BLOCK, open_file, resolve, unreadable
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError

FORMAT = "memories"  # as a corpus names it
SHOWN = 3  # names of files that a sentence has
SHOWN_LANGUAGES = 12

OpenBytes = Callable[[Path], BufferedReader]
READERS = {".tmx": read_tmx, ".xlf": read_xliff_units, ".xliff": read_xliff_units, ".po": read_po_units}


def are_memories(path: str | None, chosen: str = "auto") -> bool:
    """Return whether pairs are in memories: as chosen, or by the name of the file or of one in the folder."""
    if path is None or chosen != "auto":
        return path is not None and chosen == FORMAT
    place = resolve(path)
    return any(map(_is_known, _files_below(place))) if place.is_dir() else _is_known(place)


def memory_files(path: str) -> list[Path]:
    """Return the memory at a path, or all that are in the folder there and its folders, in order."""
    place = resolve(path)
    if place.is_dir():
        files = sorted(filter(_is_known, _files_below(place)))
        if not files:
            raise ManyheadsError(f"there is no {_kinds()} file in this folder.", where=path)
        return files
    if not place.exists():
        raise ManyheadsError("there is no such memory.", where=path, cure="Check the path.")
    if not _is_known(place):
        raise ManyheadsError(f"a memory is a {_kinds()} file, by its name.", where=path)
    require_regular(place)
    return [place]


def listed_others(path: str) -> list[str]:
    """Return a sentence on the files in a folder and its folders that are no memories, if there are any."""
    place = resolve(path)
    if not place.is_dir():
        return []
    others = [str(file.relative_to(place)) for file in sorted(_files_below(place)) if not _is_known(file)]
    more = f" and {len(others) - SHOWN:,} others" if len(others) > SHOWN else ""
    return (
        [f"{path}: not read, since they are no {_kinds()} files: {', '.join(others[:SHOWN])}{more}."] if others else []
    )


def read_memory(path: Path, open_bytes: OpenBytes = open_file) -> Iterator[MemoryUnit]:
    """Yield the units of a memory; `open_bytes` opens the file."""
    read = READERS[_ending(path)]
    try:
        with open_bytes(path) as packed, unpacked(packed, path.suffix) as file:
            yield from read(iter(lambda: file.read1(BLOCK), b""), str(path))
    except DAMAGED as error:
        raise ManyheadsError(f"this {path.suffix} file is damaged: {error}.", where=str(path)) from None
    except OSError as error:
        raise unreadable(path, error) from None


@dataclass
class MemoryTally:
    """What became of the units of a corpus: pairs, what was left out and why, and the texts in each language."""

    units: int = 0
    pairs: int = 0
    left_out: Counter[LeftOut] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)

    def through(self, units: Iterator[MemoryUnit], direction: Direction) -> Iterator[tuple[int, Pair]]:
        """Yield the pairs of the units with their lines, and count."""
        for unit in units:
            self.units += 1
            self.languages.update(language for language, _ in unit.named(direction))
            for pair in unit.pairs(direction):
                if isinstance(pair, Pair):
                    self.pairs += 1
                    yield unit.line, pair
                else:
                    self.left_out[pair] += 1

    def __str__(self) -> str:
        """Return how many were left out and why, and the languages if that was for the languages."""
        languages = ", ".join(language for language, _ in self.languages.most_common(SHOWN_LANGUAGES))
        details = {"in other languages": f" (there is {languages})"}
        reasons = [f"{count:,} {reason}{details.get(reason, '')}" for reason, count in self.left_out.most_common()]
        return f"units read: {self.units:,}; left out: {', '.join(reasons) or 'none'}"


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and its folders that are not hidden; links to folders are not followed."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in sorted(names) if not name.startswith("."))


def _is_known(path: Path) -> bool:
    """Return whether a file is a memory, by its name."""
    return _ending(path) in READERS


def _ending(path: Path) -> str:
    """Return the ending of a file's name, without that of a compression."""
    plain = path.with_suffix("") if path.suffix in SUFFIXES else path
    return plain.suffix.lower()


def _kinds() -> str:
    """Return the endings of memories, as a sentence has them."""
    *others, last = READERS
    return f"{', '.join(others)} or {last}" if others else last
