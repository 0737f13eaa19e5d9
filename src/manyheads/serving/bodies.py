"""The fields of a request: a JSON object, or a form (URL-encoded or multipart), as LibreTranslate accepts them.

A body is parsed in a thread, so that a large one does not keep the event loop from other requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from pydantic_core import from_json

from manyheads.serving.api_errors import ApiError, ClientDisconnectedError, missing_field, wrong_type
from manyheads.serving.arrivals import Arrivals
from manyheads.serving.forms import MULTIPART, URL_ENCODED, UploadedFile, form_fields, form_with_file

NAMES = frozenset(  # of the fields of all endpoints
    ("q", "source", "target", "format", "alternatives", "api_key", "sentence", "kind", "layer", "beam", "candidates")
)
# Bytes that are read of a body that is too long. Clients that are still sending would not receive the error response.
MOST_DRAINED = 32_000_000


@dataclass(frozen=True)
class Fields:
    """The fields of a request, from its body or (for a form) from its query string."""

    values: Mapping[str, Any]
    is_form: bool
    file: UploadedFile | None = None

    def text(self, name: str) -> str:
        """Return a required text."""
        value = self.values.get(name)
        if value is None or value == "":
            raise missing_field(name)
        if not isinstance(value, str):
            raise wrong_type(name, "a text")
        return self._with_newlines(value)

    def texts(self, name: str) -> str | list[str]:
        """Return a required text or list of texts."""
        value = self.values.get(name)
        if not isinstance(value, list):
            return self.text(name)
        if not value:
            raise missing_field(name)
        if not all(isinstance(text, str) for text in value):
            raise wrong_type(name, "a text or a list of texts")
        return value

    def number(self, name: str, default: int) -> int:
        """Return an optional whole number."""
        value = self.values.get(name)
        if value is None:
            return default
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and len(value) < 10 and value.removeprefix("-").isdecimal():
            return int(value)
        raise wrong_type(name, "a number")

    def optional_text(self, name: str, default: str) -> str:
        """Return an optional text."""
        value = self.values.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise wrong_type(name, "a text")
        return value

    def _with_newlines(self, text: str) -> str:
        """Return a text with newlines instead of the carriage returns that browsers add to the lines of a form."""
        return text.replace("\r\n", "\n").replace("\r", "\n") if self.is_form else text


async def read_fields(request: Request, *, limit: int, arrivals: Arrivals, with_file: bool = False) -> Fields:
    """Read the body of a request and return its fields; one `with_file` is a form and may have a file."""
    try:
        async with arrivals.limited():
            body = await _read_body(request, limit)
    except TimeoutError:
        raise ApiError(408, "Invalid request: the body did not arrive in time") from None
    content_type, query = request.headers.get("content-type", ""), dict(request.query_params)
    return await asyncio.to_thread(_parse, content_type, query, body, with_file)


def _parse(content_type: str, query: dict[str, str], body: bytes, with_file: bool) -> Fields:
    """Return the fields of a body; a form may also have fields in the query string.

    Fields of other names are dropped, so that they take no memory while the request waits.
    """
    kind = content_type.split(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        return Fields(_known(_json_fields(body)), is_form=False)
    fields, file = query, None
    if with_file and kind == MULTIPART:
        in_body, file = form_with_file(content_type, body)
        fields |= in_body
    elif kind in (URL_ENCODED, MULTIPART):
        fields |= form_fields(content_type, body)
    form = _known(fields)
    for text in form.values():
        _check_unicode(text)
    return Fields(form, is_form=True, file=file)


async def _read_body(request: Request, limit: int) -> bytes:
    """Return the body; one that is too long is read to its end (up to `MOST_DRAINED`), but not kept."""
    chunks, size = [], 0
    while size <= MOST_DRAINED:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnectedError
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= limit:
            chunks.append(chunk)
        if not message.get("more_body", False):
            break
    if size > limit:
        raise ApiError(413, f"Invalid request: the body exceeds the limit of {limit} bytes")
    return b"".join(chunks)


def _json_fields(body: bytes) -> dict[str, Any]:
    """Parse a JSON object; invalid UTF-8, invalid JSON and too deeply nested JSON give the same error."""
    try:
        values = from_json(body)
    except ValueError:
        raise ApiError(400, "Invalid request: the body is not valid JSON") from None
    if not isinstance(values, dict):
        raise ApiError(400, "Invalid JSON format")
    return values


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that an endpoint may read."""
    return {name: value for name, value in values.items() if name in NAMES}


def _check_unicode(text: str) -> None:
    """Raise an error for a text that cannot be encoded as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ApiError(400, "Invalid request: the text is not valid Unicode") from None
