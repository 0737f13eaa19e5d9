"""One HTML file with all layers and heads for a text. It works offline: styles, script and data are inside it.

Tokens are data, never markup. The file has them as JSON in which `<`, `>` and `&` are escaped, the script inserts them
as text nodes, and the page's content security policy blocks all other scripts and all loading.
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

DIGITS = 3  # decimal places of weights; more would only make the file larger


def html_page(seen: Everything) -> str:
    """Return the interactive page for a text."""
    style, script = _template("page.css"), _template("page.js")
    return Template(_template("page.html")).substitute(
        style=style, style_hash=_hash(style), script=script, script_hash=_hash(script), data=_safe_json(_data(seen))
    )


def static_page(title: str, fragment: str) -> str:
    """Return a page without script around an HTML fragment, whose texts must be escaped already."""
    return Template(_template("still.html")).substitute(title=escape(title), fragment=fragment)


def _template(name: str) -> str:
    """Return the content of a file of the package."""
    return (files("manyheads.inspection") / "page" / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """Return the hash of an inline script or style, for the content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode('utf-8')).digest()).decode('ascii')}"


def _data(seen: Everything) -> dict[str, object]:
    """Return the data for the page's script."""
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


def _safe_json(values: dict[str, object]) -> str:
    """Return values as JSON without any character that an HTML parser could read as a tag."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
