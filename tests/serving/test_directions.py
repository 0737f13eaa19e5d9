"""The directions of runs, and the names of languages."""

from __future__ import annotations

import pytest

from manyheads.decoding.translator import Translator
from manyheads.errors import ManyheadsError
from manyheads.serving.directions import Direction, Directions, language_name
from run_folders import make_multilingual_run
from served import serving


def test_languages_have_english_names():
    assert [language_name(code) for code in ("de", "zh-Hans", "mul", "iso")] == [
        "German",
        "Chinese (Simplified)",
        "Multiple languages",
        "iso",
    ]


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
        assert listed == {"de": ["en"], "en": ["de", "fr"], "fr": ["en"]}
        translator = Translator(run)
        for source, target in (("en", "fr"), ("en", "de"), ("fr", "en")):
            answer = server.translate("3 May 2021", source=source, target=target).json()
            assert answer["translatedText"] == translator.translate("3 May 2021", to=target)
            seen = server.post("/inspect", json={"q": "3 May 2021", "source": source, "target": target}).json()
            assert seen["source_tokens"][0] == f"▁<2{target}>"
        assert len({id(server.service.worker(one).model) for one in server.service.directions}) == 1


FRENCH = "Je suis fatigué et je veux rentrer chez moi."


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A server of en → fr, en → de, fr → en and de → en."""
    with serving([make_multilingual_run(tmp_path_factory.mktemp("several") / "run").path]) as server:
        yield server


def test_a_detected_language_without_a_direction_is_refused(several):
    for text in (FRENCH, [FRENCH, FRENCH]):
        answer = several.translate(text, source="auto", target="de")
        assert answer.status_code == 400
        assert answer.json()["error"] == (
            "The text seems to be French (fr), which this server does not translate into German (de); "
            "served into German (de): en → de"
        )
    into = several.translate(FRENCH, source="auto", target="en").json()
    assert into["detectedLanguage"]["language"] == "fr"
    assert into["translatedText"] == several.translate(FRENCH, source="fr", target="en").json()["translatedText"]
    assert "likelyLanguages" not in into  # there is nothing to choose from


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
