"""The endpoints that look inside say over HTTP exactly what the inspector says."""

from __future__ import annotations

import json

import pytest

from manyheads.inspection.inspector import Inspector, position_table

ASKED = {"q": "1 May 2020", "source": "en", "target": "de"}


@pytest.fixture(scope="module")
def inspector(runs):
    return Inspector(runs["there"])


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_attention_is_that_of_the_inspector(server, inspector, kind):
    answer = server.post("/inspect", json=ASKED | {"kind": kind, "layer": 0})
    assert answer.json() == inspector.attention("1 May 2020", kind=kind, layer=0).to_json()


def test_attention_belongs_to_the_translation_that_is_served(server):
    translation = server.translate("1 May 2020").json()["translatedText"]
    assert server.post("/inspect", data=ASKED).json()["translation"] == translation


def test_the_beam_is_that_of_the_inspector(server, inspector):
    assert server.post("/beam", json=ASKED | {"beam": 3}).json() == inspector.beam("1 May 2020", beam=3).to_json()


def test_steps_are_streamed_line_by_line(server, inspector):
    answer = server.post("/steps", json=ASKED | {"candidates": 2})
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert lines == [one.to_json() for one in inspector.steps("1 May 2020", candidates=2)]
    assert lines[-1]["done"] is True


def test_positions_are_those_of_the_paper(server):
    answer = server.get("/positions", params={"length": 5, "width": 8})
    assert answer.json() == position_table(length=5, width=8).to_json()


@pytest.mark.parametrize(
    ("path", "change", "words"),
    [
        ("/inspect", {"layer": 99}, "no layer 99"),
        ("/inspect", {"kind": "sideways"}, "kind parameter must be one of encoder, decoder, cross"),
        ("/inspect", {"q": "x" * 301}, "exceeds text limit (300)"),
        ("/inspect", {"source": "xx"}, "xx is not supported"),
        ("/inspect", {"q": ""}, "missing q"),
        ("/beam", {"beam": 17}, "beam parameter must be from 1 to 16"),
        ("/steps", {"candidates": 0}, "candidates parameter must be from 1 to 20"),
        ("/steps", {"q": "x" * 301}, "exceeds text limit (300)"),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong_with_it(server, path, change, words):
    answer = server.post(path, json=ASKED | change)
    assert answer.status_code == 400
    assert words in answer.json()["error"]


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
