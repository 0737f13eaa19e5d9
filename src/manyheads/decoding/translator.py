"""Texts in, texts out: the same number of them, in the same order, empty ones included.

from manyheads import Translator
Translator("runs/dates").translate("15 novembre 2026")  # '2026-11-15'
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

from manyheads.data.tokenizers import Tokenizers
from manyheads.decoding.engines import Engine, open_engine
from manyheads.decoding.hypothesis import Hypothesis
from manyheads.decoding.languages import Languages
from manyheads.decoding.options import TranslationOptions
from manyheads.decoding.splitting import Part, join, split
from manyheads.errors import ManyheadsError
from manyheads.processor import usable_cores
from manyheads.runs.folder import RunFolder

STREAM_LINES = 1024  # read ahead of a stream: enough to sort by length, little enough to answer soon
LIST_LINES = 8 * STREAM_LINES  # of a list at a time, which nobody waits for the beginning of


@dataclass(frozen=True)
class Source:
    """A text as it is read: its ids, and before them the tag of the language to translate into, if there is one."""

    text: str
    ids: list[int]
    tag: list[int]

    @property
    def tagged(self) -> list[int]:
        """All ids."""
        return [*self.tag, *self.ids]


@dataclass(frozen=True)
class Candidate:
    """One output for a text: the model's log-probability, the score that ranked it, what it looked at [T, S]."""

    text: str
    score: float
    log_probability: float
    tokens: list[int]
    attention: list[list[float]] | None = None


@dataclass(frozen=True)
class Translation:
    """What became of one text: the outputs, best first, and a warning if the best one had to be cut off."""

    source: str
    candidates: list[Candidate]
    warning: str | None = None

    @property
    def text(self) -> str:
        """The best output."""
        return self.candidates[0].text if self.candidates else ""


class Translator:
    """Translates with the model of a run folder, or of a name that 'manyheads models' shows; by default its first."""

    def __init__(
        self, run: Path | str | None = None, *, engine: str = "auto", device: str = "auto", precision: str = "float32"
    ) -> None:
        folder = RunFolder.open(run)
        self.languages: Languages | None
        self.engine: Engine = open_engine(folder, engine=engine, device=device, precision=precision)
        recipe = folder.recipe()
        self.tokenizers = folder.tokenizers()
        self.options = TranslationOptions.from_recipe(recipe)
        self.languages = Languages(recipe.data, self.tokenizers.source)

    @classmethod
    def from_parts(
        cls, engine: Engine, tokenizers: Tokenizers, options: TranslationOptions, languages: Languages | None = None
    ) -> Translator:
        """Make a translator of a model that is at hand; without `languages`, sources have their tags already."""
        translator = cls.__new__(cls)
        translator.engine, translator.tokenizers, translator.options = engine, tokenizers, options
        translator.languages = languages
        return translator

    @overload
    def translate(self, text: str, **changes: Any) -> str: ...  # noqa: ANN401
    @overload
    def translate(self, text: Sequence[str], **changes: Any) -> list[str]: ...  # noqa: ANN401
    def translate(self, text: str | Sequence[str], **changes: Any) -> str | list[str]:
        """Translate one text or many; `changes` are fields of `TranslationOptions`, such as beam=1."""
        texts = [text] if isinstance(text, str) else text
        found = [one.text for one in self.translations(texts, **{"scores": False, **changes})]
        return found[0] if isinstance(text, str) else found

    def translations(self, texts: Sequence[str], **changes: Any) -> list[Translation]:  # noqa: ANN401
        """Translate texts and return every candidate with its scores."""
        return list(self.stream_chunks(_chunks(texts, LIST_LINES), **changes))

    def stream(self, texts: Iterable[str], **changes: Any) -> Iterator[Translation]:  # noqa: ANN401
        """Translate texts as they come, in their order, holding only some of them at a time."""
        return self.stream_chunks(_chunks(texts, STREAM_LINES), **changes)

    def stream_chunks(self, chunks: Iterable[list[str]], **changes: Any) -> Iterator[Translation]:  # noqa: ANN401
        """Translate texts that come several at a time, in their order."""
        options = self.options.changed(changes)
        for chunk in chunks:
            yield from self._translate_chunk(chunk, options)

    def _translate_chunk(self, texts: list[str], options: TranslationOptions) -> list[Translation]:
        """Translate texts; one that is too long to be read at once is translated part by part, beside the others."""
        sources = self._sources(texts, options.to)
        parts = [self._parts(source, options.split_above) for source in sources]
        read = [self._part_sources(source, cut) for source, cut in zip(sources, parts, strict=True)]
        firsts, others = [first for first, *_ in read], [other for _, *rest in read for other in rest]
        if options.prefix:  # only a whole text has a beginning that can be asked for
            found = [*self._search(firsts, options), *self._search(others, replace(options, prefix=None))]
        else:
            found = self._search([*firsts, *others], options)
        further = iter(found[len(texts) :])
        return [
            _joined(source.text, [first, *itertools.islice(further, len(cut) - 1)], cut)
            for source, first, cut in zip(sources, found[: len(texts)], parts, strict=True)
        ]

    def _sources(self, texts: Sequence[str], to: str | None) -> list[Source]:
        """Return texts as the model reads them."""
        rows = self.tokenizers.source.encode_all(texts, threads=usable_cores())
        tags = [[] for _ in texts] if self.languages is None else self.languages.tag_ids(texts, to)
        return [Source(text, ids, tag) for text, ids, tag in zip(texts, rows, tags, strict=True)]

    def _parts(self, source: Source, longest: int) -> list[Part]:
        """Return the parts of a text that are short enough to be read at once: one, if all of it is."""
        if not 0 < longest < len(source.ids):
            return [Part(source.text)]
        encode = self.tokenizers.source.encode
        return split(source.text, fits=lambda part: len(encode(part)) <= longest)

    def _part_sources(self, source: Source, parts: Sequence[Part]) -> list[Source]:
        """Return the parts of a text as the model reads them."""
        if len(parts) == 1:
            return [source]
        return [Source(part.text, self.tokenizers.source.encode(part.text), source.tag) for part in parts]

    def _search(self, sources: Sequence[Source], options: TranslationOptions) -> list[Translation]:
        """Translate sources, except for those that are empty."""
        results = [Translation(source.text, []) for source in sources]
        rows = [i for i, source in enumerate(sources) if source.ids]
        prefix = self.tokenizers.target.encode(options.prefix) if options.prefix else []
        found = self.engine.search([sources[i].tagged for i in rows], options, prefix=prefix)
        kept = [hypotheses[: options.n_best] for hypotheses in found]
        ids = [one.tokens for hypotheses in kept for one in hypotheses]
        texts = iter(self.tokenizers.target.decode_all(ids, threads=usable_cores()))
        for row, hypotheses in zip(rows, kept, strict=True):
            results[row] = _presented(sources[row], hypotheses, texts)
        return results

    def score(self, sources: Sequence[str], targets: Sequence[str], *, to: str | None = None) -> list[list[float]]:
        """Return the log-probability of each token of given targets, the end token included; in their order."""
        if len(sources) != len(targets):
            raise ManyheadsError(f"there are {len(sources):,} sources but {len(targets):,} targets.")
        source_ids = [source.tagged for source in self._sources(sources, to)]
        return self.engine.score(source_ids, self.tokenizers.target.encode_all(targets))


