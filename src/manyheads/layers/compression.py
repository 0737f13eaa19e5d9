"""How c positions of a memory become one (Rae et al. 2019, section 3.1), and what a compression learns (section 3.2).

    c′ = f_c(m_1, …, m_c)        mean, max, a convolution with a stride of c, or the one that was attended to most

Only a convolution has weights. The loss of the model does not reach them, and what they learn does not reach the model:

    attention        ‖ attention(h, m) − attention(h, f_c(m)) ‖²      by content: without positions
    auto-encoding    ‖ m − g(f_c(m)) ‖²                               g is learned beside f_c and used for nothing else
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call

from manyheads.attention.multi_head import MultiHeadAttention


class Compression(nn.Module):
    """Turns each `rate` positions into one."""

    by_usage = False  # whether it needs to know how much each position was attended to

    def __init__(self, rate: int, *, dilation: int = 1) -> None:
        super().__init__()
        self.rate, self.dilation = rate, dilation

    def forward(self, states: Tensor, usage: Tensor, count: int) -> Tensor:
        """Return the first N = `count` compressed memories [B, N, D] of states [B, S, D] with usage [B, S].

        With a dilation, the places of each reach into the states that follow.
        """
        first = torch.arange(count, device=states.device)[:, None] * self.rate
        places = first + self.dilation * torch.arange(self.rate, device=states.device)
        return self.compress(states[:, places], usage[:, places])

    def compress(self, windows: Tensor, usage: Tensor) -> Tensor:
        """Return one vector [B, N, D] for each window of positions [B, N, c, D] with usage [B, N, c]."""
        raise NotImplementedError


class MeanCompression(Compression):
    """The mean of the positions."""

    def compress(self, windows: Tensor, usage: Tensor) -> Tensor:
        """Return one vector [B, N, D] for each window of positions [B, N, c, D]."""
        return windows.mean(dim=2)


class MaxCompression(Compression):
    """The largest of the positions in each dimension."""

    def compress(self, windows: Tensor, usage: Tensor) -> Tensor:
        """Return one vector [B, N, D] for each window of positions [B, N, c, D]."""
        return windows.amax(dim=2)


class MostUsed(Compression):
    """The position that was attended to most; the others are forgotten."""

    by_usage = True

    def compress(self, windows: Tensor, usage: Tensor) -> Tensor:
        """Return one vector [B, N, D] for each window of positions [B, N, c, D] with usage [B, N, c]."""
        most = usage.argmax(dim=2)[..., None, None].expand(-1, -1, 1, windows.shape[3])
        return windows.gather(2, most).squeeze(2)


class ConvolutionCompression(Compression):
    """A convolution over the positions, which begins as their mean."""

    def __init__(self, rate: int, width: int, *, dilation: int = 1) -> None:
        super().__init__(rate, dilation=dilation)
        self.kernel = nn.Linear(rate * width, width, bias=False)
        with torch.no_grad():
            self.kernel.weight.copy_(torch.eye(width).repeat(1, rate) / rate)

    def compress(self, windows: Tensor, usage: Tensor) -> Tensor:
        """Return one vector [B, N, D] for each window of positions [B, N, c, D]."""
        compressed: Tensor = self.kernel(windows.flatten(2))
        return compressed


class AttentionReconstruction(nn.Module):
    """Attention by content, which should read the same from a memory and from what it was compressed to."""

    def forward(
        self, attention: MultiHeadAttention, norm: nn.Module, states: Tensor, old: Tensor, compressed: Tensor
    ) -> Tensor:
        """Return the mean squared difference at each position [B, T] of states [B, T, D].

        `old` [B, N·c, D] are the memories that were compressed to [B, N, D]. No gradient goes anywhere else.
        """
        if not compressed.shape[1]:
            return compressed.sum().expand(states.shape[:2])  # zero, of which the weights have zero gradients
        states, old = states.detach(), old.detach()
        before, after = (_by_content(attention, states, _normalised(norm, memory)) for memory in (old, compressed))
        return (before - after).square().mean(dim=-1)


class AutoEncoding(nn.Module):
    """A linear layer that computes the positions from what they were compressed to."""

    def __init__(self, rate: int, width: int) -> None:
        super().__init__()
        self.expand = nn.Linear(width, rate * width, bias=False)

    def forward(
        self, attention: MultiHeadAttention, norm: nn.Module, states: Tensor, old: Tensor, compressed: Tensor
    ) -> Tensor:
        """Return the mean squared difference of old memories [B, N·c, D] from those computed, at each position [B, T].

        `compressed` [B, N, D] is what they were compressed to. No gradient goes anywhere else.
        """
        computed = self.expand(compressed)
        if not compressed.shape[1]:
            return computed.sum().expand(states.shape[:2])  # zero, of which the weights have zero gradients
        lost = (computed.view(old.shape) - old.detach()).square().mean(dim=(1, 2))
        return lost[:, None].expand(states.shape[:2])


CompressionLoss = AttentionReconstruction | AutoEncoding


def _normalised(norm: nn.Module, states: Tensor) -> Tensor:
    """Return normalised states [B, S, D]; the norm's weights are constants."""
    constants = {name: parameter.detach() for name, parameter in norm.named_parameters()}
    normalised: Tensor = functional_call(norm, constants, (states,))
    return normalised


def _by_content(attention: MultiHeadAttention, states: Tensor, memory: Tensor) -> Tensor:
    """Return what the heads read [B, T, D] of a memory [B, S, D] without positions; attention's weights are constants.

    Both are inputs as attention takes them.
    """
    bias = attention.input_projection_bias
    weights = attention.input_projection.detach().chunk(3)
    projected = [one @ part.T for one, part in zip((states, memory, memory), weights, strict=True)]
    if bias is not None:
        projected = [one + part for one, part in zip(projected, bias.detach().chunk(3), strict=True)]
    heads = (one.unflatten(-1, (attention.heads, -1)).transpose(1, 2) for one in projected)
    return F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
