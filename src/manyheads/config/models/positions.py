"""The keys under `model.positions`: how positions are represented. Each kind has a class with its own keys."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from manyheads.config.unions import Kinds
from manyheads.config.values import Natural, Number, Positive, Settings

RANDOMISED = "Positions that training draws from, for longer sequences afterwards; 0 counts 0, 1, 2, …."


class PositionsBase(Settings):
    """The base of all kinds."""

    def weights(self, width: int, heads: int, layers: int) -> int:
        """Return the number of weights of one stack's positions."""
        return 0


class SinusoidalSettings(PositionsBase):
    """The paper's sines and cosines, added to the embeddings."""

    absolute: ClassVar[bool] = True
    in_scores: ClassVar[bool] = False

    kind: Literal["sinusoidal"] = Field("sinusoidal", description="The paper's, added to the embeddings.")
    randomised: Natural = Field(0, description=RANDOMISED)


class LearnedSettings(PositionsBase):
    """One trained vector per position, added to the embeddings."""

    absolute: ClassVar[bool] = True
    in_scores: ClassVar[bool] = False

    kind: Literal["learned"] = Field("learned", description="Trained vectors, added to the embeddings.")
    maximum: Positive = Field(1024, description="Longest sequence.")
    randomised: Natural = Field(0, description=RANDOMISED)

    @model_validator(mode="after")
    def _positions_can_be_drawn(self) -> Self:
        """Check that randomised positions are in the table."""
        if self.randomised > self.maximum:
            raise ValueError(f"randomised {self.randomised} is above the maximum of {self.maximum} learned positions")
        return self

    def weights(self, width: int, heads: int, layers: int) -> int:
        """Return the size of the table."""
        return self.maximum * width


class RelativeSettings(PositionsBase):
    """Trained vectors for distances, on keys and values."""

    absolute: ClassVar[bool] = False
    in_scores: ClassVar[bool] = True

    kind: Literal["relative"] = Field("relative", description="Trained vectors for distances, on keys and values.")
    clip: Positive = Field(16, description="Distance beyond which all distances share a vector.")

    def weights(self, width: int, heads: int, layers: int) -> int:
        """Return the size of the tables of keys and values in every layer."""
        return layers * 2 * (2 * self.clip + 1) * (width // heads)


class T5Settings(PositionsBase):
    """A trained number for each range of distances."""

    absolute: ClassVar[bool] = False
    in_scores: ClassVar[bool] = True

    kind: Literal["t5"] = Field("t5", description="A trained number for each range of distances.")
    buckets: Annotated[int, Number, Field(ge=4)] = Field(32, description="Number of ranges, for each head.")
    reach: Positive = Field(128, description="Distance beyond which all distances share a number.")

    @model_validator(mode="after")
    def _reach_is_far(self) -> Self:
        """Check that the reach is beyond the buckets of single distances."""
        if self.reach <= self.buckets // 2:
            raise ValueError(f"reach {self.reach} must be above half of the {self.buckets} buckets")
        return self

    def weights(self, width: int, heads: int, layers: int) -> int:
        """Return the size of the table in every layer."""
        return layers * self.buckets * heads


class RotarySettings(PositionsBase):
    """Queries and keys turned by their position."""

    absolute: ClassVar[bool] = False
    in_scores: ClassVar[bool] = False

    kind: Literal["rotary"] = Field("rotary", description="Queries and keys turned by their position.")


class AlibiSettings(PositionsBase):
    """A penalty that grows with the distance."""

    absolute: ClassVar[bool] = False
    in_scores: ClassVar[bool] = True

    kind: Literal["alibi"] = Field("alibi", description="A penalty that grows with the distance.")


class RelativeSinusoidalSettings(PositionsBase):
    """Sinusoids of distances, with two biases for each head."""

    absolute: ClassVar[bool] = False
    in_scores: ClassVar[bool] = True

    kind: Literal["relative_sinusoidal"] = Field(
        "relative_sinusoidal", description="Sinusoids of distances, with two biases (Transformer-XL)."
    )

    def weights(self, width: int, heads: int, layers: int) -> int:
        """Return the size of the projection of the sinusoids and of the biases, in every layer."""
        return layers * (width**2 + 2 * width)


IGNORED = ("maximum", "clip", "buckets", "reach")

AnyPositions = (
    SinusoidalSettings
    | LearnedSettings
    | RelativeSettings
    | T5Settings
    | RotarySettings
    | AlibiSettings
    | RelativeSinusoidalSettings
)
PositionSettings = Annotated[AnyPositions, Kinds("sinusoidal", noun="positions", ignored=IGNORED)]
"""How the model represents positions. `absolute` ones are added to the embeddings; those `in_scores` add a term to
every score of attention."""
