"""Whether the attention weights of a text fit into memory: their number grows with the square of its tokens.

What does not fit is refused before anything is computed. A single layer takes a fraction of all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import nn

from manyheads.bounded.machine import as_bytes, usable_memory
from manyheads.errors import ManyheadsError
from manyheads.inspection.kinds import Kind, attention_names

Only = tuple[Kind, int]
"""A kind of attention and one layer of it, counted from 1."""

COPIES = 4  # of the weights: as they are computed, recorded, put together, and drawn or written
WEIGHT_BYTES = 4  # of a float32
SHARE = 0.5  # of the memory; the rest is for the model and everything else


def chosen_names(model: nn.Module, only: Only | None) -> dict[Kind, list[str]]:
    """Return the module names of a model's attentions of each kind, or of one layer only."""
    names = attention_names(model)
    return names if only is None else {only[0]: [names[only[0]][only[1] - 1]]}


def require_room(model: nn.Module, sizes: Mapping[Kind, tuple[int, int]], *, only: Only | None = None) -> None:
    """Raise an error if the weights of a text do not fit; `sizes` has the queries and the keys of each kind."""
    parts = dict(model.named_modules())
    numbers = {
        name: getattr(parts[name], "heads", 1) * sizes[kind][0] * sizes[kind][1]
        for kind, names in chosen_names(model, only).items()
        if kind in sizes
        for name in names
    }
    needed = COPIES * WEIGHT_BYTES * sum(numbers.values())
    there = usable_memory()
    if there is None or needed <= SHARE * there:
        return
    tokens = max(max(size) for size in sizes.values())
    one = COPIES * WEIGHT_BYTES * max(numbers.values(), default=0)
    cure = "Look at a shorter text."
    if only is None and one <= SHARE * there:
        cure = f"One layer takes {as_bytes(one)}: choose it with --kind and --layer, or look at a shorter text."
    raise ManyheadsError(
        f"the attention weights of {tokens:,} tokens would take {as_bytes(needed)} of memory, and this machine has "
        f"{as_bytes(there)}.",
        where="text",
        cure=cure,
    )
