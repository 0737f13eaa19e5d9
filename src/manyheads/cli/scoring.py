"""What `manyheads evaluate` does with the outputs of one run or several: scores, perplexity, comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from manyheads.config.schema import Recipe
    from manyheads.decoding.translator import Translator
    from manyheads.metrics.scores import Score


class Scoring:
    """Sources, right answers and metrics of one evaluation."""

    def __init__(
        self,
        recipe: Recipe,
        rows: list[Any],
        metrics: list[str],
        lowercase: bool | None,
        tokenizer: str | None,
        to: str | None,
    ) -> None:
        from manyheads.metrics.scores import Scale, answers_of, check_metrics, companions

        settings = recipe.validation
        own = settings.metric if settings.metric != "loss" else "bleu"
        self.metrics = check_metrics(metrics) or [own, *companions(own)]
        self.rows = rows
        answers = answers_of(rows, grouped=not {"bleu", "chrf"} & set(self.metrics))
        self.sources = [text for text, _ in answers]
        self.answers = [right for _, right in answers]
        self.scale = Scale(
            settings.lowercase if lowercase is None else lowercase, self._tokenizer(recipe, tokenizer, to)
        )

    def _tokenizer(self, recipe: Recipe, asked: str | None, to: str | None) -> str:
        """Return BLEU's tokenizer: the one asked for, or the recipe's own, or the one that suits the target."""
        from manyheads.metrics.scores import check_tokenizer
        from manyheads.metrics.segmentation import AUTO, bleu_tokenizer, target_language

        own = recipe.validation.bleu_tokenizer
        default = type(recipe.validation).model_fields["bleu_tokenizer"].default
        return bleu_tokenizer(
            check_tokenizer(asked or (AUTO if own == default else own)),
            language=to or target_language(recipe.data),
            references=(right[0] for right in self.answers),
        )

    def scores(self, outputs: list[str]) -> list[Score]:
        """Score outputs by every metric."""
        from manyheads.metrics.scores import measure

        return [measure(metric, outputs, self.answers, self.scale) for metric in self.metrics]

    def perplexity(self, translator: Translator, to: str | None) -> float:
        """Return the model's perplexity per target token, the end token included, on the pairs."""
        from manyheads.metrics.scores import perplexity

        likely = translator.score([row.source for row in self.rows], [row.target for row in self.rows], to=to)
        tokens = sum(len(row) for row in likely)
        return perplexity(-sum(map(sum, likely)) / max(1, tokens))

    def comparisons(self, runs: Sequence[Path], outputs: Sequence[list[str]]) -> list[dict[str, Any]]:
        """Return for each metric how the runs do, and how probable their differences to the first are by chance."""
        from manyheads.metrics.comparison import compare, significance_test

        found = []
        for metric in self.metrics:
            standings = compare(metric, outputs, self.answers, self.scale)
            systems = [
                {"run": str(run), **asdict(standing), "significant": standing.significant}
                for run, standing in zip(runs, standings, strict=True)
            ]
            found.append({"metric": metric, "test": significance_test(metric), "systems": systems})
        return found


def over_seeds(recipes: Sequence[Recipe], comparisons: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return mean and standard deviation of each metric, if the runs differ in their seed (and name) alone."""
    from manyheads.metrics.significance import mean_and_deviation

    different = [recipe.model_dump(exclude={"seed", "name"}) for recipe in recipes]
    if len({recipe.seed for recipe in recipes}) < len(recipes) or any(one != different[0] for one in different):
        return None
    scores = []
    for comparison in comparisons:
        mean, deviation = mean_and_deviation([system["value"] for system in comparison["systems"]])
        scores.append({"metric": comparison["metric"], "mean": mean, "standard_deviation": deviation})
    return {"runs": len(recipes), "scores": scores}


def print_comparisons(result: dict[str, Any]) -> None:
    """Print a table of all runs by all metrics, and where its p-values come from."""
    comparisons = result["comparisons"]
    several = len(result["against"]) > 1
    holm = "    Holm" if several else ""
    typer.echo(f"\n{'metric':<18}{'value':>8}  {'95 % interval':<18}{'p':>8}{holm}  {'difference':<16}run")
    for comparison in comparisons:
        for one in comparison["systems"]:
            interval = f"[{one['low']:.2f}, {one['high']:.2f}]"
            known = one["p_value"] is not None
            p_value = f"{one['p_value']:.4f}" if known else ""
            corrected = "" if not several else f"{one['corrected']:8.4f}" if known else 8 * " "
            verdict = "" if not known else "significant" if one["significant"] else "could be chance"
            typer.echo(
                f"{comparison['metric']:<18}{one['value']:8.2f}  {interval:<18}{p_value:>8}{corrected}  "
                f"{verdict:<16}{one['run']}"
            )
    tests = ", ".join(f"{one['metric']} by {one['test']}" for one in comparisons)
    correction = f"; Holm: corrected for {len(result['against'])} comparisons" if several else ""
    typer.echo(
        f"p: the probability of such a difference to {result['run']} if both are equally good ({tests}){correction}."
    )
    for one in (result.get("over_seeds") or {}).get("scores", []):
        typer.echo(
            f"{one['metric']:<18}{one['mean']:8.2f} ± {one['standard_deviation']:.2f}  "
            f"mean and standard deviation over {result['over_seeds']['runs']} seeds"
        )
