"""Clients without a key, slow ones, and those that leave, take no place from others."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest

from manyheads.errors import ManyheadsError
from manyheads.serving.api_errors import ApiError
from manyheads.serving.arrivals import Arrivals
from manyheads.serving.keys import Keys
from manyheads.serving.rate_limiter import MOST_CLIENTS, RateLimiter, network
from served import PATIENCE, Running, held, serving, wait_until

FIELDS = {"q": "1 May 2020", "source": "en", "target": "de"}


@pytest.fixture
def keys(tmp_path):
    path = tmp_path / "keys"
    path.write_text("open-sesame\nother\n")
    return path


@contextmanager
def connected(server: Running, sent: bytes) -> Iterator[socket.socket]:
    """A connection on which these bytes have been sent."""
    place = urlsplit(server.url)
    with socket.create_connection((place.hostname, place.port)) as connection:
        connection.settimeout(PATIENCE)
        connection.sendall(sent)
        yield connection


A_BODY = b'{"q": "a", "source": "en", "target": "de"}'
A_WHOLE_REQUEST = (
    b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(A_BODY), A_BODY)
)
HALF_A_BODY = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"


@pytest.mark.parametrize("wrong", [{"api_key": "wrong"}, {}, {"api_key": 7}, {"source": "\ud800"}], ids=str)
def test_requests_without_an_accepted_key_count_for_their_address(runs, keys, wrong):
    with serving([runs["there"]], api_keys=keys, request_limit=3) as server:
        asked = '{"q": "a", "source": "\\ud800"}' if "source" in wrong else None
        sent = (
            {"content": asked, "headers": {"Content-Type": "application/json"}} if asked else {"json": FIELDS | wrong}
        )
        statuses = [server.post("/translate", **sent).status_code for _ in range(5)]
        assert statuses[3:] == [429, 429]
        assert not {200, 429} & set(statuses[:3])
        for key in ("other", "open-sesame"):  # each has a limit of its own
            answers = [server.post("/translate", json={"q": "a", "api_key": key}) for _ in range(4)]
            assert [one.status_code for one in answers] == [400, 400, 400, 429]
            assert "source" in answers[0].json()["error"]


def test_slow_bodies_occupy_no_place_of_other_requests(runs):
    with serving([runs["there"]], concurrency=1, waiting_limit=0) as server, ExitStack() as slow:
        for _ in range(3):
            slow.enter_context(connected(server, HALF_A_BODY))
        wait_until(lambda: len(server.service.admission.bodies) == 3)
        assert server.translate("1 May 2020").status_code == 200
        assert server.service.admission.active == 0


def test_a_client_that_leaves_while_it_waits_frees_its_place(runs):
    with serving([runs["there"]], concurrency=1) as server, ThreadPoolExecutor(1) as clients:
        with held(server):
            begun = clients.submit(server.translate, "1 May 2020")
            wait_until(lambda: server.service.admission.active == 1)
            with connected(server, A_WHOLE_REQUEST):
                wait_until(lambda: server.service.admission.waiting == 1)
            wait_until(lambda: server.service.admission.waiting == 0)
        assert begun.result().status_code == 200


def test_positions_need_a_key_where_keys_are_set_and_are_counted(runs, keys):
    with serving([runs["there"]], api_keys=keys, request_limit=3) as server:
        assert server.get("/positions").status_code == 400
        assert server.get("/positions", headers={"X-API-Key": "wrong"}).status_code == 403
        assert server.get("/positions", headers={"X-API-Key": "other"}).status_code == 200
        asked = {"q": "a", "api_key": "open-sesame"}
        assert [server.post("/translate", json=asked).status_code for _ in range(3)] == [400, 400, 400]
        assert server.get("/positions", headers={"X-API-Key": "open-sesame"}).status_code == 429


def test_positions_have_a_bounded_size(server):
    description = server.get("/openapi.json").json()["paths"]["/positions"]["get"]["parameters"]
    largest = {one["name"]: one["schema"]["maximum"] for one in description}
    answer = server.get("/positions", params=largest)
    assert answer.status_code == 200
    assert len(answer.content) < server.service.options.body_limit  # an answer is no larger than a request


def test_of_too_many_arrivals_the_oldest_is_given_up():
    async def scene() -> list[str]:
        arrivals, given_up = Arrivals(PATIENCE, most=2), []
        for name in ("a", "b", "c", "b", "d"):
            arrivals.begin(name, lambda name=name: given_up.append(name))
        arrivals.end("d")
        arrivals.begin("e", lambda: given_up.append("e"))
        assert len(arrivals) == 2
        return given_up

    assert asyncio.run(scene()) == ["a", "b"]


def test_what_does_not_arrive_in_time_is_given_up():
    async def scene() -> None:
        async with Arrivals(0).limited():
            await asyncio.sleep(PATIENCE)

    with pytest.raises(TimeoutError):
        asyncio.run(scene())


def test_keys_are_kept_as_hashes(keys):
    known = Keys.read(keys)
    assert known.find("other") != known.find("open-sesame")
    assert known.find("wrong") is None
    assert "other" not in repr(vars(known)) + str(known.find("other"))
    assert Keys.read(keys).find("other") != known.find("other")


def test_a_file_that_is_too_large_for_keys_is_an_error():
    from pathlib import Path

    with pytest.raises(ManyheadsError, match="too large"):
        Keys.read(Path("/dev/zero"))


def test_clients_of_one_ipv6_network_share_their_limit():
    assert network("2001:db8:1:2::3") == network("2001:db8:1:2:ffff::4") != network("2001:db8:1:3::3")
    assert network("192.0.2.1") != network("192.0.2.2")
    assert network("testclient") == "testclient"


def test_the_limiter_remembers_a_limited_number_of_clients():
    limiter = RateLimiter(1)
    limiter.check("first")
    for number in range(MOST_CLIENTS - 1):
        limiter.check(str(number))
    with pytest.raises(ApiError):
        limiter.check("first")
    limiter.check("another")
    limiter.check("first")  # forgotten, as the one whose last accepted request is the oldest
