"""The attention masks, as the model itself applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from manyheads.attention.masks import Mask
from manyheads.inspection.figures.canvas import drawing_style, matrix, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def masks_figure(*, length: int = 8, padding: int = 2) -> Figure:
    """Draw the padding mask, the look-ahead mask and both, for `length` tokens of which the last are `padding`."""
    lengths = torch.tensor([length - padding])
    masks = {
        "padding": Mask.padding(lengths, length),
        "look-ahead": Mask(causal=True),
        "both": Mask.padding(lengths, length, causal=True),
    }
    with drawing_style():
        figure = new_figure(9.0, 3.4)
        for axes, (name, mask) in zip(figure.subplots(1, len(masks)), masks.items(), strict=True):
            allowed = mask.dense(length, length)
            assert allowed is not None
            # `largest` above 1, so that the cells are lighter than the labels.
            matrix(axes, allowed.expand(1, 1, length, length)[0, 0].numpy(), largest=1.4)
            axes.set(title=name, xlabel="key", ylabel="query", xticks=range(length), yticks=range(length))
        figure.suptitle(f"who may look at whom: {length} tokens, the last {padding} of them padding (dark: allowed)")
    return figure
