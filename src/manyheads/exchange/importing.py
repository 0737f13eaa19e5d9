"""A folder from Hugging Face as a run folder, by the type that its `config.json` names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from manyheads.exchange.bert import hugging_face_type, import_bert
from manyheads.exchange.huggingface import import_huggingface

Check = Callable[[Path, Path], None]
"""Compares a run folder with the folder that it was imported from."""


def import_model(folder: Path, out: Path, *, check: Check) -> tuple[str, ...]:
    """Write the run folder of an encoder (BERT) or of a translator (Marian); return the weights that were left out."""
    if hugging_face_type(folder) in ("bert", None):  # without a type, the error says what is wrong with the folder
        return tuple(import_bert(folder, out).left_out)
    import_huggingface(folder, out, check=check)
    return ()
