"""Requests to the server that are hostile or careless: an answer, or an error of the request in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hostile import inputs
from hostile.running import EITHER, REFUSED, WORKS, Case
from hostile.world import World

FIELDS = {"source": "en", "target": "de"}
CHINESE = "我们今天去公园散步，孩子们在那里玩耍。" * 32
HEAVY = "a" * 990_000
MULTIPART = "multipart/form-data; boundary=x"

MARKUP = {
    "an unfinished declaration": "<![ x",
    "a marked section": "<![foo[x]]>",
    "a reference of 4,301 digits": "&#" + "9" * 4301,
    "a hexadecimal reference": "&#x" + "f" * 4301 + ";",
    "unfinished tags": "<a " * 15_000,
    "unfinished comments": "<!--" * 12_000,
    "open tags": "<b>" * 15_000,
    "open quotes": '<a b="' * 8_000,
    "nested tags": "<p><b>" * 5000 + "x" + "</b></p>" * 300,
    "NUL": "<p>\0</p>",
}


def requests(world: World) -> Iterator[Case]:
    """Bodies, texts, headers and addresses."""
    yield from _bodies(world)
    yield from _texts(world)
    yield from _headers(world)


def _bodies(world: World) -> Iterator[Case]:
    """Bodies that are none, or that take long to decode."""
    for charset in ("idna", "punycode", "utf-7", "zlib", "undefined"):
        for kind in (MULTIPART, "application/x-www-form-urlencoded"):
            form = f'--x\r\nContent-Disposition: form-data; name="q"\r\n\r\n{HEAVY}\r\n--x--\r\n'
            headers = {"Content-Type": f"{kind}; charset={charset}"}
            yield _post(world, f"{kind[:9]} in {charset}", content=form.encode(), headers=headers)
    many = "".join(f'--x\r\nContent-Disposition: form-data; name="a{i}"\r\n\r\n1\r\n' for i in range(15_000))
    yield _post(world, "15,000 parts", content=f"{many}--x--\r\n".encode(), headers={"Content-Type": MULTIPART})
    yield _post(world, "a boundary alone", content=b"--x" * 300_000, headers={"Content-Type": MULTIPART})
    for name, content in inputs.json_texts().items():
        headers = {"Content-Type": "application/json"}
        yield _post(world, f"JSON: {name}", content=content, headers=headers)
    yield _post(world, "a body of 2 MB", content=b"x" * 2_000_000)
    for name, fields in {
        "no text": {},
        "a text that is a number": {"q": 7},
        "a text that is null": {"q": None},
        "nested lists": {"q": [[["a"]]]},
        "2,000 texts": {"q": ["a"] * 2000},
        "60,000 characters": {"q": "a " * 30_000},
        "a language that is a list": {"q": "a", "source": ["en"]},
        "10^30 alternatives": {"q": "a", "alternatives": 10**30},
        "negative alternatives": {"q": "a", "alternatives": -1},
        "an unknown format": {"q": "a", "format": "pdf"},
    }.items():
        yield _post(world, name, json={**FIELDS, **fields})


def _texts(world: World) -> Iterator[Case]:
    """Texts that a server must translate, or refuse."""
    for name, markup in MARKUP.items():
        yield _post(world, f"HTML: {name}", WORKS, json={**FIELDS, "q": ["one", markup], "format": "html"})
    for name, text in inputs.texts().items():
        expected = EITHER if "surrogate" in name else WORKS
        yield _post(world, f"text: {name}", expected, json={**FIELDS, "q": text})
    for name, text in {
        "600 Chinese characters": CHINESE[:600],
        "one long word among others": f"1 May 2020 {'x' * 600}, 2 June 2021",
        "10 KB of words of 499 letters": " ".join(["x" * 499] * 20),
        "10 KB of words of 99 letters": " ".join(["x" * 99] * 100),
    }.items():
        yield _post(world, name, WORKS, json={**FIELDS, "q": text})


def _headers(world: World) -> Iterator[Case]:
    """Hosts, keys and addresses."""
    for host in ("evil.example", "localhost.evil.example", "192.0.2.1", "a" * 5000, "localhost@evil.example"):
        for path in ("/health", "/languages", "/positions", "/"):
            yield _get(world, f"{path} for the host {host[:30]}", path, headers={"Host": host})
    for path in ("/positions", "/positions?length=10&width=8"):
        yield _get(world, f"{path} without a key", path, keys=True)
        yield _get(world, f"{path} with a wrong key", path, keys=True, headers={"X-API-Key": "wrong"})
    yield _post(world, "no key", keys=True, json={**FIELDS, "q": "a"})
    yield _post(world, "a wrong key", keys=True, json={**FIELDS, "q": "a", "api_key": "\ud800"[:0] + "é" * 1000})
    yield _post(world, "a right key", WORKS, keys=True, json={**FIELDS, "q": "a", "api_key": "open-sesame"})
    yield _get(world, "the largest positions", "/positions?length=100000000&width=100000000")
    yield _get(world, "positions", "/positions", WORKS)
    for path in (
        "/nowhere",
        "/static/../../etc/passwd",
        "/static/%2e%2e/%2e%2e/etc/passwd",
        "/" + "x" * 60_000,
        "/%00",
    ):
        yield _get(world, f"address {path[:30]}", path)
    for path in ("/health", "/languages", "/"):
        yield Case(
            f"HEAD {path}", "serve", _run(world, False), WORKS, request=lambda client, path=path: client.head(path)
        )


def _post(world: World, name: str, expected: str = REFUSED, *, keys: bool = False, **sent: Any) -> Case:
    """Ask for a translation."""
    return Case(
        f"request: {name}",
        "serve",
        _run(world, keys),
        expected,
        request=lambda client: client.post("/translate", **sent),
    )


def _get(
    world: World,
    name: str,
    path: str,
    expected: str = REFUSED,
    *,
    keys: bool = False,
    headers: Mapping[str, str] | None = None,
) -> Case:
    """Ask for an address."""
    return Case(
        f"request: {name}",
        "serve",
        _run(world, keys),
        expected,
        request=lambda client: client.get(path, headers=headers),
    )


def _run(world: World, keys: bool) -> Any:
    """Serve the run that translates, to anybody or with a key."""

    def arguments(place: Path) -> list[str]:
        (place / "keys").write_text("open-sesame\n", encoding="utf-8")
        return [f"en-de={world.folder / 'translation'}", *([f"api_keys={place / 'keys'}"] if keys else [])]

    return arguments
