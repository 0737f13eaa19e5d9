"""Looking inside a model that reads one text and writes another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from manyheads.attention.recording import record_attention
from manyheads.decoding.beam import beam_search
from manyheads.decoding.constraints import Constraints
from manyheads.decoding.engines import torch_engine
from manyheads.decoding.hypothesis import Hypothesis, make_hypothesis
from manyheads.decoding.languages import Languages
from manyheads.decoding.options import TranslationOptions
from manyheads.errors import ManyheadsError
from manyheads.inspection.beam_tree import BeamTree, BeamWatcher, Leaf
from manyheads.inspection.kinds import Kind, attention_names
from manyheads.inspection.states import record_states
from manyheads.inspection.steps import Done, Step, greedy_steps
from manyheads.inspection.views import Array, Everything
from manyheads.models.interface import Tokens
from manyheads.runs.folder import RunFolder

REMEMBERED = 64  # searches; whoever looks at one layer after the other need not wait for the same search again


class Translating:
    """A run's translator, seen from inside. It always computes on PyTorch, with the run's own decoding options."""

    def __init__(self, run: RunFolder, *, device: str) -> None:
        self._engine = torch_engine(run, device)
        self._tokenizers = run.tokenizers()
        recipe = run.recipe()
        self._options = TranslationOptions.from_recipe(recipe)
        self._languages = Languages(recipe.data, self._tokenizers.source)
        self._best = lru_cache(REMEMBERED)(self._search)

    def everything(
        self, text: str, *, beam: int | None = None, target: str | None = None, to: str | None = None
    ) -> Everything:
        """Return all there is to see of a text and its translation, or of a text and a given target."""
        source = self._source(text, to)
        if target is None:
            return self._look(text, source, self._best(tuple(source[:-1]), beam))
        return self._look(text, source, self._forced(source, target))

    def steps(self, text: str, *, candidates: int, to: str | None = None) -> Iterator[Step | Done]:
        """Return an iterator over the steps of greedy search."""
        if candidates < 1:
            raise ManyheadsError("must be at least 1.", where="candidates")
        source = self._source(text, to)
        return greedy_steps(
            self._engine.model,
            self._batch(source),
            special=self._engine.special,
            limit=self._limit(source),
            constraints=Constraints(no_repeat_ngram=self._options.no_repeat_ngram),
            tokenizer=self._tokenizers.target,
            source_tokens=self._tokenizers.source.pieces(source),
            candidates=candidates,
        )

    def beam(self, text: str, *, beam: int | None, to: str | None = None) -> BeamTree:
        """Return a beam search as a tree."""
        options = self._options.changed({"beam": beam})
        source, special, watcher = self._source(text, to), self._engine.special, BeamWatcher()
        (found,) = beam_search(
            self._engine.model,
            self._batch(source),
            special=special,
            limits=[self._limit(source)],
            beam=options.beam,
            penalty=options.penalty,
            constraints=Constraints(no_repeat_ngram=options.no_repeat_ngram),
            watch=watcher,
        )
        target = self._tokenizers.target
        names = target.vocabulary()
        leaves = [
            Leaf(target.decode(one.tokens), one.score, one.log_probability, watcher.place(one.tokens)) for one in found
        ]
        nodes = watcher.nodes(found[0].tokens, names, names[special.start])
        return BeamTree(leaves[0].text, options.beam, nodes, leaves)

    def _source(self, text: str, to: str | None = None) -> list[int]:
        """Return the ids of a text, its tag and the end token included; there must be something to look at."""
        ids = self._tokenizers.source.encode(text)
        if not ids:
            raise ManyheadsError("there is nothing to look at in an empty text.", where="text")
        tag = self._languages.tag_ids(self._languages.target(text, to))
        return [*tag, *ids, self._engine.special.end]

    def _batch(self, source: Sequence[int]) -> Tokens:
        """Return one source as a batch [1, S]."""
        return Tokens.pad([source], padding=self._engine.special.pad, device=self._engine.device)

    def _limit(self, source: Sequence[int]) -> int:
        """Return how long an output may be; the source's end token does not count."""
        return len(source) - 1 + self._options.extra_length

    def _search(self, source: tuple[int, ...], beam: int | None) -> Hypothesis:
        """Return the best hypothesis for a source without its end token."""
        return self._engine.search([source], self._options.changed({"beam": beam}))[0][0]

    def _forced(self, source: Sequence[int], target: str) -> Hypothesis:
        """Return a given target as if it had been found."""
        special, ids = self._engine.special, self._tokenizers.target.encode(target)
        (likely,) = self._engine.score([source[:-1]], [ids])
        return make_hypothesis([*ids, special.end], sum(likely), end=special.end, penalty=self._options.penalty)

    @torch.inference_mode()
    def _look(self, text: str, source: list[int], best: Hypothesis) -> Everything:
        """Decode a hypothesis once more and record everything: `step` after `step` equals `decode`."""
        model, target = self._engine.model, self._tokenizers.target
        inputs = [self._engine.special.start, *best.tokens[:-1]]
        with record_attention(model) as recording, record_states(model) as states:
            hidden = model.decode(self._batch(inputs).ids, model.encode(self._batch(source)))
        return Everything(
            text=text,
            translation=target.decode(best.tokens),
            score=best.score,
            log_probability=best.log_probability,
            source_tokens=self._tokenizers.source.pieces(source),
            target_tokens=target.pieces(best.tokens),
            target_inputs=target.pieces(inputs),
            target_ids=best.tokens,
            attention=stacked_attention(recording, attention_names(model)),
            states={stack: stacked(stream) for stack, stream in states.items()},
            probabilities=as_array(model.logits(hidden)[0].softmax(dim=-1)),
        )


def stacked_attention(recording: dict[str, Tensor], names: dict[Kind, list[str]]) -> dict[Kind, Array]:
    """Return the recorded weights of one text as one array [L, H, T, S] per kind."""
    return {kind: stacked([recording[name] for name in layers]) for kind, layers in names.items() if layers}


def stacked(layers: list[Tensor]) -> Array:
    """Return what was recorded of one text, a [1, …] per layer, as one array [L, …]."""
    return np.stack([as_array(layer[0]) for layer in layers])


def as_array(tensor: Tensor) -> Array:
    """Return a tensor for numpy users."""
    return tensor.detach().float().cpu().numpy()
