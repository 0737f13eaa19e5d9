"""Language detection by py3langid: offline, and restricted to given languages.

py3langid is a 5 MB package that depends only on numpy, and supports 139 languages.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

CHARACTERS = 2000  # of a text that are used; more do not improve the detection
LIKELY = 0.1  # a language is likely if its confidence is at least this share of the best one's


@dataclass(frozen=True)
class Detection:
    """A language, and the confidence of the detector, from 0 to 100."""

    language: str
    confidence: float

    def to_json(self) -> dict[str, Any]:
        """Return this in the JSON format of LibreTranslate."""
        return {"confidence": self.confidence, "language": self.language}


def likely_languages(detections: Sequence[Detection]) -> list[Detection]:
    """Return the likely languages of a text; if there is only one, the detection is certain."""
    return [detection for detection in detections if detection.confidence >= LIKELY * detections[0].confidence]


class Detector:
    """Detects languages among the given codes; codes that py3langid does not support are never detected."""

    def __init__(self, codes: Iterable[str]) -> None:
        self._codes = sorted(codes)

    def detect(self, text: str, *, among: Sequence[str] | None = None) -> list[Detection]:
        """Return all languages (or those in `among`), most probable first; for a text without letters, none."""
        sample = text[:CHARACTERS]
        allowed = self._codes if among is None else among
        if not self._codes_of or not any(map(str.isalpha, sample)):
            return []
        ranked = {code: share for label, share in self._identifier.rank(sample) for code in self._codes_of[label]}
        shares = {code: ranked[code] for code in allowed if code in ranked}
        total = sum(shares.values())
        best_first = sorted(shares, key=lambda code: -shares[code])
        return [Detection(code, round(100 * shares[code] / total, 1) if total else 0.0) for code in best_first]

    def supports(self, code: str) -> bool:
        """Return whether the detector can detect a language."""
        return _label(code) in self._codes_of

    @cached_property
    def _codes_of(self) -> dict[str, list[str]]:
        """The codes for each label of py3langid: `zh-Hans` and `zh-Hant` both have the label `zh`."""
        codes: dict[str, list[str]] = {}
        for code in self._codes:
            label = _label(code)
            if label in self._known:
                codes.setdefault(label, []).append(code)
        return codes

    @cached_property
    def _known(self) -> set[str]:
        """The labels of py3langid's model."""
        return set(self._model.labels)

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401
        """The py3langid model, which can be restricted without changing that of another detector."""
        return copy.copy(_loaded_model())

    @cached_property
    def _identifier(self) -> Any:  # noqa: ANN401
        """The py3langid model, restricted to the given languages."""
        self._model.set_languages(list(self._codes_of))
        return self._model


def detectable_languages() -> list[str]:
    """Return the codes of all languages that can be detected."""
    return sorted(_loaded_model().labels)


@cache
def _loaded_model() -> Any:  # noqa: ANN401
    """Return the py3langid model with all its languages; loading it takes longer than detecting a thousand texts."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _label(code: str) -> str:
    """Return py3langid's label for a language code."""
    language = code.split("-")[0]
    return {"nb": "no", "iw": "he", "fil": "tl"}.get(language, language)
