"""Hugging Face's MarianMTModel in a plain loop, with the attention implementation it chooses by itself (SDPA)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor
from transformers import MarianConfig, MarianMTModel
from worker import DROPOUT, END, FEED_FORWARD, HEADS, LAYERS, PAD, SMOOTHING, START, WIDTH


class HuggingFace:
    """MarianMTModel of the same size, embeddings shared."""

    def __init__(self, vocabulary: int) -> None:
        config = MarianConfig(
            vocab_size=vocabulary,
            d_model=WIDTH,
            encoder_layers=LAYERS,
            decoder_layers=LAYERS,
            encoder_attention_heads=HEADS,
            decoder_attention_heads=HEADS,
            encoder_ffn_dim=FEED_FORWARD,
            decoder_ffn_dim=FEED_FORWARD,
            activation_function="relu",
            dropout=DROPOUT,
            attention_dropout=0.0,
            activation_dropout=0.0,
            scale_embedding=True,
            init_std=WIDTH**-0.5,
            pad_token_id=PAD,
            eos_token_id=END,
            decoder_start_token_id=START,
            forced_eos_token_id=None,
        )
        self.model = MarianMTModel(config)

    def _logits(self, batch: dict[str, Tensor]) -> Tensor:
        source = batch["source"]
        out = self.model(
            input_ids=source, attention_mask=source != PAD, decoder_input_ids=batch["target_in"], use_cache=False
        )
        return out.logits.flatten(0, 1)

    def loss(self, batch: dict[str, Tensor]) -> Tensor:
        """Return the label-smoothed loss per target token."""
        targets = batch["target_out"].flatten()
        return F.cross_entropy(self._logits(batch), targets, ignore_index=PAD, label_smoothing=SMOOTHING)

    def negative_log_likelihood(self, batch: dict[str, Tensor]) -> Tensor:
        """Return the summed negative log-likelihood."""
        return F.cross_entropy(self._logits(batch), batch["target_out"].flatten(), ignore_index=PAD, reduction="sum")


def build(vocabulary: int) -> HuggingFace:
    """Return the contender."""
    return HuggingFace(vocabulary)
