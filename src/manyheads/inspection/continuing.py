"""Looking inside a language model: the attention of every position to those before it."""

from __future__ import annotations

from itertools import chain

import torch
from torch import nn

from manyheads.attention.recording import record_attention
from manyheads.config.tasks.language_model import LanguageModelRecipe
from manyheads.decoding.generator import Generator
from manyheads.errors import ManyheadsError
from manyheads.inspection.earlier_text import EarlierTextView, read_earlier_text
from manyheads.inspection.halting import Halting, HaltingView, record_halting, require_halting
from manyheads.inspection.room import Only, chosen_names, require_room
from manyheads.inspection.translating import as_array, stacked_attention
from manyheads.inspection.views import Everything
from manyheads.models.interface import RememberingLanguageModel
from manyheads.runs.folder import RunFolder


class Continuing:
    """The language model of a run, seen from inside."""

    def __init__(self, run: RunFolder, *, device: str) -> None:
        self._run = run
        self._generator = Generator(run.path, device=device)

    @property
    def model(self) -> nn.Module:
        """The PyTorch model."""
        return self._generator.model

    @torch.inference_mode()
    def memory(self, text: str) -> EarlierTextView:
        """Return how much is read of the memory, and how far back, in a text that is read in pieces as in training."""
        model, ids = self._generator.model, self._generator.ids(text)
        if not isinstance(model, RememberingLanguageModel):
            raise ManyheadsError("this language model has no memory.", where=str(self._run.path))
        return read_earlier_text(model, ids, length=self._run.recipe_for(LanguageModelRecipe).data.length)

    @torch.inference_mode()
    def halting(self, text: str) -> HaltingView:
        """Return at which step each token of a text halts."""
        model, ids = self._generator.model, self._generator.ids(text)
        most = require_halting(model)
        if not ids:
            raise ManyheadsError("there is nothing to look at in an empty text.", where="text")
        with record_halting(model) as recorded:
            model.decode(torch.tensor([ids], device=self._generator.device))
        (computed,) = recorded.values()
        steps, tokens = computed.steps[0].int().tolist(), self._generator.tokenizer.pieces(ids)
        return HaltingView(text, "", most, None, Halting(tokens, steps, as_array(computed.ponder[0])))

    @torch.inference_mode()
    def everything(self, text: str, *, only: Only | None = None) -> Everything:
        """Return all there is to see of a text, and what the model expects after each of its tokens."""
        if not text:
            raise ManyheadsError("there is nothing to look at in an empty text.", where="text")
        generator, model = self._generator, self._generator.model
        ids = generator.ids(text)
        require_room(model, {"decoder": (len(ids), len(ids))}, only=only)
        names = chosen_names(model, only)
        with record_attention(model, [*chain(*names.values())]) as recording:
            logits = model(torch.tensor([ids], device=generator.device))[0]
        following = [*ids[1:], int(logits[-1].argmax())]
        likely = logits.log_softmax(dim=-1)
        known = sum(float(likely[place, token]) for place, token in enumerate(ids[1:]))
        pieces = generator.tokenizer.pieces
        return Everything(
            text=text,
            translation=generator.tokenizer.decode(following[-1:]),
            score=known,
            log_probability=known,
            source_tokens=[],
            target_tokens=pieces(following),
            target_inputs=pieces(ids),
            target_ids=following,
            attention=stacked_attention(recording, names),
            states={},
            probabilities=as_array(logits.softmax(dim=-1)),
        )
