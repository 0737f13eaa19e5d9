"""Splits texts into the parts that a model translates: sentences, none longer than those it was trained on.

A sentence that is too long is cut in two, and its parts again if necessary: between clauses, otherwise between words,
otherwise between characters, as close to the middle as possible.

The recipe decides whether a run translates by sentence. A run with subword tokens (bpe, unigram) on the source side
whose corpora are files translates running text. It was trained on sentences, unless `data.units` is `documents`. Other
inputs (characters, symbols, a generated task) have no sentences, and are split only if they are too long.

Running text is never cut in a part that must not be translated, such as an address: while a text is split, one
character stands for each of them. The texts of a plural form are parts of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.tokens.tokenizers import Tokenizer
from manyheads.decoding.text.languages import Languages
from manyheads.decoding.text.sentences import split_sentences, stripped
from manyheads.documents.placeholders import protected
from manyheads.documents.splices import Splice, spliced
from manyheads.documents.split_text import Span, SplitText

_BOUNDARIES = (
    re.compile(r"(?<=[,;:])\s+|(?<=[，；：、])\s*"),  # clauses
    re.compile(r"\s+"),  # words
)
# One character for a part that must not be cut, and one for the skeleton of a plural form, which ends a line. A text
# that has them itself has them as parts of its own, since `protected` finds them.
_SHIELD, _BREAK = "\ue000", "\x1c"
_BETWEEN_BREAKS = re.compile(f"[^{_BREAK}]+")


class Splitter:
    """Splits the texts that a run translates."""

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
        self.is_prose = is_prose
        self._by_sentence = is_prose and by_sentence

    @classmethod
    def from_recipe(cls, recipe: TranslationRecipe, tokenizer: Tokenizer, languages: Languages) -> Splitter:
        """Return the splitter for a run."""
        return cls(
            tokenizer,
            languages=languages,
            is_prose=reads_prose(recipe),
            by_sentence=recipe.data.units == "sentences",
        )

    def needs_translation(self, text: str) -> bool:
        """Return whether a text is translated: running text without a letter is kept as it is."""
        return not self.is_prose or any(map(str.isalpha, text))

    def with_sentences(self, text: str, to: str | None) -> str:
        """Return a text as it is split: one with plural forms of ICU has whole sentences in them, in running text."""
        if "{" not in text or not self.is_prose:
            return text
        from manyheads.documents.message_sentences import with_sentences  # here, because most texts have no braces

        return with_sentences(text, to)

    def split(self, text: str, *, longest: int, source: str | None = None, to: str | None = None) -> SplitText:
        """Split a text into parts of at most `longest` tokens each; 0 does not split it.

        `source` and `to` are the source and the target language, if they are known.
        """
        ((parts, _),) = self.split_and_encode([text], longest=longest, source=source, to=to)
        return parts

    def split_and_encode(
        self, texts: Sequence[str], *, longest: int, source: str | None = None, to: str | None = None
    ) -> list[tuple[SplitText, list[list[int]]]]:
        """Return the parts of each text as `split` does, and the ids of each part."""
        if not self.is_prose:
            return self._split_and_encode(texts, longest, source, to)
        shielded = [_shielded(text) for text in texts]
        found = self._split_and_encode([text for text, _ in shielded], longest, source, to)
        for number, (_, kept) in enumerate(shielded):
            if kept:
                whole = _unshielded(found[number][0], kept)
                found[number] = whole, self._tokenizer.encode_all(whole.sentences, threads=None)
        return found

    def _split_and_encode(
        self, texts: Sequence[str], longest: int, source: str | None, to: str | None
    ) -> list[tuple[SplitText, list[list[int]]]]:
        """Split and encode texts without anything that must not be cut."""
        if self._by_sentence and longest:
            split = [self._sentences(text, source, to) for text in texts]
        else:
            split = [_texts_of_message(text) for text in texts]
        rows = iter(self._tokenizer.encode_all([part for parts in split for part in parts.sentences], threads=None))
        encoded = [(parts, list(islice(rows, len(parts.sentences)))) for parts in split]
        if longest == 0:
            return encoded
        for number, (parts, ids) in enumerate(encoded):
            if any(len(row) > longest for row in ids):
                shorter = self._shorten(parts, longest, source, to)
                encoded[number] = shorter, self._tokenizer.encode_all(shorter.sentences, threads=None)
        return encoded

    def _sentences(self, text: str, source: str | None, to: str | None) -> SplitText:
        """Split a text into sentences."""
        if source is not None:
            return split_sentences(text, [source])
        languages = self._languages
        if languages is None:
            return split_sentences(text)
        sources = languages.sources(to)
        return split_sentences(text, sources, lambda: languages.detect(text, sources))

    def _shorten(self, text: SplitText, longest: int, source: str | None, to: str | None) -> SplitText:
        """Split the parts of a text further until each has at most `longest` tokens."""
        if not self._by_sentence:
            text = text.split_further(lambda part: self._sentences(part, source, to))
        return text.split_further(
            lambda part: split_to_fit(part, lambda shorter: len(self._tokenizer.encode(shorter)) <= longest)
        )


def _shielded(text: str) -> tuple[str, list[str]]:
    """Return a text with one character for each part that must not be cut, and these parts."""
    shielded, kept, done = "", [], 0
    for start, stop in (*_text_spans(text), (len(text), len(text))):
        if start > done:
            shielded += _BREAK
            kept.append(text[done:start])
        inside = text[start:stop]
        found = protected(inside)
        shielded += spliced(inside, (Splice(one.start, one.end, _SHIELD) for one in found)) if found else inside
        kept += [one.text for one in found]
        done = stop
    return shielded, kept


def _text_spans(text: str) -> list[Span]:
    """Return the parts of a text that are text: of a plural form or a choice of ICU several, otherwise the whole."""
    if "{" not in text:
        return [(0, len(text))]
    from manyheads.documents.messages import message_spans  # here, because most texts have no braces

    return message_spans(text)


def _texts_of_message(text: str) -> SplitText:
    """Return the texts of a plural form; one, the whole, if the text is none."""
    if _BREAK not in text:
        return SplitText([text], ["", ""])
    return SplitText.from_spans(text, (stripped(text, *match.span()) for match in _BETWEEN_BREAKS.finditer(text)))


def _unshielded(text: SplitText, kept: Sequence[str]) -> SplitText:
    """Return a text that was split with its parts that must not be cut."""
    remaining = iter(kept)

    def filled(part: str) -> str:
        """Return one part with what belongs there."""
        return "".join(next(remaining) if one in (_SHIELD, _BREAK) else one for one in part)

    gaps, sentences = [filled(text.gaps[0])], []
    for sentence, gap in zip(text.sentences, text.gaps[1:], strict=True):
        sentences.append(filled(sentence))
        gaps.append(filled(gap))
    return SplitText(sentences, gaps)


def split_to_fit(text: str, fits: Callable[[str], bool]) -> SplitText:
    """Split a sentence into parts for which `fits` is true."""
    return SplitText.from_spans(text, _fitting_spans(text, 0, len(text), fits))


def _fitting_spans(text: str, start: int, stop: int, fits: Callable[[str], bool]) -> Iterator[Span]:
    """Yield the spans of parts that fit, from `start` to `stop`."""
    start, stop = stripped(text, start, stop)
    if start == stop:
        return
    if stop - start == 1 or fits(text[start:stop]):
        yield start, stop
        return
    cut = _cut(text, start, stop)
    yield from _fitting_spans(text, start, cut, fits)
    yield from _fitting_spans(text, cut, stop, fits)


def _cut(text: str, start: int, stop: int) -> int:
    """Return the offset at which to cut a span in two."""
    middle = (start + stop) // 2
    for boundary in _BOUNDARIES:
        offsets = [
            match.end()
            for match in boundary.finditer(text, start, stop)
            if start < match.start() and match.end() < stop
        ]
        if offsets:
            return min(offsets, key=lambda offset: abs(offset - middle))
    return middle


def reads_prose(recipe: TranslationRecipe) -> bool:
    """Return whether a run translates running text: it has subword tokens, and its corpora are files."""
    return recipe.tokenizer.kind in ("bpe", "unigram") and all(corpus.task is None for corpus in recipe.data.corpora)
