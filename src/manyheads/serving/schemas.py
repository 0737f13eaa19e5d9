"""The schemas of requests and responses in /openapi.json, with the languages and limits of this server."""

from __future__ import annotations

from typing import Any

from manyheads.documents.formats import format_names
from manyheads.serving.directions import Directions
from manyheads.serving.options import ServerOptions

Schema = dict[str, Any]

FORM_KINDS = ("application/x-www-form-urlencoded", "multipart/form-data")


def text(description: str, **more: object) -> Schema:
    """Return the schema of a text."""
    return {"type": "string", "description": description, **more}


def number(description: str, **more: object) -> Schema:
    """Return the schema of a whole number."""
    return {"type": "integer", "description": description, **more}


def list_of(items: Schema, **more: object) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items, **more}


def record(properties: dict[str, Schema], *, required: tuple[str, ...] | None = None) -> Schema:
    """Return the schema of an object; by default, every property is required."""
    return {"type": "object", "properties": properties, "required": list(properties if required is None else required)}


def one_or_many(items: Schema) -> Schema:
    """Return the schema of a field that is a list if `q` is a list."""
    return {"oneOf": [items, list_of(items)]}


ERROR = record({"error": text("What is wrong.")})
DETECTION = record({"confidence": {"type": "number", "minimum": 0, "maximum": 100}, "language": {"type": "string"}})
LANGUAGES = list_of(
    record({"code": {"type": "string"}, "name": {"type": "string"}, "targets": list_of({"type": "string"})})
)
TRANSLATION = record(
    {
        "translatedText": one_or_many({"type": "string"}),
        "detectedLanguage": one_or_many(DETECTION),
        "likelyLanguages": {"type": "array"},
        "pivotLanguage": one_or_many(record({"language": {"type": "string"}})),
        "alternatives": {"type": "array"},
        "score": one_or_many({"type": "number"}),
        "alternativeScores": {"type": "array"},
        "notes": {"type": "array"},
    },
    required=("translatedText",),
)
TRANSLATED_FILE = record(
    {
        "translatedFileUrl": text("Where the translated file can be fetched."),
        "detectedLanguage": DETECTION,
        "pivotLanguage": record({"language": {"type": "string"}}),
        "warnings": list_of(text("A text that was left as it is, and why.")),
    },
    required=("translatedFileUrl",),
)
SETTINGS = record(
    {
        "alternativesLimit": {"type": "integer"},
        "apiKeys": {"type": "boolean"},
        "charLimit": {"type": "integer"},
        "filesTranslation": {"type": "boolean"},
        "frontendTimeout": {"type": "integer"},
        "keyRequired": {"type": "boolean"},
        "language": {"type": "object"},
        "suggestions": {"type": "boolean"},
        "supportedFilesFormat": list_of({"type": "string"}),
    }
)

_REASONS = {
    400: "The request is wrong.",
    403: "The API key is wrong.",
    408: "The body did not arrive in time.",
    413: "The body is too long.",
    415: "The form is not in UTF-8.",
    429: "Too many requests in a minute.",
    501: "This needs a package that the server's installation does not have.",
    503: "Too busy, or no answer in time.",
}


def responses(schema: Schema | None, *, kind: str = "application/json", errors: bool = True) -> dict[int | str, Schema]:
    """Return the responses of an endpoint, with all its possible errors."""
    ok = {"description": "The result.", "content": {kind: {"schema": schema or {}}}}
    if not errors:
        return {200: ok}
    content = {"application/json": {"schema": ERROR}}
    wait = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}, "required": True}}
    return {
        200: ok,
        **{
            status: {"description": reason, "content": content, **({"headers": wait} if status in (429, 503) else {})}
            for status, reason in _REASONS.items()
        },
    }


DOWNLOAD: dict[int | str, Schema] = {
    200: {"description": "The file.", "content": {"application/octet-stream": {"schema": {"type": "string"}}}},
    404: {"description": "There is no such file.", "content": {"application/json": {"schema": ERROR}}},
}


def body(properties: dict[str, Schema], required: tuple[str, ...], *, form: dict[str, Schema] | None = None) -> Schema:
    """Return the schema of a request body as JSON or as a form; `form` has the properties that differ in a form.

    In JSON, an API key that is not needed may also be null, as some clients send it.
    """
    kinds = {"application/json": record(properties | {"api_key": _key(type=["string", "null"])}, required=required)}
    kinds |= dict.fromkeys(FORM_KINDS, record(properties | {"api_key": _key()} | (form or {}), required=required))
    return {"requestBody": {"required": True, "content": {kind: {"schema": schema} for kind, schema in kinds.items()}}}


def _key(**more: object) -> Schema:
    """Return the schema of the API key."""
    return text("API key, if the server requires one.") | more


def translate_body(directions: Directions, options: ServerOptions) -> Schema:
    """Return the schema of the body of /translate."""
    single = text("Text to translate.", minLength=1, maxLength=options.char_limit)
    item = text("Text to translate.", maxLength=options.char_limit)
    properties = {
        "q": {"oneOf": [single, list_of(item, minItems=1, maxItems=options.batch_limit)]},
        "source": text("Source language, or `auto`.", enum=["auto", *directions.sources]),
        "target": text("Target language.", enum=directions.targets),
        "format": text("`text`, or `html` to keep markup.", enum=["text", "html"], default="text"),
        "alternatives": number("Alternatives to return.", minimum=0, maximum=options.alternatives_limit, default=0),
    }
    return body(properties, ("q", "source", "target"), form={"q": single})


def file_body(directions: Directions) -> Schema:
    """Return the schema of the body of /translate_file."""
    properties = {
        "file": text("File to translate.", format="binary"),
        "source": text("Source language, or `auto`.", enum=["auto", *directions.sources]),
        "target": text("Target language.", enum=directions.targets),
        "format": text(f"Its format, if its name does not tell: {', '.join(format_names())}."),
        "api_key": _key(),
    }
    schema = record(properties, required=("file", "source", "target"))
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


def detect_body(options: ServerOptions) -> Schema:
    """Return the schema of the body of /detect."""
    properties = {"q": text("Text whose language to detect.", minLength=1, maxLength=options.char_limit)}
    return body(properties, ("q",))


def inspect_body(directions: Directions, options: ServerOptions, **more: Schema) -> Schema:
    """Return the schema of the body of an endpoint that inspects the translation of one sentence of a text."""
    properties = {
        "q": text("Text to inspect.", minLength=1, maxLength=options.char_limit),
        "source": text("Source language.", enum=directions.sources),
        "target": text("Target language.", enum=directions.targets),
        **more,
    }
    return body(properties, ("q", "source", "target"))
