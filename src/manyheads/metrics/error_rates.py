"""Exact match and error rates in percent, with one or more references per output.

As in grapheme-to-phoneme conversion: a word is right if it equals any of its listed pronunciations, and the symbol
(phoneme) error rate counts the edits to the nearest of them.
"""

from __future__ import annotations

from collections.abc import Sequence


def matches(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> list[bool]:
    """Return, for each output, whether it equals one of its references."""
    return [output in answers for output, answers in zip(outputs, references, strict=True)]


def exact_match(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Return the percentage of outputs that equal one of their references."""
    return 100.0 * sum(matches(outputs, references)) / max(1, len(outputs))


def word_error_rate(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Return the percentage of outputs that equal none of their references."""
    return 100.0 - exact_match(outputs, references)


def symbol_errors(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """Return, for each output, the number of edits to the nearest reference, and of symbols in that reference.

    Symbols are separated by white space.
    """
    return [
        min((edit_distance(output.split(), answer.split()), len(answer.split())) for answer in answers)
        for output, answers in zip(outputs, references, strict=True)
    ]


def symbol_error_rate(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Return the number of edits per hundred reference symbols, to the nearest reference."""
    errors = symbol_errors(outputs, references)
    return 100.0 * sum(edits for edits, _ in errors) / max(1, sum(symbols for _, symbols in errors))


def edit_distance(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the Levenshtein distance: the fewest insertions, deletions and substitutions between two sequences."""
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, start=1):
        previous, row[0] = row[0], i
        for j, right in enumerate(second, start=1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (left != right))
    return row[-1]
