"""The speed of training: tokens per second, fraction of the machine's peak, seconds per step, without validations."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Measures the time of updates, without the pauses between them."""

    def __init__(self, *, peak: float | None = None) -> None:
        """Start the watch; `peak` is the machine's peak in FLOPs per second, if it is known."""
        self._peak = peak
        self._begin = self._lap_begin = time.perf_counter()
        self._steps = self._tokens = 0
        self._flops = 0.0
        self._lap_loss = self._lap_flops = 0.0
        self._lap_tokens = self._lap_steps = 0
        self.recent_loss = float("nan")

    def add(self, loss: float, tokens: int, flops: float = 0.0) -> None:
        """Add one update: its mean loss over `tokens` tokens, and its FLOPs, 0 if they are not known."""
        self._steps += 1
        self._tokens += tokens
        self._flops += flops
        self._lap_loss += loss * tokens
        self._lap_tokens += tokens
        self._lap_steps += 1
        self._lap_flops += flops
        self.recent_loss = self._lap_loss / self._lap_tokens

    def lap(self) -> dict[str, float]:
        """Return mean loss, speed and (if the peak is known) utilisation since the last lap, and start a new lap."""
        now = time.perf_counter()
        spent = now - self._lap_begin
        facts = {
            "loss": round(self._lap_loss / self._lap_tokens, 5),
            "tokens_per_second": round(self._lap_tokens / spent, 1),
            "seconds_per_step": round(spent / self._lap_steps, 4),
        }
        if self._peak is not None and self._lap_flops:
            facts["utilisation"] = round(self._lap_flops / (spent * self._peak), 4)
        self._lap_begin, self._lap_loss, self._lap_flops = now, 0.0, 0.0
        self._lap_tokens = self._lap_steps = 0
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
        """Return the mean speed so far."""
        return self._tokens / max(1e-9, time.perf_counter() - self._begin)

    def seconds_per_step(self) -> float:
        """Return the mean time of an update."""
        return (time.perf_counter() - self._begin) / max(1, self._steps)

    def utilisation(self) -> float | None:
        """Return the fraction of the peak reached so far, or None if the peak or the FLOPs are not known."""
        if self._peak is None or not self._flops:
            return None
        return self._flops / (max(1e-9, time.perf_counter() - self._begin) * self._peak)

    def speed(self) -> str:
        """Return the speed so far as text: 3,400 tokens/s · 62 % of peak."""
        share = self.utilisation()
        of_peak = "" if share is None else f" · {100 * share:.0f} % of peak"
        return f"{self.tokens_per_second():,.0f} tokens/s{of_peak}"
