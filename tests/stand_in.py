"""A stand-in for the server: the page's files, and canned answers in the form of the HTTP interface.

The page's tests use it for what a real model would not do on demand: long texts, hostile tokens, faults, delays.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from manyheads.serving.pages import POLICY, WEB

HEADS = 4
BEAM = 4
LAYERS = {"encoder": 2, "decoder": 3, "cross": 3}
LANGUAGES = [
    {"code": "en", "name": "English", "targets": ["de", "fr"]},
    {"code": "de", "name": "German", "targets": ["en"]},
    {"code": "fr", "name": "French", "targets": []},
]
SETTINGS = {
    "charLimit": 2000,
    "keyRequired": False,
    "language": {"source": {"code": "en", "name": "English"}, "target": {"code": "de", "name": "German"}},
}
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def pieces(text: str) -> list[str]:
    """Cut a text into a piece for each word and the end token."""
    return [*(f"▁{word}" for word in text.split()), "</s>"]


def sentences(text: str) -> list[str]:
    """Cut a text at every exclamation mark before a space."""
    return re.split(r"(?<=!) ", text)


def translation(text: str) -> str:
    """Translate by writing every word backwards."""
    return " ".join(word[::-1] for word in text.split())


def rows(count: int, keys: int, *, head: int, causal: bool = False) -> list[list[float]]:
    """Return rows of weights that sum to one: each head has its own distance it likes to look at."""
    table = []
    for query in range(count):
        likes = [math.exp(-abs(key - query + head)) if key <= query or not causal else 0.0 for key in range(keys)]
        table.append([round(like / sum(likes), 5) for like in likes])
    return table


def inspected(q: str, kind: str, layer: int | None) -> dict[str, Any]:
    """Return what `/inspect` answers; a layer turns the heads' likings, and without a number it is the last."""
    layer = LAYERS[kind] if layer is None else layer
    source, target = pieces(q), pieces(translation(q))
    sides = {"encoder": (source, source), "decoder": (target, ["<s>", *target[:-1]]), "cross": (target, source)}
    queries, keys = sides[kind]
    weights = [rows(len(queries), len(keys), head=head - layer, causal=kind == "decoder") for head in range(HEADS)]
    return {
        "translation": translation(q),
        "score": -0.25,
        "kind": kind,
        "layer": layer,
        "layers": LAYERS,
        "heads": HEADS,
        "queries": queries,
        "keys": keys,
        "source_tokens": source,
        "target_tokens": target,
        "weights": weights,
    }


def stepped(q: str) -> Iterator[dict[str, Any]]:
    """Yield the lines that `/steps` streams."""
    source, target = pieces(q), pieces(translation(q))
    cross = [rows(len(target), len(source), head=head) for head in range(HEADS)]
    for at, token in enumerate(target):
        yield {
            "step": at + 1,
            "token": token,
            "probability": 0.7,
            "text": " ".join(target[: at + 1]).replace("▁", ""),
            "candidates": [{"token": token, "probability": 0.7}, {"token": "▁other", "probability": 0.04}],
            "cross": [head[at] for head in cross],
            "source_tokens": source,
        }
    yield {"done": True, "translation": translation(q)}


def searched(q: str, beam: int) -> dict[str, Any]:
    """Return what `/beam` answers: the best path, and beside each of its nodes some that were dropped."""
    nodes = [{"id": 0, "parent": None, "step": 0, "token": "<s>", "log_probability": 0.0, "state": "best"}]
    best = 0
    for step, token in enumerate(pieces(translation(q)), start=1):
        parent = best
        for rank in range(beam):
            state = "best" if rank == 0 else ("finished" if token == "</s>" else "dropped")
            label = token if rank == 0 or token == "</s>" else f"{token}{rank}"
            place = {"id": len(nodes), "parent": parent, "step": step, "token": label}
            nodes.append({**place, "log_probability": -0.2 * step - rank, "state": state})
        best = len(nodes) - beam
    ends = [node for node in nodes if node["step"] == nodes[-1]["step"]]
    hypotheses = [
        {"text": translation(q), "score": -0.1 - rank, "log_probability": node["log_probability"], "node": node["id"]}
        for rank, node in enumerate(ends)
    ]
    return {"translation": translation(q), "beam": beam, "nodes": nodes, "hypotheses": hypotheses}


