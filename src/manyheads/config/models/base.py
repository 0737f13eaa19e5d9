"""The settings that all models share, so that tasks do not depend on a particular model."""

from __future__ import annotations

from typing import NamedTuple, Self

from pydantic import Field, model_validator

from manyheads.bounded.machine import as_bytes
from manyheads.config.values import Positive, Probability, Settings

MOST_LAYERS = 500  # of a stack: the deepest published Transformer has this number in each of its two
LARGEST = 4 * 10**12  # bytes of a model's weights; what fits into this machine is checked when a model is built
WEIGHT_BYTES = 4  # of a float32
LAYER_BYTES = 50_000  # of a layer's modules, however small its weights are


class Distances(NamedTuple):
    """How far apart the ends of a sequence are for a model, as in table 1 of the paper.

    An operation is a layer, at one position where positions wait for one another, otherwise at all of them.
    `sequential` counts those that wait for one another when whole sequences are read and written at once, as in
    training, on a machine that computes whatever need not wait. `path` counts those that a signal passes through from
    one end of a stack to the other, between the two positions of a sequence that are farthest apart in this sense; of
    several stacks, the longest path. A residual connection around a layer does not shorten it. `path` is None where
    the stack is not deep enough for any signal between the two.
    """

    sequential: int
    path: int | None


def stack_path(layers: int, needed: int) -> int | None:
    """Return the path through a stack if the two positions farthest apart are `needed` layers away from each other."""
    return layers if needed <= layers else None


def longest_path(*paths: int | None) -> int | None:
    """Return the longest of the paths through several stacks; None if one of them has none."""
    known = [path for path in paths if path is not None]
    return max(known) if len(known) == len(paths) else None


class ModelSettings(Settings):
    """The base of every model's settings; each has a `kind` by which it is selected."""

    kind: str
    width: Positive = Field(512, description="d_model, the width of every layer.")
    dropout: Probability = Field(0.1, description="Dropout of every layer's output and of the embeddings.")

    @property
    def summary(self) -> str:
        """The model in a few words, for messages."""
        return f"a {self.kind} model (width {self.width})"

    @property
    def longest(self) -> int | None:
        """The longest sequence that the model can read, special tokens included; None if there is no limit."""
        return None

    @property
    def one_vocabulary(self) -> bool:
        """Whether source and target must have the same vocabulary, because they share embeddings."""
        return False

    @property
    def depths(self) -> tuple[int, ...]:
        """The number of layers of each stack."""
        raise NotImplementedError

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights that a model with these vocabularies has at least, without building it."""
        raise NotImplementedError

    def bytes_needed(self, source: int, target: int) -> int:
        """Return the bytes of memory that such a model takes at least."""
        return WEIGHT_BYTES * self.weights(source, target) + LAYER_BYTES * sum(self.depths)

    def distances(self, length: int) -> Distances | None:
        """Return the distances between the ends of sequences of `length` tokens, layers counted; None if unknown."""
        return None

    @model_validator(mode="after")
    def _size_is_possible(self) -> Self:
        """Check that the layers alone are not too many or too large for any machine."""
        if max(self.depths) > MOST_LAYERS:
            needed = as_bytes(self.bytes_needed(0, 0))
            raise ValueError(
                f"a stack of {max(self.depths):,} layers is too deep: the model would take {needed} of memory; "
                f"at most {MOST_LAYERS:,} layers are possible"
            )
        check_size(self, 0, 0)
        return self

    def longest_target(self, source: int) -> int | None:
        """Return the most tokens that can be written for `source` tokens, the end token counted on both sides.

        None means that there is no limit. It rises with `source`.
        """
        return None

    def check_length(self, longest: int) -> None:
        """Raise a `ValueError` if sequences of `longest` tokens and an end token cannot be trained on."""


def tied_rows(tie: str, source: int, target: int) -> int:
    """Return the rows of all embeddings together: one matrix (all), two (target) or three (none)."""
    return {"all": target, "target": source + target}.get(tie, source + 2 * target)


def heads_divide_width(width: int, heads: int) -> None:
    """Raise a `ValueError` unless d_k = d_model / h is whole."""
    if width % heads:
        raise ValueError(f"width {width} is not divisible by {heads} heads")


def check_size(model: ModelSettings, source: int, target: int) -> None:
    """Raise a `ValueError` for a model whose weights, with vocabularies of these sizes, no machine can hold."""
    needed = model.bytes_needed(source, target)
    if needed > LARGEST:
        pieces = f" with vocabularies of {source:,} and {target:,} pieces" if source or target else ""
        raise ValueError(
            f"a model of these sizes{pieces} would take {as_bytes(needed)} of memory for its weights alone: "
            "lower its width, its layers or its vocabulary"
        )
