"""Checks a conversion: the largest difference between the logits of a run and of a Hugging Face model.

The weights of the Hugging Face model are read here, as safetensors alone. transformers would look for other files too,
and read a pickle where an index or a missing file leads it to one.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyheads.config.tasks.translation import TranslationConfig
from manyheads.errors import ManyheadsError
from manyheads.exchange.huggingface import read_arrays

TOLERANCE = 1e-3  # relative to the largest logit: far above rounding errors, far below the effect of a wrong weight


def compare(run: Path, folder: Path) -> float | None:
    """Return the largest difference in logits between a run and a Hugging Face folder; None without transformers.

    Raises an error if the difference is too large to be rounding.
    """
    if find_spec("transformers") is None:
        return None
    run_logits, folder_logits = _logits(run, folder)
    difference = float(np.abs(run_logits - folder_logits).max())
    if not difference <= TOLERANCE * max(1.0, float(np.abs(run_logits).max())):
        raise ManyheadsError(
            f"the run and the Hugging Face model give different outputs: logits differ by {difference:.3g}.",
            where=str(folder),
            cure="Please report this with the folder's config.json.",
        )
    return difference


def _logits(run: Path, folder: Path) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the logits [N, V] of the run and of the Hugging Face model for random tokens, without padding."""
    import torch

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
    mask = (torch.arange(source.ids.shape[1]) < source.lengths[:, None]).long()
    marian = _marian(folder)
    with torch.inference_mode():
        run_logits = model.logits(model.decode(target.ids, model.encode(source)).hidden)
        folder_logits = marian(input_ids=source.ids, attention_mask=mask, decoder_input_ids=target.ids).logits
    return run_logits[real].numpy(), folder_logits[real].numpy()


def _marian(folder: Path) -> Any:  # noqa: ANN401 (a class of transformers, which has no types)
    """Return the Hugging Face model of a folder; tied matrices that the files do not name follow from the others."""
    import torch
    from transformers import MarianConfig, MarianMTModel

    marian: Any = MarianMTModel(MarianConfig.from_pretrained(folder, dtype="float32"))
    weights = {name: torch.from_numpy(array) for name, array in read_arrays(folder).items()}
    try:
        marian.load_state_dict(weights, strict=False)
    except RuntimeError as error:  # a matrix of another shape, which a run does not need
        raise ManyheadsError(f"these weights do not fit Marian: {error}.", where=str(folder)) from None
    marian.tie_weights()
    return marian.eval()
