"""The keys of a Transformer-XL under `model`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from manyheads.config.models.remembering import RememberingSettings
from manyheads.config.values import Natural


class TransformerXLSettings(RememberingSettings):
    """A language model that remembers the text before the piece that it reads."""

    kind: Literal["transformer_xl"] = Field(
        "transformer_xl", description="A language model with a memory of earlier text (Dai et al. 2019)."
    )
    memory: Natural = Field(128, description="Earlier positions that each position attends to, in every layer.")

    @property
    def reach(self) -> int:
        """How many earlier positions each position attends to in every layer."""
        return self.memory
