"""Several runs on the same test data: scores, intervals, and how probable their differences are by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.decoding.translator import Translator
from manyheads.metrics.comparison import compare, significance_test
from manyheads.metrics.significance import mean_and_deviation
from manyheads.runs.folder import RunFolder
from manyheads.tasks.interface import EvaluationOptions
from manyheads.tasks.scoring import Scoring


def compare_runs(
    names: Sequence[str], outputs: list[str], others: Sequence[RunFolder], scoring: Scoring, options: EvaluationOptions
) -> list[dict[str, Any]]:
    """Return for each metric the scores of all runs, the first of which wrote `outputs`, and their significance."""
    translators = (Translator(other.path, device=options.device, **options.computing) for other in others)
    all_outputs = [outputs, *(one.translate(scoring.sources, **options.search) for one in translators)]
    found = []
    for metric in scoring.metrics:
        scores = compare(metric, all_outputs, scoring.answers, scoring.overlap_options)
        systems = [
            {"run": name, **asdict(score), "significant": score.significant}
            for name, score in zip(names, scores, strict=True)
        ]
        found.append({"metric": metric, "test": significance_test(metric), "systems": systems})
    return found


def over_seeds(recipes: Sequence[TranslationRecipe], comparisons: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return mean and standard deviation of each metric, if the runs differ in their seed (and name) alone."""
    different = [recipe.model_dump(exclude={"seed", "name"}) for recipe in recipes]
    if len({recipe.seed for recipe in recipes}) < len(recipes) or any(one != different[0] for one in different):
        return None
    scores = []
    for comparison in comparisons:
        mean, deviation = mean_and_deviation([system["value"] for system in comparison["systems"]])
        scores.append({"metric": comparison["metric"], "mean": mean, "standard_deviation": deviation})
    return {"runs": len(recipes), "scores": scores}
