"""Linear attention (Katharopoulos et al. 2020): the simplest kernel, φ(x) = elu(x) + 1.

The features have the width of a head. They are positive, and so are the weights. Weights are less peaked than with a
softmax: none can be much larger than the others.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from manyheads.attention.kernel import Features, KernelAttention


class LinearAttention(KernelAttention):
    """Attention with the similarity (elu(q) + 1)·(elu(k) + 1)."""

    def query_features(self, queries: Tensor) -> Tensor:
        """Return φ(q) [B, H, T, Dh]."""
        return _elu_plus_one(queries)

    def key_features(self, keys: Tensor) -> Features:
        """Return φ(k) [B, H, S, Dh]."""
        return Features(_elu_plus_one(keys))


def _elu_plus_one(vectors: Tensor) -> Tensor:
    """Return elu(x) + 1."""
    return _EluPlusOne.apply(vectors)


class _EluPlusOne(torch.autograd.Function):
    """y = elu(x) + 1, with the derivative min(y, 1), so that only y is saved for the backward pass."""

    @staticmethod
    def forward(context: Any, vectors: Tensor) -> Tensor:  # noqa: ANN401
        """Return elu(x) + 1."""
        features = F.elu(vectors).add_(1.0)
        context.save_for_backward(features)
        return features

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> Tensor:  # noqa: ANN401
        """Multiply by the derivative."""
        (features,) = context.saved_tensors
        return gradients[0] * features.clamp(max=1.0)
