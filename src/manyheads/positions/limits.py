"""The error for sequences that are longer than a model's table of positions."""

from __future__ import annotations

from manyheads.errors import ManyheadsError


def too_long(length: int, maximum: int, *, where: str = "model.positions.maximum") -> ManyheadsError:
    """Return the error for a sequence of `length` tokens in a model with `maximum` learned positions."""
    return ManyheadsError(
        f"a sequence of {length:,} tokens is longer than the {maximum:,} positions this model learned.",
        where=where,
        cure="Shorten the text, or train with a larger maximum or with a kind that has none.",
    )
