"""A contender in a process of its own, which answers each request with a line of JSON."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any


class WorkerProcess:
    """A process, and what it answered first."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], *, quiet: bool = False) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
            text=True,
            env=dict(environment),
        )
        self.ready = self._answer()

    def ask(self, request: str) -> dict[str, Any]:
        """Send one request and wait for its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(request + "\n")
        self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):  # some toolkits log to standard output
                answer: dict[str, Any] = json.loads(line)
                return answer
        raise RuntimeError(f"the worker ended with status {self._process.wait()}")
