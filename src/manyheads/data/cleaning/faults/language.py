"""Sides that are in another script or another language than they should be.

A language with a script of its own is recognised by that, the others by py3langid. Both judge only what is long enough
for names and code not to decide.
"""

from __future__ import annotations

import re

from manyheads.data.text.detection import Detector

ENOUGH = 40  # letters; shorter texts are often names, and the detector is unsure of them
PLENTY = 250  # characters; more make the detector slower, not surer
ENOUGH_FOR_SCRIPT = 15  # letters
IMPROBABLE = 1.0  # per cent; a text is in another language if its own is less probable
FOREIGN = 0.5  # share of letters in other scripts that is too much for a script such as Latin
COMMON = ("ar", "cs", "de", "el", "en", "es", "fi", "fr", "hu", "it", "ja", "ko", "nl", "pl", "pt", "ro", "ru", "sv")

_SCRIPTS = {
    "Latin": "A-Za-zªºÀ-ÖØ-öø-ɏḀ-ỿ",
    "Greek": "Ͱ-Ͽἀ-῿",
    "Cyrillic": "Ѐ-ԯ",
    "Armenian": "԰-֏",
    "Hebrew": "֐-׿",
    "Arabic": "؀-ۿݐ-ݿࢠ-ࣿﭐ-﷿ﹰ-﻿",
    "Devanagari": "ऀ-ॿ",
    "Thai": "฀-๿",
    "Georgian": "Ⴀ-ჿ",
    "Hangul": "ᄀ-ᇿ㄰-㆏가-힯",
    "Kana": "぀-ヿ",
    "Han": "㐀-䶿一-鿿豈-﫿𠀀-𲎯",
}
_OWN_SCRIPTS = {
    "zh": ("Han",),
    "ja": ("Han", "Kana"),
    "ko": ("Hangul", "Han"),
    "el": ("Greek",),
    "he": ("Hebrew",),
    "hy": ("Armenian",),
    "th": ("Thai",),
    "ka": ("Georgian",),
}
_SHARED_SCRIPTS = {
    **dict.fromkeys(("ru", "uk", "be", "bg", "mk"), ("Cyrillic",)),
    **dict.fromkeys(("ar", "fa", "ur"), ("Arabic",)),
    **dict.fromkeys(("hi", "mr", "ne"), ("Devanagari",)),
    **dict.fromkeys(("ca", "cs", "cy", "da", "de", "en", "es", "et", "eu", "fi", "fr", "ga"), ("Latin",)),
    **dict.fromkeys(("gl", "hr", "hu", "id", "is", "it", "lt", "lv", "ms", "mt", "nb", "nl"), ("Latin",)),
    **dict.fromkeys(("no", "pl", "pt", "ro", "sk", "sl", "sq", "sv", "sw", "tl", "tr", "vi"), ("Latin",)),
}
_LETTERS = re.compile(r"[^\W\d_]")


class Script:
    """Knows the script that a language is written in; one that it does not know is never wrong."""

    def __init__(self, language: str) -> None:
        code = language.split("-")[0]
        scripts = _OWN_SCRIPTS.get(code) or _SHARED_SCRIPTS.get(code)
        self._expected = re.compile(f"[{''.join(map(_SCRIPTS.__getitem__, scripts))}]") if scripts else None
        self._is_latin = scripts == ("Latin",)

    def is_wrong(self, text: str) -> bool:
        """Whether a text has too few letters of this script.

        Names and code are in Latin letters everywhere, so a text in another script needs only one letter of it.
        """
        if self._expected is None or (self._is_latin and text.isascii()):
            return False
        letters = len(_LETTERS.findall(text))
        expected = len(self._expected.findall(text))
        if self._is_latin:
            return letters - expected > FOREIGN * letters
        return letters >= ENOUGH_FOR_SCRIPT and expected == 0


class Language:
    """Recognises what is in another language, unless the language is unknown or has a script of its own."""

    def __init__(self, language: str) -> None:
        code = language.split("-")[0]
        self._code = code
        self._detector = None if code in _OWN_SCRIPTS else Detector({code, *COMMON})

    def is_wrong(self, text: str) -> bool:
        """Whether a text long enough to be judged is most improbable in this language."""
        if self._detector is None or len(text) < ENOUGH or len(_LETTERS.findall(text)) < ENOUGH:
            return False
        found = self._detector.detect(text[:PLENTY])
        here = [one.confidence for one in found if one.language == self._code]
        return bool(here) and here[0] < IMPROBABLE
