"""Exact match and error rates, in per cent, where an output may have several right answers.

As in grapheme-to-phoneme work: a word counts as right if it equals any of its listed pronunciations; the symbol
(phoneme) error rate counts edits against the nearest of them.
"""

from __future__ import annotations

from collections.abc import Sequence


def matches(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> list[bool]:
    """Return of each output whether it equals one of its references."""
    return [output in answers for output, answers in zip(outputs, references, strict=True)]


def exact_match(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Return the percentage of outputs that equal one of their references."""
    return 100.0 * sum(matches(outputs, references)) / max(1, len(outputs))


def word_error_rate(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Return the percentage of outputs that equal none of their references."""
    return 100.0 - exact_match(outputs, references)


def symbol_errors(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """Return of each output the edits to the nearest reference, and the symbols (white-space separated) of that."""
    return [
        min((edit_distance(output.split(), answer.split()), len(answer.split())) for answer in answers)
        for output, answers in zip(outputs, references, strict=True)
    ]


def symbol_error_rate(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Return edits per hundred reference symbols, against the nearest reference."""
    each = symbol_errors(outputs, references)
    return 100.0 * sum(edits for edits, _ in each) / max(1, sum(symbols for _, symbols in each))


def edit_distance(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the fewest insertions, deletions and substitutions that turn one sequence into the other (Levenshtein)."""
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, start=1):
        previous, row[0] = row[0], i
        for j, right in enumerate(second, start=1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (left != right))
    return row[-1]
