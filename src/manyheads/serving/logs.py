"""The log: one JSON object per line on standard output. Texts are logged only with the option `log_texts`.

For an unexpected error, the log has its type and stack trace, but not its message, which may quote a text.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

LOGGER = logging.getLogger("manyheads.serving")


class JsonFormatter(logging.Formatter):
    """Formats a log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        values: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            frames = traceback.extract_tb(record.exc_info[2])
            values["error"] = record.exc_info[0].__name__
            values["trace"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(values, ensure_ascii=False, default=str)


def log_event(event: str, *, level: int = logging.INFO, **fields: object) -> None:
    """Log an event with further fields."""
    LOGGER.log(level, event, extra={"fields": fields})


def configure_logging() -> None:
    """Write our log records, and those of uvicorn, to standard output as JSON lines."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonFormatter())
    for name in (LOGGER.name, "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO)
