"""Forms, URL-encoded or multipart, in UTF-8: texts by the names of their fields.

Everything here computes and waits for nothing, so that it can run in a thread.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

from python_multipart.multipart import Field, File, FormParser, parse_options_header

from manyheads.serving.api_errors import ApiError

URL_ENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
MOST_FIELDS = 100  # no client needs more
_UTF_8 = frozenset({"utf-8", "utf8"})


def form_fields(content_type: str, body: bytes) -> dict[str, str]:
    """Return the fields of a form; of a repeated field, the first value is used.

    Other charsets than UTF-8 are refused by their name: Python has some that need quadratic time.
    """
    kind, parameters = parse_options_header(content_type)
    charset = parameters.get(b"charset", b"utf-8").decode("latin-1").strip().lower()
    if charset not in _UTF_8:
        raise ApiError(415, "Invalid request: a form must be in UTF-8")
    try:
        if kind.decode("latin-1") == URL_ENCODED:
            pairs = _url_encoded(body)
        else:
            pairs = [(name.decode("utf-8"), value.decode("utf-8")) for name, value in _multipart(parameters, body)]
    except (ValueError, LookupError, AssertionError, AttributeError, TypeError):  # all of them from multipart forms
        raise ApiError(400, "Invalid request: the body is not a valid form in UTF-8") from None
    return dict(reversed(pairs))


def _url_encoded(body: bytes) -> list[tuple[str, str]]:
    """Return the names and values of a URL-encoded form."""
    return parse_qsl(body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)


def _multipart(parameters: dict[bytes, bytes], body: bytes) -> list[tuple[bytes, bytes]]:
    """Return the names and values of a multipart form."""
    pairs: list[tuple[bytes, bytes]] = []

    def add(field: Field) -> None:
        """Keep a field."""
        if len(pairs) == MOST_FIELDS:
            raise ValueError("too many fields")
        pairs.append((field.field_name or b"", field.value or b""))

    def refuse(file: File) -> None:
        """Refuse a file."""
        raise ValueError("files are not accepted")

    in_memory = {"MAX_MEMORY_FILE_SIZE": len(body) + 1}
    parser = FormParser(MULTIPART, add, refuse, boundary=parameters[b"boundary"], config=in_memory)
    parser.write(body)
    parser.finalize()
    return pairs
