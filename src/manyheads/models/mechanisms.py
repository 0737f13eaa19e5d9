"""From settings to the self-attention they name."""

from __future__ import annotations

from manyheads.attention.bigbird import BigBirdAttention
from manyheads.attention.dot_product import DotProductAttention
from manyheads.attention.hashing import HashingAttention
from manyheads.attention.linear import LinearAttention
from manyheads.attention.linformer import LinformerAttention
from manyheads.attention.longformer import LongformerAttention
from manyheads.attention.mechanism import Mechanism
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.attention.performer import PerformerAttention
from manyheads.attention.window import WindowAttention
from manyheads.config.model import AttentionSettings
from manyheads.positions.rotary import RotaryPositions
from manyheads.positions.terms import RelativeTerm


def make_mechanism(settings: AttentionSettings, *, width: int, heads: int, seed: int) -> Mechanism:
    """Return the attention for heads of a model so wide; whatever it draws at random follows from the seed."""
    match settings.kind:
        case "window":
            return WindowAttention(
                window=settings.window, dilation=settings.dilation, global_tokens=settings.global_tokens
            )
        case "bigbird":
            return BigBirdAttention(
                block=settings.block,
                random_blocks=settings.random_blocks,
                global_blocks=settings.global_blocks,
                seed=seed,
            )
        case "performer":
            return PerformerAttention(width // heads, features=settings.features, redraw=settings.redraw, seed=seed)
        case "linformer":
            return LinformerAttention(heads, rank=settings.rank, length=settings.length, shared=settings.shared)
        case "hashing":
            return HashingAttention(chunk=settings.chunk, rounds=settings.rounds, seed=seed)
        case "linear":
            return LinearAttention()
    return DotProductAttention(dropout=settings.dropout)


def with_heads(
    mechanism: Mechanism, width: int, heads: int, positions: RotaryPositions | RelativeTerm | None = None
) -> MultiHeadAttention:
    """Return the self-attention with this inside its heads; a window with global tokens has projections for them."""
    if isinstance(mechanism, WindowAttention) and mechanism.global_tokens:
        return LongformerAttention(width, heads, window=mechanism, positions=positions)
    return MultiHeadAttention(width, heads, mechanism=mechanism, positions=positions)
