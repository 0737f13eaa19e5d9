"""LibreTranslate's endpoints: /translate, /detect, /languages, /frontend/settings."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from manyheads.serving import schemas
from manyheads.serving.bodies import Fields
from manyheads.serving.refusals import Refusal
from manyheads.serving.service import Detected, Service, Version


def translating(service: Service) -> APIRouter:
    """Return the endpoints that LibreTranslate's clients know."""
    router = APIRouter(tags=["translate"])
    admission, directions, options = service.admission, service.directions, service.options

    @router.post(
        "/translate",
        responses=schemas.answers(schemas.TRANSLATION),
        openapi_extra=schemas.translate_body(directions, options),
    )
    async def translate(request: Request) -> JSONResponse:
        """Translate a text, or a list of texts, from one language into another."""
        async with admission.admitted(request) as fields:
            return JSONResponse(await admission.attended(request, _translate(service, fields, request.state.facts)))

    @router.post(
        "/detect",
        responses=schemas.answers(schemas.list_of(schemas.DETECTION)),
        openapi_extra=schemas.detect_body(options),
    )
    async def detect(request: Request) -> JSONResponse:
        """Say which of the served languages a text is in, most probable first."""
        async with admission.admitted(request) as fields:
            text = fields.text("q")
            request.state.facts["characters"] = service.check_size([text])
            found = await admission.attended(request, service.detect(text))
            return JSONResponse([one.to_json() for one in found])

    @router.get("/languages", responses=schemas.answers(schemas.LANGUAGES, errors=False))
    async def languages() -> list[dict[str, Any]]:
        """List the languages, and what each can be translated into."""
        return directions.languages()

    @router.get("/frontend/settings", responses=schemas.answers(schemas.SETTINGS, errors=False), tags=["frontend"])
    async def settings() -> dict[str, Any]:
        """Return what a page should know about this server."""
        return service.settings()

    return router


async def _translate(service: Service, fields: Fields, facts: dict[str, Any]) -> dict[str, Any]:
    """Answer /translate."""
    asked = fields.texts("q")
    source, target = fields.text("source"), fields.text("target")
    alternatives = _alternatives(fields, service.options.alternatives_limit)
    texts = asked if isinstance(asked, list) else [asked]
    characters = service.check_size(texts)
    read = await service.read(texts, fields.choice("format", "text"))
    direction, detected = await service.direction(source, target, "\n".join(one.plain for one in read))
    documents = await service.worker(direction).take_apart(read)
    facts |= {"direction": str(direction), "characters": characters, "texts": len(texts)}
    facts["sentences"] = sum(len(document.sentences) for document in documents)
    service.meter.characters.labels(str(direction)).inc(characters)
    versions = await service.translate(direction, documents, alternatives=alternatives)
    answer = _answer(versions, detected, alternatives=alternatives > 0)
    if service.options.log_texts:
        facts |= {"q": asked, "translatedText": answer["translatedText"]}
    return answer if isinstance(asked, list) else {name: values[0] for name, values in answer.items()}


def _alternatives(fields: Fields, limit: int) -> int:
    """Return how many alternatives are asked for."""
    alternatives = fields.number("alternatives", 0)
    if alternatives > limit:
        raise Refusal(400, f"Invalid request: alternatives parameter must be <= {limit}")
    if alternatives < 0:
        raise Refusal(400, "Invalid request: alternatives parameter must be >= 0")
    return alternatives


def _answer(versions: list[list[Version]], detected: Detected | None, *, alternatives: bool) -> dict[str, list[Any]]:
    """Return the answer for a list of texts: in each field one entry for each text."""
    answer: dict[str, list[Any]] = {"translatedText": [some[0].text for some in versions]}
    if detected is not None:
        answer["detectedLanguage"] = [detected.taken.to_json()] * len(versions)
        if len(detected.likely) > 1:  # ours: what a person may choose from
            answer["likelyLanguages"] = [[one.to_json() for one in detected.likely]] * len(versions)
    if alternatives:
        answer["alternatives"] = [[one.text for one in some[1:]] for some in versions]
        answer["score"] = [some[0].score for some in versions]
        answer["alternativeScores"] = [[one.score for one in some[1:]] for some in versions]
    return answer
