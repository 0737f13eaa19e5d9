"""The directions that are served: pairs of source and target language, and the run of each."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.decoding.text.languages import PIVOT
from manyheads.decoding.text.splitting import reads_prose
from manyheads.errors import ManyheadsError
from manyheads.runs.folder import RunFolder
from manyheads.serving.api_errors import ApiError
from manyheads.serving.language_names import language_name

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


@dataclass(frozen=True)
class Route:
    """The way from a language into another: a direction, or one into English and one from there."""

    legs: tuple[Direction, ...]

    def __str__(self) -> str:
        return "-".join([leg.source for leg in self.legs] + [self.last.target])

    @property
    def last(self) -> Direction:
        """The direction that writes the translation."""
        return self.legs[-1]

    @property
    def pivot(self) -> str | None:
        """The language in between."""
        return self.last.source if len(self.legs) > 1 else None


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

    def direct_sources_of(self, target: str) -> list[str]:
        """Return the languages that a direction translates into a target."""
        return [source for source, into in self._by_pair if into == target]

    def sources_of(self, target: str) -> list[str]:
        """Return the source languages of a target, also those by way of English."""
        return [source for source in self.sources if self._legs(source, target)]

    def targets_of(self, source: str) -> list[str]:
        """Return the target languages of a source, also those by way of English."""
        return [target for target in self.targets if self._legs(source, target)]

    def _legs(self, source: str, target: str) -> tuple[Direction, ...]:
        """Return the directions from one language into another, without any if there is no way."""
        if direct := self._by_pair.get((source, target)):
            return (direct,)
        into, out_of = self._by_pair.get((source, PIVOT)), self._by_pair.get((PIVOT, target))
        return (into, out_of) if into and out_of and source != target else ()

    @property
    def default_pair(self) -> tuple[str, str]:
        """The languages that the web page starts with; the target is the one with the most sources."""
        target = max((target for _, target in self._by_pair), key=lambda code: len(self.direct_sources_of(code)))
        return self.direct_sources_of(target)[0], target

    def unsupported_error(self, source: str, target: str) -> ApiError:
        """Return the error for a text in a language that is not translated into this target."""
        into = f"{language_name(target)} ({target})"
        return ApiError(
            400,
            f"The text seems to be {language_name(source)} ({source}), which this server does not translate into "
            f"{into}; {self._served_into(target)}",
        )

    def _served_into(self, target: str) -> str:
        """Return the pairs that are served into a target."""
        pairs = ", ".join(f"{code} → {target}" for code in self.sources_of(target))
        return f"served into {language_name(target)} ({target}): {pairs or 'none'}"

    def find(self, source: str, target: str) -> Direction:
        """Return a direction; raise an error for languages that are not served, or not directly as this pair."""
        route = self.route(source, target)
        if route.pivot is not None:
            raise ApiError(
                400,
                f"{language_name(target)} ({target}) is not available as a target language from "
                f"{language_name(source)} ({source}) directly, which this needs, but by way of "
                f"{language_name(route.pivot)} ({route.pivot})",
            )
        return route.last

    def route(self, source: str, target: str) -> Route:
        """Return the way from a language into another; raise an error for languages without one."""
        for code in (source, target):
            if code not in self.codes:
                raise ApiError(400, f"{code} is not supported")
        if legs := self._legs(source, target):
            return Route(legs)
        raise ApiError(
            400,
            f"{language_name(target)} ({target}) is not available as a target language from "
            f"{language_name(source)} ({source}); {self._served_into(target)}",
        )

    def languages(self) -> list[dict[str, Any]]:
        """Return the languages in the format of LibreTranslate."""
        return [
            {
                "code": code,
                "name": language_name(code),
                "targets": self.targets_of(code),
            }
            for code in self.codes
        ]
