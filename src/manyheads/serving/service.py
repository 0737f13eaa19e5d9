"""The parts of a running server, and the questions it answers, apart from HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from manyheads.data.text.detection import Detection, Detector, likely_languages
from manyheads.decoding.translator import Translation, combined
from manyheads.serving.admission import Admission
from manyheads.serving.directions import Direction, Directions, language_name
from manyheads.serving.documents import Document, PlainText, Text
from manyheads.serving.markup import Markup
from manyheads.serving.metrics import Meter
from manyheads.serving.options import ServerOptions
from manyheads.serving.refusals import Refusal, too_long
from manyheads.serving.worker import Model, Worker


@dataclass(frozen=True)
class Version:
    """One translation of a whole text, and the sum of its sentences' scores."""

    text: str
    score: float


@dataclass(frozen=True)
class Detected:
    """The source language that was detected and taken, and all that the text may well be in, most probable first."""

    taken: Detection
    likely: list[Detection]


class Service:
    """Everything a server holds."""

    def __init__(self, directions: Directions, options: ServerOptions) -> None:
        self.options = options
        self.directions = directions
        self.meter = Meter()
        self.detector = Detector(directions.codes)
        self.admission = Admission(options, self.meter)
        models = {run: Model(run, options) for run in {direction.run for direction in directions}}
        self._workers = {one: Worker(one, models[one.run], options, self.meter) for one in directions}

    def worker(self, direction: Direction) -> Worker:
        """Return who works in a direction."""
        return self._workers[direction]

    async def close(self) -> None:
        """Finish what was begun."""
        await asyncio.gather(*(worker.close() for worker in self._workers.values()))

    def check_size(self, texts: Sequence[str]) -> int:
        """Refuse too many texts or characters; return how many characters there are."""
        if len(texts) > self.options.batch_limit:
            raise too_long(len(texts), self.options.batch_limit, of="texts")
        characters = sum(map(len, texts))
        if characters > self.options.char_limit:
            raise too_long(characters, self.options.char_limit, of="characters")
        return characters

    async def read(self, texts: Sequence[str], form: str) -> list[Text]:
        """Read texts; markup in a thread, since some of it takes a parser long."""
        if form == "text":
            return [PlainText(text) for text in texts]
        if form == "html":
            return [await asyncio.to_thread(Markup, text) for text in texts]
        raise Refusal(400, f"{form} format is not supported")

    async def detect(self, text: str) -> list[Detection]:
        """Return all served languages, the most probable one of a text first."""
        return await asyncio.to_thread(self.detector.detect, text)

    async def direction(self, source: str, target: str, sample: str) -> tuple[Direction, Detected | None]:
        """Return the direction to take; for `auto`, from the most probable language among all that are served.

        Where the detector is not sure, a likely language that this target has is preferred to one that it has not.
        """
        if source != "auto":
            return self.directions.find(source, target), None
        sources = self.directions.sources_of(target)
        if not sources:
            raise Refusal(400, f"{target} is not supported")
        found = likely_languages(await self.detect(sample))
        # What the detector does not know may be any text; and any language may have a text without letters.
        unknown = [Detection(code, 0.0) for code in sources if not found or not self.detector.supports(code)]
        taken = next((one for one in [*found, *unknown] if one.language in sources), None)
        if taken is None:
            raise self.directions.not_served(found[0].language, target)
        return self.directions.find(taken.language, target), Detected(taken, found)

    async def translate(
        self, direction: Direction, documents: Sequence[Document], *, alternatives: int
    ) -> list[list[Version]]:
        """Return the versions of each text, best first, none twice."""
        most, target = alternatives + 1, direction.target
        sentences = [sentence for document in documents for sentence in document.sentences]
        found = iter(await self.worker(direction).translate(sentences, candidates=most))
        return [_versions(one, [next(found) for _ in one.sentences], most, target) for one in documents]

    def settings(self) -> dict[str, Any]:
        """Return what LibreTranslate tells its page."""
        source, target = self.directions.proposed
        keys = self.options.api_keys is not None
        return {
            "alternativesLimit": self.options.alternatives_limit,  # ours: how many the page may ask for
            "apiKeys": keys,
            "charLimit": self.options.char_limit,
            "filesTranslation": False,
            "frontendTimeout": 500,
            "keyRequired": keys,
            "language": {
                "source": {"code": source, "name": language_name(source)},
                "target": {"code": target, "name": language_name(target)},
            },
            "suggestions": False,
            "supportedFilesFormat": [],
        }


def _versions(document: Document, found: Sequence[Translation], most: int, language: str) -> list[Version]:
    """Put sentences together: the first version has the best candidate of each, the second the second best …"""
    versions: dict[str, Version] = {}
    for chosen in combined(found)[:most]:
        text = document.fill([one.text for one in chosen], language)
        versions.setdefault(text, Version(text, round(sum(one.score for one in chosen), 5)))
    return list(versions.values())
