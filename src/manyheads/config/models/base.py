"""The settings that all models share, so that tasks do not depend on a particular model."""

from __future__ import annotations

from pydantic import Field

from manyheads.config.values import Positive, Probability, Settings


class ModelSettings(Settings):
    """The base of every model's settings; each has a `kind` by which it is selected."""

    kind: str
    width: Positive = Field(512, description="d_model, the width of every layer.")
    dropout: Probability = Field(0.1, description="Dropout of every layer's output and of the embeddings.")

    @property
    def summary(self) -> str:
        """The model in a few words, for messages."""
        return f"a {self.kind} model (width {self.width})"

    @property
    def longest(self) -> int | None:
        """The longest sequence that the model can read, special tokens included; None if there is no limit."""
        return None

    @property
    def one_vocabulary(self) -> bool:
        """Whether source and target must have the same vocabulary, because they share embeddings."""
        return False

    def check_length(self, longest: int) -> None:
        """Raise a `ValueError` if sequences of `longest` tokens and an end token cannot be trained on."""


def heads_divide_width(width: int, heads: int) -> None:
    """Raise a `ValueError` unless d_k = d_model / h is whole."""
    if width % heads:
        raise ValueError(f"width {width} is not divisible by {heads} heads")
