"""The error of each task, their mean, and how many tasks failed, as results on bAbI are reported.

A task has failed if more than 5 % of its questions are answered wrongly (Weston et al. 2015).
"""

from __future__ import annotations

from collections.abc import Iterable

from manyheads.metrics.scores import Score

FAILED = 5.0  # percent


def task_errors(outcomes: Iterable[tuple[str, bool]]) -> list[Score]:
    """Return the scores of outcomes: the task of each question, and whether its answer was right.

    The first score is the mean error of the tasks in percent. If there are several tasks, the number of failed ones and
    the error of each task follow.
    """
    tasks: dict[str, list[bool]] = {}
    for task, right in outcomes:
        tasks.setdefault(task, []).append(right)
    errors = {task: 100.0 * (len(found) - sum(found)) / len(found) for task, found in tasks.items()}
    mean = Score("error", sum(errors.values()) / max(1, len(errors)), higher_is_better=False)
    if len(errors) < 2:
        return [mean]
    failed = float(sum(error > FAILED for error in errors.values()))
    return [
        mean,
        Score("failed_tasks", failed, higher_is_better=False),
        *(Score(f"error_{task}", error, higher_is_better=False) for task, error in errors.items()),
    ]
