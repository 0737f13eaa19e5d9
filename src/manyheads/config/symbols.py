"""The reserved symbols: pieces of a vocabulary that stand for something else than their text.

They carry through a model what it must not translate. `docs/symbols.md` says what each of them promises; their names
and their number never change, because models have learned them.
"""

from __future__ import annotations

import re

COPIES = tuple(f"<copy{number}>" for number in range(32))
"""Stand for a placeholder each, and come out where the placeholder belongs."""
OPENINGS = tuple(f"<open{number}>" for number in range(8))
CLOSINGS = tuple(f"<close{number}>" for number in range(8))
"""Stand around the words that an inline tag encloses; number n of the one belongs to number n of the other."""
TERM, MEANS, TERM_END = "<term>", "<means>", "</term>"
"""A hint: <term>file<means>Datei</term> asks for this translation of this word."""
SPARE = tuple(f"<spare{number}>" for number in range(32))
"""Have no meaning yet."""

SYMBOLS = (*COPIES, *OPENINGS, *CLOSINGS, TERM, MEANS, TERM_END, *SPARE)

SYMBOL = re.compile("|".join(map(re.escape, SYMBOLS)))
"""Finds a symbol in a text. None of them is the beginning of another."""
