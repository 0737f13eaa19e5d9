"""Requests for other hosts are refused; HEAD is answered like GET; every answer has its security headers."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import httpx
import pytest

from manyheads.errors import ManyheadsError
from manyheads.serving.hosts import AllowedHosts
from served import PATIENCE, serving

OWN = socket.gethostname().lower()


@pytest.mark.parametrize(
    ("listening_on", "names", "header", "allowed"),
    [
        ("127.0.0.1", None, "localhost", True),
        ("127.0.0.1", None, "LOCALHOST.:5000", True),
        ("127.0.0.1", None, "127.0.0.1:5000", True),
        ("127.0.0.1", None, "[::1]:5000", True),
        ("127.0.0.1", None, "evil.example", False),
        ("127.0.0.1", None, "localhost.evil.example", False),
        ("127.0.0.1", None, "192.0.2.1", False),
        ("127.0.0.1", None, "", False),
        ("127.0.0.1", None, "localhost:5000:1", False),
        ("127.0.0.1", None, "localhost@evil.example", False),
        ("192.0.2.1", None, "192.0.2.1:5000", True),
        ("192.0.2.1", None, "192.0.2.2:5000", False),
        ("Server.lan", None, "server.lan", True),
        ("0.0.0.0", None, "192.0.2.1:5000", True),
        ("::", None, "[2001:db8::1]:5000", True),
        ("0.0.0.0", None, OWN, True),
        ("0.0.0.0", None, "evil.example", False),
        ("127.0.0.1", "a.example, B.example", "b.example:443", True),
        ("127.0.0.1", "a.example", "localhost", True),
        ("127.0.0.1", "a.example", "c.a.example", False),
        ("127.0.0.1", "*.a.example", "c.a.example", True),
        ("127.0.0.1", "*.a.example", "a.example", False),
        ("127.0.0.1", "*.a.example", "evila.example", False),
        ("127.0.0.1", "*", "evil.example", True),
    ],
)
def test_the_host_must_be_one_of_the_server(listening_on, names, header, allowed):
    assert AllowedHosts(listening_on, names).allows(header) is allowed


@pytest.mark.parametrize("names", ["http://a.example", "a.*.example", "a b"])
def test_a_pattern_that_is_no_name_is_an_error(names):
    with pytest.raises(ManyheadsError, match="is not a host name"):
        AllowedHosts("127.0.0.1", names)


@pytest.mark.parametrize("path", ["/", "/health", "/languages", "/translate", "/static/main.js", "/nowhere"])
def test_a_request_for_a_foreign_host_is_refused(server, path):
    send = server.post if path == "/translate" else server.get
    answer = send(path, headers={"Host": "evil.example"})
    assert answer.status_code == 421
    assert "--allowed-hosts" in answer.json()["error"]


def test_names_are_added_by_an_option(runs):
    with serving([runs["there"]], allowed_hosts="translate.example") as server:
        statuses = [
            server.get("/health", headers={"Host": host}).status_code for host in ("translate.example", "x.example")
        ]
        assert statuses == [200, 421]
        assert server.is_healthy()


def test_a_health_check_without_a_host_is_answered(server):
    place = urlsplit(server.url)
    with socket.create_connection((place.hostname, place.port)) as connection:
        connection.settimeout(PATIENCE)
        connection.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")


PATHS = (
    "/",
    "/health",
    "/metrics",
    "/languages",
    "/frontend/settings",
    "/openapi.json",
    "/spec",
    "/docs",
    "/positions",
)


@pytest.mark.parametrize("path", [*PATHS, "/static/main.js"])
def test_head_is_answered_like_get_without_a_body(server, path):
    get, head = server.get(path), httpx.head(server.url + path, timeout=PATIENCE)
    assert (get.status_code, head.status_code) == (200, 200)
    assert head.content == b""
    assert head.headers["content-type"] == get.headers["content-type"]
    if path != "/metrics":  # it counts these requests
        assert head.headers["content-length"] == str(len(get.content))


def test_head_of_an_address_without_get_is_an_error(server):
    assert httpx.head(f"{server.url}/translate").status_code == 405
    assert httpx.head(f"{server.url}/nowhere").status_code == 404


@pytest.mark.parametrize("path", ["/", "/docs", "/health", "/static/main.js", "/nowhere"])
def test_every_answer_has_security_headers(server, path):
    headers = server.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
