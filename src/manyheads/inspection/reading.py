"""The internals of an encoder model: its attention and hidden states."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import torch

from manyheads.attention.recording import record_attention
from manyheads.encoding.encoder import Encoder
from manyheads.errors import ManyheadsError
from manyheads.inspection.room import Only, chosen_names, require_room
from manyheads.inspection.states import record_states
from manyheads.inspection.translating import stacked, stacked_attention
from manyheads.inspection.views import Everything
from manyheads.models.interface import EncoderInputs, TextEncoder


class Reading:
    """The internals of a run's encoder."""

    def __init__(self, folder: Path, *, device: str) -> None:
        self._encoder = Encoder.from_folder(folder, device=device)

    @property
    def model(self) -> TextEncoder:
        """The PyTorch model."""
        return self._encoder.model

    @torch.inference_mode()
    def everything(self, text: str, *, only: Only | None = None) -> Everything:
        """Return everything recorded for a text; a tab separates the two texts of a pair."""
        if not text.strip():
            raise ManyheadsError("there is nothing to look at in an empty text.", where="text")
        first, tab, second = text.partition("\t")
        encoder, positions = self._encoder, self._encoder.config.model.longest
        (row,) = encoder.tokenizer.encode([(first, second) if tab else first], longest=positions)
        if row.truncated:
            raise ManyheadsError(
                f"this text has more tokens than the model has positions ({positions:,}).", where="text"
            )
        inputs = EncoderInputs(*map(torch.from_numpy, encoder.tokenizer.lay_out([row]))).to(encoder.device)
        model = encoder.model
        require_room(model, {"encoder": (len(row), len(row))}, only=only)
        names = chosen_names(model, only)
        with record_attention(model, [*chain(*names.values())]) as recording, record_states(model) as states:
            model(inputs)
        return Everything(
            text=text,
            translation="",
            score=0.0,
            log_probability=0.0,
            source_tokens=encoder.tokenizer.pieces(row.ids),
            target_tokens=[],
            target_inputs=[],
            target_ids=[],
            attention=stacked_attention(recording, names),
            states={"encoder": stacked(states["encoder"])},
            probabilities=np.zeros((0, 0), dtype=np.float32),
        )