def positions(length: int, width: int) -> dict[str, Any]:
    """Return the sinusoids and their dot products."""
    table = [
        [math.sin(at / 10000 ** (2 * (d // 2) / width) + (d % 2) * math.pi / 2) for d in range(width)]
        for at in range(length)
    ]
    products = [[sum(a * b for a, b in zip(one, other, strict=True)) for other in table] for one in table]
    return {"encodings": table, "dot_products": products}


class StandIn(ThreadingHTTPServer):
    """The server; `asked` lists what came in, and a text that begins with "slow" waits until `release` is set."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.release = threading.Event()
        self.settings: dict[str, Any] = dict(SETTINGS)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def bodies(self, path: str) -> list[dict[str, Any]]:
        """Return the bodies that were posted to a path."""
        return [body for asked, body in self.asked if asked == path]


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    server: StandIn

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def send(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        """Answer."""
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def send_json(self, answer: Any) -> None:
        """Answer with JSON."""
        self.send(200, json.dumps(answer).encode())

    def do_GET(self) -> None:
        """Answer with a file of the page or a fact."""
        url = urlsplit(self.path)
        if url.path == "/languages":
            self.send_json(LANGUAGES)
        elif url.path == "/frontend/settings":
            self.send_json(self.server.settings)
        elif url.path == "/positions":
            asked = {name: int(values[0]) for name, values in parse_qs(url.query).items()}
            self.server.asked.append((url.path, asked))
            self.send_json(positions(**asked))
        else:
            file = WEB / ("index.html" if url.path == "/" else url.path.removeprefix("/static/"))
            found = file.is_file()
            content, kind = (file.read_bytes(), TYPES[file.suffix]) if found else (b"", "text/plain")
            self.send(200 if found else 404, content, kind, Content_Security_Policy=POLICY)

    def do_POST(self) -> None:
        """Answer what a model would."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body))
        q = body["q"]
        if q.startswith("slow"):
            self.server.release.wait(timeout=60)
        if q.startswith("refuse"):
            self.send(400, json.dumps({"error": f"{q} is not a text"}).encode())
        elif q.startswith("busy"):
            self.send(503, json.dumps({"error": "Too many requests."}).encode(), Retry_After="7")
        elif body.get("sentence", 1) > len(sentences(q)):
            self.send(400, json.dumps({"error": "there is no such sentence"}).encode())
        elif self.path == "/sentences":
            self.send_json({"sentences": sentences(q)})
        elif self.path == "/translate":
            self.send_json(self.translated(body))
        elif self.path == "/inspect":
            self.send_json(inspected(sentences(q)[body["sentence"] - 1], body["kind"], body.get("layer")))
        elif self.path == "/beam":
            self.send_json(searched(sentences(q)[body["sentence"] - 1], body.get("beam", BEAM)))
        elif self.path == "/steps":
            self.stream(stepped(sentences(q)[body["sentence"] - 1]))

    def translated(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return what `/translate` answers."""
        best = translation(body["q"])
        scores = [-0.5 - rank for rank in range(body["alternatives"])]
        alternatives = [f"{best} {rank + 1}" for rank in range(body["alternatives"])]
        answer = {"translatedText": best, "score": -0.25, "alternatives": alternatives, "alternativeScores": scores}
        if body["source"] == "auto":
            answer["detectedLanguage"] = {"language": "de" if "und" in body["q"] else "en", "confidence": 90.0}
        if body["source"] == "auto" and body["q"] == "OK":
            answer["detectedLanguage"] = {"language": "en", "confidence": 30.0}
            answer["likelyLanguages"] = [
                {"language": code, "confidence": share} for code, share in (("de", 40.0), ("en", 30.0), ("fr", 30.0))
            ]
        return answer

    def stream(self, lines: Iterator[dict[str, Any]]) -> None:
        """Answer in chunks, a line each."""
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in lines:
            chunk = json.dumps(line).encode() + b"\n"
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")


@contextmanager
def stand_in() -> Iterator[StandIn]:
    """Run a stand-in for the length of the block."""
    server = StandIn()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.release.set()
        server.shutdown()
        server.server_close()
        thread.join()
