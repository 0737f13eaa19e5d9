"""Output files named by a user: never one of the inputs, and an existing file only with the user's consent."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from manyheads.errors import ManyheadsError

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an output file that exists, without asking.")]


def output_file(path: Path | None, *, inputs: Iterable[Path | str | None] = (), overwrite: bool) -> None:
    """Raise an error if a file cannot or should not be written; call this before computing its contents.

    `inputs` are the inputs of the same command: files, folders of files, and paths that begin with `data:`.
    """
    if path is None:
        return
    if not path.exists():
        if not path.parent.is_dir():
            raise ManyheadsError("this cannot be written: there is no such folder.", where=str(path))
        return
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "a device or a pipe"
        raise ManyheadsError(f"this is {kind}, not a file.", where=str(path), cure="Choose another name.")
    if any(_reads(given, path) for given in inputs if given is not None):
        raise ManyheadsError(
            "this file is one of the inputs and would be overwritten.", where=str(path), cure="Choose another name."
        )
    if path.stat().st_size and not overwrite:  # an empty file can be replaced
        _ask(path)


def _reads(given: Path | str, path: Path) -> bool:
    """Whether an input is this file or a folder that contains it, under any name or link."""
    from manyheads.data.text.files import resolve

    place = resolve(str(given))
    files = place.iterdir() if place.is_dir() else [place]
    return any(file.exists() and file.samefile(path) for file in files)


def _ask(path: Path) -> None:
    """Ask whether to overwrite a file; without a terminal, raise an error."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ManyheadsError(
            "this file exists already.", where=str(path), cure="Choose another name, or add --overwrite."
        )
    if not typer.confirm(f"{path} exists already. Overwrite it?", err=True):
        raise ManyheadsError("this file was not overwritten.", where=str(path), cure="Choose another name.")
