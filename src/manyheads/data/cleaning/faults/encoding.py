"""Detects text that was decoded with a wrong encoding (`fÃ¼r` for `für`), by ftfy."""

from __future__ import annotations

import re

from ftfy.badness import is_bad

# Control characters, and the replacement character for undecodable bytes.
_DAMAGE = re.compile("[\\x00-\\x08\\x0a-\\x1f\\x7f-\\x9f\\ufffd]")


def badly_encoded(text: str) -> bool:
    """Return whether a text shows signs of a wrong encoding, or has control characters."""
    return _DAMAGE.search(text) is not None or (not text.isascii() and is_bad(text))
