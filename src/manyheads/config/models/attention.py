"""The keys under `model.attention`: the self-attention inside every head. Each kind has a class with its own keys."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from manyheads.config.unions import Kinds
from manyheads.config.values import Natural, Positive, Probability, Settings


class AttentionBase(Settings):
    """The base of all kinds."""

    def weights(self, width: int, heads: int) -> int:
        """Return the number of weights that one layer has for this kind, beside its projections."""
        return 0

    def layers_across(self, length: int, *, causal: bool) -> int | None:
        """Return the layers that it takes to connect any two of `length` positions; None if that cannot be told.

        With causal attention, a position is connected with those before it. Attention to all positions takes one layer.
        """
        return 1


class DotProductSettings(AttentionBase):
    """Full attention, as in the paper."""

    has_scores: ClassVar[bool] = True

    kind: Literal["dot_product"] = Field("dot_product", description="Full attention, as in the paper.")
    dropout: Probability = Field(0.0, description="Dropout of the weights; the paper has none.")


class WindowSettings(AttentionBase):
    """Attention to the neighbours of a position."""

    has_scores: ClassVar[bool] = True

    kind: Literal["window"] = Field("window", description="Attention to the neighbours of a position.")
    window: Positive = Field(128, description="Number of keys attended to on each side.")
    dilation: Positive = Field(1, description="Step between keys that are attended to.")
    global_tokens: Natural = Field(
        0, description="Number of first tokens that attend to all tokens and to which all attend."
    )

    def layers_across(self, length: int, *, causal: bool) -> int | None:
        """Return ⌈distance/window⌉, or two layers where the way through a global token is shorter.

        Causal global tokens see only what is before them, so they connect no two others. With dilation there are
        positions that only global tokens connect.
        """
        others = max(0, length - self.global_tokens)
        by_windows = max(1, math.ceil((others - 1) / self.window))
        if self.global_tokens and not causal:
            return min(2, by_windows) if self.dilation == 1 else min(2, max(1, others))
        return by_windows if self.dilation == 1 or others < 2 else None


class BigBirdSettings(AttentionBase):
    """Neighbouring, random and global blocks (BigBird)."""

    has_scores: ClassVar[bool] = True

    kind: Literal["bigbird"] = Field("bigbird", description="Neighbouring, random and global blocks (BigBird).")
    block: Positive = Field(64, description="Positions of a block.")
    global_blocks: Positive = Field(
        1, description="Number of first blocks that attend to all blocks and to which all attend."
    )
    random_blocks: Natural = Field(3, description="Number of random blocks that each block attends to.")

    def layers_across(self, length: int, *, causal: bool) -> int | None:
        """Return 1 where the blocks beside the adjacent ones are all chosen, otherwise two, through a global block.

        Causal global blocks see only what is before them, so the choice at random decides.
        """
        beyond = math.ceil(length / self.block) - self.global_blocks - 2  # blocks that the last one has no other way to
        if beyond <= self.random_blocks:
            return 1
        return None if causal else 2


class PerformerSettings(AttentionBase):
    """Softmax attention by random features (Performer)."""

    has_scores: ClassVar[bool] = False

    kind: Literal["performer"] = Field("performer", description="Softmax attention by random features (Performer).")
    features: Positive = Field(256, description="Number of random features.")
    redraw: Natural = Field(1000, description="Training steps between two draws of the features; 0 draws them once.")


class LinformerSettings(AttentionBase):
    """Keys and values projected to fewer ones (Linformer)."""

    has_scores: ClassVar[bool] = False

    kind: Literal["linformer"] = Field("linformer", description="Keys and values projected to fewer ones (Linformer).")
    rank: Positive = Field(128, description="Number of keys after the projection.")
    length: Positive = Field(1024, description="Longest sequence.")
    shared: bool = Field(True, description="One projection for all heads.")

    @model_validator(mode="after")
    def _rank_is_lower(self) -> Self:
        """Check that the projection reduces the number of keys."""
        if self.rank > self.length:
            raise ValueError(f"rank {self.rank} is above the length of {self.length} that it is to lower")
        return self

    def weights(self, width: int, heads: int) -> int:
        """Return the size of the projections of keys and values."""
        return 2 * (1 if self.shared else heads) * self.rank * self.length


class HashingSettings(AttentionBase):
    """Attention within buckets of similar keys (Reformer)."""

    has_scores: ClassVar[bool] = False

    kind: Literal["hashing"] = Field("hashing", description="Attention within buckets of similar keys (Reformer).")
    chunk: Positive = Field(64, description="Positions of a chunk.")
    rounds: Positive = Field(2, description="Number of independent hashes.")

    def layers_across(self, length: int, *, causal: bool) -> int | None:
        """Return 1 for a single chunk; otherwise the content decides."""
        return 1 if length <= self.chunk else None


class LinearSettings(AttentionBase):
    """Attention by a fixed kernel, linear in the length."""

    has_scores: ClassVar[bool] = False

    kind: Literal["linear"] = Field("linear", description="Attention by a fixed kernel, linear in the length.")


AnyAttention = (
    DotProductSettings
    | WindowSettings
    | BigBirdSettings
    | PerformerSettings
    | LinformerSettings
    | HashingSettings
    | LinearSettings
)
AttentionSettings = Annotated[AnyAttention, Kinds("dot_product", noun="attention")]
"""The self-attention in every head. `has_scores` says whether each query is compared with each key by itself, so that
a term for their distance can be added to the score."""
