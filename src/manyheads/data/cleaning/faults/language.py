"""Detects sides that are in a wrong script or language.

A language with a script of its own is recognised by the script, other languages by py3langid. Only texts are checked
that are long enough not to be dominated by names and code.
"""

from __future__ import annotations

import re

from manyheads.data.text.detection import Detector

ENOUGH = 40  # letters; shorter texts are often names, and the detector is unreliable on them
PLENTY = 250  # characters; more make the detector slower, but not more accurate
ENOUGH_FOR_SCRIPT = 15  # letters
IMPROBABLE = 1.0  # percent; below this probability of the expected language, the language is wrong
FOREIGN = 0.5  # the largest share of letters of other scripts in a text in Latin script
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
    """Checks the script of a text; for a language whose script is unknown, no text is wrong."""

    def __init__(self, language: str) -> None:
        code = language.split("-")[0]
        scripts = _OWN_SCRIPTS.get(code) or _SHARED_SCRIPTS.get(code)
        self._expected = re.compile(f"[{''.join(map(_SCRIPTS.__getitem__, scripts))}]") if scripts else None
        self._is_latin = scripts == ("Latin",)

    def is_wrong(self, text: str) -> bool:
        """Return whether a text has too few letters of this script.

        Names and code are in Latin letters everywhere, so for another script one letter is enough.
        """
        if self._expected is None or (self._is_latin and text.isascii()):
            return False
        letters = len(_LETTERS.findall(text))
        expected = len(self._expected.findall(text))
        if self._is_latin:
            return letters - expected > FOREIGN * letters
        return letters >= ENOUGH_FOR_SCRIPT and expected == 0


class Language:
    """Checks the language of a text; for a language that is unknown or has its own script, no text is wrong."""

    def __init__(self, language: str) -> None:
        code = language.split("-")[0]
        self._code = code
        self._detector = None if code in _OWN_SCRIPTS else Detector({code, *COMMON})

    def is_wrong(self, text: str) -> bool:
        """Return whether a text is long enough, and very improbable in this language."""
        if self._detector is None or len(text) < ENOUGH or len(_LETTERS.findall(text)) < ENOUGH:
            return False
        detections = self._detector.detect(text[:PLENTY])
        confidences = [detection.confidence for detection in detections if detection.language == self._code]
        return bool(confidences) and confidences[0] < IMPROBABLE
