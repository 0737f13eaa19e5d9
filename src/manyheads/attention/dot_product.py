"""Scaled dot-product attention, equation (1) of the paper:

    Attention(Q, K, V) = softmax(QKᵀ / √d_k + M) · V

Without the division, dot products of wide vectors grow like √d_k and push the softmax to where its gradients vanish
(section 3.2.1). The mask M is added after the scaling. Two paths give the same output: the fused kernel, used
whenever nobody asked for the weights, and `weights`, which is the equation line by line.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.masks import Mask


class DotProductAttention(nn.Module):
    """Full attention: every query looks at every key that its mask allows."""

    def __init__(self, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout  # of the weights; the paper has none, other toolkits do

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] over keys and values [B, H, S, Dh].

        A query that may see no key at all gets zeros.
        """
        square = queries.shape[-2] == keys.shape[-2]
        causal = mask.causal and mask.valid is None and square and queries.shape[-2] > 1
        return F.scaled_dot_product_attention(
            queries,
            keys,
            values,
            attn_mask=None if causal else mask.additive(queries, keys.shape[-2]),
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=causal,  # the kernel then skips the upper triangle instead of adding −∞ to it
        )

    def weights(self, queries: Tensor, keys: Tensor, mask: Mask) -> Tensor:
        """Return softmax(QKᵀ/√d_k + M) [B, H, T, S]; a row whose every key is masked is zero, never NaN."""
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
        forbidden = mask.additive(queries, keys.shape[-2])
        if forbidden is None:
            return scores.softmax(dim=-1)
        masked = torch.isneginf(forbidden)
        # The softmax of a row of −∞ is not a number, and neither is its gradient: let such a row see all, then nothing.
        blind = masked.all(dim=-1, keepdim=True)
        weights = (scores + forbidden.masked_fill(blind, 0.0)).softmax(dim=-1)
        return weights.masked_fill(masked, 0.0)
