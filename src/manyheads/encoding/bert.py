"""Texts and pairs as contextual vectors.

bert = Bert.from_folder("runs/minilm")
bert.encode(["The animal was tired.", ("Who was tired?", "The animal.")]).last_hidden_state   # [B, S, D]
for found in bert.stream(lines, pool="mean"):
    found.vectors                                                                             # [D]
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from manyheads.config.bert import BertConfig
from manyheads.data.wordpiece import Row, Text, WordPiece
from manyheads.exchange.bert import is_hugging_face, read_bert
from manyheads.models.bert import BertInputs, BertModel
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import choose_device, fill_parameters
from manyheads.runs.weights import Arrays, read_weights

Pool = Literal["none", "mean", "cls"]

STREAM_TEXTS = 1024  # texts held at a time: enough to sort them by length, and nothing that grows with the input


class Encoded(NamedTuple):
    """Contextual vectors [B, S, D], and 1 where a token is real and 0 where it is padding [B, S]."""

    last_hidden_state: Tensor
    attention_mask: Tensor


@dataclass(frozen=True)
class Vectors:
    """What became of one text: its tokens, and one vector for each of them [S, D] or one for all [D]."""

    text: Text
    tokens: list[str]
    vectors: NDArray[np.float32]
    truncated: bool


class Bert:
    """A BERT with its tokenizer."""

    def __init__(self, model: BertModel, tokenizer: WordPiece, config: BertConfig) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.config = config

    @classmethod
    def from_folder(cls, folder: Path | str, *, device: str = "auto") -> Bert:
        """Load a run folder with a BERT in it, or a folder from Hugging Face as it is."""
        place = Path(folder)
        if is_hugging_face(place):
            found = read_bert(place)
            return cls._filled(found.config, found.weights, found.tokenizer, where=str(folder), device=device)
        run = RunFolder.open(place)
        config, tokenizer = run.bert_config(), WordPiece.load(run.tokenizer_folder)
        return cls._filled(
            config, read_weights(run.weights_file), tokenizer, where=str(run.weights_file), device=device
        )

    @classmethod
    def _filled(cls, config: BertConfig, weights: Arrays, tokenizer: WordPiece, *, where: str, device: str) -> Bert:
        """Build the model and fill it."""
        with torch.device("meta"):  # every weight is about to be replaced, so none need be drawn
            model = BertModel.from_settings(config.model, vocabulary=config.vocabulary)
        model.to_empty(device=choose_device(device))
        fill_parameters(model, weights, where=where)
        return cls(model, tokenizer, config)

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return self.model.embedding.tokens.device

    def tokenize(self, texts: Sequence[Text], *, longest: int | None = None) -> BertInputs:
        """Return `input_ids`, `attention_mask` and `token_type_ids` [B, S]; what is too long is cut off."""
        return self._inputs(self._rows(texts, longest))

    @torch.inference_mode()
    def encode(self, texts: Sequence[Text], *, longest: int | None = None) -> Encoded:
        """Return the last hidden state [B, S, D] of texts and pairs, and which of its positions are real [B, S]."""
        inputs = self.tokenize(texts, longest=longest).to(self.device)
        return Encoded(self.model(inputs), inputs.attention_mask)

    def stream(
        self, texts: Iterable[Text], *, pool: Pool = "none", batch: int = 32, longest: int | None = None
    ) -> Iterator[Vectors]:
        """Yield the vectors of texts as they come, in their order, holding only some of them at a time."""
        remaining = iter(texts)
        while chunk := list(itertools.islice(remaining, STREAM_TEXTS)):
            yield from self._encode_chunk(chunk, pool, batch, longest)

    def _encode_chunk(self, texts: list[Text], pool: Pool, batch: int, longest: int | None) -> list[Vectors]:
        """Encode texts in batches of similar length, and put them back in order."""
        rows = self._rows(texts, longest)
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        vectors: dict[int, NDArray[np.float32]] = {}
        for begin in range(0, len(order), batch):
            numbers = order[begin : begin + batch]
            found = self._vectors([rows[i] for i in numbers], pool)
            vectors.update(zip(numbers, found, strict=True))
        return [
            Vectors(text, self.tokenizer.pieces(row.ids), vectors[i], row.truncated)
            for i, (text, row) in enumerate(zip(texts, rows, strict=True))
        ]

    @torch.inference_mode()
    def _vectors(self, rows: Sequence[Row], pool: Pool) -> list[NDArray[np.float32]]:
        """Return the vectors of one batch, pooled as asked."""
        inputs = self._inputs(rows).to(self.device)
        states = self.model(inputs)
        if pool == "none":
            return [state[: len(row)].cpu().numpy() for state, row in zip(states, rows, strict=True)]
        pooled = states[:, 0] if pool == "cls" else mean_of_real(states, inputs.attention_mask)
        return list(pooled.cpu().numpy())

    def _rows(self, texts: Sequence[Text], longest: int | None) -> list[Row]:
        """Return texts as rows of no more tokens than the model has positions."""
        positions = self.config.model.positions
        return self.tokenizer.encode(texts, longest=min(longest or positions, positions))

    def _inputs(self, rows: Sequence[Row]) -> BertInputs:
        """Lay rows out as tensors."""
        return BertInputs(*map(torch.from_numpy, self.tokenizer.lay_out(rows)))


def mean_of_real(states: Tensor, mask: Tensor) -> Tensor:
    """Return the mean [B, D] of the states [B, S, D] of all real tokens, special ones included."""
    weights = mask[:, :, None].to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1)
