"""The languages of a run. A run may translate into several languages, each selected by a tag before the source."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property

from manyheads.config.corpora import DataSettings, language_tag
from manyheads.data.text.detection import Detector, likely_languages
from manyheads.data.tokens.tokenizers import Tokenizer
from manyheads.errors import ManyheadsError

# Up to this number of texts, the language of each is detected. Among more texts, some are short enough to be mistaken
# for another language, so they are detected together.
MOST_DETECTED_SINGLY = 16
PIVOT = "en"  # the language between two that a run does not translate into each other


class Languages:
    """The languages that a run translates between.

    Without a given target, a text is translated into the user's own language if that is possible, and otherwise into
    the first target that the run has for the language of the text.
    """

    def __init__(self, settings: DataSettings, tokenizer: Tokenizer) -> None:
        self._directions = settings.directions
        self._single_sources = [] if settings.source_language is None else [settings.source_language]
        self._single_target = settings.target_language
        self._tokenizer = tokenizer

    @cached_property
    def targets(self) -> list[str]:
        """The target languages that can be chosen; empty if there is no choice."""
        return list(dict.fromkeys(target for _, target in self._directions))

    @property
    def only_target(self) -> str | None:
        """The target language of a run that has one; None if there are several, or if it is unknown."""
        return (self.targets[0] if len(self.targets) == 1 else None) if self._directions else self._single_target

    def sources(self, to: str | None = None) -> list[str]:
        """Return the source languages (of the target `to`, if given); empty if they are unknown."""
        return self._sources.get(to, self._single_sources)

    def detect(self, text: str, among: Sequence[str]) -> str | None:
        """Return which of these languages a text is in, or None if it cannot be detected."""
        detections = self._detector.detect(text, among=among)
        return detections[0].language if detections else None

    def target(self, text: str, to: str | None, *, source: str | None = None) -> str | None:
        """Return the language that a text is translated into: `to` if given, otherwise the default for the text."""
        if to is not None:
            self._check_target(to)
            return to
        return self.default_target(text, source=source) if self._directions else self._single_target

    def by_way_of_pivot(self, texts: Sequence[str], *, source: str | None, to: str | None) -> list[bool]:
        """Return which texts are translated into English first, since the run does not translate them into `to`.

        Their language is `source`, or is detected among all languages of the run: for a few texts one by one, for many
        together. An ambiguous text is translated directly if one of its likely languages is translated into `to`.

        Raises:
            ManyheadsError: If a text is in a language that is not translated into `to` either way.
        """
        possible = self.sources(to)
        if source is not None:
            return [bool(possible) and self._needs_pivot([source], to, is_detected=False)] * len(texts)
        # If every language of the run is accepted, do not load the detector: that takes half as long as the rest of a
        # command. Without a target, it is chosen by the language of the text.
        all_accepted = to is None or set(self.sources()) <= {*possible, to}
        if not possible or all_accepted or not all(self._detector.supports(code) for code in possible):
            return [False] * len(texts)
        samples = texts if len(texts) <= MOST_DETECTED_SINGLY else ["\n".join(texts)]
        likely = [likely_languages(self._detector.detect(sample)) for sample in samples]
        ways = [self._needs_pivot([one.language for one in some], to, is_detected=True) for some in likely]
        return ways if len(ways) == len(texts) else ways * len(texts)

    def tag_ids(self, target: str | None) -> list[int]:
        """Return the ids of a target language's tag, which precede those of a text; empty if the run has no tags."""
        return self._tags[target] if self._directions and target is not None else []

    def default_target(self, text: str, *, source: str | None = None) -> str:
        """Return the language that a text is translated into if no target is given."""
        detections = [] if source else self._detector.detect(text)
        language = detections[0].language if detections else source
        possible = [target for source, target in self._directions if source == language] or self.targets
        return next((code for code in possible if code == _user_language()), possible[0])

    def _needs_pivot(self, likely: Sequence[str], to: str | None, *, is_detected: bool) -> bool:
        """Return whether a text in one of these languages is translated into English first."""
        possible = self.sources(to)
        if not likely or (None, to) in self._directions or any(code in possible for code in likely):
            return False
        if PIVOT in possible and likely[0] in self.sources(PIVOT) and likely[0] != to:
            return True
        if not is_detected:
            raise _unsupported(f"this run does not translate from '{likely[0]}'", to, possible, where="--from")
        what = f"the text seems to be in '{likely[0]}', which this run does not translate"
        cure = f"If it is in another language, name that: --from {possible[0]}"
        raise _unsupported(what, to, possible, where="--to", cure=cure)

    def _check_target(self, to: str) -> None:
        """Raise an error for a language that this run does not translate into."""
        if not self._directions:
            if to != self._single_target:
                only = f"translates only into {self._single_target}"
                what = only if self._single_target else "has a recipe that does not name its target language"
                raise ManyheadsError(f"this run {what}.", where="--to", cure="Leave it out.")
        elif to not in self.targets:
            raise ManyheadsError(
                f"this run does not translate into '{to}', but into {', '.join(self.targets)}.",
                where="--to",
            )

    @cached_property
    def _sources(self) -> dict[str | None, list[str]]:
        """The source languages of each target that can be chosen, and those of all targets (None)."""
        sources: dict[str | None, dict[str, None]] = {}
        for source, target in self._directions:
            for to in (None, target):
                sources.setdefault(to, {}).update({} if source is None else {source: None})
        return {to: list(codes) for to, codes in sources.items()}

    @cached_property
    def _tags(self) -> dict[str, list[int]]:
        """The ids of each language's tag."""
        return {target: self._tokenizer.encode(language_tag(target)) for target in self.targets}

    @cached_property
    def _detector(self) -> Detector:
        """The detector for the languages of this run."""
        return Detector({code for direction in self._directions for code in direction if code is not None})


def _unsupported(
    what: str, to: str | None, possible: list[str], *, where: str, cure: str | None = None
) -> ManyheadsError:
    """Return the error for an unsupported source language, with the supported ones."""
    into = f" into '{to}'" if to else ""
    return ManyheadsError(f"{what}{into}; it translates{into} from {', '.join(possible)}.", where=where, cure=cure)


def _user_language() -> str | None:
    """Return the language of the user's locale, if it is set: fr for fr_FR.UTF-8."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return value.split("_")[0].split(".")[0].lower()
    return None
