"""What can be read of a run's checkpoints without torch: their state, their checksums, and which weights they publish.

`state.json` has the progress, the checksums of the other files, and a checksum of all that. Those of version 0.1.0 have
no checksum of their own.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from manyheads.bounded.files import MOST_RECORDS, read_bytes, require_regular
from manyheads.bounded.json_text import parse_json
from manyheads.errors import ManyheadsError

MODEL, OPTIMISER, AVERAGE = "model.safetensors", "optimiser.safetensors", "average.safetensors"
CARRIED, STATE = "carried.safetensors", "state.json"
SUMS, OWN = "sha256", "checksum"  # keys of the state: the checksums of the other files, and its own

Count = Annotated[int, Field(ge=0, le=1 << 53)]
Step = Annotated[str, Field(pattern=r"^[0-9]{1,16}$")]
Sum = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass
class Progress:
    """How far training is: updates, batches, the best score and its step, and validations since then.

    The number of batches in an update depends on the number of processes, which may change when a run is resumed. So
    both updates and batches are counted.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    step: Count = 0
    batches: Count = 0
    best_step: Count | None = None
    best_score: float | None = None
    without_improvement: Count = 0
    scores: dict[Step, float] = field(default_factory=dict)  # by validated step; keys in JSON are strings
    versions: dict[str, str] = field(default_factory=dict)


def state_text(progress: Progress, sums: Mapping[str, str]) -> str:
    """Return the content of `state.json`: the progress, the checksums of the other files, and its own.

    A score that is not a number, which a diverging model may have, is left out, since JSON has none.
    """
    state: dict[str, Any] = {**asdict(progress), SUMS: dict(sums)}
    state["scores"] = {step: score for step, score in progress.scores.items() if math.isfinite(score)}
    if progress.best_score is not None and not math.isfinite(progress.best_score):
        state["best_step"] = state["best_score"] = None
    state[OWN] = _digest(state)
    return json.dumps(state, indent=2) + "\n"


def read_state(folder: Path) -> tuple[Progress, dict[str, str]]:
    """Return the progress stored in a checkpoint, and the checksums of its other files by name."""
    where = str(folder / STATE)
    try:
        state = parse_json(read_bytes(folder / STATE, most=MOST_RECORDS))
        own = state.pop(OWN, None)
        if own is not None and own != _digest(state):
            raise ManyheadsError("this checkpoint's state is damaged.", where=where)
        sums = TypeAdapter(dict[str, Sum]).validate_python(state.pop(SUMS), strict=True)
        progress = TypeAdapter(Progress).validate_json(json.dumps(state))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ValidationError):
        raise ManyheadsError("this checkpoint's state cannot be read.", where=where) from None
    if folder.name != _name(progress.step) or (progress.best_step or 0) > progress.step:
        raise ManyheadsError("this state is not that of this checkpoint.", where=where)
    return progress, sums


def verify(file: Path, sums: Mapping[str, str]) -> None:
    """Compare a file of a checkpoint with its checksum."""
    try:
        require_regular(file)
        content = file.read_bytes()
    except OSError:
        raise ManyheadsError("this file of the checkpoint is missing.", where=str(file)) from None
    if hashlib.sha256(content).hexdigest() != sums.get(file.name):
        raise ManyheadsError("this file of the checkpoint is damaged.", where=str(file))


def published_file(folder: Path) -> Path:
    """Return the file of a checkpoint with the weights that are validated and published; a damaged one is an error."""
    _, sums = read_state(folder)
    file = folder / (AVERAGE if AVERAGE in sums else MODEL)
    verify(file, sums)
    return file


def checkpoint_folders(folder: Path) -> list[Path]:
    """Return the checkpoints of a run, oldest first."""
    found = [path for path in folder.glob("step-*") if re.fullmatch(r"step-\d+", path.name)]
    return sorted(found, key=lambda path: int(path.name.removeprefix("step-")))


def saved_steps(folder: Path) -> list[int]:
    """Return the steps of a run's checkpoints, in order."""
    return [int(place.name.removeprefix("step-")) for place in checkpoint_folders(folder)]


def checkpoint_folder(folder: Path, step: int) -> Path:
    """Return the folder of a step's checkpoint."""
    return folder / _name(step)


def _name(step: int) -> str:
    """Return the name of a step's checkpoint."""
    return f"step-{step:08d}"


def _digest(state: Mapping[str, Any]) -> str:
    """Return a checksum of a state."""
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()
