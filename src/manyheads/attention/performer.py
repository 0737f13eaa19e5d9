"""Performer (Choromanski et al. 2021): softmax attention by positive orthogonal random features (FAVOR+).

    exp(q·k/√d_k) = E_w [ φ_w(q)·φ_w(k) ]        φ_w(x) = exp(w·x' − |x'|²/2),  x' = x / d_k^¼,  w ~ N(0, I)

The expectation is estimated by the mean over m vectors w; the error falls like 1/√m. Orthogonal vectors with the
lengths of Gaussian ones reduce it. During training the vectors are resampled every `redraw` steps, so that the model
cannot adapt to their errors. Each sample follows from the seed and its number, so that a resumed run has the same ones.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from manyheads.attention.kernel import Features, KernelAttention


def orthogonal_features(count: int, width: int, *, seed: int) -> Tensor:
    """Return random vectors [m, d]: blocks of d orthogonal vectors with the lengths of Gaussian vectors."""
    generator = torch.Generator("cpu").manual_seed(seed)
    # Sampled on the CPU, so that every device has the same vectors.
    exact: dict[str, Any] = {"generator": generator, "dtype": torch.float64, "device": "cpu"}
    blocks = -(-count // width)
    gaussian = torch.randn(blocks, width, width, **exact)
    orthogonal, triangular = torch.linalg.qr(gaussian)
    # These signs make the orthogonal matrices uniformly distributed.
    orthogonal = orthogonal * triangular.diagonal(dim1=-2, dim2=-1).sign()[:, None]
    directions = orthogonal.transpose(-2, -1).reshape(-1, width)[:count]
    lengths = torch.randn(count, width, **exact).norm(dim=-1, keepdim=True)
    return directions * lengths


class PerformerAttention(KernelAttention):
    """An estimate of softmax attention. Vectors are resampled every `redraw` training steps; 0 means never."""

    vectors: Tensor
    training_vectors: Tensor

    def __init__(self, head_width: int, *, features: int, redraw: int = 0, seed: int = 0) -> None:
        super().__init__()
        self.features, self.redraw, self.seed = features, redraw, seed
        self._draw = 0
        vectors = torch.empty(features, head_width).copy_(orthogonal_features(features, head_width, seed=seed))
        self.register_buffer("vectors", vectors, persistent=False)  # for inference
        self.register_buffer("training_vectors", vectors.clone(), persistent=False)  # for training

    def at_step(self, step: int) -> None:
        """Resample the vectors if the training step requires it."""
        draw = 0 if self.redraw == 0 else step // self.redraw
        if draw != self._draw:
            self._draw = draw
            seed = self.seed + 7919 * draw
            self.training_vectors.copy_(orthogonal_features(self.features, self.training_vectors.shape[1], seed=seed))

    def query_features(self, queries: Tensor) -> Tensor:
        """Return φ(q) [B, H, T, m], scaled so that the largest of each query is 1; exp(−|q'|²/2) cancels as well."""
        products = self._products(_scaled(queries))
        return (products - products.amax(dim=-1, keepdim=True).detach()).exp_()

    def key_features(self, keys: Tensor) -> Features:
        """Return φ(k) [B, H, S, m], scaled so that the largest of all keys is 1."""
        scaled = _scaled(keys)
        products, offsets = self._products(scaled), scaled.square().sum(dim=-1, keepdim=True) / 2
        largest = (products.amax(dim=-1, keepdim=True) - offsets).amax(dim=-2, keepdim=True).detach()
        return Features((products - (offsets + largest)).exp_(), largest)

    def _products(self, scaled: Tensor) -> Tensor:
        """Return w·x' [B, H, S, m]."""
        return scaled @ (self.training_vectors if self.training else self.vectors).T


def _scaled(vectors: Tensor) -> Tensor:
    """Return x' = x / d_k^¼."""
    return vectors * vectors.shape[-1] ** -0.25
