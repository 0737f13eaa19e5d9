"""The recipe of a masked language model: masked words are predicted from both sides."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from manyheads.config.tasks.reading import ReadingRecipe
from manyheads.config.values import Settings


class MaskingSettings(Settings):
    """Which tokens are hidden."""

    share: float = Field(0.15, gt=0.0, lt=1.0, description="Share of the tokens that are to be predicted.")
    masked: float = Field(0.8, ge=0.0, le=1.0, description="Share of these that become [MASK].")
    random: float = Field(0.1, ge=0.0, le=1.0, description="Share of these that become any token; the rest stays.")

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        """Check that the shares add up to at most 1."""
        if self.masked + self.random > 1.0:
            raise ValueError(f"the sum of masked {self.masked} and random {self.random} is more than 1")
        return self


class MaskedWordsRecipe(ReadingRecipe):
    """Words that are hidden from the model."""

    metrics: ClassVar[tuple[str, ...]] = ("loss", "accuracy")

    task: Literal["masked_language_model"] = Field(
        "masked_language_model", description="What is learned: words that are hidden from the model."
    )
    masking: MaskingSettings = Field(default_factory=MaskingSettings, description="Which tokens are hidden.")
