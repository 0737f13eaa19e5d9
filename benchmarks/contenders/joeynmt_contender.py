"""JoeyNMT 2.3.0: its own model, batch and loss, called as its trainer calls them.

It has dropouts inside attention and feed-forward that no setting of it switches off, so they are on.
"""

from __future__ import annotations

from types import SimpleNamespace

import torch
import torch.nn.functional as F
from joeynmt.batch import Batch
from joeynmt.model import build_model
from joeynmt.vocabulary import Vocabulary
from torch import Tensor
from worker import DROPOUT, END, FEED_FORWARD, HEADS, LAYERS, PAD, SMOOTHING, START, WIDTH


def _half() -> dict[str, object]:
    """Return the configuration of an encoder or a decoder."""
    return {
        "type": "transformer",
        "num_layers": LAYERS,
        "num_heads": HEADS,
        "embeddings": {"embedding_dim": WIDTH, "scale": True, "dropout": DROPOUT},
        "hidden_size": WIDTH,
        "ff_size": FEED_FORWARD,
        "dropout": DROPOUT,
        "layer_norm": "post",
        "activation": "relu",
    }


class JoeyNMT:
    """Transformer-Tiny of the same size, embeddings and output layer tied."""

    def __init__(self, vocabulary: int) -> None:
        symbols = SimpleNamespace(
            unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>", sep_token=None,
            unk_id=0, pad_id=1, bos_id=2, eos_id=3, sep_id=None, lang_tags=[],
        )  # fmt: skip
        words = Vocabulary([f"w{i}" for i in range(vocabulary - 4)], symbols)
        config = {
            "encoder": _half(),
            "decoder": _half(),
            "tied_embeddings": True,
            "tied_softmax": True,
            "initializer": "xavier_uniform",
            "embed_initializer": "xavier_uniform",
        }
        self.model = build_model(config, src_vocab=words, trg_vocab=words)
        self.model.loss_function = ("crossentropy", SMOOTHING)

    def _batch(self, batch: dict[str, Tensor]) -> Batch:
        """Return the same batch in JoeyNMT's terms: its ids of padding and unknown are the other way round."""
        swap = torch.tensor([1, 0])
        source, target = (
            torch.where(ids < 2, swap[ids.clamp(max=1)], ids)
            for ids in (batch["source"], torch.cat([batch["target_in"][:, :1], batch["target_out"]], dim=1))
        )
        assert int(target[0, 0]) == START and PAD == 0 and END == 3
        return Batch(
            source, batch["source_lengths"], None, target, None, torch.arange(len(source)), torch.device("cpu"), 1, 3
        )

    def loss(self, batch: dict[str, Tensor]) -> Tensor:
        """Return the label-smoothed loss per target token."""
        joey = self._batch(batch)
        joey.sort_by_src_length()
        loss, _, _, _ = self.model(return_type="loss", **vars(joey))
        return joey.normalize(loss, normalization="tokens")

    def negative_log_likelihood(self, batch: dict[str, Tensor]) -> Tensor:
        """Return the summed negative log-likelihood."""
        joey = self._batch(batch)
        _, log_probabilities, _, _ = self.model(return_type="loss", **vars(joey))
        return F.nll_loss(log_probabilities.flatten(0, 1), joey.trg.flatten(), ignore_index=1, reduction="sum")


def build(vocabulary: int) -> JoeyNMT:
    """Return the contender."""
    return JoeyNMT(vocabulary)
