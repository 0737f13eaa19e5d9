"""Every option of the server, once: from this table come `--help`, the environment variables and docs/serving.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from manyheads.errors import ManyheadsError

PREFIX = "MANYHEADS_"  # of the environment variables

Count = Annotated[int, Field(ge=1)]
CountOrZero = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ServerOptions(BaseModel):
    """How the server listens, what it accepts, and how it works."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field("127.0.0.1", description="Address to listen at; 0.0.0.0 lets other machines in.")
    port: int = Field(5000, ge=0, le=65535, description="Port to listen at; 0 takes a free one.")
    char_limit: Count = Field(50_000, description="Characters in one request.")
    batch_limit: Count = Field(1000, description="Texts in one request.")
    sentence_limit: CountOrZero = Field(
        0, description="Characters in a sentence; a longer one is cut. 0 leaves that to each run's longest input."
    )
    inspect_limit: Count = Field(300, description="Characters in a sentence to be looked into.")
    alternatives_limit: CountOrZero = Field(7, description="Alternatives to one translation.")
    body_limit: Count = Field(1_000_000, description="Bytes in the body of one request.")
    concurrency: Count = Field(128, description="Requests worked on at once; more wait for their turn.")
    waiting_limit: CountOrZero = Field(1000, description="Requests that wait; more are answered with 503.")
    queue_limit: Count = Field(10_000, description="Sentences waiting for a model; more are answered with 503.")
    request_limit: CountOrZero = Field(
        0, description="Requests in a minute from one client or key, then 429; 0 is no limit."
    )
    request_seconds: Seconds = Field(120.0, description="Seconds for one request, then 503.")
    shutdown_seconds: Seconds = Field(30.0, description="Seconds for what was begun when the server is told to stop.")
    batch_sentences: Count = Field(64, description="Sentences of all clients that are translated at once.")
    batch_milliseconds: float = Field(
        5.0, ge=0, le=1000, description="Milliseconds a sentence waits for others to be translated with."
    )
    api_keys: Path | None = Field(None, description="File with one API key per line; without it none is needed.")
    allow_origin: str = Field("*", description="Whose pages may call the server (Access-Control-Allow-Origin).")
    beam: Count | None = Field(None, description="Hypotheses kept at each step. Default: each run's own.")
    engine: str = Field("auto", description="What computes: auto, torch or ctranslate2.")
    precision: str = Field("float32", description="float32, int8, or int16 (ctranslate2 only).")
    device: str = Field("auto", description="Where to compute: auto, cpu, cuda or mps.")
    log_texts: bool = Field(False, description="Write texts and translations into the log.")


def build_options(values: Mapping[str, Any]) -> ServerOptions:
    """Check values; the first impossible one is told with its option."""
    try:
        return ServerOptions(**values)
    except ValidationError as error:
        found = error.errors()[0]
        name = str(found["loc"][0])
        raise ManyheadsError(
            f"{found['input']!r} is not possible: {found['msg'].lower()}.",
            where=f"{flag(name)} (or {variable(name)})",
        ) from None


def flag(name: str) -> str:
    """Return an option as it stands on the command line."""
    return "--" + name.replace("_", "-")


def variable(name: str) -> str:
    """Return the environment variable that sets an option."""
    return PREFIX + name.upper()


def options_table() -> str:
    """Return the table of docs/serving.md."""
    rows = [
        f"| `{flag(name)}` | `{variable(name)}` | {_default(field)} | {field.description} |"
        for name, field in ServerOptions.model_fields.items()
    ]
    return "\n".join(["| option | environment variable | default | what it does |", "|---|---|---|---|", *rows]) + "\n"


def _default(field: FieldInfo) -> str:
    """Return a default for the table."""
    return "" if field.default is None else f"`{json.dumps(field.default)}`"
