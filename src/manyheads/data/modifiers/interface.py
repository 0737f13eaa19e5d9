"""The interface of a modifier, and changes that leave reserved symbols alone."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol

from manyheads.config.symbols import SYMBOL
from manyheads.data.lexicons.lexicon import Lexicon, Link
from manyheads.data.text.records import Pair


class Modifier(Protocol):
    """Changes a pair of texts; returns the same pair if there is nothing to change."""

    def __call__(self, pair: Pair, random: Random) -> Pair:
        """Return the changed pair. All random numbers come from `random`."""
        ...


def outside_symbols(text: str, change: Callable[[str], str]) -> str:
    """Return a text with `change` applied to everything between its reserved symbols."""
    parts, end = [], 0
    for symbol in SYMBOL.finditer(text):
        parts += [change(text[end : symbol.start()]), symbol[0]]
        end = symbol.end()
    return "".join([*parts, change(text[end:])])


def free_links(pair: Pair, lexicon: Lexicon) -> list[Link]:
    """Return the words that translate each other and do not overlap a reserved symbol."""
    symbols = [[symbol.span() for symbol in SYMBOL.finditer(side)] for side in pair]
    return [
        link
        for link in lexicon.links(pair)
        if not any(
            begin < end and start < stop
            for spans, (start, end) in zip(symbols, link, strict=True)
            for begin, stop in spans
        )
    ]
