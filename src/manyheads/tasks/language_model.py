"""Language modelling: a text is continued."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from manyheads.config.model_config import ConfigBase
from manyheads.config.models.base import ModelSettings
from manyheads.config.models.remembering import RememberingSettings
from manyheads.config.tasks.language_model import LanguageModelConfig, LanguageModelRecipe, TextTokenizerKind
from manyheads.data.batches.streams import StreamBatch, StreamBatches
from manyheads.data.batches.text_store import open_text, text_lines
from manyheads.data.text.files import text_files
from manyheads.data.text.fingerprints import Fingerprints
from manyheads.data.tokens.running_text import BYTES_VOCABULARY, train_text_tokenizer
from manyheads.data.tokens.tokenizers import DEFAULT_VOCABULARY, TRAINING_PAIRS, Tokenizer, Tokenizers
from manyheads.errors import ManyheadsError
from manyheads.metrics.scores import perplexity
from manyheads.models.build import build_model
from manyheads.models.interface import LanguageModel, Memory, RememberingLanguageModel
from manyheads.runs.folder import RunFolder
from manyheads.runs.inputs import Input, run_inputs, text_inputs
from manyheads.runs.loading import choose_device, fill_model, load_model
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
from manyheads.tasks.lane_memory import LaneMemory
from manyheads.tasks.loss import fused_loss
from manyheads.tasks.measuring_text import (
    TextSizes,
    choose_memory,
    choose_stride,
    text_loss,
    text_scores,
    word_perplexity,
)

ASSUMED: dict[TextTokenizerKind, int] = {"characters": 128, "words": 30_000}  # pieces, where the text decides
PROMPT, CONTINUATION = 16, 64  # tokens of a sample


class TextTensors(NamedTuple):
    """A batch on its device: tokens and those that follow them, [B, T] each, the lanes [B], and whether these begin."""

    inputs: Tensor
    targets: Tensor
    lanes: tuple[int, ...] = ()
    begins: bool = True


class LanguageModelObjective(Objective[StreamBatch]):
    """Predict every token from those before it.

    A model that remembers is given, while training, what it remembers of the lanes that the batch continues.
    """

    model: LanguageModel[Any]

    def __init__(self, model: LanguageModel[Any], *, smoothing: float, lanes: int = 0) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing
        self.memory = LaneMemory(lanes)

    def move(self, batch: StreamBatch, device: torch.device) -> TextTensors:
        """Copy a batch of arrays to a device."""
        inputs, targets = (torch.from_numpy(ids).to(device) for ids in (batch.inputs, batch.targets))
        return TextTensors(inputs, targets, tuple(batch.lanes.tolist()), batch.begins)

    def count(self, batch: StreamBatch) -> int:
        """Return the number of tokens."""
        return int(batch.targets.size)

    def forward(self, batch: TextTensors) -> tuple[Tensor, int]:
        """Return the summed loss over all tokens, and their number; it is smoothed while training alone."""
        before = None if batch.begins else self.memory.of(batch.lanes)
        hidden, penalty, after = self.hidden(batch.inputs, before)
        if self.training and after is not None:
            self.memory.keep(batch.lanes, after)
        smoothing = self.smoothing if self.training else 0.0
        vectors, bias = self.model.output_vectors, self.model.output_bias
        loss = fused_loss(hidden, vectors, bias, batch.targets.flatten(), smoothing=smoothing)
        return loss if penalty is None else loss + penalty.sum(), batch.targets.numel()

    def hidden(self, inputs: Tensor, before: Memory | None) -> tuple[Tensor, Tensor | None, Memory | None]:
        """Return the hidden states [B·T, D] of all positions, their penalties [B, T], and what is remembered of them.

        The last two are None where a model has none.
        """
        after = None
        if isinstance(self.model, RememberingLanguageModel):
            decoded, after = self.model.decode_piece(inputs, before)
        else:
            decoded = self.model.decode(inputs)
        return decoded.hidden.flatten(0, 1), decoded.penalty, after

    def carried(self) -> dict[str, Tensor]:
        """Return what the model remembers of every lane, [L, …] each."""
        return self.memory.of_all()

    def restore(self, carried: Mapping[str, Tensor]) -> None:
        """Set what the model remembers of every lane."""
        self.memory.restore(carried)

    def multiplications(self, batch: StreamBatch) -> int:
        """Return those of the layers and of the output layer."""
        rows, length = batch.inputs.shape
        stacks = self.model.multiplications(rows, 0, length)
        return stacks + rows * length * self.model.output_vectors.numel() if stacks else 0

    def compile_stacks(self) -> None:
        """Compile the layers, for any shape."""
        self.hidden = torch.compile(self.hidden, dynamic=True)  # type: ignore[method-assign]


class LanguageModelTask(Task[LanguageModelRecipe, StreamBatch]):
    """A prepared run of a language model."""

    name: ClassVar[str] = "language_model"

    config: LanguageModelConfig
    tokenizer: Tokenizer
    train: NDArray[np.uint32]
    valid: NDArray[np.uint32]
    batches: StreamBatches

    @classmethod
    def prepare(cls, recipe: LanguageModelRecipe, run: RunFolder, machine: Machine, tell: Tell) -> Self:
        """Train the tokenizer and tokenise the text, or find what was made before."""
        task = cls(recipe, run)
        files, fingerprints = text_files(recipe.data.train, role="text"), Fingerprints()
        task.check_inputs(machine, tell, fingerprints)
        task.start_run(machine, tell)
        task.tokenizer = _tokenizer(recipe, run, files, fingerprints, write=machine.is_first)
        task.config = LanguageModelConfig(model=recipe.model, vocabulary=len(task.tokenizer))
        if machine.is_first:
            run.write_config(task.config)
        task.train, task.valid = _parts(recipe, task.tokenizer, fingerprints, threads=machine.threads)
        training, length = recipe.training, recipe.data.length
        task.batches = StreamBatches(
            task.train,
            lanes=training.accumulate * (training.batch_tokens // length),
            length=length,
            seed=recipe.seed,
            per_update=training.accumulate * machine.processes,
        )
        _check_memory(recipe.model, lane=task.batches.pieces * length)
        if len(files) > 1:
            tell(f"{len(files)} files are read as one text, so a piece may hold the end of one and begin the next.")
        tell(f"{len(task.train):,} training tokens, {len(task.valid):,} for validation, {len(task.tokenizer)} pieces.")
        task.finish_start(machine, fingerprints)
        return task

    @classmethod
    def inputs(cls, recipe: LanguageModelRecipe) -> list[Input]:
        """Return the files of the texts, and of the run to start from."""
        found = [*text_inputs(recipe.data.train, "training"), *text_inputs(recipe.data.valid, "validation")]
        if recipe.start_from is not None:
            found += run_inputs(recipe.start_from, RunFolder.open(recipe.start_from).path)
        return found

    @classmethod
    def check_files(cls, recipe: LanguageModelRecipe) -> None:
        """Look for every file."""
        for path in filter(None, (recipe.data.train, recipe.data.valid)):
            text_files(path, role="text")

    @classmethod
    def plan(cls, recipe: LanguageModelRecipe, config: ConfigBase | None = None) -> Plan[StreamBatch]:
        """Return what training would compute."""
        settings = recipe.tokenizer
        by_text = settings.kind in ASSUMED and settings.vocabulary is None
        always = BYTES_VOCABULARY if settings.kind == "bytes" else DEFAULT_VOCABULARY
        pieces = settings.vocabulary or ASSUMED.get(settings.kind, always)
        planned = config or LanguageModelConfig(model=recipe.model, vocabulary=pieces)
        model = build_model(planned, device="meta")
        assert isinstance(model, LanguageModel)
        rows = max(1, recipe.training.batch_tokens // recipe.data.length)
        ids = torch.zeros(rows, recipe.data.length, dtype=torch.long, device="meta")
        objective = LanguageModelObjective(model, smoothing=recipe.training.label_smoothing)
        return Plan(planned, objective, TextTensors(ids, ids), assumed=by_text and config is None)

    @classmethod
    def measure(cls, run: RunFolder, data: TestData, options: EvaluationOptions) -> Measurement:
        """Return perplexities and bits per byte of a text, or of the text that the run held out."""
        file = data.source or data.pairs
        options.refuse_search(run, TestData(task=data.task))
        recipe = run.recipe_for(LanguageModelRecipe)
        tokenizer = run.tokenizers().source
        ids = _parts(recipe, tokenizer)[1] if file is None else open_text(text_files(file, role="text"), tokenizer)
        model: LanguageModel[Any] = load_model(LanguageModel, run, device=choose_device(options.device))
        choose_memory(model, options.memory, tokens=len(ids))
        stride = choose_stride(model, options.stride, length=recipe.data.length)
        nats, sizes = text_loss(model, ids, length=recipe.data.length, stride=stride), TextSizes.of(ids, tokenizer)
        scores = text_scores(nats, sizes)
        every = [*scores.values(), word_perplexity(nats, sizes)]
        return Measurement([], every, len(ids), perplexity(scores["loss"].value))

    def first_batch(self, step: int, seen: int) -> int:
        """Return the first batch of an update: each one reads all lanes, however many batches it has."""
        return step * self.batches.per_update

    def batches_at(self, step: int) -> StreamBatches:
        """Return the batches, which are the same for every update."""
        return self.batches

    def objective(self, model: nn.Module) -> LanguageModelObjective:
        """Return what is learned from a batch."""
        assert isinstance(model, LanguageModel)
        lanes = self.batches.lanes
        return LanguageModelObjective(model, smoothing=self.recipe.training.label_smoothing, lanes=lanes)

    def validator(self, model: nn.Module) -> TextValidator:
        """Return what measures a model on the validation text."""
        return TextValidator(self.recipe, self.valid, self.tokenizer, self.objective(model))

    def initialise(self, model: nn.Module, tell: Tell) -> None:
        """Start from another run's weights."""
        if self.recipe.start_from is not None:
            other = RunFolder.open(self.recipe.start_from)
            fill_model(model, read_weights(other.weights_file), where=str(other.weights_file))
            tell(f"Starting from the weights of {other.path}.")

    def facts(self) -> dict[str, str]:
        """Return where the text comes from, and how long it is."""
        return {"training data": self.recipe.data.train, "tokens": f"{len(self.train):,}"}

    def describe(self, batch: StreamBatch) -> str:
        """Return the size of a batch and its first text."""
        text = self.tokenizer.decode(batch.inputs[0].tolist())
        return f"a batch of {len(batch.inputs)} pieces of text, the first of which is {text[:80]!r}"


