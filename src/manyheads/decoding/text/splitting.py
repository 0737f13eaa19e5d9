"""Texts taken apart into what a model reads at once: sentences, none longer than those it has learned to read.

A sentence that is too long is cut in two where a reader would pause, and its parts again if need be: between clauses,
else between words, else between characters, as near to the middle as possible.

Which runs read sentences is in their recipe. A run whose source has tokens of subwords (bpe, unigram) and whose corpora
are files reads running text. It learned from sentences, unless `data.units` says documents. Whatever else a run reads
(characters, symbols, a generated task) has no sentences: only a text that is too long is taken apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.tokens.tokenizers import Tokenizer
from manyheads.decoding.text.languages import Languages
from manyheads.decoding.text.sentences import Outline, Span, outline, stripped
from manyheads.processor import usable_cores

_CUTS = (
    re.compile(r"(?<=[,;:])\s+|(?<=[，；：、])\s*"),  # clauses
    re.compile(r"\s+"),  # words
)


class Splitter:
    """Takes the texts of a run apart."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        languages: Languages | None = None,
        is_prose: bool = False,
        by_sentence: bool = False,
    ) -> None:
        self._tokenizer = tokenizer
        self._languages = languages
        self._is_prose = is_prose
        self._by_sentence = is_prose and by_sentence

    @classmethod
    def from_recipe(cls, recipe: TranslationRecipe, tokenizer: Tokenizer, languages: Languages) -> Splitter:
        """Return what takes texts apart as a run needs them."""
        return cls(
            tokenizer,
            languages=languages,
            is_prose=reads_prose(recipe),
            by_sentence=recipe.data.units == "sentences",
        )

    def is_translated(self, text: str) -> bool:
        """Whether there is something to translate: running text without a letter stays as it is."""
        return not self._is_prose or any(map(str.isalpha, text))

    def outline(self, text: str, *, longest: int, source: str | None = None, to: str | None = None) -> Outline:
        """Return the parts of one text, of at most `longest` tokens each; 0 leaves it whole.

        `source` and `to` are its language and the one to translate it into, where they are known.
        """
        ((found, _),) = self.read([text], longest=longest, source=source, to=to)
        return found

    def read(
        self, texts: Sequence[str], *, longest: int, source: str | None = None, to: str | None = None
    ) -> list[tuple[Outline, list[list[int]]]]:
        """Return the parts of texts, and the ids of each part."""
        whole = not self._by_sentence or longest == 0
        outlines = [Outline([text], ["", ""]) if whole else self._sentences(text, source, to) for text in texts]
        encode = partial(self._tokenizer.encode_all, threads=usable_cores())
        rows = iter(encode([part for one in outlines for part in one.sentences]))
        found = [(one, list(islice(rows, len(one.sentences)))) for one in outlines]
        if longest == 0:
            return found
        for number, (one, ids) in enumerate(found):
            if any(len(row) > longest for row in ids):
                cut = self._shortened(one, longest, source, to)
                found[number] = cut, encode(cut.sentences)
        return found

    def _sentences(self, text: str, source: str | None, to: str | None) -> Outline:
        """Return the sentences of a text."""
        if source is not None:
            return outline(text, [source])
        languages = self._languages
        if languages is None:
            return outline(text)
        sources = languages.sources(to)
        return outline(text, sources, lambda: languages.detect(text, sources))

    def _shortened(self, whole: Outline, longest: int, source: str | None, to: str | None) -> Outline:
        """Return an outline whose parts are short enough."""
        if not self._by_sentence:
            whole = whole.refined(lambda text: self._sentences(text, source, to))
        return whole.refined(lambda text: split(text, lambda part: len(self._tokenizer.encode(part)) <= longest))


def split(text: str, fits: Callable[[str], bool]) -> Outline:
    """Take a sentence apart into parts that fit."""
    return Outline.of(text, _pieces(text, 0, len(text), fits))


def _pieces(text: str, start: int, stop: int, fits: Callable[[str], bool]) -> Iterator[Span]:
    """Yield the parts of a text between two places."""
    start, stop = stripped(text, start, stop)
    if start == stop:
        return
    if stop - start == 1 or fits(text[start:stop]):
        yield start, stop
        return
    place = _place(text, start, stop)
    yield from _pieces(text, start, place, fits)
    yield from _pieces(text, place, stop, fits)


def _place(text: str, start: int, stop: int) -> int:
    """Return where to cut a text in two."""
    middle = (start + stop) // 2
    for cut in _CUTS:
        places = [
            found.end() for found in cut.finditer(text, start, stop) if start < found.start() and found.end() < stop
        ]
        if places:
            return min(places, key=lambda place: abs(place - middle))
    return middle


def reads_prose(recipe: TranslationRecipe) -> bool:
    """Whether a run reads running text: words in subwords, from files."""
    return recipe.tokenizer.kind in ("bpe", "unigram") and all(one.task is None for one in recipe.data.corpora)
