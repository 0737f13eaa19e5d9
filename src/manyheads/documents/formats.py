"""The names of the formats of documents and the endings of their files; no reader is loaded for them."""

from __future__ import annotations

PACKED = ".gz"
XML = ".xml"  # the ending that says nothing of the format
TEXT = "text"  # the format of files with one text per line
CSV = "csv"  # the format whose name is followed by that of a column, and perhaps of one for the translations

ENDINGS = {
    "po": (".po", ".pot"),
    "xliff": (".xliff", ".xlf"),
    "tmx": (".tmx",),
    "android": (XML,),
    "json": (".json",),
    "html": (".html", ".htm", ".xhtml"),
    "markdown": (".md", ".markdown"),
    "srt": (".srt",),
    "webvtt": (".vtt",),
    CSV: (".csv", ".tsv"),
    TEXT: (".txt",),
}


def format_by_ending(name: str) -> str | None:
    """Return the format that the name of a file suggests."""
    plain = name.lower().removesuffix(PACKED)
    return next((one for one, some in ENDINGS.items() if plain.endswith(some)), None)


def format_names() -> list[str]:
    """Return the names of all formats."""
    return list(ENDINGS)


def endings() -> list[str]:
    """Return the endings of the files of all formats."""
    return [ending for some in ENDINGS.values() for ending in some]
