"""A hostile case, run by the command in a process of its own, within limits on its time and memory.

The process is forked from one that has imported the package, so that hundreds of cases take seconds; a case about the
streams of a process is run by a command line instead.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SECONDS = 10  # of processor time, which does not depend on what else the machine does
PATIENCE = 180  # seconds by the clock, after which a case that waits for something is killed
MEMORY = 10**9  # bytes of resident memory
ADDRESSES = 8 * 10**9  # bytes of address space, so that a mistake does not take the machine with it
REFUSED, WORKS, EITHER = "refused", "works", "either"
BROKEN_PIPE = 141
LARGEST_ANSWER = 10**6  # bytes of an answer of the server


@dataclass(frozen=True)
class Case:
    """An input and the verb that is given it: a function that writes files into a folder and returns the arguments."""

    name: str
    verb: str
    arguments: Callable[[Path], list[str]]
    expected: str = REFUSED
    stdin: bytes = b""
    shell: str = ""  # redirections, for a case that needs a command line
    environment: dict[str, str] = field(default_factory=dict)  # PLACE is the folder of the case
    patience: float = PATIENCE
    request: Callable[[Any], Any] | None = None  # to a server of the run that the arguments name, by a test client


@dataclass(frozen=True)
class Outcome:
    """What became of a case: the exit status (negative for a signal), what it said, its time and its memory."""

    case: Case
    status: int
    said: str
    seconds: float
    memory: int
    waited: bool = False

    @property
    def problems(self) -> list[str]:
        """What is bad about it; empty if it was refused or done as it should be."""
        found = []
        if "Traceback (most recent" in self.said:
            found.append("traceback")
        if "mistake of this program" in self.said:
            found.append("unforeseen")
        if self.status < 0 and not self.waited:
            found.append(f"killed by {signal.Signals(-self.status).name}")
        if self.seconds > SECONDS or self.waited:
            found.append("hang")
        if self.memory > MEMORY:
            found.append("memory")
        if self.case.expected == REFUSED and self.status == 0:
            found.append("accepted")
        if self.case.expected == WORKS and self.status != 0:
            found.append("refused")
        if self.status not in (0, 2, BROKEN_PIPE) and not found:
            found.append(f"status {self.status}")
        if self.status == 2 and not any(word in self.said for word in ("error: ", "Error", "Usage")):
            found.append("no sentence")
        return found


def run(case: Case) -> Outcome:
    """Run a case in a folder of its own, which is removed."""
    place = Path(tempfile.mkdtemp(prefix="hostile-"))
    try:
        words = case.arguments(place)
        environment = {name: value.replace("PLACE", str(place)) for name, value in case.environment.items()}
        run_one = _by_command_line if case.shell else _forked
        return run_one(case, words, place, {"TMPDIR": str(place), **environment})
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _forked(case: Case, words: list[str], place: Path, environment: dict[str, str]) -> Outcome:
    """Run the command in a child of this process."""
    output, given = place / ".output", place / ".input"
    given.write_bytes(case.stdin)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.environ.update(environment)
        _command(case, words, place, output, given)
    status, usage, waited = _waited(child, case.patience)
    said = output.read_text("utf-8", "replace")
    return Outcome(case, status, said, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, waited)


def _command(case: Case, words: list[str], place: Path, output: Path, given: Path) -> None:
    """Run the command in this process, and end it."""
    status = 1
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (2 * SECONDS, 2 * SECONDS))
        os.dup2(os.open(given, os.O_RDONLY), 0)
        target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(target, 1)
        os.dup2(target, 2)
        os.chdir(place)
        tempfile.tempdir = str(place)
        for number, mode in ((0, "r"), (1, "w"), (2, "w")):
            stream = os.fdopen(number, mode, encoding="utf-8", errors="backslashreplace" if number == 2 else "strict")
            setattr(sys, ("stdin", "stdout", "stderr")[number], stream)
        sys.argv = ["manyheads", *words]
        from manyheads.cli import main

        try:
            status = main() or 0 if case.request is None else _answered(case, words)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except BaseException:
            traceback.print_exc()
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
    finally:
        os._exit(status)


def _answered(case: Case, words: list[str]) -> int:
    """Send a request to a server with these options; return 0 for an answer, 2 for a refusal, 1 for anything else."""
    from starlette.testclient import TestClient

    from manyheads.serving.app import create_app
    from manyheads.serving.directions import Direction, Directions
    from manyheads.serving.options import ServerOptions

    run, *rest = words
    options = ServerOptions(**{name: value for name, _, value in (word.partition("=") for word in rest)})
    app = create_app(Directions(list(Direction.from_argument(run))), options)
    assert case.request is not None
    with TestClient(app, base_url="http://localhost:5000") as client:
        answer = case.request(client)
        print(f"{answer.status_code} {answer.text[:1000]}")
        if len(answer.content) > LARGEST_ANSWER:
            print(f"the answer has {len(answer.content):,} bytes")
            return 1
    if 400 <= answer.status_code < 500:
        print(f"error: {answer.json()['error']}")
        return 2
    return 0 if answer.status_code == 200 else 1


def _waited(child: int, patience: float) -> tuple[int, resource.struct_rusage, bool]:
    """Wait for a child, and kill it when it takes too long; return its status, what it used, and whether it was killed.

    A pipe without a writer takes no processor time, so the clock has a limit too. Time in which this process itself was
    stopped does not count.
    """
    left, before = patience, time.monotonic()
    while True:
        found, status, usage = os.wait4(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status), usage, False
        if left < 0:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # each case has a process group of its own
            _, status, usage = os.wait4(child, 0)
            return os.waitstatus_to_exitcode(status), usage, True
        time.sleep(0.005)
        before, passed = time.monotonic(), time.monotonic() - before
        left -= min(passed, 1.0)


def _by_command_line(case: Case, words: list[str], place: Path, environment: dict[str, str]) -> Outcome:
    """Run a command line with its redirections in a shell."""
    line = ["bash", "-c", f'"$@" {case.shell}', "bash", sys.executable, "-m", "manyheads", *words]
    given, output = place / ".input", place / ".output"
    given.write_bytes(case.stdin)
    with given.open("rb") as stdin, output.open("wb") as stdout:
        process = subprocess.Popen(
            line,
            stdin=stdin,
            stdout=stdout,
            stderr=stdout,
            env={**os.environ, **environment},
            cwd=place,
            start_new_session=True,
        )
    status, usage, waited = _waited(process.pid, case.patience)
    process.returncode = status
    said = output.read_text("utf-8", "replace")
    return Outcome(case, status, said, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, waited)
