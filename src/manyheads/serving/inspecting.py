"""The endpoints that look inside: attention, decoding step by step, the beam as a tree, positions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse

from manyheads.serving import schemas
from manyheads.serving.bodies import Fields
from manyheads.serving.refusals import Refusal, too_long
from manyheads.serving.service import Service
from manyheads.serving.worker import Worker

if TYPE_CHECKING:
    from manyheads.inspection.kinds import Kind

KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")
MOST_LAYERS, MOST_CANDIDATES, MOST_BEAM, MOST_POSITIONS, MOST_WIDTH = 1000, 20, 16, 512, 1024
NDJSON = "application/x-ndjson"
RECORD = schemas.answers({"type": "object"})


def inspecting(service: Service) -> APIRouter:
    """Return the endpoints that look inside."""
    router = APIRouter(tags=["inspect"])
    for add in (_add_sentences, _add_attention, _add_beam, _add_steps):
        add(router, service)
    _add_positions(router)
    return router


@dataclass(frozen=True)
class Subject:
    """The sentence that is looked into, who works in its direction, and how many candidates its translation had."""

    sentence: str
    worker: Worker
    candidates: int

    @property
    def to(self) -> str | None:
        """The language to translate into, for a run that has to be told."""
        return self.worker.direction.to

    async def tokens(self) -> list[int]:
        """Return the tokens of the translation that is served, by whichever engine."""
        return await self.worker.tokens(self.sentence, candidates=self.candidates)


def _add_sentences(router: APIRouter, service: Service) -> None:
    """Add `/sentences`: what can be looked into."""
    admission = service.admission

    @router.post(
        "/sentences",
        responses=schemas.answers(schemas.record({"sentences": schemas.list_of({"type": "string"})})),
        openapi_extra=schemas.inspect_body(service.directions, service.options),
    )
    async def sentences(request: Request) -> dict[str, list[str]]:
        """Split a text into the sentences that are translated, each of which can be looked into."""
        async with admission.admitted(request) as fields:
            worker, text = _asked(service, fields, request.state.facts)
            return {"sentences": await admission.attended(request, worker.sentences(text))}


def _add_attention(router: APIRouter, service: Service) -> None:
    """Add `/inspect`: the weights of one layer."""
    admission = service.admission

    @router.post(
        "/inspect",
        responses=RECORD,
        openapi_extra=_request_body(
            service,
            kind=schemas.text("Which attention.", enum=list(KINDS), default="cross"),
            layer=schemas.number("Which layer, from 1; by default the last.", minimum=1, maximum=MOST_LAYERS),
        ),
    )
    async def inspect(request: Request) -> Response:
        """Return the attention weights of one layer, every head, for one sentence and its translation."""
        async with admission.admitted(request) as fields:
            kind, layer = _kind(fields), _within(fields, "layer", None, 1, MOST_LAYERS)

            async def look() -> Response:
                """Look at the weights of the translation that is served."""
                one = await _subject(service, fields, request.state.facts)
                tokens = await one.tokens()
                return await one.worker.look(
                    lambda inspector: _answer(
                        inspector.attention(one.sentence, kind=kind, layer=layer, tokens=tokens, to=one.to).to_json()
                    )
                )

            return await admission.attended(request, look())


def _add_beam(router: APIRouter, service: Service) -> None:
    """Add `/beam`: a search as a tree."""
    admission = service.admission

    @router.post(
        "/beam",
        responses=RECORD,
        openapi_extra=_request_body(
            service,
            beam=schemas.number(
                "Hypotheses kept at each step; by default as many as for the translation.", minimum=1, maximum=MOST_BEAM
            ),
        ),
    )
    async def beam(request: Request) -> Response:
        """Return the beam search for one sentence as a tree."""
        async with admission.admitted(request) as fields:
            width = _within(fields, "beam", None, 1, MOST_BEAM)

            async def look() -> Response:
                """Look at the search."""
                one = await _subject(service, fields, request.state.facts)
                wide = width or one.worker.beam(one.candidates)
                return await one.worker.look(
                    lambda inspector: _answer(inspector.beam(one.sentence, beam=wide, to=one.to).to_json())
                )

            return await admission.attended(request, look())


def _add_steps(router: APIRouter, service: Service) -> None:
    """Add `/steps`: decoding as it goes on."""
    admission = service.admission

    @router.post(
        "/steps",
        responses=schemas.answers(None, kind=NDJSON),
        response_class=StreamingResponse,
        openapi_extra=_request_body(
            service,
            candidates=schemas.number("Candidates shown at each step.", minimum=1, maximum=MOST_CANDIDATES, default=5),
        ),
    )
    async def steps(request: Request) -> StreamingResponse:
        """Decode the translation of one sentence once more and stream each step as a line of JSON."""
        async with admission.admitted(request) as fields:
            shown = _within(fields, "candidates", 5, 1, MOST_CANDIDATES)
            one = await admission.attended(request, _subject(service, fields, request.state.facts))
            tokens = await admission.attended(request, one.tokens())
            found = one.worker.watch(
                lambda inspector: inspector.steps(one.sentence, candidates=shown, tokens=tokens, to=one.to)
            )
            # What is wrong from the beginning is told with a status, not in a line.
            first = await admission.attended(request, _next(found))
        return StreamingResponse(_lines(first, found, service.options.request_seconds), media_type=NDJSON)


def _add_positions(router: APIRouter) -> None:
    """Add `/positions`, which is the same for every model."""

    @router.get("/positions", responses=RECORD)
    async def positions(
        length: int = Query(50, ge=1, le=MOST_POSITIONS, description="Positions."),
        width: int = Query(128, ge=2, le=MOST_WIDTH, multiple_of=2, description="Width of an encoding."),
    ) -> Response:
        """Return the sinusoidal positional encodings and their dot products."""
        return await asyncio.to_thread(_positions, length, width)


def _request_body(service: Service, **more: schemas.Schema) -> schemas.Schema:
    """Describe what a request has: a text, a direction, which sentence, and what else is named."""
    options = service.options
    which = schemas.number("Which sentence of the text, from 1.", minimum=1, maximum=options.char_limit, default=1)
    alternatives = schemas.number(
        "Alternatives that the translation was asked for with, since they can widen the beam.",
        minimum=0,
        maximum=options.alternatives_limit,
        default=0,
    )
    return schemas.inspect_body(service.directions, options, sentence=which, alternatives=alternatives, **more)


def _asked(service: Service, fields: Fields, facts: dict[str, Any]) -> tuple[Worker, str]:
    """Return who works in the direction asked for, and the text to be looked into."""
    text = fields.text("q")
    service.check_size([text])
    direction = service.directions.find(fields.text("source"), fields.text("target"))
    facts |= {"direction": str(direction), "characters": len(text)}
    if service.options.log_texts:
        facts["q"] = text
    return service.worker(direction), text


async def _subject(service: Service, fields: Fields, facts: dict[str, Any]) -> Subject:
    """Return the sentence to be looked into."""
    worker, text = _asked(service, fields, facts)
    number = _within(fields, "sentence", 1, 1, service.options.char_limit)
    candidates = 1 + _within(fields, "alternatives", 0, 0, service.options.alternatives_limit)
    sentences = await worker.sentences(text)
    if not sentences:
        raise Refusal(400, "Invalid request: a text without letters is not translated, so there is nothing to look at")
    if number > len(sentences):
        raise Refusal(400, f"Invalid request: there is no sentence {number}, the last one is {len(sentences)}")
    sentence = sentences[number - 1]
    if len(sentence) > service.options.inspect_limit:
        cure = "It is translated, but too long to look into."
        raise too_long(len(sentence), service.options.inspect_limit, of="characters", cure=cure)
    return Subject(sentence, worker, candidates)


def _kind(fields: Fields) -> Kind:
    """Return which attention is asked for."""
    asked = fields.choice("kind", "cross")
    for kind in KINDS:
        if kind == asked:
            return kind
    raise Refusal(400, f"Invalid request: kind parameter must be one of {', '.join(KINDS)}")


@overload
def _within(fields: Fields, name: str, default: int, least: int, most: int) -> int: ...
@overload
def _within(fields: Fields, name: str, default: None, least: int, most: int) -> int | None: ...
def _within(fields: Fields, name: str, default: int | None, least: int, most: int) -> int | None:
    """Return a number between two others, or the default."""
    if default is None and fields.values.get(name) is None:
        return None
    value = fields.number(name, default or 0)
    if not least <= value <= most:
        raise Refusal(400, f"Invalid request: {name} parameter must be from {least} to {most}")
    return value


def _positions(length: int, width: int) -> Response:
    """Return the table of positions."""
    from manyheads.inspection.inspector import position_table

    return _answer(position_table(length=length, width=width).to_json())


def _answer(values: dict[str, Any]) -> Response:
    """Return values as JSON. Called in a thread: to write a million weights takes long enough for others to notice."""
    return Response(_line(values), media_type="application/json")


async def _next(found: AsyncIterator[Any]) -> Any:  # noqa: ANN401
    """Return the first step, or None if there is none."""
    return await anext(found, None)


async def _lines(first: Any, found: AsyncIterator[Any], seconds: float) -> AsyncIterator[str]:  # noqa: ANN401
    """Yield steps as lines; what goes wrong on the way can only be told in a line of its own."""
    try:
        async with asyncio.timeout(seconds):
            if first is not None:
                yield _line(first.to_json())
            async for one in found:
                yield _line(one.to_json())
    except TimeoutError:
        yield _line({"error": f"Slowdown: no end within {seconds:g} seconds"})


def _line(values: dict[str, Any]) -> str:
    """Return a line of JSON."""
    return json.dumps(values, ensure_ascii=False) + "\n"
