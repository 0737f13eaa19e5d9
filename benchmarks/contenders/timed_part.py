"""What the contenders of time_to_quality.py share: a training that was asked for, and a clock that runs with it.

    python joeynmt_trainer.py train FOLDER
    python joeynmt_trainer.py translate FOLDER

FOLDER has part.json, which says what to train on and for how long. `train` keeps weights from time to time in
FOLDER/kept/SECONDS, named after the seconds since the command was started; `translate` writes the output of each of
them for the validation source beside it. Nothing is scored while anything trains.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OUTPUT = "output.txt"


@dataclass(frozen=True)
class Part:
    """One training: its folder, its setting, its texts, and the time that it has."""

    folder: Path
    setting: str
    minutes: float
    started: float  # seconds since the epoch
    points: int  # how often weights are kept in that time
    vocabulary: int
    threads: int
    beam: int
    texts: dict[str, str]  # train and valid, each .source and .target

    @classmethod
    def read(cls, folder: Path) -> Part:
        """Read what the benchmark wrote."""
        return cls(folder=folder, **json.loads((folder / "part.json").read_text(encoding="utf-8")))

    @property
    def train(self) -> list[tuple[str, str]]:
        """The training pairs."""
        return list(zip(self.lines("train.source"), self.lines("train.target"), strict=True))

    def lines(self, name: str) -> list[str]:
        """Return the lines of a text. Only a newline ends a line."""
        return Path(self.texts[name]).read_text(encoding="utf-8").removesuffix("\n").split("\n")

    def keep(self, seconds: float) -> Path:
        """Return a new folder for weights as they were so many seconds after the start."""
        folder = self.folder / "kept" / f"{seconds:08.1f}"
        folder.mkdir(parents=True)
        return folder

    def kept(self) -> list[Path]:
        """Return the folders of weights, in the order of their times."""
        return sorted((self.folder / "kept").iterdir())

    def facts(self, **facts: Any) -> None:  # noqa: ANN401
        """Write what is worth knowing about the training, such as the number of parameters."""
        (self.folder / "facts.json").write_text(json.dumps(facts) + "\n", encoding="utf-8")


class Clock:
    """The time since the command was started: when weights are to be kept, and when it is over."""

    def __init__(self, part: Part) -> None:
        self._started, self._whole, self._points = part.started, 60 * part.minutes, part.points
        self._taken = 0

    @property
    def seconds(self) -> float:
        """Seconds since the command was started."""
        return time.time() - self._started

    @property
    def share(self) -> float:
        """The share of the time that has passed, at most 1."""
        return min(1.0, self.seconds / self._whole)

    @property
    def is_over(self) -> bool:
        """Whether the time has passed."""
        return self.share == 1.0

    def is_due(self) -> bool:
        """Whether weights are to be kept now: true once for each point."""
        point = int(self.share * self._points)
        due, self._taken = point > self._taken, point
        return due


def train_pieces(part: Part, prefix: Path, **ids: int) -> None:
    """Train a SentencePiece model on both sides of the training pairs."""
    import sentencepiece

    sentencepiece.SentencePieceTrainer.train(
        input=[part.texts["train.source"], part.texts["train.target"]],
        model_prefix=str(prefix),
        model_type="bpe",
        vocab_size=part.vocabulary,
        character_coverage=1.0,
        num_threads=part.threads,
        minloglevel=1,
        **ids,
    )


def write_lines(file: Path, lines: list[str]) -> None:
    """Write one output in each line; a line break in an output becomes a space."""
    file.write_text("".join(" ".join(line.splitlines()) + "\n" for line in lines), encoding="utf-8")


def run(train: Callable[[Part], None], translate: Callable[[Part], None]) -> None:
    """Do what the command line says."""
    verb, folder = sys.argv[1:]
    {"train": train, "translate": translate}[verb](Part.read(Path(folder)))
