"""Forms, URL-encoded or multipart, in UTF-8: texts by the names of their fields.

Everything here computes and waits for nothing, so that it can run in a thread.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qsl

from python_multipart.multipart import Field, File, FormParser, parse_options_header

from manyheads.serving.api_errors import ApiError

URL_ENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
MOST_FIELDS = 100  # no client needs more
_UTF_8 = frozenset({"utf-8", "utf8"})


class UploadedFile(NamedTuple):
    """A file of a form: its name, and its content."""

    name: str
    content: bytes


def form_fields(content_type: str, body: bytes) -> dict[str, str]:
    """Return the fields of a form without files; see `form_with_file`."""
    fields, file = form_with_file(content_type, body)
    if file is not None:
        raise ApiError(400, "Invalid request: this endpoint accepts no files")
    return fields


def form_with_file(content_type: str, body: bytes) -> tuple[dict[str, str], UploadedFile | None]:
    """Return the fields of a form and its file; of a repeated field, and of several files, the first is used.

    Other charsets than UTF-8 are refused by their name: Python has some that need quadratic time.
    """
    kind, parameters = parse_options_header(content_type)
    charset = parameters.get(b"charset", b"utf-8").decode("latin-1").strip().lower()
    if charset not in _UTF_8:
        raise ApiError(415, "Invalid request: a form must be in UTF-8")
    files: list[UploadedFile] = []
    try:
        if kind.decode("latin-1") == URL_ENCODED:
            pairs = _url_encoded(body)
        else:
            found = _multipart(parameters, body, files)
            pairs = [(name.decode("utf-8"), value.decode("utf-8")) for name, value in found]
    except (ValueError, LookupError, AssertionError, AttributeError, TypeError):  # all of them from multipart forms
        raise ApiError(400, "Invalid request: the body is not a valid form in UTF-8") from None
    return dict(reversed(pairs)), next(iter(files), None)


def _url_encoded(body: bytes) -> list[tuple[str, str]]:
    """Return the names and values of a URL-encoded form."""
    return parse_qsl(body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)


def _multipart(parameters: dict[bytes, bytes], body: bytes, files: list[UploadedFile]) -> list[tuple[bytes, bytes]]:
    """Return the names and values of a multipart form, and add its files to a list."""
    pairs: list[tuple[bytes, bytes]] = []

    def add(field: Field) -> None:
        """Keep a field."""
        _check_count(pairs, files)
        pairs.append((field.field_name or b"", field.value or b""))

    def add_file(file: File) -> None:
        """Keep a file."""
        _check_count(pairs, files)
        file.file_object.seek(0)
        files.append(UploadedFile((file.file_name or b"").decode("utf-8"), file.file_object.read()))

    in_memory = {"MAX_MEMORY_FILE_SIZE": len(body) + 1}
    parser = FormParser(MULTIPART, add, add_file, boundary=parameters[b"boundary"], config=in_memory)
    parser.write(body)
    parser.finalize()
    return pairs


def _check_count(pairs: list[tuple[bytes, bytes]], files: list[UploadedFile]) -> None:
    """Raise an error before there are too many fields and files."""
    if len(pairs) + len(files) == MOST_FIELDS:
        raise ValueError("too many fields")
