"""What was measured while training: `metrics.jsonl`, and the same for TensorBoard where it is installed.

Both are reports: a damaged one is put aside with a sentence, and nothing that becomes of them ends a training.

When a run is resumed, the journal is truncated to the step of the checkpoint, and TensorBoard's events are rewritten
from it. Both then read as if the run had not been interrupted.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from manyheads.runs.atomic import explained, write_file
from manyheads.runs.folder import RunFolder
from manyheads.runs.repair import put_aside

Entry = dict[str, Any]
Tell = Callable[[str], None]


class Journal:
    """Appends entries such as {"step": 50, "kind": "train", "loss": 4.1} to a run's files."""

    def __init__(self, run: RunFolder, *, step: int, tell: Tell) -> None:
        """Open the journal of a run that is at `step`; later entries are removed."""
        kept = [entry for entry in run.metrics() if entry["step"] <= step and isinstance(entry.get("kind"), str)]
        _put_damaged_aside(run, tell)
        write_file(run.metrics_file, "".join(_line(entry) for entry in kept))
        self._place = run.metrics_file
        self._file = self._place.open("a", encoding="utf-8")
        self._events = _Events(run, kept, tell)

    def add(self, entry: Entry) -> None:
        """Write one entry immediately."""
        with explained(self._place):
            self._file.write(_line(entry))
            self._file.flush()
            self._events.add(entry)

    def close(self) -> None:
        """Close the files; errors in writing were raised before."""
        with suppress(OSError):
            self._file.close()
        self._events.close()


def _put_damaged_aside(run: RunFolder, tell: Tell) -> None:
    """Put aside what cannot be a report of this run; the last line of a journal may be cut off by a crash."""
    for path, is_report in (
        (run.metrics_file, _is_journal),
        (run.events, Path.is_dir),
        (run.card_file, _is_text),
    ):
        if path.exists() and not is_report(path):
            put_aside(path, "it is a report, and written again", tell=tell)


def _is_journal(path: Path) -> bool:
    """Whether a file holds entries of a journal."""
    if not _is_text(path):
        return False
    *lines, _ = path.read_text(encoding="utf-8").split("\n")
    return all(map(_is_entry, lines))


def _is_text(path: Path) -> bool:
    """Whether this is a file of UTF-8, and no pipe or device."""
    try:
        return path.is_file() and "\0" not in path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def _is_entry(line: str) -> bool:
    """Whether a line is an entry of a journal."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(entry, dict) and isinstance(entry.get("step"), int) and isinstance(entry.get("kind"), str)


def _line(entry: Entry) -> str:
    """Return an entry as a line of JSON."""
    return json.dumps(entry, ensure_ascii=False) + "\n"


class _Events:
    """TensorBoard's event file; does nothing if TensorBoard is not installed."""

    def __init__(self, run: RunFolder, entries: list[Entry], tell: Tell) -> None:
        self._writer: Any = None
        self._place = run.events
        self._tell = tell
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        shutil.rmtree(run.events, ignore_errors=True)
        with self._tried():
            self._writer = SummaryWriter(str(run.events))
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Write each number of an entry as a scalar."""
        if self._writer is None:
            return
        with self._tried():
            self._check_place()
            for name, value in entry.items():
                if name != "step" and isinstance(value, int | float):
                    self._writer.add_scalar(f"{entry['kind']}/{name}", value, entry["step"])
            self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        if self._writer is not None:
            with self._tried():
                self._check_place()
                self._writer.close()

    def _check_place(self) -> None:
        """Raise an error if the folder is gone: the thread that writes into it would print a traceback."""
        if not self._place.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._place))

    @contextmanager
    def _tried(self) -> Iterator[None]:
        """Write no more events after an error of the block."""
        try:
            yield
        except OSError as error:
            self._writer = None
            self._tell(f"TensorBoard's events cannot be written: {error.strerror or error}.")
