"""Text into sentences and back: a model translates sentences, and everything between them stays as it is.

A line break or a tab always ends a sentence. Within a line, sentencex finds the ends, which knows the marks of some 300
languages and the abbreviations of many. It does not look into quotations and brackets, and expects no sentence to begin
with a digit; so it reads a copy of the line without quotation marks and brackets, and with a letter for such a digit.
What it takes for an end is none before a lower-case letter, a comma or the like, nor behind an initial, an ordinal
number ("15. November"), or an abbreviation that it does not know. At `。`, `！` and `？` a sentence ends in any case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from manyheads.data.text.spacing import gap_between

Span = tuple[int, int]
"""Where something starts and stops in a text."""

_LINE = re.compile(r"[^\n\r\t\v\f\x1c-\x1e\x85\u2028\u2029]+")
_MARKS = ".!?…‽⁇⁈⁉。！？｡．؟۔।॥։።၊။។៕᠃᠉༎།"
_CLOSING = "\"'”’»›)\\]}」』》〉）］｝"
_QUOTES = '"“”„‟«»‹›‘‚()[]{}「」『』《》〈〉（）［］｛｝'
_HIDDEN = str.maketrans(_QUOTES, " " * len(_QUOTES))
# Only such a line may have two sentences. Quantifiers are possessive: a row of full stops must not cost its square.
_SEVERAL = re.compile(rf"[{_MARKS}][{_CLOSING}]*+\s*+[^{_MARKS}{_CLOSING}\s]")
_ELLIPSIS = re.compile(rf"…(?=[{_CLOSING}]*+\s)")
_DIGIT_BEHIND = re.compile(rf"(?<=[{_MARKS}{_CLOSING}] )(?<!\d\. )\d")
_AFTER_END = re.compile(rf"(?:[{_MARKS}{_CLOSING}]|“(?!\w)|\s[»›](?!\w))*+")  # “ closes in German
_WIDE_END = re.compile(rf"[。！？｡]++[{_CLOSING}]*+")
_LAST_WORD = re.compile(r"[^\s(\[{\"'«“„‘]+$")
_CONTINUES = frozenset(",;:)]}，；：、）］｝")
_LONGEST_WORD = 40  # characters before a full stop that are looked at

# What sentencex does not know, as it is written before its full stop.
_ABBREVIATIONS = {
    "en": "Ms Vol vol Eq eq Ch ch Eds eds approx",
    "de": "Frl Hrn Bd Abb inkl zzgl Tel Jh Jhd Dipl Abs bspw Kap Okt Dez geb gest",
    "fr": "M Mme Mlle Mmes Mlles Dr Pr Mgr St Ste janv févr avr juil sept oct nov déc bd n ap",
    "es": "D Dña",
    "it": "pag",
    "nl": "mevr",
    "pt": "pág núm Av",
    "ru": "им",
}
_ABBREVIATED = {code: frozenset(words.split()) for code, words in _ABBREVIATIONS.items()}
_ORDINAL_LANGUAGES = "bs cs da de et fi fo hr hu is lv nb nn no pl sk sl sr tr"  # write a full stop behind an ordinal
_ORDINAL = re.compile(r"\d{1,2}")


@dataclass(frozen=True)
class Outline:
    """A text taken apart: its sentences, and what stands before, between and behind them (one more)."""

    sentences: list[str]
    gaps: list[str]

    @classmethod
    def of(cls, text: str, spans: Iterable[Span]) -> Outline:
        """Return a text in these parts; between them there is white space alone."""
        sentences, gaps, end = [], [], 0
        for start, stop in spans:
            gaps.append(text[end:start])
            sentences.append(text[start:stop])
            end = stop
        return cls(sentences, [*gaps, text[end:]])

    def refined(self, cut: Callable[[str], Outline]) -> Outline:
        """Return the same text with each sentence taken apart further."""
        sentences: list[str] = []
        gaps = self.gaps[:1]
        for sentence, gap in zip(self.sentences, self.gaps[1:], strict=True):
            inner = cut(sentence)
            sentences += inner.sentences
            gaps[-1] += inner.gaps[0]
            gaps += inner.gaps[1:]
            gaps[-1] += gap
        return Outline(sentences, gaps)

    def fill(self, translations: Sequence[str], language: str | None = None) -> str:
        """Return the text with a translation in the place of each sentence, spaced as its language asks."""
        return "".join(
            part for pair in zip(self.spaced(translations, language), [*translations, ""], strict=True) for part in pair
        )

    def spaced(self, translations: Sequence[str], language: str | None) -> list[str]:
        """Return the gaps as they are between translations into a language."""
        first, *others = self.gaps
        if not others:
            return [first]
        *between, last = others
        inner = [
            gap_between(gap, translations[i], translations[i + 1], language, begins_word=_begins_word(self, i + 1))
            for i, gap in enumerate(between)
        ]
        return [first, *inner, last]


def _begins_word(outline: Outline, number: int) -> bool:
    """Whether a part begins with a word, and not in the middle of one that was too long."""
    before, after = outline.sentences[number - 1][-1:], outline.sentences[number][:1]
    return not (_is_cased(before) and _is_cased(after) and not outline.gaps[number])


def outline(text: str, languages: Sequence[str] = (), detect: Callable[[], str | None] = lambda: None) -> Outline:
    """Take a text apart into sentences.

    Where several languages are possible and it makes a difference which one it is, `detect` is asked.
    """
    return Outline.of(text, sentence_spans(text, languages, detect))


def sentence_spans(text: str, languages: Sequence[str], detect: Callable[[], str | None]) -> list[Span]:
    """Return where each sentence starts and stops, without the white space around it."""
    lines = [(found.start(), found.end()) for found in _LINE.finditer(text)]
    several = [text[start:stop] for start, stop in lines if _SEVERAL.search(text, start, stop)]
    ends = _ends_of_lines(several, languages, detect) if several else {}
    spans = []
    for start, stop in lines:
        begin = start
        for end in [*ends.get(text[start:stop], ()), stop - start]:
            spans.append(stripped(text, begin, start + end))
            begin = start + end
    return [(start, stop) for start, stop in spans if start < stop]


def _ends_of_lines(
    lines: Sequence[str], languages: Sequence[str], detect: Callable[[], str | None]
) -> dict[str, list[int]]:
    """Return where sentences end in each line, asking for the language only where that matters."""
    found = [{line: _ends(line, code) for line in lines} for code in languages or ["en"]]
    if all(one == found[0] for one in found):
        return found[0]
    language = detect()
    return found[languages.index(language)] if language in languages else found[0]


def _ends(line: str, language: str) -> list[int]:
    """Return the places within a line at which sentences end, in their order."""
    import sentencex  # most texts are one sentence and need no such thing

    code = language.split("-")[0]
    read = _DIGIT_BEHIND.sub("Ж", _ELLIPSIS.sub(".", line).translate(_HIDDEN))
    places, place = [], 0
    for segment in sentencex.segment(code, read):
        place += len(segment)
        end = place - (len(segment) - len(segment.rstrip()))
        found = _AFTER_END.match(line, end)
        places.append(found.end() if found else end)
    wide = [found.end() for found in _WIDE_END.finditer(line)]
    kept = [end for end in places if end < len(line) and _is_end(line, end, code)]
    return sorted({*kept, *(end for end in wide if end < len(line))})


def _is_end(line: str, end: int, code: str) -> bool:
    """Whether what sentencex takes for the end of a sentence is one."""
    start, _ = stripped(line, end, len(line))
    following = line[start : start + 1]
    if following in _CONTINUES or following.islower():
        return False
    if not line[end].isspace() and (_is_cased(following) or following.isdigit()):
        return False  # example.com, Yahoo!Mail
    before = line[max(0, end - _LONGEST_WORD) : end].rstrip(_CLOSING.replace("\\", ""))
    return not (before.endswith(".") and _is_abbreviated(before[:-1], code))


def _is_abbreviated(before: str, code: str) -> bool:
    """Whether the full stop behind this text belongs to its last word."""
    found = _LAST_WORD.search(before)
    if found is None:
        return False
    word = found[0]
    initial = len(word) == 1 and word.isupper()
    ordinal = code in _ORDINAL_LANGUAGES.split() and _ORDINAL.fullmatch(word) is not None
    return initial or ordinal or word in _ABBREVIATED.get(code, ())


def _is_cased(letter: str) -> bool:
    """Whether this is a letter of a script with capitals, which writes spaces between words."""
    return letter.lower() != letter.upper()


def stripped(text: str, start: int, stop: int) -> Span:
    """Return a span without the white space at its ends."""
    while start < stop and text[start].isspace():
        start += 1
    while start < stop and text[stop - 1].isspace():
        stop -= 1
    return start, stop
