"""Scaled dot-product attention, equation (1) of the paper:

    Attention(Q, K, V) = softmax(QKᵀ / √d_k + M) · V

Without the division, the dot products of wide vectors grow like √d_k and push the softmax into regions where its
gradients vanish (section 3.2.1). The mask M is added after the scaling. There are two implementations with the same
output: `weights` is the equation line by line; a fused kernel, which never holds the weights, is used where they are
large and not recorded.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from manyheads.attention.masks import Mask
from manyheads.attention.mechanism import Mechanism, weighted_sum
from manyheads.positions.interface import AttentionPositions, distances_of

# The number of keys up to which the equation was measured to be faster on a CPU than the fused kernel, forward and
# backward. In bfloat16 the backward pass of the kernel is slow: at 256 keys it takes 2.3 times as long.
SHORT, SHORT_IN_BFLOAT16 = 48, 256


class DotProductAttention(Mechanism):
    """Full attention: every query attends to every key that the mask allows."""

    def __init__(self, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout  # of the weights; other toolkits have it, the paper does not

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] over keys and values [B, H, S, Dh].

        The output of a query whose keys are all masked is zero.
        """
        dropout = self.dropout if self.training else 0.0
        if positions is not None or _is_short(keys):
            weights = self.weights(queries, keys, mask, positions)
            weights = F.dropout(weights, dropout) if dropout else weights
            return weighted_sum(weights, values, positions)
        if mask.causal and mask.valid is None and mask.reach is None and queries.shape[-2] == keys.shape[-2]:
            # This way the kernel skips the upper triangle instead of adding −∞ to it.
            return F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout, is_causal=True)
        additive = mask.additive(queries, keys.shape[-2])
        bias, fully_masked = (None, None) if additive is None else (additive.bias, additive.fully_masked)
        outputs = F.scaled_dot_product_attention(queries, keys, values, attn_mask=bias, dropout_p=dropout)
        return outputs if fully_masked is None else outputs.masked_fill(fully_masked, 0.0)

    def weights(self, queries: Tensor, keys: Tensor, mask: Mask, positions: AttentionPositions | None = None) -> Tensor:
        """Return softmax(QKᵀ/√d_k + M) [B, H, T, S]; a row whose keys are all masked is zero, never NaN.

        Positions add their term to the scores.
        """
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
        if positions is not None:
            scores = scores + positions.scores(queries, keys, distances_of(scores))
        additive = mask.additive(queries, keys.shape[-2])
        if additive is None:
            return scores.softmax(dim=-1)
        weights = (scores + additive.bias).softmax(dim=-1)
        return weights if additive.fully_masked is None else weights.masked_fill(additive.fully_masked, 0.0)


def _is_short(keys: Tensor) -> bool:
    """Return whether the equation is faster than the fused kernel for keys [B, H, S, Dh]."""
    short = SHORT_IN_BFLOAT16 if keys.dtype == torch.bfloat16 else SHORT
    return keys.device.type == "cpu" and keys.shape[-2] <= short
