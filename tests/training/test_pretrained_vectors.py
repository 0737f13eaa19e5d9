"""Embeddings that start from pretrained word vectors: loaded by word, scaled like ours, frozen or fine-tuned."""

import numpy as np
import pytest
import torch

from helpers import prepared
from manyheads.config.reading import build_recipe
from manyheads.runs.folder import RunFolder
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer

WIDTH = 16


@pytest.fixture
def vectors_file(tmp_path):
    """Vectors for the letters a to h; the task has others too."""
    rows = np.random.default_rng(1).normal(3.0, 5.0, size=(8, WIDTH))
    path = tmp_path / "vectors.txt"
    lines = (
        f"{letter} {' '.join(f'{value:.6f}' for value in row)}\n" for letter, row in zip("abcdefgh", rows, strict=True)
    )
    path.write_text("".join(lines), encoding="utf-8")
    return path, rows


def preparation(path, tmp_path, *, freeze):
    recipe = build_recipe(
        {
            "data": {
                "train": {"task": "copy", "count": 200, "options": {"symbols": 12}},
                "valid": {"task": "copy", "count": 5, "options": {"symbols": 12}},
            },
            "tokenizer": {"kind": "symbols"},
            "model": {
                "width": WIDTH,
                "heads": 2,
                "encoder_layers": 1,
                "decoder_layers": 1,
                "feed_forward": 16,
                "vectors": {"source": str(path), "freeze": freeze},
            },
            "training": {"steps": 3, "batch_tokens": 256, "schedule": {"kind": "constant", "rate": 0.01, "warmup": 0}},
            "validation": {"metric": "exact_match"},
        }
    )
    return prepared(recipe, RunFolder(tmp_path / "run"), lambda text: None)


def test_known_words_get_their_vectors_and_the_report_says_how_many(vectors_file, tmp_path):
    path, rows = vectors_file
    parts, told = preparation(path, tmp_path, freeze=False), []
    model = parts.new_model(device=torch.device("cpu"), tell=told.append)
    pieces = parts.tokenizers.source.vocabulary()
    found = torch.stack([model.source.vectors[pieces.index(f"▁{letter}")] for letter in "abcdefgh"]).detach()
    wanted = torch.tensor(rows, dtype=torch.float32)
    cosine = torch.nn.functional.cosine_similarity(found, wanted)
    assert torch.allclose(cosine, torch.ones(8), atol=1e-5)
    assert abs(float(found.std()) - WIDTH**-0.5) < 1e-4  # the scale of embeddings drawn at random
    assert any(f"found 8 of {len(pieces)}" in line for line in told)


@pytest.mark.parametrize("freeze", [True, False])
def test_frozen_vectors_stay_and_others_learn(vectors_file, tmp_path, freeze):
    trainer = Trainer(
        preparation(vectors_file[0], tmp_path, freeze=freeze), device=torch.device("cpu"), reporter=Reporter()
    )
    before = trainer.model.source.vectors.detach().clone()
    assert trainer.train() == "finished"
    assert torch.equal(trainer.model.source.vectors.detach(), before) == freeze


def test_vectors_of_another_width_are_refused_with_both_widths(tmp_path):
    from manyheads.errors import ManyheadsError

    path = tmp_path / "narrow.txt"
    path.write_text("a 1.0 2.0 3.0\nb 1.0 2.0 3.0\n", encoding="utf-8")
    parts = preparation(path, tmp_path, freeze=False)
    with pytest.raises(ManyheadsError, match=rf"3.*{WIDTH}|{WIDTH}.*3"):
        parts.new_model(device=torch.device("cpu"), tell=lambda text: None)
