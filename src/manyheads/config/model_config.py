"""The common part of `config.json` for all tasks: what is needed to rebuild a trained model."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from manyheads.config.models.base import ModelSettings, check_size
from manyheads.config.special import SpecialIds
from manyheads.config.values import Natural, Settings


class ConfigBase(Settings):
    """The base of the content of `config.json`. A task adds vocabularies, special tokens and labels."""

    task: str | None
    model: ModelSettings

    @property
    def verb(self) -> str:
        """The command that uses such a model."""
        raise NotImplementedError

    @property
    def vocabulary_sizes(self) -> tuple[int, int]:
        """The sizes of the input and the output vocabulary."""
        raise NotImplementedError

    @property
    def special_ids(self) -> dict[str, int]:
        """The ids of special tokens by their keys."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _size_is_possible(self) -> Self:
        """Check that the weights are not too many for any machine."""
        check_size(self.model, *self.vocabulary_sizes)
        return self

    def ids_beyond(self) -> dict[str, int]:
        """Return the ids of special tokens that are not in both vocabularies, which are a mistake."""
        return {key: number for key, number in self.special_ids.items() if number >= min(self.vocabulary_sizes)}


class WritingConfig(ConfigBase):
    """The content of `config.json` for an autoregressive model: it adds the ids of special tokens."""

    pad: Natural = 0
    unknown: Natural = 1
    start: Natural = 2
    end: Natural = 3

    @property
    def special_ids(self) -> dict[str, int]:
        """The ids of special tokens by their keys."""
        return {"pad": self.pad, "unknown": self.unknown, "start": self.start, "end": self.end}

    @property
    def special(self) -> SpecialIds:
        """The ids of special tokens."""
        return SpecialIds(pad=self.pad, unknown=self.unknown, start=self.start, end=self.end)
