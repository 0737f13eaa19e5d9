"""White space between sentences, as the language they are written in asks for it."""

from __future__ import annotations

WITHOUT_SPACES = frozenset({"zh", "ja", "yue", "wuu"})  # between sentences; Thai, Lao and Khmer write one there


def gap_between(gap: str, before: str, after: str, language: str | None, *, begins_word: bool = True) -> str:
    """Return the gap between two translations; line breaks, tabs and the like stay as they were.

    Chinese and Japanese have no space beside their own characters. Other languages have one, also where the source had
    none, unless a word was cut in two because it was too long.
    """
    if language is None or gap.strip(" \u3000"):
        return gap
    if language.split("-")[0] in WITHOUT_SPACES:
        return gap if before[-1:].isascii() and after[:1].isascii() else ""
    return gap.replace("\u3000", " ") or (" " if begins_word and before and after else "")
