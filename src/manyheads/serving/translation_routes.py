"""LibreTranslate's endpoints: /translate, /detect, /languages, /frontend/settings."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from manyheads.serving import schemas
from manyheads.serving.api_errors import ApiError
from manyheads.serving.bodies import Fields
from manyheads.serving.service import DetectedSource, Service, TextTranslation


def translation_routes(service: Service) -> APIRouter:
    """Return the endpoints of LibreTranslate."""
    router = APIRouter(tags=["translate"])
    admission, directions, options = service.admission, service.directions, service.options

    @router.post(
        "/translate",
        responses=schemas.responses(schemas.TRANSLATION),
        openapi_extra=schemas.translate_body(directions, options),
    )
    async def translate(request: Request) -> JSONResponse:
        """Translate a text, or a list of texts, from one language into another."""
        async with admission.admitted(request) as fields:
            work = _translate(service, fields, request.state.log_fields)
            return JSONResponse(await admission.run_while_connected(request, work))

    @router.post(
        "/detect",
        responses=schemas.responses(schemas.list_of(schemas.DETECTION)),
        openapi_extra=schemas.detect_body(options),
    )
    async def detect(request: Request) -> JSONResponse:
        """Detect the language of a text among the served languages, most probable first."""
        async with admission.admitted(request) as fields:
            text = fields.text("q")
            request.state.log_fields["characters"] = len(text)
            detections = await admission.run_while_connected(request, service.detect(text))
            return JSONResponse([detection.to_json() for detection in detections])

    @router.get("/languages", responses=schemas.responses(schemas.LANGUAGES, errors=False))
    async def languages() -> list[dict[str, Any]]:
        """List the languages, and the target languages of each."""
        return directions.languages()

    @router.get("/frontend/settings", responses=schemas.responses(schemas.SETTINGS, errors=False), tags=["frontend"])
    async def settings() -> dict[str, Any]:
        """Return the limits and defaults of this server for a web page."""
        return service.frontend_settings()

    return router


async def _translate(service: Service, fields: Fields, log_fields: dict[str, Any]) -> dict[str, Any]:
    """Return the response of /translate."""
    q = fields.texts("q")
    source, target = fields.text("source"), fields.text("target")
    alternatives = _alternatives(fields, service.options.alternatives_limit)
    texts = q if isinstance(q, list) else [q]
    characters = sum(map(len, texts))
    parsed = await service.parse(texts, fields.optional_text("format", "text"))
    route, detected = await service.choose_route(source, target, "\n".join(text.plain for text in parsed))
    first = service.worker(route.legs[0])
    splitter = (await first.model.translator.load()).splitter
    whole = [text.changed(lambda plain: splitter.with_sentences(plain, route.last.target)) for text in parsed]
    documents = await first.split(whole)
    log_fields |= {"direction": str(route), "characters": characters, "texts": len(texts)}
    log_fields["sentences"] = sum(len(document.sentences) for document in documents)
    service.metrics.characters.labels(str(route)).inc(characters)
    translations = await service.translate(route, documents, alternatives=alternatives)
    notes = [first.long_words.notes(document.sentences) for document in documents]
    response = _response(translations, detected, notes, alternatives=alternatives > 0)
    if route.pivot is not None:  # not in LibreTranslate: the language in between
        response["pivotLanguage"] = [{"language": route.pivot}] * len(texts)
    if service.options.log_texts:
        log_fields |= {"q": q, "translatedText": response["translatedText"]}
    return response if isinstance(q, list) else {name: values[0] for name, values in response.items()}


def _alternatives(fields: Fields, limit: int) -> int:
    """Return the requested number of alternatives."""
    alternatives = fields.number("alternatives", 0)
    if alternatives > limit:
        raise ApiError(400, f"Invalid request: alternatives parameter must be <= {limit}")
    if alternatives < 0:
        raise ApiError(400, "Invalid request: alternatives parameter must be >= 0")
    return alternatives


def _response(
    translations: list[list[TextTranslation]],
    detected: DetectedSource | None,
    notes: list[list[str]],
    *,
    alternatives: bool,
) -> dict[str, list[Any]]:
    """Return the response for a list of texts: every field has one entry per text."""
    response: dict[str, list[Any]] = {"translatedText": [best.text for best, *_ in translations]}
    if detected is not None:
        response["detectedLanguage"] = [detected.chosen.to_json()] * len(translations)
        if len(detected.likely) > 1:  # not in LibreTranslate: languages for the user to choose from
            likely = [detection.to_json() for detection in detected.likely]
            response["likelyLanguages"] = [likely] * len(translations)
    if alternatives:
        response["alternatives"] = [[other.text for other in others] for _, *others in translations]
        response["score"] = [best.score for best, *_ in translations]
        response["alternativeScores"] = [[other.score for other in others] for _, *others in translations]
    if any(notes):  # not in LibreTranslate: what was not translated
        response["notes"] = notes
    return response
