"""What a task offers, so that one trainer, one evaluation and one description of costs serve them all.

A `Task` is a prepared run: batches, an objective, a validator. An `Objective` turns a batch into a summed loss and the
number of terms in it; everything that uses a parameter happens inside its `forward`, the output layer included, because
data-parallel and sharded wrappers act only there.
"""

from __future__ import annotations

import copy
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import torch
from torch import Tensor, nn

from manyheads.config.model_config import ConfigBase
from manyheads.config.recipe import RecipeBase
from manyheads.config.values import Metric
from manyheads.data.text.fingerprints import Fingerprints
from manyheads.errors import ManyheadsError
from manyheads.metrics.scores import OverlapOptions, Score
from manyheads.models.build import build_model
from manyheads.runs.checkpoints import saved_steps
from manyheads.runs.folder import RunFolder
from manyheads.runs.inputs import Input, InputChange, Inputs, changed_error, differences, records
from manyheads.runs.repair import keep_copies

Tell = Callable[[str], None]
"""Is called with a sentence for the user."""

BatchT = TypeVar("BatchT")
BatchT_co = TypeVar("BatchT_co", covariant=True)
RecipeT = TypeVar("RecipeT", bound=RecipeBase)

OPERATIONS = 2  # a multiplication and an addition
PASSES = 3  # forward, and backward for both factors of every product


class Batches(Protocol[BatchT_co]):
    """The batches of a run, counted from 0 through all epochs; `batches[i]` is always the same."""

    @property
    def per_epoch(self) -> int:
        """The number of batches of an epoch."""
        ...

    def __getitem__(self, index: int) -> BatchT_co:
        """Return a batch."""
        ...


class Objective(nn.Module, ABC, Generic[BatchT]):
    """What is learned from a batch."""

    model: nn.Module

    @abstractmethod
    def move(self, batch: BatchT, device: torch.device) -> Any:  # noqa: ANN401 (what `forward` takes)
        """Copy a batch of arrays to a device, as `forward` takes it."""

    @abstractmethod
    def forward(self, batch: Any) -> tuple[Tensor, int]:  # noqa: ANN401
        """Return the summed loss of a batch on its device, and the number of terms in it."""

    @abstractmethod
    def count(self, batch: BatchT) -> int:
        """Return the number of terms that the loss of a batch of arrays will have."""

    @abstractmethod
    def compile_stacks(self) -> None:
        """Compile what is computed for every token."""

    def multiplications(self, batch: BatchT) -> int:
        """Return the multiplications of a forward pass over a batch; 0 where they are not known."""
        return 0

    def flops(self, batch: BatchT) -> int:
        """Return the FLOPs of training on a batch, forward and backward; 0 where they are not known."""
        return OPERATIONS * PASSES * self.multiplications(batch)

    def carried(self) -> dict[str, Tensor]:
        """Return the state that goes from one update to the next, by name; it becomes part of checkpoints.

        Each tensor has one row for each lane of the streams that are read. A process fills the rows of its own lanes
        and leaves zeros in the others.
        """
        return {}

    def restore(self, carried: Mapping[str, Tensor]) -> None:
        """Set the state that goes from one update to the next; an empty mapping begins without any.

        A process is given the rows of all lanes and keeps those of its own.
        """


@dataclass(frozen=True)
class Sample:
    """One validation example: the input, the model's output and the reference."""

    source: str
    output: str
    reference: str


@dataclass(frozen=True)
class Outputs:
    """What a model wrote for the sources of the validation data, the right answers to each, and how it is measured."""

    sources: list[str]
    texts: list[str]
    references: list[list[str]]
    metric: Metric
    options: OverlapOptions

    def sample(self, number: int) -> Sample:
        """Return one of the examples."""
        return Sample(self.sources[number], self.texts[number], self.references[number][0])


@dataclass(frozen=True)
class Validation:
    """The result of a validation: the score that decides, all others, samples, and outputs if any were written."""

    score: Score
    others: list[Score] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    outputs: Outputs | None = field(default=None, repr=False)

    def numbers(self) -> dict[str, float]:
        """Return every score by name."""
        return {one.name: round(one.value, 4) for one in (self.score, *self.others)}


