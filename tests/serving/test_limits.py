"""Limits are enforced, and a client that is rejected temporarily gets a Retry-After header."""

from __future__ import annotations

import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest

from served import PATIENCE, held, serving, wait_until


def test_too_many_requests_at_once_get_a_retry_after_header(runs):
    with serving([runs["there"]], concurrency=2, waiting_limit=0) as server, ThreadPoolExecutor(2) as clients:
        with held(server):
            begun = [clients.submit(server.translate, "1 May 2020") for _ in range(2)]
            wait_until(lambda: server.service.admission.active == 2)
            answer = server.translate("1 May 2020")
            assert answer.status_code == 503
            assert int(answer.headers["retry-after"]) >= 1
            assert server.get("/health").status_code == 200
        assert [one.result().status_code for one in begun] == [200, 200]
        assert server.is_healthy()


def test_a_short_burst_waits_for_its_turn(runs):
    with serving([runs["there"]], concurrency=2) as server, ThreadPoolExecutor(10) as clients:
        with held(server):
            begun = [clients.submit(server.translate, "1 May 2020") for _ in range(10)]
            wait_until(lambda: server.service.admission.waiting == 8)
        assert {one.result().status_code for one in begun} == {200}


def test_a_list_of_more_than_a_hundred_texts_is_translated_in_its_order(server, translator):
    texts = ["1 May 2020", "2 June 2021", "3 July 2019"] * 40
    expected = translator.translate(texts[:3]) * 40
    assert server.translate(texts).json()["translatedText"] == expected


def test_a_full_queue_gives_a_retry_after_header(runs):
    with serving([runs["there"]], queue_limit=4, batch_sentences=1) as server, ThreadPoolExecutor(2) as clients:
        with held(server) as worker:
            first = clients.submit(server.translate, "One.")
            second = clients.submit(server.translate, "One. Two. Three.")
            # Of the four sentences, two are with the model and two wait, whichever request was first.
            wait_until(lambda: server.service.admission.active == 2 and worker.model.batcher.length == 2)
            answer = server.translate("One. Two. Three.")
            assert answer.status_code == 503
            assert int(answer.headers["retry-after"]) >= 1
        assert first.result().status_code == second.result().status_code == 200


def test_a_request_that_takes_too_long_is_an_error(runs):
    with serving([runs["there"]], request_seconds=0.2) as server:
        with held(server):
            answer = server.translate("1 May 2020")
        assert answer.status_code == 503
        assert "0.2 seconds" in answer.json()["error"]
        assert int(answer.headers["retry-after"]) >= 1


def test_a_body_that_does_not_arrive_is_an_error(runs):
    with serving([runs["there"]], request_seconds=0.2) as server:
        place = urlsplit(server.url)
        with socket.create_connection((place.hostname, place.port)) as connection:
            connection.settimeout(PATIENCE)
            connection.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            assert connection.recv(1000).startswith(b"HTTP/1.1 408")


def test_requests_per_minute_are_limited(runs):
    with serving([runs["there"]], request_limit=3) as server:
        answers = [server.translate("1 May 2020") for _ in range(4)]
        assert [one.status_code for one in answers] == [200, 200, 200, 429]
        assert answers[-1].json() == {"error": "Slowdown: 3 per minute"}
        assert int(answers[-1].headers["retry-after"]) >= 1


def test_with_api_keys_a_request_needs_one(runs, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("open-sesame\nother\n")
    fields = {"q": "1 May 2020", "source": "en", "target": "de"}
    with serving([runs["there"]], api_keys=keys) as server:
        assert server.post("/translate", json=fields | {"api_key": "other"}).status_code == 200
        assert server.post("/translate", data=fields | {"api_key": "open-sesame"}).status_code == 200
        for headers in ({"Authorization": "Bearer other"}, {"X-API-Key": "other"}):
            assert server.post("/translate", json=fields, headers=headers).status_code == 200
        none = server.post("/translate", json=fields)
        assert (none.status_code, none.json()) == (
            400,
            {"error": "Please contact the server operator to get an API key"},
        )
        for wrong in ("wrong", "öther", "other\n", "open"):
            answer = server.post("/translate", json=fields | {"api_key": wrong})
            assert (answer.status_code, answer.json()) == (403, {"error": "Invalid API key"})
        assert server.get("/languages").status_code == 200
        assert server.get("/frontend/settings").json()["keyRequired"] is True


def test_a_run_that_cannot_be_loaded_is_an_error_of_the_server(runs, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(runs["there"], broken)
    (broken / "model.safetensors").write_bytes(b"nonsense")
    with serving([broken]) as server:
        answer = server.translate("1 May 2020")
        assert answer.status_code == 503
        assert "retry-after" in answer.headers


def test_nothing_is_mixed_up_between_many_clients(server, translator):
    texts = [f"{day} {month} {year}" for day in (1, 12, 23) for month in ("May", "июня") for year in range(2000, 2020)]
    expected = dict(zip(texts, translator.translate(texts), strict=True))
    assert len(set(expected.values())) > len(texts) / 4  # or a mix-up could not be seen

    def ask(number: int) -> list[tuple[str, str]]:
        with httpx.Client(base_url=server.url, timeout=PATIENCE) as client:
            asked = texts[number::8]
            answers = [
                client.post("/translate", json={"q": text, "source": "en", "target": "de"}).json() for text in asked
            ]
            several = client.post("/translate", json={"q": asked, "source": "en", "target": "de"}).json()
            assert several["translatedText"] == [one["translatedText"] for one in answers]
            return [(text, one["translatedText"]) for text, one in zip(asked, answers, strict=True)]

    with ThreadPoolExecutor(8) as clients:
        found = [pair for pairs in clients.map(ask, range(8)) for pair in pairs]
    assert dict(found) == expected


@pytest.mark.parametrize("path", ["/translate", "/languages"])
def test_measurements_count_requests(server, path):
    def count() -> float:
        lines = [line for line in server.get("/metrics").text.splitlines() if f'path="{path}",status="200"' in line]
        return float(next(line for line in lines if line.startswith("manyheads_requests_total")).split()[-1])

    def ask() -> None:
        assert (server.translate("1 May 2020") if path == "/translate" else server.get(path)).status_code == 200

    ask()
    before = count()
    ask()
    assert count() == before + 1
