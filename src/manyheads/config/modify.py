"""The keys under `data.modify`: how often each change is made to training pairs while they are read."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from manyheads.config.values import Probability, Settings


class ModifySettings(Settings):
    """The share of pairs that each modifier changes; 0 switches it off. Validation data is never changed."""

    joined: Probability = Field(
        0.0, description="Share of training examples that are two or three neighbouring pairs joined into one."
    )
    numbers: Probability = Field(0.0, description="Numbers that both sides have become other numbers on both.")
    placeholders: Probability = Field(
        0.0, description="Placeholders, URLs and addresses that both sides have become copy symbols on both."
    )
    names: Probability = Field(
        0.0, description="Words that both sides have, such as names, become copy symbols on both."
    )
    tags: Probability = Field(0.0, description="Tag symbols are put around words that translate each other.")
    terms: Probability = Field(0.0, description="A source word gets a hint with the word that the target has for it.")
    upper_case: Probability = Field(0.0, description="BOTH SIDES IN CAPITALS.")
    title_case: Probability = Field(0.0, description="Every Word of Both Sides Begins With a Capital.")
    final_punctuation: Probability = Field(0.0, description="The punctuation at the end is left out on both sides.")
    accents: Probability = Field(0.0, description="The source loses its accents: étudiant, etudiant; müde, mude.")
    typos: Probability = Field(
        0.0, description="The source gets typing errors, about one in eight words, by neighbouring keys."
    )

    @model_validator(mode="after")
    def _one_at_a_time(self) -> Self:
        """Check the shares of modifiers that add tokens: they change whole batches, one modifier per batch."""
        whole = ("tags", "terms", "upper_case", "title_case", "accents", "typos")
        if sum(getattr(self, name) for name in whole) > 1.0:
            raise ValueError(f"the sum of the shares of {', '.join(whole)} must not be more than 1")
        return self

    @property
    def on_text(self) -> bool:
        """Whether any modifier changes the text of a pair."""
        return any(share for name, share in self if name != "joined")
