"""Scaled dot-product attention, equation (1) of the paper:

    Attention(Q, K, V) = softmax(QKᵀ / √d_k + M) · V

Without the division, dot products of wide vectors grow like √d_k and push the softmax to where its gradients vanish
(section 3.2.1). The mask M is added after the scaling. Two paths give the same output: `weights`, which is the equation
line by line, and a fused kernel that never holds the weights, used where they are large and nobody asked for them.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from manyheads.attention.masks import Mask
from manyheads.attention.mechanism import Mechanism, weighted_sum
from manyheads.positions.interface import AttentionPositions, distances_of

# Keys up to which the equation is faster on a processor than the fused kernel, forward and backward, as measured. In
# bfloat16 the kernel's backward pass is slow: at 256 keys it takes 2.3 times as long.
SHORT, SHORT_IN_BFLOAT16 = 48, 256


class DotProductAttention(Mechanism):
    """Full attention: every query looks at every key that its mask allows."""

    def __init__(self, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout  # of the weights; the paper has none, other toolkits do

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] over keys and values [B, H, S, Dh].

        A query that may see no key at all gets zeros.
        """
        dropout = self.dropout if self.training else 0.0
        if positions is not None or _is_short(keys):
            weights = self.weights(queries, keys, mask, positions)
            weights = F.dropout(weights, dropout) if dropout else weights
            return weighted_sum(weights, values, positions)
        if mask.causal and mask.valid is None and queries.shape[-2] == keys.shape[-2]:
            # The kernel then skips the upper triangle instead of adding −∞ to it.
            return F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout, is_causal=True)
        additive = mask.additive(queries, keys.shape[-2])
        bias, fully_masked = (None, None) if additive is None else (additive.bias, additive.fully_masked)
        outputs = F.scaled_dot_product_attention(queries, keys, values, attn_mask=bias, dropout_p=dropout)
        return outputs if fully_masked is None else outputs.masked_fill(fully_masked, 0.0)

    def weights(self, queries: Tensor, keys: Tensor, mask: Mask, positions: AttentionPositions | None = None) -> Tensor:
        """Return softmax(QKᵀ/√d_k + M) [B, H, T, S]; a row whose every key is masked is zero, never NaN.

        Relative positions add their term to the scores.
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
    """Whether the equation takes less time than the fused kernel for keys [B, H, S, Dh]."""
    short = SHORT_IN_BFLOAT16 if keys.dtype == torch.bfloat16 else SHORT
    return keys.device.type == "cpu" and keys.shape[-2] <= short
