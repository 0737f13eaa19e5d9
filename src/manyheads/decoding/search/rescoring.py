"""The log-probability of given targets: what `manyheads score` prints, and what every search's score must equal."""

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
    """Return log P of each target token given the source and its past [B, T]; zero where there is padding."""
    begin = torch.full_like(target.ids[:, :1], start)
    hidden = model.decode(torch.cat([begin, target.ids[:, :-1]], dim=1), model.encode(source)).hidden
    likely = model.logits(hidden).log_softmax(dim=-1).gather(2, target.ids[:, :, None])[:, :, 0]
    inside = torch.arange(target.ids.shape[1], device=likely.device) < target.lengths[:, None]
    return likely.masked_fill(~inside, 0.0)
