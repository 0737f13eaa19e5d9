"""What `manyheads data cut` reads: corpora between several languages, and how much of each is held out."""

from __future__ import annotations

from pydantic import Field, field_validator

from manyheads.config.data import CorpusSettings
from manyheads.config.values import Positive, Settings


class CutSettings(Settings):
    """A cut of corpora into training, validation and test data."""

    corpora: tuple[CorpusSettings, ...] = Field(
        min_length=1, description="The corpora, each with its source_language and target_language."
    )
    test: Positive = Field(1000, description="Pairs held out for testing, of each pair of languages.")
    valid: Positive = Field(500, description="Pairs held out for validation, of each pair of languages.")
    simplified: tuple[str, ...] = Field(
        (), description="Languages whose traditional Chinese characters are written as simplified ones."
    )

    @field_validator("corpora")
    @classmethod
    def _languages_are_named(cls, corpora: tuple[CorpusSettings, ...]) -> tuple[CorpusSettings, ...]:
        """Sentences are compared within a language, so each side must say which it is."""
        for number, corpus in enumerate(corpora):
            if corpus.source_language is None or corpus.target_language is None:
                raise ValueError(f"corpus {number} must name its source_language and its target_language")
        return corpora
