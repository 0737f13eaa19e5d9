"""Texts and pairs as contextual vectors.

encoder = Encoder.from_folder("runs/minilm")
encoder.encode(["The animal was tired.", ("Who was tired?", "The animal.")]).last_hidden_state   # [B, S, D]
for found in encoder.stream(lines, pool="mean"):
    found.vectors                                                                             # [D]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from manyheads.config.tasks.reading import ReadingConfig, ReadingTaskName
from manyheads.data.tokens.wordpiece import Row, Text, WordPiece
from manyheads.errors import ManyheadsError
from manyheads.exchange.bert import is_hugging_face, read_bert
from manyheads.models.build import build
from manyheads.models.interface import EncoderInputs, TextEncoder
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import SkipInitialisation, choose_device, fill_model
from manyheads.runs.weights import Arrays, read_weights

Pool = Literal["none", "mean", "cls"]
Found = TypeVar("Found")
One = TypeVar("One")

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


@dataclass(frozen=True)
class Label:
    """The label of a text, and how probable the model finds it."""

    name: str
    probability: float


@dataclass(frozen=True)
class Answer:
    """The words of a context that answer a question, where they start in it, and how probable the model finds them."""

    text: str
    start: int
    probability: float


class Encoder:
    """Encodes texts as vectors, classifies them and answers questions, with a BERT.

    `Encoder.from_folder` loads one. The tasks for which there are labels or answers depend on what the model was
    trained for.

    Args:
        model: The model. It is set to evaluation mode.
        tokenizer: Its tokenizer.
        config: Its configuration.
    """

    def __init__(self, model: TextEncoder, tokenizer: WordPiece, config: ReadingConfig) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.config = config

    @classmethod
    def from_folder(cls, folder: PathLike[str] | str, *, device: str = "auto") -> Encoder:
        """Load an encoder.

        Args:
            folder: A run folder with such a model, or a folder of a BERT from Hugging Face.
            device: Where to compute: `auto`, `cpu`, `cuda` or `mps`.

        Raises:
            ManyheadsError: If the folder has no such model.
        """
        place = Path(folder)
        if is_hugging_face(place):
            found = read_bert(place)
            return cls._filled(found.config, found.weights, found.tokenizer, where=str(place), device=device)
        run = RunFolder.open(place)
        config, tokenizer = run.config_for(ReadingConfig), WordPiece.load(run.tokenizer_folder)
        return cls._filled(
            config, read_weights(run.weights_file), tokenizer, where=str(run.weights_file), device=device
        )

    @classmethod
    def _filled(
        cls, config: ReadingConfig, weights: Arrays, tokenizer: WordPiece, *, where: str, device: str
    ) -> Encoder:
        """Build the model and fill it."""
        with SkipInitialisation():
            model = build(TextEncoder, config)
        model.to(choose_device(device))
        fill_model(model, weights, where=where)
        return cls(model, tokenizer, config)

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return self.model.device

    def tokenize(self, texts: Sequence[Text], *, longest: int | None = None) -> EncoderInputs:
        """Return `input_ids`, `attention_mask` and `token_type_ids` [B, S].

        Args:
            texts: Texts, or pairs of texts.
            longest: The number of tokens to which texts are truncated. By default, as many as the model has positions.
        """
        return self._inputs(self._rows(texts, longest))

    @torch.inference_mode()
    def encode(self, texts: Sequence[Text], *, longest: int | None = None) -> Encoded:
        """Return the last hidden state [B, S, D] of texts, and which of its positions are not padding [B, S].

        Args:
            texts: Texts, or pairs of texts.
            longest: The number of tokens to which texts are truncated.
        """
        inputs = self.tokenize(texts, longest=longest).to(self.device)
        return Encoded(self.model(inputs), inputs.attention_mask)

    def stream(
        self, texts: Iterable[Text], *, pool: Pool = "none", batch: int = 32, longest: int | None = None
    ) -> Iterator[Vectors]:
        """Yield the vectors of texts in their order; they are read as needed, a limited number at a time.

        Args:
            texts: Texts, or pairs of texts.
            pool: `none` for a vector per token [S, D], `mean` of all tokens [D], or `cls` for the first token's [D].
            batch: The number of texts that are encoded together.
            longest: The number of tokens to which texts are truncated.
        """
        for chunk in _chunks(texts):
            yield from self._encode_chunk(chunk, pool, batch, longest)

    def _encode_chunk(self, texts: list[Text], pool: Pool, batch: int, longest: int | None) -> list[Vectors]:
        """Encode texts in batches of similar length, and put them back in order."""
        rows = self._rows(texts, longest)
        found = _in_order(rows, lambda some: self._vectors(some, pool), batch=batch)
        return [
            Vectors(text, self.tokenizer.pieces(row.ids), vectors, row.truncated)
            for text, row, vectors in zip(texts, rows, found, strict=True)
        ]

    def classify(self, texts: Iterable[Text], *, batch: int = 32, longest: int | None = None) -> Iterator[Label]:
        """Yield the most probable label of each text or pair, with a model for classification.

        Args:
            texts: Texts, or pairs of texts.
            batch: The number of texts that are classified together.
            longest: The number of tokens to which texts are truncated.

        Raises:
            ManyheadsError: If the model was trained for another task.
        """
        self._check_task("classification")
        for chunk in _chunks(texts):
            yield from _in_order(self._rows(chunk, longest), self._labels, batch=batch)

    @torch.inference_mode()
    def _labels(self, rows: Sequence[Row]) -> list[Label]:
        """Return the labels of one batch."""
        states = self.model(self._inputs(rows).to(self.device))
        best = self.model.label_logits(states).softmax(dim=-1).max(dim=-1)
        return [
            Label(self.config.labels[number], share)
            for number, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]

    def answer(
        self, questions: Iterable[tuple[str, str]], *, batch: int = 32, longest: int | None = None
    ) -> Iterator[Answer]:
        """Yield the answer to each question, with a model for question answering.

        Args:
            questions: Pairs of a question and the context that has its answer.
            batch: The number of questions that are answered together.
            longest: The number of tokens to which a pair is truncated.

        Raises:
            ManyheadsError: If the model was trained for another task.
        """
        self._check_task("question_answering")
        for chunk in _chunks(questions):
            rows = self._rows(chunk, longest)
            spans = _in_order(rows, self._spans, batch=batch)
            for row, (_, context), (first, last, share) in zip(rows, chunk, spans, strict=True):
                begin, end = row.spans[first][0], row.spans[last][1]
                yield Answer(context[begin:end], begin, share)

    @torch.inference_mode()
    def _spans(self, rows: Sequence[Row]) -> list[tuple[int, int, float]]:
        """Return the first and last token of each answer of one batch, and their probability."""
        logits = self.model.span_logits(self.model(self._inputs(rows).to(self.device)))
        return [best_span(logits[i, : len(row)].cpu(), row) for i, row in enumerate(rows)]

    def _check_task(self, task: ReadingTaskName) -> None:
        """Refuse what the model was not trained for."""
        if self.config.task != task:
            raise ManyheadsError(
                f"this model was not trained for {task.replace('_', ' ')}.",
                cure=f"Fine-tune it with a recipe that has task: {task} and start_from.",
            )

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

    def _inputs(self, rows: Sequence[Row]) -> EncoderInputs:
        """Lay rows out as tensors."""
        return EncoderInputs(*map(torch.from_numpy, self.tokenizer.lay_out(rows)))


def _chunks(texts: Iterable[One]) -> Iterator[list[One]]:
    """Yield some texts at a time."""
    remaining = iter(texts)
    while chunk := list(itertools.islice(remaining, STREAM_TEXTS)):
        yield chunk


def _in_order(rows: Sequence[Row], work: Callable[[Sequence[Row]], list[Found]], *, batch: int) -> list[Found]:
    """Let `work` loose on batches of similar length, and return what it finds in the order of the rows."""
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    found: dict[int, Found] = {}
    for begin in range(0, len(order), batch):
        numbers = order[begin : begin + batch]
        found.update(zip(numbers, work([rows[i] for i in numbers]), strict=True))
    return [found[i] for i in range(len(rows))]


def best_span(logits: Tensor, row: Row) -> tuple[int, int, float]:
    """Return the most probable first and last token for logits of both [S, 2], and their probability.

    Both stand in the second text, in their order. A context without any token has the empty answer at its place.
    """
    inside = torch.tensor([segment == 1 for segment in row.segments]) & ~torch.tensor(row.special)
    if not inside.any():
        return len(row) - 1, len(row) - 1, 1.0
    likely = logits.masked_fill(~inside[:, None], -torch.inf).log_softmax(dim=0)
    both = likely[:, None, 0] + likely[None, :, 1]  # [first, last]
    place = int(both.masked_fill(~torch.ones_like(both, dtype=torch.bool).triu(), -torch.inf).argmax())
    first, last = divmod(place, len(row))
    return first, last, float(both[first, last].exp())


def mean_of_real(states: Tensor, mask: Tensor) -> Tensor:
    """Return the mean [B, D] of the states [B, S, D] of all real tokens, special ones included."""
    weights = mask[:, :, None].to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1)
