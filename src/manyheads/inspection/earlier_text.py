"""How much a language model reads of the piece, of its memory and of the compressed one, and how far back."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import torch

from manyheads.attention.recording import record_attention
from manyheads.inspection.kinds import attention_names
from manyheads.inspection.room import require_room
from manyheads.inspection.translating import as_array, stacked_attention
from manyheads.inspection.views import Array, rounded
from manyheads.models.interface import Places, RememberingLanguageModel

PARTS = ("segment", "memory", "compressed")
RANGES = 32  # of distances: 0, 1, 2–3, 4–7, …


@dataclass(frozen=True)
class EarlierTextView:
    """The share of its attention that each head pays to each part, and to each range of distances, over a whole text.

    The rows of `shares` [heads, 3] and of `distances` [heads, ranges] are `heads`, named layer:head; `back` [heads] is
    the mean distance. A compressed memory is at the middle of what was compressed.
    """

    tokens: int
    length: int
    heads: list[str]
    ranges: list[str]
    shares: Array
    distances: Array
    back: Array

    @property
    def title(self) -> str:
        """What a page is called."""
        return f"The memory: {self.tokens:,} tokens in pieces of {self.length:,}"

    @property
    def parts(self) -> list[str]:
        """The names of the parts."""
        return list(PARTS)

    def __str__(self) -> str:
        rows = [f"{'head':<6}{''.join(f'{part:>12}' for part in PARTS)}{'tokens back':>14}"]
        for head, shares, back in zip(self.heads, self.shares, self.back, strict=True):
            rows.append(f"{head:<6}{''.join(f'{share:12.1%}' for share in shares)}{back:14.1f}")
        return "\n".join(rows) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return this as values that can be written as JSON."""
        return {
            "tokens": self.tokens,
            "length": self.length,
            "heads": self.heads,
            "parts": self.parts,
            "ranges": self.ranges,
            "shares": rounded(self.shares),
            "distances": rounded(self.distances),
            "back": rounded(self.back),
        }

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from manyheads.inspection.fragments import earlier_text_fragment

        return earlier_text_fragment(self)


def read_earlier_text(model: RememberingLanguageModel[Any], ids: list[int], *, length: int) -> EarlierTextView:
    """Return what a model reads of its memories in a text, which it is given in pieces of `length` tokens."""
    names, memory, read = attention_names(model), None, []
    for begin in range(0, len(ids), length):
        piece = torch.tensor([ids[begin : begin + length]], device=model.output_vectors.device)
        places = model.places(piece.shape[1], memory)
        require_room(model, {"decoder": (piece.shape[1], len(places.positions))})
        with record_attention(model, [*chain(*names.values())]) as recording:
            _, memory = model.decode_piece(piece, memory)
        read.append(_sums(stacked_attention(recording, names)["decoder"], places))
    sums = np.sum(read, axis=0) / len(ids)
    shares, distances, back = np.split(sums, (len(PARTS), len(PARTS) + RANGES), axis=-1)
    last = int(np.flatnonzero(distances.any(axis=(0, 1)))[-1]) + 1
    layers, heads = sums.shape[:2]
    return EarlierTextView(
        tokens=len(ids),
        length=length,
        heads=[f"{layer}:{head}" for layer in range(1, layers + 1) for head in range(1, heads + 1)],
        ranges=["0", "1", *(f"{1 << power}–{(2 << power) - 1}" for power in range(1, RANGES))][:last],
        shares=shares.reshape(-1, len(PARTS)),
        distances=distances[..., :last].reshape(-1, last),
        back=back.flatten(),
    )


def _sums(weights: Array, places: Places) -> Array:
    """Return the attention [L, H, …] that weights [L, H, T, S] pay to each part and to each range of distances.

    After both, the last number is the sum of the distances.
    """
    positions, compressed = as_array(places.positions), as_array(places.compressed).astype(bool)
    is_part = np.stack([~compressed & (positions >= 0), ~compressed & (positions < 0), compressed])
    back = np.maximum(0, np.arange(weights.shape[2])[:, None] - positions)  # later ones have no weight
    ranges = np.frexp(np.floor(back))[1]  # 0 for 0, 1 for 1, 2 for 2 and 3, …
    return np.concatenate(
        [
            np.einsum("lhts,ps->lhp", weights, is_part),
            np.stack([(weights * (ranges == number)).sum(axis=(2, 3)) for number in range(RANGES)], axis=-1),
            (weights * back).sum(axis=(2, 3))[..., None],
        ],
        axis=-1,
    )
