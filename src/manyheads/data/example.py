"""An example for a model that reads: a text, or a pair of texts, and what is to be found out about it."""

from __future__ import annotations

from typing import NamedTuple


class Example(NamedTuple):
    """A text with its label; or a question with a context, the answer, and where it starts in the context.

    `second` is the second text of a pair, and of a question its context. `start` counts characters from 0.
    """

    text: str
    answer: str = ""
    second: str | None = None
    start: int | None = None

    @property
    def source(self) -> str:
        """What is given, as one text."""
        return self.text if self.second is None else f"{self.text}\t{self.second}"

    @property
    def given(self) -> str | tuple[str, str]:
        """What a tokenizer gets: a text or a pair."""
        return self.text if self.second is None else (self.text, self.second)
