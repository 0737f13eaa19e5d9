"""Muon (Jordan et al. 2024): each weight matrix is updated by an orthogonal matrix close to its momentum.

    M ← μ·M + G            U = G + μ·M  (Nesterov)            W ← W − η · 0.2·√max(rows, columns) · orthogonal(U)

An update whose singular values are all 1 changes every direction of a layer equally; Adam's updates are dominated by a
few. The factor (Liu et al. 2025) makes an update as large as Adam's usually are, so that both use one learning rate.
Embeddings, biases and norms do not map one layer to another: Adam updates them. The matrix is orthogonal only
approximately, so bfloat16 is precise enough where the run computes in it (as Jordan et al. do).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import torch
from torch import Tensor, nn

# Five steps of x ← a·x + b·x³ + c·x⁵ with these move each singular value from (0, 1] to about 1 (Jordan et al. 2024).
QUINTIC = (3.4445, -4.7750, 2.0315)
ROUNDS = 5
ADAM_LIKE = 0.2
MOMENTUM = "momentum"  # its key in the state of a parameter


def orthogonal(matrices: Tensor) -> Tensor:
    """Return the approximate orthogonal factor of each of the matrices [N, R, C]."""
    wide = matrices if matrices.shape[1] <= matrices.shape[2] else matrices.mT
    a, b, c = QUINTIC
    x: Tensor = wide / (torch.linalg.matrix_norm(wide, keepdim=True) + 1e-7)
    for _ in range(ROUNDS):
        squares = x @ x.mT
        x = a * x + torch.baddbmm(squares, squares, squares, beta=b, alpha=c) @ x
    return x if wide is matrices else x.mT


class Muon(torch.optim.AdamW):
    """Orthogonalised momentum for parameter groups with the key `parts`, Adam for all others.

    `parts` is the number of matrices that are stacked along the rows of each parameter in the group.
    """

    def __init__(
        self,
        groups: list[dict[str, Any]],
        *,
        momentum: float,
        factors: torch.dtype = torch.float32,
        **adam: Any,  # noqa: ANN401
    ) -> None:
        super().__init__([group for group in groups if "parts" not in group], **adam)
        self._factors = factors  # the type that matrix products are computed in
        self._adam_groups = len(self.param_groups)
        for group in groups:
            if "parts" in group:
                self.add_param_group({**group, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Take one update of every parameter that has a gradient."""
        groups = self.param_groups
        self.param_groups = groups[: self._adam_groups]
        try:
            super().step(closure)
        finally:
            self.param_groups = groups
        for group in groups[self._adam_groups :]:
            by_shape: dict[tuple[int, ...], list[nn.Parameter]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape[tuple(parameter.shape)].append(parameter)
            for parameters in by_shape.values():  # one batched product for all matrices of a shape
                self._move(parameters, group)

    def _move(self, parameters: list[nn.Parameter], group: dict[str, Any]) -> None:
        """Update matrices of one shape."""
        momentum, rate, decay = group["momentum"], group["lr"], group["weight_decay"]
        ahead = torch.stack([parameter.grad for parameter in parameters if parameter.grad is not None])
        for parameter, gradient in zip(parameters, ahead, strict=True):
            past = self.state[parameter].setdefault(MOMENTUM, torch.zeros_like(parameter)).mul_(momentum).add_(gradient)
            gradient.add_(past, alpha=momentum)
        rows, columns = ahead.shape[1] // group["parts"], ahead.shape[2]
        moves = orthogonal(ahead.view(-1, rows, columns).to(self._factors)).reshape(ahead.shape).to(ahead.dtype)
        for parameter, move in zip(parameters, moves, strict=True):
            parameter.mul_(1.0 - rate * decay).sub_(move, alpha=rate * ADAM_LIKE * max(rows, columns) ** 0.5)
