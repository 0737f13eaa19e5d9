"""A run, seen from inside: what every head looks at, what every step considers, and what the beam gives up.

    inspector = Inspector("runs/dates")
    inspector.everything("15 novembre 2026").attention["cross"]   # [L, H, T, S], a numpy array
    inspector.attention("15 novembre 2026", kind="cross", layer=2).to_json()     # layers are counted from 1
    for step in inspector.steps("15 novembre 2026"): …
    inspector.beam("15 novembre 2026", beam=4).nodes

Nothing stays installed in the model between two calls, and calls from several threads take turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from threading import Lock
from typing import Any

from torch import nn

from manyheads.config.tasks.memory_questions import MemoryQuestionsConfig
from manyheads.config.tasks.reading import ReadingConfig
from manyheads.config.tasks.translation import TranslationConfig
from manyheads.errors import ManyheadsError
from manyheads.exchange.bert import is_hugging_face
from manyheads.inspection.beam_tree import BeamTree
from manyheads.inspection.continuing import Continuing
from manyheads.inspection.earlier_text import EarlierTextView
from manyheads.inspection.halting import HaltingView
from manyheads.inspection.kinds import Kind, main_kind, require_attention
from manyheads.inspection.positions import position_table
from manyheads.inspection.reading import Reading
from manyheads.inspection.remembering import MemoryView, Remembering
from manyheads.inspection.room import Only
from manyheads.inspection.steps import Done, Step, Steps
from manyheads.inspection.translating import Translating
from manyheads.inspection.views import AttentionView, Everything, index_of
from manyheads.layers.depth import DepthRecurrence
from manyheads.runs.folder import RunFolder
from manyheads.runs.shipped import find_run

__all__ = ["Inspector", "position_table"]


class Inspector:
    """Shows what the model of a run computes: everything for a translator, and the attention for other models.

    Args:
        run_folder: A run folder, its path, a folder of a BERT from Hugging Face, or the name of a model that comes with
            the package. By default, the first model of the package.
        device: Where to compute: `auto`, `cpu`, `cuda` or `mps`.

    Raises:
        ManyheadsError: If there is no such run.
    """

    def __init__(self, run_folder: PathLike[str] | str | None = None, device: str = "auto") -> None:
        self.folder = find_run(run_folder)
        self._turn = Lock()  # recording sets observers in the model, which is one for all threads
        self._subject: Translating | Reading | Continuing | Remembering
        if is_hugging_face(self.folder):
            self._subject = Reading(self.folder, device=device)
            return
        run = RunFolder.open(self.folder)
        match run.config():
            case ReadingConfig():
                self._subject = Reading(run.path, device=device)
            case MemoryQuestionsConfig():
                self._subject = Remembering(run.path, device=device)
            case TranslationConfig():
                self._subject = Translating(run, device=device)
            case _:
                self._subject = Continuing(run, device=device)

    @property
    def translates(self) -> bool:
        """Whether the model writes, so that it has a decoder, steps and a beam."""
        return isinstance(self._subject, Translating)

    @property
    def remembers(self) -> bool:
        """Whether the model answers questions about facts that a memory holds."""
        return isinstance(self._subject, Remembering)

    @property
    def model(self) -> nn.Module:
        """The PyTorch model that is inspected."""
        return self._subject.model

    def sentences(self, text: str, *, to: str | None = None) -> list[str]:
        """Return the sentences of a text, each of which is translated alone; a model that only reads takes it whole."""
        return self._subject.sentences(text, to=to) if isinstance(self._subject, Translating) else [text]

    def attention(
        self,
        text: str,
        *,
        kind: Kind,
        layer: int | None = None,
        sentence: int = 1,
        beam: int | None = None,
        tokens: Sequence[int] | None = None,
        to: str | None = None,
    ) -> AttentionView:
        """Return the attention weights of one layer, all heads; those of other layers are not recorded.

        Args:
            text: The text.
            kind: `encoder`, `decoder` or `cross`.
            layer: The layer, counted from 1. By default, the last.
            sentence: The sentence of the text, counted from 1.
            beam: The width of the beam. By default, the run's own.
            tokens: The tokens of a translation, which is then not searched for.
            to: The language to translate into, for a model of several.
        """
        names = require_attention(self.model)
        counts = {kind: len(layers) for kind, layers in names.items()}
        recurs = any(isinstance(part, DepthRecurrence) for part in self.model.modules())  # each step is a layer
        if recurs or not counts.get(kind):  # where there is no such kind, this raises the error
            return self.everything(text, sentence=sentence, beam=beam, tokens=tokens, to=to).view(kind, layer)
        number = counts[kind] if layer is None else layer
        index_of(number, counts[kind], "layer")
        seen = self._seen(text, (kind, number), sentence=sentence, beam=beam, tokens=tokens, to=to)
        return replace(seen.view(kind, 1), layer=number, layers=counts)

    def everything(
        self,
        text: str,
        *,
        sentence: int = 1,
        beam: int | None = None,
        target: str | None = None,
        tokens: Sequence[int] | None = None,
        to: str | None = None,
    ) -> Everything:
        """Return the attention weights of all layers and heads, all hidden states, and the probabilities at each step.

        Args:
            text: The text.
            sentence: The sentence of the text, counted from 1.
            beam: The width of the beam. By default, the run's own.
            target: A target text in place of the model's own translation. The text is then not split into sentences.
            tokens: The tokens of a translation, which is then not searched for.
            to: The language to translate into, for a model of several.
        """
        return self._seen(text, None, sentence=sentence, beam=beam, target=target, tokens=tokens, to=to)

    def _seen(self, text: str, only: Only | None, **choices: Any) -> Everything:  # noqa: ANN401
        """Return what is recorded for a text, of all layers or of one only."""
        with self._turn:
            if not isinstance(self._subject, Translating):
                return self._subject.everything(text, only=only)
            return self._subject.everything(text, only=only, **choices)

    @property
    def main_kind(self) -> Kind:
        """The kind of attention that is shown first: what a translation sees of its source, or the only kind."""
        names = require_attention(self.model)
        return main_kind([kind for kind, layers in names.items() if layers])

    def steps(
        self,
        text: str,
        *,
        candidates: int = 5,
        sentence: int = 1,
        tokens: Sequence[int] | None = None,
        to: str | None = None,
    ) -> Steps:
        """Return an iterator over the steps of greedy decoding, which ends with the translation (`Done`).

        Args:
            text: The text.
            candidates: The number of most probable tokens that each step has.
            sentence: The sentence of the text, counted from 1.
            tokens: The tokens of a translation, which are then taken in place of the most probable ones.
            to: The language to translate into, for a model of several.
        """
        subject = self._translating()
        return Steps(
            lambda: self._in_turns(subject.steps(text, candidates=candidates, sentence=sentence, tokens=tokens, to=to))
        )

    def beam(self, text: str, *, beam: int | None = 4, sentence: int = 1, to: str | None = None) -> BeamTree:
        """Return beam search as a tree of all hypotheses that were in the beam at any step.

        Args:
            text: The text.
            beam: The width of the beam; None for the run's own.
            sentence: The sentence of the text, counted from 1.
            to: The language to translate into, for a model of several.
        """
        with self._turn:
            return self._translating().beam(text, beam=beam, sentence=sentence, to=to)

    def halting(self, text: str, *, beam: int | None = None, sentence: int = 1, to: str | None = None) -> HaltingView:
        """Return at which step in depth each token of a sentence and of its translation halts, or each of a text.

        Args:
            text: The text.
            beam: The width of the beam. By default, the run's own.
            sentence: The sentence of the text, counted from 1.
            to: The language to translate into, for a model of several.
        """
        with self._turn:
            if isinstance(self._subject, Continuing | Remembering):
                return self._subject.halting(text)
            return self._translating().halting(text, beam=beam, sentence=sentence, to=to)

    def memory(self, text: str) -> MemoryView | EarlierTextView:
        """Return what each hop of a memory network reads of each fact, or what a language model reads of its memory.

        Args:
            text: The facts and one question, in sentences or in lines as `manyheads answer` reads them; or any text.
        """
        if not isinstance(self._subject, Remembering | Continuing):
            raise ManyheadsError("this run has no memory.", where=str(self.folder))
        with self._turn:
            return self._subject.memory(text)

    def _translating(self) -> Translating:
        """Return the translator; say so where the model does not write."""
        if isinstance(self._subject, Translating):
            return self._subject
        what = {
            Reading: "an encoder, which reads but does not write",
            Remembering: "a model of questions about facts, which answers with one word",
        }.get(type(self._subject), "a language model, which has no source")
        raise ManyheadsError(f"this run is {what}.", where=str(self.folder))

    def _in_turns(self, steps: Iterator[Step | Done]) -> Iterator[Step | Done]:
        """Yield steps, each computed while no other thread uses the model."""
        while True:
            with self._turn:
                step = next(steps, None)
            if step is None:
                return
            yield step
