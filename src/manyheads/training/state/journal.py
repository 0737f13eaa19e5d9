"""What was measured while training: `metrics.jsonl`, and the same for TensorBoard where it is installed.

When a run is resumed, the journal is truncated to the step of the checkpoint, and TensorBoard's events are rewritten
from it. Both then read as if the run had not been interrupted.
"""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from typing import Any

from manyheads.runs.atomic import explained, write_file
from manyheads.runs.folder import RunFolder

Entry = dict[str, Any]


class Journal:
    """Appends entries such as {"step": 50, "kind": "train", "loss": 4.1} to a run's files."""

    def __init__(self, run: RunFolder, *, step: int) -> None:
        """Open the journal of a run that is at `step`; later entries are removed."""
        kept = [entry for entry in run.metrics() if entry["step"] <= step]
        write_file(run.metrics_file, "".join(_line(entry) for entry in kept))
        self._place = run.metrics_file
        self._file = self._place.open("a", encoding="utf-8")
        self._events = _Events(run, kept)

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


def _line(entry: Entry) -> str:
    """Return an entry as a line of JSON."""
    return json.dumps(entry, ensure_ascii=False) + "\n"


class _Events:
    """TensorBoard's event file; does nothing if TensorBoard is not installed."""

    def __init__(self, run: RunFolder, entries: list[Entry]) -> None:
        self._writer: Any = None
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        shutil.rmtree(run.events, ignore_errors=True)
        self._writer = SummaryWriter(str(run.events))
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Write each number of an entry as a scalar."""
        if self._writer is None:
            return
        for name, value in entry.items():
            if name != "step" and isinstance(value, int | float):
                self._writer.add_scalar(f"{entry['kind']}/{name}", value, entry["step"])
        self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        if self._writer is not None:
            self._writer.close()
