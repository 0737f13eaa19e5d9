"""What is served: runs, each from one language into another."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.errors import ManyheadsError
from manyheads.runs.folder import RunFolder
from manyheads.serving.refusals import Refusal

_CODE = r"[a-z]{2,8}(?:-[A-Z][A-Za-z]*)*"  # en, zh-Hans, pt-BR
_NAMED = re.compile(rf"({_CODE})-({_CODE})=(.+)")


@dataclass(frozen=True)
class Direction:
    """A run, and the languages it translates between."""

    source: str
    target: str
    run: Path
    to: str | None = None  # the target again, for a run of several that has to be told

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"

    @classmethod
    def all_of(cls, text: str | None) -> list[Direction]:
        """Read `runs/x`, whose recipe names its languages, or `en-de=runs/x`; see that there is such a run.

        None is the model that comes with the package.
        """
        named = _NAMED.fullmatch(text or "")
        run = RunFolder.open(named[3] if named else text)
        run.config_for(TranslationConfig)
        settings = run.recipe_for(TranslationRecipe).data
        several = [
            cls(source, target, run.path, to=target) for source, target in settings.directions if source is not None
        ]
        if named:
            chosen = [one for one in several if (one.source, one.target) == (named[1], named[2])]
            if several and not chosen:
                raise ManyheadsError(
                    f"this run does not translate from {named[1]} into {named[2]}.",
                    where=text,
                    cure=f"It has: {', '.join(map(str, several))}.",
                )
            return chosen or [cls(named[1], named[2], run.path)]
        if several:
            return several
        if settings.source_language is None or settings.target_language is None:
            raise ManyheadsError(
                "this run's recipe does not name its languages (data.source_language, data.target_language).",
                where=text,
                cure=f"Name them here: manyheads serve {shlex.quote(f'en-de={text}')}",
            )
        return [cls(settings.source_language, settings.target_language, run.path)]


class Directions:
    """All directions of a server, at most one run for each."""

    def __init__(self, directions: Sequence[Direction]) -> None:
        self._found: dict[tuple[str, str], Direction] = {}
        for one in directions:
            key = one.source, one.target
            if key in self._found:
                raise ManyheadsError(
                    f"two runs translate from {one.source} into {one.target}: {self._found[key].run} and {one.run}.",
                    cure="Leave one out, or name its languages as in en-de=RUN.",
                )
            self._found[key] = one
        if not self._found:
            raise ManyheadsError("there is nothing to serve.", cure="Name a run: manyheads serve runs/mine")

    def __iter__(self) -> Iterator[Direction]:
        return iter(self._found.values())

    @property
    def codes(self) -> list[str]:
        """All languages, sources and targets."""
        return sorted({code for key in self._found for code in key})

    @property
    def sources(self) -> list[str]:
        """The languages that can be translated from."""
        return sorted({source for source, _ in self._found})

    @property
    def targets(self) -> list[str]:
        """The languages that can be translated into."""
        return sorted({target for _, target in self._found})

    def sources_of(self, target: str) -> list[str]:
        """Return the languages that can be translated into this one."""
        return [source for source, into in self._found if into == target]

    @property
    def proposed(self) -> tuple[str, str]:
        """The pair to begin with: into the language that most others are translated into."""
        target = max((target for _, target in self._found), key=lambda code: len(self.sources_of(code)))
        return self.sources_of(target)[0], target

    def not_served(self, source: str, target: str) -> Refusal:
        """Return the refusal of a text in a language that is not translated into this target."""
        into = f"{language_name(target)} ({target})"
        pairs = ", ".join(f"{code} → {target}" for code in self.sources_of(target))
        return Refusal(
            400,
            f"The text seems to be {language_name(source)} ({source}), which this server does not translate into "
            f"{into}; served into {into}: {pairs}",
        )

    def find(self, source: str, target: str) -> Direction:
        """Return a direction; refuse languages that are not served, or not together."""
        for code in (source, target):
            if code not in self.codes:
                raise Refusal(400, f"{code} is not supported")
        if (source, target) not in self._found:
            raise Refusal(
                400,
                f"{language_name(target)} ({target}) is not available as a target language from "
                f"{language_name(source)} ({source})",
            )
        return self._found[source, target]

    def languages(self) -> list[dict[str, Any]]:
        """Return the languages as LibreTranslate lists them."""
        return [
            {
                "code": code,
                "name": language_name(code),
                "targets": sorted(target for source, target in self._found if source == code),
            }
            for code in self.codes
        ]


def language_name(code: str) -> str:
    """Return the English name of a language, or the code where it has none."""
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(code, sep="-").get_display_name("en") or code
    except (UnknownLocaleError, ValueError):
        return str(Locale("en").languages.get(code, code))
