"""Computing without some heads: an intervention that shows what they are worth (Michel et al. 2019, Voita et al. 2019).

    with switch_off(model, {"decoder.layers.0.cross_attention": [1, 4]}):
        model.decode(target, model.encode(source))

The outputs of these heads are zeros inside the block, as if their columns of W_O were zero. Their weights are still
recorded. Blocks may be nested: a head is off as long as it is off in any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from torch import nn

from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.errors import ManyheadsError, did_you_mean


@contextmanager
def switch_off(model: nn.Module, heads: Mapping[str, Sequence[int]]) -> Iterator[None]:
    """Replace the outputs of chosen heads by zeros during the block.

    Args:
        model: A model with multi-head attention.
        heads: The heads, counted from 1, by the name of their attention, as `record_attention` has it.

    Raises:
        ManyheadsError: If the model has no such attention, or the attention no such head.
    """
    parts = {name: part for name, part in model.named_modules() if isinstance(part, MultiHeadAttention)}
    chosen = {name: _indices(parts, name, numbers) for name, numbers in heads.items()}
    earlier = {name: parts[name].switched_off for name in chosen}
    try:
        for name, indices in chosen.items():
            parts[name].switched_off = earlier[name] | indices
        yield
    finally:
        for name, indices in earlier.items():
            parts[name].switched_off = indices


def _indices(parts: Mapping[str, MultiHeadAttention], name: str, numbers: Sequence[int]) -> frozenset[int]:
    """Return the indices of heads that are counted from 1; raise an error if there is no such head."""
    if name not in parts:
        raise ManyheadsError(
            f"this model has no multi-head attention '{name}'.", where="heads", cure=did_you_mean(name, parts)
        )
    count = parts[name].heads
    for number in numbers:
        if not 1 <= number <= count:
            raise ManyheadsError(
                f"there is no head {number}.", where=name, cure=f"Heads are counted from 1: it has {count}."
            )
    return frozenset(number - 1 for number in numbers)
