"""Puts the inline tags of a text into its translation.

Tags around a whole sentence stay around it. Within a sentence, a tag goes where the alignment of the words says, if
it is given (`tag_alignment.py`). Otherwise the position of the tag in the translation is unknown, and it is put at the
same fraction of the sentence, moved to the nearest word boundary; order and nesting are kept. What stands alone has a
space on each side where it had one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, takewhile
from operator import attrgetter, itemgetter

from manyheads.documents.interface import Styled, Tag
from manyheads.documents.split_text import SplitText
from manyheads.documents.tag_alignment import Link, Mark, aligned_marks
from manyheads.documents.word_boundaries import WordBoundaries


def placed(
    source: Styled,
    split: SplitText,
    translations: Sequence[str],
    language: str | None,
    alignments: Sequence[Sequence[Link] | None] | None = None,
) -> Styled:
    """Return the translation of a text, with its tags.

    Args:
        source: The text and its tags.
        split: The sentences of the text, which may have other white space of the same length.
        translations: The translation of each sentence.
        language: The language of the translations, whose spacing is used.
        alignments: The aligned words of each sentence; None where they are unknown.
    """
    known = alignments or [None] * len(translations)
    spans = list(_spans(source.text, split, translations, split.translated_gaps(translations, language), known))
    text = "".join(span.output for span in spans)
    written: list[str] = []
    tags: list[Tag] = []
    done = length = 0
    last = ""  # what was written last, a text or a tag
    for offset, mark in _placed_marks(spans, list(_marks(source)), text):
        part = text[done:offset]
        last = part or last
        if mark.space_before and last and not last[-1].isspace():
            part += " "
        written.append(part)
        length += len(part)
        tags += (Tag(length, tag.kind, tag.raw) for tag in mark.tags)
        last = mark.tags[-1].raw
        if mark.space_after and text[offset : offset + 1].isalnum():
            last = " "
            written.append(last)
            length += 1
        done = offset
    return Styled("".join([*written, text[done:]]), tuple(tags))


def has_tags_within(text: Styled, split: SplitText) -> list[bool]:
    """Return for each sentence of a text whether a tag stands between its first and its last character."""
    offsets = [tag.offset for tag in text.tags]
    within, start = [], 0
    for gap, sentence in zip(split.gaps, split.sentences, strict=False):
        start += len(gap)
        stop = start + len(sentence)
        within.append(any(start < offset < stop for offset in offsets))
        start = stop
    return within


@dataclass(frozen=True)
class _Span:
    """A sentence, or a gap between two: its offset and text in the source, and its offset and text in the output."""

    start: int
    source: str
    output_start: int
    output: str
    is_sentence: bool
    links: Sequence[Link] | None = None

    @cached_property
    def boundaries(self) -> WordBoundaries:
        """The word boundaries of the output."""
        return WordBoundaries(self.output)

    @cached_property
    def readable(self) -> tuple[int, int]:
        """The offsets of the first and the last letter or digit of the source; without any, its length and -1."""
        offsets = [offset for offset, character in enumerate(self.source) if character.isalnum()]
        return (offsets[0], offsets[-1]) if offsets else (len(self.source), -1)

    def output_offset(self, mark: Mark, minimum: int) -> int:
        """Return the offset of a mark in the output by its share of the way, at or after `minimum`."""
        inside, length = mark.offset - self.start, len(self.source)
        if inside == 0:
            return self.output_start
        if inside == length:
            return self.output_start + len(self.output)
        if not self.is_sentence:
            # The output of a gap is the gap itself, one space, or nothing.
            return self.output_start + min(inside, len(self.output))
        # Tags around all words of a sentence stay around all words, with the punctuation outside.
        first, last = self.readable
        if mark.is_open and inside <= first:
            return self.output_start + self.boundaries.first
        if mark.is_end and inside > last:
            return self.output_start + self.boundaries.last
        minimum -= self.output_start
        return self.output_start + self.boundaries.nearest(inside / length, is_end=mark.is_end, minimum=minimum)


def _spans(
    text: str,
    split: SplitText,
    translations: Sequence[str],
    gaps: Sequence[str],
    alignments: Sequence[Sequence[Link] | None],
) -> Iterator[_Span]:
    """Yield gaps and sentences in turn; a gap that does not change keeps its line breaks."""
    start = output_start = 0
    for number, (gap, new) in enumerate(zip(split.gaps, gaps, strict=True)):
        output = text[start : start + len(gap)] if new == gap else new
        yield _Span(start, gap, output_start, output, is_sentence=False)
        start, output_start = start + len(gap), output_start + len(output)
        if number < len(translations):
            source, target = split.sentences[number], translations[number]
            yield _Span(start, source, output_start, target, is_sentence=True, links=alignments[number])
            start, output_start = start + len(source), output_start + len(target)


def _marks(source: Styled) -> Iterator[Mark]:
    """Yield tags one by one; an atom and the tags around it at the same offset are one mark."""
    for offset, group in groupby(source.tags, key=attrgetter("offset")):
        tags = tuple(group)
        closing = tuple(takewhile(lambda tag: tag.kind == "close", tags))
        others = tags[len(closing) :]
        if any(tag.kind == "atom" for tag in others):
            before, after = source.text[max(0, offset - 1) : offset], source.text[offset : offset + 1]
            # Without a space before it, it stays at a word's end.
            atom = Mark(offset, others, bool(before.strip()), before.isspace(), after.isspace())
            yield from (*(Mark(offset, (tag,), is_end=True) for tag in closing), atom)
        else:
            yield from (Mark(offset, (tag,), is_end=tag.kind == "close") for tag in tags)


def _placed_marks(spans: Sequence[_Span], marks: Sequence[Mark], text: str) -> Iterator[tuple[int, Mark]]:
    """Yield each mark with its offset in the output, in ascending order."""
    starts = [span.start for span in spans]
    # Between two spans, an opening tag belongs to the second, and a closing tag to the first.
    numbers = [max(0, (bisect_left if mark.is_end else bisect_right)(starts, mark.offset) - 1) for mark in marks]
    previous_source = previous = 0
    for number, group in groupby(zip(numbers, marks, strict=True), key=itemgetter(0)):
        span, inside = spans[number], [mark for _, mark in group]
        aligned = aligned_marks(inside, span.start, span.source, span.boundaries, span.links) if span.links else None
        if aligned is not None:
            for offset, mark in aligned:
                previous = max(previous, span.output_start + offset)
                yield previous, mark
            previous_source = inside[-1].offset
            continue
        for mark in inside:
            has_text = mark.is_end and mark.offset > previous_source  # an element with text does not become empty
            offset = span.output_offset(mark, previous + has_text)
            if mark.space_after and text[offset - 2 : offset].isspace() and len(text[offset - 2 : offset]) == 2:
                offset -= 1  # of two spaces, one stays on each side
            previous, previous_source = max(previous, offset), mark.offset
            yield previous, mark
