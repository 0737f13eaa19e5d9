"""What keeps the time and the memory bounded that a document takes: a greatest length."""

from __future__ import annotations

from manyheads.errors import ManyheadsError


def require_length(text: str, kind: str, *, most: int) -> None:
    """Raise an error for a document of more characters than are read."""
    if len(text) > most:
        raise ManyheadsError(
            f"this {kind} has {len(text):,} characters, and at most {most:,} are read.",
            cure="Divide it into several files.",
        )
