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

SECONDS = 10  # of processor time, which does not depend on what else the machine does
PATIENCE = 180  # seconds by the clock, after which a case that waits for something is killed
MEMORY = 10**9  # bytes of resident memory
ADDRESSES = 8 * 10**9  # bytes of address space, so that a mistake does not take the machine with it
REFUSED, WORKS, EITHER = "refused", "works", "either"
BROKEN_PIPE = 141


@dataclass(frozen=True)
class Case:
    """An input and the verb that is given it: a function that writes files into a folder and returns the arguments."""

    name: str
    verb: str
    arguments: Callable[[Path], list[str]]
    expected: str = REFUSED
    stdin: bytes = b""
    shell: str = ""  # redirections, for a case that needs a command line
    environment: dict[str, str] = field(default_factory=dict)


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
        return _by_command_line(case, words, place) if case.shell else _forked(case, words, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _forked(case: Case, words: list[str], place: Path) -> Outcome:
    """Run the command in a child of this process."""
    output, given = place / ".output", place / ".input"
    given.write_bytes(case.stdin)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _command(words, place, output, given)
    status, usage, waited = _waited(child)
    said = output.read_text("utf-8", "replace")
    return Outcome(case, status, said, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, waited)


def _command(words: list[str], place: Path, output: Path, given: Path) -> None:
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
        os.environ["TMPDIR"] = tempfile.tempdir = str(place)
        for number, mode in ((0, "r"), (1, "w"), (2, "w")):
            stream = os.fdopen(number, mode, encoding="utf-8", errors="backslashreplace" if number == 2 else "strict")
            setattr(sys, ("stdin", "stdout", "stderr")[number], stream)
        sys.argv = ["manyheads", *words]
        from manyheads.cli import main

        try:
            main()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except BaseException:
            traceback.print_exc()
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
    finally:
        os._exit(status)


def _waited(child: int) -> tuple[int, resource.struct_rusage, bool]:
    """Wait for a child, and kill it when it takes too long; return its status, what it used, and whether it was killed.

    A pipe without a writer takes no processor time, so the clock has a limit too.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        found, status, usage = os.wait4(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status), usage, False
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            _, status, usage = os.wait4(child, 0)
            return os.waitstatus_to_exitcode(status), usage, True
        time.sleep(0.005)


def _by_command_line(case: Case, words: list[str], place: Path) -> Outcome:
    """Run a command line with its redirections in a shell."""
    line = ["bash", "-c", f'"$@" {case.shell}', "bash", sys.executable, "-m", "manyheads", *words]
    environment = {**os.environ, "TMPDIR": str(place), **case.environment}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            line, input=case.stdin, capture_output=True, timeout=PATIENCE, env=environment, cwd=place, check=False
        )
        status, said, waited = done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace"), False
    except subprocess.TimeoutExpired as error:
        status, said, waited = -int(signal.SIGKILL), str(error), True
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Outcome(case, status, said, seconds, 0, waited)
