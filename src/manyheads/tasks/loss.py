"""Label-smoothed cross-entropy (section 5.4 of the paper), with the output layer inside.

The target distribution over K classes puts 1−ε on the true class and ε/(K−1) on every other:

    loss = −Σ_k q_k log p_k = −(1 − ε − u)·log p_true − u·Σ_k log p_k        with u = ε/(K−1), p = softmax(z)

and its gradient with respect to the logits z is p − q. The logits of a batch, tokens × vocabulary, are by far the
largest array of training. Here they exist a few hundred tokens at a time: each chunk's loss and gradients are computed
at once and the chunk is thrown away. Inside a chunk, the gradient overwrites the logits a few rows at a time, which
stay in the processor's cache meanwhile; products of whole chunks are faster than products of a few rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

Criterion = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""From logits and targets to the summed loss and its gradient with respect to the logits."""

CHUNK_BYTES = 1 << 23  # of logits at a time: two million in float32
FEWEST_BYTES = 1 << 10  # of a class's logits at a time, 256 rows in float32: each chunk adds to all vectors' gradients
TILE_ELEMENTS = 1 << 18  # logits whose gradient is computed at a time: 1 MB in float32, which stays in the cache


def smoothed_loss(logits: Tensor, targets: Tensor, *, smoothing: float) -> Tensor:
    """Return the summed loss of logits [N, V] against true classes [N]: the equation as it stands."""
    classes = logits.shape[-1]
    other = smoothing / (classes - 1)
    log_probabilities = logits.log_softmax(dim=-1)
    truth = log_probabilities.gather(1, targets[:, None]).sum()
    return -((1.0 - smoothing - other) * truth + other * log_probabilities.sum())


def fused_loss(hidden: Tensor, vectors: Tensor, bias: Tensor | None, targets: Tensor, *, smoothing: float) -> Tensor:
    """Return the summed loss of hidden states [N, D] with logits hidden · vectorsᵀ + bias, never holding them all."""
    return chunked_loss(hidden, vectors, bias, targets, partial(loss_and_difference, smoothing=smoothing))


def chunked_loss(hidden: Tensor, vectors: Tensor, bias: Tensor | None, targets: Tensor, criterion: Criterion) -> Tensor:
    """Return the summed loss of hidden states [N, …, D] against classes [N], a few of the N at a time.

    The criterion sees logits [n, …, V] and targets [n], and returns their summed loss and its gradient [n, …, V].
    """
    # Inside `apply` gradients are always off, so whether they are wanted must be asked here.
    wanted = torch.is_grad_enabled()
    loss: Tensor = _ChunkedLoss.apply(hidden, vectors, bias, targets, criterion, wanted)  # type: ignore[no-untyped-call]
    return loss


