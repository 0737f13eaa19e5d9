"""Checkpoints: everything needed to continue exactly as if training had not been interrupted.

A checkpoint is a folder, `checkpoints/step-00001000/`, with the weights, Adam's moments, the moving average if there is
one, what is carried from update to update, and `state.json`, which also holds the checksums of all. It appears
only when it is complete and on the disk; older ones are removed only after that. The random numbers of an update follow
from the seed and the step, so there is no generator to save, and the place in the data is a number of batches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from manyheads.errors import ManyheadsError
from manyheads.runs.atomic import new_folder, remove_folder
from manyheads.runs.checkpoints import (
    AVERAGE,
    CARRIED,
    MODEL,
    OPTIMISER,
    STATE,
    Progress,
    checkpoint_folder,
    checkpoint_folders,
    published_file,
    read_state,
    saved_steps,
    state_text,
    verify,
)
from manyheads.runs.weights import Arrays, read_weights, weights_bytes


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
    if not folder.parent.is_dir():  # it would be made, with nothing else in it
        raise ManyheadsError("this folder is no longer there.", where=str(folder.parent))
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
        (draft / STATE).write_text(state_text(progress, sums), encoding="utf-8")
    return place


def published_weights(folder: Path) -> Arrays:
    """Return the weights of a checkpoint that are validated and published; damaged ones raise an error."""
    return read_weights(published_file(folder))


def load_checkpoint(folder: Path) -> Checkpoint:
    """Read a checkpoint; a damaged one raises an error that names the file."""
    progress, sums = read_state(folder)
    for name in {MODEL, OPTIMISER, *sums}:
        verify(folder / name, sums)
    average = read_weights(folder / AVERAGE) if AVERAGE in sums else None
    carried = read_weights(folder / CARRIED) if CARRIED in sums else {}
    snapshot = Snapshot(read_weights(folder / MODEL), read_weights(folder / OPTIMISER), average, carried)
    return Checkpoint(progress, snapshot, folder)


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


def prune_checkpoints(folder: Path, *, keep: set[int]) -> None:
    """Remove all checkpoints except those of the steps to keep."""
    for step in saved_steps(folder):
        if step not in keep:
            remove_folder(checkpoint_folder(folder, step))
