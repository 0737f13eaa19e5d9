"""The log-probability of given targets: the output of `manyheads score`. The score of every search must equal it."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor

from manyheads.models.interface import SequenceToSequence, State, Tokens

Memory = TypeVar("Memory")


@torch.inference_mode()
def token_log_probabilities(
    model: SequenceToSequence[Memory, State], source: Tokens, target: Tokens, *, start: int
) -> Tensor:
    """Return log P of each target token given the source and the tokens before it [B, T]; padding is zero."""
    begin = torch.full_like(target.ids[:, :1], start)
    hidden = model.decode(torch.cat([begin, target.ids[:, :-1]], dim=1), model.encode(source)).hidden
    likely = model.logits(hidden).log_softmax(dim=-1).gather(2, target.ids[:, :, None])[:, :, 0]
    inside = torch.arange(target.ids.shape[1], device=likely.device) < target.lengths[:, None]
    return likely.masked_fill(~inside, 0.0)
