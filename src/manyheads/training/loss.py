"""Label-smoothed cross-entropy (section 5.4 of the paper), with the output layer inside.

The target distribution over K classes puts 1−ε on the true class and ε/(K−1) on every other:

    loss = −Σ_k q_k log p_k = −(1 − ε − u)·log p_true − u·Σ_k log p_k        with u = ε/(K−1), p = softmax(z)

and its gradient with respect to the logits z is p − q. The logits of a batch, tokens × vocabulary, are by far the
largest array of training. Here they exist a few hundred tokens at a time: each chunk's loss and gradients are computed
at once and the chunk is thrown away.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

CHUNK_ELEMENTS = 1 << 21  # logits at a time: 8 MB in float32, which stays near the processor's caches


def smoothed_loss(logits: Tensor, targets: Tensor, *, smoothing: float) -> Tensor:
    """Return the summed loss of logits [N, V] against true classes [N]: the equation as it stands."""
    classes = logits.shape[-1]
    other = smoothing / (classes - 1)
    log_probabilities = logits.log_softmax(dim=-1)
    truth = log_probabilities.gather(1, targets[:, None]).sum()
    return -((1.0 - smoothing - other) * truth + other * log_probabilities.sum())


def fused_loss(hidden: Tensor, vectors: Tensor, bias: Tensor | None, targets: Tensor, *, smoothing: float) -> Tensor:
    """Return the summed loss of hidden states [N, D] with logits hidden · vectorsᵀ + bias, never holding them all."""
    # Inside `apply` gradients are always off, so whether they are wanted must be asked here.
    wanted = torch.is_grad_enabled()
    loss: Tensor = _FusedLoss.apply(hidden, vectors, bias, targets, smoothing, wanted)  # type: ignore[no-untyped-call]
    return loss


class _FusedLoss(torch.autograd.Function):
    """Output layer and loss, chunk by chunk; the gradients are made on the way forward, while the logits are there."""

    @staticmethod
    def forward(
        context: Any,  # noqa: ANN401
        hidden: Tensor,
        vectors: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        smoothing: float,
        wanted: bool,
    ) -> Tensor:
        """Return the summed loss, and keep the gradients for the way back."""
        gradients = _Gradients(hidden, vectors, bias) if wanted else None
        total = hidden.new_zeros(())
        rows = max(1, CHUNK_ELEMENTS // len(vectors))
        for begin in range(0, len(hidden), rows):
            part = slice(begin, begin + rows)
            logits = F.linear(hidden[part], vectors, bias)
            loss, difference = _loss_and_difference(logits, targets[part], smoothing)
            total += loss
            if gradients is not None:
                gradients.add(part, difference)
        if gradients is not None:
            context.save_for_backward(*gradients.tensors())
        return total

    @staticmethod
    def backward(context: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        """Scale the gradients by that of the loss itself."""
        scale = upstream[0]
        hidden, vectors, *bias = (gradient.mul_(scale) for gradient in context.saved_tensors)
        return hidden, vectors, bias[0] if bias else None, None, None, None


def _loss_and_difference(logits: Tensor, targets: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Return the summed loss of logits [N, V], and p − q [N, V]."""
    other = smoothing / (logits.shape[-1] - 1)
    excess = 1.0 - smoothing - other  # of the true class over every other
    log_probabilities = logits.log_softmax(dim=-1)
    truth = log_probabilities.gather(1, targets[:, None])
    loss = -excess * truth.sum()
    if other:
        loss = loss - other * log_probabilities.sum()
    difference = log_probabilities.exp_()
    if other:
        difference.sub_(other)
    correction = truth.new_full((), -excess).expand_as(truth)
    return loss, difference.scatter_add_(1, targets[:, None], correction)


class _Gradients:
    """The gradients of the summed loss for hidden states, output vectors and bias, filled chunk by chunk."""

    def __init__(self, hidden: Tensor, vectors: Tensor, bias: Tensor | None) -> None:
        self._inputs, self._weights = hidden, vectors
        self.hidden = torch.empty_like(hidden)
        self.vectors = torch.zeros_like(vectors)
        self.bias = None if bias is None else torch.zeros_like(bias)

    def add(self, part: slice, difference: Tensor) -> None:
        """Take a chunk's p − q [N, V] into account."""
        torch.mm(difference, self._weights, out=self.hidden[part])
        torch.addmm(self.vectors, difference.t(), self._inputs[part], out=self.vectors)
        if self.bias is not None:
            self.bias.add_(difference.sum(dim=0))

    def tensors(self) -> list[Tensor]:
        """Return the gradients there are."""
        return [gradient for gradient in (self.hidden, self.vectors, self.bias) if gradient is not None]
