"""The directions of runs, and the names of languages."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from babel import Locale

from manyheads.decoding.translator import Translator
from manyheads.errors import ManyheadsError
from manyheads.serving.directions import Direction, Directions
from manyheads.serving.language_names import LANGUAGES, SCRIPTS_AND_REGIONS, language_name
from run_folders import make_multilingual_run
from served import serving


def test_languages_have_english_names():
    assert [language_name(code) for code in ("de", "zh-Hans", "mul", "iso")] == [
        "German",
        "Chinese (Simplified)",
        "Multiple languages",
        "iso",
    ]


def test_names_are_those_of_cldr():
    names = Locale("en")
    assert {code: names.languages[code] for code in LANGUAGES} == LANGUAGES
    regions = {code: name for code, name in SCRIPTS_AND_REGIONS.items() if code in names.territories}
    assert {code: names.territories[code] for code in regions} == regions
    for code in ("pt-BR", "zh-Hant", "es-419", "sr-Latn", "de-AT"):
        assert language_name(code) == Locale.parse(code, sep="-").get_display_name("en")


def test_languages_may_be_named_with_the_run(runs, monkeypatch):
    monkeypatch.chdir(runs["there"].parent)
    assert Direction.from_argument("zh-Hans-pt-BR=there")[0] == Direction(
        "zh-Hans", "pt-BR", Direction.from_argument("there")[0].run
    )
    assert str(Direction.from_argument("there")[0]) == "en-de"


def test_a_run_of_several_languages_is_served_in_all_directions(tmp_path):
    run = make_multilingual_run(tmp_path / "run").path
    with serving([run]) as server:
        listed = {one["code"]: one["targets"] for one in server.get("/languages").json()}
        assert listed == {"de": ["en", "fr"], "en": ["de", "fr"], "fr": ["de", "en"]}  # some by way of English
        translator = Translator(run)
        for source, target in (("en", "fr"), ("en", "de"), ("fr", "en")):
            answer = server.translate("3 May 2021", source=source, target=target).json()
            assert answer["translatedText"] == translator.translate("3 May 2021", to=target)
            seen = server.post("/inspect", json={"q": "3 May 2021", "source": source, "target": target}).json()
            assert seen["source_tokens"][0] == f"▁<2{target}>"
        assert len({id(server.service.worker(one).model) for one in server.service.directions}) == 1


def test_sentences_of_all_directions_share_a_batch(tmp_path):
    with (
        serving([make_multilingual_run(tmp_path / "run").path], batch_milliseconds=1000, batch_sentences=3) as server,
        ThreadPoolExecutor(3) as clients,
    ):
        pairs = [("en", "fr"), ("en", "de"), ("fr", "en")]
        asked = [clients.submit(server.translate, "3 May 2021", source=one, target=other) for one, other in pairs]
        assert {answer.result().status_code for answer in asked} == {200}
        assert (
            'manyheads_batch_sentences_count{directions="en-fr,en-de,fr-en,de-en"} 1.0' in server.get("/metrics").text
        )


FRENCH = "Je suis fatigué et je veux rentrer chez moi."


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A server of en → fr, en → de, fr → en and de → en."""
    with serving([make_multilingual_run(tmp_path_factory.mktemp("several") / "run").path]) as server:
        yield server


def test_a_language_without_a_direction_goes_by_way_of_english(several):
    english = several.translate(FRENCH, source="fr", target="en").json()["translatedText"]
    second = several.translate(english, source="en", target="de", alternatives=1).json()
    expected = second["translatedText"]
    for source in ("fr", "auto"):
        one = several.translate(FRENCH, source=source, target="de").json()
        assert (one["translatedText"], one["pivotLanguage"]) == (expected, {"language": "en"})
    many = several.translate([FRENCH, FRENCH], source="auto", target="de", alternatives=1).json()
    assert many["translatedText"] == [expected] * 2
    assert many["pivotLanguage"] == [{"language": "en"}] * 2
    assert many["alternatives"] == [second["alternatives"]] * 2
    assert "pivotLanguage" not in several.translate(FRENCH, source="fr", target="en").json()
    assert many["detectedLanguage"][0]["language"] == "fr"


def test_two_runs_may_be_the_two_legs_of_a_way(runs, translator):
    with serving([f"fr-en={runs['back']}", f"en-de={runs['there']}"]) as server:
        assert {one["code"]: one["targets"] for one in server.get("/languages").json()}["fr"] == ["de", "en"]
        english = server.translate("1 May 2020", source="fr", target="en").json()["translatedText"]
        answer = server.translate("1 May 2020", source="fr", target="de").json()
        assert answer == {"translatedText": translator.translate(english), "pivotLanguage": {"language": "en"}}
        inside = server.post("/inspect", json={"q": "1 May 2020", "source": "fr", "target": "de"})
        assert inside.status_code == 400
        assert "by way of English (en)" in inside.json()["error"]


def test_a_pair_without_any_way_is_refused_with_those_that_are_served(runs):
    with serving([f"fr-en={runs['back']}", f"zh-de={runs['there']}"]) as server:
        for source in ("fr", "auto"):
            answer = server.translate(FRENCH, source=source, target="de")
            assert answer.status_code == 400
            assert answer.json()["error"].endswith("; served into German (de): zh → de")


def test_a_named_source_is_not_checked(several):
    assert several.translate(FRENCH, source="en", target="de").status_code == 200


def test_confidence_is_that_among_all_languages(several):
    found = several.post("/detect", json={"q": "OK"}).json()
    assert {one["language"] for one in found} == {"de", "en", "fr"}
    for target, possible in (("de", {"en"}), ("fr", {"en"}), ("en", {"de", "fr"})):
        answer = several.translate("OK", source="auto", target=target).json()
        assert answer["detectedLanguage"]["language"] in possible
        assert answer["detectedLanguage"] in found
        assert answer["likelyLanguages"] == found
    listed = several.translate(["OK", "OK"], source="auto", target="de").json()
    assert listed["likelyLanguages"] == [found, found]


def test_a_language_that_cannot_be_detected_is_taken_where_it_is_the_only_one(runs):
    with serving([f"mul-iso={runs['there']}", f"en-de={runs['back']}"]) as server:
        answer = server.translate(FRENCH, source="auto", target="iso").json()
        assert answer["detectedLanguage"] == {"language": "mul", "confidence": 0.0}


def test_the_default_pair_is_served(runs, several):
    for directions, pair in ((["en-de", "fr-zh"], ("en", "de")), (["de-en", "en-fr", "fr-en"], ("de", "en"))):
        named = [Direction.from_argument(f"{one}={runs['there']}")[0] for one in directions]
        assert Directions(named).default_pair == pair
    default_pair = several.get("/frontend/settings").json()["language"]
    assert (default_pair["source"]["code"], default_pair["target"]["code"]) == ("fr", "en")


def test_one_direction_of_several_can_be_served_alone(tmp_path):
    run = make_multilingual_run(tmp_path / "run").path
    assert Direction.from_argument(f"en-fr={run}") == [Direction("en", "fr", run, to="fr")]
    with pytest.raises(ManyheadsError, match="does not translate from de into fr"):
        Direction.from_argument(f"de-fr={run}")
