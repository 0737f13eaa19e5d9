"""Tags within a sentence go with their words, in HTML and files, as in the library; files keep their placeholders."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from manyheads import Translator
from manyheads.decoding.translator import Translation
from manyheads.serving.run_model import RunModel
from served import Running, serving

GERMAN = {"source": "de", "target": "en"}
PAGE = (
    "<p><b>Gestern</b> habe ich <a href='/x'>ein rotes <i>Auto</i></a> gekauft. Es regnet.</p>\n"
    "<p>Ich habe <b>keine Zeit</b>, weil ich <code>x</code> <u>arbeiten</u> muss.</p>\n<p>Ja.</p>\n"
)


@pytest.fixture(scope="module", params=["ctranslate2", "torch"])
def shipped(request: pytest.FixtureRequest) -> Iterator[Running]:
    """A server of the shipped model."""
    with serving(["tatoeba"], engine=request.param) as running:
        yield running


def by_library(server: Running, folder: Path, name: str, text: str, **languages: str) -> str:
    """Return what the library makes of a document with the same engine."""
    (folder / name).write_text(text, encoding="utf-8")
    translator = Translator("tatoeba", engine=server.service.options.engine)
    translator.translate_document(
        folder / name, out=folder / f"out.{name}", to=languages["target"], source=languages["source"]
    )
    return (folder / f"out.{name}").read_text(encoding="utf-8")


def translated_file(server: Running, name: str, text: str, **languages: str) -> str:
    answer = server.post("/translate_file", files={"file": (name, text)}, data=languages)
    assert answer.status_code == 200, answer.text
    return server.get(urlsplit(answer.json()["translatedFileUrl"]).path).text


def test_tags_go_with_their_words(shipped: Running):
    text = "<p><b>Gestern</b> habe ich ein rotes Auto gekauft.</p>"
    found = shipped.translate(text, **GERMAN, format="html").json()["translatedText"]
    assert re.search("<b>(.*?)</b>", found)[1].lower() == "yesterday"


def test_the_server_writes_what_the_library_writes(shipped: Running, tmp_path: Path):
    expected = by_library(shipped, tmp_path, "page.html", PAGE, **GERMAN)
    assert shipped.translate(PAGE, **GERMAN, format="html").json()["translatedText"] == expected
    assert shipped.translate(["Ja.", PAGE], **GERMAN, format="html").json()["translatedText"][1] == expected
    assert translated_file(shipped, "page.html", PAGE, **GERMAN) == expected


def test_by_way_of_english_tags_have_their_share_of_the_way_in_both(shipped: Running, tmp_path: Path):
    languages = {"source": "de", "target": "fr"}
    expected = by_library(shipped, tmp_path, "page.html", PAGE, **languages)
    assert shipped.translate(PAGE, **languages, format="html").json()["translatedText"] == expected
    assert translated_file(shipped, "page.html", PAGE, **languages) == expected


def test_alternatives_have_the_tags_too(shipped: Running):
    answer = shipped.translate(PAGE, **GERMAN, format="html", alternatives=2).json()
    best = shipped.translate(PAGE, **GERMAN, format="html").json()["translatedText"]
    assert answer["translatedText"] == best
    for text in answer["alternatives"]:
        assert sorted(re.findall("<[^>]*>", text)) == sorted(re.findall("<[^>]*>", PAGE))


def test_texts_with_and_without_tags_share_the_batcher(shipped: Running, monkeypatch: pytest.MonkeyPatch):
    batches: list[list[Any]] = []
    original = RunModel._translate_batch

    def noting(self: RunModel, sentences: list[Any], candidates: int) -> list[Translation]:
        batches.append(sentences)
        return original(self, sentences, candidates)

    (model,) = shipped.service._models.values()
    monkeypatch.setattr(model.batcher, "_translate_batch", lambda *given: noting(model, *given))
    expected = [shipped.translate(text, **GERMAN, format="html").json() for text in (PAGE, "Es regnet.")]
    with ThreadPoolExecutor(6) as clients:
        asked = [PAGE, "Es regnet."] * 3
        answers = list(clients.map(lambda text: shipped.translate(text, **GERMAN, format="html").json(), asked))
    assert answers == expected * 3
    assert all(len({sentence.aligned for sentence in batch}) == 1 for batch in batches)
    assert {sentence.aligned for batch in batches for sentence in batch} == {True, False}


# --- Placeholders in files --------------------------------------------------------------------------------------------


def dropping(translate: Any) -> Any:
    """Return a translator's method that loses every placeholder."""

    def wrapped(self: Translator, sentences: list[str], **changes: Any) -> list[Translation]:
        found = translate(self, sentences, **changes)
        lost = [re.sub(r"%\w|\{\w*\}", "", one.text) if "lost" not in one.source else "" for one in found]
        return [
            replace(one, candidates=[replace(candidate, text=text) for candidate in one.candidates[:1]])
            for one, text in zip(found, lost, strict=True)
        ]

    return wrapped


def test_a_file_keeps_its_placeholders_and_what_cannot_be_used_is_said(
    server: Running, monkeypatch: pytest.MonkeyPatch
):
    strings = {"a": "Open {name} now", "b": "3 may %s, %d june", "c": "lost"}
    monkeypatch.setattr(Translator, "translate_sentences", dropping(Translator.translate_sentences))
    answer = server.post(
        "/translate_file",
        files={"file": ("de.json", json.dumps(strings, indent=1))},
        data={"source": "en", "target": "de"},
    ).json()
    assert answer["warnings"] == ["line 4: left as it is 'c', as its translation would be wrong: it is empty"]
    found = server.get(urlsplit(answer["translatedFileUrl"]).path).json()
    assert found["a"].count("{name}") == 1 and found["c"] == "lost"
    assert re.findall("%[sd]", found["b"]) == ["%s", "%d"]