def _chunks(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield texts several at a time."""
    remaining = iter(texts)
    return iter(lambda: list(itertools.islice(remaining, size)), [])


def _presented(source: Source, hypotheses: list[Hypothesis], texts: Iterator[str]) -> Translation:
    """Put hypotheses and the texts they spell together; say so if the best one did not come to an end."""
    candidates = [
        Candidate(
            next(texts),
            one.score,
            one.log_probability,
            one.tokens,
            None if one.attention is None else [row[len(source.tag) :] for row in one.attention],
        )
        for one in hypotheses
    ]
    return Translation(source.text, candidates, _warning(hypotheses[0]))


def _joined(text: str, found: list[Translation], parts: list[Part]) -> Translation:
    """Put the best outputs for the parts of a text together."""
    if len(parts) == 1:
        return found[0]
    best = [one.candidates[0] for one in found if one.candidates]
    whole = Candidate(
        join([one.text for one in found], parts),
        sum(one.score for one in best),
        sum(one.log_probability for one in best),
        [token for one in best for token in one.tokens],
    )
    warnings = dict.fromkeys(f"in one of {len(parts)} parts, {one.warning}" for one in found if one.warning)
    return Translation(text, [whole] if best else [], "; ".join(warnings) or None)


def _warning(best: Hypothesis) -> str | None:
    """Say that an output has no end, and whether it repeats itself, or that its limit kept a better one away."""
    tokens = best.tokens
    if best.finished:
        return "a longer output would have been more probable (try a larger extra_length)" if best.limited else None
    loop = repeated_tail(tokens)
    reason = f"; it repeats the same {loop} tokens" if loop > 1 else "; it repeats the same token" if loop else ""
    return (
        f"cut off after {len(tokens)} tokens without an end{reason} (try no_repeat_ngram=3, or a larger extra_length)"
    )


def repeated_tail(tokens: list[int], *, times: int = 3) -> int:
    """Return the length of the shortest run of tokens that the end repeats at least `times` times, or 0."""
    for length in range(1, len(tokens) // times + 1):
        unit = tokens[-length:]
        if all(tokens[-(i + 1) * length : len(tokens) - i * length] == unit for i in range(times)):
            return length
    return 0
