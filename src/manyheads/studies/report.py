"""What a study leaves in its folder: `result.json`, `table.md`, `figure.png` and `figure.svg`."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from manyheads.inspection.figures.canvas import FORMATS, save
from manyheads.runs.atomic import write_file
from manyheads.runs.card import versions
from manyheads.studies.conclusion import Conclusion
from manyheads.studies.drawing import conclusion_figure


@dataclass(frozen=True)
class Entry:
    """An item of a study and its record, both as JSON, and the seconds that it took."""

    item: dict[str, Any]
    record: dict[str, Any]
    seconds: float


@dataclass(frozen=True)
class Environment:
    """What the numbers may depend on besides the study."""

    machine: str = field(default_factory=platform.machine)
    manyheads: str = field(default_factory=lambda: versions()["manyheads"])
    torch: str = field(default_factory=lambda: versions()["torch"])


@dataclass(frozen=True)
class Result:
    """A study that was carried out."""

    study: str
    question: str
    quick: bool
    entries: tuple[Entry, ...]
    conclusion: Conclusion

    @property
    def command(self) -> str:
        """The command that gives this result."""
        return f"manyheads study {self.study}{' --quick' if self.quick else ''}"

    def to_json(self) -> dict[str, Any]:
        """Return everything as values of JSON."""
        return {
            "study": self.study,
            "question": self.question,
            "command": self.command,
            "quick": self.quick,
            "environment": asdict(Environment()),
            "seconds": round(sum(entry.seconds for entry in self.entries), 1),
            "conclusion": asdict(self.conclusion),
            "entries": [asdict(entry) for entry in self.entries],
        }

    def __str__(self) -> str:
        tables = "\n".join(table.markdown() for table in self.conclusion.tables)
        return f"{tables}\n{' '.join(self.conclusion.sentences)}\n"


def write_report(result: Result, folder: Path) -> None:
    """Write a result into the folder of its study."""
    write_file(folder / "result.json", json.dumps(result.to_json(), ensure_ascii=False, indent=1) + "\n")
    write_file(folder / "table.md", f"# {result.question}\n\n{result}\n`{result.command}`\n")
    figure = conclusion_figure(result.conclusion)
    for suffix in FORMATS:
        save(figure, folder / f"figure{suffix}")
