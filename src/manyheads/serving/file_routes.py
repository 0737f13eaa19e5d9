"""LibreTranslate's endpoints for files: /translate_file, and /download_file for what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from manyheads.decoding.text.document_languages import require_target
from manyheads.decoding.text.linking import links_of
from manyheads.decoding.text.mending import Mending
from manyheads.decoding.text.styled import with_whole_sentences
from manyheads.decoding.translator import Translation
from manyheads.documents.formats import PACKED
from manyheads.documents.interface import Filling, Styled
from manyheads.documents.opening import OpenedDocument, read_document
from manyheads.documents.selection import Selection, Text
from manyheads.documents.split_text import SplitText
from manyheads.documents.tag_placing import has_tags_within, placed
from manyheads.serving import schemas
from manyheads.serving.api_errors import ApiError, missing_field, too_large
from manyheads.serving.bodies import Fields
from manyheads.serving.directions import Route
from manyheads.serving.forms import UploadedFile
from manyheads.serving.service import Service


def file_routes(service: Service) -> APIRouter:
    """Return the endpoints for files."""
    router = APIRouter(tags=["translate"])
    admission = service.admission

    @router.post(
        "/translate_file",
        responses=schemas.responses(schemas.TRANSLATED_FILE),
        openapi_extra=schemas.file_body(service.directions),
    )
    async def translate_file(request: Request) -> JSONResponse:
        """Translate a file; the answer has the address at which the result can be fetched for some time."""
        if not service.options.file_limit:
            raise ApiError(403, "File translation is disabled on this server")
        async with admission.admitted(request, with_file=True) as fields:
            work = _translate_file(service, fields, request.state.log_fields)
            answer = await admission.run_while_connected(request, work)
            name = answer.pop("name")
            return JSONResponse({"translatedFileUrl": str(request.url_for("download_file", name=name)), **answer})

    @router.get("/download_file/{name}", responses=schemas.DOWNLOAD, response_class=Response)
    async def download_file(name: str) -> Response:
        """Return a translated file."""
        file = service.finished_files.find(name)
        if file is None:
            raise ApiError(404, "There is no such file, or it has been deleted since")
        headers = {
            "Content-Disposition": f'attachment; filename="{file.name}"',
            "Cache-Control": "no-store",
        }
        return Response(file.content, media_type="application/octet-stream", headers=headers)

    return router


async def _translate_file(service: Service, fields: Fields, log_fields: dict[str, Any]) -> dict[str, Any]:
    """Translate the file of a request; return the name of the result, and what else is in the response."""
    file = _uploaded(fields, service.options.file_limit)
    source, target = fields.text("source"), fields.text("target")
    form = fields.optional_text("format", "") or None
    async with service.file_places:
        opened = await asyncio.to_thread(read_document, file.content, file.name, format=form, language=target)
        require_target(target, opened.document.languages[1], where=file.name)
        selection = Selection.of(opened.document, "needed")
        texts = list(selection.lines)
        characters = sum(len(text.styled.text) for text in texts)
        if characters > (limit := service.options.file_char_limit):
            raise too_large(characters, limit, of="characters to translate", cure="Divide the file.")
        route, detected = await service.choose_route(source, target, "\n".join(text.styled.text for text in texts))
        log_fields |= {"direction": str(route), "characters": characters, "format": opened.format.name}
        service.metrics.characters.labels(str(route)).inc(characters)
        translations = dict(zip(texts, await _translated(service, route, texts), strict=True))
        content, warnings = await asyncio.to_thread(_filled, opened, selection, translations, target, file.name)
    answer: dict[str, Any] = {"name": service.finished_files.add(_result_name(file.name, target), content)}
    if detected is not None:
        answer["detectedLanguage"] = detected.chosen.to_json()
    if route.pivot is not None:
        answer["pivotLanguage"] = {"language": route.pivot}
    if warnings:  # not in LibreTranslate: what was not translated
        answer["warnings"] = warnings
    return answer


def _uploaded(fields: Fields, limit: int) -> UploadedFile:
    """Return the file of a request, with its name alone; raise an error if it is missing or too large."""
    file = fields.file
    if file is None or not file.name:
        raise missing_field("file")
    if not file.content:
        raise ApiError(400, "Invalid request: empty file")
    if len(file.content) > limit:
        raise too_large(len(file.content), limit, of="bytes", cure="Divide the file.")
    return UploadedFile(PurePath(file.name.replace("\\", "/")).name, file.content)


def _result_name(name: str, target: str) -> str:
    """Return the name of a translated file: notes_de.txt for notes.txt, and de_fr.po.gz for de.po.gz."""
    place = PurePath(name.removesuffix(PACKED))
    packed = PACKED if name.endswith(PACKED) else ""
    return f"{place.stem}_{target}{place.suffix}{packed}"


async def _translated(service: Service, route: Route, texts: Sequence[Text]) -> list[Styled]:
    """Return the translations of texts with tags, in batches with those of other requests."""
    first = service.worker(route.legs[0])
    split, splitter = await first.splitting(), first.model.translator.value.splitter
    whole = [with_whole_sentences(text.styled, splitter, route.last.target) for text in texts]
    splits = await asyncio.to_thread(lambda: [split(text.text) for text in whole])
    pairs = list(zip(whole, splits, strict=True))
    sentences = [sentence for parts in splits for sentence in parts.sentences]
    aligned = [within for pair in pairs for within in has_tags_within(*pair)]
    formats = [text.formats for text, parts in zip(texts, splits, strict=True) for _ in parts.sentences]
    translations = await service.translate_sentences(route, sentences, aligned=aligned)
    mending = await asyncio.to_thread(Mending.of, translations, formats)
    again = await service.translate_sentences(route, mending.texts, aligned=[True] * len(mending.texts))
    return await asyncio.to_thread(_placed, service, route, pairs, mending, translations, again)


def _placed(
    service: Service,
    route: Route,
    pairs: Sequence[tuple[Styled, SplitText]],
    mending: Mending,
    translations: Sequence[Translation],
    again: Sequence[Translation],
) -> list[Styled]:
    """Return the translations of texts from those of their sentences, with what was wrong put right, and their tags."""
    if not translations:
        return [text for text, _ in pairs]
    tokenizers = service.tokenizers(route)
    found = iter(mending.mended(translations, again, tokenizers))
    placed_texts = []
    for text, parts in pairs:
        some = list(islice(found, len(parts.sentences)))
        links = [links_of(one.source, one.candidates[0], tokenizers) if one.candidates else None for one in some]
        placed_texts.append(placed(text, parts, [one.text for one in some], route.last.target, links))
    return placed_texts


def _filled(
    opened: OpenedDocument, selection: Selection, translations: Mapping[Text, Styled], target: str, name: str
) -> tuple[bytes, list[str]]:
    """Return the content of the translated file, and sentences on the texts that are left as they are."""
    filled = selection.fill(translations, Filling(opened.document.languages[1] or target))
    return opened.encode(filled.content, name), [str(fault) for fault in filled.faults]
