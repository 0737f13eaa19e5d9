"""A connection on which no request arrives is closed, and one with a request is not."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from served import PATIENCE, held, serving, wait_until

REQUEST = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def hasty(runs):
    """A server that does not wait for long."""
    with serving([runs["there"]], arrival_seconds=1.0) as running:
        yield running


def connect(server) -> socket.socket:
    place = urlsplit(server.url)
    connection = socket.create_connection((place.hostname, place.port))
    connection.settimeout(PATIENCE)
    return connection


def answer(connection: socket.socket) -> bytes:
    """The answer to a request for /health."""
    received = b""
    while b'"ok"}' not in received:
        received += connection.recv(1000) or pytest.fail("closed")
    return received


@pytest.mark.parametrize("sent", [b"", b"G", REQUEST[:-2]], ids=["nothing", "a letter", "headers without their end"])
def test_a_connection_without_a_request_is_closed(hasty, sent):
    with connect(hasty) as connection:
        connection.sendall(sent)
        assert connection.recv(1000) == b""
    assert hasty.is_healthy()


def test_headers_that_arrive_one_by_one_are_not_waited_for(hasty):
    with connect(hasty) as connection:
        connection.sendall(REQUEST[:-2])
        with pytest.raises(OSError):
            while True:
                connection.sendall(b"X: y\r\n")
                connection.settimeout(0.01)
                try:
                    if connection.recv(1000) == b"":
                        raise ConnectionResetError
                except TimeoutError:
                    pass


def test_half_of_a_second_request_is_not_waited_for(hasty):
    with connect(hasty) as connection:
        connection.sendall(REQUEST)
        assert b"200 OK" in answer(connection)
        connection.sendall(REQUEST[:-2])
        assert connection.recv(1000) == b""


def test_a_request_that_waits_for_the_model_keeps_its_connection(hasty):
    with ThreadPoolExecutor(1) as clients:
        with held(hasty):
            asked = clients.submit(hasty.translate, "1 May 2020")
            wait_until(lambda: hasty.service.admission.active == 1)
            with connect(hasty) as other:
                assert other.recv(1000) == b""  # this one, without a request, is closed meanwhile
        assert asked.result().status_code == 200
