"""Token ids on disk: built once from a corpus, keyed by content, memory-mapped for training.

A store is a folder: for each side the ids of all sentences one after the other (`source.ids`), where each begins
(`source.offsets`), and `store.json` with what was left out. Each sequence ends with the end token. The folder is named
by a hash of the corpus, the tokenizers and the settings that matter, so a stale store is never read; it appears under
that name only when it is complete.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from manyheads.config.schema import DataSettings
from manyheads.data.corpora import Corpus
from manyheads.data.pairs import Pair
from manyheads.data.tokenizers import END, Tokenizers
from manyheads.errors import ManyheadsError

VERSION = 1  # of the format; part of the key
CHUNK = 20_000  # pairs tokenised at once: enough to keep threads busy, little enough to bound memory

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

    def __init__(self, folder: Path) -> None:
        facts = json.loads((folder / "store.json").read_text(encoding="utf-8"))
        self.folder = folder
        self.tally = Tally(**facts["tally"])
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


def cache_folder() -> Path:
    """Return where stores are kept: `MANYHEADS_CACHE`, or the user's cache folder."""
    base = os.environ.get("MANYHEADS_CACHE")
    if base:
        return Path(base)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "manyheads"


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
    if not (folder / "store.json").exists():
        _build(folder, corpus, tokenizers, settings, threads=threads, report=report)
    return Store(folder)


def _build(
    folder: Path,
    corpus: Corpus,
    tokenizers: Tokenizers,
    settings: DataSettings,
    *,
    threads: int,
    report: Report | None,
) -> None:
    """Write a store beside its place and move it there when it is complete."""
    draft = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    largest = max(len(tokenizers.source), len(tokenizers.target))
    dtype: IdType = np.dtype(np.uint16) if largest <= 1 << 16 else np.dtype(np.uint32)
    try:
        draft.mkdir(parents=True)
        tally = _write_ids(draft, corpus, tokenizers, settings, dtype, threads, report)
        if tally.pairs == 0:
            raise ManyheadsError(
                f"no usable pair is left: {tally.empty:,} have an empty side, {tally.too_long:,} are too long.",
                where=corpus.origin(),
                cure="Check the files, or raise data.max_length.",
            )
        facts = {"version": VERSION, "dtype": dtype.name, "origin": corpus.origin(), "tally": asdict(tally)}
        (draft / "store.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        if not folder.exists():  # another process may have been faster
            draft.rename(folder)
    except OSError as error:
        raise ManyheadsError(
            f"the token store cannot be written: {error.strerror or error}.",
            where=str(folder.parent),
            cure="Make room, or point MANYHEADS_CACHE at another disk.",
        ) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


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
        for chunk in _chunks(corpus.numbered()):
            encoded = zip(
                (number for number, _ in chunk),
                tokenizers.source.encode_all([pair.source for _, pair in chunk], threads=threads),
                tokenizers.target.encode_all([pair.target for _, pair in chunk], threads=threads),
                strict=True,
            )
            for number, source, target in encoded:
                if _accept(source, target, number, settings, tally):
                    writers["source"].add(source[: settings.max_length])
                    writers["target"].add(target[: settings.max_length])
            for writer in writers.values():
                writer.flush()
            if report:
                report(chunk[-1][0])
    finally:
        for writer in writers.values():
            writer.close()
    return tally


def _accept(source: list[int], target: list[int], number: int, settings: DataSettings, tally: Tally) -> bool:
    """Decide whether a pair is stored, and count why not."""
    if not source or not target:
        tally.empty += 1
        tally.first_empty = tally.first_empty or number
        return False
    longest = max(len(source), len(target))
    if longest > settings.max_length:
        tally.too_long += 1
        tally.first_too_long = tally.first_too_long or number
        if settings.too_long == "stop":
            raise ManyheadsError(
                f"line {number:,} has {longest:,} tokens; at most {settings.max_length:,} are allowed.",
                where="data.max_length",
                cure="Raise data.max_length, or set data.too_long to skip or truncate.",
            )
        if settings.too_long == "skip":
            return False
    tally.pairs += 1
    return True


class _Writer:
    """Appends sequences of ids to a side's files."""

    def __init__(self, folder: Path, side: Side, dtype: IdType) -> None:
        self._ids: BinaryIO = (folder / f"{side}.ids").open("wb")
        self._offsets: BinaryIO = (folder / f"{side}.offsets").open("wb")
        self._dtype = dtype
        self._pending: list[list[int]] = []
        self._written = 0
        self._offsets.write(np.zeros(1, dtype=np.int64).tobytes())

    def add(self, ids: list[int]) -> None:
        """Take one more sequence; the end token is added here."""
        self._pending.append([*ids, END])

    def flush(self) -> None:
        """Write what was added since the last time."""
        lengths = np.fromiter(map(len, self._pending), dtype=np.int64, count=len(self._pending))
        flat = np.fromiter(itertools.chain.from_iterable(self._pending), dtype=self._dtype, count=int(lengths.sum()))
        self._ids.write(flat.tobytes())
        self._offsets.write((self._written + lengths.cumsum()).tobytes())
        self._written += int(lengths.sum())
        self._pending.clear()

    def close(self) -> None:
        """Close both files."""
        self._ids.close()
        self._offsets.close()


def _chunks(pairs: Iterator[tuple[int, Pair]]) -> Iterator[list[tuple[int, Pair]]]:
    """Yield the numbered pairs in lists of at most `CHUNK`."""
    while chunk := list(itertools.islice(pairs, CHUNK)):
        yield chunk
