"""Languages are detected among given ones."""

from __future__ import annotations

import pytest

from manyheads.data.text.detection import Detection, Detector, likely_languages

TEXTS = {
    "en": "The children are playing in the garden.",
    "de": "Die Kinder spielen im Garten mit dem Hund.",
    "fr": "Les enfants jouent dans le jardin avec le chien.",
    "zh-Hans": "孩子们在花园里玩耍。",
}


@pytest.fixture(scope="module")
def detector():
    return Detector([*TEXTS, "iso"])


@pytest.mark.parametrize("code", TEXTS)
def test_a_sentence_is_recognised(detector, code):
    found = detector.detect(TEXTS[code])
    assert found[0].language == code
    assert sum(one.confidence for one in found) == pytest.approx(100, abs=0.5)


def test_only_served_languages_are_found(detector):
    assert {one.language for one in detector.detect("Bambini giocano in giardino")} == set(TEXTS)
    assert [one.language for one in detector.detect(TEXTS["fr"], among=["de"])] == ["de"]


def test_languages_are_likely_that_are_not_far_behind_the_best(detector):
    assert [one.language for one in likely_languages(detector.detect(TEXTS["fr"]))] == ["fr"]
    assert {one.language for one in likely_languages(detector.detect("OK"))} == set(TEXTS)  # the detector cannot tell
    assert likely_languages([]) == []
    assert likely_languages([Detection("en", 60.0), Detection("de", 36.0), Detection("fr", 4.0)])[-1].language == "de"


def test_a_detector_reports_which_languages_it_supports(detector):
    assert detector.supports("zh-Hans") and not detector.supports("iso") and not detector.supports("es")


@pytest.mark.parametrize("text", ["", "123", " \n", "?!"])
def test_a_text_without_letters_is_in_no_language(detector, text):
    assert detector.detect(text) == []


def test_without_a_known_language_nothing_is_found():
    assert Detector(["iso"]).detect("Hello there") == []
