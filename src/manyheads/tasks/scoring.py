"""How translations are scored: by which metrics, against which references, with which of sacreBLEU's tokenizers."""

from __future__ import annotations

from collections.abc import Sequence

from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.config.values import OVERLAP_METRICS
from manyheads.data.text.records import Pair
from manyheads.decoding.translator import Translator
from manyheads.metrics.scores import (
    OverlapOptions,
    Score,
    check_metrics,
    check_tokenizer,
    companion_metrics,
    measure,
    perplexity,
    with_references,
)
from manyheads.metrics.segmentation import AUTO, bleu_tokenizer, target_language
from manyheads.tasks.interface import EvaluationOptions


class Scoring:
    """Sources, right answers and metrics of one evaluation."""

    def __init__(self, recipe: TranslationRecipe, pairs: Sequence[Pair], options: EvaluationOptions) -> None:
        settings = recipe.validation
        own = settings.metric if settings.metric != "loss" else "bleu"
        self.metrics = check_metrics(options.metrics) or [own, *companion_metrics(own)]
        self.pairs = pairs
        answers = with_references(pairs, grouped=not set(OVERLAP_METRICS) & set(self.metrics))
        self.sources = [text for text, _ in answers]
        self.answers = [right for _, right in answers]
        lowercase = settings.lowercase if options.lowercase is None else options.lowercase
        self.overlap_options = OverlapOptions(lowercase, self._tokenizer(recipe, options))

    def _tokenizer(self, recipe: TranslationRecipe, options: EvaluationOptions) -> str:
        """Return BLEU's tokenizer: the one asked for, or the recipe's own, or the one that suits the target."""
        own = recipe.validation.bleu_tokenizer
        default = type(recipe.validation).model_fields["bleu_tokenizer"].default
        return bleu_tokenizer(
            check_tokenizer(options.tokenizer or (AUTO if own == default else own)),
            language=options.search.get("to") or target_language(recipe.data),
            references=(right[0] for right in self.answers),
        )

    def scores(self, outputs: list[str]) -> list[Score]:
        """Score outputs by every metric."""
        return [measure(metric, outputs, self.answers, self.overlap_options) for metric in self.metrics]

    def perplexity(self, translator: Translator, to: str | None) -> float:
        """Return the model's perplexity per target token, the end token included, on the pairs."""
        likely = translator.score([pair.source for pair in self.pairs], [pair.target for pair in self.pairs], to=to)
        tokens = sum(len(row) for row in likely)
        return perplexity(-sum(map(sum, likely)) / max(1, tokens))
