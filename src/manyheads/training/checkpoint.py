"""Checkpoints: everything needed to go on exactly as if nothing had happened.

A checkpoint is a folder, `checkpoints/step-00001000/`, with the weights, Adam's moments and `state.json`, which also
holds the checksums of the other two. It appears only when it is complete and on the disk; older ones are removed only
after that. The random numbers of an update follow from the seed and the step, so there is no generator to save, and
the place in the data follows from the step too.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from manyheads.errors import ManyheadsError
from manyheads.runs.atomic import new_folder, remove_folder, remove_leftovers
from manyheads.runs.weights import Arrays, read_weights, weights_bytes

MODEL, OPTIMISER, STATE = "model.safetensors", "optimiser.safetensors", "state.json"


@dataclass
class Progress:
    """Where training stands: updates done, the best score so far and when, validations since without a better one."""

    step: int = 0
    best_step: int | None = None
    best_score: float | None = None
    without_improvement: int = 0
    scores: dict[str, float] = field(default_factory=dict)  # of validated steps; JSON has no keys but texts
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read and found intact."""

    progress: Progress
    model: Arrays
    optimiser: Arrays
    folder: Path


def save_checkpoint(folder: Path, progress: Progress, model: Arrays, optimiser: Arrays) -> Path:
    """Write a checkpoint; return its folder."""
    place = checkpoint_folder(folder, progress.step)
    with new_folder(place) as draft:
        sums = {}
        for name, arrays in ((MODEL, model), (OPTIMISER, optimiser)):
            content = weights_bytes(arrays)
            sums[name] = hashlib.sha256(content).hexdigest()
            (draft / name).write_bytes(content)
        state = {**asdict(progress), "sha256": sums}
        (draft / STATE).write_text(json.dumps(state, indent=2) + "\n", encoding="utf-8")
    return place


def checkpoint_folders(folder: Path) -> list[Path]:
    """Return the checkpoints of a run, oldest first."""
    found = [path for path in folder.glob("step-*") if re.fullmatch(r"step-\d+", path.name)]
    return sorted(found, key=lambda path: int(path.name.removeprefix("step-")))


def load_checkpoint(folder: Path) -> Checkpoint:
    """Read a checkpoint; a damaged one is an error that says which file is wrong."""
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        sums = state.pop("sha256")
        progress = Progress(**state)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ManyheadsError("this checkpoint's state cannot be read.", where=str(folder / STATE)) from None
    for name in (MODEL, OPTIMISER):
        try:
            content = (folder / name).read_bytes()
        except OSError:
            raise ManyheadsError("this file of the checkpoint is missing.", where=str(folder / name)) from None
        if hashlib.sha256(content).hexdigest() != sums.get(name):
            raise ManyheadsError("this file of the checkpoint is damaged.", where=str(folder / name))
    return Checkpoint(progress, read_weights(folder / MODEL), read_weights(folder / OPTIMISER), folder)


def newest_checkpoint(folder: Path, *, tell: Callable[[str], None]) -> Checkpoint | None:
    """Return the newest checkpoint that is intact; `tell` hears of each damaged one that was passed over."""
    remove_leftovers(folder)
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
