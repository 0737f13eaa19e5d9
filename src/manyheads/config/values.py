"""The kinds of values that recipes have, and the base of every section."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _no_truth_value(value: object) -> object:
    """Refuse true and false where a number is wanted: YAML reads yes and on as true, and Python reads true as 1."""
    if isinstance(value, bool):
        raise ValueError("a number is wanted, not yes or no")
    return value


def _switch(value: object) -> object:
    """Take YAML's word for on and off, which it reads as true and false, as it was written."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


Number = BeforeValidator(_no_truth_value)
Switch = Annotated[Literal["auto", "on", "off"], BeforeValidator(_switch)]
Positive = Annotated[int, Number, Field(ge=1)]
Natural = Annotated[int, Number, Field(ge=0)]
Probability = Annotated[float, Number, Field(ge=0.0, lt=1.0)]
Metric = Literal["loss", "bleu", "chrf", "exact_match", "word_error_rate", "symbol_error_rate"]


class Settings(BaseModel):
    """The base of every section: unknown keys are refused and values never change after validation."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())
