"""What decoder-only models are made of, whatever they remember: embeddings, layers, a norm, and an output layer."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, nn

from manyheads.layers.embedding import Embedding
from manyheads.layers.norms import Normalization


class DecoderOnly(nn.Module):
    """The parts of a decoder-only model."""

    def __init__(
        self, embedding: Embedding, layers: Iterable[nn.Module], output: nn.Parameter, *, normalization: Normalization
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.ModuleList(layers)
        self.final_norm = normalization.final_norm(output.shape[1])
        self.output = output  # [V, D]; the same parameter as the embeddings' where they are tied

    @property
    def output_vectors(self) -> Tensor:
        """The output layer's weights [V, D]."""
        return self.output
