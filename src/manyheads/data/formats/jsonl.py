"""JSONL: one JSON object per line, with a text under each of two keys. An empty line is an empty pair."""

from __future__ import annotations

from collections.abc import Iterator

from manyheads.bounded.json_text import parse_json
from manyheads.config.corpora import CorpusSettings
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError


def read_jsonl(lines: Iterator[str], settings: CorpusSettings, path: str) -> Iterator[tuple[int, Pair | None]]:
    """Yield the pair of every line with its number, from 1; None for a line that `keep` leaves out.

    The keys default to source and target, which columns 0 and 1 stand for: in the other direction they are exchanged.
    """
    source, target = _key(settings.source_column, "source"), _key(settings.target_column, "target")
    for number, line in enumerate(lines, start=1):
        yield number, _read(line, source, target, settings, f"{path}:{number}")


def _key(column: int | str, default: str) -> str:
    """Return the key that a column stands for."""
    return column if isinstance(column, str) else {0: "source", 1: "target"}.get(column, default)


def _read(line: str, source: str, target: str, settings: CorpusSettings, where: str) -> Pair | None:
    """Return the two values of a line, if it is to be kept."""
    if line.strip() == "":
        return Pair("", "")
    try:
        values = parse_json(line)
        if not all(str(values[key]) in allowed for key, allowed in settings.keep.items()):
            return None
        pair = Pair(values[source], values[target])
    except (ValueError, KeyError, TypeError):
        raise ManyheadsError(
            f"this line is not a JSON object with the keys '{source}' and '{target}'.", where=where
        ) from None
    if not isinstance(pair.source, str) or not isinstance(pair.target, str):
        raise ManyheadsError(f"'{source}' and '{target}' must both be texts.", where=where)
    if any("\ud800" <= character <= "\udfff" for character in pair.source + pair.target):
        raise ManyheadsError("this line has half of a character (a lone surrogate).", where=where)
    return pair
