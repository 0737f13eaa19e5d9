"""Checkpoints: everything needed to go on exactly as if nothing had happened.

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
    """Where training stands: updates done, batches seen, the best score and when, validations since without a better.

    How many batches an update takes may change between two sessions, with the number of processes, so both are counted.
    """

    step: int = 0
    batches: int = 0
    best_step: int | None = None
    best_score: float | None = None
    without_improvement: int = 0
    scores: dict[str, float] = field(default_factory=dict)  # of validated steps; JSON has no keys but texts
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Snapshot:
    """Everything that learning has changed.

    That is the weights, Adam's moments, the moving average where one is kept, and what an objective carries from one
    update to the next.
    """

    model: Arrays
    optimiser: Arrays
    average: Arrays | None = None
    carried: Arrays = field(default_factory=dict)

    @property
    def published(self) -> Arrays:
        """The weights that are judged and published."""
        return self.model if self.average is None else self.average


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read and found intact."""

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
    """Return the weights of a checkpoint that are judged and published; damaged ones are an error, as in loading."""
    _, sums = _read_state(folder)
    name = AVERAGE if AVERAGE in sums else MODEL
    _verify(folder / name, sums)
    return read_weights(folder / name)


def checkpoint_folders(folder: Path) -> list[Path]:
    """Return the checkpoints of a run, oldest first."""
    found = [path for path in folder.glob("step-*") if re.fullmatch(r"step-\d+", path.name)]
    return sorted(found, key=lambda path: int(path.name.removeprefix("step-")))


def load_checkpoint(folder: Path) -> Checkpoint:
    """Read a checkpoint; a damaged one is an error that says which file is wrong."""
    progress, sums = _read_state(folder)
    for name in {MODEL, OPTIMISER, *sums}:
        _verify(folder / name, sums)
    average = read_weights(folder / AVERAGE) if AVERAGE in sums else None
    carried = read_weights(folder / CARRIED) if CARRIED in sums else {}
    snapshot = Snapshot(read_weights(folder / MODEL), read_weights(folder / OPTIMISER), average, carried)
    return Checkpoint(progress, snapshot, folder)


def _read_state(folder: Path) -> tuple[Progress, dict[str, str]]:
    """Return where training stood at a checkpoint, and the checksums of its other files by name."""
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
    """Return the newest checkpoint that is intact; `tell` hears of each damaged one that was passed over."""
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
            cure="Restore one from a backup, or start anew in another folder (--out).",
        )
    return None


def saved_steps(folder: Path) -> list[int]:
    """Return the steps of a run's checkpoints, in order."""
    return [int(place.name.removeprefix("step-")) for place in checkpoint_folders(folder)]


def checkpoint_folder(folder: Path, step: int) -> Path:
    """Return where the checkpoint of a step is kept."""
    return folder / f"step-{step:08d}"


def prune_checkpoints(folder: Path, *, keep: set[int]) -> None:
    """Remove the checkpoints of all steps but those to keep."""
    for step in saved_steps(folder):
        if step not in keep:
            remove_folder(checkpoint_folder(folder, step))
