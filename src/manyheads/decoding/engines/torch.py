"""The PyTorch engine: it runs every model and supports every search option."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import torch

from manyheads.attention.observer import Observable
from manyheads.attention.recording import record_attention
from manyheads.config.alignment import AlignmentSettings
from manyheads.config.tasks.translation import TranslationConfig
from manyheads.decoding.aligning import rows_at
from manyheads.decoding.options import TranslationOptions
from manyheads.decoding.search.constraints import Constraints
from manyheads.decoding.search.from_source import beam_from_source, greedy_from_source
from manyheads.decoding.search.hypothesis import Hypothesis
from manyheads.decoding.search.rescoring import token_log_probabilities
from manyheads.decoding.search.sampling import Sampling, sampler
from manyheads.errors import ManyheadsError
from manyheads.models.interface import AnySequenceToSequence, Tokens

SEARCH_BATCH = 64  # sentences
SCORE_BATCH = 64  # pairs
Result = TypeVar("Result")


def in_batches(work: Callable[[list[int]], list[Result]], *, lengths: Sequence[int], size: int) -> list[Result]:
    """Call `work` on batches of rows of similar length, longest first; return the results in the order of the rows."""
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    results: dict[int, Result] = {}
    for begin in range(0, len(order), size):
        rows = order[begin : begin + size]
        results.update(zip(rows, work(rows), strict=True))
    return [results[row] for row in range(len(lengths))]


class TorchEngine:
    """Token ids in, hypotheses out."""

    calls_at_once = 1  # a search uses all cores

    def __init__(
        self, model: AnySequenceToSequence, config: TranslationConfig, *, alignment: AlignmentSettings | None = None
    ) -> None:
        self.model = model
        self.config = config
        self.alignment = alignment or AlignmentSettings()
        self.special = config.special

    @property
    def device(self) -> torch.device:
        """The device of the model's weights."""
        return self.model.output_vectors.device

    @property
    def aligns(self) -> bool:
        """Whether a search can return the attention of its outputs to their sources."""
        return bool(self._attentions)

    @property
    def _attentions(self) -> list[str]:
        """The names of the attentions from the decoder to the encoder, from the first layer to the last."""
        parts = self.model.named_modules()
        return [name for name, part in parts if isinstance(part, Observable) and name.endswith("cross_attention")]

    def search(
        self, sources: Sequence[Sequence[int]], options: TranslationOptions, *, prefix: Sequence[int] = ()
    ) -> list[list[Hypothesis]]:
        """Return hypotheses, best first, for source ids without special tokens."""
        if options.shortlist:
            raise ManyheadsError("the torch engine has no shortlist.", where="--shortlist", cure="Leave it out.")
        search = self._search_with_attention if options.alignments else self._search
        return in_batches(
            lambda rows: search([sources[row] for row in rows], options, prefix),
            lengths=list(map(len, sources)),
            size=options.batch_sentences or SEARCH_BATCH,
        )

    def _search_with_attention(
        self, sources: Sequence[Sequence[int]], options: TranslationOptions, prefix: Sequence[int]
    ) -> list[list[Hypothesis]]:
        """Search, and attach the attention that aligns to the best hypothesis of each source."""
        names = self._attentions
        if not names:
            raise ManyheadsError("this model has no attention, so there are no alignments.", where="--alignments")
        with record_attention(self.model, names) as recording:
            found = self._search(sources, options, prefix)
        chosen = self.alignment.resolved(layers=len(names), heads=recording[names[0]].shape[1])
        attention = recording[names[chosen.layer]][:, list(chosen.heads)].mean(dim=1)  # [B, T, S]
        for row, (hypotheses, source) in enumerate(zip(found, sources, strict=True)):
            weights = attention[row, : len(hypotheses[0].tokens), : len(source) + 1]
            hypotheses[0] = replace(hypotheses[0], attention=rows_at(chosen.step, weights.tolist()))
        return found

    def _search(
        self, sources: Sequence[Sequence[int]], options: TranslationOptions, prefix: Sequence[int]
    ) -> list[list[Hypothesis]]:
        """Return the hypotheses of each source of one batch."""
        source = self._source(sources)
        limits = [self.config.output_limit(len(ids), extra=options.extra_length) for ids in sources]
        constraints = Constraints([prefix] * len(sources) if prefix else (), options.no_repeat_ngram)
        if options.sample:
            return self._sample(source, limits, options, constraints)
        if options.beam == 1:
            found = greedy_from_source(
                self.model,
                source,
                special=self.special,
                limits=limits,
                penalty=options.penalty,
                constraints=constraints,
            )
            return [[hypothesis] for hypothesis in found]
        return beam_from_source(
            self.model,
            source,
            special=self.special,
            limits=limits,
            beam=options.beam,
            penalty=options.penalty,
            constraints=constraints,
        )

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probability of each token of given targets, the end token included."""
        return in_batches(
            lambda rows: self._score([sources[row] for row in rows], [targets[row] for row in rows]),
            lengths=list(map(len, targets)),
            size=SCORE_BATCH,
        )

    def _score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """Score the pairs of one batch."""
        ended = [[*target, self.special.end] for target in targets]
        target = Tokens.pad(ended, padding=self.special.pad, device=self.device)
        scores = token_log_probabilities(self.model, self._source(sources), target, start=self.special.start)
        return [row[: len(ids)] for row, ids in zip(scores.tolist(), ended, strict=True)]

    def _source(self, sources: Sequence[Sequence[int]]) -> Tokens:
        """Return sources, each with its end token, as a padded batch [B, S]."""
        ended = [[*ids, self.special.end] for ids in sources]
        return Tokens.pad(ended, padding=self.special.pad, device=self.device)

    def _sample(
        self, source: Tokens, limits: list[int], options: TranslationOptions, constraints: Constraints
    ) -> list[list[Hypothesis]]:
        """Draw `n_best` outputs for each source."""
        sampling = Sampling(options.temperature, options.top_k, options.top_p, options.seed)
        choose = sampler(sampling, self.device)
        draws = [
            greedy_from_source(
                self.model,
                source,
                special=self.special,
                limits=limits,
                penalty=options.penalty,
                constraints=constraints,
                choose=choose,
            )
            for _ in range(options.n_best)
        ]
        return [sorted(row, key=lambda hypothesis: -hypothesis.score) for row in zip(*draws, strict=True)]