class Validator(Protocol):
    """Measures a model on validation data."""

    def run(self) -> Validation:
        """Measure the model with its present weights."""
        ...


@dataclass(frozen=True)
class TestData:
    """What an evaluation is made on: files, or a generated task. By default, the task that the run was trained on."""

    __test__ = False  # not a test, whatever its name begins with

    source: str | None = None
    target: str | None = None
    pairs: str | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)  # where each side is in a file of pairs
    task: str | None = None
    count: int = 1000
    options: Mapping[str, Any] = field(default_factory=dict)  # of the generated task, instead of the run's

    @property
    def has_sides(self) -> bool:
        """Whether something is given that only pairs of a source and a target have."""
        return any(one is not None for one in (self.source, self.target)) or bool(self.columns or self.options)


@dataclass(frozen=True)
class EvaluationOptions:
    """How outputs are searched for and scored. Models that do not search have a device alone."""

    metrics: Sequence[str] = ()
    lowercase: bool | None = None
    tokenizer: str | None = None  # of sacreBLEU
    search: Mapping[str, Any] = field(default_factory=dict)  # what `Translator.translate` takes
    computing: Mapping[str, str] = field(default_factory=dict)  # engine and precision
    device: str = "auto"
    stride: int | None = None  # of the pieces in which a language model reads a text
    memory: int | None = None  # positions that one with a memory remembers, instead of those of training

    def refuse_search(self, run: RunFolder, data: TestData) -> None:
        """Raise an error if something is given that only a search for outputs has."""
        given = (*self.metrics, self.lowercase, self.tokenizer, *self.search.values(), *self.computing.values())
        if data.has_sides or any(one is not None for one in given):
            raise ManyheadsError(
                "this run is measured on --pairs or a --task, and there is nothing to search or compare.",
                where=str(run.path),
                cure="Leave the other options out.",
            )


@dataclass(frozen=True)
class Measurement:
    """What a model makes of test data: an output for each example, and scores."""

    outputs: list[str]
    scores: list[Score]
    examples: int
    perplexity: float | None = None


@dataclass(frozen=True)
class Plan(Generic[BatchT]):
    """What training would compute: a configuration, and a batch as it would be on the device `meta`."""

    config: ConfigBase
    objective: Objective[BatchT]
    tensors: Any
    assumed: bool  # whether the text decides the number of pieces, so that it is an assumption


@dataclass(frozen=True)
class Machine:
    """What a run is prepared for: threads, and processes, of which only the first writes into the run folder.

    Data that changed since the run was last started is an error, unless it is to be accepted.
    """

    threads: int = 1
    processes: int = 1
    is_first: bool = True
    accept_changed_data: bool = False


