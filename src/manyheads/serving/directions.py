"""The directions that are served: pairs of source and target language, and the run of each."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.decoding.text.splitting import reads_prose
from manyheads.errors import ManyheadsError
from manyheads.runs.folder import RunFolder
from manyheads.serving.api_errors import ApiError

_CODE = r"[a-z]{2,8}(?:-[A-Z][A-Za-z]*)*"  # en, zh-Hans, pt-BR
_NAMED = re.compile(rf"({_CODE})-({_CODE})=(.+)")


@dataclass(frozen=True)
class Direction:
    """A source and a target language, and the run that translates between them."""

    source: str
    target: str
    run: Path
    to: str | None = None  # the target again, for a run that has several
    reads_prose: bool = True  # whether the run translates running text, and not symbols

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"

    @classmethod
    def from_argument(cls, argument: str | None) -> list[Direction]:
        """Parse an argument of the command, and check that the run exists.

        It is `runs/x`, whose recipe names its languages, or `en-de=runs/x`. None is the model of the package.
        """
        named = _NAMED.fullmatch(argument or "")
        run = RunFolder.open(named[3] if named else argument)
        run.config_for(TranslationConfig)
        recipe = run.recipe_for(TranslationRecipe)
        settings, prose = recipe.data, reads_prose(recipe)
        directions = [
            cls(source, target, run.path, to=target, reads_prose=prose)
            for source, target in settings.directions
            if source is not None
        ]
        if named:
            chosen = [one for one in directions if (one.source, one.target) == (named[1], named[2])]
            if directions and not chosen:
                raise ManyheadsError(
                    f"this run does not translate from {named[1]} into {named[2]}.",
                    where=argument,
                    cure=f"It has: {', '.join(map(str, directions))}.",
                )
            return chosen or [cls(named[1], named[2], run.path, reads_prose=prose)]
        if directions:
            return directions
        if settings.source_language is None or settings.target_language is None:
            raise ManyheadsError(
                "this run's recipe does not name its languages (data.source_language, data.target_language).",
                where=argument,
                cure=f"Name them here: manyheads serve {shlex.quote(f'en-de={argument}')}",
            )
        return [cls(settings.source_language, settings.target_language, run.path, reads_prose=prose)]


class Directions:
    """All directions of a server, at most one run for each."""

    def __init__(self, directions: Sequence[Direction]) -> None:
        self._by_pair: dict[tuple[str, str], Direction] = {}
        for direction in directions:
            source, target = pair = direction.source, direction.target
            if pair in self._by_pair:
                raise ManyheadsError(
                    f"two runs translate from {source} into {target}: {self._by_pair[pair].run} and {direction.run}.",
                    cure="Leave one out, or name its languages as in en-de=RUN.",
                )
            self._by_pair[pair] = direction
        if not self._by_pair:
            raise ManyheadsError("there is nothing to serve.", cure="Name a run: manyheads serve runs/mine")

    def __iter__(self) -> Iterator[Direction]:
        return iter(self._by_pair.values())

    @property
    def codes(self) -> list[str]:
        """All languages, both sources and targets."""
        return sorted({code for pair in self._by_pair for code in pair})

    @property
    def sources(self) -> list[str]:
        """The source languages."""
        return sorted({source for source, _ in self._by_pair})

    @property
    def targets(self) -> list[str]:
        """The target languages."""
        return sorted({target for _, target in self._by_pair})

    def sources_of(self, target: str) -> list[str]:
        """Return the source languages of a target."""
        return [source for source, into in self._by_pair if into == target]

    @property
    def default_pair(self) -> tuple[str, str]:
        """The languages that the web page starts with; the target is the one with the most sources."""
        target = max((target for _, target in self._by_pair), key=lambda code: len(self.sources_of(code)))
        return self.sources_of(target)[0], target

    def unsupported_error(self, source: str, target: str) -> ApiError:
        """Return the error for a text in a language that is not translated into this target."""
        into = f"{language_name(target)} ({target})"
        pairs = ", ".join(f"{code} → {target}" for code in self.sources_of(target))
        return ApiError(
            400,
            f"The text seems to be {language_name(source)} ({source}), which this server does not translate into "
            f"{into}; served into {into}: {pairs}",
        )

    def find(self, source: str, target: str) -> Direction:
        """Return a direction; raise an error for languages that are not served, or not as this pair."""
        for code in (source, target):
            if code not in self.codes:
                raise ApiError(400, f"{code} is not supported")
        if (source, target) not in self._by_pair:
            raise ApiError(
                400,
                f"{language_name(target)} ({target}) is not available as a target language from "
                f"{language_name(source)} ({source})",
            )
        return self._by_pair[source, target]

    def languages(self) -> list[dict[str, Any]]:
        """Return the languages in the format of LibreTranslate."""
        return [
            {
                "code": code,
                "name": language_name(code),
                "targets": sorted(target for source, target in self._by_pair if source == code),
            }
            for code in self.codes
        ]


def language_name(code: str) -> str:
    """Return the English name of a language, or its code if it has no name."""
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(code, sep="-").get_display_name("en") or code
    except (UnknownLocaleError, ValueError):
        return str(Locale("en").languages.get(code, code))
