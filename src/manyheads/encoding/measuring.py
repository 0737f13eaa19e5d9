"""What a BERT says of examples, and how much of it is right: accuracy of labels, exact match and F1 of answers."""

from __future__ import annotations

from collections.abc import Sequence

from manyheads.config.bert import BertTask
from manyheads.data.text.records import Example
from manyheads.encoding.bert import Bert
from manyheads.metrics.answers import answer_f1, exact_answers
from manyheads.metrics.scores import Score


def outputs_of(bert: Bert, task: BertTask, examples: Sequence[Example], *, longest: int) -> list[str]:
    """Return what the model says of every example; a language model says nothing of them."""
    if task == "classification":
        return [one.name for one in bert.classify([one.given for one in examples], longest=longest)]
    if task == "question_answering":
        asked = [(one.text, one.second or "") for one in examples]
        return [one.text for one in bert.answer(asked, longest=longest)]
    return []


def scores_of(task: BertTask, outputs: Sequence[str], answers: Sequence[str]) -> list[Score]:
    """Return the scores of labels or answers against the right ones, in percent."""
    if task == "question_answering":
        return [Score("exact_match", exact_answers(outputs, answers)), Score("f1", answer_f1(outputs, answers))]
    right = sum(one == other for one, other in zip(outputs, answers, strict=True))
    return [Score("accuracy", 100.0 * right / len(answers))]
