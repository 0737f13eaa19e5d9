"""Manyheads: the Transformer of "Attention Is All You Need", complete.

    from manyheads import Translator
    Translator("runs/dates").translate("15 novembre 2026")  # '2026-11-15'

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from manyheads.attention.masks import Mask as Mask
    from manyheads.attention.multi_head import MultiHeadAttention as MultiHeadAttention
    from manyheads.attention.recording import record_attention as record_attention
    from manyheads.decoding.translator import Translator as Translator
    from manyheads.encoding.bert import Bert as Bert
    from manyheads.errors import ManyheadsError as ManyheadsError
    from manyheads.inspection.inspector import Inspector as Inspector
    from manyheads.models.transformer import Transformer as Transformer

__version__ = "0.1.0"

_PLACES = {
    "Bert": "manyheads.encoding.bert",
    "Inspector": "manyheads.inspection.inspector",
    "ManyheadsError": "manyheads.errors",
    "Mask": "manyheads.attention.masks",
    "MultiHeadAttention": "manyheads.attention.multi_head",
    "Transformer": "manyheads.models.transformer",
    "Translator": "manyheads.decoding.translator",
    "record_attention": "manyheads.attention.recording",
}

__all__ = [*_PLACES, "__version__"]


def __dir__() -> list[str]:
    """Return the names of the package, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    """Import a public name from its room on first use."""
    if name not in _PLACES:
        raise AttributeError(f"module 'manyheads' has no attribute '{name}'")
    return getattr(import_module(_PLACES[name]), name)
