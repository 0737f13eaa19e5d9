"""What the tasks of models that read have in common: examples, tokenizer, objective and validation.

A run that starts from another one takes its tokenizer and its shape; other runs train a tokenizer on their texts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Self, TypeVar

import torch
from torch import Tensor, nn

from manyheads.config.messages import build
from manyheads.config.model_config import ConfigBase
from manyheads.config.models import EncoderSettings
from manyheads.config.tasks.reading import ExamplesSettings, ReadingConfig, ReadingRecipe
from manyheads.data.batches.examples import ExampleBatch, ExampleBatches, LabelledRows, Layout, plain_layout
from manyheads.data.text.examples import origin_of, read_examples
from manyheads.data.text.fingerprints import Fingerprints
from manyheads.data.text.records import Example
from manyheads.data.tokens.wordpiece import FILE, FIRST, MASK, PAD, SEPARATOR, UNKNOWN, WordPiece
from manyheads.encoding.encoder import Encoder
from manyheads.errors import ManyheadsError
from manyheads.metrics.scores import Score
from manyheads.models.build import build_model
from manyheads.models.interface import EncoderInputs, TextEncoder
from manyheads.runs.folder import RunFolder
from manyheads.runs.inputs import Input, run_inputs, text_inputs
from manyheads.runs.loading import copy_arrays, stored_tensors
from manyheads.runs.weights import read_weights
from manyheads.tasks.interface import (
    EvaluationOptions,
    Machine,
    Measurement,
    Objective,
    Plan,
    Sample,
    Task,
    Tell,
    TestData,
    Validation,
)

HEADS = ("pooler.", "word_head.", "task_head.")  # names of the weights of parts that depend on the task
R = TypeVar("R", bound=ReadingRecipe)


class ExampleTensors(NamedTuple):
    """A batch on its device; `places` [N] are those of [B·S] whose tokens are to be predicted, if any are."""

    inputs: EncoderInputs
    targets: Tensor
    places: Tensor | None = None


class ReadingObjective(Objective[ExampleBatch]):
    """What the objectives of these tasks have in common: how a batch comes to its device."""

    model: TextEncoder

    def __init__(self, model: TextEncoder, *, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def move(self, batch: ExampleBatch, device: torch.device) -> ExampleTensors:
        """Copy a batch of arrays to a device."""
        inputs = EncoderInputs(*(torch.from_numpy(one).to(device) for one in batch.inputs))
        return ExampleTensors(inputs, torch.from_numpy(batch.targets).to(device))

    def count(self, batch: ExampleBatch) -> int:
        """Return the number of examples."""
        return len(batch.targets)

    def states(self, inputs: EncoderInputs) -> Tensor:
        """Return the last hidden state [B, S, D]."""
        states: Tensor = self.model(inputs)
        return states

    def multiplications(self, batch: ExampleBatch) -> int:
        """Return those of the encoder."""
        rows, length = batch.inputs.input_ids.shape
        return self.model.multiplications(rows, length)

    def compile_stacks(self) -> None:
        """Compile the encoder, for any shape."""
        self.states = torch.compile(self.states, dynamic=True)  # type: ignore[method-assign]


class ReadingTask(Task[R, ExampleBatch]):
    """A prepared run of a model that reads."""

    objective_class: ClassVar[type[ReadingObjective]]
    has_word_head: ClassVar[bool] = False
    has_pooler: ClassVar[bool] = False

    config: ReadingConfig
    tokenizer: WordPiece
    rows: LabelledRows
    batches: ExampleBatches
    valid_rows: LabelledRows
    valid_batches: ExampleBatches

    @classmethod
    def prepare(cls, recipe: R, run: RunFolder, machine: Machine, tell: Tell) -> Self:
        """Read the examples and make the tokenizer, or find the one that was made before."""
        task = cls(recipe, run)
        fingerprints = Fingerprints()
        task.check_inputs(machine, tell, fingerprints)
        train = read_examples(recipe.data.train, recipe.task, split="train", fingerprints=fingerprints)
        valid = read_examples(recipe.data.valid, recipe.task, split="valid", fingerprints=fingerprints)
        base = None if recipe.start_from is None else RunFolder.open(recipe.start_from)
        shape = _shape(recipe, base)
        task.start_run(machine, tell)
        task.tokenizer = _tokenizer(recipe, run, base, train, write=machine.is_first)
        task.config = cls._config(recipe, shape, task.tokenizer, base, cls.labels_of(train))
        if machine.is_first:
            run.write_config(task.config)
        task.rows, task.batches = task._batches(train, where="data.train")
        task.valid_rows, task.valid_batches = task._batches(valid, where="data.valid")
        task._tell_tally(tell)
        task.finish_start(machine, fingerprints)
        return task

    @classmethod
    def inputs(cls, recipe: R) -> list[Input]:
        """Return the files of the examples, and of the run to start from."""
        data = recipe.data
        found = [*text_inputs(data.train.file, "training"), *text_inputs(data.valid.file, "validation")]
        if recipe.start_from is not None:
            found += run_inputs(recipe.start_from, RunFolder.open(recipe.start_from).path)
        return found

    @classmethod
    def labels_of(cls, examples: Sequence[Example]) -> tuple[str, ...]:
        """Return the labels that the model chooses from, in the order of its outputs; none by default."""
        return ()

    @classmethod
    def outputs_for(cls, labels: Sequence[str]) -> int:
        """Return the number of outputs of the task's head; 0 for a task without one."""
        return 0

    @classmethod
    def _config(
        cls, recipe: R, shape: EncoderSettings, tokenizer: WordPiece, base: RunFolder | None, labels: tuple[str, ...]
    ) -> ReadingConfig:
        """Return what the model is built from: the shape, and only the heads that the task needs.

        A head that is not used would have no gradient, and everything that is trained must have one.
        """
        special = tokenizer.special
        return ReadingConfig(
            task=recipe.task,
            labels=labels,
            model=cls._with_heads(shape, labels),
            vocabulary=len(tokenizer) if base is None else base.config_for(ReadingConfig).vocabulary,
            pad=special[PAD],
            unknown=special[UNKNOWN],
            first=special[FIRST],
            separator=special[SEPARATOR],
            mask=special[MASK],
        )

    @classmethod
    def _with_heads(cls, shape: EncoderSettings, labels: Sequence[str]) -> EncoderSettings:
        """Return a shape with the heads of the task."""
        heads = {
            "pooler": shape.pooler and cls.has_pooler,
            "word_head": cls.has_word_head,
            "outputs": cls.outputs_for(labels),
        }
        return shape.model_copy(update=heads)

    @abstractmethod
    def rows_of(self, examples: list[Example], *, where: str) -> LabelledRows:
        """Return examples as rows of tokens with their targets."""

    def layout_of(self, rows: LabelledRows) -> Layout:
        """Return how rows are laid out as a batch."""
        return plain_layout(rows, self.tokenizer)

    def _batches(self, examples: list[Example], *, where: str) -> tuple[LabelledRows, ExampleBatches]:
        """Return examples as rows with their targets, and in batches."""
        rows, recipe = self.rows_of(examples, where=where), self.recipe
        batches = ExampleBatches(rows, self.layout_of(rows), tokens=recipe.training.batch_tokens, seed=recipe.seed)
        return rows, batches

    def _tell_tally(self, tell: Tell) -> None:
        """Say how many examples there are, and how many were left out or truncated."""
        labels = f", {len(self.config.labels)} labels" if self.config.labels else ""
        tell(f"{len(self.rows):,} training examples, {len(self.valid_rows):,} for validation{labels}.")
        truncated = sum(row.truncated for row in self.rows.rows)
        if truncated:
            tell(f"{truncated:,} of them were longer than data.max_length and cut off.")
        lost = self.rows.lost + self.valid_rows.lost
        if lost:
            tell(f"{lost:,} questions were left out: their answers stand behind data.max_length.")

    @classmethod
    def check_files(cls, recipe: R) -> None:
        """Read every example."""
        read_examples(recipe.data.train, recipe.task, split="train")
        read_examples(recipe.data.valid, recipe.task, split="valid")

    @classmethod
    def plan(cls, recipe: R, config: ConfigBase | None = None) -> Plan[ExampleBatch]:
        """Return what training would compute for texts of the greatest length, with as many labels as are known."""
        base = None if recipe.start_from is None else RunFolder.open(recipe.start_from)
        if config is None:
            shape = cls._with_heads(_shape(recipe, base), PLANNED_LABELS)
            vocabulary = recipe.vocabulary if base is None else base.config_for(ReadingConfig).vocabulary
            config = ReadingConfig(task=recipe.task, model=shape, vocabulary=vocabulary)
            assumed = base is None
        else:
            assumed = False
        model = build_model(config, device="meta")
        assert isinstance(model, TextEncoder)
        objective = cls.objective_class(model, smoothing=recipe.training.label_smoothing)
        rows = max(1, recipe.training.batch_tokens // recipe.data.max_length)
        ids = torch.zeros(rows, recipe.data.max_length, dtype=torch.long, device="meta")
        return Plan(config, objective, cls.planned(EncoderInputs(ids, ids, ids)), assumed=assumed)

    @classmethod
    def planned(cls, inputs: EncoderInputs) -> ExampleTensors:
        """Return a batch on the device `meta`."""
        return ExampleTensors(inputs, inputs.input_ids[:, 0])

    def batches_at(self, step: int) -> ExampleBatches:
        """Return the batches, which are the same for every update."""
        return self.batches

    def objective(self, model: nn.Module) -> ReadingObjective:
        """Return what is learned from a batch."""
        assert isinstance(model, TextEncoder)
        return self.objective_class(model, smoothing=self.recipe.training.label_smoothing)

    def validator(self, model: nn.Module) -> ReadingValidator:
        """Return what measures a model on the validation data."""
        return ReadingValidator(self, self.objective(model))

    def initialise(self, model: nn.Module, tell: Tell) -> None:
        """Start from another run's weights."""
        if self.recipe.start_from is not None and not self.recipe.fresh:
            _start_from(RunFolder.open(self.recipe.start_from), model, self.config, tell)

    @property
    def kind(self) -> str:
        """What the model is, and for which task."""
        return f"{self.config.model.kind} for {self.recipe.task.replace('_', ' ')}"

    def facts(self) -> dict[str, str]:
        """Return where the examples come from, their labels, and what the run started from."""
        recipe = self.recipe
        started = "fresh weights" if recipe.start_from is None or recipe.fresh else recipe.start_from
        return {
            "training data": origin_of(recipe.data.train, split="train"),
            "examples": f"{len(self.rows):,}",
            "labels": ", ".join(self.config.labels) or "none",
            "started from": started,
        }

    def describe(self, batch: ExampleBatch) -> str:
        """Return the size of a batch and its first text."""
        text = self.rows.examples[int(batch.pairs[0])].source
        return f"a batch of {len(batch.pairs)} examples whose first text is {text[:80]!r}"

    @classmethod
    def outputs(cls, encoder: Encoder, examples: Sequence[Example], *, longest: int) -> list[str]:
        """Return the model's output for every example; a task without outputs returns none."""
        return []

    @classmethod
    def scores(cls, outputs: Sequence[str], answers: Sequence[str]) -> list[Score]:
        """Return the scores of outputs against the right answers, in percent."""
        return []

    def validation_scores(self, objective: ReadingObjective, outputs: Sequence[str]) -> list[Score]:
        """Return the scores of a validation, the loss aside."""
        return self.scores(outputs, [one.answer for one in self.valid_rows.examples])

    @classmethod
    def measure(cls, run: RunFolder, data: TestData, options: EvaluationOptions) -> Measurement:
        """Return a run's outputs for test examples, and their scores."""
        options.refuse_search(run, data)
        recipe = run.recipe()
        assert isinstance(recipe, ReadingRecipe)
        examples = read_examples(examples_for_test(recipe, data), recipe.task, split="test")
        encoder = Encoder.from_folder(run.path, device=options.device)
        outputs = cls.outputs(encoder, examples, longest=recipe.data.max_length)
        return Measurement(outputs, cls.scores(outputs, [one.answer for one in examples]), len(examples))


PLANNED_LABELS = ("yes", "no")  # where the number of labels is not known


class ReadingValidator:
    """Measures a model on a fixed set of examples."""

    def __init__(self, task: ReadingTask[R], objective: ReadingObjective) -> None:
        self._task = task
        self._objective = objective
        self._encoder = Encoder(objective.model, task.tokenizer, task.config)

    def run(self) -> Validation:
        """Validate the model with its present weights."""
        task, recipe = self._task, self._task.recipe
        examples = task.valid_rows.examples
        self._objective.eval()
        try:
            outputs = task.outputs(self._encoder, examples, longest=recipe.data.max_length)
            found = [self.loss(), *task.validation_scores(self._objective, outputs)]
        finally:
            self._objective.train()
        scores = {score.name: score for score in found}
        shown = zip(examples[: recipe.validation.samples], outputs, strict=False)
        samples = [Sample(one.source, output, one.answer) for one, output in shown]
        deciding = scores.pop(recipe.metric)
        return Validation(deciding, [scores[name] for name in recipe.metrics if name in scores], samples)

    @torch.inference_mode()
    def loss(self) -> Score:
        """Return the mean loss over the whole set."""
        total, count = 0.0, 0
        batches, device = self._task.valid_batches, self._objective.model.device
        for index in range(batches.per_epoch):
            loss, terms = self._objective(self._objective.move(batches[index], device))
            total, count = total + float(loss), count + terms
        return Score("loss", total / count, higher_is_better=False)


def _shape(recipe: ReadingRecipe, base: RunFolder | None) -> EncoderSettings:
    """Return the model's settings, of the recipe or of the run it starts from, checked against the data's."""
    shape = recipe.model if base is None else base.config_for(ReadingConfig).model
    assert shape is not None
    if shape.longest is not None and recipe.data.max_length > shape.longest:
        raise ManyheadsError(
            f"{recipe.data.max_length} tokens are more than the model's {shape.longest} positions.",
            where="data.max_length",
            cure=f"Set it to {shape.longest} or less.",
        )
    return shape


def _tokenizer(
    recipe: ReadingRecipe, run: RunFolder, base: RunFolder | None, train: list[Example], *, write: bool
) -> WordPiece:
    """Return the run's tokenizer: another run's, or one trained the first time."""
    if (run.tokenizer_folder / FILE).exists():
        return WordPiece.load(run.tokenizer_folder)
    if base is not None:
        tokenizer = WordPiece.load(base.tokenizer_folder)
    else:
        texts = (text for one in train for text in (one.text, one.second) if text)
        tokenizer = WordPiece.train(texts, vocabulary=recipe.vocabulary)
    if write:
        run.write_tokenizer_files({FILE: tokenizer.text().encode("utf-8")})
    return tokenizer


def examples_for_test(recipe: ReadingRecipe, data: TestData) -> ExamplesSettings:
    """Return where test examples come from; a run on a generated task needs no naming of it."""
    trained_on = recipe.data.train
    values: dict[str, object] = {"file": data.pairs, "task": data.task}
    if data.pairs is None and (name := data.task or trained_on.task):
        options = trained_on.options if name == trained_on.task else {}
        values = {"task": name, "count": data.count, "seed": 0, "options": options}
    if not any(values.values()):
        raise ManyheadsError("it was not said what to measure the run on.", cure="Name a file with --pairs.")
    return build(ExamplesSettings, values, origin="the test data")


def _start_from(other: RunFolder, model: nn.Module, config: ReadingConfig, tell: Tell) -> None:
    """Fill the encoder with another run's weights, and those heads that both have."""
    weights = read_weights(other.weights_file)
    before, tensors = other.config_for(ReadingConfig), stored_tensors(model)
    same_task = (before.task, before.labels) == (config.task, config.labels)
    shared = tuple(head for head in HEADS if head != "task_head." or same_task)
    kept = {name for name in weights if not name.startswith(HEADS) or (name.startswith(shared) and name in tensors)}
    wanted = {name: one for name, one in tensors.items() if not name.startswith(HEADS) or name in kept}
    copy_arrays({name: weights[name] for name in kept}, wanted, where=str(other.weights_file))
    fresh = sorted({name.split(".")[0] for name in tensors if name not in wanted})
    new = f"; new: {', '.join(fresh)}" if fresh else ""
    tell(f"Starting from the weights of {other.path}{new}.")
