"""The CTranslate2 engine: fast on CPUs, converted in memory from the run folder, without torch.

The model is converted when it is loaded, which costs no more than reading it. So nothing is cached on disk, and nothing
can be out of date. Where CTranslate2 differs from our own searches, this engine compensates:

- Vocabularies are the ids written as words, so that ids go in and come out.
- CTranslate2 has one length limit per call. So there is one call per batch, of sentences of similar length. An output
  longer than its own sentence's limit is truncated (greedy search), or searched again with that limit (beam search,
  where the limit can change the ranking).
- CTranslate2 stops at K finished hypotheses, even poor ones, unless its length penalty is 0. With 0, it continues until
  the most probable hypothesis has finished. So its penalty is 0, and the length penalty is applied here.
- At a length limit, unfinished hypotheses are dropped if there are finished ones, and the best is marked as limited.
- CTranslate2 returns the mean attention of the first heads of one layer, at the step that writes a token. So the model
  is converted with the heads that align first in their layer, and the rows are moved to the step that aligns.
- Where tokens are forbidden or forced (start token, repeated n-grams, a prefix), CTranslate2's scores are not the
  model's log-probabilities, so they are computed again.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import ctranslate2

from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.decoding.aligning import rows_at
from manyheads.decoding.engines.choice import PRECISIONS, Precision
from manyheads.decoding.engines.shortlist import Shortlist
from manyheads.decoding.options import TranslationOptions
from manyheads.decoding.search.hypothesis import Hypothesis, make_hypothesis
from manyheads.errors import ManyheadsError
from manyheads.exchange.ctranslate2 import INT8_MAXIMUM, PORTABLE_INT8_MAXIMUM, Quantization, model_files
from manyheads.exchange.tree import read_checked
from manyheads.positions.limits import too_long
from manyheads.processor import sums_bytes_safely, usable_cores
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import Arrays

UNKNOWN = float("nan")  # the log-probability where none was requested
SCORE_BATCH = 64  # pairs
# Rows (sentences × beam) of a worker's batch, and its maximum of sentences. Fastest in measurements with beams of 1 and
# 4, in float32 and int8; int16 was not measured.
ROWS_PER_BATCH = {"float32": 512, "int16": 512, "int8": 64}
MOST_SENTENCES_PER_BATCH = 128
MOST_THREADS = 4  # for one sentence: its matrix products are too small for more
INITIAL_POSITIONS = 1024  # in the sinusoidal table; a longer text needs a longer table


class Parallelism(NamedTuple):
    """The number of workers, each with batches of its own, and the number of threads of each worker."""

    workers: int
    threads: int


class CTranslate2Engine:
    """Token ids in, hypotheses out. Several threads may call it: its workers take the batches of all of them."""

    calls_at_once = 2  # one computes while the results of the other are read

    aligns = True  # it runs Transformers only

    def __init__(self, run: RunFolder, *, precision: Precision = "float32") -> None:
        self.config = run.config_for(TranslationConfig)
        self.special = self.config.special
        self._never = frozenset(self.special.never)
        model = self.config.transformer
        self._alignment = run.recipe_for(TranslationRecipe).decoding.alignment.resolved(
            layers=model.decoder_layers, heads=model.heads
        )
        self._run = run
        self._precision = _supported(precision)
        self._workers = usable_cores()
        self._positions = INITIAL_POSITIONS
        self._translators: dict[Parallelism, ctranslate2.Translator] = {}
        self._loading = threading.Lock()
        # Read now, so that a damaged run fails here. The first translator that is loaded uses these arrays.
        self._arrays: Arrays | None = read_checked(run.weights_file, self.config)
        self._names = [str(i) for i in range(max(self.config.source_vocabulary, self.config.target_vocabulary))]

    def search(
        self, sources: Sequence[Sequence[int]], options: TranslationOptions, *, prefix: Sequence[int] = ()
    ) -> list[list[Hypothesis]]:
        """Return hypotheses, best first, for source ids without special tokens."""
        if options.shortlist and not self._run.shortlist_file.exists():
            Shortlist.read(self._run.shortlist_file)  # raises the error for a missing shortlist
        limits = [len(ids) + options.extra_length for ids in sources]
        parallelism = self._parallelism(len(sources))
        found = self._search(sources, limits, options, prefix, parallelism)
        overlong = [
            row for row, limit in enumerate(limits) if any(len(hypothesis.tokens) > limit for hypothesis in found[row])
        ]
        if overlong and options.beam == 1:
            self._truncate(sources, limits, found, options, overlong)
        elif overlong:
            again = self._search(
                [sources[row] for row in overlong],
                [limits[row] for row in overlong],
                options,
                prefix,
                parallelism,
                one_per_batch=True,
            )
            for row, hypotheses in zip(overlong, again, strict=True):
                found[row] = hypotheses
        return [[self._aligned(one) for one in _ranked(hypotheses)] for hypotheses in found]

    def _aligned(self, hypothesis: Hypothesis) -> Hypothesis:
        """Return a hypothesis with its attention, if it was requested, at the step that aligns."""
        if hypothesis.attention is None:
            return hypothesis
        return replace(hypothesis, attention=rows_at(self._alignment.step, hypothesis.attention))

    def _truncate(
        self,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        found: list[list[Hypothesis]],
        options: TranslationOptions,
        rows: Sequence[int],
    ) -> None:
        """Truncate greedy outputs to their limits and score them; a search with these limits gives the same outputs."""
        truncated = [[_first_tokens(hypothesis, limits[row]) for hypothesis in found[row]] for row in rows]
        if options.scores:
            truncated = self._rescored([sources[row] for row in rows], truncated, options)
        for row, hypotheses in zip(rows, truncated, strict=True):
            found[row] = hypotheses

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probability of each token of given targets, the end token included."""
        length = _longest(targets)
        if (longest := self._longest_target(_longest(sources), length)) < length:
            raise too_long(length, longest)
        scored = self._translator(self._parallelism(len(sources))).score_batch(
            self._source(sources),
            [self._words(ids) for ids in targets],
            max_batch_size=self._batch_size(len(sources), SCORE_BATCH),
            max_input_length=0,
        )
        return [list(result.log_probs) for result in scored]

    def _search(
        self,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        options: TranslationOptions,
        prefix: Sequence[int],
        parallelism: Parallelism,
        *,
        one_per_batch: bool = False,
    ) -> list[list[Hypothesis]]:
        """Return all hypotheses of each source, none longer than its batch's limit, with the model's own scores."""
        found = self._search_batches(sources, limits, options, prefix, parallelism, one_per_batch=one_per_batch)
        if prefix or options.no_repeat_ngram:
            return self._rescored(sources, found, options)
        # Suppressing tokens costs a second scoring, so only the few outputs that contain one are searched again.
        invalid = [
            row
            for row, hypotheses in enumerate(found)
            if not all(self._never.isdisjoint(hypothesis.tokens) for hypothesis in hypotheses)
        ]
        if invalid:
            invalid_sources = [sources[row] for row in invalid]
            again = self._search_batches(
                invalid_sources,
                [limits[row] for row in invalid],
                options,
                prefix,
                parallelism,
                one_per_batch=one_per_batch,
                never=self.special.never,
            )
            for row, hypotheses in zip(invalid, self._rescored(invalid_sources, again, options), strict=True):
                found[row] = hypotheses
        return found

    def _search_batches(
        self,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        options: TranslationOptions,
        prefix: Sequence[int],
        parallelism: Parallelism,
        *,
        one_per_batch: bool = False,
        never: Sequence[int] = (),
    ) -> list[list[Hypothesis]]:
        """Search in batches of sentences of similar length, or of one sentence each; longest first."""
        if not sources:
            return []
        never = never or (self.special.never if prefix or options.no_repeat_ngram else ())
        longest_limit = max(limits)
        longest = self._longest_target(_longest(sources), longest_limit)
        order = sorted(range(len(sources)), key=lambda row: -len(sources[row]))
        # In a batch of several lengths, CTranslate2 returns the attention of a beam's first step at the wrong offset.
        one_per_batch = one_per_batch or options.alignments
        size = 1 if one_per_batch else self._batch_size(len(sources), self._most_sentences(options))
        translator = self._translator(parallelism)
        futures: dict[int, Any] = {}
        for begin in range(0, len(order), size):
            rows = order[begin : begin + size]
            limit = min(longest, max(limits[row] for row in rows))
            batch = [sources[row] for row in rows]
            futures.update(zip(rows, self._submit(translator, batch, limit, options, prefix, never), strict=True))
        # Read in the order of computation, so that the first results are converted while the last are computed.
        results = {row: self._hypotheses(futures[row].result(), options) for row in order}
        found = [results[row] for row in range(len(sources))]
        if longest < longest_limit and any(
            not one.finished and len(one.tokens) == longest for hypotheses in found for one in hypotheses
        ):
            raise too_long(longest + 1, longest)
        return found

    def _submit(
        self,
        translator: ctranslate2.Translator,
        sources: Sequence[Sequence[int]],
        limit: int,
        options: TranslationOptions,
        prefix: Sequence[int],
        never: Sequence[int],
    ) -> list[Any]:
        """Submit a batch and return its futures; the tokens `never` are suppressed."""
        futures: list[Any] = translator.translate_batch(
            self._source(sources),
            [self._words(prefix)] * len(sources) if prefix else None,
            asynchronous=True,
            beam_size=options.beam,
            num_hypotheses=options.beam,
            length_penalty=0.0,
            no_repeat_ngram_size=options.no_repeat_ngram,
            suppress_sequences=[[self._names[token]] for token in never] or None,
            max_input_length=0,
            max_decoding_length=limit,
            min_decoding_length=0,
            use_vmap=options.shortlist,
            return_scores=options.scores or options.beam > 1,  # greedy search without scores saves a softmax
            return_attention=options.alignments,
            return_end_token=True,
        )
        return futures

    def _hypotheses(self, result: Any, options: TranslationOptions) -> list[Hypothesis]:  # noqa: ANN401
        """Convert CTranslate2's result for one source into hypotheses."""
        rows = [list(map(int, words)) for words in result.hypotheses]
        hypotheses = [
            make_hypothesis(tokens, score, end=self.special.end, penalty=options.penalty)
            for tokens, score in zip(rows, result.scores or [UNKNOWN], strict=True)
        ]
        if not options.alignments:
            return hypotheses
        return [
            replace(hypothesis, attention=attention)
            for hypothesis, attention in zip(hypotheses, result.attention, strict=True)
        ]

    def _rescored(
        self, sources: Sequence[Sequence[int]], found: list[list[Hypothesis]], options: TranslationOptions
    ) -> list[list[Hypothesis]]:
        """Return the hypotheses with the model's log-probabilities, computed without forced or forbidden tokens."""
        pairs = [(source, one) for source, row in zip(sources, found, strict=True) for one in row]
        targets = [one.tokens[:-1] if one.finished else one.tokens for _, one in pairs]
        scored = iter(self.score([source for source, _ in pairs], targets))
        return [
            [
                replace(
                    make_hypothesis(
                        one.tokens, sum(next(scored)[: len(one.tokens)]), end=self.special.end, penalty=options.penalty
                    ),
                    attention=one.attention,
                )
                for one in row
            ]
            for row in found
        ]

    def _source(self, sources: Sequence[Sequence[int]]) -> list[list[str]]:
        """Return sources as words, each with its end token."""
        return [self._words([*ids, self.special.end]) for ids in sources]

    def _words(self, ids: Sequence[int]) -> list[str]:
        """Return ids as the words of the vocabulary."""
        return list(map(self._names.__getitem__, ids))

    def _most_sentences(self, options: TranslationOptions) -> int:
        """Return the maximum number of sentences in a batch."""
        suitable = max(1, min(MOST_SENTENCES_PER_BATCH, ROWS_PER_BATCH[self._precision] // options.beam))
        return options.batch_sentences or suitable

    def _batch_size(self, sentences: int, most: int) -> int:
        """Return the number of sentences per batch: at most `most`, and few enough that every worker has a batch."""
        return max(1, min(most, -(-sentences // self._workers)))

    def _longest_target(self, source: int, target: int) -> int:
        """Ensure that there are positions for a source of this length; return the longest possible target.

        The result is `target`, or less where the model has a table of learned positions that is too short. A sinusoidal
        table that is too short is replaced by a longer one.
        """
        settings = self.config.transformer.positions
        if settings.kind == "learned":
            if source > settings.maximum:
                raise too_long(source, settings.maximum)
            return min(target, settings.maximum)
        with self._loading:
            if settings.absolute and max(source, target) > self._positions:
                self._positions = 2 * max(source, target)
                self._translators.clear()
        return target

    def _parallelism(self, sentences: int) -> Parallelism:
        """Return how to compute this number of sentences.

        Many sentences use one single-threaded worker per core. Fewer sentences than cores use one worker, whose cache
        stays warm, with several threads. On two cores that was 1.7 times as fast in float32, but 7 times slower in
        int8, so there the worker has one thread.
        """
        threads = min(self._workers, MOST_THREADS) if self._precision == "float32" else 1
        return Parallelism(1, threads) if sentences < self._workers else Parallelism(self._workers, 1)

    def _translator(self, parallelism: Parallelism) -> ctranslate2.Translator:
        """Return the model with this number of workers and threads, loaded on first use."""
        with self._loading:
            if parallelism not in self._translators:
                self._translators[parallelism] = self._load(parallelism)
            return self._translators[parallelism]

    def _load(self, parallelism: Parallelism) -> ctranslate2.Translator:
        """Convert the run's model, and load it."""
        config = self.config
        stored: Quantization = "int8" if self._precision == "int8" else "float32"
        vocabularies = self._names[: config.source_vocabulary], self._names[: config.target_vocabulary]
        arrays, self._arrays = self._arrays or read_checked(self._run.weights_file, config), None
        int8_maximum = INT8_MAXIMUM if sums_bytes_safely() else PORTABLE_INT8_MAXIMUM
        files = model_files(
            arrays,
            config,
            vocabularies,
            positions=self._positions,
            alignment=self._alignment,
            quantization=stored,
            int8_maximum=int8_maximum,
        )
        if self._run.shortlist_file.exists():
            files["vmap.txt"] = Shortlist.read(self._run.shortlist_file).ctranslate2_map(self._names)
        return ctranslate2.Translator(
            str(self._run.path),
            device="cpu",
            compute_type=self._precision,
            inter_threads=parallelism.workers,
            intra_threads=parallelism.threads,
            files=files,
        )


def _first_tokens(hypothesis: Hypothesis, count: int) -> Hypothesis:
    """Return the first `count` tokens of a hypothesis; if it was longer, the log-probability is unknown."""
    if len(hypothesis.tokens) <= count:
        return hypothesis
    attention = None if hypothesis.attention is None else hypothesis.attention[:count]
    first = replace(hypothesis, tokens=hypothesis.tokens[:count], attention=attention)
    return replace(first, log_probability=UNKNOWN, finished=False)


def _supported(precision: Precision) -> Precision:
    """Return the precision, or raise an error if this CPU lacks it: CTranslate2 would silently use another one."""
    known = ctranslate2.get_supported_compute_types("cpu")
    if precision not in known:
        raise ManyheadsError(
            f"CTranslate2 has no {precision} on this processor.",
            where="--precision",
            cure=f"It has {', '.join(name for name in PRECISIONS if name in known)}.",
        )
    return precision


def _longest(rows: Sequence[Sequence[int]]) -> int:
    """Return the length of the longest row, including a special token."""
    return 1 + max(map(len, rows), default=0)


def _ranked(hypotheses: list[Hypothesis]) -> list[Hypothesis]:
    """Return the finished hypotheses, best first; or the best unfinished one if there are none.

    If an unfinished hypothesis has a better score than all finished ones, the first result is marked as `limited`.
    """
    if len(hypotheses) == 1:  # greedy search
        return hypotheses
    ranked = sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)
    finished = [hypothesis for hypothesis in ranked if hypothesis.finished]
    if not finished:
        return ranked[:1]
    return finished if ranked[0].finished else [replace(finished[0], limited=True), *finished[1:]]
