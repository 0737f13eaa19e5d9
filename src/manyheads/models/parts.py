"""From typed settings to the parts that several models have: embeddings, self-attention, feed-forward networks."""

from __future__ import annotations

from torch import nn

from manyheads.attention.bigbird import BigBirdAttention
from manyheads.attention.dot_product import DotProductAttention
from manyheads.attention.hashing import HashingAttention
from manyheads.attention.linear import LinearAttention
from manyheads.attention.linformer import LinformerAttention
from manyheads.attention.longformer import LongformerAttention
from manyheads.attention.mechanism import Mechanism
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.attention.performer import PerformerAttention
from manyheads.attention.query_key_norm import QueryKeyNorm
from manyheads.attention.window import WindowAttention
from manyheads.config.models.attention import (
    AnyAttention,
    BigBirdSettings,
    DotProductSettings,
    HashingSettings,
    LinearSettings,
    LinformerSettings,
    PerformerSettings,
    WindowSettings,
)
from manyheads.config.models.layers import LayerSettings
from manyheads.config.models.positions import (
    AlibiSettings,
    AnyPositions,
    LearnedSettings,
    RelativeSettings,
    RelativeSinusoidalSettings,
    RotarySettings,
    SinusoidalSettings,
    T5Settings,
)
from manyheads.config.models.universal import DepthSettings
from manyheads.layers.depth import DepthRecurrence, Halting
from manyheads.layers.embedding import Embedding
from manyheads.layers.feed_forward import FeedForward
from manyheads.layers.gated_feed_forward import AnyFeedForward, GatedFeedForward
from manyheads.layers.norms import Normalization
from manyheads.positions.alibi import LinearBias
from manyheads.positions.interface import AbsolutePositions, AttentionPositions
from manyheads.positions.learned import LearnedPositions
from manyheads.positions.relative import RelativePositions
from manyheads.positions.relative_sinusoidal import RelativeSinusoids
from manyheads.positions.rotary import RotaryPositions
from manyheads.positions.sinusoidal import SinusoidalPositions
from manyheads.positions.t5_bias import BucketedBias


def make_embedding(vectors: nn.Parameter, settings: AnyPositions, *, dropout: float) -> Embedding:
    """Return embeddings with token vectors [V, D] and the positions that are added to them, if there are any."""
    randomised = settings.randomised if isinstance(settings, SinusoidalSettings | LearnedSettings) else 0
    positions = added_positions(settings, vectors.shape[1])
    return Embedding(vectors, positions, dropout=dropout, randomised=randomised)


def added_positions(settings: AnyPositions, width: int) -> AbsolutePositions | None:
    """Return the positions that are added to embeddings."""
    match settings:
        case SinusoidalSettings():
            return SinusoidalPositions(width)
        case LearnedSettings():
            return LearnedPositions(width, maximum=settings.maximum)
    return None


def make_self_attention(
    attention: AnyAttention,
    positions: AnyPositions | None,
    *,
    width: int,
    heads: int,
    seed: int,
    causal: bool,
    bias: bool = True,
    query_key_norm: bool = False,
) -> MultiHeadAttention:
    """Return self-attention for states [B, T, D]; what it draws at random follows from the seed.

    A window with global tokens has separate projections for these.
    """
    mechanism = make_mechanism(attention, width=width, heads=heads, seed=seed)
    seen = _positions_of_attention(positions, width, heads, causal=causal)
    norm = QueryKeyNorm(width // heads) if query_key_norm else None
    if isinstance(mechanism, WindowAttention) and mechanism.global_tokens:
        return LongformerAttention(width, heads, window=mechanism, bias=bias, positions=seen, query_key_norm=norm)
    return MultiHeadAttention(width, heads, bias=bias, mechanism=mechanism, positions=seen, query_key_norm=norm)


def make_feed_forward(settings: LayerSettings) -> AnyFeedForward:
    """Return one feed-forward network."""
    kind = GatedFeedForward if settings.gated else FeedForward
    return kind(settings.width, settings.feed_forward, activation=settings.activation, bias=settings.biases)


def make_depth(settings: DepthSettings) -> DepthRecurrence:
    """Return one recurrence in depth."""
    positions = added_positions(settings.positions, settings.width)
    halting = None if settings.halting is None else Halting(settings.width, threshold=settings.halting.threshold)
    return DepthRecurrence(settings.width, steps=settings.steps, positions=positions, halting=halting)


def normalization(settings: LayerSettings) -> Normalization:
    """Return the kind and place of the norms in a stack."""
    return Normalization(settings.norm, settings.norm_kind)


def _positions_of_attention(
    settings: AnyPositions | None, width: int, heads: int, *, causal: bool
) -> AttentionPositions | None:
    """Return the positions that self-attention sees, if there are any."""
    match settings:
        case RelativeSettings():
            return RelativePositions(width // heads, clip=settings.clip)
        case T5Settings():
            return BucketedBias(heads, buckets=settings.buckets, reach=settings.reach, causal=causal)
        case AlibiSettings():
            return LinearBias(heads)
        case RelativeSinusoidalSettings():
            return RelativeSinusoids(width, heads)
        case RotarySettings():
            return RotaryPositions(width // heads)
    return None


def make_mechanism(settings: AnyAttention, *, width: int, heads: int, seed: int) -> Mechanism:
    """Return what computes attention inside the heads of a model of some width."""
    match settings:
        case DotProductSettings():
            return DotProductAttention(dropout=settings.dropout)
        case WindowSettings():
            return WindowAttention(
                window=settings.window, dilation=settings.dilation, global_tokens=settings.global_tokens
            )
        case BigBirdSettings():
            return BigBirdAttention(
                block=settings.block,
                random_blocks=settings.random_blocks,
                global_blocks=settings.global_blocks,
                seed=seed,
            )
        case PerformerSettings():
            return PerformerAttention(width // heads, features=settings.features, redraw=settings.redraw, seed=seed)
        case LinformerSettings():
            return LinformerAttention(heads, rank=settings.rank, length=settings.length, shared=settings.shared)
        case HashingSettings():
            return HashingAttention(chunk=settings.chunk, rounds=settings.rounds, seed=seed)
        case LinearSettings():
            return LinearAttention()
