"""Answers to questions against the right ones: exact match and F1 of words, as SQuAD counts them.

Case, punctuation and articles do not count. F1 is the harmonic mean of the share of given words that are right and the
share of right words that are given.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_PUNCTUATION = str.maketrans("", "", string.punctuation)


def answer_words(text: str) -> list[str]:
    """Return the words of an answer that count."""
    plain = text.lower().translate(_PUNCTUATION)
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()


def exact_answers(outputs: Sequence[str], answers: Sequence[str]) -> float:
    """Return the percentage of outputs that have exactly the right words."""
    right = sum(answer_words(one) == answer_words(other) for one, other in zip(outputs, answers, strict=True))
    return 100.0 * right / max(1, len(answers))


def answer_f1(outputs: Sequence[str], answers: Sequence[str]) -> float:
    """Return the mean F1 of words, in percent."""
    each = [word_f1(one, other) for one, other in zip(outputs, answers, strict=True)]
    return 100.0 * sum(each) / max(1, len(each))


def word_f1(output: str, answer: str) -> float:
    """Return the F1 of one output's words; two answers without words agree."""
    given, right = answer_words(output), answer_words(answer)
    common = sum((Counter(given) & Counter(right)).values())
    if not given or not right:
        return float(given == right)
    return 2.0 * common / (len(given) + len(right))
