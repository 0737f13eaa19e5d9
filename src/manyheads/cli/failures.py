"""What no reader refuses, as a sentence: memory that is not there, a system that says no, a mistake of this program.

A user sees a sentence with a cure. The traceback is kept in a file, which is named, for debugging.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback

from manyheads.errors import ManyheadsError
from manyheads.extras import MissingPackageError, missing_package

REFUSED = 2  # the exit status of everything that a user can correct
MISTAKEN = 1  # that of a mistake of this program
_NO_MEMORY = (
    "can't allocate memory",
    "cannot allocate memory",
    "failed to allocate",
    "out of memory",
    "bad_alloc",
    "invalid buffer size",
)
_TOO_LARGE = ("storage size calculation overflow", "size calculation overflowed", "would be greater than", "too large")
SMALLER = "Give it less at a time: a shorter text, a smaller batch, beam or model."


def explained(error: Exception) -> tuple[ManyheadsError, int]:
    """Return the error that the user reads for an exception, and the exit status."""
    if isinstance(error, ManyheadsError):
        return error, REFUSED
    if name := missing_package(error):
        return MissingPackageError(name), REFUSED
    if isinstance(error, UnicodeEncodeError):
        return _not_encodable(error), REFUSED
    if isinstance(error, OSError):
        what = f"this cannot be read or written: {error.strerror or error}."
        return ManyheadsError(what, where=_shown(error.filename)), REFUSED
    kept = _kept(error)
    if isinstance(error, RecursionError):
        return ManyheadsError("something is nested too deeply.", cure=f"Nest it less. {kept}"), REFUSED
    if isinstance(error, MemoryError | OverflowError) or _is_refused_allocation(error):
        return ManyheadsError("there is not enough memory for this.", cure=f"{SMALLER} {kept}"), REFUSED
    what = f"this is a mistake of this program ({type(error).__name__}: {_first_line(error)})."
    return ManyheadsError(what, cure=f"Please report it. {kept}"), MISTAKEN


def _not_encodable(error: UnicodeEncodeError) -> ManyheadsError:
    """Return the error for a text that is no text: a half of a character, or bytes in another encoding."""
    if any("\ud800" <= character <= "\udfff" for character in error.object[error.start : error.end]):
        return ManyheadsError(
            "a text is not UTF-8, or has half of a character (a lone surrogate).",
            cure="Give it in UTF-8: write it into a file and convert that with iconv.",
        )
    return ManyheadsError(
        f"the output has characters that {error.encoding} does not have.",
        where="standard output",
        cure="Set PYTHONIOENCODING=utf-8.",
    )


def _is_refused_allocation(error: Exception) -> bool:
    """Whether PyTorch, NumPy or CTranslate2 raised an error because memory was not there."""
    said = str(error).lower()
    return isinstance(error, RuntimeError | ValueError) and any(words in said for words in (*_NO_MEMORY, *_TOO_LARGE))


def _kept(error: Exception) -> str:
    """Write the traceback into a file; return the sentence that names it."""
    try:
        handle, name = tempfile.mkstemp(prefix="manyheads-", suffix=".traceback.txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{sys.argv}\n" + "".join(traceback.format_exception(error)))
    except OSError:
        return "With --debug, the traceback is shown."
    return f"The traceback is in {name}."


def _first_line(error: Exception) -> str:
    """Return the beginning of what an exception says."""
    lines = str(error).splitlines()
    return lines[0][:200] if lines else "no message"


def _shown(name: object) -> str | None:
    """Return the beginning of a file's name."""
    return None if name is None else os.fsdecode(name)[:200] if isinstance(name, str | bytes) else str(name)
