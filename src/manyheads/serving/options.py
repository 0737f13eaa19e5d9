"""All options of the server. `--help`, the environment variables and docs/serving.md are generated from this table."""

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
    """The options of the server: its address, its limits, and its engine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field("127.0.0.1", description="Address to listen on; 0.0.0.0 accepts other machines.")
    allowed_hosts: str | None = Field(
        None,
        description="Names it answers to, separated by commas, beside its address and localhost; * for any.",
    )
    port: int = Field(5000, ge=0, le=65535, description="Port to listen on; 0 chooses a free one.")
    char_limit: Count = Field(50_000, description="Most characters in a request.")
    batch_limit: Count = Field(1000, description="Most texts in a request.")
    sentence_limit: CountOrZero = Field(
        0, description="Most characters in a sentence; a longer one is cut. 0 is the longest input of each run."
    )
    word_limit: CountOrZero = Field(
        100, description="Most characters in a word; a longer one is left as it is. 0 is no limit."
    )
    inspect_limit: Count = Field(300, description="Most characters in a sentence to inspect.")
    alternatives_limit: CountOrZero = Field(7, description="Most alternatives to a translation.")
    body_limit: Count = Field(1_000_000, description="Most bytes in the body of a request.")
    file_limit: CountOrZero = Field(2_000_000, description="Most bytes in a file to translate; 0 accepts no files.")
    file_char_limit: Count = Field(100_000, description="Most characters to translate in a file.")
    file_seconds: Seconds = Field(1800.0, description="Seconds until a translated file is deleted.")
    concurrency: Count = Field(128, description="Requests processed at the same time; more have to wait.")
    waiting_limit: CountOrZero = Field(1000, description="Most waiting requests; more are answered with 503.")
    queue_limit: Count = Field(10_000, description="Most sentences waiting for a model; more are answered with 503.")
    request_limit: CountOrZero = Field(
        0, description="Requests per minute from one client or key, then 429; 0 is no limit."
    )
    request_seconds: Seconds = Field(120.0, description="Seconds for one request, then 503.")
    arrival_seconds: Seconds = Field(
        30.0, description="Seconds for the headers of a request to arrive, and as many for its body."
    )
    shutdown_seconds: Seconds = Field(30.0, description="Seconds to finish running requests when the server stops.")
    batch_sentences: Count = Field(64, description="Most sentences in a batch, of all clients together.")
    batch_tokens: Count = Field(1024, description="Most tokens in a batch, unless one sentence has more.")
    batch_milliseconds: float = Field(
        5.0, ge=0, le=1000, description="Milliseconds a sentence waits for others to fill its batch."
    )
    api_keys: Path | None = Field(None, description="File with one API key per line; without it, no key is needed.")
    allow_origin: str = Field("*", description="Origin of pages that may call it (Access-Control-Allow-Origin).")
    beam: Count | None = Field(None, description="Hypotheses kept at each step. Default: each run's own.")
    engine: str = Field("auto", description="Engine: auto, torch or ctranslate2.")
    precision: str = Field("float32", description="float32, int8, or int16 (ctranslate2 only).")
    device: str = Field("auto", description="Device: auto, cpu, cuda or mps.")
    log_texts: bool = Field(False, description="Write texts and translations to the log.")


def build_options(values: Mapping[str, Any]) -> ServerOptions:
    """Return options with these values; the error for a wrong value names its option."""
    try:
        return ServerOptions(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise ManyheadsError(
            f"{first['input']!r} is not possible: {first['msg'].lower()}.",
            where=f"{flag(name)} (or {variable(name)})",
        ) from None


def flag(name: str) -> str:
    """Return the name of an option on the command line."""
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
    """Return the default of an option for the table."""
    return "" if field.default is None else f"`{json.dumps(field.default)}`"
