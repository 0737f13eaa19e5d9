"""Removes accents: on keyboards without them, étudiant is typed etudiant, and müde is typed mude or muede."""

from __future__ import annotations

import unicodedata
from random import Random

from manyheads.data.text.records import Pair

SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss", "ẞ": "SS"})
LIGATURES = str.maketrans({"œ": "oe", "Œ": "Oe", "æ": "ae", "Æ": "Ae", "ø": "o", "Ø": "O", "ß": "ss", "ẞ": "SS"})
LATIN = 0x0250  # above it are scripts that cannot be read without their marks


def without_accents(pair: Pair, random: Random) -> Pair:
    """Return the pair with a source without accents; German umlauts are spelled out in half of the cases."""
    text = pair.source.translate(SPELLED_OUT) if random.random() < 0.5 else pair.source
    return Pair("".join(map(_without_marks, text.translate(LIGATURES))), pair.target)


def _without_marks(character: str) -> str:
    """Return a Latin letter without its marks; other characters are returned as they are."""
    if character.isascii() or ord(character) >= LATIN:
        return character
    parts = unicodedata.normalize("NFD", character)
    return "".join(part for part in parts if not unicodedata.combining(part))