class Task(ABC, Generic[RecipeT, BatchT]):
    """A prepared run: everything about it that depends on its task."""

    name: ClassVar[str]

    config: ConfigBase

    def __init__(self, recipe: RecipeT, run: RunFolder) -> None:
        self.recipe, self.run = recipe, run

    @classmethod
    @abstractmethod
    def prepare(cls, recipe: RecipeT, run: RunFolder, machine: Machine, tell: Tell) -> Self:
        """Read the data and make tokenizers and stores, or find those that were made before."""

    @classmethod
    def inputs(cls, recipe: RecipeT) -> list[Input]:
        """Return the files that a run of the recipe reads, which must stay as they are."""
        return []

    @classmethod
    @abstractmethod
    def check_files(cls, recipe: RecipeT) -> None:
        """Raise an error if a file that the recipe names is missing or cannot be read."""

    @classmethod
    @abstractmethod
    def plan(cls, recipe: RecipeT, config: ConfigBase | None = None) -> Plan[BatchT]:
        """Return what training would compute, without reading data: for a recipe, or for a run's configuration."""

    @classmethod
    @abstractmethod
    def measure(cls, run: RunFolder, data: TestData, options: EvaluationOptions) -> Measurement:
        """Return the outputs of a run's model for test data, and their scores."""

    def with_recipe(self, recipe: RecipeT) -> Self:
        """Return the same prepared data for a recipe that differs in its training and in the sizes of its model."""
        task = copy.copy(self)
        task.recipe = recipe
        model = getattr(recipe, "model", None)
        if model != getattr(self.recipe, "model", None):
            task.config = self.config.model_copy(update={"model": model})
        return task

    def first_batch(self, step: int, seen: int) -> int:
        """Return the number of the first batch of update `step`, before which `seen` batches were learned from."""
        return seen

    @abstractmethod
    def batches_at(self, step: int) -> Batches[BatchT]:
        """Return what update `step`, counted from 0, learns from."""

    @abstractmethod
    def objective(self, model: nn.Module) -> Objective[BatchT]:
        """Return what is learned from a batch."""

    @abstractmethod
    def validator(self, model: nn.Module) -> Validator:
        """Return what measures a model on the validation data."""

    @abstractmethod
    def facts(self) -> dict[str, str]:
        """Return what the card says about the data."""

    @abstractmethod
    def describe(self, batch: BatchT) -> str:
        """Return a batch as a phrase for messages, such as "a batch of 12 pairs whose first source is 'Hello.'"."""

    def initialise(self, model: nn.Module, tell: Tell) -> None:
        """Fill a new model with weights to start from, where the recipe names some."""

    def new_model(self, *, device: torch.device, tell: Tell) -> nn.Module:
        """Return the model as training starts with it: weights that follow from the seed, or those to start from."""
        torch.manual_seed(self.recipe.seed)
        model = build_model(self.config)
        self.initialise(model, tell)
        return model.to(device)

    def same_model(self) -> nn.Module:
        """Return a model of the same shape, to be filled."""
        return build_model(self.config)

    @property
    def kind(self) -> str:
        """What the model is, for the card."""
        return self.config.model.kind

    @property
    def command(self) -> str:
        """The command that uses the model."""
        return shlex.join(["manyheads", self.config.verb, "--model", str(self.run.path)])

    def check_inputs(self, machine: Machine, tell: Tell, fingerprints: Fingerprints) -> None:
        """Compare the files that the run reads with what they were when it was last started, before they are used."""
        if machine.is_first:
            self._changed = self._changed_inputs(machine, tell, fingerprints)

    def start_run(self, machine: Machine, tell: Tell) -> None:
        """Write the recipe into the run folder, or compare it with the one there."""
        if not machine.is_first:
            return
        changed = self.run.begin(self.recipe)
        if changed:
            tell(f"Changed since this run was last started: {', '.join(changed)}.")

    def finish_start(self, machine: Machine, fingerprints: Fingerprints) -> None:
        """Record the files that the run reads, all of which were read by now, and keep copies of its small files."""
        if not machine.is_first:
            return
        before = self.run.inputs()
        changes = before.changes if before is not None else ()
        if self._changed:
            changes = (*changes, InputChange(step=max(saved_steps(self.run.checkpoints)), files=tuple(self._changed)))
        now = Inputs(files=records(self.inputs(self.recipe), fingerprints, before), changes=changes)
        if now != before:
            self.run.write_inputs(now)
        keep_copies(self.run.path)

    _changed: Sequence[str] = ()

    def _changed_inputs(self, machine: Machine, tell: Tell, fingerprints: Fingerprints) -> list[str]:
        """Return which files changed since the run learned from them; unless that is accepted, it is an error."""
        before = self.run.inputs()
        if before is None:
            return []
        if self.run.has_learned:
            self.run.check_recipe(self.recipe)  # first, since another recipe may name other files
        changed = differences(before.files, records(self.inputs(self.recipe), fingerprints, before))
        if not changed:
            return []
        if not self.run.has_learned:
            tell(f"Changed before anything was learned from it, so the run begins again: {', '.join(changed)}.")
            self.run.make_data_again()
            return []
        if not machine.accept_changed_data:
            raise changed_error(changed)
        tell(f"Going on with data that has changed: {', '.join(changed)}.")
        return changed
