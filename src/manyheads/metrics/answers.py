"""Exact match and word F1 of answers to questions, as in SQuAD.

Case, punctuation and articles are ignored. F1 is the harmonic mean of precision (the share of words in the output that
are in the answer) and recall (the share of words in the answer that are in the output).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_PUNCTUATION = str.maketrans("", "", string.punctuation)


def answer_words(text: str) -> list[str]:
    """Return the words of an answer in lower case, without punctuation and articles."""
    plain = text.lower().translate(_PUNCTUATION)
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()


def exact_answers(outputs: Sequence[str], answers: Sequence[str]) -> float:
    """Return the percentage of outputs that have exactly the words of their answer."""
    right = sum(answer_words(output) == answer_words(answer) for output, answer in zip(outputs, answers, strict=True))
    return 100.0 * right / max(1, len(answers))


def answer_f1(outputs: Sequence[str], answers: Sequence[str]) -> float:
    """Return the mean F1 of words, in percent."""
    scores = [word_f1(output, answer) for output, answer in zip(outputs, answers, strict=True)]
    return 100.0 * sum(scores) / max(1, len(scores))


def word_f1(output: str, answer: str) -> float:
    """Return the word F1 of one output; if both texts have no words, it is 1."""
    output_words, right_words = answer_words(output), answer_words(answer)
    common = sum((Counter(output_words) & Counter(right_words)).values())
    if not output_words or not right_words:
        return float(output_words == right_words)
    return 2.0 * common / (len(output_words) + len(right_words))
