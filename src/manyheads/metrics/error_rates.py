"""Exact match and error rates, in per cent, where an output may have several right answers.

As in grapheme-to-phoneme work: a word counts as right if it equals any of its listed pronunciations; the symbol
(phoneme) error rate counts edits against the nearest of them.
"""

from __future__ import annotations

from collections.abc import Sequence


def exact_match(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Return the percentage of outputs that equal one of their references."""
    right = sum(output in answers for output, answers in zip(outputs, references, strict=True))
    return 100.0 * right / max(1, len(outputs))


def word_error_rate(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Return the percentage of outputs that equal none of their references."""
    return 100.0 - exact_match(outputs, references)


def symbol_error_rate(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Return edits per hundred reference symbols (white-space separated), against the nearest reference."""
    edits = symbols = 0
    for output, answers in zip(outputs, references, strict=True):
        nearest = min((edit_distance(output.split(), answer.split()), len(answer.split())) for answer in answers)
        edits += nearest[0]
        symbols += nearest[1]
    return 100.0 * edits / max(1, symbols)


def edit_distance(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the fewest insertions, deletions and substitutions that turn one sequence into the other (Levenshtein)."""
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, start=1):
        previous, row[0] = row[0], i
        for j, right in enumerate(second, start=1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (left != right))
    return row[-1]
