"""The common part of `config.json` for all tasks: what is needed to rebuild a trained model."""

from __future__ import annotations

from manyheads.config.models.base import ModelSettings
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


class WritingConfig(ConfigBase):
    """The content of `config.json` for an autoregressive model: it adds the ids of special tokens."""

    pad: Natural = 0
    unknown: Natural = 1
    start: Natural = 2
    end: Natural = 3

    @property
    def special(self) -> SpecialIds:
        """The ids of special tokens."""
        return SpecialIds(pad=self.pad, unknown=self.unknown, start=self.start, end=self.end)
