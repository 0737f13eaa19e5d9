"""The endpoints for inspection return over HTTP exactly what the inspector returns."""

from __future__ import annotations

import json

import pytest

from manyheads.inspection.inspector import Inspector, position_table
from served import serving

ASKED = {"q": "1 May 2020", "source": "en", "target": "de"}


@pytest.fixture(scope="module")
def inspector(runs):
    return Inspector(runs["there"])


@pytest.fixture(scope="module")
def tokens(translator):
    """The tokens of the translation that is served."""
    return translator.translations(["1 May 2020"])[0].candidates[0].tokens


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_attention_is_that_of_the_inspector(server, inspector, tokens, kind):
    answer = server.post("/inspect", json=ASKED | {"kind": kind, "layer": 1})
    assert answer.json() == inspector.attention("1 May 2020", kind=kind, layer=1, tokens=tokens).to_json()
    last = server.post("/inspect", json=ASKED | {"kind": kind}).json()
    assert last["layer"] == last["layers"][kind]
    assert last == inspector.attention("1 May 2020", kind=kind, tokens=tokens).to_json()


def test_attention_belongs_to_the_translation_that_is_served(server):
    translation = server.translate("1 May 2020").json()["translatedText"]
    assert server.post("/inspect", data=ASKED).json()["translation"] == translation


def test_the_beam_is_that_of_the_inspector(server, inspector):
    assert server.post("/beam", json=ASKED | {"beam": 3}).json() == inspector.beam("1 May 2020", beam=3).to_json()


def test_steps_are_streamed_line_by_line(server, inspector, tokens):
    answer = server.post("/steps", json=ASKED | {"candidates": 2})
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert lines == [one.to_json() for one in inspector.steps("1 May 2020", candidates=2, tokens=tokens)]
    assert lines[-1]["done"] is True


def test_every_view_shows_the_sentences_of_the_translation(server):
    text = ASKED | {"q": "1 May 2020. 123! Then it was 2 June 2019?", "alternatives": 2}
    served = server.post("/translate", json=text).json()
    sentences = server.post("/sentences", json=text).json()["sentences"]
    assert sentences == ["1 May 2020.", "Then it was 2 June 2019?"]  # what has no letters is not translated
    for number, sentence in enumerate(sentences, start=1):
        alone = server.translate(sentence, alternatives=2).json()
        assert alone["translatedText"] in served["translatedText"]
        one = text | {"sentence": number}
        assert server.post("/inspect", json=one).json()["translation"] == alone["translatedText"]
        *_, done = server.post("/steps", json=one).text.splitlines()
        assert json.loads(done)["translation"] == alone["translatedText"]
        tree = server.post("/beam", json=one).json()
        found = [leaf["text"] for leaf in tree["hypotheses"]][:3]
        assert found == [alone["translatedText"], *alone["alternatives"]]


@pytest.mark.parametrize(
    ("change", "words"),
    [({"sentence": 3}, "no sentence 3"), ({"sentence": 0}, "must be from 1"), ({"q": "123"}, "without letters")],
)
@pytest.mark.parametrize("path", ["/inspect", "/beam", "/steps"])
def test_a_sentence_that_does_not_exist_cannot_be_inspected(server, path, change, words):
    answer = server.post(path, json=ASKED | {"q": "1 May. Then 2 May."} | change)
    assert (answer.status_code, words in answer.json()["error"]) == (400, True)


def test_the_steps_of_a_translation_show_its_tokens_among_the_candidates(inspector, tokens):
    greedy = [one.token for one in inspector.steps("1 May 2020") if hasattr(one, "token")]
    for given in (tokens, list(reversed(tokens[:-1]))):
        *steps, _ = inspector.steps("1 May 2020", candidates=2, tokens=given)
        assert len(steps) == len(given)
        assert all(step.token in [one.token for one in step.candidates] for step in steps)
    assert greedy


def test_positions_are_those_of_the_paper(server):
    answer = server.get("/positions", params={"length": 5, "width": 8})
    assert answer.json() == position_table(length=5, width=8).to_json()


@pytest.mark.parametrize(
    ("path", "change", "words"),
    [
        ("/inspect", {"layer": 99}, "no layer 99"),
        ("/inspect", {"layer": 0}, "layer parameter must be from 1"),
        ("/inspect", {"kind": "sideways"}, "kind parameter must be one of encoder, decoder, cross"),
        ("/inspect", {"source": "xx"}, "xx is not supported"),
        ("/inspect", {"q": ""}, "missing q"),
        ("/beam", {"beam": 17}, "beam parameter must be from 1 to 16"),
        ("/steps", {"candidates": 0}, "candidates parameter must be from 1 to 20"),
    ],
)
def test_the_error_of_a_wrong_request_names_the_field(server, path, change, words):
    answer = server.post(path, json=ASKED | change)
    assert answer.status_code == 400
    assert words in answer.json()["error"]


def test_a_sentence_that_is_too_long_is_an_error_and_others_are_not(runs):
    text = ASKED | {"q": "1 May 2020. Then it was 2 June 2019."}
    with serving([runs["there"]], inspect_limit=12) as server:
        for path in ("/inspect", "/steps", "/beam"):
            answer = server.post(path, json=text | {"sentence": 2})
            assert (answer.status_code, "exceeds text limit (12)" in answer.json()["error"]) == (400, True)
            assert server.post(path, json=text).status_code == 200


@pytest.mark.parametrize("query", ["length=0", "length=100000", "width=abc", "width=7"])
def test_impossible_positions_are_refused(server, query):
    answer = server.get(f"/positions?{query}")
    assert answer.status_code == 400
    assert query.split("=")[0] in answer.json()["error"]


def test_a_client_that_leaves_a_stream_frees_the_model(server):
    import httpx

    for _ in range(20):  # more than may wait
        with httpx.stream("POST", server.url + "/steps", json=ASKED, timeout=60) as answer:
            next(answer.iter_lines())
    assert server.post("/inspect", json=ASKED).status_code == 200
