"""Converts traditional Chinese characters to simplified ones, by OpenCC's tables, and restores full-width punctuation.

Whole texts are converted by OpenCC itself, which considers words: 乾 becomes 干 in 乾燥 and stays 乾 in 乾坤. A
tokenizer normalises one character at a time, so there each is converted as if it stood alone.

NFKC maps ？ to ?, which is right for the input of a model. When a tokenizer decodes, punctuation after a Chinese
character becomes full-width again.
"""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from typing import Any

from manyheads.extras import naming_extras

NARROW, WIDE = ",?!:;", "，？！：；"
IDEOGRAPHS = range(0x3400, 0x323B0)  # every block of Chinese characters, with others between them


def simplified(text: str) -> str:
    """Return a text in simplified characters."""
    converted: str = _converter().convert(text)
    return converted


def simplified_characters() -> dict[str, str]:
    """Return each single character that simplification changes, with its simplified form."""
    characters = [chr(code) for code in IDEOGRAPHS if unicodedata.category(chr(code)) == "Lo"]
    return {character: simple for character in characters if (simple := simplified(character)) != character}


def normalisation_rules() -> str:
    """Return NFKC and simplification of single characters as a table for the normaliser of a SentencePiece model.

    Each line has the code points to replace, a tab, and the replacement.
    """
    assigned = _assigned()
    rules = {
        character: unicodedata.normalize("NFKC", character)
        for character in assigned
        if not unicodedata.is_normalized("NFKC", character)
    }
    rules |= {
        parts: character  # a letter followed by its accent
        for character in assigned
        if len(parts := unicodedata.normalize("NFD", character)) > 1
        and unicodedata.normalize("NFC", parts) == character
    }
    categories = {character: unicodedata.category(character) for character in assigned}
    rules |= {one: " " for one, category in categories.items() if category in ("Zs", "Zl", "Zp") or one in "\t\n\r"}
    rules |= {one: "" for one, category in categories.items() if category in ("Cc", "Cf") and one not in "\t\n\r"}
    rules |= simplified_characters()
    rules.pop(" ")
    rules.pop("\0")  # SentencePiece treats it as the end of a text
    return _table(rules)


def writing_rules() -> str:
    """Return full-width punctuation after each common simplified character, as a table for a denormaliser."""
    return _table(
        {
            character + narrow: character + wide
            for character in _common_characters()
            for narrow, wide in zip(NARROW, WIDE, strict=True)
        }
    )


def _common_characters() -> list[str]:
    """Return the 6,763 characters of GB 2312, China's first character set for computers."""
    rows, cells = range(0xB0, 0xF8), range(0xA1, 0xFF)
    decoded = (bytes([row, cell]).decode("gb2312", errors="ignore") for row in rows for cell in cells)
    return [character for character in decoded if character]


def _table(rules: dict[str, str]) -> str:
    """Return rules in SentencePiece's format."""
    return "".join(f"{_code_points(old)}\t{_code_points(new)}\n" for old, new in sorted(rules.items()))


def _assigned() -> list[str]:
    """Return every assigned Unicode character, except Korean syllables."""
    syllables = range(0xAC00, 0xD7A4)  # their 11,172 decompositions would double the table
    characters = (chr(code) for code in range(sys.maxunicode + 1) if code not in syllables)
    return [character for character in characters if unicodedata.category(character) not in ("Cn", "Co", "Cs")]


def _code_points(text: str) -> str:
    """Return a text as hexadecimal code points."""
    return " ".join(f"{ord(character):04X}" for character in text)


@cache
def _converter() -> Any:  # noqa: ANN401
    """Return OpenCC's conversion from traditional to simplified characters."""
    with naming_extras("simplifying Chinese characters"):
        from opencc import OpenCC
    return OpenCC("t2s")
