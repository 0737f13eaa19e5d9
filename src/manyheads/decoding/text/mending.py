"""Sentences whose translation has lost a placeholder, or has one too many, put right.

Such a sentence is translated once more, without its placeholders, and they are put where the attention says, as
`protector` does. What its program reads as a directive (`documents/format_strings.py`) is a placeholder here too. What
the model adds of its own is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from manyheads.data.tokens.tokenizers import Tokenizers
from manyheads.decoding.text.placing import Placing, token_ends
from manyheads.decoding.text.protecting import Reading, put_back, without
from manyheads.decoding.translator import Candidate, Translation
from manyheads.documents.checks import amended, problems
from manyheads.documents.format_strings import Rules, directives
from manyheads.documents.placeholders import Placeholder, placeholders, protected
from manyheads.documents.splices import Splice, spliced

Formats = tuple[str, ...]
_NO_PREFIX = Reading("", ())


@dataclass(frozen=True)
class Mending:
    """The sentences to put right: what is read in place of each, by its number, and the formats of all sentences."""

    readings: Mapping[int, Reading]
    formats: Sequence[Formats]

    @classmethod
    def of(cls, translations: Sequence[Translation], formats: Sequence[Formats]) -> Mending:
        """Return what has to be put right among translations."""
        pairs = enumerate(zip(translations, formats, strict=True))
        wrong = ((number, one.source, some) for number, (one, some) in pairs if _is_wrong(one, some))
        return cls({number: without(text, _kept(text, some)) for number, text, some in wrong}, formats)

    @property
    def texts(self) -> list[str]:
        """What is to be translated now: the sentences without their placeholders."""
        return [reading.text for reading in self.readings.values()]

    def mended(
        self, translations: Sequence[Translation], again: Sequence[Translation], tokenizers: Tokenizers
    ) -> list[Translation]:
        """Return the translations with those that were wrong replaced, from the translations of `texts`."""
        mended = list(translations)
        for (number, reading), found in zip(self.readings.items(), again, strict=True):
            best = found.candidates[0] if found.candidates else Candidate("", 0.0, 0.0, [])
            text = _whole(mended[number].source, reading, best, self.formats[number], tokenizers)
            whole = Candidate(text, best.score, best.log_probability, [])
            mended[number] = replace(mended[number], candidates=[whole], warning=found.warning)
        return mended


def _is_wrong(translation: Translation, formats: Formats) -> bool:
    """Return whether a translation is not to be used because of its placeholders."""
    source, rules = translation.source, Rules(formats)
    text = amended(source, translation.text, rules)
    return bool(problems(source, text, rules)) and bool(_kept(source, formats) or _kept(text, formats))


def _kept(text: str, formats: Formats) -> list[Placeholder]:
    """Return all parts of a sentence that its translation must have, without overlaps."""
    found = [
        Placeholder(*one.span(), one[0])
        for form in formats
        for one in directives(text, form)
        if " " not in one[0]  # `% s` may be one, but "50 % sure" is more frequent
    ]
    others = [
        one for one in protected(text) if not any(one.start < other.end and other.start < one.end for other in found)
    ]
    return sorted({*found, *others})


def _whole(sentence: str, reading: Reading, best: Candidate, formats: Formats, tokenizers: Tokenizers) -> str:
    """Return the best output for a reading with what the reading is without."""
    if not any(map(str.isalpha, reading.text)):
        return sentence
    output = spliced(best.text, _excess(best.text, reading.text, formats))
    source_ends: list[int] = []
    output_ends: list[int] = []
    attention = best.attention if output == best.text else None
    if attention is not None:
        source_ends = token_ends(tokenizers.source, tokenizers.source.encode(reading.text), reading.text)
        output_ends = token_ends(tokenizers.target, best.tokens[: len(attention)], output)
    placing = Placing(reading.text, source_ends, output, output_ends, attention)
    return spliced(output, put_back(reading, output, placing, prefix=_NO_PREFIX))


def _excess(output: str, reading: str, formats: Formats) -> Iterator[Splice]:
    """Yield the removal of what looks like a placeholder in an output, and is not in what was read."""
    end = 0
    for one in _kept(output, formats) if formats else placeholders(output):
        start = end + len(output[end : one.start].rstrip())
        if one.text not in reading:
            yield Splice(max(start, end), one.end, "")
        end = one.end
