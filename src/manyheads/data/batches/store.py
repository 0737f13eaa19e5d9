"""Token ids on disk: built once from a corpus, keyed by content, memory-mapped for training.

A store is a folder: for each side the ids of all sentences one after the other (`source.ids`), where each begins
(`source.offsets`), and `store.json` with what was left out. Each sequence ends with the end token. The folder is named
by a hash of the corpus, the tokenizers and the settings that matter, so a stale store is never read (`cache` says how a
damaged one is found).
"""

from __future__ import annotations

import gc
import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from manyheads.config.corpora import DataSettings
from manyheads.data.batches.cache import cache_folder, new_store, stored_facts, write_facts
from manyheads.data.text.corpora import Corpus
from manyheads.data.text.records import Pair
from manyheads.data.tokens.tokenizers import END, Tokenizers
from manyheads.errors import ManyheadsError

VERSION = 2  # of the format; part of the key
CHUNK = 5_000  # pairs tokenised at once: enough to keep threads busy, little enough to bound memory

Side = Literal["source", "target"]
Report = Callable[[int], None]
IdType = np.dtype[np.uint16] | np.dtype[np.uint32]


@dataclass
class Tally:
    """What became of the pairs of a corpus, with the first line (from 1) of each fault."""

    pairs: int = 0
    empty: int = 0
    too_long: int = 0
    first_empty: int | None = None
    first_too_long: int | None = None


class Store:
    """The token ids of a corpus, as memory-mapped arrays."""

    def __init__(self, folder: Path, facts: dict[str, Any]) -> None:
        self.folder = folder
        self.tally = Tally(**facts["tally"])
        self.origin: str | None = facts.get("origin")
        self._ids = {side: np.memmap(folder / f"{side}.ids", dtype=facts["dtype"], mode="r") for side in _SIDES}
        self._offsets = {side: np.memmap(folder / f"{side}.offsets", dtype=np.int64, mode="r") for side in _SIDES}

    def __len__(self) -> int:
        return self.tally.pairs

    def lengths(self, side: Side) -> NDArray[np.int32]:
        """Return how many tokens each sentence of a side has, the end token included: [pairs]."""
        return np.diff(self._offsets[side]).astype(np.int32)

    def tokens(self, side: Side) -> int:
        """Return how many tokens a side has in all."""
        return int(self._offsets[side][-1])

    def rows(
        self, side: Side, indices: NDArray[np.int64], *, padding: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the sentences at the indices [B] as one rectangle of ids [B, S], and their lengths [B]."""
        starts = self._offsets[side][indices]
        lengths = self._offsets[side][indices + 1] - starts
        columns = np.arange(lengths.max())
        inside = columns < lengths[:, None]
        rectangle = np.full(inside.shape, padding, dtype=np.int64)
        rectangle[inside] = self._ids[side][(starts[:, None] + columns)[inside]]
        return rectangle, lengths


_SIDES: tuple[Side, Side] = ("source", "target")


def store_key(corpus: Corpus, tokenizers: Tokenizers, settings: DataSettings) -> str:
    """Return the hash of everything that decides what a store holds."""
    digest = hashlib.sha256(f"{VERSION} {corpus.key()} {settings.max_length} {settings.too_long}".encode())
    for name, model in tokenizers.files().items():
        digest.update(name.encode() + model)
    return digest.hexdigest()[:32]


def open_store(
    corpus: Corpus,
    tokenizers: Tokenizers,
    settings: DataSettings,
    *,
    threads: int = 1,
    report: Report | None = None,
) -> Store:
    """Return the corpus's store, building it if this is the first time; `report` hears the number of pairs read."""
    folder = cache_folder() / "store" / store_key(corpus, tokenizers, settings)
    facts = stored_facts(folder)
    if facts is None:
        facts = _build(folder, corpus, tokenizers, settings, threads=threads, report=report)
    return Store(folder, facts)


def _build(
    folder: Path,
    corpus: Corpus,
    tokenizers: Tokenizers,
    settings: DataSettings,
    *,
    threads: int,
    report: Report | None,
) -> dict[str, Any]:
    """Write a store and return its facts."""
    largest = max(len(tokenizers.source), len(tokenizers.target))
    dtype: IdType = np.dtype(np.uint16) if largest <= 1 << 16 else np.dtype(np.uint32)
    with new_store(folder) as draft:
        with _collector_paused():
            tally = _write_ids(draft, corpus, tokenizers, settings, dtype, threads, report)
        if tally.pairs == 0:
            raise ManyheadsError(
                f"no usable pair is left: {tally.empty:,} have an empty side, {tally.too_long:,} are too long.",
                where=corpus.origin(),
                cure="Check the files, or raise data.max_length.",
            )
        facts = {"version": VERSION, "dtype": dtype.name, "origin": corpus.origin(), "tally": asdict(tally)}
        write_facts(draft, facts)
    return facts


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause Python's search for cycles: lists of ids have none, and looking for them takes as long as tokenising."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _write_ids(
    draft: Path,
    corpus: Corpus,
    tokenizers: Tokenizers,
    settings: DataSettings,
    dtype: IdType,
    threads: int,
    report: Report | None,
) -> Tally:
    """Tokenise the corpus chunk by chunk and append the ids and their offsets to the files."""
    tally = Tally()
    writers = {side: _Writer(draft, side, dtype) for side in _SIDES}
    try:
        for numbers, pairs in _chunks(corpus.numbered()):
            sources, targets = zip(*pairs, strict=True)
            source = tokenizers.source.encode_all(sources, threads=threads)
            target = tokenizers.target.encode_all(targets, threads=threads)
            kept = _accept(_lengths(source), _lengths(target), numbers, settings, tally)
            writers["source"].write(source, kept, longest=settings.max_length)
            writers["target"].write(target, kept, longest=settings.max_length)
            if report:
                report(numbers[-1])
    finally:
        for writer in writers.values():
            writer.close()
    return tally


