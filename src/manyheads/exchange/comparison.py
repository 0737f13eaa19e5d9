"""Whether a model says the same here and at Hugging Face: the largest difference of two models' logits."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyheads.config.tasks.translation import TranslationConfig
from manyheads.errors import ManyheadsError

TOLERANCE = 1e-3  # of the largest logit; rounding stays far below it, a mistake far above


def compare(run: Path, folder: Path) -> float | None:
    """Return the largest difference of logits between a run and a Hugging Face folder; None without transformers.

    A difference that cannot be rounding is an error.
    """
    if find_spec("transformers") is None:
        return None
    ours, theirs = _logits(run, folder)
    difference = float(np.abs(ours - theirs).max())
    if not difference <= TOLERANCE * max(1.0, float(np.abs(ours).max())):
        raise ManyheadsError(
            f"the model does not say the same here and there: logits differ by {difference:.3g}.",
            where=str(folder),
            cure="Please report this with the folder's config.json.",
        )
    return difference


def _logits(run: Path, folder: Path) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return both models' logits [N, V] at every real position of some sentences of random tokens."""
    import torch
    from transformers import MarianMTModel

    from manyheads.models.interface import SequenceToSequence, Tokens
    from manyheads.runs.folder import RunFolder
    from manyheads.runs.loading import load_model

    opened = RunFolder(run)
    config, model = opened.config_for(TranslationConfig), load_model(SequenceToSequence, opened)
    generator = np.random.default_rng(1)
    lengths = range(1, 17, 3)
    rows = [
        [[*generator.integers(0, size, length).tolist(), config.end] for length in lengths]
        for size in (config.source_vocabulary, config.target_vocabulary)
    ]
    source, target = (Tokens.pad(side, padding=config.pad) for side in rows)
    real = torch.arange(target.ids.shape[1]) < target.lengths[:, None]
    seen = (torch.arange(source.ids.shape[1]) < source.lengths[:, None]).long()
    other: Any = MarianMTModel.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        ours = model.logits(model.decode(target.ids, model.encode(source)).hidden)
        theirs = other.eval()(input_ids=source.ids, attention_mask=seen, decoder_input_ids=target.ids).logits
    return ours[real].numpy(), theirs[real].numpy()