class TextValidator:
    """Measures a model on a fixed text."""

    def __init__(
        self,
        recipe: LanguageModelRecipe,
        ids: NDArray[np.uint32],
        tokenizer: Tokenizer,
        objective: LanguageModelObjective,
    ) -> None:
        self._recipe, self._ids, self._tokenizer, self._objective = recipe, ids, tokenizer, objective
        self._sizes = TextSizes.of(ids, tokenizer)

    def run(self) -> Validation:
        """Validate the model with its present weights."""
        length = self._recipe.data.length
        self._objective.eval()
        try:
            nats = text_loss(self._objective.model, self._ids, length=length, stride=length)
            scores = text_scores(nats, self._sizes)
            samples = [self._sample(number) for number in range(self._recipe.validation.samples)]
        finally:
            self._objective.train()
        deciding = scores.pop(self._recipe.metric)
        return Validation(deciding, list(scores.values()), samples)

    @torch.inference_mode()
    def _sample(self, number: int) -> Sample:
        """Return a piece of the text with its most probable continuation and the true one."""
        begin = number * (PROMPT + CONTINUATION)
        piece = self._ids[begin : begin + PROMPT + CONTINUATION].tolist()
        model, written = self._objective.model, list(piece[:PROMPT])
        state = model.start(1)
        for place in range(PROMPT + CONTINUATION - 1):
            token = torch.tensor([written[place]], device=model.output_vectors.device)
            logits, state = model.step(token, state)
            if len(written) <= place + 1:
                written.append(int(logits.argmax()))
        decode = self._tokenizer.decode
        return Sample(decode(piece[:PROMPT]), decode(written[PROMPT:]), decode(piece[PROMPT:]))


