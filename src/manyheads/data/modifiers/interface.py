"""What a modifier is, and how it leaves reserved symbols alone."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol

from manyheads.config.symbols import SYMBOL
from manyheads.data.lexicons.lexicon import Lexicon, Link
from manyheads.data.text.records import Pair


class Modifier(Protocol):
    """Changes a pair of texts; returns it as it is where there is nothing to change."""

    def __call__(self, pair: Pair, random: Random) -> Pair:
        """Return the changed pair. What is drawn depends on `random` alone."""
        ...


def outside_symbols(text: str, change: Callable[[str], str]) -> str:
    """Return a text with everything between its reserved symbols changed."""
    parts, end = [], 0
    for symbol in SYMBOL.finditer(text):
        parts += [change(text[end : symbol.start()]), symbol[0]]
        end = symbol.end()
    return "".join([*parts, change(text[end:])])


def free_links(pair: Pair, lexicon: Lexicon) -> list[Link]:
    """Return the words that translate each other and are no part of a reserved symbol."""
    taken = [[symbol.span() for symbol in SYMBOL.finditer(side)] for side in pair]
    return [
        link
        for link in lexicon.links(pair)
        if not any(
            begin < end and start < stop
            for places, (start, end) in zip(taken, link, strict=True)
            for begin, stop in places
        )
    ]
