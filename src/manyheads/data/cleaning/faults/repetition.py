"""Pairs that occurred before, exactly or but for capitals, punctuation, digits and white space."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from manyheads.data.text.records import Pair

_NOT_LETTERS = re.compile(r"[\W\d_]+")


def letters(text: str) -> str:
    """Return the letters of a text alone, in lower case; a text without any stays as it is."""
    return _NOT_LETTERS.sub("", unicodedata.normalize("NFKC", text).casefold()) or text


class Repetitions:
    """Remembers a hash of each pair, to recognise it."""

    def __init__(self) -> None:
        self._pairs: set[bytes] = set()
        self._letters: set[bytes] = set()

    def fault(self, pair: Pair) -> str | None:
        """Return `duplicated` or `near_duplicated` if the pair occurred before; from now on it has."""
        if _known(pair.source.strip(), pair.target.strip(), self._pairs):
            return "duplicated"
        if _known(letters(pair.source), letters(pair.target), self._letters):
            return "near_duplicated"
        return None


def _known(source: str, target: str, seen: set[bytes]) -> bool:
    """Whether two texts were seen together; now they have been."""
    digest = hashlib.blake2b(f"{source}\t{target}".encode("utf-8", "replace"), digest_size=12).digest()
    known = digest in seen
    seen.add(digest)
    return known
