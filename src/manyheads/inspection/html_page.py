"""One HTML file with every layer and head of one text, which works offline: styles, script and data are inside it.

Tokens are data. They stand in the file as JSON in which `<`, `>` and `&` are written as escapes, the script puts them
on the page as text, and the page's policy lets no other script run and nothing be loaded.
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from string import Template

import numpy as np

from manyheads.inspection.views import Everything

DIGITS = 3  # of weights; more would only make the file larger


def html_page(seen: Everything) -> str:
    """Return the page that shows what was seen."""
    style, script = _part("page.css"), _part("page.js")
    return Template(_part("page.html")).substitute(
        style=style, style_hash=_hash(style), script=script, script_hash=_hash(script), data=_inert(_data(seen))
    )


def still_page(title: str, fragment: str) -> str:
    """Return a page without script around a fragment; the fragment is HTML, whose texts are escaped already."""
    return Template(_part("still.html")).substitute(title=escape(title), fragment=fragment)


def _part(name: str) -> str:
    """Return a file that comes with the package."""
    return (files("manyheads.inspection") / "page" / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """Return the hash by which a page's policy knows what it may run."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode('utf-8')).digest()).decode('ascii')}"


def _data(seen: Everything) -> dict[str, object]:
    """Return what the page's script needs."""
    return {
        "text": seen.text,
        "translation": seen.translation,
        "heads": seen.heads,
        "source_tokens": seen.source_tokens,
        "target_tokens": seen.target_tokens,
        "target_inputs": seen.target_inputs,
        "attention": {
            kind: np.round(weights.astype(np.float64), DIGITS).tolist() for kind, weights in seen.attention.items()
        },
    }


def _inert(values: dict[str, object]) -> str:
    """Return values as JSON that no HTML parser can take for a tag."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
