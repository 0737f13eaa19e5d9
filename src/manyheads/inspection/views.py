"""The results of an inspector for one text: numpy arrays with their tokens, and their JSON form.

Axis letters: `L` layers, `H` heads, `S` source tokens, `T` target tokens, `D` width, `V` vocabulary. Row t of the
target is the token that was written at step t; its weights are those with which the model predicted it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyheads.config.alignment import AlignmentSettings
from manyheads.errors import ManyheadsError, did_you_mean
from manyheads.inspection.kinds import KINDS, Kind, main_kind

Array = NDArray[np.float32]
DIGITS = 5  # decimal places of weights and probabilities in JSON


def rounded(numbers: Any) -> Any:  # noqa: ANN401 (a number gives a number, an array nested lists)
    """Return numbers for JSON, rounded to five decimal places."""
    return np.round(np.asarray(numbers, dtype=np.float64), DIGITS).tolist()


def index_of(number: int, count: int, what: str) -> int:
    """Return the array index of a layer or a head, which is numbered from 1 to `count`."""
    if not 1 <= number <= count:
        names = f"1 to {count}" if count > 1 else "1 alone"
        raise ManyheadsError(
            f"there is no {what} {number}.", where=what, cure=f"{what.capitalize()}s are counted from 1: {names}."
        )
    return number - 1


@dataclass(frozen=True)
class AttentionView:
    """The attention of one kind in one layer, counted from 1: weights [H, queries, keys], and their tokens."""

    translation: str
    score: float
    kind: Kind
    layer: int
    layers: dict[Kind, int]
    queries: list[str]
    keys: list[str]
    source_tokens: list[str]
    target_tokens: list[str]
    weights: Array

    @property
    def heads(self) -> int:
        """The number of heads."""
        return len(self.weights)

    def to_json(self) -> dict[str, Any]:
        """Return this as values that can be written as JSON."""
        return {
            "translation": self.translation,
            "score": rounded(self.score),
            "kind": self.kind,
            "layer": self.layer,
            "layers": dict(self.layers),
            "heads": self.heads,
            "queries": self.queries,
            "keys": self.keys,
            "source_tokens": self.source_tokens,
            "target_tokens": self.target_tokens,
            "weights": rounded(self.weights),
        }

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from manyheads.inspection.fragments import attention_fragment

        return attention_fragment(self)


@dataclass(frozen=True)
class Everything:
    """Everything recorded for one text: the attention of all layers and heads, the hidden states, and probabilities.

    `attention` has one array [L, H, queries, keys] per kind; a model without a decoder has only `encoder`. `states` has
    the hidden states of each stack [L + 1, T, D], embeddings first. `probabilities` [T, V] are those of the next token
    at each step. `target_inputs` are the input tokens of the decoder, the start token first. `alignment` says which
    attention aligns words.
    """

    text: str
    translation: str
    score: float
    log_probability: float
    source_tokens: list[str]
    target_tokens: list[str]
    target_inputs: list[str]
    target_ids: list[int]
    attention: dict[Kind, Array]
    states: dict[str, Array]
    probabilities: Array
    alignment: AlignmentSettings = field(default_factory=AlignmentSettings)

    @property
    def layers(self) -> dict[Kind, int]:
        """The number of layers of each kind."""
        return {kind: len(self.attention.get(kind, ())) for kind in KINDS}

    @property
    def main_kind(self) -> Kind:
        """The kind of attention that is shown first: what a translation sees of its source, or the only kind."""
        return main_kind(self.attention)

    @property
    def heads(self) -> int:
        """The number of heads per layer."""
        return int(self.attention[self.main_kind].shape[1])

    @property
    def embeddings(self) -> dict[str, Array]:
        """The inputs [T, D] of each stack: token embeddings with their positions."""
        return {stack: states[0] for stack, states in self.states.items()}

    @property
    def norms(self) -> dict[str, Array]:
        """The Euclidean norms [L + 1, T] of the hidden states, before the first layer and after each layer."""
        return {stack: np.linalg.norm(states, axis=-1) for stack, states in self.states.items()}

    @property
    def token_probabilities(self) -> Array:
        """The probability [T] of each token that was written."""
        return self.probabilities[np.arange(len(self.target_ids)), self.target_ids]

    def queries(self, kind: Kind) -> list[str]:
        """Return the query tokens of a kind of attention."""
        return self.source_tokens if kind == "encoder" else self.target_tokens

    def keys(self, kind: Kind) -> list[str]:
        """Return the key tokens of a kind of attention."""
        return self.target_inputs if kind == "decoder" else self.source_tokens

    def weights(self, kind: Kind, layer: int) -> Array:
        """Return the weights [H, queries, keys] of one layer, counted from 1."""
        if kind not in KINDS:
            raise ManyheadsError(f"there is no attention '{kind}'.", where="kind", cure=did_you_mean(kind, KINDS))
        count = self.layers[kind]
        if count == 0:
            raise ManyheadsError(
                f"this model has no {kind} attention.", where="kind", cure=f"It has: {', '.join(self.attention)}."
            )
        weights: Array = self.attention[kind][index_of(layer, count, "layer")]
        return weights

    def view(self, kind: Kind, layer: int | None = None) -> AttentionView:
        """Return the attention of one kind in one layer, counted from 1; by default, in the last one."""
        layer = self.layers.get(kind, 0) if layer is None else layer
        return AttentionView(
            translation=self.translation,
            score=self.score,
            kind=kind,
            layer=layer,
            layers=self.layers,
            weights=self.weights(kind, layer),
            queries=self.queries(kind),
            keys=self.keys(kind),
            source_tokens=self.source_tokens,
            target_tokens=self.target_tokens,
        )

    def for_bertviz(self) -> dict[str, Any]:
        """Return the arguments of BertViz's `head_view` and `model_view`: layers [1, H, T, S] by kind, and tokens."""
        import torch

        layers = {
            kind: [torch.from_numpy(layer)[None] for layer in weights] for kind, weights in self.attention.items()
        }
        if "cross" not in layers:
            kind = self.main_kind
            return {"attention": layers[kind], "tokens": self.keys(kind)}
        tokens = {"encoder_tokens": self.source_tokens, "decoder_tokens": self.target_inputs}
        return {**{f"{kind}_attention": weights for kind, weights in layers.items()}, **tokens}

    def to_json(self) -> dict[str, Any]:
        """Return this as values that can be written as JSON.

        Instead of the hidden states it has their norms, and instead of whole distributions the probabilities of the
        written tokens.
        """
        return {
            "text": self.text,
            "translation": self.translation,
            "score": rounded(self.score),
            "log_probability": rounded(self.log_probability),
            "layers": self.layers,
            "heads": self.heads,
            "source_tokens": self.source_tokens,
            "target_tokens": self.target_tokens,
            "target_inputs": self.target_inputs,
            "probabilities": rounded(self.token_probabilities),
            "norms": {stack: rounded(norms) for stack, norms in self.norms.items()},
            "attention": {kind: rounded(weights) for kind, weights in self.attention.items()},
        }

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from manyheads.inspection.fragments import everything_fragment

        return everything_fragment(self)
