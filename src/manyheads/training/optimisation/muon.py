"""Muon (Jordan et al. 2024): the weight matrices move by an orthogonal matrix near to their momentum.

    M ← μ·M + G            U = G + μ·M  (Nesterov)            W ← W − η · 0.2·√max(rows, columns) · orthogonal(U)

An update of which all singular values are 1 teaches every direction of a layer alike, where Adam's is dominated by a
few. The factor (Liu et al. 2025) makes it as large as Adam's usually are, so that both can follow one learning rate.
Embeddings, biases and norms are no maps between layers: they are Adam's. Orthogonal is meant approximately, so bfloat16
is precise enough for it where the run computes in that (as Jordan et al. do).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import torch
from torch import Tensor, nn

# Five steps of x ← a·x + b·x³ + c·x⁵ with these bring every singular value from (0, 1] to about 1 (Jordan et al. 2024).
QUINTIC = (3.4445, -4.7750, 2.0315)
ROUNDS = 5
ADAM_LIKE = 0.2
MOMENTUM = "momentum"  # its name in the state of a parameter


def orthogonal(matrices: Tensor) -> Tensor:
    """Return, for each of the matrices [N, R, C], the orthogonal one that points the same way, approximately."""
    wide = matrices if matrices.shape[1] <= matrices.shape[2] else matrices.mT
    a, b, c = QUINTIC
    x: Tensor = wide / (torch.linalg.matrix_norm(wide, keepdim=True) + 1e-7)
    for _ in range(ROUNDS):
        squares = x @ x.mT
        x = a * x + torch.baddbmm(squares, squares, squares, beta=b, alpha=c) @ x
    return x if wide is matrices else x.mT


class Muon(torch.optim.AdamW):
    """Momentum made orthogonal for groups that have `parts`, Adam for all others.

    `parts` says how many matrices a parameter of the group holds, one below the other.
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
        self._factors = factors  # what the products are computed in
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
            alike: dict[tuple[int, ...], list[nn.Parameter]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    alike[tuple(parameter.shape)].append(parameter)
            for parameters in alike.values():  # of one shape, and so made orthogonal together
                self._move(parameters, group)

    def _move(self, parameters: list[nn.Parameter], group: dict[str, Any]) -> None:
        """Move matrices of one shape."""
        momentum, rate, decay = group["momentum"], group["lr"], group["weight_decay"]
        ahead = torch.stack([one.grad for one in parameters if one.grad is not None])
        for parameter, gradient in zip(parameters, ahead, strict=True):
            past = self.state[parameter].setdefault(MOMENTUM, torch.zeros_like(parameter)).mul_(momentum).add_(gradient)
            gradient.add_(past, alpha=momentum)
        rows, columns = ahead.shape[1] // group["parts"], ahead.shape[2]
        moves = orthogonal(ahead.view(-1, rows, columns).to(self._factors)).reshape(ahead.shape).to(ahead.dtype)
        for parameter, move in zip(parameters, moves, strict=True):
            parameter.mul_(1.0 - rate * decay).sub_(move, alpha=rate * ADAM_LIKE * max(rows, columns) ** 0.5)
