"""How fast training goes: tokens per second and seconds per step, validations not counted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Adds up updates, and forgets the pauses between them."""

    def __init__(self) -> None:
        self._begin = self._lap_begin = time.perf_counter()
        self._steps = self._tokens = 0
        self._lap_loss = 0.0
        self._lap_tokens = 0
        self.recent_loss = float("nan")

    def add(self, loss: float, tokens: int) -> None:
        """Count one update with its mean loss over so many target tokens."""
        self._steps += 1
        self._tokens += tokens
        self._lap_loss += loss * tokens
        self._lap_tokens += tokens
        self.recent_loss = self._lap_loss / self._lap_tokens

    def lap(self) -> dict[str, float]:
        """Return mean loss and speed since the last lap, and begin a new one."""
        now = time.perf_counter()
        facts = {
            "loss": round(self._lap_loss / self._lap_tokens, 5),
            "tokens_per_second": round(self._lap_tokens / (now - self._lap_begin), 1),
        }
        self._lap_begin, self._lap_loss, self._lap_tokens = now, 0.0, 0
        return facts

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count the time inside the block."""
        begin = time.perf_counter()
        yield
        spent = time.perf_counter() - begin
        self._begin += spent
        self._lap_begin += spent

    def tokens_per_second(self) -> float:
        """Return the speed so far."""
        return self._tokens / max(1e-9, time.perf_counter() - self._begin)

    def seconds_per_step(self) -> float:
        """Return the time an update takes."""
        return (time.perf_counter() - self._begin) / max(1, self._steps)
