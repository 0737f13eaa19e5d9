"""Files are translated as LibreTranslate's clients ask for it: a form with a file, and the address of the result."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from libretranslatepy import LibreTranslateAPI

from manyheads.documents.opening import FORMATS
from manyheads.serving import finished_files
from served import held, serving, wait_until

TEXT = "First one here. Second one!\r\n\r\n\tThird?  \r\n"
MANY = b"".join(b"%d words\n" % number for number in range(1000))
ASKED = {"source": "en", "target": "de"}


def translate_file(server, name: str, content: str | bytes, **fields: str):
    return server.post("/translate_file", files={"file": (name, content)}, data=ASKED | fields)


def fetched(server, answer):
    """Fetch what an answer points to."""
    assert answer.status_code == 200, answer.text
    url = answer.json()["translatedFileUrl"]
    assert url.startswith(f"{server.url}/download_file/")
    return server.get(urlsplit(url).path)


def test_a_file_comes_back_translated(server, translator):
    there = translator.translate
    result = fetched(server, translate_file(server, "notes.txt", TEXT))
    expected = f"{there('First one here.')} {there('Second one!')}\r\n\r\n\t{there('Third?')}  \r\n"
    assert result.content.decode() == expected
    assert result.headers["content-disposition"] == 'attachment; filename="notes_de.txt"'
    assert result.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("key", ["", "unused"])
def test_a_file_comes_back_to_the_page_of_libretranslate(server, translator, key: str):
    """The parts of its form, in its order; the key is empty where its user has given none."""
    parts = [
        ("file", ("notes.txt", TEXT.encode(), "text/plain")),
        *((name, (None, value)) for name, value in (*ASKED.items(), ("api_key", key))),
    ]
    answer = server.post("/translate_file", files=parts)
    assert list(answer.json()) == ["translatedFileUrl"]
    assert fetched(server, answer).text.startswith(translator.translate("First one here."))


def test_the_python_client_of_libretranslate_has_no_call_for_files():
    """As docs/serving.md says; when it gets one, it belongs here."""
    calls = {name for name in vars(LibreTranslateAPI) if not name.startswith("_")}
    assert {"translate", "detect", "languages"} <= calls
    assert not any("file" in name for name in calls)


def test_the_format_is_found_or_named(server, translator):
    strings = {"one": "1 May 2020", "two": {"three": "2 June 2021"}}
    expected = {"one": translator.translate("1 May 2020"), "two": {"three": translator.translate("2 June 2021")}}
    for name, fields in (("de.json", {}), ("strings", {"format": "json"})):
        answer = translate_file(server, name, json.dumps(strings), **fields)
        assert fetched(server, answer).json() == expected
    packed = translate_file(server, "de.json.gz", gzip.compress(json.dumps(strings).encode()))
    assert json.loads(gzip.decompress(fetched(server, packed).content)) == expected
    unknown = translate_file(server, "strings", "x")
    assert unknown.status_code == 400
    assert all(one.name in unknown.json()["error"] for one in FORMATS)


def test_settings_have_the_endings_of_all_formats(server):
    settings = server.get("/frontend/settings").json()
    assert settings["filesTranslation"] is True
    assert settings["supportedFilesFormat"] == [ending for one in FORMATS for ending in one.endings]


def test_the_name_of_a_file_is_no_path(server):
    answer = translate_file(server, '../../etc/a "b"\n.txt', TEXT)
    assert fetched(server, answer).headers["content-disposition"].count('"') == 2
    assert "/etc" not in answer.json()["translatedFileUrl"]


def test_auto_and_the_language_in_between_are_said(runs):
    with serving([f"fr-en={runs['back']}", f"en-de={runs['there']}"]) as server:
        text = "Je suis fatigué et je veux rentrer chez moi."
        answer = translate_file(server, "a.txt", text, source="auto")
        assert answer.json()["detectedLanguage"]["language"] == "fr"
        assert answer.json()["pivotLanguage"] == {"language": "en"}
        direct = server.translate(text, source="fr", target="de").json()["translatedText"]
        assert fetched(server, answer).text == direct


@pytest.mark.parametrize(
    ("name", "content", "fields", "message"),
    [
        ("a.txt", b"", {}, "Invalid request: empty file"),
        ("a.txt", b"\xff\xfe\xfd", {}, "a.txt:1: this file is not"),
        ("a.txt", b"x\n\xe9", {}, "a.txt:2: this file is not in utf-8"),
        ("a.json", b"[" * 10_000, {}, "a.json"),
        ("a.txt", b"x", {"format": "pdf"}, "a.txt: there is no format 'pdf'"),
        ("a.txt", b"x", {"target": "xx"}, "xx is not supported"),
        ("a.txt", b"x", {"source": ""}, "Invalid request: missing source parameter"),
        (
            "a.txt",
            b"".join(b"%d words\n" % number for number in range(1000)),
            {},
            "at most 2,000 are accepted. Divide the file.",
        ),
        ("a.txt", b"x" * 200_001, {}, "at most 200,000 are accepted. Divide the file."),
        ("a.txt.gz", gzip.compress(bytes(1 << 26)), {}, "when it is unpacked"),
    ],
)
def test_a_file_that_cannot_be_translated_is_an_error(limited, name, content, fields, message):
    answer = translate_file(limited, name, content, **fields)
    assert answer.status_code == 400
    assert message in answer.json()["error"]


@pytest.fixture(scope="module")
def limited(runs):
    """A server with lower limits."""
    with serving([runs["there"]], file_limit=200_000, file_char_limit=2000) as running:
        yield running


def test_a_request_without_a_file_is_an_error(server):
    for sent in ({"data": ASKED}, {"json": ASKED}, {"files": {"q": (None, "x")}, "data": ASKED}):
        answer = server.post("/translate_file", **sent)
        assert (answer.status_code, answer.json()["error"]) == (400, "Invalid request: missing file parameter")
    refused = server.post("/translate", files={"q": ("a.txt", b"x")}, data=ASKED)
    assert (refused.status_code, refused.json()["error"]) == (400, "Invalid request: this endpoint accepts no files")


def test_files_can_be_switched_off(runs):
    with serving([runs["there"]], file_limit=0) as server:
        assert translate_file(server, "a.txt", TEXT).status_code == 403
        settings = server.get("/frontend/settings").json()
        assert (settings["filesTranslation"], settings["supportedFilesFormat"]) == (False, [])


def test_keys_and_rates_count_for_files(runs, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("secret\n")
    with serving([runs["there"]], api_keys=keys, request_limit=2) as server:
        assert translate_file(server, "a.txt", TEXT).status_code == 400
        answers = [translate_file(server, "a.txt", TEXT, api_key="secret").status_code for _ in range(3)]
        assert answers == [200, 200, 429]


def test_a_file_is_deleted_after_its_time(runs):
    with serving([runs["there"]], file_seconds=0.05) as server:
        path = urlsplit(translate_file(server, "a.txt", "1 May 2020").json()["translatedFileUrl"]).path
        wait_until(lambda: server.get(path).status_code == 404)
        assert server.get(path).json() == {"error": "There is no such file, or it has been deleted since"}


def test_of_too_many_files_the_oldest_are_deleted(runs, monkeypatch):
    monkeypatch.setattr(finished_files, "MOST_KEPT", 1)
    with serving([runs["there"]]) as server:
        paths = [
            urlsplit(translate_file(server, "a.txt", "1 May 2020").json()["translatedFileUrl"]).path for _ in range(2)
        ]
        assert [server.get(path).status_code for path in paths] == [404, 200]


def test_other_requests_are_answered_while_a_file_waits(runs):
    with serving([runs["there"]]) as server, ThreadPoolExecutor(1) as clients:
        with held(server):
            begun = clients.submit(translate_file, server, "a.txt", TEXT)
            wait_until(lambda: server.service.admission.active == 1)
            assert server.get("/languages").status_code == 200
        assert begun.result().status_code == 200
