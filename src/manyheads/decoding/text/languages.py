"""Into which language? A run may translate into several, each asked for by a tag before the source."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property

from manyheads.config.corpora import DataSettings, language_tag
from manyheads.data.text.detection import Detector, likely
from manyheads.data.tokens.tokenizers import Tokenizer
from manyheads.errors import ManyheadsError

FEW = 16  # texts that are each looked at; of more, some are short enough to be mistaken for another language


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

    def target(self, text: str, to: str | None, *, source: str | None = None) -> str | None:
        """Return the language that a text is translated into: `to`, if it is given and possible."""
        if to is not None:
            self._check(to)
            return to
        return self.choose(text, source=source) if self._directions else self._single

    def check_source(self, texts: Sequence[str], *, source: str | None, to: str | None) -> None:
        """Refuse texts in a language that is not translated into `to`.

        Their language is `source`, or is detected among all languages of the run: of a few texts each alone, of many
        all together. A text that may be in several languages is in one that is translated into `to`, if possible.
        """
        possible = self.sources(to)
        if not possible or (None, to) in self._directions:  # it may be any language
            return
        # Loading the detector takes half as long as the rest of a command, and here it could find nothing wrong.
        all_served = set(self.sources()) <= {*possible, to}
        if source is not None:
            if source not in possible:
                raise _not_served(f"this run does not translate from '{source}'", to, possible, where="--from")
        elif to is not None and not all_served and all(self._detector.knows(code) for code in possible):
            for sample in texts if len(texts) <= FEW else ["\n".join(texts)]:
                found = likely(self._detector.detect(sample))
                if found and not any(one.language in possible for one in found):
                    what = f"the text seems to be in '{found[0].language}', which this run does not translate"
                    cure = f"If it is in another language, name that: --from {possible[0]}"
                    raise _not_served(what, to, possible, where="--to", cure=cure)

    def tag_ids(self, target: str | None) -> list[int]:
        """Return what is to stand before the ids of a text that is translated into a language."""
        return self._tags[target] if self._directions and target is not None else []

    def choose(self, text: str, *, source: str | None = None) -> str:
        """Return the language to translate a text into where nobody has said it."""
        found = [] if source else self._detector.detect(text)
        language = found[0].language if found else source
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


def _not_served(
    what: str, to: str | None, possible: list[str], *, where: str, cure: str | None = None
) -> ManyheadsError:
    """Return the refusal of a language, with what there is instead."""
    into = f" into '{to}'" if to else ""
    return ManyheadsError(f"{what}{into}; it translates{into} from {', '.join(possible)}.", where=where, cure=cure)


def _home() -> str | None:
    """Return the language of the user's surroundings, if they say it: fr for fr_FR.UTF-8."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return value.split("_")[0].split(".")[0].lower()
    return None
