"""Texts in, texts out: the same number of them, in the same order, empty ones included.

from manyheads import Translator
Translator("runs/dates").translate("15 novembre 2026")  # '2026-11-15'
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.tokens.tokenizers import Tokenizers
from manyheads.decoding.engines.choice import Engine, open_engine
from manyheads.decoding.options import TranslationOptions
from manyheads.decoding.search.hypothesis import Hypothesis
from manyheads.decoding.text.languages import PIVOT, Languages
from manyheads.decoding.text.splitting import Splitter
from manyheads.decoding.unfinished import warning_about
from manyheads.documents.placeholders import protected
from manyheads.documents.split_text import SplitText
from manyheads.errors import ManyheadsError
from manyheads.runs.folder import RunFolder

if TYPE_CHECKING:
    from manyheads.decoding.document_translation import TranslatedDocument
    from manyheads.decoding.protector import Protector, Whole

STREAM_LINES = 1024  # read ahead of a stream: enough to sort by length, little enough to answer soon
LIST_LINES = 8 * STREAM_LINES  # of a list at a time: it is returned as a whole, so its first lines need not come early


class Source(NamedTuple):
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
    """What became of one text: the outputs, best first, and a warning if the best one had to be cut off.

    A text of several sentences has the translation of each in `parts`; its own outputs are put together from theirs.
    `pivot` is the language that the text was translated into first, where the run has no direction of its own for it.
    """

    source: str
    candidates: list[Candidate]
    warning: str | None = None
    parts: tuple[Translation, ...] = ()
    pivot: str | None = None

    @property
    def text(self) -> str:
        """The best output."""
        return self.candidates[0].text if self.candidates else ""

    def _repr_html_(self) -> str:
        """Return this as a notebook shows it: the source, the outputs with their scores, and the warning."""
        from html import escape

        rows = "".join(f"<tr><td>{one.score:.3f}</td><td>{escape(one.text)}</td></tr>" for one in self.candidates)
        warning = f"<p><i>{escape(self.warning)}</i></p>" if self.warning else ""
        return f"<p>{escape(self.source)}</p><table><tr><th>score</th><th>output</th></tr>{rows}</table>{warning}"


class Translator:
    """Translates texts with the model of a run.

    Args:
        run: A run folder, its path, or the name of a model that comes with the package. By default, the first model of
            the package.
        engine: `torch`, `ctranslate2`, or `auto` for CTranslate2 wherever it supports what is requested.
        device: Where to compute: `auto`, `cpu`, `cuda` or `mps`.
        precision: `float32`, `int16` (CTranslate2 only) or `int8`.

    Raises:
        ManyheadsError: If there is no such run, or it cannot translate.
    """

    def __init__(
        self,
        run: PathLike[str] | str | None = None,
        *,
        engine: str = "auto",
        device: str = "auto",
        precision: str = "float32",
    ) -> None:
        folder = RunFolder.open(run)
        self.run: RunFolder | None = folder
        self.computes_with = engine, device, precision
        self.languages: Languages | None
        self.engine: Engine = open_engine(folder, engine=engine, device=device, precision=precision)
        recipe = folder.recipe_for(TranslationRecipe)
        self.tokenizers = folder.tokenizers()
        self.options = TranslationOptions.from_recipe(recipe)
        self.languages = Languages(recipe.data, self.tokenizers.source)
        self.splitter = Splitter.from_recipe(recipe, self.tokenizers.source, self.languages)

    @classmethod
    def from_parts(
        cls, engine: Engine, tokenizers: Tokenizers, options: TranslationOptions, languages: Languages | None = None
    ) -> Translator:
        """Return a translator for an engine and tokenizers that are loaded already.

        Without `languages`, sources must have their language tags. Texts are not split into sentences unless they are
        too long.
        """
        translator = cls.__new__(cls)
        translator.run = None
        translator.computes_with = "", "", ""
        translator.engine, translator.tokenizers, translator.options = engine, tokenizers, options
        translator.languages = languages
        translator.splitter = Splitter(tokenizers.source, languages=languages)
        return translator

    @overload
    def translate(self, text: str, **changes: Any) -> str: ...  # noqa: ANN401
    @overload
    def translate(self, text: Sequence[str], **changes: Any) -> list[str]: ...  # noqa: ANN401
    def translate(self, text: str | Sequence[str], **changes: Any) -> str | list[str]:
        """Return the translation of a text, or a list of translations for a list of texts.

        Args:
            text: A text or several. Running text is translated sentence by sentence.
            changes: Fields of `TranslationOptions` that differ from the run's decoding settings, such as `beam=1` or
                `to="fr"`.
        """
        texts = [text] if isinstance(text, str) else text
        found = [one.text for one in self.translations(texts, **{"scores": False, **changes})]
        return found[0] if isinstance(text, str) else found

    def translations(self, texts: Sequence[str], **changes: Any) -> list[Translation]:  # noqa: ANN401
        """Return translations with all their candidates and scores, in the order of the texts.

        Args:
            texts: The texts.
            changes: Fields of `TranslationOptions`, such as `n_best=3`.
        """
        return list(self.stream_chunks(_chunks(texts, LIST_LINES), **changes))

    def stream(self, texts: Iterable[str], **changes: Any) -> Iterator[Translation]:  # noqa: ANN401
        """Yield translations in the order of the texts, which are read as needed, a limited number at a time."""
        return self.stream_chunks(_chunks(texts, STREAM_LINES), **changes)

    def stream_chunks(self, chunks: Iterable[list[str]], **changes: Any) -> Iterator[Translation]:  # noqa: ANN401
        """Yield translations of texts that arrive in lists, in their order."""
        options = self.options.changed(changes)
        for chunk in chunks:
            yield from self._translate_chunk(chunk, options)

    def _translate_chunk(self, texts: list[str], options: TranslationOptions) -> list[Translation]:
        """Translate texts directly, or by way of English where there is no other way."""
        languages = self.languages
        ways = languages.by_way_of_pivot(texts, source=options.source, to=options.to) if languages else []
        if not any(ways):
            return self._translate_directly(texts, options)
        direct = [text for text, has_pivot in zip(texts, ways, strict=True) if not has_pivot]
        others = [text for text, has_pivot in zip(texts, ways, strict=True) if has_pivot]
        found = iter(self._translate_directly(direct, options))
        pivoted = iter(self._translate_by_pivot(others, options))
        return [next(pivoted if has_pivot else found) for has_pivot in ways]

    def _translate_by_pivot(self, texts: list[str], options: TranslationOptions) -> list[Translation]:
        """Translate texts into English, and from there into another language."""
        if options.alignments:
            raise ManyheadsError(
                f"words are not aligned by way of another language, and this run translates into '{options.to}' by way "
                f"of '{PIVOT}'.",
                where="--alignments",
                cure="Leave it out.",
            )
        into_pivot = replace(options, to=PIVOT, n_best=1, prefix=None, scores=False)
        between = self._translate_directly(texts, into_pivot)
        found = self._translate_directly([one.text for one in between], replace(options, source=PIVOT))
        return [
            replace(one, source=text, warning=first.warning or one.warning, parts=(), pivot=PIVOT)
            for text, first, one in zip(texts, between, found, strict=True)
        ]

    def _translate_directly(self, texts: list[str], options: TranslationOptions) -> list[Translation]:
        """Translate texts, the sentences of all of them together."""
        targets = self._targets(texts, options.to, options.source)
        whole = texts
        if options.placeholders:
            whole = [self.splitter.with_sentences(text, to) for text, to in zip(texts, targets, strict=True)]
        read = self.splitter.split_and_encode(whole, longest=options.split_above, source=options.source, to=options.to)
        parts = [
            [Source(text, ids, tag) for text, ids in zip(split.sentences, rows, strict=True)]
            for (split, rows), tag in zip(read, map(self._tag, targets), strict=True)
        ]
        translated = self._search_parts(parts, options)
        return [
            _joined(text, each, split, target)
            for text, each, (split, _), target in zip(texts, translated, read, targets, strict=True)
        ]

    def translate_sentences(
        self,
        sentences: Sequence[str],
        *,
        sources: Sequence[str | None],
        targets: Sequence[str | None],
        **changes: Any,  # noqa: ANN401
    ) -> list[Translation]:
        """Translate sentences as they are, without splitting them, each from and into languages of its own.

        Args:
            sentences: The sentences.
            sources: The language of each, where it is known.
            targets: The language to translate each into; None where the run has only one, or chooses one.
            changes: Fields of `TranslationOptions` that differ from the run's decoding settings.
        """
        options = self.options.changed(changes)
        rows = self.tokenizers.source.encode_all(sentences, threads=None)
        read = [
            Source(text, ids, self._tag(*self._targets([text], target, source)))
            for text, ids, source, target in zip(sentences, rows, sources, targets, strict=True)
        ]
        return self._search(read, options)

    def _search_parts(self, parts: list[list[Source]], options: TranslationOptions) -> list[list[Translation]]:
        """Translate the parts of each text; a prefix is for the first part alone."""
        if not options.prefix:
            found = iter(self._search(list(itertools.chain.from_iterable(parts)), options))
            return [list(itertools.islice(found, len(some))) for some in parts]
        firsts = iter(self._search([one for some in parts for one in some[:1]], options))
        others = [one for some in parts for one in some[1:]]
        further = iter(self._search(others, replace(options, prefix=None)))
        return [[next(further if place else firsts) for place in range(len(some))] for some in parts]

    def _targets(self, texts: Sequence[str], to: str | None, source: str | None = None) -> list[str | None]:
        """Return the language that each text is translated into, if it is known."""
        return [self.languages.target(text, to, source=source) if self.languages else None for text in texts]

    def _tag(self, target: str | None) -> list[int]:
        """Return the ids that ask for a language."""
        return self.languages.tag_ids(target) if self.languages else []

    def _search(self, sources: Sequence[Source], options: TranslationOptions) -> list[Translation]:
        """Translate sources, with what must not be translated kept as it is."""
        if not (options.placeholders and self.splitter.is_prose):
            return self._search_plain(sources, options)
        kept = {row: found for row, one in enumerate(sources) if (found := protected(one.text))}
        if not kept:  # most texts
            return self._search_plain(sources, options)
        from manyheads.decoding.protector import Marked

        plain = iter(self._search_plain([one for row, one in enumerate(sources) if row not in kept], options))
        marked = [Marked(*sources[row], found) for row, found in kept.items()]
        whole = iter(self.protector.translate(marked, options))
        return [_restored(one, next(whole)) if row in kept else next(plain) for row, one in enumerate(sources)]

    @cached_property
    def protector(self) -> Protector:
        """What translates sentences with placeholders."""
        from manyheads.decoding.protector import Protector

        return Protector(self.engine, self.tokenizers, self.splitter.needs_translation)

    def _search_plain(self, sources: Sequence[Source], options: TranslationOptions) -> list[Translation]:
        """Translate sources, except for those that are empty or have nothing to translate."""
        needed = self.splitter.needs_translation
        rows = [row for row, one in enumerate(sources) if one.ids and (options.prefix or needed(one.text))]
        prefix = self.tokenizers.target.encode(options.prefix) if options.prefix else []
        found = self.engine.search([sources[row].tagged for row in rows], options, prefix=prefix)
        kept = [hypotheses[: options.n_best] for hypotheses in found]
        ids = [one.tokens for hypotheses in kept for one in hypotheses]
        texts = iter(self.tokenizers.target.decode_all(ids, threads=None))
        results = {row: _presented(sources[row], some, texts) for row, some in zip(rows, kept, strict=True)}
        return [results[row] if row in results else _untranslated(one) for row, one in enumerate(sources)]

    def translate_document(
        self,
        path: PathLike[str] | str,
        *,
        out: PathLike[str] | str,
        **settings: Any,  # noqa: ANN401
    ) -> TranslatedDocument:
        """Translate a document into a file, which appears complete or not at all; an existing one is replaced.

        Args:
            path: The document: a file of one of the formats in docs/documents.md.
            out: The file to write.
            settings: Arguments of `DocumentTranslation`, such as `to="de"`, and fields of `TranslationOptions`.
        """
        from manyheads.decoding.document_translation import DocumentTranslation

        return DocumentTranslation(self, Path(path), **settings).write(Path(out))

    def score(self, sources: Sequence[str], targets: Sequence[str], *, to: str | None = None) -> list[list[float]]:
        """Return the log-probability of each token of given targets, including the end token.

        Args:
            sources: The source texts.
            targets: A target text for each of them.
            to: The language of the targets, for a model of several languages.
        """
        if len(sources) != len(targets):
            raise ManyheadsError(f"there are {len(sources):,} sources but {len(targets):,} targets.")
        tags = map(self._tag, self._targets(sources, to))
        rows = self.tokenizers.source.encode_all(sources, threads=None)
        source_ids = [[*tag, *ids] for tag, ids in zip(tags, rows, strict=True)]
        return self.engine.score(source_ids, self.tokenizers.target.encode_all(targets))


def _chunks(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield texts several at a time."""
    remaining = iter(texts)
    return iter(lambda: list(itertools.islice(remaining, size)), [])


