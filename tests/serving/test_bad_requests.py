"""Malformed requests get a clear error, and the server keeps working."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import pytest

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
GOOD = {"q": "1 May 2020", "source": "en", "target": "de"}


def refused(answer, *statuses: int) -> str:
    assert answer.status_code in statuses, (answer.status_code, answer.text)
    assert set(answer.json()) == {"error"}
    return answer.json()["error"]


@pytest.mark.parametrize("path", ["/translate", "/detect", "/inspect", "/steps", "/beam"])
def test_a_body_of_ten_megabytes_is_refused(server, path):
    error = refused(server.post(path, json=GOOD | {"q": "a" * 10_000_000}), 413)
    assert "1000000 bytes" in error
    assert server.is_healthy()


def test_a_body_of_unknown_length_is_refused_too(server):
    refused(server.post("/translate", content=(b"a" * 100_000 for _ in range(100)), headers=FORM), 413)
    assert server.is_healthy()


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"q":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"q": "\xff\xfe", "source": "en", "target": "de"}',
        b'{"q": "\\ud800", "source": "en", "target": "de"}',
        b'{"q": "a", "source": "en", "target": "de"',
        b"[1, 2]",
        b"null",
        b"",
        b'{"q": NaN, "source": "en", "target": "de"}',
        b'{"q": "a", "source": "en", "target": "de", "alternatives": 1e999}',
        b'{"q": "a", "source": "en", "target": "de", "alternatives": ' + b"9" * 5000 + b"}",
    ],
    ids=lambda body: body[:30].decode("latin-1"),
)
def test_broken_json_is_refused(server, body):
    refused(server.post("/translate", content=body, headers=JSON), 400)
    assert server.is_healthy()


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (FORM, b"q=%ff%fe&source=en&target=de"),
        (FORM, b"q=\xff\xfe&source=en&target=de"),
        (FORM, b"&".join(b"a%d=1" % i for i in range(1000))),
        ({"Content-Type": "multipart/form-data"}, b"q"),
        ({"Content-Type": "multipart/form-data; boundary=x"}, b"--x\r\nnonsense"),
        ({"Content-Type": "text/plain"}, b"q=a"),
        ({}, b""),
    ],
)
def test_broken_forms_are_refused(server, headers, body):
    refused(server.post("/translate", content=body, headers=headers), 400)
    assert server.is_healthy()


def test_a_word_of_a_hundred_thousand_characters_is_refused(server):
    refused(server.translate("x" * 100_000), 400)
    assert server.is_healthy()


@pytest.mark.parametrize(
    "text",
    ["<![ x", "<![foo[x]]>", f"&#{'1' * 5000};", f"&#x{'1' * 5000}", "<a " * 100, "<!--" * 100, '<a b=">"' * 100, "</"],
    ids=lambda text: text[:12],
)
def test_odd_html_spoils_no_other_text_of_its_list(server, translator, text):
    answer = server.translate([text, "<p>1 May 2020</p>"], format="html")
    assert answer.status_code == 200
    assert answer.json()["translatedText"][1] == f"<p>{translator.translate('1 May 2020')}</p>"


@pytest.mark.parametrize(
    "text", ["\x00", "\x00a\x00", "\u200b", "\ufeff", "🏳️‍🌈", "\u0301", "a\u202eb", "\U0010ffff", " ", "\n"]
)
def test_odd_characters_are_translated_somehow(server, text):
    assert server.translate(text).status_code == 200


@pytest.mark.parametrize("sent", ["POST /translate HTTP/1.1\r\n", "half a body", "a whole body"])
def test_a_client_that_disconnects_does_no_harm(server, sent):
    body = json.dumps(GOOD)
    head = (
        "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    message = {"half a body": head + body[:10], "a whole body": head + body}.get(sent, sent)
    place = urlsplit(server.url)
    for _ in range(20):
        with socket.create_connection((place.hostname, place.port)) as connection:
            connection.sendall(message.encode())
    assert server.is_healthy()


def test_bytes_that_are_not_http_get_an_error(server):
    place = urlsplit(server.url)
    with socket.create_connection((place.hostname, place.port)) as connection:
        connection.settimeout(60)
        connection.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        assert b"400" in connection.recv(1000)
    assert server.is_healthy()


def test_files_outside_the_page_are_not_served(server):
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd"):
        assert server.get(path).status_code == 404
