"""What models offer, so that one trainer and one search serve them all.

Whatever writes is `Autoregressive`: it extends a sequence one token at a time.

    start(context) → state
    step(tokens, state) → logits [B, V], state

`SequenceToSequence` reads a source first, and can decode all target positions at once, as in training.

    encode(source) → memory                     read the source once
    decode(target, memory) → hidden [B, T, D]   all target positions at once
    logits(hidden) → [B, T, V]

`step` after `step` equals `decode` followed by `logits`, which is what the model itself, called, does:

    model(source, target) → logits [B, T, V]    teacher forcing

`LanguageModel` has no source: it continues a text, and `RememberingLanguageModel` reads it piece by piece.
`TextEncoder` reads a text in both directions and writes nothing.
`FactModel` answers a question about facts with one word.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Tokens:
    """A batch of token sequences, padded on the right: ids [B, S] and the number of real ones in each row [B]."""

    ids: Tensor
    lengths: Tensor

    @classmethod
    def pad(cls, rows: Sequence[Sequence[int]], *, padding: int, device: torch.device | str = "cpu") -> Self:
        """Lay out rows of ids as one rectangle."""
        lengths = [len(row) for row in rows]
        width = max([1, *lengths])
        filled = [[*row, *[padding] * (width - len(row))] for row in rows]
        return cls(torch.tensor(filled, device=device), torch.tensor(lengths, device=device))


class Decoded(NamedTuple):
    """Hidden states [B, T, D], and what each position adds to the loss [B, T] where a model has such a penalty."""

    hidden: Tensor
    penalty: Tensor | None = None


class DecodingState(Protocol):
    """The state of a model between two steps, for a number of rows."""

    def select(self, rows: Tensor) -> Self:
        """Return the state of the given rows [M], in that order: sentences leave and beams are reordered this way."""
        ...

    def __len__(self) -> int:
        """Return the number of rows."""
        ...


Context = TypeVar("Context")
State = TypeVar("State", bound=DecodingState)


class Autoregressive(nn.Module, ABC, Generic[Context, State]):
    """A model that writes one token after another."""

    @property
    @abstractmethod
    def output_vectors(self) -> Tensor:
        """The output layer's weights [V, D], for a loss that never holds all logits at once."""

    @property
    def output_bias(self) -> Tensor | None:
        """The output layer's bias [V], if there is one."""
        return None

    @abstractmethod
    def begin(self, context: Context) -> State:
        """Return the state before the first token: what `context` holds, with one row for each of its rows."""

    def start(self, context: Context, hypotheses: int = 1) -> State:
        """Return the state before the first token, with `hypotheses` rows side by side for each row of `context`.

        The rows of one context stay side by side. This repeats rows; a model may share what they have in common.
        """
        state = self.begin(context)
        if hypotheses == 1:
            return state
        rows = torch.arange(len(state), device=self.output_vectors.device)
        return state.select(rows.repeat_interleave(hypotheses))

    @abstractmethod
    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Read one more token per row [B]; return the next one's logits [B, V] and the new state.

        The old state is used up; `select` all its rows first to keep a copy.
        """

    def logits(self, hidden: Tensor) -> Tensor:
        """Return the output layer's logits [B, T, V] for hidden states [B, T, D]."""
        return nn.functional.linear(hidden, self.output_vectors, self.output_bias)

    def multiplications(self, rows: int, source: int, target: int) -> int:
        """Return the multiplications of a forward pass over padded rectangles, the output layer aside.

        They give the share of the machine's peak that training reaches. A model that cannot tell returns 0.
        """
        return 0


class SequenceToSequence(Autoregressive[Context, State]):
    """A model that reads one sequence and writes another. Its context is the memory that `encode` returns."""

    @abstractmethod
    def encode(self, source: Tokens) -> Context:
        """Read the source; what is returned is for `decode` and `start`."""

    @abstractmethod
    def decode(self, target: Tensor, memory: Context) -> Decoded:
        """Return hidden states [B, T, D] of target ids [B, T], none of which sees its future."""

    def forward(self, source: Tokens, target: Tokens) -> Tensor:
        """Return the logits [B, T, V] of the token that follows each target token, all positions at once.

        This is teacher forcing. The encoder reads `source` [B, S], which ends with the end token, and the decoder reads
        `target` [B, T], which begins with the start token. Logits [b, t] are those of the token after
        `target.ids[b, t]`; where a row has ended they mean nothing.
        """
        return self.logits(self.decode(target.ids, self.encode(source)).hidden)


