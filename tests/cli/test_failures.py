"""What no reader refuses is told as a sentence, and its traceback is kept."""

import errno
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manyheads.cli.failures import MISTAKEN, REFUSED, explained
from manyheads.errors import ManyheadsError

Command = Callable[..., Any]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "not enough memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 80 bytes."), "not enough memory"),
        (OverflowError("int too large to convert to float"), "not enough memory"),
        (RecursionError("maximum recursion depth exceeded"), "nested too deeply"),
    ],
)
def test_what_memory_refuses(error: Exception, words: str):
    shown, status = explained(error)
    assert words in str(shown)
    assert status == REFUSED
    kept = Path(re.findall(r"The traceback is in (\S+)\.$", str(shown))[0])
    assert type(error).__name__ in kept.read_text()
    kept.unlink()


def test_a_mistake_of_the_program_is_called_one():
    shown, status = explained(KeyError("nothing"))
    assert "this is a mistake of this program (KeyError: 'nothing')" in str(shown)
    assert "Please report it. The traceback is in " in str(shown)
    assert status == MISTAKEN


def test_an_error_of_the_system_has_its_file():
    error = OSError(errno.ENAMETOOLONG, "File name too long", "x" * 5000)
    shown, status = explained(error)
    assert str(shown).endswith("this cannot be read or written: File name too long.")
    assert len(str(shown)) < 400
    assert status == REFUSED


def test_the_sentence_of_a_user_stays():
    error = ManyheadsError("something.", where="here")
    assert explained(error) == (error, REFUSED)


def test_a_traceback_is_kept_and_not_shown(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    import manyheads.training.resolve

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(manyheads.training.resolve, "validate", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    sentence = command("validate", "recipe.yaml").refuses("not enough memory", str(tmp_path))
    assert "Traceback" not in sentence
    assert "MemoryError" in next(tmp_path.glob("*.traceback.txt")).read_text()


def test_a_full_device():
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "manyheads", "data", "list", "--json"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == REFUSED
    sentence = "error: standard output: this cannot be written: No space left on device."
    assert done.stderr == f"{sentence} Make room, or send the output elsewhere.\n"
