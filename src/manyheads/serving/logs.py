"""The log: one JSON object per line on standard output. Texts are in it only where that was asked for.

Of an error that nobody expected the kind and the places in the code are written, not its message, which may quote a
text.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

LOGGER = logging.getLogger("manyheads.serving")


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        facts: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            frames = traceback.extract_tb(record.exc_info[2])
            facts["error"] = record.exc_info[0].__name__
            facts["trace"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(facts, ensure_ascii=False, default=str)


def write(event: str, *, level: int = logging.INFO, **facts: object) -> None:
    """Log an event with its facts."""
    LOGGER.log(level, event, extra={"facts": facts})


def begin_logging() -> None:
    """Send our records, and uvicorn's own, to standard output as JSON lines."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLines())
    for name in (LOGGER.name, "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO)
