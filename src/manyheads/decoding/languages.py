"""Into which language? A run may translate into several, each asked for by a tag before the source."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property

from manyheads.config.data import DataSettings, language_tag
from manyheads.data.detection import Detector
from manyheads.data.tokenizers import Tokenizer
from manyheads.errors import ManyheadsError


class Languages:
    """The languages that a run translates between.

    Where nobody says into which, a text goes into the first language that its own is translated into; the user's own
    language is preferred.
    """

    def __init__(self, settings: DataSettings, tokenizer: Tokenizer) -> None:
        self._directions = settings.directions
        self._single_source = settings.source_language
        self._single = settings.target_language
        self._tokenizer = tokenizer

    @property
    def targets(self) -> list[str]:
        """The languages that can be chosen: none where there is no choice."""
        return list(dict.fromkeys(target for _, target in self._directions))

    def sources(self, to: str | None = None) -> list[str]:
        """Return the languages that can be translated from (into this one): none where they are not known."""
        found = [source for source, target in self._directions if to in (None, target)]
        return list(dict.fromkeys(code for code in found or [self._single_source] if code is not None))

    def detect(self, text: str, among: Sequence[str]) -> str | None:
        """Return which of these languages a text is in, if that can be told."""
        found = self._detector.detect(text, among=among)
        return found[0].language if found else None

    def target(self, text: str, to: str | None) -> str | None:
        """Return the language that a text is translated into: `to`, if it is given and possible."""
        if to is not None:
            self._check(to)
            return to
        return self.choose(text) if self._directions else self._single

    def tag_ids(self, target: str | None) -> list[int]:
        """Return what is to stand before the ids of a text that is translated into a language."""
        return self._tags[target] if self._directions and target is not None else []

    def choose(self, text: str) -> str:
        """Return the language to translate a text into where nobody has said it."""
        found = self._detector.detect(text)
        language = found[0].language if found else None
        possible = [target for source, target in self._directions if source == language] or self.targets
        return next((code for code in possible if code == _home()), possible[0])

    def _check(self, to: str) -> None:
        """Refuse a language that this run does not translate into."""
        if not self._directions:
            if to != self._single:
                into = f"translates into {self._single} alone" if self._single else "does not say which it writes"
                raise ManyheadsError(f"this run {into}.", where="--to", cure="Leave it out.")
        elif to not in self.targets:
            raise ManyheadsError(
                f"this run does not translate into '{to}', but into {', '.join(self.targets)}.",
                where="--to",
            )

    @cached_property
    def _tags(self) -> dict[str, list[int]]:
        """The ids of each language's tag."""
        return {target: self._tokenizer.encode(language_tag(target)) for target in self.targets}

    @cached_property
    def _detector(self) -> Detector:
        """Tells the languages of this run apart."""
        return Detector({code for direction in self._directions for code in direction if code is not None})


def _home() -> str | None:
    """Return the language of the user's surroundings, if they say it: fr for fr_FR.UTF-8."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return value.split("_")[0].split(".")[0].lower()
    return None
