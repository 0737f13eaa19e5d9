"""Damaged files of a run are found by their checksums, and repaired from copies where there are any.

`copies` has copies of the small files. The weights are those of a checkpoint, so that they can be copied
from there; where they are the mean of several, the best checkpoint takes their place.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from manyheads.errors import ManyheadsError
from manyheads.runs.atomic import explained, new_folder, write_file
from manyheads.runs.checksums import (
    CONFIG,
    FILE,
    HELD_OUT,
    INPUTS,
    TOKENIZER,
    WEIGHTS,
    checksum,
    checksum_of,
    covered,
    forget,
    read_checksums,
    tokenizer_files,
)

COPIES = "copies"
TRIES = 5  # at a file that a running training replaces again and again

Tell = Callable[[str], None]


def check_to_use(folder: Path, *, tell: Tell) -> None:
    """Check the files that make a run's model, and repair them; one that cannot be repaired is an error."""
    for name in _damaged(folder, (WEIGHTS, CONFIG, TOKENIZER), tell=tell):
        if not (_from_copy(folder, name, tell) or (name == WEIGHTS and _from_checkpoint(folder, tell))):
            raise _lost(folder, name)


def check_to_train(folder: Path, *, tell: Tell) -> None:
    """Check all files of a run that training continues from; what it can make again is put aside."""
    for name in _damaged(folder, (WEIGHTS, CONFIG, TOKENIZER, HELD_OUT, INPUTS), tell=tell):
        if _from_copy(folder, name, tell):
            continue
        if name in (WEIGHTS, CONFIG, HELD_OUT, INPUTS):
            put_aside(folder / name, "it is made again", tell=tell)
            forget(folder, name)
        else:
            raise _lost(folder, name)


def keep_copies(folder: Path) -> None:
    """Keep copies of a run's small files in its folder, unless they are there."""
    names = [name for name in (CONFIG, HELD_OUT, INPUTS, *tokenizer_files(folder)) if (folder / name).is_file()]
    contents = {name: (folder / name).read_bytes() for name in names}
    place = folder / COPIES
    if {name: checksum(one) for name, one in contents.items()} == _copies(place):
        return
    with new_folder(place) as draft:
        for name, content in contents.items():
            (draft / name).parent.mkdir(exist_ok=True)
            (draft / name).write_bytes(content)


def put_aside(path: Path, reason: str, *, tell: Tell) -> None:
    """Rename a damaged file or folder, which stays for its user, and say so."""
    aside = path.with_name(f"{path.name}.damaged-{secrets.token_hex(4)}")
    if not path.exists():
        tell(f"{path} is missing; {reason}.")
        return
    with explained(path):
        path.rename(aside)
    tell(f"{path} is damaged; {reason}, and what was there is {aside.name} now.")


def _damaged(folder: Path, names: tuple[str, ...], *, tell: Tell) -> list[str]:
    """Return which of the files, or of the files in folders of these names, are not as they were written."""
    for _ in range(TRIES):
        try:
            sums = read_checksums(folder)
        except ManyheadsError as error:
            tell(f"{error} Its files are taken as they are, and training makes new ones.")
            with suppress(OSError):  # a folder may be read by users who may not write into it
                (folder / FILE).unlink(missing_ok=True)
            return []
        wanted = {name: one for name, one in (sums or {}).items() if name.split("/")[0] in names}
        damaged = [name for name, some in wanted.items() if checksum_of(folder / name) not in some]
        if not damaged or read_checksums(folder) == sums:
            break
    if any(checksum_of(folder / name) == checksum_of(_copy(folder, name)) is not None for name in damaged):
        tell(f"{folder / FILE} is damaged: files differ from it, but not from their copies. New checksums are made.")
        with suppress(OSError):
            (folder / FILE).unlink(missing_ok=True)
        return []
    return damaged


def _copy(folder: Path, name: str) -> Path:
    """Return the place of a small file's copy."""
    return folder / COPIES / name


def _copies(place: Path) -> dict[str, str | None]:
    """Return the checksums of the copies by name."""
    return {str(path.relative_to(place)): checksum_of(path) for path in place.rglob("*") if path.is_file()}


def _from_copy(folder: Path, name: str, tell: Tell) -> bool:
    """Replace a file by a copy that has its checksum: one in `copies`, or a checkpoint's weights."""
    from manyheads.runs.checkpoints import AVERAGE, MODEL, checkpoint_folders

    wanted = (read_checksums(folder) or {})[name]
    checkpoints = folder / "checkpoints"
    places = [_copy(folder, name)]
    if name == WEIGHTS:
        places = [place / file for place in reversed(checkpoint_folders(checkpoints)) for file in (AVERAGE, MODEL)]
    for place in places:
        if checksum_of(place) in wanted:
            (folder / name).parent.mkdir(exist_ok=True)
            write_file(folder / name, place.read_bytes())
            tell(f"{folder / name} was damaged; it was restored from {place}.")
            return True
    return False


def _from_checkpoint(folder: Path, tell: Tell) -> bool:
    """Replace the weights by those of the best checkpoint that can be read, which are others."""
    from manyheads.runs.checkpoints import checkpoint_folder, checkpoint_folders, published_file, read_state

    checkpoints = folder / "checkpoints"
    for place in reversed(checkpoint_folders(checkpoints)):
        try:
            best = read_state(place)[0].best_step
            file = published_file(checkpoint_folder(checkpoints, best) if best is not None else place)
        except ManyheadsError:
            continue
        content = file.read_bytes()
        with covered(folder, {WEIGHTS: content}):
            write_file(folder / WEIGHTS, content)
        tell(f"{folder / WEIGHTS} was damaged; it is now the best checkpoint, {file}.")
        return True
    return False


def _lost(folder: Path, name: str) -> ManyheadsError:
    """Return the error for a damaged file without a copy."""
    return ManyheadsError(
        "this file is damaged, and there is no copy of it in the run.",
        where=str(folder / name),
        cure="Restore it from a backup, or train again in another folder (--out).",
    )
