"""What a model costs before anything is trained: parameters, FLOPs, memory, time.

Nothing is estimated by formula. The model is built on PyTorch's `meta` device, where tensors have shapes but no memory;
one update is taken there while every matrix product is counted and every array kept for the backward pass is weighed.
So it holds for any model, and for any change to one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from manyheads.config.data import TokenizerKind
from manyheads.config.schema import ModelConfig, Recipe
from manyheads.data.tokens.tokenizers import DEFAULT_VOCABULARY
from manyheads.models.builder import build_model
from manyheads.models.interface import Tokens
from manyheads.training.machine.peak import matrix_product_peak
from manyheads.training.objectives import TensorBatch, TranslationObjective

SENTENCE = 32  # tokens on either side of the sentences that the cost is counted for
BYTES = 4  # of a float32
STATE_COPIES = 4  # weights, gradients, and Adam's two moments
UTILISATION = 0.5  # of the matrix-product peak that a training step is assumed to reach
ALPHABET = 64  # pieces assumed where the text decides: letters of most scripts, phonemes of most languages, specials

# The machine of the paper, with the peak of a P100 as the paper counts it (footnote 5).
PAPER_MACHINE = ("the paper's 8 × P100", 8 * 9.5e12)


@dataclass(frozen=True)
class Machine:
    """A machine, the FLOPs per second it is expected to do, and how long it would train."""

    name: str
    flops_per_second: float
    hours: float


@dataclass(frozen=True)
class Costs:
    """The size of a model and the cost of training it."""

    parameters: int
    trainable_parameters: int
    flops_per_update: int
    training_flops: float
    tokens_per_update: int
    memory_bytes: int
    activation_bytes: int
    steps: int
    assumed_utilisation: float
    measured_peak: float
    machines: list[Machine]


def config_for(recipe: Recipe) -> ModelConfig:
    """Return the configuration a recipe leads to, with the vocabulary sizes it asks for."""
    settings = recipe.tokenizer
    source, target = (_pieces(side.kind, side.vocabulary) for side in (settings, settings.target or settings))
    return ModelConfig(model=recipe.model, source_vocabulary=source, target_vocabulary=target)


def vocabulary_is_assumed(recipe: Recipe) -> bool:
    """Whether the text will decide how many pieces there are, so that the recipe alone cannot tell."""
    sides = (recipe.tokenizer, recipe.tokenizer.target or recipe.tokenizer)
    return any(side.vocabulary is None and side.kind in ("characters", "symbols") for side in sides)


def _pieces(kind: TokenizerKind, asked: int | None) -> int:
    """Return how many pieces a tokenizer has, as far as that is known before it has seen any text."""
    return asked or (ALPHABET if kind in ("characters", "symbols") else DEFAULT_VOCABULARY)


def count_costs(recipe: Recipe, config: ModelConfig) -> Costs:
    """Count what training the recipe's model costs."""
    settings = recipe.training
    model = build_model(config, device="meta")
    objective = TranslationObjective(model, smoothing=settings.label_smoothing, r_drop=settings.r_drop)
    batch = _meta_batch(settings.batch_tokens)
    with FlopCounterMode(display=False) as flops:
        with weigh_activations(model) as activations:
            loss, count = objective(batch)
        loss.backward()
    per_update = flops.get_total_flops() * settings.accumulate
    parameters = sum(parameter.numel() for parameter in model.parameters())
    total = float(per_update) * settings.steps
    peak = matrix_product_peak()
    threads = torch.get_num_threads()
    here = f"this computer with {threads} thread{'' if threads == 1 else 's'}"
    return Costs(
        parameters=parameters,
        trainable_parameters=sum(one.numel() for one in model.parameters() if one.requires_grad),
        flops_per_update=per_update,
        training_flops=total,
        tokens_per_update=count * settings.accumulate,
        memory_bytes=STATE_COPIES * BYTES * parameters + activations[0],
        activation_bytes=activations[0],
        steps=settings.steps,
        assumed_utilisation=UTILISATION,
        measured_peak=peak,
        machines=[_expect(here, peak, total), _expect(*PAPER_MACHINE, total)],
    )


def _meta_batch(tokens: int) -> TensorBatch:
    """Return a batch of the given number of padded tokens without any content."""
    rows = max(1, tokens // SENTENCE)
    ids = torch.zeros(rows, SENTENCE, dtype=torch.long, device="meta")
    lengths = torch.zeros(rows, dtype=torch.long, device="meta")
    real = torch.zeros(rows * SENTENCE, dtype=torch.long, device="meta")
    return TensorBatch(Tokens(ids, lengths), ids, ids, real)


@contextmanager
def weigh_activations(model: torch.nn.Module) -> Iterator[list[int]]:
    """Yield a list whose one entry becomes the bytes kept for the backward pass, parameters not counted."""
    seen = {id(parameter) for parameter in model.parameters()}
    weight = [0]
    keep_alive: list[Tensor] = []  # an id is unique only while its tensor lives

    def pack(tensor: Tensor) -> Tensor:
        """Weigh an array the first time it is kept; a view weighs what it looks at."""
        base = tensor._base if tensor._base is not None else tensor
        if id(base) not in seen:
            seen.add(id(base))
            keep_alive.append(base)
            weight[0] += base.numel() * base.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        yield weight


def _expect(name: str, peak: float, flops: float) -> Machine:
    """Return how long a machine of the given peak would take at the utilisation we assume."""
    speed = UTILISATION * peak
    return Machine(f"{name}, at {UTILISATION:.0%} of {peak / 1e9:,.0f} GFLOPS", speed, flops / speed / 3600)