def _check_memory(model: ModelSettings, *, lane: int) -> None:
    """Raise an error if a model would remember more than the text of a lane, in tokens."""
    if isinstance(model, RememberingSettings) and model.reach > lane:
        raise ManyheadsError(
            f"a memory of {model.reach:,} positions is longer than the text of a lane, which has {lane:,} tokens.",
            where="model.memory",
            cure="Lower it, or training.batch_tokens, or read more text.",
        )


def _tokenizer(
    recipe: LanguageModelRecipe, run: RunFolder, files: list[Path], fingerprints: Fingerprints, *, write: bool
) -> Tokenizer:
    """Return the run's tokenizer: another run's, or one trained on the training text the first time."""
    if Tokenizers.are_in(run.tokenizer_folder):
        return run.tokenizers().source
    if recipe.start_from is not None:
        tokenizer = RunFolder.open(recipe.start_from).tokenizers().source
    else:
        lines = sum(1 for _ in text_lines(files, fingerprints))
        used = lines if recipe.data.valid is not None else max(1, int((1.0 - recipe.data.held_out) * lines))
        sample = itertools.islice(text_lines(files, fingerprints), min(used, TRAINING_PAIRS))
        settings = recipe.tokenizer
        tokenizer = train_text_tokenizer(sample, kind=settings.kind, vocabulary=settings.vocabulary)
    if write:
        run.write_tokenizers(Tokenizers(tokenizer, tokenizer))
    return tokenizer


def _parts(
    recipe: LanguageModelRecipe, tokenizer: Tokenizer, fingerprints: Fingerprints | None = None, *, threads: int = 1
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the ids of the training text and of the validation text."""
    data = recipe.data
    known = fingerprints or Fingerprints()
    train = open_text(text_files(data.train, role="text"), tokenizer, threads=threads, fingerprints=known)
    if data.valid is not None:
        valid = text_files(data.valid, role="text")
        return train, open_text(valid, tokenizer, threads=threads, fingerprints=known)
    cut = len(train) - int(data.held_out * len(train))
    if min(cut, len(train) - cut) < 2:
        raise ManyheadsError("this text is too short to hold out a part of it.", where=data.train)
    return train[:cut], train[cut:]
