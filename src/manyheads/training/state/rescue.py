"""What is saved when the folder of a running training is renamed or deleted: a run folder beside it.

Its small files are kept in memory from the start, so that training can continue from the new folder.
"""

from __future__ import annotations

from pathlib import Path

from manyheads.errors import ManyheadsError
from manyheads.runs.atomic import new_folder
from manyheads.runs.checkpoints import Progress
from manyheads.runs.checksums import tokenizer_files
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import weights_bytes
from manyheads.training.state.checkpoint import Snapshot, save_checkpoint

SMALL = ("recipe.yaml", "begun.yaml", "config.json", "held_out.json", "inputs.json")


class Rescue:
    """Watches a run's folder, and saves the state of training elsewhere if it disappears."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._identity = _identity(run.path)
        names = [*SMALL, *tokenizer_files(run.path)]
        self._files = {name: (run.path / name).read_bytes() for name in names if (run.path / name).is_file()}

    @property
    def is_needed(self) -> bool:
        """Whether the folder is no longer where it was."""
        return _identity(self._run.path) != self._identity

    def save(self, progress: Progress, snapshot: Snapshot) -> ManyheadsError:
        """Save the state in a new run folder beside the old one; return the error that says so."""
        place = self._free_place()
        with new_folder(place) as draft:
            for name, content in self._files.items():
                (draft / name).parent.mkdir(exist_ok=True)
                (draft / name).write_bytes(content)
            save_checkpoint(draft / "checkpoints", progress, snapshot)
            (draft / "model.safetensors").write_bytes(weights_bytes(snapshot.published))
        return ManyheadsError(
            f"this folder was renamed or deleted during training (step {progress.step:,}).",
            where=str(self._run.path),
            cure=f"The state of training is saved in {place}: start the same command with --out {place}, or with the "
            "folder's new name, to continue.",
        )

    def _free_place(self) -> Path:
        """Return a name beside the folder that is not taken."""
        path, number = self._run.path, 1
        while (place := path.with_name(f"{path.name}.rescued-{number}")).exists():
            number += 1
        return place


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what stays the same for as long as a folder is the same one; None if it is not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
