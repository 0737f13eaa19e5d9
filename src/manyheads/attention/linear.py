"""Linear attention (Katharopoulos et al. 2020): the simplest kernel, φ(x) = elu(x) + 1.

Features are as wide as a head and positive, so weights are. It has no softmax's sharpness: no weight can be far larger
than its neighbours'.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from manyheads.attention.kernel import Features, KernelAttention


class LinearAttention(KernelAttention):
    """Similarity (elu(q) + 1)·(elu(k) + 1)."""

    def query_features(self, queries: Tensor) -> Tensor:
        """Return φ(q), as wide as the head."""
        return _positive(queries)

    def key_features(self, keys: Tensor) -> Features:
        """Return φ(k), as wide as the head."""
        return Features(_positive(keys))


def _positive(vectors: Tensor) -> Tensor:
    """Return elu(x) + 1; in place, on a copy, since elu's derivative follows from its result without an exponential."""
    return F.elu(vectors.clone(), inplace=True) + 1.0
