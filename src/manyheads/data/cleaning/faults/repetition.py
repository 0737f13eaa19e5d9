"""Detects pairs that occurred before, exactly or ignoring capitals, punctuation, digits and white space."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from manyheads.data.text.records import Pair

_NOT_LETTERS = re.compile(r"[\W\d_]+")


def letters(text: str) -> str:
    """Return only the letters of a text, in lower case; a text without letters is returned as it is."""
    return _NOT_LETTERS.sub("", unicodedata.normalize("NFKC", text).casefold()) or text


class Repetitions:
    """Stores a hash of each pair, to find repetitions."""

    def __init__(self) -> None:
        self._pairs: set[bytes] = set()
        self._letters: set[bytes] = set()

    def fault(self, pair: Pair) -> str | None:
        """Return `duplicated` or `near_duplicated` if the pair occurred before, otherwise None; and store it."""
        if _occurred_before(pair.source.strip(), pair.target.strip(), self._pairs):
            return "duplicated"
        if _occurred_before(letters(pair.source), letters(pair.target), self._letters):
            return "near_duplicated"
        return None


def _occurred_before(source: str, target: str, seen: set[bytes]) -> bool:
    """Return whether two texts are in `seen` together, and add them to it."""
    digest = hashlib.blake2b(f"{source}\t{target}".encode("utf-8", "replace"), digest_size=12).digest()
    occurred = digest in seen
    seen.add(digest)
    return occurred
