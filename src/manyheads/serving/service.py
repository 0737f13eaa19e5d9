"""The parts of a running server, and its operations without HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from manyheads.data.text.detection import Detection, Detector, likely_languages
from manyheads.data.tokens.tokenizers import Tokenizers
from manyheads.decoding.text.linking import links_of
from manyheads.decoding.translator import Translation, combined
from manyheads.documents.formats import endings
from manyheads.serving.admission import Admission
from manyheads.serving.api_errors import ApiError
from manyheads.serving.directions import Direction, Directions, Route
from manyheads.serving.documents import Document, Output, PlainText, Text
from manyheads.serving.finished_files import FinishedFiles
from manyheads.serving.language_names import language_name
from manyheads.serving.markup import Markup
from manyheads.serving.metrics import ServerMetrics
from manyheads.serving.options import ServerOptions
from manyheads.serving.run_model import RunModel
from manyheads.serving.worker import Worker

FILES_AT_ONCE = 4  # files that are translated: what is read from one takes many times its memory


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
        self.finished_files = FinishedFiles(options.file_seconds)
        self.file_places = asyncio.Semaphore(FILES_AT_ONCE)
        runs = {direction.run for direction in directions}
        self._models = {
            run: RunModel([one for one in directions if one.run == run], options, self.metrics) for run in runs
        }
        self._workers = {direction: Worker(direction, self._models[direction.run], options) for direction in directions}

    def worker(self, direction: Direction) -> Worker:
        """Return the worker of a direction."""
        return self._workers[direction]

    async def close(self) -> None:
        """Finish pending work."""
        await asyncio.gather(*(model.close() for model in self._models.values()))

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

    async def choose_route(self, source: str, target: str, sample: str) -> tuple[Route, DetectedSource | None]:
        """Return the way from a source into a target; if the source is `auto`, detect it from a sample.

        If the detection is not certain, the most probable language is used that is translated into the target, directly
        if there is one.
        """
        if source != "auto":
            return self.directions.route(source, target), None
        sources = self.directions.sources_of(target)
        if not sources:
            raise ApiError(400, f"{target} is not supported")
        likely = likely_languages(await self.detect(sample))
        # A text may be in a language that the detector does not support; a text without letters, in any language.
        undetectable = [Detection(code, 0.0) for code in sources if not likely or not self.detector.supports(code)]
        chosen = next(
            (
                one
                for codes in (self.directions.direct_sources_of(target), sources)
                for one in [*likely, *undetectable]
                if one.language in codes
            ),
            None,
        )
        if chosen is None:
            raise self.directions.unsupported_error(likely[0].language, target)
        return self.directions.route(chosen.language, target), DetectedSource(chosen, likely)

    async def translate(
        self, route: Route, documents: Sequence[Document], *, alternatives: int
    ) -> list[list[TextTranslation]]:
        """Return the distinct translations of each text, best first."""
        most, target = alternatives + 1, route.last.target
        sentences = [sentence for document in documents for sentence in document.sentences]
        aligned = [within for document in documents for within in document.have_tags_within]
        found = iter(await self.translate_sentences(route, sentences, candidates=most, aligned=aligned))
        translations = [[next(found) for _ in document.sentences] for document in documents]
        if not any(aligned):
            return [_text_translations(*pair, most, target) for pair in zip(documents, translations, strict=True)]
        tokenizers = self.tokenizers(route)
        return await asyncio.to_thread(  # aligning words takes a while
            lambda: [
                _text_translations(*pair, most, target, tokenizers)
                for pair in zip(documents, translations, strict=True)
            ]
        )

    async def translate_sentences(
        self, route: Route, sentences: Sequence[str], *, candidates: int = 1, aligned: Sequence[bool] | None = None
    ) -> list[Translation]:
        """Return the translations of sentences, each by way of another language if there is no direct way.

        Those that are `aligned` come with the attention of the model, if the way is direct and the model has one.
        """
        if route.pivot is None:
            return await self.worker(route.last).translate(sentences, candidates=candidates, aligned=aligned)
        between = sentences
        for leg in route.legs[:-1]:
            between = [one.text for one in await self.worker(leg).translate(between)]
        found = await self.worker(route.last).translate(between, candidates=candidates)
        return [replace(one, source=sentence) for one, sentence in zip(found, sentences, strict=True)]

    def tokenizers(self, route: Route) -> Tokenizers:
        """Return the tokenizers of the model that writes the translation, which must be loaded."""
        return self.worker(route.last).model.translator.value.tokenizers

    def frontend_settings(self) -> dict[str, Any]:
        """Return the settings for a web page, in the format of LibreTranslate."""
        source, target = self.directions.default_pair
        keys = self.options.api_keys is not None
        return {
            "alternativesLimit": self.options.alternatives_limit,  # not in LibreTranslate
            "apiKeys": keys,
            "charLimit": self.options.char_limit,
            "filesTranslation": self.options.file_limit > 0,
            "frontendTimeout": 500,
            "keyRequired": keys,
            "language": {
                "source": {"code": source, "name": language_name(source)},
                "target": {"code": target, "name": language_name(target)},
            },
            "suggestions": False,
            "supportedFilesFormat": endings() if self.options.file_limit else [],
        }


def _text_translations(
    document: Document,
    translations: Sequence[Translation],
    most: int,
    language: str,
    tokenizers: Tokenizers | None = None,
) -> list[TextTranslation]:
    """Join sentences: the first result has the best candidate of each sentence, the second the second best …

    With tokenizers, the words of candidates with attention are aligned.
    """
    results: dict[str, TextTranslation] = {}
    for candidates in combined(translations)[:most]:
        pairs = zip(document.sentences, candidates, strict=True)
        outputs = [
            Output(one.text, links_of(sentence, one, tokenizers) if tokenizers else None) for sentence, one in pairs
        ]
        text = document.fill(outputs, language)
        score = round(sum(candidate.score for candidate in candidates), 5)
        results.setdefault(text, TextTranslation(text, score))
    return list(results.values())
