"""The internals of a translation model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from manyheads.attention.recording import record_attention
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.decoding.engines.choice import load_torch_engine
from manyheads.decoding.options import TranslationOptions
from manyheads.decoding.search.constraints import Constraints
from manyheads.decoding.search.from_source import beam_from_source
from manyheads.decoding.search.hypothesis import Hypothesis, make_hypothesis
from manyheads.decoding.text.languages import Languages
from manyheads.decoding.text.splitting import Splitter
from manyheads.errors import ManyheadsError
from manyheads.inspection.beam_tree import BeamRecorder, BeamTree, Leaf
from manyheads.inspection.halting import Halting, HaltingView, record_halting, require_halting
from manyheads.inspection.kinds import Kind, require_attention
from manyheads.inspection.room import Only, chosen_names, require_room
from manyheads.inspection.states import record_states
from manyheads.inspection.steps import Done, Step, decoding_steps
from manyheads.inspection.views import Array, Everything
from manyheads.models.interface import AnySequenceToSequence, Tokens
from manyheads.runs.folder import RunFolder

REMEMBERED = 64  # searches; requests for several layers of one text need a single search


class Translating:
    """The internals of a run's translation model. It always runs on PyTorch, with the run's decoding options."""

    def __init__(self, run: RunFolder, *, device: str) -> None:
        self._engine = load_torch_engine(run, device)
        self._tokenizers = run.tokenizers()
        recipe = run.recipe_for(TranslationRecipe)
        self._options = TranslationOptions.from_recipe(recipe)
        self._alignment = recipe.decoding.alignment
        self._languages = Languages(recipe.data, self._tokenizers.source)
        self._splitter = Splitter.from_recipe(recipe, self._tokenizers.source, self._languages)
        self._best = lru_cache(REMEMBERED)(self._search)

    @property
    def model(self) -> AnySequenceToSequence:
        """The PyTorch model."""
        return self._engine.model

    def sentences(self, text: str, *, to: str | None = None) -> list[str]:
        """Return the sentences of a text that are translated, in order."""
        split = self._splitter.split(text, longest=self._options.split_above, to=to)
        return [sentence for sentence in split.sentences if self._splitter.needs_translation(sentence)]

    def everything(
        self,
        text: str,
        *,
        sentence: int = 1,
        beam: int | None = None,
        target: str | None = None,
        tokens: Sequence[int] | None = None,
        to: str | None = None,
        only: Only | None = None,
    ) -> Everything:
        """Return everything recorded for a sentence and its translation, or for a text and a given target."""
        require_attention(self.model)
        if target is not None:
            source = self._ids(text, self._languages.target(text, to))
            written = [*self._tokenizers.target.encode(target), self._engine.special.end]
            return self._look(text, source, self._forced(source, written), only)
        read, source = self._sentence(text, sentence, to)
        if only is None or only[0] == "encoder":
            require_room(self.model, {"encoder": (len(source), len(source))}, only=only)  # before a search
        best = self._best(tuple(source[:-1]), beam) if tokens is None else self._forced(source, tokens)
        return self._look(read, source, best, only)

    @torch.inference_mode()
    def halting(self, text: str, *, beam: int | None, sentence: int = 1, to: str | None = None) -> HaltingView:
        """Return at which step each token of a sentence and of its translation halts."""
        model, target = self._engine.model, self._tokenizers.target
        most = require_halting(model)
        read, source = self._sentence(text, sentence, to)
        best = self._best(tuple(source[:-1]), beam)
        inputs = [self._engine.special.start, *best.tokens[:-1]]
        with record_halting(model) as recorded:
            model.decode(self._batch(inputs).ids, model.encode(self._batch(source)))
        sides = (self._tokenizers.source.pieces(source), target.pieces(inputs))
        halted = [
            Halting(tokens, computed.steps[0].int().tolist(), as_array(computed.ponder[0]))
            for tokens, computed in zip(sides, recorded.values(), strict=True)
        ]
        return HaltingView(read, target.decode(best.tokens), most, *halted)

    def steps(
        self,
        text: str,
        *,
        candidates: int,
        sentence: int = 1,
        tokens: Sequence[int] | None = None,
        to: str | None = None,
    ) -> Iterator[Step | Done]:
        """Return an iterator over the steps of greedy search, or of a given translation."""
        if candidates < 1:
            raise ManyheadsError("must be at least 1.", where="candidates")
        require_attention(self.model)
        _, source = self._sentence(text, sentence, to)
        return decoding_steps(
            self._engine.model,
            self._batch(source),
            special=self._engine.special,
            limit=self._limit(source),
            constraints=Constraints(no_repeat_ngram=self._options.no_repeat_ngram),
            tokenizer=self._tokenizers.target,
            source_tokens=self._tokenizers.source.pieces(source),
            candidates=candidates,
            tokens=tokens,
        )

    def beam(self, text: str, *, beam: int | None, sentence: int = 1, to: str | None = None) -> BeamTree:
        """Return a beam search as a tree."""
        options = self._options.changed({"beam": beam})
        special, recorder = self._engine.special, BeamRecorder()
        _, source = self._sentence(text, sentence, to)
        (hypotheses,) = beam_from_source(
            self._engine.model,
            self._batch(source),
            special=special,
            limits=[self._limit(source)],
            beam=options.beam,
            penalty=options.penalty,
            constraints=Constraints(no_repeat_ngram=options.no_repeat_ngram),
            watch=recorder,
        )
        target = self._tokenizers.target
        names = target.vocabulary()
        leaves = [
            Leaf(
                target.decode(hypothesis.tokens),
                hypothesis.score,
                hypothesis.log_probability,
                recorder.last_node(hypothesis.tokens),
            )
            for hypothesis in hypotheses
        ]
        nodes = recorder.nodes(hypotheses[0].tokens, names, names[special.start])
        return BeamTree(leaves[0].text, options.beam, nodes, leaves)

    def _sentence(self, text: str, number: int, to: str | None) -> tuple[str, list[int]]:
        """Return one sentence of a text and its ids; raise an error if there is no such sentence."""
        sentences = self.sentences(text, to=to)
        if not sentences:
            what = "a text without letters" if text.strip() else "an empty text"
            raise ManyheadsError(f"there is nothing to look at in {what}.", where="text")
        if not 1 <= number <= len(sentences):
            has = "one sentence" if len(sentences) == 1 else f"sentences 1 to {len(sentences)}"
            raise ManyheadsError(f"there is no sentence {number}.", where="sentence", cure=f"This text has {has}.")
        return sentences[number - 1], self._ids(sentences[number - 1], self._languages.target(text, to))

    def _ids(self, text: str, target: str | None) -> list[int]:
        """Return the ids of a text, with the tag of the target language and the end token."""
        ids = self._tokenizers.source.encode(text)
        if not ids:
            raise ManyheadsError("there is nothing to look at in an empty text.", where="text")
        return [*self._languages.tag_ids(target), *ids, self._engine.special.end]

    def _batch(self, source: Sequence[int]) -> Tokens:
        """Return one source as a batch [1, S]."""
        return Tokens.pad([source], padding=self._engine.special.pad, device=self._engine.device)

    def _limit(self, source: Sequence[int]) -> int:
        """Return the length limit of the output; the source's end token is not counted."""
        return self._engine.config.output_limit(len(source) - 1, extra=self._options.extra_length)

    def _search(self, source: tuple[int, ...], beam: int | None) -> Hypothesis:
        """Return the best hypothesis for a source without its end token."""
        return self._engine.search([source], self._options.changed({"beam": beam}))[0][0]

    def _forced(self, source: Sequence[int], tokens: Sequence[int]) -> Hypothesis:
        """Return given tokens as a hypothesis, as if a search had returned it."""
        end = self._engine.special.end
        written = [token for token in tokens if token != end]
        (likely,) = self._engine.score([source[:-1]], [written])  # the end is scored too, even if there is none
        return make_hypothesis(list(tokens), sum(likely[: len(tokens)]), end=end, penalty=self._options.penalty)

    @torch.inference_mode()
    def _look(self, text: str, source: list[int], best: Hypothesis, only: Only | None) -> Everything:
        """Decode a hypothesis again and record everything: decoding in steps equals `decode`."""
        model, target = self._engine.model, self._tokenizers.target
        inputs = [self._engine.special.start, *best.tokens[:-1]]
        read, written = len(source), len(inputs)
        sizes: dict[Kind, tuple[int, int]] = {
            "encoder": (read, read),
            "decoder": (written, written),
            "cross": (written, read),
        }
        require_room(model, sizes, only=only)
        names = chosen_names(model, only)
        with record_attention(model, [*chain(*names.values())]) as recording, record_states(model) as states:
            hidden = model.decode(self._batch(inputs).ids, model.encode(self._batch(source))).hidden
        return Everything(
            text=text,
            translation=target.decode(best.tokens),
            score=best.score,
            log_probability=best.log_probability,
            source_tokens=self._tokenizers.source.pieces(source),
            target_tokens=target.pieces(best.tokens),
            target_inputs=target.pieces(inputs),
            target_ids=best.tokens,
            attention=stacked_attention(recording, names, {kind: size[0] for kind, size in sizes.items()}),
            states={stack: stacked(stream) for stack, stream in states.items() if stream},
            probabilities=as_array(model.logits(hidden)[0].softmax(dim=-1)),
            alignment=self._alignment,
        )


def stacked_attention(
    recording: dict[str, Tensor], names: dict[Kind, list[str]], queries: dict[Kind, int] | None = None
) -> dict[Kind, Array]:
    """Return the recorded weights of one text as one array [L, H, T, S] per kind.

    With the number of `queries` of each kind, every step of a layer that is applied again and again is a layer.
    """
    attention = {}
    for kind, layers in names.items():
        recorded = [recording[name] for name in layers]
        if queries is not None:
            recorded = [step for every in recorded for step in torch.split(every, queries[kind], dim=2)]
        if recorded:
            attention[kind] = stacked(recorded)
    return attention


def stacked(layers: list[Tensor]) -> Array:
    """Return the recorded tensors of one text, [1, …] per layer, as one array [L, …]."""
    return np.stack([as_array(layer[0]) for layer in layers])


def as_array(tensor: Tensor) -> Array:
    """Return a tensor as a float32 array."""
    return tensor.detach().float().cpu().numpy()
