"""R-Drop (Liang et al. 2021): the same batch under two dropout masks should give the same predictions.

Every batch passes the model twice. Dropout makes two different models of it, with predictions p₁ and p₂ of the same
token, which are drawn together by the symmetric Kullback–Leibler divergence. With CE the smoothed cross-entropy and
KL(p‖q) = Σ_k p_k·(log p_k − log q_k),

    loss = ½·(CE(p₁) + CE(p₂)) + α/4·(KL(p₁‖p₂) + KL(p₂‖p₁))

This is half of the paper's equation, CE(p₁) + CE(p₂) + α/2·(KL(p₁‖p₂) + KL(p₂‖p₁)), because a token counts once here
though it is seen twice: α means what it means in the paper, and α = 0 is the plain loss, averaged over two passes.

With g = log p₁ − log p₂, the gradients of KL(p₁‖p₂) + KL(p₂‖p₁) with respect to the logits are

    p₁·(g − KL(p₁‖p₂)) + p₁ − p₂        of the first pass, and
    p₂·(−g − KL(p₂‖p₁)) + p₂ − p₁       of the second: the same with the passes exchanged.
"""

from __future__ import annotations

from functools import partial

from torch import Tensor

from manyheads.tasks.loss import chunked_loss, difference_in_place


def r_drop_loss(
    hidden: Tensor, vectors: Tensor, bias: Tensor | None, targets: Tensor, *, smoothing: float, alpha: float
) -> Tensor:
    """Return the summed loss of the hidden states [N, 2, D] of two passes, without ever holding all of their logits."""
    criterion = partial(loss_and_gradient, smoothing=smoothing, alpha=alpha)
    return chunked_loss(hidden.contiguous(), vectors, bias, targets, criterion)


def loss_and_gradient(logits: Tensor, targets: Tensor, *, smoothing: float, alpha: float) -> tuple[Tensor, Tensor]:
    """Return the summed loss of two passes' logits [n, 2, V] against true classes [n], and its gradient [n, 2, V]."""
    log_probabilities = logits.log_softmax(dim=-1)
    divergence, pull = _divergence_and_pull(log_probabilities)
    twice = targets[:, None].expand(-1, 2)
    loss, difference = difference_in_place(log_probabilities, twice, smoothing=smoothing)
    return 0.5 * loss + 0.25 * alpha * divergence, difference.mul_(0.5).add_(pull, alpha=0.25 * alpha)


def _divergence_and_pull(log_probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """Return the summed KL(p₁‖p₂) + KL(p₂‖p₁) of log-probabilities [n, 2, V], and its gradient for their logits."""
    probabilities = log_probabilities.exp()
    gap = log_probabilities - log_probabilities.flip(1)  # g for the first pass, −g for the second
    each = (probabilities * gap).sum(dim=-1, keepdim=True)  # [n, 2, 1]: KL(p₁‖p₂) and KL(p₂‖p₁)
    pull = gap.sub_(each - 1.0).mul_(probabilities).sub_(probabilities.flip(1))
    return each.sum(), pull
