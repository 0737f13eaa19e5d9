"""Looking inside a model of facts: how much each hop of a memory network reads of each, or when each halts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch

from manyheads.attention.recording import record_attention
from manyheads.data.batches.memories import MemoryBatch, MemoryRows
from manyheads.data.text.stories import StoryQuestion
from manyheads.encoding.fact_reader import FactReader
from manyheads.errors import ManyheadsError
from manyheads.inspection.halting import Halting, HaltingView, record_halting, require_halting
from manyheads.inspection.room import Only, chosen_names
from manyheads.inspection.translating import as_array, stacked_attention
from manyheads.inspection.views import Array, Everything, rounded
from manyheads.models.interface import FactModel
from manyheads.models.memory_network import MemoryNetwork


@dataclass(frozen=True)
class MemoryView:
    """What each hop reads of each fact: weights [facts, hops], the facts in the order of the story."""

    facts: list[str]
    question: str
    answer: str
    probability: float
    weights: Array

    @property
    def title(self) -> str:
        """What a page is called."""
        return f"The memory: {self.question}"

    @property
    def hops(self) -> list[str]:
        """The titles of the hops."""
        return [f"hop {number}" for number in range(1, self.weights.shape[1] + 1)]

    def __str__(self) -> str:
        width = max(map(len, (*self.facts, self.question)))
        rows = ["  ".join((" " * width, *self.hops))]
        for fact, weights in zip(self.facts, self.weights, strict=True):
            rows.append("  ".join((fact.ljust(width), *(f"{weight:5.2f}" for weight in weights))))
        return "\n".join((*rows, f"{self.question.ljust(width)}  {self.answer} ({self.probability:.1%})")) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return this as values that can be written as JSON."""
        return {
            "facts": self.facts,
            "question": self.question,
            "answer": self.answer,
            "probability": rounded(self.probability),
            "weights": rounded(self.weights),
        }

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from manyheads.inspection.fragments import memory_fragment

        return memory_fragment(self)


class Remembering:
    """The model of facts of a run, seen from inside."""

    def __init__(self, folder: Path, *, device: str) -> None:
        self._reader = FactReader.from_folder(folder, device=device)

    @property
    def model(self) -> FactModel:
        """The PyTorch model."""
        return self._reader.model

    @torch.inference_mode()
    def everything(self, text: str, *, only: Only | None = None) -> Everything:
        """Return everything recorded for a story with one question: a hop is a layer, and the facts are its keys."""
        asked, model = self._question(text), self.model
        if not isinstance(model, MemoryNetwork):
            raise ManyheadsError(
                "this model has no hops, which alone are shown of a model that answers questions about facts.",
                cure="--show halting shows when its facts halt.",
            )
        batch = self._batch(asked)
        names = chosen_names(model, only)
        with record_attention(model, [*chain(*names.values())]) as recording:
            probabilities = self._reader.probabilities(batch)
        best = int(probabilities[0].argmax())
        score = float(probabilities[0, best].log())
        # Memories begin with the most recent fact, and a story ends with it.
        attention = {kind: weights[..., ::-1] for kind, weights in stacked_attention(recording, names).items()}
        answer = self._reader.words.words[best]
        return Everything(
            text=asked.question,
            translation=answer,
            score=score,
            log_probability=score,
            source_tokens=list(asked.facts),
            target_tokens=[answer],
            target_inputs=[asked.question],
            target_ids=[best],
            attention=attention,
            states={},
            probabilities=as_array(probabilities),
        )

    def memory(self, text: str) -> MemoryView:
        """Return what each hop reads of each fact of a story with one question."""
        seen = self.everything(text)
        weights = seen.attention["cross"][:, 0, 0].T  # [M, K]
        probability = float(seen.token_probabilities[0])
        return MemoryView(seen.source_tokens, seen.text, seen.translation, probability, weights)

    @torch.inference_mode()
    def halting(self, text: str) -> HaltingView:
        """Return at which step the question halts, and each fact, the most recent first."""
        most, asked = require_halting(self.model), self._question(text)
        with record_halting(self.model) as recorded:
            answer = self._reader.probabilities(self._batch(asked))[0].argmax()
        (computed,) = recorded.values()
        steps, tokens = computed.steps[0].int().tolist(), [asked.question, *reversed(asked.facts)]
        halted = Halting(tokens, steps, as_array(computed.ponder[0]))
        return HaltingView(asked.source, self._reader.words.words[int(answer)], most, halted, None)

    def _batch(self, asked: StoryQuestion) -> MemoryBatch:
        """Return a question as a batch."""
        return MemoryRows.of([asked], self._reader.words).lay_out(np.zeros(1, np.int64))

    def _question(self, text: str) -> StoryQuestion:
        """Return the one question of a text."""
        asked = self._reader.read(text.splitlines(), where="text")
        if len(asked) > 1:
            raise ManyheadsError(f"one question can be shown at a time, not {len(asked)}.", where="text")
        return asked[0]
