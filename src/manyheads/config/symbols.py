"""The reserved symbols: pieces of a vocabulary with a special meaning.

They represent text that the model must not translate. `docs/symbols.md` defines each of them; their names and their
number never change, because trained models depend on them.
"""

from __future__ import annotations

import re

COPIES = tuple(f"<copy{number}>" for number in range(32))
"""Each represents a placeholder, and is output where the placeholder belongs."""
OPENINGS = tuple(f"<open{number}>" for number in range(8))
CLOSINGS = tuple(f"<close{number}>" for number in range(8))
"""These enclose the words inside an inline tag; opening n belongs to closing n."""
TERM, MEANS, TERM_END = "<term>", "<means>", "</term>"
"""A hint: <term>file<means>Datei</term> requests this translation of this word."""
SPARE = tuple(f"<spare{number}>" for number in range(32))
"""Have no meaning yet."""

SYMBOLS = (*COPIES, *OPENINGS, *CLOSINGS, TERM, MEANS, TERM_END, *SPARE)

SYMBOL = re.compile("|".join(map(re.escape, SYMBOLS)))
"""Finds a symbol in a text. None of them is the beginning of another."""
