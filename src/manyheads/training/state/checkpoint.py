"""Checkpoints: everything needed to continue exactly as if training had not been interrupted.

A checkpoint is a folder, `checkpoints/step-00001000/`, with the weights, Adam's moments, the moving average if there is
one, what is carried from update to update, and `state.json`, which also holds the checksums of the others. It appears
only when it is complete and on the disk; older ones are removed only after that. The random numbers of an update follow
from the seed and the step, so there is no generator to save, and the place in the data is a number of batches.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from manyheads.errors import ManyheadsError
from manyheads.runs.atomic import new_folder, remove_folder
from manyheads.runs.weights import Arrays, read_weights, weights_bytes

MODEL, OPTIMISER, AVERAGE = "model.safetensors", "optimiser.safetensors", "average.safetensors"
CARRIED, STATE = "carried.safetensors", "state.json"


@dataclass
class Progress:
    """How far training is: updates, batches, the best score and its step, and validations since then.

    The number of batches in an update depends on the number of processes, which may change when a run is resumed. So
    both updates and batches are counted.
    """

    step: int = 0
    batches: int = 0
    best_step: int | None = None
    best_score: float | None = None
    without_improvement: int = 0
    scores: dict[str, float] = field(default_factory=dict)  # by validated step; keys in JSON are strings
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Snapshot:
    """Everything that training has changed.

    That is the weights, the optimiser's moments, the moving average if there is one, and the state that an objective
    carries from one update to the next.
    """

    model: Arrays
    optimiser: Arrays
    average: Arrays | None = None
    carried: Arrays = field(default_factory=dict)

    @property
    def published(self) -> Arrays:
        """The weights that are validated and published: the moving average if there is one."""
        return self.model if self.average is None else self.average


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read and verified."""

    progress: Progress
    snapshot: Snapshot
    folder: Path


def save_checkpoint(folder: Path, progress: Progress, snapshot: Snapshot) -> Path:
    """Write a checkpoint; return its folder."""
    place = checkpoint_folder(folder, progress.step)
    files = {
        MODEL: snapshot.model,
        OPTIMISER: snapshot.optimiser,
        AVERAGE: snapshot.average,
        CARRIED: snapshot.carried or None,
    }
    with new_folder(place) as draft:
        sums = {}
        for name, arrays in files.items():
            if arrays is not None:
                content = weights_bytes(arrays)
                sums[name] = hashlib.sha256(content).hexdigest()
                (draft / name).write_bytes(content)
        state = {**asdict(progress), "sha256": sums}
        (draft / STATE).write_text(json.dumps(state, indent=2) + "\n", encoding="utf-8")
    return place


def published_weights(folder: Path) -> Arrays:
    """Return the weights of a checkpoint that are validated and published; damaged ones raise an error."""
    _, sums = _read_state(folder)
    name = AVERAGE if AVERAGE in sums else MODEL
    _verify(folder / name, sums)
    return read_weights(folder / name)


def checkpoint_folders(folder: Path) -> list[Path]:
    """Return the checkpoints of a run, oldest first."""
    found = [path for path in folder.glob("step-*") if re.fullmatch(r"step-\d+", path.name)]
    return sorted(found, key=lambda path: int(path.name.removeprefix("step-")))


def load_checkpoint(folder: Path) -> Checkpoint:
    """Read a checkpoint; a damaged one raises an error that names the file."""
    progress, sums = _read_state(folder)
    for name in {MODEL, OPTIMISER, *sums}:
        _verify(folder / name, sums)
    average = read_weights(folder / AVERAGE) if AVERAGE in sums else None
    carried = read_weights(folder / CARRIED) if CARRIED in sums else {}
    snapshot = Snapshot(read_weights(folder / MODEL), read_weights(folder / OPTIMISER), average, carried)
    return Checkpoint(progress, snapshot, folder)


def _read_state(folder: Path) -> tuple[Progress, dict[str, str]]:
    """Return the progress stored in a checkpoint, and the checksums of its other files by name."""
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        sums = dict(state.pop("sha256"))
        return Progress(**state), sums
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ManyheadsError("this checkpoint's state cannot be read.", where=str(folder / STATE)) from None


def _verify(file: Path, sums: Mapping[str, str]) -> None:
    """Compare a file of a checkpoint with its checksum."""
    try:
        content = file.read_bytes()
    except OSError:
        raise ManyheadsError("this file of the checkpoint is missing.", where=str(file)) from None
    if hashlib.sha256(content).hexdigest() != sums.get(file.name):
        raise ManyheadsError("this file of the checkpoint is damaged.", where=str(file))


def newest_checkpoint(folder: Path, *, tell: Callable[[str], None]) -> Checkpoint | None:
    """Return the newest intact checkpoint; each damaged one that is skipped is reported with `tell`."""
    damaged = 0
    for place in reversed(checkpoint_folders(folder)):
        try:
            checkpoint = load_checkpoint(place)
        except ManyheadsError as error:
            damaged += 1
            tell(f"{error} Falling back to the checkpoint before it.")
            continue
        return checkpoint
    if damaged:
        raise ManyheadsError(
            f"none of the {damaged} checkpoints of this run can be read.",
            where=str(folder),
            cure="Restore one from a backup, or start again in another folder (--out).",
        )
    return None


def saved_steps(folder: Path) -> list[int]:
    """Return the steps of a run's checkpoints, in order."""
    return [int(place.name.removeprefix("step-")) for place in checkpoint_folders(folder)]


def checkpoint_folder(folder: Path, step: int) -> Path:
    """Return the folder of a step's checkpoint."""
    return folder / f"step-{step:08d}"


def prune_checkpoints(folder: Path, *, keep: set[int]) -> None:
    """Remove all checkpoints except those of the steps to keep."""
    for step in saved_steps(folder):
        if step not in keep:
            remove_folder(checkpoint_folder(folder, step))
