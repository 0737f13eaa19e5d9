"""Splits text into sentences.

A line break or a tab always ends a sentence. Within a line, the library sentencex finds sentence ends; it has the
punctuation of about 300 languages and the abbreviations of many. It finds no ends inside quotations and brackets, and
none before a digit. So it gets a copy of the line without quotation marks and brackets, and with a letter in place of
such a digit. An end that it finds is rejected before a lower-case letter, a comma or similar punctuation, and after an
initial, an ordinal number ("15. November") or an abbreviation missing from its lists. `。`, `！` and `？` always end a
sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from manyheads.documents.spacing import is_cased
from manyheads.documents.split_text import Span, SplitText

_LINE = re.compile(r"[^\n\r\t\v\f\x1c-\x1e\x85\u2028\u2029]+")
_MARKS = ".!?…‽⁇⁈⁉。！？｡．؟۔।॥։።၊။។៕᠃᠉༎།"
_CLOSING = "\"'”’»›)\\]}」』》〉）］｝"
_QUOTES = '"“”„‟«»‹›‘‚()[]{}「」『』《》〈〉（）［］｛｝'
_HIDDEN = str.maketrans(_QUOTES, " " * len(_QUOTES))
# Only a line that matches may have two sentences. Quantifiers are possessive, so that a row of full stops does not take
# quadratic time.
_MAYBE_SEVERAL = re.compile(rf"[{_MARKS}][{_CLOSING}]*+\s*+[^{_MARKS}{_CLOSING}\s]")
_ELLIPSIS = re.compile(rf"…(?=[{_CLOSING}]*+\s)")
_DIGIT_AFTER_MARK = re.compile(rf"(?<=[{_MARKS}{_CLOSING}] )(?<!\d\. )\d")
_AFTER_END = re.compile(rf"(?:[{_MARKS}{_CLOSING}]|“(?!\w)|\s[»›](?!\w))*+")  # “ closes in German
_WIDE_END = re.compile(rf"[。！？｡]++[{_CLOSING}]*+")
_LAST_WORD = re.compile(r"[^\s(\[{\"'«“„‘]+$")
_CONTINUES = frozenset(",;:)]}，；：、）］｝")
_LONGEST_WORD = 40  # characters before a full stop that are searched for an abbreviation

# Abbreviations that are missing from sentencex, without their full stop.
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
_ORDINAL_LANGUAGES = "bs cs da de et fi fo hr hu is lv nb nn no pl sk sl sr tr"  # write an ordinal with a full stop
_ORDINAL = re.compile(r"\d{1,2}")


def split_sentences(
    text: str, languages: Sequence[str] = (), detect: Callable[[], str | None] = lambda: None
) -> SplitText:
    """Split a text into sentences.

    `languages` are the possible languages of the text. If they give different sentences, `detect` is called to find
    the right one.
    """
    if _LINE.fullmatch(text) and not _MAYBE_SEVERAL.search(text) and text == text.strip():  # most texts
        return SplitText([text], ["", ""])
    return SplitText.from_spans(text, sentence_spans(text, languages, detect))


def sentence_spans(text: str, languages: Sequence[str], detect: Callable[[], str | None]) -> list[Span]:
    """Return the span of each sentence, without the white space around it."""
    lines = [(match.start(), match.end()) for match in _LINE.finditer(text)]
    candidates = [text[start:stop] for start, stop in lines if _MAYBE_SEVERAL.search(text, start, stop)]
    ends = _ends_of_lines(candidates, languages, detect) if candidates else {}
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
    """Return the sentence ends of each line; the language is detected only if it makes a difference."""
    by_language = [{line: _ends(line, code) for line in lines} for code in languages or ["en"]]
    if all(ends == by_language[0] for ends in by_language):
        return by_language[0]
    language = detect()
    return by_language[languages.index(language)] if language in languages else by_language[0]


def _ends(line: str, language: str) -> list[int]:
    """Return the offsets within a line at which sentences end, in ascending order."""
    import sentencex  # here, because most texts are one sentence and do not need it

    code = language.split("-")[0]
    simplified = _DIGIT_AFTER_MARK.sub("Ж", _ELLIPSIS.sub(".", line).translate(_HIDDEN))
    ends, offset = [], 0
    for segment in sentencex.segment(code, simplified):
        offset += len(segment)
        end = offset - (len(segment) - len(segment.rstrip()))
        closing = _AFTER_END.match(line, end)
        ends.append(closing.end() if closing else end)
    accepted = [end for end in ends if end < len(line) and _is_end(line, end, code)]
    wide = [match.end() for match in _WIDE_END.finditer(line)]
    return sorted({*accepted, *(end for end in wide if end < len(line))})


def _is_end(line: str, end: int, code: str) -> bool:
    """Return whether a sentence end that sentencex found is accepted."""
    start, _ = stripped(line, end, len(line))
    following = line[start : start + 1]
    if following in _CONTINUES or following.islower():
        return False
    if not line[end].isspace() and (is_cased(following) or following.isdigit()):
        return False  # example.com, Yahoo!Mail
    before = line[max(0, end - _LONGEST_WORD) : end].rstrip(_CLOSING.replace("\\", ""))
    return not (before.endswith(".") and _is_abbreviated(before[:-1], code))


def _is_abbreviated(before: str, code: str) -> bool:
    """Return whether the full stop after this text belongs to its last word."""
    match = _LAST_WORD.search(before)
    if match is None:
        return False
    word = match[0]
    initial = len(word) == 1 and word.isupper()
    ordinal = code in _ORDINAL_LANGUAGES.split() and _ORDINAL.fullmatch(word) is not None
    return initial or ordinal or word in _ABBREVIATED.get(code, ())


def stripped(text: str, start: int, stop: int) -> Span:
    """Return a span without the white space at its ends."""
    while start < stop and text[start].isspace():
        start += 1
    while start < stop and text[stop - 1].isspace():
        stop -= 1
    return start, stop
