"""Linear attention (Katharopoulos et al. 2020): the simplest kernel, φ(x) = elu(x) + 1.

Features are as wide as a head and positive, so weights are. It has no softmax's sharpness: no weight can be far larger
than its neighbours'.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from manyheads.attention.kernel import Features, KernelAttention


class LinearAttention(KernelAttention):
    """Similarity (elu(q) + 1)·(elu(k) + 1)."""

    def query_features(self, queries: Tensor) -> Tensor:
        """Return φ(q), as wide as the head."""
        return _elu_plus_one(queries)

    def key_features(self, keys: Tensor) -> Features:
        """Return φ(k), as wide as the head."""
        return Features(_elu_plus_one(keys))


def _elu_plus_one(vectors: Tensor) -> Tensor:
    """Return elu(x) + 1."""
    return _EluPlusOne.apply(vectors)


class _EluPlusOne(torch.autograd.Function):
    """elu(x) + 1, whose derivative is the smaller of itself and 1, so nothing else need be remembered."""

    @staticmethod
    def forward(context: Any, vectors: Tensor) -> Tensor:  # noqa: ANN401
        """Compute it."""
        features = F.elu(vectors).add_(1.0)
        context.save_for_backward(features)
        return features

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> Tensor:  # noqa: ANN401
        """Multiply by its derivative."""
        (features,) = context.saved_tensors
        return gradients[0] * features.clamp(max=1.0)
