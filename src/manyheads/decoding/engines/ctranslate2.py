"""The fast engine for processors: the run's model in CTranslate2, made in memory from the run folder, without torch.

The model is converted when it is opened, which costs no more than reading it; so nothing is cached, and nothing can be
stale. What CTranslate2 does in another way is brought into line here:

- Vocabularies are numbers written as words, so that ids go in and come out.
- It has one length limit per call. So there is a call for each batch, of sentences of similar length. What outgrew its
  own sentence's limit is cut there (greedy), or searched for again with that limit (a beam may rank otherwise).
- It stops at K finished hypotheses, however poor, unless its own length penalty is off; then it goes on until the most
  probable hypothesis of all has ended. So it is off, and hypotheses are ranked by the length penalty here.
- At a limit, hypotheses without an end are dropped where others have one, and the best is marked as limited.
- Where it must not write something (a start token, an n-gram again, anything but a prefix), its scores are not the
  model's own, so they are computed once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, get_args

import ctranslate2

from manyheads.config.tasks.translation import TranslationConfig
from manyheads.decoding.engines.shortlist import Shortlist
from manyheads.decoding.options import TranslationOptions
from manyheads.decoding.search.hypothesis import Hypothesis, make_hypothesis
from manyheads.errors import ManyheadsError
from manyheads.exchange.ctranslate2 import PORTABLE, WHOLE, Quantization, model_files
from manyheads.exchange.tree import read_checked
from manyheads.positions.limits import too_long
from manyheads.processor import sums_bytes_safely, usable_cores
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import Arrays

Precision = Literal["float32", "int16", "int8"]
UNKNOWN = float("nan")  # where nobody asked for a probability
SCORED_TOGETHER = 64  # pairs
# Sentences × beam of a worker's batch, and sentences at most: what measured fastest with beams of 1 and 4, in float32
# and int8; int16 was not measured.
ROWS_TOGETHER = {"float32": 512, "int16": 512, "int8": 64}
MOST_TOGETHER = 128
MOST_THREADS = 4  # for one sentence: its products are small
FIRST_POSITIONS = 1024  # in the sinusoidal table; a longer text makes a longer one


class Team(NamedTuple):
    """Who computes: so many workers, each on batches of its own, with so many threads."""

    workers: int
    threads: int


class CTranslate2Engine:
    """Token ids in, hypotheses out."""

    def __init__(self, run: RunFolder, *, precision: Precision = "float32") -> None:
        self.config = run.config_for(TranslationConfig)
        self.special = self.config.special
        self._run = run
        self._precision = _supported(precision)
        self._workers = usable_cores()
        self._names = [str(i) for i in range(max(self.config.source_vocabulary, self.config.target_vocabulary))]
        self._positions = FIRST_POSITIONS
        self._opened: dict[Team, ctranslate2.Translator] = {}
        # A damaged run is told of at once; who will compute is not known yet, so the first to be opened takes these.
        self._arrays: Arrays | None = read_checked(run.weights_file, self.config)

    def search(
        self, sources: Sequence[Sequence[int]], options: TranslationOptions, *, prefix: Sequence[int] = ()
    ) -> list[list[Hypothesis]]:
        """Return hypotheses, best first, for source ids without special tokens."""
        if options.shortlist and not self._run.shortlist_file.exists():
            Shortlist.read(self._run.shortlist_file)  # which says so
        limits = [len(ids) + options.extra_length for ids in sources]
        team = self._team(len(sources))
        found = self._search(sources, limits, options, prefix, team)
        outgrown = [row for row, limit in enumerate(limits) if any(len(one.tokens) > limit for one in found[row])]
        if options.beam == 1:
            self._cut(sources, limits, found, options, outgrown)
        elif outgrown:
            some, theirs = [sources[row] for row in outgrown], [limits[row] for row in outgrown]
            again = self._search(some, theirs, options, prefix, team, alone=True)
            for row, hypotheses in zip(outgrown, again, strict=True):
                found[row] = hypotheses
        return [_settled(hypotheses) for hypotheses in found]

    def _cut(
        self,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        found: list[list[Hypothesis]],
        options: TranslationOptions,
        rows: Sequence[int],
    ) -> None:
        """Cut greedy outputs at their limits, which is what the limit would have done, and score what is left."""
        if not rows:
            return
        cut = [[_first(one, limits[row]) for one in found[row]] for row in rows]
        if options.scores:
            cut = self._rescored([sources[row] for row in rows], cut, options)
        for row, hypotheses in zip(rows, cut, strict=True):
            found[row] = hypotheses

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probability of each token of given targets, the end token included."""
        length = _longest(targets)
        if (reached := self._reach(_longest(sources), length)) < length:
            raise too_long(length, reached)
        scored = self._translator(self._team(len(sources))).score_batch(
            self._source(sources),
            [self._words(ids) for ids in targets],
            max_batch_size=self._share(len(sources), SCORED_TOGETHER),
            max_input_length=0,
        )
        return [list(one.log_probs) for one in scored]

    def _search(
        self,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        options: TranslationOptions,
        prefix: Sequence[int],
        team: Team,
        *,
        alone: bool = False,
    ) -> list[list[Hypothesis]]:
        """Return every hypothesis of each source, none longer than its batch's limit, with the model's own scores."""
        found = self._batches(sources, limits, options, prefix, team, alone=alone)
        if prefix or options.no_repeat_ngram:
            return self._rescored(sources, found, options)
        never = set(self.special.never)
        spoilt = [row for row, some in enumerate(found) if any(never.intersection(one.tokens) for one in some)]
        if spoilt:
            some, theirs = [sources[row] for row in spoilt], [limits[row] for row in spoilt]
            again = self._batches(some, theirs, options, prefix, team, alone=alone, never=self.special.never)
            for row, hypotheses in zip(spoilt, self._rescored(some, again, options), strict=True):
                found[row] = hypotheses
        return found

    def _batches(
        self,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        options: TranslationOptions,
        prefix: Sequence[int],
        team: Team,
        *,
        alone: bool = False,
        never: Sequence[int] = (),
    ) -> list[list[Hypothesis]]:
        """Let a team search for batches of sentences of similar length, or for each `alone`; longest first."""
        if not sources:
            return []
        never = never or (self.special.never if prefix or options.no_repeat_ngram else ())
        most = max(limits)
        reached = self._reach(_longest(sources), most)
        order = sorted(range(len(sources)), key=lambda row: -len(sources[row]))
        # In a batch of several lengths, a beam's attention at its first step comes back cut from the wrong place.
        size = 1 if alone or options.alignments else self._share(len(sources), self._together(options))
        translator = self._translator(team)
        promised: dict[int, Any] = {}
        for begin in range(0, len(order), size):
            rows = order[begin : begin + size]
            limit = min(reached, max(limits[row] for row in rows))
            batch = [sources[row] for row in rows]
            promised.update(zip(rows, self._begin(translator, batch, limit, options, prefix, never), strict=True))
        # In the order in which they are computed, so that the first are taken over while the last are at work.
        taken = {row: self._hypotheses(promised[row].result(), options) for row in order}
        found = [taken[row] for row in range(len(sources))]
        if reached < most and any(not one.finished and len(one.tokens) == reached for some in found for one in some):
            raise too_long(reached + 1, reached)
        return found

    def _begin(
        self,
        translator: ctranslate2.Translator,
        sources: Sequence[Sequence[int]],
        limit: int,
        options: TranslationOptions,
        prefix: Sequence[int],
        never: Sequence[int],
    ) -> list[Any]:
        """Let a worker begin with a batch; forbidding tokens changes its scores, so that is done only if need be."""
        begun: list[Any] = translator.translate_batch(
            self._source(sources),
            [self._words(prefix)] * len(sources) if prefix else None,
            asynchronous=True,
            beam_size=options.beam,
            num_hypotheses=options.beam,
            length_penalty=0.0,
            no_repeat_ngram_size=options.no_repeat_ngram,
            suppress_sequences=[[self._names[one]] for one in never] or None,
            max_input_length=0,
            max_decoding_length=limit,
            min_decoding_length=0,
            use_vmap=options.shortlist,
            return_scores=options.scores or options.beam > 1,  # greedy search needs none, and then saves a softmax
            return_attention=options.alignments,
            return_end_token=True,
        )
        return begun

    def _hypotheses(self, result: Any, options: TranslationOptions) -> list[Hypothesis]:  # noqa: ANN401
        """Turn CTranslate2's result into hypotheses."""
        rows = [[int(word) for word in words] for words in result.hypotheses]
        found = [
            make_hypothesis(tokens, score, end=self.special.end, penalty=options.penalty)
            for tokens, score in zip(rows, result.scores or [UNKNOWN], strict=True)
        ]
        if not options.alignments:
            return found
        return [replace(one, attention=looked) for one, looked in zip(found, result.attention, strict=True)]

    def _rescored(
        self, sources: Sequence[Sequence[int]], found: list[list[Hypothesis]], options: TranslationOptions
    ) -> list[list[Hypothesis]]:
        """Return the hypotheses with the log-probabilities that the model gives them when nothing is forced."""
        pairs = [(source, one) for source, row in zip(sources, found, strict=True) for one in row]
        bodies = [one.tokens[:-1] if one.finished else one.tokens for _, one in pairs]
        scored = iter(self.score([source for source, _ in pairs], bodies))
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
        return [self._names[one] for one in ids]

    def _together(self, options: TranslationOptions) -> int:
        """Return how many sentences a worker is to take at once."""
        suitable = max(1, min(MOST_TOGETHER, ROWS_TOGETHER[self._precision] // options.beam))
        return options.batch_sentences or suitable

    def _share(self, sentences: int, most: int) -> int:
        """Return how many of so many sentences a worker takes at once, so that no worker is idle."""
        return max(1, min(most, -(-sentences // self._workers)))

    def _reach(self, source: int, target: int) -> int:
        """See that there are positions for a source and a target of such lengths; return how far a target can go."""
        settings = self.config.transformer.positions
        if settings.kind == "learned":
            if source > settings.maximum:
                raise too_long(source, settings.maximum)
            return min(target, settings.maximum)
        if settings.absolute and max(source, target) > self._positions:
            self._positions = 2 * max(source, target)
            self._opened.clear()
        return target

    def _team(self, sentences: int) -> Team:
        """Return who is to compute for so many sentences.

        Many have a worker on each core. A single one has one worker, whose cache stays warm, with all cores, which
        measured 1.7 times as fast on two; with 8-bit numbers that was 7 times slower, so there it has one core.
        """
        together = min(self._workers, MOST_THREADS) if self._precision == "float32" else 1
        return Team(1, together) if sentences < self._workers else Team(self._workers, 1)

    def _translator(self, team: Team) -> ctranslate2.Translator:
        """Return the model as it was opened for a team."""
        if team not in self._opened:
            self._opened[team] = self._open(team)
        return self._opened[team]

    def _open(self, team: Team) -> ctranslate2.Translator:
        """Convert the run's model, and load it."""
        config = self.config
        stored: Quantization = "int8" if self._precision == "int8" else "float32"
        vocabularies = self._names[: config.source_vocabulary], self._names[: config.target_vocabulary]
        arrays, self._arrays = self._arrays or read_checked(self._run.weights_file, config), None
        largest = WHOLE if sums_bytes_safely() else PORTABLE
        files = model_files(
            arrays, config, vocabularies, positions=self._positions, quantization=stored, largest=largest
        )
        if self._run.shortlist_file.exists():
            files["vmap.txt"] = Shortlist.read(self._run.shortlist_file).ctranslate2_map(self._names)
        return ctranslate2.Translator(
            str(self._run.path),
            device="cpu",
            compute_type=self._precision,
            inter_threads=team.workers,
            intra_threads=team.threads,
            files=files,
        )


def _first(hypothesis: Hypothesis, count: int) -> Hypothesis:
    """Return the first so many tokens of a hypothesis; if that is not all, its probability is not known."""
    if len(hypothesis.tokens) <= count:
        return hypothesis
    attention = None if hypothesis.attention is None else hypothesis.attention[:count]
    first = replace(hypothesis, tokens=hypothesis.tokens[:count], attention=attention)
    return replace(first, log_probability=UNKNOWN, finished=False)


def _supported(precision: Precision) -> Precision:
    """Return the precision if CTranslate2 can compute in it on this processor; it would silently take another."""
    known = ctranslate2.get_supported_compute_types("cpu")
    if precision not in known:
        raise ManyheadsError(
            f"CTranslate2 has no {precision} on this processor.",
            where="--precision",
            cure=f"It has {', '.join(one for one in get_args(Precision) if one in known)}.",
        )
    return precision


def _longest(rows: Sequence[Sequence[int]]) -> int:
    """Return the length of the longest row, with a special token."""
    return 1 + max(map(len, rows), default=0)


def _settled(hypotheses: list[Hypothesis]) -> list[Hypothesis]:
    """Return those that end, best first, the first marked if one without an end is better; or only the best without."""
    ranked = sorted(hypotheses, key=lambda one: -one.score)
    ended = [one for one in ranked if one.finished]
    if not ended:
        return ranked[:1]
    return ended if ranked[0].finished else [replace(ended[0], limited=True), *ended[1:]]
