"""Adds typing errors: a neighbouring key, two letters swapped, a letter omitted or doubled."""

from __future__ import annotations

import re
from random import Random

from manyheads.data.modifiers.interface import outside_symbols
from manyheads.data.text.records import Pair

ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # other layouts of the Latin alphabet differ only in a few keys
EVERY = 8  # words per error, on average
WORD = re.compile(r"[a-zà-ÿ]{4,}", re.IGNORECASE)  # a shorter word could become another word


def _neighbours() -> dict[str, str]:
    """Return the neighbours of each key; every row is half a key to the right of the one above."""
    beside = ((0, -1), (0, 1), (-1, 0), (-1, 1), (1, -1), (1, 0))
    return {
        key: "".join(ROWS[row + r][column + c] for r, c in beside if _is_key(row + r, column + c))
        for row, keys in enumerate(ROWS)
        for column, key in enumerate(keys)
    }


def _is_key(row: int, column: int) -> bool:
    """Return whether there is a letter at this row and column of the keyboard."""
    return 0 <= row < len(ROWS) and 0 <= column < len(ROWS[row])


NEIGHBOURS = _neighbours()


def with_typos(pair: Pair, random: Random) -> Pair:
    """Return the pair with typing errors in longer words of the source: about one per `EVERY` words, or one in all."""
    words = sum(1 for _ in WORD.finditer(pair.source))
    if words == 0:
        return pair
    share = max(1 / EVERY, 1 / words)

    def mistyped(word: re.Match[str]) -> str:
        """Return a word, with some probability with a typing error."""
        return _mistype(word[0], random) if random.random() < share else word[0]

    return Pair(outside_symbols(pair.source, lambda text: WORD.sub(mistyped, text)), pair.target)


def _mistype(word: str, random: Random) -> str:
    """Return a word with one typing error, not in its first letter."""
    index = random.randrange(1, len(word))
    before, letter, after = word[:index], word[index], word[index + 1 :]
    kind = random.randrange(4)
    if kind == 0:
        return before + random.choice(NEIGHBOURS.get(letter.lower(), letter)) + after
    if kind == 1:
        return before + after[:1] + letter + after[1:]
    if kind == 2:
        return before + after
    return before + letter + letter + after
