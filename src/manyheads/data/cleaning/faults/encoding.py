"""Text that was decoded wrongly on its way here (`fÃ¼r` for `für`), by ftfy."""

from __future__ import annotations

import re

from ftfy.badness import is_bad

_DAMAGE = re.compile(
    "[\\x00-\\x08\\x0a-\\x1f\\x7f-\\x9f\\ufffd]"
)  # control characters, and what replaced unreadable bytes


def badly_encoded(text: str) -> bool:
    """Whether a text shows the traces of a wrong encoding, or has control characters."""
    return _DAMAGE.search(text) is not None or (not text.isascii() and is_bad(text))
