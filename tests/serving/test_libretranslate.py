"""LibreTranslate's API: its own client works unmodified, and every answer and error is what its clients expect."""

from __future__ import annotations

import httpx
import pytest
from libretranslatepy import LibreTranslateAPI

ENGLISH = "The children are playing in the garden with their friends."
GERMAN = "Die Kinder spielen im Garten mit ihren Freunden."


@pytest.fixture(scope="module")
def client(server):
    return LibreTranslateAPI(server.url)


def test_its_client_translates(client, translator):
    assert client.translate("1 May 2020", "en", "de") == translator.translate("1 May 2020")


def test_its_client_lists_languages(client):
    assert client.languages() == [
        {"code": "de", "name": "German", "targets": ["en"]},
        {"code": "en", "name": "English", "targets": ["de"]},
    ]


def test_its_client_detects(client):
    assert [one["language"] for one in client.detect(GERMAN)] == ["de", "en"]
    best, other = client.detect(ENGLISH)
    assert best["language"] == "en"
    assert best["confidence"] > 90 > other["confidence"]


@pytest.mark.parametrize("form", ["json", "data", "files", "params"])
def test_a_body_may_be_json_or_a_form(server, translator, form):
    fields = {"q": "1 May 2020", "source": "en", "target": "de"}
    sent = {name: (None, value) for name, value in fields.items()} if form == "files" else fields
    answer = server.post("/translate", **{form: sent})
    assert answer.json() == {"translatedText": translator.translate("1 May 2020")}


def test_a_list_is_answered_with_a_list(server, translator):
    texts = ["1 May 2020", "", "2 June 2021"]
    assert server.translate(texts).json() == {"translatedText": translator.translate(texts)}


def test_each_direction_has_its_own_model(server, translator):
    back = server.translate("1 May 2020", source="de", target="en").json()["translatedText"]
    assert back != translator.translate("1 May 2020")


def test_sentences_are_translated_one_by_one_and_put_together_again(server, translator):
    there = translator.translate
    text = "  First one here. Second one!\n\n\tThird?  \n"
    expected = f"  {there('First one here.')} {there('Second one!')}\n\n\t{there('Third?')}  \n"
    assert server.translate(text).json()["translatedText"] == expected


def test_plural_forms_are_translated_as_the_library_does(server, translator):
    message = "You have {n, plural, one {1 May} other {# June}} {name}."
    found = server.translate(message).json()["translatedText"]
    assert found == translator.translate(message)
    assert found.startswith("{n, plural, one {") and found.endswith("}}") and found.count("{name}") == 2
    assert server.post("/sentences", json={"q": message, "source": "en", "target": "de"}).json()["sentences"] == [
        "You have 1 May {name}.",
        "You have # June {name}.",
    ]


def test_html_keeps_its_markup(server, translator):
    answer = server.translate('<p class="a">1 May 2020</p><!-- x -->', format="html").json()["translatedText"]
    assert answer.startswith('<p class="a">') and answer.endswith("</p><!-- x -->")


def test_auto_says_what_was_detected(server, translator):
    answer = server.translate(ENGLISH, source="auto").json()
    assert answer["translatedText"] == translator.translate(ENGLISH)
    assert answer["detectedLanguage"]["language"] == "en"
    assert 0 <= answer["detectedLanguage"]["confidence"] <= 100
    several = server.translate([ENGLISH, ENGLISH], source="auto").json()
    assert several["detectedLanguage"] == [answer["detectedLanguage"]] * 2


def test_alternatives_are_other_texts_with_their_scores(server, translator):
    answer = server.translate("1 May 2020", alternatives=3).json()
    found = translator.translations(["1 May 2020"], n_best=4, beam=4)[0].candidates
    assert answer["translatedText"] == found[0].text
    assert answer["score"] == round(found[0].score, 5)
    assert len({answer["translatedText"], *answer["alternatives"]}) == len(answer["alternatives"]) + 1
    assert set(answer["alternatives"]) <= {one.text for one in found[1:]}
    scores = [answer["score"], *answer["alternativeScores"]]
    assert scores == sorted(scores, reverse=True)


def test_a_list_has_alternatives_for_each_text(server):
    answer = server.translate(["1 May 2020", "2 June 2021"], alternatives=1).json()
    assert len(answer["alternatives"]) == len(answer["score"]) == len(answer["alternativeScores"]) == 2


def test_settings_have_what_its_page_reads(server):
    settings = server.get("/frontend/settings").json()
    assert settings["charLimit"] == server.service.options.char_limit
    assert settings["keyRequired"] is False
    pair = settings["language"]["source"]["code"], settings["language"]["target"]["code"]
    assert pair in [(one["code"], target) for one in server.get("/languages").json() for target in one["targets"]]


GOOD = {"q": "1 May 2020", "source": "en", "target": "de"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": None}, "Invalid request: missing q parameter"),
        ({"q": ""}, "Invalid request: missing q parameter"),
        ({"q": []}, "Invalid request: missing q parameter"),
        ({"source": None}, "Invalid request: missing source parameter"),
        ({"target": None}, "Invalid request: missing target parameter"),
        ({"source": "xx"}, "xx is not supported"),
        ({"target": "xx"}, "xx is not supported"),
        ({"source": "auto", "target": "xx"}, "xx is not supported"),
        (
            {"target": "en"},
            "English (en) is not available as a target language from English (en); served into English (en): de → en",
        ),
        ({"format": "pdf"}, "pdf format is not supported"),
        ({"alternatives": "many"}, "Invalid request: alternatives parameter is not a number"),
        ({"alternatives": 99}, "Invalid request: alternatives parameter must be <= 7"),
        (
            {"q": "a " * 25_001},
            "Invalid request: request (50002) exceeds text limit (50000): it has 50,002 characters, and at most 50,000 "
            "are accepted. Send it in parts.",
        ),
        (
            {"q": ["a"] * 1001},
            "Invalid request: request (1001) exceeds text limit (1000): it has 1,001 texts, and at most 1,000 are "
            "accepted. Send it in parts.",
        ),
        ({"q": 7}, "Invalid request: q parameter is not a text"),
        ({"q": ["a", 7]}, "Invalid request: q parameter is not a text or a list of texts"),
        ({"source": ["en"]}, "Invalid request: source parameter is not a text"),
    ],
)
def test_the_error_of_a_wrong_request_is_that_of_libretranslate(server, change, message):
    answer = server.post("/translate", json=GOOD | change)
    assert (answer.status_code, answer.json()) == (400, {"error": message})


def test_detecting_nothing_is_refused(server):
    answer = server.post("/detect", data={"q": ""})
    assert (answer.status_code, answer.json()) == (400, {"error": "Invalid request: missing q parameter"})


def test_an_address_that_is_not_served_is_an_error_too(server):
    assert server.get("/nowhere").json() == {"error": "Not Found"}
    answer = server.get("/translate")
    assert (answer.status_code, answer.json()) == (405, {"error": "Method Not Allowed"})


def test_pages_of_others_may_call_it(server):
    asked = {"Origin": "http://elsewhere.example", "Access-Control-Request-Method": "POST"}
    answer = httpx.options(server.url + "/translate", headers=asked)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "*"


def test_the_pages_fetch_nothing_from_elsewhere(server):
    for path in ("/", "/docs"):
        answer = server.get(path)
        assert answer.status_code == 200
        assert "http" not in answer.text
        assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert "/translate" in server.get("/docs").text
    assert server.get("/spec").json() == server.get("/openapi.json").json()