def _untranslated(source: Source) -> Translation:
    """Return a source without anything to translate as its own translation; an empty one has none."""
    return Translation(source.text, [Candidate(source.text, 0.0, 0.0, [])] if source.ids else [])


def _restored(source: Source, wholes: list[Whole]) -> Translation:
    """Return the outputs that have their placeholders; without any, the source is its own translation."""
    if not wholes:
        return _untranslated(source)
    hypotheses = [one.hypothesis for one in wholes]
    return _presented(source._replace(tag=[]), hypotheses, iter([one.text for one in wholes]))


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
    return Translation(source.text, candidates, warning_about(hypotheses[0]))


def combined(found: Sequence[Translation]) -> list[list[Candidate]]:
    """Return the candidates of parts side by side: the best of each, then the second best of each (or its last) …"""
    nothing = Candidate("", 0.0, 0.0, [])
    choices = [one.candidates or [nothing] for one in found]
    deepest = max(map(len, choices), default=1)
    return [[some[min(rank, len(some) - 1)] for some in choices] for rank in range(deepest)]


def _joined(text: str, found: list[Translation], split: SplitText, target: str | None) -> Translation:
    """Put the outputs for the parts of a text together, as they stand in the text."""
    if split.sentences == [text]:
        return found[0]
    if not any(translation.candidates for translation in found):
        return Translation(text, [])
    whole = [
        Candidate(
            split.fill([candidate.text for candidate in parts], target),
            sum(candidate.score for candidate in parts),
            sum(candidate.log_probability for candidate in parts),
            [token for candidate in parts for token in candidate.tokens],
            parts[0].attention if len(parts) == 1 else None,
        )
        for parts in combined(found)
    ]
    where = f"in one of {len(found)} parts, " if len(found) > 1 else ""
    warnings = dict.fromkeys(where + translation.warning for translation in found if translation.warning)
    return Translation(text, whole, "; ".join(warnings) or None, tuple(found))