class LanguageModel(Autoregressive[int, State]):
    """A model that continues a text. Its context is a number of rows, each of which begins with nothing."""

    @abstractmethod
    def decode(self, tokens: Tensor) -> Decoded:
        """Return hidden states [B, T, D] of token ids [B, T], none of which sees its future."""

    def read(self, tokens: Tensor, state: State) -> State:
        """Return the state after T more tokens per row [B, T], as T steps give it; a model may read them at once."""
        for token in tokens.unbind(1):
            _, state = self.step(token, state)
        return state

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits [B, T, V] of the token that follows each token [B, T]."""
        return self.logits(self.decode(tokens).hidden)


Memory: TypeAlias = Mapping[str, Tensor]
"""What a model remembers of a text, by name; each tensor has one row for each of the texts that are read, [B, …]."""


class Places(NamedTuple):
    """Where the keys of attention are [S], from the first token of a piece on, and which of them are compressed [S].

    What was read before the piece has negative positions. Compressed memories are at the middle of what they stand for.
    """

    positions: Tensor
    compressed: Tensor


class RememberingLanguageModel(LanguageModel[State]):
    """A language model that reads a text piece by piece, and remembers what it has read."""

    memory: int  # earlier positions that are remembered; it may be changed, as a longer memory is for evaluation

    @abstractmethod
    def decode_piece(self, tokens: Tensor, memory: Memory | None = None) -> tuple[Decoded, Memory]:
        """Return hidden states [B, T, D] of pieces of text [B, T], and the memory of them and of what was before them.

        Without a memory, the pieces begin their texts. No gradient goes through a memory.
        """

    @abstractmethod
    def places(self, length: int, memory: Memory | None = None) -> Places:
        """Return where the keys are that every layer has when it reads a piece of `length` tokens after a memory."""

    def decode(self, tokens: Tensor) -> Decoded:
        """Return hidden states [B, T, D] of token ids [B, T], none of which sees its future."""
        return self.decode_piece(tokens)[0]


class EncoderInputs(NamedTuple):
    """What a text encoder reads: token ids, which of them are real, and which text each belongs to, [B, S] each.

    The names are those of Hugging Face's libraries.
    """

    input_ids: Tensor
    attention_mask: Tensor
    token_type_ids: Tensor

    def to(self, device: torch.device | str) -> EncoderInputs:
        """Return the same on a device."""
        return EncoderInputs(*(one.to(device) for one in self))


class TextEncoder(nn.Module, ABC):
    """A model that reads a text, or a pair of texts, in both directions. Heads for tasks are optional parts."""

    @abstractmethod
    def forward(self, inputs: EncoderInputs) -> Tensor:
        """Return the last hidden state [B, S, D]."""

    @property
    @abstractmethod
    def token_vectors(self) -> Tensor:
        """The token embeddings [V, D], which are the weights of the output layer too."""

    @property
    @abstractmethod
    def token_bias(self) -> Tensor:
        """The bias [V] of the output layer that predicts tokens."""

    @abstractmethod
    def token_states(self, states: Tensor) -> Tensor:
        """Return what the output layer multiplies by `token_vectors`, [N, D], for states [N, D]."""

    @abstractmethod
    def label_logits(self, states: Tensor) -> Tensor:
        """Return one logit per label [B, outputs] for last hidden states [B, S, D]."""

    @abstractmethod
    def span_logits(self, states: Tensor) -> Tensor:
        """Return the logits of every token [B, S, outputs] for last hidden states [B, S, D]."""

    @property
    @abstractmethod
    def device(self) -> torch.device:
        """Where the model computes."""

    def multiplications(self, rows: int, length: int) -> int:
        """Return the multiplications of a forward pass over padded rows; 0 if the model cannot tell."""
        return 0


NO_WORD = 0
"""The id of what is no word, which adds nothing to a sentence about facts."""


class MemoryInputs(NamedTuple):
    """A batch of questions about facts.

    Questions share facts, so `sentences` [N, J] has the word ids of each different fact once, and 0 where there is no
    word; an empty memory is a sentence without words. `facts` [B, M] are numbers of sentences, the most recent fact
    first. `counts` [B] are the memories of each row; what is beyond them is padding. `questions` [B, Q] are word ids.
    """

    sentences: Tensor
    facts: Tensor
    counts: Tensor
    questions: Tensor

    def to(self, device: torch.device | str) -> MemoryInputs:
        """Return the same on a device."""
        return MemoryInputs(*(one.to(device) for one in self))


class Answers(NamedTuple):
    """Logits of the answers [B, V], and what each question adds to the loss [B] where a model has such a penalty."""

    logits: Tensor
    penalty: Tensor | None = None


class FactModel(nn.Module, ABC):
    """A model that answers a question about facts with one word; it reads the `memory` most recent ones."""

    memory: int

    @abstractmethod
    def answers(self, inputs: MemoryInputs) -> Answers:
        """Return the answers to a batch of questions."""

    def forward(self, inputs: MemoryInputs) -> Tensor:
        """Return the logits [B, V] of the answers."""
        return self.answers(inputs).logits

    @property
    @abstractmethod
    def device(self) -> torch.device:
        """Where the model computes."""

    @abstractmethod
    def multiplications(self, rows: int, memories: int) -> int:
        """Return the multiplications of a forward pass over `rows` questions with as many memories."""


AnySequenceToSequence: TypeAlias = SequenceToSequence[Any, Any]
"""A model whose memory and state are its own affair, as trainers and engines see it."""
