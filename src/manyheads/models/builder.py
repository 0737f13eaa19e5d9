"""From a configuration to a model, of whatever kind it names."""

from __future__ import annotations

import torch

from manyheads.config.schema import ModelConfig
from manyheads.models.interface import SequenceToSequence
from manyheads.models.transformer import Transformer


def build_model(config: ModelConfig, *, device: torch.device | str = "cpu") -> SequenceToSequence:
    """Build the configured model with fresh weights; on the device "meta" it takes no memory."""
    with torch.device(device):
        return Transformer.from_settings(
            config.model,
            source_vocabulary=config.source_vocabulary,
            target_vocabulary=config.target_vocabulary,
        )
