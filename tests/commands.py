"""The command, run by tests: inside this process and outside it, with recipes that are changed for the occasion."""

from __future__ import annotations

import io
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

PATIENCE = 120  # seconds until something that ought to happen at once is called a failure


@dataclass(frozen=True)
class Result:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    def refuses(self, *words: str) -> str:
        """Check that the command told a user's mistake in a sentence, with all the words; return the sentence."""
        assert "Traceback" not in self.err, self.err
        assert self.code == 2, (self.code, self.err)
        assert self.err.count("error: ") == 1, self.err
        sentence = self.err[self.err.index("error: ") + len("error: ") :]
        assert sentence.rstrip()[-1] not in ",:;", sentence
        for word in words:
            assert word in sentence, f"{word!r} is not in: {sentence}"
        return sentence

    def succeeds(self, *words: str) -> str:
        """Check that the command ended well and said all the words to the user; return what it said."""
        assert self.code == 0, (self.code, self.err)
        for word in words:
            assert word in self.err, f"{word!r} is not in: {self.err}"
        return self.err


def run_inside(*arguments: object, stdin: str | bytes = "") -> Result:
    """Run the command in this process, as `main` would; an exception that reaches the top counts as status 1."""
    from manyheads.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    given = stdin.encode() if isinstance(stdin, str) else stdin
    before = sys.argv, sys.stdin
    sys.argv = ["manyheads", *map(str, arguments)]
    sys.stdin = io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
    code: object = 0
    try:
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main()
            except SystemExit as end:
                code = end.code or 0
            except Exception:
                traceback.print_exc()
                code = 1
    finally:
        sys.argv, sys.stdin = before
    assert isinstance(code, int)
    return Result(code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())


def run_outside(*arguments: object, stdin: str | bytes = "", **settings: Any) -> Result:
    """Run the real command in a process of its own."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    words = [sys.executable, "-m", "manyheads", *map(str, arguments)]
    done = subprocess.run(words, input=given, capture_output=True, timeout=PATIENCE, **settings)
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def verbs(words: tuple[str, ...] = (), found: Any = None) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every verb with its words, groups too."""
    import typer
    from typer.core import TyperGroup

    from manyheads.cli.app import app

    found = found or typer.main.get_command(app)
    yield words, found
    if isinstance(found, TyperGroup):
        context = typer.Context(found)
        for name in found.list_commands(context):
            yield from verbs((*words, name), found.get_command(context, name))


def laid_over(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with dotted changes, such as {"training.steps": 5}; a change to None removes the key."""
    result = deepcopy(dict(values))
    for key, value in changes.items():
        *path, last = key.split(".")
        place = result
        for part in path:
            place = place.setdefault(part, {})
        if value is None:
            place.pop(last, None)
        else:
            place[last] = value
    return result
