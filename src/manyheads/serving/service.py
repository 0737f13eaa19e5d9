"""The parts of a running server, and its operations without HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from manyheads.data.text.detection import Detection, Detector, likely_languages
from manyheads.decoding.translator import Translation, combined
from manyheads.serving.admission import Admission
from manyheads.serving.api_errors import ApiError
from manyheads.serving.directions import Direction, Directions, language_name
from manyheads.serving.documents import Document, PlainText, Text
from manyheads.serving.markup import Markup
from manyheads.serving.metrics import ServerMetrics
from manyheads.serving.options import ServerOptions
from manyheads.serving.worker import RunModel, Worker


@dataclass(frozen=True)
class TextTranslation:
    """One translation of a whole text, and the sum of the scores of its sentences."""

    text: str
    score: float


@dataclass(frozen=True)
class DetectedSource:
    """The detected source language that is used, and all likely languages of the text, most probable first."""

    chosen: Detection
    likely: list[Detection]


class Service:
    """The parts of a running server."""

    def __init__(self, directions: Directions, options: ServerOptions) -> None:
        self.options = options
        self.directions = directions
        self.metrics = ServerMetrics()
        self.detector = Detector(directions.codes)
        self.admission = Admission(options, self.metrics)
        models = {run: RunModel(run, options) for run in {direction.run for direction in directions}}
        self._workers = {
            direction: Worker(direction, models[direction.run], options, self.metrics) for direction in directions
        }

    def worker(self, direction: Direction) -> Worker:
        """Return the worker of a direction."""
        return self._workers[direction]

    async def close(self) -> None:
        """Finish pending work."""
        await asyncio.gather(*(worker.close() for worker in self._workers.values()))

    async def parse(self, texts: Sequence[str], form: str) -> list[Text]:
        """Parse texts of a format; HTML in a thread, since some of it takes long."""
        if form == "text":
            return [PlainText(text) for text in texts]
        if form == "html":
            return [await asyncio.to_thread(Markup, text) for text in texts]
        raise ApiError(400, f"{form} format is not supported")

    async def detect(self, text: str) -> list[Detection]:
        """Return all served languages, the most probable language of a text first."""
        return await asyncio.to_thread(self.detector.detect, text)

    async def choose_direction(self, source: str, target: str, sample: str) -> tuple[Direction, DetectedSource | None]:
        """Return the direction for a source and a target; if the source is `auto`, detect it from a sample.

        If the detection is not certain, the most probable language is used that is translated into the target.
        """
        if source != "auto":
            return self.directions.find(source, target), None
        sources = self.directions.sources_of(target)
        if not sources:
            raise ApiError(400, f"{target} is not supported")
        likely = likely_languages(await self.detect(sample))
        # A text may be in a language that the detector does not support; a text without letters, in any language.
        undetectable = [Detection(code, 0.0) for code in sources if not likely or not self.detector.supports(code)]
        chosen = next((one for one in [*likely, *undetectable] if one.language in sources), None)
        if chosen is None:
            raise self.directions.unsupported_error(likely[0].language, target)
        return self.directions.find(chosen.language, target), DetectedSource(chosen, likely)

    async def translate(
        self, direction: Direction, documents: Sequence[Document], *, alternatives: int
    ) -> list[list[TextTranslation]]:
        """Return the distinct translations of each text, best first."""
        most, target = alternatives + 1, direction.target
        sentences = [sentence for document in documents for sentence in document.sentences]
        translations = iter(await self.worker(direction).translate(sentences, candidates=most))
        return [
            _text_translations(document, [next(translations) for _ in document.sentences], most, target)
            for document in documents
        ]

    def frontend_settings(self) -> dict[str, Any]:
        """Return the settings for a web page, in the format of LibreTranslate."""
        source, target = self.directions.default_pair
        keys = self.options.api_keys is not None
        return {
            "alternativesLimit": self.options.alternatives_limit,  # not in LibreTranslate
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


def _text_translations(
    document: Document, translations: Sequence[Translation], most: int, language: str
) -> list[TextTranslation]:
    """Join sentences: the first result has the best candidate of each sentence, the second the second best …"""
    results: dict[str, TextTranslation] = {}
    for candidates in combined(translations)[:most]:
        text = document.fill([candidate.text for candidate in candidates], language)
        score = round(sum(candidate.score for candidate in candidates), 5)
        results.setdefault(text, TextTranslation(text, score))
    return list(results.values())
