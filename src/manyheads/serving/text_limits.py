"""Limits on the texts of a request, which are checked before it waits for anything."""

from __future__ import annotations

from manyheads.serving.api_errors import too_large
from manyheads.serving.bodies import Fields
from manyheads.serving.options import ServerOptions


def check_size(fields: Fields, options: ServerOptions) -> None:
    """Raise an error for too many texts, or too many characters in all of them."""
    texts = fields.values.get("q")
    texts = texts if isinstance(texts, list) else [texts]
    if len(texts) > options.batch_limit:
        raise too_large(len(texts), options.batch_limit, of="texts")
    characters = sum(len(text) for text in texts if isinstance(text, str))
    if characters > options.char_limit:
        raise too_large(characters, options.char_limit, of="characters")
