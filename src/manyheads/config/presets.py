"""Model sizes by name: the paper's base and big, and two for laptops."""

from __future__ import annotations

from typing import Any

from manyheads.config.model import ModelSettings

MODEL_PRESETS: dict[str, dict[str, Any]] = {
    "tiny": {"width": 128, "heads": 4, "encoder_layers": 4, "decoder_layers": 4, "feed_forward": 256},
    "small": {"width": 256, "heads": 4, "encoder_layers": 3, "decoder_layers": 3, "feed_forward": 1024},
    "base": {"width": 512, "heads": 8, "encoder_layers": 6, "decoder_layers": 6, "feed_forward": 2048},
    "big": {
        "width": 1024,
        "heads": 16,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "feed_forward": 4096,
        "dropout": 0.3,  # table 3 of the paper; 0.1 for English–French
    },
}


def model_preset(name: str) -> ModelSettings:
    """Return the settings of a named size."""
    return ModelSettings(preset=name, **MODEL_PRESETS[name])
