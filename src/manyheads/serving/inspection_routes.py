"""The endpoints for inspection: attention, decoding steps, the beam as a tree, positions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse

from manyheads.serving import schemas
from manyheads.serving.api_errors import ApiError, too_large
from manyheads.serving.bodies import Fields
from manyheads.serving.service import Service
from manyheads.serving.worker import Worker

if TYPE_CHECKING:
    from manyheads.inspection.kinds import Kind

KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")
MOST_LAYERS, MOST_CANDIDATES, MOST_BEAM, MOST_POSITIONS, MOST_WIDTH = 1000, 20, 16, 128, 512
NDJSON = "application/x-ndjson"
RECORD = schemas.responses({"type": "object"})


def inspection_routes(service: Service) -> APIRouter:
    """Return the endpoints for inspection."""
    router = APIRouter(tags=["inspect"])
    for add in (_add_sentences, _add_attention, _add_beam, _add_steps):
        add(router, service)
    _add_positions(router, service)
    return router


@dataclass(frozen=True)
class Subject:
    """The sentence to inspect, the worker of its direction, and the number of candidates of its translation."""

    sentence: str
    worker: Worker
    candidates: int

    @property
    def to(self) -> str | None:
        """The target language, for a run that has several."""
        return self.worker.direction.to

    async def tokens(self) -> list[int]:
        """Return the tokens of the translation that `/translate` returns."""
        return await self.worker.tokens(self.sentence, candidates=self.candidates)


def _add_sentences(router: APIRouter, service: Service) -> None:
    """Add `/sentences`: the sentences that can be inspected."""
    admission = service.admission

    @router.post(
        "/sentences",
        responses=schemas.responses(schemas.record({"sentences": schemas.list_of({"type": "string"})})),
        openapi_extra=schemas.inspect_body(service.directions, service.options),
    )
    async def sentences(request: Request) -> dict[str, list[str]]:
        """Split a text into the sentences that are translated, each of which can be inspected."""
        async with admission.admitted(request) as fields:
            worker, text = _worker_and_text(service, fields, request.state.log_fields)
            return {"sentences": await admission.run_while_connected(request, worker.sentences(text))}


def _add_attention(router: APIRouter, service: Service) -> None:
    """Add `/inspect`: the attention weights of one layer."""
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
        """Return the attention weights of all heads of one layer, for one sentence and its translation."""
        async with admission.admitted(request) as fields:
            kind, layer = _kind(fields), _number_within(fields, "layer", None, 1, MOST_LAYERS)

            async def attention() -> Response:
                """Return the weights for the translation that `/translate` returns."""
                subject = await _subject(service, fields, request.state.log_fields)
                tokens = await subject.tokens()
                return await subject.worker.inspect(
                    lambda inspector: _json_response(
                        inspector.attention(
                            subject.sentence, kind=kind, layer=layer, tokens=tokens, to=subject.to
                        ).to_json()
                    )
                )

            return await admission.run_while_connected(request, attention())


def _add_beam(router: APIRouter, service: Service) -> None:
    """Add `/beam`: beam search as a tree."""
    admission = service.admission

    @router.post(
        "/beam",
        responses=RECORD,
        openapi_extra=_request_body(
            service,
            beam=schemas.number(
                "Hypotheses kept at each step; by default, those of the translation.", minimum=1, maximum=MOST_BEAM
            ),
        ),
    )
    async def beam(request: Request) -> Response:
        """Return the beam search for one sentence as a tree."""
        async with admission.admitted(request) as fields:
            given = _number_within(fields, "beam", None, 1, MOST_BEAM)

            async def tree() -> Response:
                """Return the tree."""
                subject = await _subject(service, fields, request.state.log_fields)
                width = given or subject.worker.beam_width(subject.candidates)
                return await subject.worker.inspect(
                    lambda inspector: _json_response(
                        inspector.beam(subject.sentence, beam=width, to=subject.to).to_json()
                    )
                )

            return await admission.run_while_connected(request, tree())


def _add_steps(router: APIRouter, service: Service) -> None:
    """Add `/steps`: decoding steps as a stream."""
    admission = service.admission

    @router.post(
        "/steps",
        responses=schemas.responses(None, kind=NDJSON),
        response_class=StreamingResponse,
        openapi_extra=_request_body(
            service,
            candidates=schemas.number("Candidates shown at each step.", minimum=1, maximum=MOST_CANDIDATES, default=5),
        ),
    )
    async def steps(request: Request) -> StreamingResponse:
        """Decode the translation of one sentence again, and stream each step as a line of JSON."""
        async with admission.admitted(request) as fields:
            candidates = _number_within(fields, "candidates", 5, 1, MOST_CANDIDATES)
            work = _subject(service, fields, request.state.log_fields)
            subject = await admission.run_while_connected(request, work)
            tokens = await admission.run_while_connected(request, subject.tokens())
            stream = subject.worker.inspect_stream(
                lambda inspector: inspector.steps(subject.sentence, candidates=candidates, tokens=tokens, to=subject.to)
            )
            # Wait for the first step, so that an error before it is a response with a status, and not a line.
            first = await admission.run_while_connected(request, _next(stream))
        return StreamingResponse(_lines(first, stream, service.options.request_seconds), media_type=NDJSON)


def _add_positions(router: APIRouter, service: Service) -> None:
    """Add `/positions`, which does not depend on a model."""
    admission = service.admission

    @router.get("/positions", responses=RECORD)
    async def positions(
        request: Request,
        length: int = Query(50, ge=1, le=MOST_POSITIONS, description="Number of positions."),
        width: int = Query(128, ge=2, le=MOST_WIDTH, multiple_of=2, description="Width of an encoding."),
    ) -> Response:
        """Return the sinusoidal positional encodings and their dot products."""
        async with admission.admitted(request):
            return await admission.run_while_connected(request, asyncio.to_thread(_positions, length, width))


def _request_body(service: Service, **more: schemas.Schema) -> schemas.Schema:
    """Return the schema of a body with a text, its languages, the number of a sentence, and `more` fields."""
    options = service.options
    which = schemas.number("Number of the sentence, from 1.", minimum=1, maximum=options.char_limit, default=1)
    alternatives = schemas.number(
        "Number of alternatives in the request to /translate, since more of them can widen the beam.",
        minimum=0,
        maximum=options.alternatives_limit,
        default=0,
    )
    return schemas.inspect_body(service.directions, options, sentence=which, alternatives=alternatives, **more)


def _worker_and_text(service: Service, fields: Fields, log_fields: dict[str, Any]) -> tuple[Worker, str]:
    """Return the worker of the requested direction, and the text to inspect."""
    text = fields.text("q")
    direction = service.directions.find(fields.text("source"), fields.text("target"))
    log_fields |= {"direction": str(direction), "characters": len(text)}
    if service.options.log_texts:
        log_fields["q"] = text
    return service.worker(direction), text


async def _subject(service: Service, fields: Fields, log_fields: dict[str, Any]) -> Subject:
    """Return the sentence to inspect."""
    worker, text = _worker_and_text(service, fields, log_fields)
    number = _number_within(fields, "sentence", 1, 1, service.options.char_limit)
    candidates = 1 + _number_within(fields, "alternatives", 0, 0, service.options.alternatives_limit)
    sentences = await worker.sentences(text)
    if not sentences:
        raise ApiError(400, "Invalid request: a text without letters is not translated, so there is nothing to look at")
    if number > len(sentences):
        raise ApiError(400, f"Invalid request: there is no sentence {number}, the last one is {len(sentences)}")
    sentence = sentences[number - 1]
    if len(sentence) > service.options.inspect_limit:
        cure = "It is translated, but too long to look into."
        raise too_large(len(sentence), service.options.inspect_limit, of="characters", cure=cure)
    return Subject(sentence, worker, candidates)


def _kind(fields: Fields) -> Kind:
    """Return the requested kind of attention."""
    name = fields.optional_text("kind", "cross")
    for kind in KINDS:
        if kind == name:
            return kind
    raise ApiError(400, f"Invalid request: kind parameter must be one of {', '.join(KINDS)}")


@overload
def _number_within(fields: Fields, name: str, default: int, least: int, most: int) -> int: ...
@overload
def _number_within(fields: Fields, name: str, default: None, least: int, most: int) -> int | None: ...
def _number_within(fields: Fields, name: str, default: int | None, least: int, most: int) -> int | None:
    """Return an optional number from `least` to `most`."""
    if default is None and fields.values.get(name) is None:
        return None
    value = fields.number(name, default or 0)
    if not least <= value <= most:
        raise ApiError(400, f"Invalid request: {name} parameter must be from {least} to {most}")
    return value


def _positions(length: int, width: int) -> Response:
    """Return the response of /positions."""
    from manyheads.inspection.inspector import position_table

    return _json_response(position_table(length=length, width=width).to_json())


def _json_response(values: dict[str, Any]) -> Response:
    """Return values as JSON. Called in a thread, since a million weights would block the event loop for too long."""
    return Response(_line(values), media_type="application/json")


async def _next(steps: AsyncIterator[Any]) -> Any:  # noqa: ANN401
    """Return the next step, or None if there is none."""
    return await anext(steps, None)


async def _lines(first: Any, steps: AsyncIterator[Any], seconds: float) -> AsyncIterator[str]:  # noqa: ANN401
    """Yield steps as lines; an error after the first step can only be reported as a line."""
    try:
        async with asyncio.timeout(seconds):
            if first is not None:
                yield _line(first.to_json())
            async for step in steps:
                yield _line(step.to_json())
    except TimeoutError:
        yield _line({"error": f"Slowdown: no end within {seconds:g} seconds"})


def _line(values: dict[str, Any]) -> str:
    """Return values as a line of JSON."""
    return json.dumps(values, ensure_ascii=False) + "\n"