def _lengths(sequences: list[list[int]]) -> NDArray[np.int64]:
    """Return the lengths of sequences."""
    return np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))


def _accept(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    numbers: Sequence[int],
    settings: DataSettings,
    tally: Tally,
) -> NDArray[np.bool_]:
    """Decide by their lengths [chunk] which pairs are stored, and count why others are not."""
    empty = np.minimum(source, target) == 0
    longest = np.maximum(source, target)
    too_long = ~empty & (longest > settings.max_length)
    if empty.any():
        tally.empty += int(empty.sum())
        tally.first_empty = tally.first_empty or numbers[int(empty.argmax())]
    if too_long.any():
        first = int(too_long.argmax())
        tally.too_long += int(too_long.sum())
        tally.first_too_long = tally.first_too_long or numbers[first]
        if settings.too_long == "stop":
            raise ManyheadsError(
                f"line {numbers[first]:,} has {longest[first]:,} tokens; at most {settings.max_length:,} are allowed.",
                where="data.max_length",
                cure="Raise data.max_length, or set data.too_long to skip or truncate.",
            )
    kept: NDArray[np.bool_] = ~(empty | too_long) if settings.too_long == "skip" else ~empty
    tally.pairs += int(kept.sum())
    return kept


def require_possible_targets(stores: Iterable[Store], longest_target: Callable[[int], int | None]) -> None:
    """Raise an error for a target that a model cannot write, since it writes only so much for a source of its length.

    `longest_target` says how much that is, the end token counted on both sides; None for any length.
    """
    for store in stores:
        source, target = store.lengths("source"), store.lengths("target")
        for length in np.unique(source).tolist():
            most, longest = longest_target(length), int(target[source == length].max())
            if most is None:
                return
            if longest > most:
                raise ManyheadsError(
                    f"a source of {length:,} tokens has a target of {longest:,}, and this model writes at most "
                    f"{most:,} for it (end tokens counted): a Neural GPU on a sequence longer than its image.",
                    where=store.origin,
                    cure="Raise model.shortest or model.stretch.",
                )


class _Writer:
    """Appends sequences of ids to a side's files."""

    def __init__(self, folder: Path, side: Side, dtype: IdType) -> None:
        self._ids: BinaryIO = (folder / f"{side}.ids").open("wb")
        self._offsets: BinaryIO = (folder / f"{side}.offsets").open("wb")
        self._dtype = dtype
        self._written = 0
        self._offsets.write(np.zeros(1, dtype=np.int64).tobytes())

    def write(self, sequences: list[list[int]], kept: NDArray[np.bool_], *, longest: int) -> None:
        """Append the sequences that are kept, cut to the longest length; the end token is added here."""
        chosen: Iterable[list[int]] = itertools.compress(sequences, kept.tolist())
        rows = [ids if len(ids) <= longest else ids[:longest] for ids in chosen]
        lengths = _lengths(rows)
        ends = (lengths + 1).cumsum()
        flat = np.full(int(ends[-1]) if rows else 0, END, dtype=self._dtype)
        inside = np.ones(len(flat), dtype=bool)
        inside[ends - 1] = False
        flat[inside] = np.fromiter(itertools.chain.from_iterable(rows), dtype=self._dtype, count=int(lengths.sum()))
        self._ids.write(flat.tobytes())
        self._offsets.write((self._written + ends).tobytes())
        self._written += len(flat)

    def close(self) -> None:
        """Close both files."""
        self._ids.close()
        self._offsets.close()


def _chunks(pairs: Iterator[tuple[int, Pair]]) -> Iterator[tuple[Sequence[int], Sequence[Pair]]]:
    """Yield at most `CHUNK` pairs at a time, and their numbers."""
    while chunk := list(itertools.islice(pairs, CHUNK)):
        numbers, these = zip(*chunk, strict=True)
        yield numbers, these
