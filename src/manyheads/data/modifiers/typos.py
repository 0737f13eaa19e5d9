"""Typing errors: a neighbouring key, two letters swapped, one left out or doubled."""

from __future__ import annotations

import re
from random import Random

from manyheads.data.modifiers.interface import outside_symbols
from manyheads.data.text.records import Pair

ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # the layouts of the Latin alphabet differ in a few keys only
EVERY = 8  # words, on average, have one error
WORD = re.compile(r"[a-zà-ÿ]{4,}", re.IGNORECASE)  # a shorter one may become another word


def _neighbours() -> dict[str, str]:
    """Return the keys beside each key; every row stands half a key to the right of the one above."""
    beside = ((0, -1), (0, 1), (-1, 0), (-1, 1), (1, -1), (1, 0))
    return {
        key: "".join(ROWS[row + r][column + c] for r, c in beside if _is_key(row + r, column + c))
        for row, keys in enumerate(ROWS)
        for column, key in enumerate(keys)
    }


def _is_key(row: int, column: int) -> bool:
    """Whether there is a letter at a place of the keyboard."""
    return 0 <= row < len(ROWS) and 0 <= column < len(ROWS[row])


NEIGHBOURS = _neighbours()


def with_typos(pair: Pair, random: Random) -> Pair:
    """Return the source with typing errors in some of its longer words, in one of them at least."""
    words = sum(1 for _ in WORD.finditer(pair.source))
    if words == 0:
        return pair
    share = max(1 / EVERY, 1 / words)

    def mistyped(word: re.Match[str]) -> str:
        """Return a word, perhaps with an error in it."""
        return _mistype(word[0], random) if random.random() < share else word[0]

    return Pair(outside_symbols(pair.source, lambda text: WORD.sub(mistyped, text)), pair.target)


def _mistype(word: str, random: Random) -> str:
    """Return a word with one error, not in its first letter."""
    place = random.randrange(1, len(word))
    before, letter, behind = word[:place], word[place], word[place + 1 :]
    kind = random.randrange(4)
    if kind == 0:
        return before + random.choice(NEIGHBOURS.get(letter.lower(), letter)) + behind
    if kind == 1:
        return before + behind[:1] + letter + behind[1:]
    if kind == 2:
        return before + behind
    return before + letter + letter + behind
