"""White space between sentences, by the conventions of their language."""

from __future__ import annotations

WITHOUT_SPACES = frozenset({"zh", "ja", "yue", "wuu"})  # between sentences; Thai, Lao and Khmer have spaces there


def gap_between(gap: str, before: str, after: str, language: str | None, *, begins_word: bool = True) -> str:
    """Return the gap between two translations, from the gap in the source; line breaks and tabs are kept.

    Chinese and Japanese have no space next to their own characters. Other languages have a space, even if the source
    has none, unless a word was cut in two because it was too long.
    """
    if language is None or gap.strip(" \u3000"):
        return gap
    if language.split("-")[0] in WITHOUT_SPACES:
        return gap if before[-1:].isascii() and after[:1].isascii() else ""
    return gap.replace("\u3000", " ") or (" " if begins_word and before and after else "")


def is_cased(letter: str) -> bool:
    """Return whether a letter belongs to a script with upper and lower case; such scripts separate words by spaces."""
    return letter.lower() != letter.upper()
