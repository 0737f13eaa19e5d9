"""Texts with inline tags: their sentences are translated together, and the tags put into the translations.

The attention of the model says where the tags within a sentence go. It costs time, so only such sentences have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from manyheads.decoding.text.linking import links_of
from manyheads.decoding.text.mending import Mending
from manyheads.decoding.text.splitting import Splitter
from manyheads.documents.interface import Styled
from manyheads.documents.split_text import SplitText
from manyheads.documents.tag_placing import has_tags_within, placed

if TYPE_CHECKING:
    from manyheads.decoding.translator import Translation, Translator


def translate_styled(
    translator: Translator,
    texts: Sequence[Styled],
    *,
    to: str | None,
    source: str | None,
    language: str | None,
    formats: Sequence[tuple[str, ...]] | None = None,
    **changes: Any,  # noqa: ANN401
) -> list[tuple[Styled, list[Translation]]]:
    """Return the translation of each text, and those of its sentences.

    Args:
        translator: The translator.
        texts: The texts.
        to: The target language, for a model of several.
        source: The language of the texts, for a model of several.
        language: The language of the translations, whose spacing is used.
        formats: The formats that a program reads in each text, as gettext names them.
        changes: Further fields of `TranslationOptions`.
    """
    texts = [with_whole_sentences(text, translator.splitter, language) for text in texts]
    longest = translator.options.changed(changes).split_above
    plain = [text.text for text in texts]
    splits = [split for split, _ in translator.splitter.split_and_encode(plain, longest=longest, source=source, to=to)]
    options = {"scores": False, **changes, "to": to, "source": source, "split_above": 0}
    known = [some for some, split in zip(formats or [()] * len(texts), splits, strict=True) for _ in split.sentences]
    found = iter(_mended(translator, _translated(translator, texts, splits, options), known, options))
    translated = [list(islice(found, len(split.sentences))) for split in splits]
    return [
        (_placed(translator, text, split, some, language), some)
        for text, split, some in zip(texts, splits, translated, strict=True)
    ]


def with_whole_sentences(text: Styled, splitter: Splitter, language: str | None) -> Styled:
    """Return a text with whole sentences in plural forms of ICU; one with tags, whose offsets would move, as it is."""
    return text if text.tags else Styled(splitter.with_sentences(text.text, language))


def _translated(
    translator: Translator, texts: Sequence[Styled], splits: Sequence[SplitText], options: dict[str, Any]
) -> list[Translation]:
    """Return the translations of all sentences, with the attention for those with tags within."""
    sentences = [sentence for split in splits for sentence in split.sentences]
    tagged = [has for text, split in zip(texts, splits, strict=True) for has in has_tags_within(text, split)]
    if not (any(tagged) and _can_align(translator, sentences, options)):
        return translator.translations(sentences, **options)
    found: dict[bool, Iterator[Translation]] = {}
    for need in (True, False):
        chosen = [one for one, has in zip(sentences, tagged, strict=True) if has == need]
        found[need] = iter(translator.translations(chosen, **{**options, "alignments": need}))
    return [next(found[has]) for has in tagged]


def _mended(
    translator: Translator,
    translations: list[Translation],
    formats: Sequence[tuple[str, ...]],
    options: dict[str, Any],
) -> list[Translation]:
    """Return the translations of sentences, those with wrong placeholders put right."""
    mending = Mending.of(translations, formats)
    if not mending.readings:  # most texts
        return translations
    aligned = _can_align(translator, mending.texts, options)
    again = translator.translations(mending.texts, **{**options, "alignments": aligned, "n_best": 1})
    return mending.mended(translations, again, translator.tokenizers)


def _can_align(translator: Translator, sentences: Sequence[str], options: dict[str, Any]) -> bool:
    """Return whether the attention between sentences and their translations can be known."""
    languages = translator.languages
    ways = languages.by_way_of_pivot(sentences, source=options["source"], to=options["to"]) if languages else []
    return translator.engine.aligns and not any(ways)


def _placed(
    translator: Translator, text: Styled, split: SplitText, some: Sequence[Translation], language: str | None
) -> Styled:
    """Return the translation of a text, with its tags."""
    alignments = [
        links_of(one.source, one.candidates[0], translator.tokenizers) if one.candidates else None for one in some
    ]
    return placed(text, split, [one.text for one in some], language, alignments)
