"""The bench, where a study is carried out: whatever is not recorded yet is measured, and all of it gives the result.

In the folder of a study, `records/KEY.json` is the record of an item, and `runs/KEY` what the item left behind. A study
that was killed goes on where it was stopped. Every item is measured with one thread, in this process or, with several
at a time, in processes of their own, so that its numbers do not depend on what runs beside it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from manyheads.bounded.files import MOST_RECORDS, read_bytes
from manyheads.bounded.json_text import parse_json
from manyheads.errors import ManyheadsError
from manyheads.inspection.figures.canvas import load_matplotlib
from manyheads.runs.atomic import explained, remove_leftovers, write_file
from manyheads.runs.claim import claimed
from manyheads.studies.report import Entry, Result, write_report
from manyheads.studies.study import I, Item, Measured, Study
from manyheads.training.progress import duration

Tell = Callable[[str], None]


def run_study(
    study: Study[I], *, quick: bool = False, out: Path | None = None, parallel: int = 1, tell: Tell = print
) -> Result:
    """Measure what is not recorded yet, and return and write what the study concludes.

    Args:
        study: The study.
        quick: Whether to measure the small grid.
        out: The folder of the study. By default `studies/NAME`, or `studies/NAME-quick`.
        parallel: How many items are measured at a time, each by a process with one thread.
        tell: Called with a line for every item that is measured.
    """
    load_matplotlib()
    folder = Path(out or Path("studies") / (f"{study.name}-quick" if quick else study.name))
    items = study.items(quick=quick)
    assert len({item.key for item in items}) == len(items), "two items of a study have the same key"
    with claimed(folder):
        records = Records(folder)
        records.prepare()
        missing = [item for item in items if records.read(item) is None]
        progress = Progress(len(items), len(items) - len(missing), parallel, tell)
        for item, seconds in _measured(study, missing, records, parallel):
            progress.add(item, seconds)
        entries = [entry for entry in map(records.read, items) if entry is not None]
        measured = [Measured(item, entry.record) for item, entry in zip(items, entries, strict=True)]
        result = Result(study.name, study.question, quick, tuple(entries), study.conclude(measured))
        write_report(result, folder)
    return result


@dataclass(frozen=True)
class Records:
    """The records in the folder of a study."""

    folder: Path

    def prepare(self) -> None:
        """Create the folder of the records, and remove what killed processes left in it."""
        with explained(self._records):
            self._records.mkdir(parents=True, exist_ok=True)
        remove_leftovers(self._records, r".+\.json")

    def read(self, item: Item) -> Entry | None:
        """Return the record of an item with the seconds that it took; None if there is none yet."""
        file = self._file(item)
        if not file.exists():
            return None
        try:
            entry = Entry(**parse_json(read_bytes(file, most=MOST_RECORDS)))
        except (TypeError, ValueError):
            cure = "Remove it, and it is measured again."
            raise ManyheadsError("this is not a record of a study.", where=str(file), cure=cure) from None
        if entry.item != _as_json(asdict(item)):
            what = "this is a record of another study, or of other settings."
            raise ManyheadsError(what, where=str(file), cure="Choose another folder with --out.")
        return entry

    def measure(self, study: Study[I], item: I) -> float:
        """Measure an item with one thread and keep its record; return the seconds that it took."""
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        begin = time.perf_counter()
        try:
            record = study.measure(item, self.folder / "runs" / item.key)
        finally:
            torch.set_num_threads(threads)
        entry = Entry(_as_json(asdict(item)), _as_json(record), round(time.perf_counter() - begin, 3))
        write_file(self._file(item), json.dumps(asdict(entry), ensure_ascii=False, indent=1) + "\n")
        return entry.seconds

    @property
    def _records(self) -> Path:
        """The folder of the records."""
        return self.folder / "records"

    def _file(self, item: Item) -> Path:
        """Return where the record of an item is kept."""
        return self._records / f"{item.key}.json"


class Progress:
    """Tells how many items are measured, and how long the others will take."""

    def __init__(self, total: int, done: int, parallel: int, tell: Tell) -> None:
        self._total, self._done, self._parallel, self._tell = total, done, parallel, tell
        self._seconds: list[float] = []
        if done:
            tell(f"{done} of {total} are measured already")

    def add(self, item: Item, seconds: float) -> None:
        """Tell that an item was measured."""
        self._done += 1
        self._seconds.append(seconds)
        left = (self._total - self._done) * sum(self._seconds) / len(self._seconds) / self._parallel
        parts = [f"{self._done} of {self._total}", item.key, duration(seconds), f"about {duration(left)} left"]
        self._tell(" · ".join(parts if self._done < self._total else parts[:-1]))


def _measured(study: Study[I], items: Sequence[I], records: Records, parallel: int) -> Iterator[tuple[I, float]]:
    """Measure items; yield each with its seconds when it is recorded."""
    if parallel == 1 or len(items) < 2:
        for item in items:
            yield item, records.measure(study, item)
        return
    with _processes(min(parallel, len(items))) as pool:
        waiting = {pool.submit(records.measure, study, item): item for item in items}
        for done in as_completed(waiting):
            yield waiting[done], done.result()


@contextmanager
def _processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """Yield processes, which begin nothing new when the block ends with an error."""
    context = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_end_with_parent)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """Let this process end when the one that started it is killed, which would otherwise leave it waiting for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        """Wait for the end of the parent."""
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _as_json(value: object) -> Any:  # noqa: ANN401
    """Return a value as it is when it has been written to JSON and read again."""
    return json.loads(json.dumps(value))
