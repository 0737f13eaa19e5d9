"""The formula for a batch's FLOPs equals counting them in a real update."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from helpers import SPECIAL, VOCABULARY, tiny_settings
from manyheads.config.tasks.translation import TranslationConfig
from manyheads.data.batches.pairs import PairBatch
from manyheads.models.build import build_model
from manyheads.tasks.teacher_forcing import PairTensors, TranslationObjective


def batch_of(source_lengths: list[int], target_lengths: list[int]) -> PairBatch:
    rows = len(source_lengths)
    source, target = (np.full((rows, max(lengths)), SPECIAL.end) for lengths in (source_lengths, target_lengths))
    return PairBatch(source, np.array(source_lengths), target, target, np.array(target_lengths), np.arange(rows))


@pytest.mark.parametrize("r_drop", [0.0, 5.0])
@pytest.mark.parametrize("lengths", [([5, 3, 1], [4, 7, 2]), ([60, 50], [3, 9]), ([2], [90])])
def test_the_formula_equals_the_count_of_a_real_update(lengths, r_drop):
    shape = tiny_settings(width=16, feed_forward=40, encoder_layers=1, decoder_layers=3)
    config = TranslationConfig(model=shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    batch = batch_of(*lengths)
    objective = TranslationObjective(build_model(config, device="meta"), smoothing=0.1, r_drop=r_drop)
    with FlopCounterMode(display=False) as counted:
        loss, _ = objective(PairTensors.move(batch, torch.device("meta")))
        loss.backward()
    assert objective.flops(batch) == counted.get_total_flops()
