"""The HTML file: complete in itself, and whatever a token spells is text in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from manyheads.inspection.html_page import html_page
from manyheads.inspection.views import Everything

EVIL = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!--<script>",
    "&lt;/script&gt;",
    "]]>",
    "\u2028",
    "$data",
    "▁年",
]


def seen_with(tokens: list[str]) -> Everything:
    """Return what an inspector would of a text with these tokens on both sides."""
    count = len(tokens)
    weights = np.random.default_rng(1).dirichlet(np.ones(count), size=(2, 3, count)).astype(np.float32)
    attention = {"encoder": weights, "decoder": weights, "cross": weights}
    nothing = np.zeros((count, 1), dtype=np.float32)
    text = " ".join(tokens)
    return Everything(text, text, 0.0, 0.0, tokens, tokens, ["<s>", *tokens[:-1]], [0] * count, attention, {}, nothing)


class Reader(HTMLParser):
    """Collects what a browser would see: elements in their order, and the content of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.contents: dict[str, list[str]] = {"script": [], "style": []}
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag
        if tag in self.contents:
            self.contents[tag].append("")

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside in self.contents:
            self.contents[self._inside][-1] += data


def test_tokens_that_look_like_markup_add_no_element():
    harmless, evil = Reader(html_page(seen_with(list("abcdefgh")))), Reader(html_page(seen_with(EVIL)))
    assert evil.elements == harmless.elements
    assert evil.contents["script"][1:] == harmless.contents["script"][1:]  # the script itself, not the data


def test_the_data_in_the_page_are_the_tokens_and_weights_as_they_were():
    seen = seen_with(EVIL)
    data = json.loads(Reader(html_page(seen)).contents["script"][0])
    assert data["source_tokens"] == data["target_tokens"] == EVIL
    assert data["text"] == " ".join(EVIL)
    assert np.allclose(data["attention"]["cross"], seen.attention["cross"], atol=1e-3)


def test_the_page_asks_for_nothing_from_elsewhere():
    page = html_page(seen_with(["a", "b"]))
    assert not re.search(r"https?:|//[a-z]|url\(|@import|\bimport\b|fetch\(|XMLHttpRequest", page)
    for name, attributes in Reader(page).elements:
        assert not {"src", "href", "srcset", "action"} & attributes.keys(), name
        assert not any(key.startswith("on") for key in attributes), name


def test_the_policy_allows_the_pages_own_script_and_style_and_nothing_else():
    reader = Reader(html_page(seen_with(EVIL)))
    (policy,) = [one["content"] for _, one in reader.elements if one.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.split(maxsplit=1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for part, content in (("script", reader.contents["script"][1]), ("style", reader.contents["style"][0])):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[f"{part}-src"] == f"'sha256-{digest}'"


def test_the_script_writes_what_it_shows_as_text_only():
    script = Reader(html_page(seen_with(["a"]))).contents["script"][1]
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert forbidden not in script


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_has_a_light_and_a_dark_side(scheme):
    style = Reader(html_page(seen_with(["a"]))).contents["style"][0]
    assert re.search(r"color-scheme:[^;]*" + scheme, style)
    assert "prefers-color-scheme: dark" in style
