"""Which language is this? py3langid, offline, restricted to the languages in question.

It is a 5 MB package that needs nothing but numpy, and knows 139 languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

CHARACTERS = 2000  # of a text are enough to know its language
LIKELY = 0.1  # of the best language's confidence; one below that is not worth considering


@dataclass(frozen=True)
class Detection:
    """A language, and how sure the detector is, from 0 to 100."""

    language: str
    confidence: float

    def to_json(self) -> dict[str, Any]:
        """Return it as LibreTranslate does."""
        return {"confidence": self.confidence, "language": self.language}


def likely(found: Sequence[Detection]) -> list[Detection]:
    """Return those of the detected languages that a text may well be in; the detector is sure where that is one."""
    return [one for one in found if one.confidence >= LIKELY * found[0].confidence]


class Detector:
    """Tells languages apart; codes that it does not know are never found."""

    def __init__(self, codes: Iterable[str]) -> None:
        self._codes = sorted(codes)

    def detect(self, text: str, *, among: Sequence[str] | None = None) -> list[Detection]:
        """Return these languages (or some of them), most probable first; a text without letters is in none."""
        sample = text[:CHARACTERS]
        allowed = self._codes if among is None else among
        if not self._named or not any(letter.isalpha() for letter in sample):
            return []
        ranked = {code: share for label, share in self._identifier.rank(sample) for code in self._named[label]}
        shares = {code: ranked[code] for code in allowed if code in ranked}
        total = sum(shares.values())
        best_first = sorted(shares, key=lambda code: -shares[code])
        return [Detection(code, round(100 * shares[code] / total, 1) if total else 0.0) for code in best_first]

    def supports(self, code: str) -> bool:
        """Return whether the detector can detect a language."""
        return _label(code) in self._named

    @cached_property
    def _named(self) -> dict[str, list[str]]:
        """The codes of each of the detector's languages: `zh-Hans` and `zh-Hant` are both its `zh`."""
        named: dict[str, list[str]] = {}
        for code in self._codes:
            label = _label(code)
            if label in self._known:
                named.setdefault(label, []).append(code)
        return named

    @cached_property
    def _known(self) -> set[str]:
        """The labels of the detector's model."""
        return set(self._model.labels)

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401
        """The detector with all its languages."""
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

    @cached_property
    def _identifier(self) -> Any:  # noqa: ANN401
        """The detector with the languages in question alone."""
        self._model.set_languages(list(self._named))
        return self._model


def _label(code: str) -> str:
    """Return the detector's name for a language code."""
    language = code.split("-")[0]
    return {"nb": "no", "iw": "he", "fil": "tl"}.get(language, language)
