"""How to translate a text: the options of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self, get_args

from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.config.values import LARGEST, check_beam
from manyheads.decoding.search.hypothesis import Penalty, PenaltyForm
from manyheads.errors import ManyheadsError, did_you_mean


@dataclass(frozen=True)
class TranslationOptions:
    """The options of a translation.

    `to` is the target language, for models with several, and `source` the language of the texts, which is detected if
    it is not given. `sample` draws outputs instead of searching for the best one. Running text is translated sentence
    by sentence, and a sentence of more than `split_above` tokens part by part; 0 translates every text as a whole.
    `shortlist` allows only the tokens that the source suggests; `alignments` returns the attention of the best output
    to its source. Without `scores`, probabilities may be unknown (NaN). With `placeholders`, those of running text, and
    whatever else must not be translated, are in the output as they are in the text. Without `batch_sentences`, the
    engine chooses the batch size.
    """

    to: str | None = None
    source: str | None = None
    beam: int = 4
    length_penalty: float = 0.6
    penalty_form: PenaltyForm = "paper"
    extra_length: int = 50
    no_repeat_ngram: int = 0
    n_best: int = 1
    prefix: str | None = None
    sample: bool = False
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 1
    batch_sentences: int | None = None
    split_above: int = 256
    shortlist: bool = False
    alignments: bool = False
    scores: bool = True
    placeholders: bool = True

    def __post_init__(self) -> None:
        self._need(self.beam >= 1, "beam", "must be at least 1")
        try:
            check_beam(self.beam)
        except ValueError as error:
            raise ManyheadsError(f"{error}.", where="beam") from None
        self._need(self.length_penalty >= 0, "length penalty", "must not be negative")
        self._need(
            self.penalty_form in get_args(PenaltyForm), "penalty form", f"must be {' or '.join(get_args(PenaltyForm))}"
        )
        self._need(self.extra_length >= 0, "extra length", "must not be negative")
        self._need(self.no_repeat_ngram >= 0, "no-repeat n-gram", "must not be negative")
        self._need(self.n_best >= 1, "n-best", "must be at least 1")
        self._need(self.sample or self.n_best <= self.beam, "n-best", f"cannot exceed the beam ({self.beam})")
        self._need(self.temperature > 0, "temperature", "must be above 0")
        self._need(0 < self.top_p <= 1, "top-p", "must be above 0 and at most 1")
        self._need(-LARGEST - 1 <= self.seed <= 2 * LARGEST + 1, "seed", "must be a number of 64 bits")
        self._need(max(self.top_k, self.extra_length, self.split_above) <= LARGEST, "a number", "has at most 63 bits")
        self._need(self.top_k >= 0, "top-k", "must not be negative")
        self._need(self.batch_sentences is None or self.batch_sentences >= 1, "batch size", "must be at least 1")
        self._need(self.split_above >= 0, "split above", "must not be negative")

    def _need(self, holds: bool, name: str, rule: str) -> None:
        """Raise an error for an impossible value."""
        if not holds:
            raise ManyheadsError(f"{name} {rule}.")

    @property
    def penalty(self) -> Penalty:
        """The length penalty."""
        return Penalty(self.length_penalty, self.penalty_form)

    @classmethod
    def from_recipe(cls, recipe: TranslationRecipe) -> Self:
        """Return the options of a run: its settings, and no text longer than those it was trained on."""
        longest, limit = recipe.data.max_length, recipe.model.longest
        split_above = longest if limit is None else min(longest, limit - 1)  # one position is for the end token
        return cls(**recipe.decoding.model_dump(exclude={"alignment"}), split_above=split_above)

    def changed(self, changes: Mapping[str, Any]) -> TranslationOptions:
        """Return these options with a caller's changes; a value of None changes nothing."""
        return _changed(self, tuple(changes.items()))


@lru_cache(maxsize=16)  # many texts are translated with the same changes
def _changed(options: TranslationOptions, changes: tuple[tuple[str, Any], ...]) -> TranslationOptions:
    """Check and make the changes."""
    known = vars(options)
    for name, _ in changes:
        if name not in known:
            raise ManyheadsError(f"there is no option '{name}'.", cure=did_you_mean(name, known))
    return replace(options, **{name: value for name, value in changes if value is not None})