class _ChunkedLoss(torch.autograd.Function):
    """Output layer and loss, chunk by chunk; the gradients are made on the way forward, while the logits are there."""

    @staticmethod
    def forward(
        context: Any,  # noqa: ANN401
        hidden: Tensor,
        vectors: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        criterion: Criterion,
        wanted: bool,
    ) -> Tensor:
        """Return the summed loss, and keep the gradients for the way back."""
        # Under autocast the factors of the products are short; losses and sums are as long as the weights.
        short = _factor_dtype(hidden)
        inputs, weights, offset = hidden.to(short), vectors.to(short), None if bias is None else bias.to(short)
        gradients = _Gradients(hidden, vectors, bias, inputs, weights) if wanted else None
        total = vectors.new_zeros(())
        copies = math.prod(hidden.shape[1:-1])
        logit_bytes = copies * inputs.element_size()  # of a row and a class
        rows = max(FEWEST_BYTES // logit_bytes, CHUNK_BYTES // (len(vectors) * logit_bytes), 1)
        for begin in range(0, len(hidden), rows):
            part = slice(begin, begin + rows)
            logits = F.linear(inputs[part], weights, offset)
            few = max(TILE_ELEMENTS // (len(vectors) * copies), 1)
            for tile, classes in zip(torch.split(logits, few), torch.split(targets[part], few), strict=True):
                loss, slope = criterion(tile.to(vectors.dtype), classes)
                total += loss
                if gradients is not None:
                    tile.copy_(slope)
            if gradients is not None:
                gradients.add(part, logits)
        if gradients is not None:
            context.save_for_backward(*gradients.tensors())
        return total

    @staticmethod
    def backward(context: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        """Scale the gradients by that of the loss itself."""
        scale = upstream[0]
        hidden, vectors, *bias = (gradient.mul_(scale) for gradient in context.saved_tensors)
        return hidden, vectors, bias[0] if bias else None, None, None, None


def _factor_dtype(hidden: Tensor) -> torch.dtype:
    """Return the type of the factors in matrix products: that of the hidden states, or autocast's where it is on."""
    kind = hidden.device.type
    if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):
        return torch.get_autocast_dtype(kind)
    return hidden.dtype


def loss_and_difference(logits: Tensor, targets: Tensor, *, smoothing: float) -> tuple[Tensor, Tensor]:
    """Return the summed loss of logits [n, V] against true classes [n], and its gradient p − q [n, V].

    One exponential per logit is enough: log p = z − log Σ exp z, and with p the last term follows from any class. That
    of the largest p is taken, which is never too small for its logarithm.
    """
    classes = logits.shape[-1]
    other = smoothing / (classes - 1)
    probabilities, true = logits.softmax(dim=-1), targets[:, None]
    log_sums = logits.amax(dim=-1, keepdim=True) - probabilities.amax(dim=-1, keepdim=True).log()
    loss = -(1.0 - smoothing - other) * (logits.gather(1, true) - log_sums).sum()
    if other:
        loss = loss - other * (logits.sum() - classes * log_sums.sum())
    return loss, _less_truth(probabilities, true, smoothing=smoothing, other=other)


def difference_in_place(log_probabilities: Tensor, targets: Tensor, *, smoothing: float) -> tuple[Tensor, Tensor]:
    """Return the summed loss of log p [n, …, V] against true classes [n, …], and p − q, written over log p."""
    other = smoothing / (log_probabilities.shape[-1] - 1)
    true = targets[..., None]
    loss = -(1.0 - smoothing - other) * log_probabilities.gather(-1, true).sum()
    if other:
        loss = loss - other * log_probabilities.sum()
    return loss, _less_truth(log_probabilities.exp_(), true, smoothing=smoothing, other=other)


def _less_truth(probabilities: Tensor, true: Tensor, *, smoothing: float, other: float) -> Tensor:
    """Return p − q, written over p [n, …, V], for true classes [n, …, 1]."""
    if other:
        probabilities.sub_(other)
    excess = probabilities.new_full((), -(1.0 - smoothing - other)).expand_as(true)
    return probabilities.scatter_add_(-1, true, excess)


class _Gradients:
    """The gradients of the summed loss for hidden states, output vectors and bias, filled chunk by chunk."""

    def __init__(self, hidden: Tensor, vectors: Tensor, bias: Tensor | None, inputs: Tensor, weights: Tensor) -> None:
        """Prepare gradients of `hidden`, `vectors` and `bias`; the first two are multiplied as `inputs`, `weights`."""
        self._inputs, self._weights = inputs, weights
        self.hidden = torch.empty_like(hidden)
        self.vectors = torch.zeros_like(vectors)
        self.bias = None if bias is None else torch.zeros_like(bias)

    def add(self, part: slice, slope: Tensor) -> None:
        """Take the gradient of a chunk's logits [n, …, V] into account, in the type of the factors."""
        slope = slope.flatten(0, -2)
        if self.bias is not None:
            self.bias.add_(slope.sum(dim=0, dtype=self.bias.dtype))
        hidden, inputs = self.hidden[part].flatten(0, -2), self._inputs[part].flatten(0, -2)
        if slope.dtype == hidden.dtype == self.vectors.dtype:
            torch.mm(slope, self._weights, out=hidden)
            torch.addmm(self.vectors, slope.t(), inputs, out=self.vectors)
        else:
            hidden.copy_(slope @ self._weights)
            self.vectors.add_(slope.t() @ inputs)

    def tensors(self) -> list[Tensor]:
        """Return the gradients there are."""
        return [gradient for gradient in (self.hidden, self.vectors, self.bias) if gradient is not None]
