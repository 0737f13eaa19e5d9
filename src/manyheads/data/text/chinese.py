"""Traditional Chinese characters as simplified ones, by OpenCC's tables, and the width of punctuation.

Whole texts are converted with OpenCC itself, which looks at words: 乾 is 干 in 乾燥 and stays 乾 in 乾坤. A tokenizer's
normaliser sees one character at a time, so there each becomes what it becomes alone.

NFKC makes ？ and ? one character, which is good for reading. When a tokenizer writes, punctuation after a Chinese
character is as wide as that again.
"""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from typing import Any

from manyheads.errors import ManyheadsError

NARROW, WIDE = ",?!:;", "，？！：；"
IDEOGRAPHS = range(0x3400, 0x323B0)  # every block of Chinese characters, with others between them


def simplified(text: str) -> str:
    """Return a text with its traditional characters simplified."""
    converted: str = _converter().convert(text)
    return converted


def simplified_characters() -> dict[str, str]:
    """Return the characters that simplification changes, each alone, with what they become."""
    every = [chr(code) for code in IDEOGRAPHS if unicodedata.category(chr(code)) == "Lo"]
    return {one: other for one in every if (other := simplified(one)) != one}


def normalisation_rules() -> str:
    """Return NFKC and simplification, character by character, as a table that SentencePiece can build into a model.

    Each line has the code points of what is replaced, a tab, and those of what replaces it.
    """
    every = _assigned()
    rules = {one: unicodedata.normalize("NFKC", one) for one in every if not unicodedata.is_normalized("NFKC", one)}
    rules |= {
        parts: one  # a letter followed by its accent
        for one in every
        if len(parts := unicodedata.normalize("NFD", one)) > 1 and unicodedata.normalize("NFC", parts) == one
    }
    rules |= {one: " " for one in every if unicodedata.category(one) in ("Zs", "Zl", "Zp") or one in "\t\n\r"}
    rules |= {one: "" for one in every if unicodedata.category(one) in ("Cc", "Cf") and one not in "\t\n\r"}
    rules |= simplified_characters()
    rules.pop(" ")
    rules.pop("\0")  # which ends a text for SentencePiece
    return _table(rules)


def writing_rules() -> str:
    """Return wide punctuation after each of the simplified characters in everyday use, as such a table."""
    return _table(
        {
            character + narrow: character + wide
            for character in _everyday()
            for narrow, wide in zip(NARROW, WIDE, strict=True)
        }
    )


def _everyday() -> list[str]:
    """Return the 6,763 characters of GB 2312, China's first standard of what computers should write."""
    rows, cells = range(0xB0, 0xF8), range(0xA1, 0xFF)
    decoded = (bytes([row, cell]).decode("gb2312", errors="ignore") for row in rows for cell in cells)
    return [character for character in decoded if character]


def _table(rules: dict[str, str]) -> str:
    """Return rules in SentencePiece's form."""
    return "".join(f"{_code_points(old)}\t{_code_points(new)}\n" for old, new in sorted(rules.items()))


def _assigned() -> list[str]:
    """Return every character that Unicode defines, except for the building blocks of Korean syllables."""
    syllables = range(0xAC00, 0xD7A4)  # their 11,172 decompositions would double the table
    every = (chr(code) for code in range(sys.maxunicode + 1) if code not in syllables)
    return [one for one in every if unicodedata.category(one) not in ("Cn", "Co", "Cs")]


def _code_points(text: str) -> str:
    """Return a text as hexadecimal code points."""
    return " ".join(f"{ord(one):04X}" for one in text)


@cache
def _converter() -> Any:  # noqa: ANN401
    """Return OpenCC's conversion from traditional to simplified characters."""
    try:
        from opencc import OpenCC
    except ImportError:
        raise ManyheadsError(
            "simplifying Chinese characters needs OpenCC, which is not installed.",
            cure="pip install 'manyheads[chinese]'",
        ) from None
    return OpenCC("t2s")
