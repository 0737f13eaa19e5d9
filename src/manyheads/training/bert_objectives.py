"""What a BERT learns: words that were hidden, the label of a text, or where an answer stands."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from manyheads.data.batches.examples import NOTHING, BertBatch
from manyheads.models.bert import BertInputs, BertModel
from manyheads.tasks.loss import fused_loss, smoothed_loss
from manyheads.training.objectives import Objective


class BertTensors(NamedTuple):
    """A batch on its device."""

    inputs: BertInputs
    targets: Tensor


class BertObjective(Objective):
    """What all of them share: how a batch comes to its device."""

    model: BertModel

    def __init__(self, model: BertModel, *, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def move(self, batch: BertBatch, device: torch.device) -> BertTensors:
        """Copy a batch of arrays to a device."""
        inputs = BertInputs(*(torch.from_numpy(one).to(device) for one in batch.inputs))
        return BertTensors(inputs, torch.from_numpy(batch.targets).to(device))

    def count(self, batch: BertBatch) -> int:
        """Return how many examples there are."""
        return len(batch.targets)

    def states(self, inputs: BertInputs) -> Tensor:
        """Return the last hidden state [B, S, D]."""
        states: Tensor = self.model(inputs)
        return states

    def compile_stacks(self) -> None:
        """Compile the encoder, for any shape."""
        self.states = torch.compile(self.states, dynamic=True)  # type: ignore[method-assign]


class MaskedLanguageModelObjective(BertObjective):
    """Guess the tokens that were hidden, from both sides."""

    def count(self, batch: BertBatch) -> int:
        """Return how many tokens are to be guessed."""
        return int((batch.targets != NOTHING).sum())

    def forward(self, batch: BertTensors) -> tuple[Tensor, int]:
        """Return the summed loss over the hidden tokens, and their number."""
        hidden, targets = self._hidden(batch)
        head = self.model.word_head
        assert head is not None
        vectors = self.model.embedding.tokens
        return fused_loss(head(hidden), vectors, head.bias, targets, smoothing=self.smoothing), len(targets)

    def guesses(self, batch: BertTensors) -> tuple[Tensor, Tensor]:
        """Return the most probable tokens at the hidden places [N], and those that stood there [N]."""
        hidden, targets = self._hidden(batch)
        return self.model.word_logits(hidden).argmax(dim=-1), targets

    def _hidden(self, batch: BertTensors) -> tuple[Tensor, Tensor]:
        """Return the states [N, D] and the tokens [N] at the hidden places."""
        targets = batch.targets.flatten()
        places = (targets != NOTHING).nonzero()[:, 0]
        return self.states(batch.inputs).flatten(0, 1).index_select(0, places), targets.index_select(0, places)


class ClassificationObjective(BertObjective):
    """Tell the label of a text or a pair."""

    def forward(self, batch: BertTensors) -> tuple[Tensor, int]:
        """Return the summed smoothed loss over the examples, and their number."""
        logits = self.model.label_logits(self.states(batch.inputs))
        return smoothed_loss(logits.float(), batch.targets, smoothing=self.smoothing), len(batch.targets)


class QuestionAnsweringObjective(BertObjective):
    """Find the first and the last token of the answer; each is one choice among all tokens of the sequence."""

    def forward(self, batch: BertTensors) -> tuple[Tensor, int]:
        """Return the summed mean of both losses over the questions, and their number."""
        logits = self.model.token_logits(self.states(batch.inputs)).float()
        padding = batch.inputs.attention_mask == 0
        scores = logits.masked_fill(padding[:, :, None], -torch.inf)  # [B, S, 2]
        # No smoothing here: it would put weight on padding, which has no probability at all.
        loss = F.cross_entropy(scores, batch.targets, reduction="sum")  # classes stand on the second axis
        return loss / 2, len(batch.targets)
