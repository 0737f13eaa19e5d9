"""Forms are read in UTF-8 alone, away from the event loop, and whatever is no form is a clear error."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.serving import admission, bodies
from manyheads.serving.api_errors import ApiError
from manyheads.serving.forms import form_fields

URL_ENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=x"
FIELDS = {"q": "1 May 2020", "source": "en", "target": "de"}


def part(name: str, value: str, *, charset: str = "utf-8", more: str = "") -> bytes:
    """One part of a multipart form."""
    head = f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n{more}\r\n'
    return head.encode() + value.encode(charset) + b"\r\n"


def whole(**fields: str) -> bytes:
    return b"".join(part(name, value) for name, value in fields.items()) + b"--x--\r\n"


@pytest.mark.parametrize("charset", ["idna", "punycode", "latin-1", "utf-16", "cp037", "none", ""])
@pytest.mark.parametrize("kind", [MULTIPART, URL_ENCODED])
def test_another_charset_than_utf_8_is_refused(server, kind, charset):
    headers = {"Content-Type": f"{kind}; charset={charset}"}
    answer = server.post("/translate", content=whole(**FIELDS), headers=headers)
    assert answer.status_code == 415
    assert answer.json() == {"error": "Invalid request: a form must be in UTF-8"}


@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", "utf8", " Utf-8 "])
def test_utf_8_may_be_named(charset):
    assert form_fields(f'{MULTIPART}; charset="{charset}"', whole(q="hé 中")) == {"q": "hé 中"}


@pytest.mark.parametrize("content_type", [URL_ENCODED, MULTIPART])
def test_bytes_that_are_not_utf_8_are_refused_and_not_guessed(content_type):
    body = b"q=\xe9" if content_type == URL_ENCODED else part("q", "é", charset="latin-1") + b"--x--\r\n"
    with pytest.raises(ApiError) as caught:
        form_fields(content_type, body)
    assert caught.value.status == 400


def test_a_charset_of_one_part_does_not_count():
    body = part("q", "é", more="Content-Type: text/plain; charset=idna\r\n") + b"--x--\r\n"
    assert form_fields(MULTIPART, body) == {"q": "é"}


def test_of_a_repeated_field_the_first_value_is_used():
    assert form_fields(MULTIPART, part("q", "one") + part("q", "two") + b"--x--\r\n") == {"q": "one"}
    assert form_fields(URL_ENCODED, b"q=one&q=two") == {"q": "one"}


def test_a_file_or_too_many_fields_are_refused():
    file = b'--x\r\nContent-Disposition: form-data; name="q"; filename="a.txt"\r\n\r\none\r\n--x--\r\n'
    for body in (file, b"".join(part(f"a{number}", "1") for number in range(1000)) + b"--x--\r\n"):
        with pytest.raises(ApiError):
            form_fields(MULTIPART, body)


@LAW
@given(st.sampled_from([URL_ENCODED, MULTIPART, f"{MULTIPART[:-2]}"]), st.binary(max_size=80), st.booleans())
def test_any_bytes_are_fields_or_an_error_of_the_request(content_type, body, framed):
    body = b'--x\r\nContent-Disposition: form-data; name="q"\r\n' + body + b"--x--\r\n" if framed else body
    try:
        fields = form_fields(content_type, body)
    except ApiError as error:
        assert error.status in (400, 415)
    else:
        assert all(isinstance(text, str) for pair in fields.items() for text in pair)


@pytest.mark.parametrize("kind", ["json", "data", "files"])
def test_a_body_is_parsed_in_another_thread_than_the_event_loop(server, monkeypatch, kind):
    threads: dict[str, threading.Thread] = {}
    read_fields, form_fields, from_json = admission.read_fields, bodies.form_fields, bodies.from_json

    def noting(name, call):
        def called(*arguments, **settings):
            threads[name] = threading.current_thread()
            return call(*arguments, **settings)

        return called

    monkeypatch.setattr(admission, "read_fields", noting("loop", read_fields))
    monkeypatch.setattr(bodies, "form_fields", noting("parsing", form_fields))
    monkeypatch.setattr(bodies, "from_json", noting("parsing", from_json))
    sent = {name: (None, value) for name, value in FIELDS.items()} if kind == "files" else FIELDS
    assert server.post("/translate", **{kind: sent}).status_code == 200
    assert threads["parsing"] is not threads["loop"]
