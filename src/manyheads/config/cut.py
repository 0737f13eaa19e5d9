"""The settings of `manyheads data cut`: corpora between several languages, and how much of each is held out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from manyheads.config.corpora import CorpusSettings
from manyheads.config.values import Natural, Number, Positive, Settings


class CutCorpusSettings(CorpusSettings):
    """A corpus that is cut, alone or with those of the same name and languages."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")] | None = Field(
        None, description="Name in the files that are written, such as train.NAME.en-de.tsv.gz; without one, none."
    )
    test: Natural | None = Field(None, description="Pairs held out for testing, where it is not as many as of others.")
    valid: Natural | None = Field(None, description="Pairs held out for validation, likewise.")
    placeholders: Natural = Field(
        0, description="Further pairs held out that have placeholders, the same on both sides."
    )


class CleaningSettings(Settings):
    """Limits on pairs; pairs with any other fault that `manyheads data check` finds are dropped too."""

    characters: Positive = Field(1000, description="Characters of the longest side.")
    ratio: Annotated[float, Number, Field(gt=1.0)] = Field(
        4.0, description="How far from the usual balance of lengths is allowed."
    )


def _on_or_off(value: object) -> object:
    """Turn `true` into the default limits, and `false` into no cleaning."""
    return {True: {}, False: None}[value] if isinstance(value, bool) else value


class CutSettings(Settings):
    """A cut of corpora into training, validation and test data."""

    corpora: tuple[CutCorpusSettings, ...] = Field(
        min_length=1, description="The corpora, each with its source_language and target_language."
    )
    keep_out: tuple[CorpusSettings, ...] = Field(
        (), description="Corpora whose sentences, on both sides, must be in no part: earlier test data, for instance."
    )
    test: Natural = Field(1000, description="Pairs held out for testing, of each corpus and pair of languages.")
    valid: Natural = Field(500, description="Pairs held out for validation, of each corpus and pair of languages.")
    shortest: Positive = Field(
        1,
        description="Words of the shortest source that is held out: a short text may be needed to learn other texts.",
    )
    simplified: tuple[str, ...] = Field(
        (), description="Languages whose traditional Chinese characters are written as simplified ones."
    )
    clean: Annotated[CleaningSettings | None, BeforeValidator(_on_or_off)] = Field(
        None, description="Drop pairs with a fault: true, or limits other than the usual ones."
    )

    @field_validator("corpora", "keep_out")
    @classmethod
    def _languages_are_named(cls, corpora: tuple[CorpusSettings, ...]) -> tuple[CorpusSettings, ...]:
        """Check that each side names its language, since sentences are compared within a language."""
        for number, corpus in enumerate(corpora):
            if corpus.source_language is None or corpus.target_language is None:
                raise ValueError(f"corpus {number} must name its source_language and its target_language")
        return corpora

    @model_validator(mode="after")
    def _those_together_agree(self) -> Self:
        """Check that corpora that are cut together hold out the same number of pairs."""
        for together in self.together():
            if len({(corpus.test, corpus.valid, corpus.placeholders) for corpus in together}) > 1:
                raise ValueError(
                    f"corpora with the name {together[0].name} and the same languages are cut together: "
                    "give them the same test, valid and placeholders"
                )
        return self

    def together(self) -> Iterable[tuple[CutCorpusSettings, ...]]:
        """Return the corpora in groups of the same name and the same two languages."""
        groups: dict[tuple[str | None, ...], tuple[CutCorpusSettings, ...]] = {}
        for corpus in self.corpora:
            key = corpus.name, corpus.source_language, corpus.target_language
            groups[key] = (*groups.get(key, ()), corpus)
        return groups.values()
