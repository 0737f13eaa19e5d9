"""Outputs that did not come to an end, or whose limit kept a better one away, and what to say of them."""

from __future__ import annotations

from manyheads.decoding.search.hypothesis import Hypothesis


def warning_about(best: Hypothesis) -> str | None:
    """Say that an output has no end, and whether it repeats itself, or that its limit kept a better one away."""
    tokens = best.tokens
    if best.finished:
        return "a longer output would have been more probable (try a larger extra_length)" if best.limited else None
    loop = repeated_tail(tokens)
    reason = f"; it repeats the same {loop} tokens" if loop > 1 else "; it repeats the same token" if loop else ""
    return (
        f"cut off after {len(tokens)} tokens without an end{reason} (try no_repeat_ngram=3, or a larger extra_length)"
    )


def repeated_tail(tokens: list[int], *, times: int = 3) -> int:
    """Return the length of the shortest run of tokens that the end repeats at least `times` times, or 0."""
    for length in range(1, len(tokens) // times + 1):
        unit = tokens[-length:]
        if all(tokens[-(i + 1) * length : len(tokens) - i * length] == unit for i in range(times)):
            return length
    return 0
